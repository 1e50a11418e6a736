//! What can be wrong with an operation's words. Every message says what was found, where, and what may stand there.

/// An operation that cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// A word that makes no sense.
    #[error("{operation} `{}`: {problem}; {allowed}", iotrail_model::text::printable(.word))]
    Word {
        /// The operation that it was given for, `select`.
        operation: &'static str,
        /// The value that was given.
        word: String,
        /// What is wrong.
        problem: String,
        /// What is allowed.
        allowed: String,
    },
    /// A name that no operation has.
    #[error("operation `{}`: no operation; {allowed}", iotrail_model::text::printable(.name))]
    Unknown {
        /// The name that is not known.
        name: String,
        /// The names there are.
        allowed: &'static str,
    },
    /// A path has no end in a graph with cycles.
    #[error(
        "{what} needs a graph without cycles, but {} lead back to where they begin; use the view of versions, before processes are joined",
        .cycle.iter().map(|key| format!("`{}`", iotrail_model::text::printable(key))).collect::<Vec<_>>().join(" -> ")
    )]
    Cyclic {
        /// What was asked for.
        what: &'static str,
        /// Keys of the vertices of one cycle.
        cycle: Vec<String>,
    },
    /// Processes that were joined no longer tell who waited for whom.
    #[error(
        "the critical path as executed follows single processes, but `{}` stands for {members} of them; \
         ask for it before processes are joined",
        iotrail_model::text::printable(.key)
    )]
    Aggregated {
        /// The first aggregate.
        key: String,
        /// How many processes it stands for.
        members: u32,
    },
    /// Time stamps do not tell what came before what.
    #[error("the time stamps of the traces are too coarse to tell it (strace -ttt)")]
    CoarseTimes,
}

impl OpError {
    pub(crate) fn word(
        operation: &'static str,
        word: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Word { operation, word: word.to_owned(), problem: problem.into(), allowed: allowed.into() }
    }
}
