//! Where records lie: a file that a thread of the program maps and writes to, and the recorder reads.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 7 | [`MAGIC`] |
//! | 8 to 15 | [`version`] |
//! | 16 to 23 | records written since the beginning ([`PRODUCED`]) |
//! | 24 to 31 | records read ([`CONSUMED`]) |
//! | 32 to 39 | records for which there was no room ([`DROPPED`]) |
//! | 40 to 47 | calls whose site has no number, because there were too many sites ([`SITELESS`]) |
//! | from [`HEADER_BYTES`] on | [`CAPACITY`] records, used in turns |
//!
//! All numbers are those of the machine. A record is written before it is counted, so that one that is counted is whole,
//! whenever its thread is killed.

use crate::record::Record;

/// How the file begins.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"iotrail1");
/// Where the number of written records stands.
pub const PRODUCED: usize = 16;
/// Where the number of read records stands.
pub const CONSUMED: usize = 24;
/// Where the number of lost records stands.
pub const DROPPED: usize = 32;
/// Where the number of calls without a site stands.
pub const SITELESS: usize = 40;
/// Bytes before the first record.
pub const HEADER_BYTES: usize = 4096;
/// Bytes of a record.
pub const RECORD_BYTES: usize = Record::BYTES;
/// Records that there is room for.
pub const CAPACITY: u64 = 8192;
/// Bytes of the file.
pub const FILE_BYTES: usize = HEADER_BYTES + CAPACITY as usize * RECORD_BYTES;

/// First argument of the `prctl` by which a thread speaks to its recorder. The kernel knows no such command.
pub const ANNOUNCE: u64 = 0x696f_7472;

/// What a thread says: the second argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// The calls that follow are not the program's.
    Quiet,
    /// They are again. The third argument is the number in the name of the thread's file, or 0 if it has none.
    Ready,
    /// The file is full.
    Full,
}

impl Announcement {
    /// The number that stands for it.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Quiet => 0,
            Self::Ready => 1,
            Self::Full => 2,
        }
    }

    /// What the number stands for.
    #[must_use]
    pub fn of(number: u64) -> Option<Self> {
        [Self::Quiet, Self::Ready, Self::Full].into_iter().find(|one| one.number() == number)
    }
}

/// Where in the file the record of that number lies.
#[must_use]
pub const fn place_of(number: u64) -> usize {
    HEADER_BYTES + (number % CAPACITY) as usize * RECORD_BYTES
}

/// Which layout records have.
const LAYOUT: u64 = 3;

/// Changes with the table of functions and the layout: writer and reader must agree.
#[must_use]
pub const fn version() -> u64 {
    // FNV-1a over the table.
    let table = include_bytes!("functions.txt");
    let (mut hash, mut place) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while place < table.len() {
        hash = (hash ^ table[place] as u64).wrapping_mul(0x0100_0000_01b3);
        place += 1;
    }
    hash ^ (RECORD_BYTES as u64) << 56 ^ LAYOUT << 48 ^ CAPACITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_come_back() {
        for one in [Announcement::Quiet, Announcement::Ready, Announcement::Full] {
            assert_eq!(Announcement::of(one.number()), Some(one));
        }
        assert_eq!(Announcement::of(9), None);
    }

    #[test]
    fn places_come_again_after_the_last() {
        assert_eq!(place_of(0), HEADER_BYTES);
        assert_eq!(place_of(CAPACITY + 1), HEADER_BYTES + RECORD_BYTES);
        assert_eq!(place_of(CAPACITY - 1) + RECORD_BYTES, FILE_BYTES);
    }
}
