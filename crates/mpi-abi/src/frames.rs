//! Frames of call sites, as records carry them from a program to its recorder.
//!
//! Of each frame: the address in its module (8 bytes), the length of the module's build ID (1 byte) and of its name (2 bytes), then both.
//! The name of the program itself is empty.

use crate::record::{Record, RecordKind};

/// No build ID is longer.
pub const MOST_BUILD_ID: usize = 64;
/// No name of a module is longer.
pub const MOST_NAME: usize = 4096;
/// No site has more.
pub const MOST_FRAMES: usize = 64;
/// Bytes of a frame before build ID and name.
const HEAD: usize = 11;

/// A call on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFrame<'a> {
    /// Where the call returns to, as the file of the module numbers its bytes.
    pub address: u64,
    /// The build ID of the module.
    pub build_id: &'a [u8],
    /// The path of the module.
    pub module: &'a [u8],
}

/// Writes frames into records and hands each over when it is full. Allocates nothing.
pub struct FramesWriter<F: FnMut(&[u8; Record::BYTES])> {
    piece: [u8; Record::PIECE],
    length: usize,
    push: F,
}

impl<F: FnMut(&[u8; Record::BYTES])> FramesWriter<F> {
    /// A writer that hands its records to `push`.
    pub fn new(push: F) -> Self {
        Self { piece: [0; Record::PIECE], length: 0, push }
    }

    /// Adds a frame. What is too long is left out.
    pub fn add(&mut self, frame: &RawFrame<'_>) {
        let fitting = |bytes: &mut &[u8], most| {
            if bytes.len() > most {
                *bytes = &[];
            }
        };
        let (mut build_id, mut module) = (frame.build_id, frame.module);
        fitting(&mut build_id, MOST_BUILD_ID);
        fitting(&mut module, MOST_NAME);
        self.bytes(&frame.address.to_ne_bytes());
        self.bytes(&[build_id.len() as u8]);
        self.bytes(&(module.len() as u16).to_ne_bytes());
        self.bytes(build_id);
        self.bytes(module);
    }

    /// Hands over what is left.
    pub fn finish(mut self) {
        if self.length > 0 {
            self.hand_over();
        }
    }

    fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let here = bytes.len().min(self.piece.len() - self.length);
            self.piece[self.length..self.length + here].copy_from_slice(&bytes[..here]);
            self.length += here;
            bytes = &bytes[here..];
            if self.length == self.piece.len() {
                self.hand_over();
            }
        }
    }

    fn hand_over(&mut self) {
        (self.push)(&Record::of_piece(RecordKind::Frames, &self.piece[..self.length]));
        self.length = 0;
    }
}

/// The frames in the pieces of a site, one behind the other; `None` if they make no sense.
#[must_use]
pub fn read_frames(mut bytes: &[u8]) -> Option<Vec<RawFrame<'_>>> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let address = u64::from_ne_bytes(head[..8].try_into().ok()?);
        let (build_id, rest) = rest.split_at_checked(usize::from(head[8]))?;
        let (module, rest) = rest.split_at_checked(usize::from(u16::from_ne_bytes([head[9], head[10]])))?;
        if frames.len() == MOST_FRAMES {
            return None;
        }
        frames.push(RawFrame { address, build_id, module });
        bytes = rest;
    }
    Some(frames)
}

/// Bytes of the frames of a site at most.
pub const MOST_BYTES: usize = MOST_FRAMES * (HEAD + MOST_BUILD_ID + MOST_NAME);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_come_back(
            frames in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..30), prop::collection::vec(any::<u8>(), 0..300)), 0..20),
        ) {
            let mut pieces = Vec::new();
            let mut writer = FramesWriter::new(|record: &[u8; Record::BYTES]| {
                assert_eq!(Record::of(record).map(|record| record.kind), Some(RecordKind::Frames));
                pieces.extend_from_slice(Record::text(record));
            });
            let frames: Vec<RawFrame<'_>> =
                frames.iter().map(|(address, build_id, module)| RawFrame { address: *address, build_id, module }).collect();
            frames.iter().for_each(|frame| writer.add(frame));
            writer.finish();
            prop_assert_eq!(read_frames(&pieces), Some(frames));
        }

        #[test]
        fn any_bytes_are_frames_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_frames(&bytes);
        }
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        let long = [7; MOST_NAME + 1];
        let mut pieces = Vec::new();
        let mut writer =
            FramesWriter::new(|record: &[u8; Record::BYTES]| pieces.extend_from_slice(Record::text(record)));
        writer.add(&RawFrame { address: 1, build_id: &long, module: &long });
        writer.finish();
        assert_eq!(read_frames(&pieces), Some(vec![RawFrame { address: 1, build_id: &[], module: &[] }]));
    }
}
