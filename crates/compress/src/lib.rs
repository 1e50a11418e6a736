//! Trails as structures, and back: threads are sequences, calls are keys, all else is columns.
//!
//! [`compress()`] makes a [`Document`](iotrail_structure_file::Document) of a log, [`expand()`] a trail of it; [`Outline`] is what people see.
//!
//! Source: Scala-H-Trace, chapters 2 to 5.

mod cells;
mod coarsen;
mod columns;
mod compress;
mod drawn;
mod draws;
mod error;
mod events;
mod expand;
mod foresight;
mod lines;
mod load;
mod loops;
mod message_calls;
mod naming;
mod outline;
mod peers;
mod roles;
mod sequences;
mod stage;
#[cfg(test)]
mod tests;

pub use coarsen::{coarsen, draws_bytes_of, draws_messages, draws_partners_of, smaller};
pub use compress::{CompressOptions, compress};
pub use drawn::{DrawnCluster, DrawnColumn};
pub use error::CompressError;
pub use events::{Place, each_event, each_placed_event};
pub use expand::{expand, expand_into};
pub use load::{check, is_structure_file, load};
pub use loops::{Iteration, LoopRow, Loops, Spread};
pub use message_calls::{CountedCalls, Told, counted_calls};
pub use outline::{Counts, Outline, OutlineCall, OutlineItem, OutlineLine, OutlineOptions};
pub use stage::{Stage, Step};
