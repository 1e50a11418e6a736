//! Tables and pictures: several lines that belong together and to no call.

use super::noise;

/// What several lines are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// The table of `strace -c`.
    Table,
    /// The picture of `strace --tips`.
    Tip,
}

impl Block {
    /// The block that a line begins.
    pub(super) fn begun_by(line: &[u8]) -> Option<Self> {
        if noise::is_tip_head(line) {
            return Some(Self::Tip);
        }
        let is_table =
            noise::is_table_head(line) || noise::is_table_rule(line) || noise::is_table_title(line);
        is_table.then_some(Self::Table)
    }

    /// Whether a line behind others of the block is part of it.
    pub(super) fn goes_on(self, line: &[u8]) -> bool {
        match self {
            Self::Table => {
                noise::is_table_row(line) || noise::is_table_rule(line) || noise::is_table_head(line)
            }
            Self::Tip => noise::is_tip(line),
        }
    }

    /// What its lines count as.
    pub(super) const fn noise(self) -> &'static str {
        match self {
            Self::Table => noise::TABLE,
            Self::Tip => noise::TIPS,
        }
    }
}
