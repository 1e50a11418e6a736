//! Events on their way to a trail: append-only files that survive the death of their writer.
//!
//! A recorder cannot build Parquet while it traces, and it may be killed at any moment. So it appends each event to a
//! spool: every record lies in the page cache before the call that wrote it returns, is checked on its own, and needs
//! nothing that comes after it. `docs/spool-format.md` is the exact format; [`SpoolWriter`] writes it, [`Spool`] and
//! [`Reader`] read it, whether the recorder finished, was killed, or is still at work.

mod block;
mod damage;
mod error;
mod event_code;
mod footer;
mod format;
mod header;
mod header_file;
mod local_names;
mod losses;
mod piece_names;
mod plain;
mod reader;
mod regular_file;
mod row_code;
#[cfg(test)]
mod samples;
mod segment;
mod sites;
mod spool;
mod sum;
mod survey;
mod tables;
mod visit;
mod writer;

#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod numbered;
#[cfg(test)]
mod round_trip;

pub use damage::Damage;
pub use error::SpoolError;
pub use format::FIRST_SEGMENT;
pub use header::{FORMAT_VERSION, Header, Recorder};
pub use header_file::sync_later;
pub use losses::Losses;
pub use reader::Reader;
pub use regular_file::open_regular;
pub use spool::Spool;
pub use survey::Piece;
pub use tables::Tables;
pub use visit::Visit;
pub use writer::{SpoolWriter, Written};
