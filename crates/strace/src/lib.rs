//! Imports what strace prints.
//!
//! [`import`] turns trace files into a trail; [`parser`] turns the text of one strace into raw calls.

mod births;
mod compression;
mod error;
mod follow;
mod import;
mod input;
mod intake;
mod naming;
mod natural;
mod options;
pub mod parser;
mod pipe;
mod pipeline;
mod plan;
mod pool;
mod probe;
mod progress;
mod reader;
mod resolving;
mod stream;
mod summary;
mod tally;
mod window;
mod work;

pub use error::{ImportError, InputFailure, Warning, WarningKind};
pub use import::import;
pub use input::Input;
pub use naming::{CasePattern, PatternError, Template};
pub use options::ImportOptions;
pub use progress::{Progress, Silent};
pub use summary::ImportSummary;
