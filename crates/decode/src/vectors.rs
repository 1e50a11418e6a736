//! Arrays of buffers and message headers: how many bytes they ask for. The buffers themselves are never read.

use super::layout::{Layout, read, u32_at};
use super::stored::Stored;
use crate::Memory;

/// The kernel takes no longer vectors (`UIO_MAXIOV`).
const MAX_BUFFERS: u64 = 1024;
/// Bytes of a vector read at once.
const CHUNK: usize = 512;

/// The sum of the lengths of the `count` buffers of the vector at `address` (`struct iovec`).
pub(super) fn length(address: u64, count: u64, layout: Layout, memory: &impl Memory) -> Stored {
    match sum(address, count, layout, memory) {
        Some(bytes) => Stored::Length(bytes),
        None if address == 0 => Stored::Null,
        None => Stored::Opaque,
    }
}

fn sum(address: u64, count: u64, layout: Layout, memory: &impl Memory) -> Option<u64> {
    if count > MAX_BUFFERS {
        return None;
    }
    let row = 2 * layout.word();
    let (mut left, mut address, mut sum) = (count as usize * row, address, 0_u64);
    let mut chunk = [0; CHUNK];
    while left > 0 {
        let part = &mut chunk[..CHUNK.min(left)];
        if memory.read(address, part) < part.len() {
            return None;
        }
        for at in (0..part.len()).step_by(row) {
            sum = sum.saturating_add(layout.pointer(part, at + layout.word()));
        }
        left -= part.len();
        address = address.wrapping_add(part.len() as u64);
    }
    Some(sum)
}

/// A message header (`struct msghdr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    vector: u64,
    count: u64,
    /// Where ancillary data lies.
    pub(super) control: u64,
    /// Bytes of ancillary data; after the call those that came.
    pub(super) control_length: u64,
}

impl Header {
    /// Bytes of a header in memory.
    fn size(layout: Layout) -> usize {
        match layout {
            Layout::Wide => 56,
            Layout::Narrow => 28,
        }
    }

    /// Bytes of a header with the number of bytes moved behind it (`struct mmsghdr`).
    fn stride(layout: Layout) -> u64 {
        match layout {
            Layout::Wide => 64,
            Layout::Narrow => 32,
        }
    }

    pub(super) fn read(address: u64, layout: Layout, memory: &impl Memory) -> Option<Self> {
        let bytes = match layout {
            Layout::Wide => read::<56>(memory, address)?,
            Layout::Narrow => {
                let mut bytes = [0; 56];
                bytes[..28].copy_from_slice(&read::<28>(memory, address)?);
                bytes
            }
        };
        let word = layout.word();
        let field = |index: usize| layout.pointer(&bytes, index * word);
        Some(Self { vector: field(2), count: field(3), control: field(4), control_length: field(5) })
    }

    /// Bytes that the message asks for.
    pub(super) fn length(&self, layout: Layout, memory: &impl Memory) -> Option<u64> {
        sum(self.vector, self.count, layout, memory)
    }
}

/// The bytes that a message header asks for.
pub(super) fn message(address: u64, layout: Layout, memory: &impl Memory) -> Stored {
    if address == 0 {
        return Stored::Null;
    }
    let length = Header::read(address, layout, memory).and_then(|header| header.length(layout, memory));
    length.map_or(Stored::Opaque, Stored::Length)
}

/// The headers of the first `count` messages of an array, with the bytes that each moved.
pub(super) fn messages(
    address: u64,
    count: u64,
    layout: Layout,
    memory: &impl Memory,
) -> impl Iterator<Item = (Header, u64)> {
    (0..count.min(MAX_BUFFERS)).map_while(move |place| {
        let address = address.wrapping_add(place * Header::stride(layout));
        let header = Header::read(address, layout, memory)?;
        let moved = read::<4>(memory, address.wrapping_add(Header::size(layout) as u64))?;
        Some((header, u64::from(u32_at(&moved, 0))))
    })
}
