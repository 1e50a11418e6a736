//! The flags of an open, parsed once: from the text of a trace or trail, or from the number in a register.

use super::flags::{self, Flag};

/// What an open asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenFlags(u16);

const WRONLY: u16 = 1;
const RDWR: u16 = 1 << 1;
const CREAT: u16 = 1 << 2;
const EXCL: u16 = 1 << 3;
const TRUNC: u16 = 1 << 4;
const APPEND: u16 = 1 << 5;
const DIRECTORY: u16 = 1 << 6;
const PATH: u16 = 1 << 7;
const TMPFILE: u16 = 1 << 8;
const CLOEXEC: u16 = 1 << 9;
const NOFOLLOW: u16 = 1 << 10;
const SYNC: u16 = 1 << 11;
const DSYNC: u16 = 1 << 12;
const DIRECT: u16 = 1 << 13;
const NONBLOCK: u16 = 1 << 14;

const ARM: bool = cfg!(target_arch = "aarch64");

/// Our bit, the name, and the number on this machine. Of flags whose number is made of several bits it is the one that is
/// theirs alone.
const NAMES: [(u16, Flag); 16] = [
    (WRONLY, Flag::new("O_WRONLY", 1)),
    (RDWR, Flag::new("O_RDWR", 2)),
    (CREAT, Flag::new("O_CREAT", 0x40)),
    (EXCL, Flag::new("O_EXCL", 0x80)),
    (TRUNC, Flag::new("O_TRUNC", 0x200)),
    (APPEND, Flag::new("O_APPEND", 0x400)),
    (DIRECTORY, Flag::new("O_DIRECTORY", if ARM { 0x4000 } else { 0x1_0000 })),
    (PATH, Flag::new("O_PATH", 0x20_0000)),
    (TMPFILE, Flag::new("O_TMPFILE", 0x40_0000)),
    (TMPFILE, Flag::new("__O_TMPFILE", 0x40_0000)),
    (CLOEXEC, Flag::new("O_CLOEXEC", 0x8_0000)),
    (NOFOLLOW, Flag::new("O_NOFOLLOW", if ARM { 0x8000 } else { 0x2_0000 })),
    (SYNC, Flag::new("O_SYNC", 0x10_0000)),
    (DSYNC, Flag::new("O_DSYNC", 0x1000)),
    (DIRECT, Flag::new("O_DIRECT", if ARM { 0x1_0000 } else { 0x4000 })),
    (NONBLOCK, Flag::new("O_NONBLOCK", 0x800)),
];

impl OpenFlags {
    /// What `creat` asks for, which has no flags.
    pub const CREAT: Self = Self(WRONLY | CREAT | TRUNC);

