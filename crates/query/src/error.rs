//! What can be wrong with a query. Every message says what was found, where, and what may stand there instead.

/// A query that cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A value of the query.
    #[error("{setting} `{}`: {problem}; {allowed}", iotrail_model::text::printable(.word))]
    Word {
        /// What it was given for: `since`, `by`, ...
        setting: &'static str,
        /// The value that was given.
        word: String,
        /// What is wrong.
        problem: String,
        /// What is allowed.
        allowed: String,
    },
    /// A file of variables that holds more than these.
    #[error("configuration `{}`: it has a preset or rules, but may have the table [variables] only; rules belong in the file of the mapping", iotrail_model::text::printable(.0))]
    NotVariablesOnly(String),
    /// A place in a rules file.
    #[error("{file}:{line}:{column}: {problem}; {allowed}")]
    Rules {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
        /// What is allowed.
        allowed: String,
    },
    /// A rules file that cannot be read.
    #[error(
        "cannot read the rules file {file}: {source}; a mapping is auto, {}, or the name of a rules file",
        crate::preset::NAMES
    )]
    Read {
        /// Name of the file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The selection leaves nothing to answer about.
    #[error("nothing to show for the selection ({selection}) in {events}")]
    NothingSelected {
        /// The selection in words.
        selection: String,
        /// How many events there are, in words.
        events: String,
    },
    /// The event log could not be read.
    #[error("{0}")]
    Trail(#[from] iotrail_trail::TrailError),
}

impl QueryError {
    /// Whether a value of the query itself is wrong, and not a file that it names.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Word { .. } => true,
            Self::Read { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Rules { .. }
            | Self::NotVariablesOnly(_)
            | Self::NothingSelected { .. }
            | Self::Trail(_) => false,
        }
    }

    pub(crate) fn word(
        setting: &'static str,
        word: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Word { setting, word: word.to_owned(), problem: problem.into(), allowed: allowed.into() }
    }
}
