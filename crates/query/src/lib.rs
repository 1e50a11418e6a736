//! Which events (selection), what they are called (mapping), where they belong (cases, groups).
//!
//! A [`QuerySpec`] holds the user's words, a `Query` the checked plan for one event log, a `Classifier` applies it to
//! batches in one thread. Everything that depends only on names (paths, calls, cases) is decided once per name.

pub mod attribute;
pub mod case_by;
pub mod classified;
pub mod error;
pub mod generalise;
pub mod group;
mod moment;
pub mod preset;
mod quantity;
pub mod spec;
pub mod variables;

pub use case_by::CaseBy;
pub use classified::{ActivityId, CaseKey, Classified, GroupId};
pub use error::QueryError;
pub use group::{GroupBy, Groups};
pub use preset::Preset;
pub use spec::{QuerySpec, SelectSpec};
pub use variables::Variables;