    /// Of a number, as the kernel of this machine takes it.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(NAMES.iter().filter(|(_, flag)| flag.is_in_number(bits)).fold(0, |all, (bit, _)| all | bit))
    }

    /// Of a text: symbols, a number, a number with symbols beside it, or a structure with a field `flags`.
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let text = flags::in_structure(text);
        match flags::number(text) {
            Some(number) => Self::from_bits(number as u64),
            None => Self(flags::words(text).filter_map(bit_of).fold(0, |all, bit| all | bit)),
        }
    }

    const fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// Whether it may read. So may a descriptor without access as far as these flags tell: see [`Self::is_path`].
    #[must_use]
    pub const fn reads(self) -> bool {
        !self.has(WRONLY)
    }

    /// Whether it may write.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.has(WRONLY | RDWR)
    }

    /// Whether it makes the file if it is not there.
    #[must_use]
    pub const fn creates(self) -> bool {
        self.has(CREAT)
    }

    /// Whether a file that is there makes it fail, if it makes files (`O_EXCL`).
    #[must_use]
    pub const fn exclusive(self) -> bool {
        self.has(EXCL)
    }

    /// Whether it fails unless it makes the file.
    #[must_use]
    pub const fn creates_new(self) -> bool {
        self.creates() && self.exclusive()
    }

    /// Whether it empties the file.
    #[must_use]
    pub const fn truncates(self) -> bool {
        self.has(TRUNC)
    }

    /// Whether each write goes to the end.
    #[must_use]
    pub const fn appends(self) -> bool {
        self.has(APPEND)
    }

    /// Whether it opens directories only (`O_DIRECTORY`, which is part of the number of `O_TMPFILE`).
    #[must_use]
    pub const fn directory(self) -> bool {
        self.has(DIRECTORY)
    }

    /// Whether the descriptor gives no access to data (`O_PATH`).
    #[must_use]
    pub const fn is_path(self) -> bool {
        self.has(PATH)
    }

    /// Whether it makes a file without a name in the directory at its path (`O_TMPFILE`).
    #[must_use]
    pub const fn nameless(self) -> bool {
        self.has(TMPFILE)
    }

    /// Whether an exec closes the descriptor.
    #[must_use]
    pub const fn close_on_exec(self) -> bool {
        self.has(CLOEXEC)
    }

    /// Whether it follows a symbolic link at the end of its path.
    #[must_use]
    pub const fn follows(self) -> bool {
        !(self.has(NOFOLLOW) || self.creates_new())
    }

    /// Whether each write is on storage before it returns (`O_SYNC`, `O_DSYNC`).
    #[must_use]
    pub const fn syncs(self) -> bool {
        self.has(SYNC | DSYNC)
    }

    /// Whether transfers go around the page cache (`O_DIRECT`).
    #[must_use]
    pub const fn direct(self) -> bool {
        self.has(DIRECT)
    }

    /// Whether calls return instead of waiting (`O_NONBLOCK`).
    #[must_use]
    pub const fn nonblocking(self) -> bool {
        self.has(NONBLOCK)
    }
}

fn bit_of(word: &[u8]) -> Option<u16> {
    NAMES.iter().find(|(_, flag)| flag.name.as_bytes() == word).map(|(bit, _)| *bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_number_say_the_same() {
        for (text, number) in [
            ("O_RDONLY", 0),
            ("O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC", 0x8_0241),
            ("O_RDWR|O_CREAT|O_EXCL", 0xc2),
            ("O_RDWR|O_APPEND|O_NONBLOCK", 0xc02),
        ] {
            assert_eq!(OpenFlags::parse(text.as_bytes()), OpenFlags::from_bits(number), "{text}");
            let hexadecimal = format!("{number:#x} /* {text} */");
            assert_eq!(OpenFlags::parse(hexadecimal.as_bytes()), OpenFlags::from_bits(number), "{text}");
            let how = format!("{{flags={text}, mode=0644, resolve=0}}");
            assert_eq!(OpenFlags::parse(how.as_bytes()), OpenFlags::from_bits(number), "{text}");
        }
    }

    #[test]
    fn flags_are_whole_words() {
        let flags = OpenFlags::parse(b"O_CREATE|XO_TRUNC|O_APPENDIX");
        assert_eq!(flags, OpenFlags::default());
        assert!(flags.reads() && !flags.writes());
    }

    #[test]
    fn a_file_without_a_name_is_asked_for_by_a_part_of_the_number() {
        let number = OpenFlags::from_bits(0x40_0000 | if ARM { 0x4000 } else { 0x1_0000 } | 2);
        assert!(number.nameless() && number.directory() && number.writes());
        assert!(!OpenFlags::from_bits(if ARM { 0x4000 } else { 0x1_0000 }).nameless());
        assert!(OpenFlags::parse(b"O_RDWR|O_TMPFILE").nameless());
    }

    #[test]
    fn synchronous_writes_are_known_in_both_strengths() {
        assert!(OpenFlags::from_bits(0x10_1001).syncs() && OpenFlags::from_bits(0x1001).syncs());
        assert!(OpenFlags::parse(b"O_WRONLY|O_SYNC").syncs() && !OpenFlags::parse(b"O_WRONLY").syncs());
    }

    #[test]
    fn creat_writes_makes_and_empties() {
        let creat = OpenFlags::CREAT;
        assert!(creat.writes() && creat.creates() && creat.truncates() && !creat.reads());
    }
}
