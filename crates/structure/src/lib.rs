//! Traces of near-constant size: what programs repeat is kept once.
//!
//! Pure: sequences of events in, structures out; no files, no printing. Everything here is a function of the events
//! alone, not of how they were divided or in which order parts were merged.
//!
//! Source: Scala-H-Trace (scalable multi-level tracing with histograms), chapters 2 to 4.

mod affine;
mod clusters;
mod column;
mod distribution;
mod draw;
mod fold;
mod histogram;
mod name_pattern;
mod quantities;
mod rank_list;
mod structure;
mod tree;

pub use affine::Affine;
pub use clusters::{Cluster, Precision, PrecisionError, clusters};
pub use column::{Class, Column, Reader, Value, Values};
pub use distribution::{Distribution, Drawn, NameTable};
pub use draw::{Permutation, Urn};
pub use fold::{Folded, Unfolded, fold, unfold};
pub use histogram::{Bucket, Extreme, Histogram, HistogramParts, Resolution};
pub use name_pattern::{Hole, NamePattern, padding};
pub use quantities::Quantities;
pub use rank_list::{Block, Progression, RankList};
pub use structure::{Coded, DrawnColumns, Execution, Repeated, Repeats, Structure, StructureError, Walker};
pub use tree::{
    Counts, EventId, Item, ItemId, Key, KeyId, Order, Positions, Sequences, SequencesError, Tree, TreeWalker,
    Visit, What, build,
};
