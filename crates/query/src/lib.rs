//! Which events (selection), what they are called (mapping), where they belong (cases, groups).
//!
//! A [`QuerySpec`] holds the user's words, a `Query` the checked plan for one event log, a `Classifier` applies it to
//! batches in one thread. Everything that depends only on names (paths, calls, cases) is decided once per name.

pub mod case_by;
pub mod classified;
pub mod error;
pub mod generalise;
pub mod preset;
pub mod spec;
pub mod variables;

pub use case_by::CaseBy;
pub use classified::{ActivityId, CaseKey, Classified, GroupId};
pub use error::QueryError;
pub use preset::Preset;
pub use spec::{QuerySpec, SelectSpec};
pub use variables::Variables;
