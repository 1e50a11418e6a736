//! Structures on disk: what `crates/structure` makes of sequences, with the tables of the trail that they are of.
//!
//! Magic, version, index, sections with codec and checksum; `docs/structure.md` is the public description. Lengths, counts
//! and depths are checked against the bytes that are there before memory is reserved.
//!
//! Source: Scala-H-Trace, chapter 2; its traces are text.

mod arithmetic;
mod columns;
mod container;
mod digits;
mod document;
mod drawn;
mod error;
mod model;
mod names;
mod reader;
mod records;
mod section;
mod sites;
mod sparse;
mod tables;
mod threads;
mod times;
mod tree;
mod writer;

pub use container::{MAGIC, VERSION, is_structure, uncompressed};
pub use document::{About, CallKey, Document, FixedCounts, Line};
pub use error::FileError;
pub use threads::rank;
pub use times::ItemTimes;
