//! Partners of messages as differences of ranks.
//!
//! Source: Scala-H-Trace, section 4.3: of 10 ranks, 9 is -1 from 0.

use iotrail_structure_file::Document;

/// The form of the column of partners that has differences.
pub(crate) const RELATIVE: u8 = 1;

/// What is added to symbols such as `MPI_PROC_NULL`, which are no ranks and have no difference.
const SYMBOLS: i64 = -(1 << 40);

/// How many ranks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranks(i64);

impl Ranks {
    pub(crate) fn of(document: &Document) -> Self {
        Self(document.lines.iter().map(|line| i64::from(line.rank) + 1).max().unwrap_or(1))
    }

    /// A partner as the shorter way around.
    pub(crate) fn relative(self, peer: i64, rank: u32) -> i64 {
        if !(0..self.0).contains(&peer) {
            return SYMBOLS + peer;
        }
        let forward = (peer - i64::from(rank)).rem_euclid(self.0);
        if 2 * forward > self.0 { forward - self.0 } else { forward }
    }

    /// The partner again.
    pub(crate) fn absolute(self, difference: i64, rank: u32) -> i64 {
        if difference < SYMBOLS / 2 {
            return difference.wrapping_sub(SYMBOLS);
        }
        difference.wrapping_add(rank.into()).rem_euclid(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_ten_is_one_before_zero() {
        let ranks = Ranks(10);
        assert_eq!(ranks.relative(9, 0), -1);
        assert_eq!((ranks.relative(5, 0), ranks.relative(6, 0)), (5, -4));
        for peer in [-3, -2, -1, 0, 1, 9, 10, 77] {
            for rank in 0..10 {
                assert_eq!(ranks.absolute(ranks.relative(peer, rank), rank), peer);
            }
        }
    }
}
