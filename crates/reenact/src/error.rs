//! Why a structure is not replayed.

use iotrail_compress::CompressError;
use iotrail_replay::PlanError;

/// Why a structure is not replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReenactError {
    /// It is damaged.
    #[error(transparent)]
    Structure(#[from] CompressError),
    /// More than what is held in memory.
    #[error("{0} calls, at most {1} are replayed")]
    TooMany(u64, u64),
    /// Threads that cannot be had at once.
    #[error("more than 256 threads made calls at once")]
    Threads,
    /// Calls on which others depend, and of which recordings do not tell enough.
    #[error("it cannot be replayed without {0}, of which recordings do not tell enough")]
    Refused(String),
    /// The engine refuses the program.
    #[error("its calls cannot be issued: {0}")]
    Plan(#[from] PlanError),
}
