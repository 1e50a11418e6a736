//! The trail on disk: schema, write, scan, check.
//!
//! A trail is a directory of Parquet tables and a `trail.json` that describes them; `docs/trail-format.md` is its
//! public description. [`TrailWriter`] makes one, [`EventLog`] reads one or several as one log, [`check`] looks at
//! every row of one.

mod arrow_hint;
mod cell;
mod cells;
mod check;
mod checksums;
mod chunk_file;
mod columns;
mod counters;
mod decode;
mod encode;
mod error;
mod event_file;
mod fact_set;
mod footer;
#[cfg(test)]
mod foreign;
mod group_writer;
mod guarded;
#[cfg(test)]
mod hostile;
mod identity;
mod info;
mod kind;
mod limits;
mod log;
pub mod memory;
mod merge;
mod meta;
mod name_index;
mod name_pairs;
#[cfg(test)]
mod one_more_column;
mod outside;
mod own_names;
mod parquet_file;
mod part;
#[cfg(test)]
mod planted;
mod positions;
mod private;
mod process_counter;
mod read_tables;
mod recording;
mod replaceable;
#[cfg(test)]
mod round_trip;
mod row_group;
mod rows;
mod schema;
mod seal;
mod sites;
mod tables;
mod text_runs;
mod trail;
mod verified;
mod writer;

pub use cells::Cells;
pub use check::{MAX_PROBLEMS, Problem, check, check_trail};
pub use columns::Columns;
pub use error::TrailError;
pub use identity::{DistinctFile, FileName};
pub use info::{Bytes, Info, Span};
pub use log::EventLog;
pub use meta::{Capture, FORMAT_VERSION, Table, TableFile, TimeBase, Totals, TrailMeta};
pub use outside::{is_trail, outside_of_trails};
pub use part::{PartSummary, PartWriter};
pub use positions::{POSITION_COLUMNS, Positions, position_sql};
pub use private::{Temporary, file_beside};
pub use recording::{
    JoinOptions, Liveness, Progress, Published, Recording, RecoverOptions, Recovered, TOO_LONG, Unfinished,
    Unreadable, missing_ranks, recover, unfinished,
};
pub use row_group::RowGroupMeta;
pub use schema::{ColumnKind, ColumnSchema, schema};
pub use seal::Checksum;
pub use tables::Row;
pub use trail::Trail;
pub use writer::{CreateOptions, TrailWriter};
