//! Call sites: the stacks of calls from which a program calls a library.

use serde::{Deserialize, Serialize};

/// What is known of a place in a program beside its address. Unknown is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct SourcePlace {
    /// The function, as its source spells it; of inlined ones the innermost.
    pub function: Option<String>,
    /// The source file, as the compiler noted it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// A call on a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Path of the program or library, in its text form ([`crate::text`]).
    pub module: String,
    /// Its build ID in hexadecimal digits, if it has one.
    pub build_id: Option<String>,
    /// Where the call returns to, as the file of the module numbers its bytes: wherever that was loaded.
    pub offset: u64,
    /// The place in the source.
    #[serde(flatten)]
    pub source: SourcePlace,
}

impl Frame {
    /// The place in words: `exchange (halo.f90:123)`, or as much of it as is known.
    #[must_use]
    pub fn words(&self) -> String {
        let SourcePlace { function, file, line } = &self.source;
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let place = match (file, line) {
            (Some(file), Some(line)) => format!("{}:{line}", last(file)),
            (Some(file), None) => last(file),
            (None, _) => format!("{}+{:#x}", last(&self.module), self.offset),
        };
        match function {
            Some(function) => format!("{function} ({place})"),
            None => place,
        }
    }

    /// What tells the frame from others: what the source says follows from it. A build ID is that of one file, whatever its path.
    fn key(&self) -> (&str, u64) {
        (self.build_id.as_deref().unwrap_or(&self.module), self.offset)
    }
}

/// The stack that a call was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site {
    /// From the caller towards `main`.
    pub frames: Vec<Frame>,
}

impl Site {
    /// The frames from the other end, to be compared.
    pub fn from_main(&self) -> impl Iterator<Item = (&str, u64)> {
        self.frames.iter().rev().map(Frame::key)
    }

    /// Whether it is the same stack, whatever is known of its source.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(|(own, other)| own.key() == other.key())
    }

    /// Whether no frame is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// A number that follows from the frames: recorders that know nothing of each other give equal stacks equal numbers. Different
    /// stacks may, rarely, have one number, too.
    #[must_use]
    pub fn number(&self) -> u32 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        for frame in &self.frames {
            let (module, offset) = frame.key();
            module.bytes().chain([0]).chain(offset.to_le_bytes()).for_each(&mut add);
        }
        // The upper half depends on all bytes.
        (hash >> 32) as u32
    }

    /// The innermost frame of which the source is known; if none is, the innermost.
    #[must_use]
    pub fn innermost(&self) -> Option<&Frame> {
        let known = self.frames.iter().find(|frame| frame.source.function.is_some());
        known.or(self.frames.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, build_id: Option<&str>, offset: u64) -> Frame {
        let build_id = build_id.map(str::to_owned);
        Frame { module: module.to_owned(), build_id, offset, source: SourcePlace::default() }
    }

    #[test]
    fn a_build_id_is_that_of_one_file_and_a_path_counts_where_there_is_none() {
        let site = |module, build_id, offset| Site { frames: vec![frame(module, build_id, offset)] };
        let same = [("/a", Some("1"), 7), ("/b", Some("1"), 7)].map(|(a, b, c)| site(a, b, c));
        assert!(same[0].is_same(&same[1]) && same[0].number() == same[1].number());
        for other in
            [site("/a", Some("2"), 7), site("/a", Some("1"), 8), site("/a", None, 7), Site::default()]
        {
            assert!(!same[0].is_same(&other) && same[0].number() != other.number());
        }
    }

    #[test]
    fn a_frame_in_words_says_as_much_as_is_known() {
        let mut frame = frame("/bin/app", None, 0x1f);
        assert_eq!(frame.words(), "app+0x1f");
        frame.source.function = Some("halo::exchange".to_owned());
        assert_eq!(frame.words(), "halo::exchange (app+0x1f)");
        frame.source =
            SourcePlace { file: Some("/src/halo.f90".to_owned()), line: Some(123), ..frame.source };
        assert_eq!(frame.words(), "halo::exchange (halo.f90:123)");
    }

    #[test]
    fn what_is_known_of_the_source_changes_neither_number_nor_identity() {
        let mut frame = frame("/a", None, 7);
        let plain = Site { frames: vec![frame.clone()] };
        frame.source.function = Some("main".to_owned());
        let named = Site { frames: vec![self::frame("/lib", None, 1), frame] };
        assert_eq!(named.innermost().and_then(|frame| frame.source.function.as_deref()), Some("main"));
        let named = Site { frames: named.frames[1..].to_vec() };
        assert!(plain.is_same(&named) && plain.number() == named.number());
    }
}
