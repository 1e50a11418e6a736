//! Which events (selection), what they are called (mapping), where they belong (cases, groups).

pub mod classified;

pub use classified::{ActivityId, CaseKey, Classified, GroupId};
