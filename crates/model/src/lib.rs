//! The vocabulary of iotrail: what an event, a case, a raw call and a coverage statement are.
//!
//! Everything else depends on this crate and this crate depends on nothing heavy, so that a tracer, an importer,
//! an analysis and a picture agree on the meaning of a word without sharing code.
//! The event schema is the public interface of the product (`docs/trail-format.md`).

pub mod batch;
pub mod buckets;
pub mod calls;
pub mod canonical;
pub mod case;
pub mod cell;
pub mod clock;
pub mod coverage;
pub mod csv;
pub mod dictionaries;
mod environment_digests;
pub mod errors;
pub mod event;
pub mod file_facts;
pub mod ids;
pub mod interner;
pub mod intervals;
pub mod known_words;
pub mod limitation;
pub mod notes;
pub mod nullable;
pub mod places;
pub mod quantity;
pub mod quote;
pub mod raw;
mod raw_batch;
pub mod recording_coverage;
pub mod requests;
pub mod run_variables;
mod site;
pub mod sources;
pub mod text;
pub mod threads;
pub mod time;
pub mod units;
pub mod usage;
pub mod varint;

pub use batch::{EventBatch, Names};
pub use case::{Case, CaseName, ENVIRONMENT_DIGEST, FileRow, Process};
pub use cell::{Cell, CellKind, Column, NameKind, Value};
pub use clock::{Clock, Resolution};
pub use coverage::Coverage;
pub use dictionaries::Dictionaries;
pub use environment_digests::EnvironmentDigests;
pub use event::{Event, Layer};
pub use file_facts::{FileFacts, FileKind, NamedFile};
pub use ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, SiteId, Tid};
pub use interner::Interner;
pub use limitation::{Limitation, LimitationKind};
pub use notes::{Note, Notes};
pub use nullable::Nullable;
pub use recording_coverage::RecordingCoverage;
pub use site::{Frame, Site, SourcePlace};
pub use time::{Nanos, Timestamp};
pub use usage::Usage;
