//! Columns into Parquet pages: those of `events` without the library's encoders.
//!
//! The library hashes every value of a dictionary column again for each row, although rows already carry ids. Encoding
//! straight from ids costs a third of that; the library still writes footer and schema.

mod bits;
mod cell_writer;
mod chunk;
pub(crate) mod delta;
pub(crate) mod hybrid;
pub(crate) mod page;

pub(crate) use cell_writer::CellWriter;
#[cfg(test)]
pub(crate) use cell_writer::write_cells;
pub(crate) use chunk::{ChunkEncoder, EncodedChunk, Integers};
