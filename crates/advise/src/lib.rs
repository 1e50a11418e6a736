//! Which file accesses could be one: after libiotrace ("File access optimization discovery and visualization"), and beyond it.
//!
//! The article looks at *pairs* of consecutive accesses through one open file description and asks whether they could be one
//! although others use the file in between ([`pairs`](mod@pairs)). Pairs do not compose, so what is advised are *runs*: sequences that can be
//! one access without any byte read or written being another one ([`runs`](mod@runs)). Both ask the same question, what is the last access of
//! somebody else that touches these bytes before that time, which one sweep over a file answers for all its accesses
//! ([`conflicts`](mod@conflicts)).

pub mod access;
pub mod advise;
mod baseline;
pub mod conflicts;
mod contention;
pub mod file;
mod gather;
mod in_flight;
pub mod judged;
mod kept;
mod near;
mod packed;
pub mod pairs;
mod proof;
pub mod result;
mod role;
mod rules;
pub mod runs;
mod sample;
mod saving;
mod stake;
mod tree;
mod words;

pub use access::{Access, Description, DescriptionId, Edge, EdgeKind, Kind};
pub use advise::{AdviseOptions, Analysis, advise, explain_and_advise, program};
pub use baseline::{Baseline, BaselineError, Fingerprint};
pub use file::{FileAccesses, ProcessEdges};
pub use judged::{AccessCall, JudgedAccess, JudgedFile, JudgedPair, JudgedRun, JudgedStop};
pub use kept::Keep;
pub use pairs::{Category, Pair, Reason, Rules};
pub use proof::{Measured, Proof};
pub use result::{Advice, CallPlace, Confidence, Finding, Habit, Item, Place, Severity, Shape};
pub use rules::{RULES, RuleInfo, explain};
pub use runs::{Run, Runs, Stop};
pub use words::stop_in_words;
