//! What can be wrong with a query. Every message says what was found, where, and what may stand there instead.

/// A query that cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A word of the command line or of a configuration.
    #[error("{option} `{}`: {problem}; {allowed}", iotrail_model::text::printable(.word))]
    Word {
        /// The option as the user writes it, `--since`.
        option: &'static str,
        /// Its value.
        word: String,
        /// What is wrong.
        problem: String,
        /// What is allowed.
        allowed: String,
    },
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
        "cannot read the rules file {file}: {source}; --map takes auto, {}, or the name of a rules file",
        crate::preset::NAMES
    )]
    Read {
        /// Name of the file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The event log could not be read.
    #[error(transparent)]
    Trail(#[from] iotrail_trail::TrailError),
}

impl QueryError {
    /// Whether the command line itself is wrong, and not a file that it names.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Word { option, .. } => option.starts_with("--"),
            Self::Read { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Rules { .. } | Self::Trail(_) => false,
        }
    }

    pub(crate) fn word(
        option: &'static str,
        word: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Word { option, word: word.to_owned(), problem: problem.into(), allowed: allowed.into() }
    }
}
