//! The sections of a file.

use std::fmt;

/// A part of the file with a checksum of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Capture, coverage, how times are kept; JSON.
    About = 1,
    /// The dictionaries.
    Names = 2,
    /// What events of an item have in common.
    Keys = 3,
    /// Threads: whose events are one sequence; before version 4.
    Lines = 4,
    /// Sets of lines.
    Ranks = 5,
    /// The loop tree with its columns.
    Tree = 6,
    /// Distributions of times by item; before version 4.
    Times = 7,
    /// The table `cases`; JSON.
    Cases = 8,
    /// The table `processes`; JSON.
    Processes = 9,
    /// The table `files`.
    Files = 10,
    /// Distributions of values that are drawn, by item and column.
    Drawn = 11,
    /// Call sites, and those of the keys.
    Sites = 12,
    /// Threads, whose events are one sequence, by their processes.
    Threads = 13,
    /// Distributions of times by item, of which only what does not follow is kept.
    Histograms = 14,
}

impl Section {
    pub(crate) const ALL: [Self; 14] = [
        Self::About,
        Self::Names,
        Self::Keys,
        Self::Lines,
        Self::Ranks,
        Self::Tree,
        Self::Times,
        Self::Cases,
        Self::Processes,
        Self::Files,
        Self::Drawn,
        Self::Sites,
        Self::Threads,
        Self::Histograms,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::About => "about",
            Self::Names => "names",
            Self::Keys => "keys",
            Self::Lines => "lines",
            Self::Ranks => "ranks",
            Self::Tree => "tree",
            Self::Times => "times",
            Self::Cases => "cases",
            Self::Processes => "processes",
            Self::Files => "files",
            Self::Drawn => "drawn",
            Self::Sites => "sites",
            Self::Threads => "threads",
            Self::Histograms => "histograms",
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
