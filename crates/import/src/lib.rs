//! From the traces of other programs to a trail: everything about it that is the same for all formats.
//!
//! [`import`] finds the files behind the inputs, unpacks them, asks each [`Format`] which of them are its own, names the cases,
//! plans who reads what, and writes the trail. A format reads, through one of two doors ([`Door`]): it delivers *raw calls*, which a
//! resolver makes events of, or *events* whose paths it knows.

mod compression;
mod context;
mod ending;
mod error;
mod format;
mod import;
mod input;
mod intake;
mod lines;
mod naming;
mod natural;
mod options;
mod pipe;
mod pipeline;
mod plan;
mod prefix;
mod probe;
mod progress;
mod raw_records;
mod reader;
mod resolving;
mod rows;
mod summary;
mod tally;
mod text;
mod timeline;
mod window;
mod work;

pub use context::Context;
pub use ending::{ClockSteps, Ending};
pub use error::{ImportError, InputFailure, Warning, WarningKind};
pub use format::{Door, Events, Format, RawCalls};
pub use import::import;
pub use input::{Input, Origin, TraceFile};
pub use intake::{FileReport, Intake, Taker};
pub use lines::lines;
pub use naming::{CasePattern, PatternError, Template};
pub use options::ImportOptions;
pub use plan::{Job, PlannedFile};
pub use prefix::{Prefix, digits, duration, trim_start};
pub use probe::{Content, Probe};
pub use progress::{Progress, Silent};
pub use raw_records::RawRecords;
pub use reader::{ReadError, TraceReader};
pub use rows::Rows;
pub use summary::ImportSummary;
pub use text::Text;
pub use timeline::{Absolute, Stamp, Timeline};
pub use window::{Limits, Window};
