//! The tables of a profile by name.

use crate::error::StatsError;
use std::str::FromStr;

/// A table of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileTable {
    /// Statistics of calls.
    Calls,
    /// Statistics of calls by group.
    GroupCalls,
    /// I/O summary by group.
    Phases,
    /// Distributions.
    Distributions,
    /// Access patterns of files.
    Files,
    /// Access patterns of processes.
    Processes,
    /// Bytes and calls over time.
    Throughput,
}

/// The words for all tables, for messages.
pub(crate) const NAMES: &str = "calls, group-calls, phases, distributions, files, processes, throughput";

impl ProfileTable {
    /// Every table, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Phases,
        Self::Calls,
        Self::GroupCalls,
        Self::Distributions,
        Self::Files,
        Self::Processes,
        Self::Throughput,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::GroupCalls => "group-calls",
            Self::Phases => "phases",
            Self::Distributions => "distributions",
            Self::Files => "files",
            Self::Processes => "processes",
            Self::Throughput => "throughput",
        }
    }

    /// The layer that its numbers are of, if those of calls are of `calls` (`system calls`).
    #[must_use]
    pub fn layer(self, calls: &str) -> String {
        match self {
            Self::Calls | Self::GroupCalls | Self::Files | Self::Processes | Self::Throughput => {
                calls.to_owned()
            }
            Self::Phases => {
                format!("{calls}; storage, CPU and life: the kernel's counters of the processes")
            }
            Self::Distributions => format!("{calls}; lifetimes: processes"),
        }
    }
}

impl FromStr for ProfileTable {
    type Err = StatsError;

    fn from_str(word: &str) -> Result<Self, StatsError> {
        Self::ALL
            .into_iter()
            .find(|table| table.name() == word)
            .ok_or_else(|| StatsError::Table(word.to_owned()))
    }
}
