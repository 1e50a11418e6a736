//! Imports what strace prints.

mod compression;
mod error;
mod input;
mod naming;
mod natural;
pub mod parser;
mod pipe;
mod progress;
mod reader;
mod window;

pub use error::{ImportError, InputFailure, Warning, WarningKind};
pub use input::Input;
pub use naming::{CasePattern, PatternError, Template};
pub use progress::{Progress, Silent};
