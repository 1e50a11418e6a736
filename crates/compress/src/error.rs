//! Why a trail has no structure, or a structure no trail.

use iotrail_query::QueryError;
use iotrail_structure::{SequencesError, StructureError};
use iotrail_structure_file::FileError;
use iotrail_trail::TrailError;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong between trails and structures.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompressError {
    /// A trail cannot be read or written.
    #[error(transparent)]
    Trail(#[from] TrailError),
    /// What calls act on cannot be found out.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is a trail.
    #[error("{} is a trail, not a structure", .0.display())]
    IsTrail(PathBuf),
    /// It is no structure, or a damaged one.
    #[error("{}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        source: FileError,
    },
    /// There are more events than a structure holds.
    #[error("a structure cannot hold these events: {0}")]
    Sequences(#[from] SequencesError),
    /// A structure contradicts itself.
    #[error("section `tree`: {0}")]
    Structure(#[from] StructureError),
    /// A column has a value that it cannot have.
    #[error("section `tree`: line {line}, event {event}: a value that its column cannot have")]
    Value {
        /// The line.
        line: u32,
        /// The event of the line, from 0.
        event: u32,
    },
    /// A line has more or fewer events than it says.
    #[error("section `tree`: line {line} has {found} events, expected {expected}")]
    Events {
        /// The line.
        line: u32,
        /// How many it has; one more than expected if there are even more.
        found: u32,
        /// How many it says.
        expected: u32,
    },
    /// A structure of a lower precision is made of an exact one only.
    #[error(
        "its precision is {percent} % already: make the other one of the trail, or of the structure with precision 100"
    )]
    Coarse {
        /// Its precision, in percent.
        percent: u8,
    },
    /// Times are not those of the events.
    #[error("section `times`: item {item} has no time for each of its executions")]
    Times {
        /// The item.
        item: u32,
    },
}
