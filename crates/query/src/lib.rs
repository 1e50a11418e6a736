//! Which events (selection), what they are called (mapping), where they belong (cases, groups).
//!
//! A [`QuerySpec`] holds the user's words, a [`Query`] the checked plan for one event log, a [`Classifier`] applies it to
//! batches in one thread. Everything that depends only on names (paths, calls, cases) is decided once per name.

mod activities;
pub mod attribute;
pub mod auto;
pub mod case_by;
mod case_names;
pub mod classified;
pub mod classifier;
pub mod error;
pub mod event_classes;
pub mod explain;
pub mod facts;
mod filter;
pub mod generalise;
pub mod group;
mod images;
mod layers;
pub mod mapping;
pub mod moment;
pub mod pass;
mod pattern;
mod patterns;
pub mod preset;
pub mod process_group;
pub mod process_rules;
pub mod process_table;
pub mod query;
pub mod reused;
mod rules;
pub mod runs;
pub mod select;
pub mod spec;
mod template;
pub mod time_slices;
pub mod variables;
pub mod warning;

pub use attribute::Attribute;
pub use auto::Auto;
pub use case_by::CaseBy;
pub use classified::{ActivityId, CaseKey, Classified, GroupId};
pub use classifier::Classifier;
pub use error::QueryError;
pub use event_classes::event_classes;
pub use explain::Explanation;
pub use facts::Facts;
pub use group::{GroupBy, Groups};
pub use layers::{OneLayer, named_layers};
pub use mapping::{AUTO, Mapping, Subject};
pub use pass::{Asks, Pass, Rows, Running, scan};
pub use preset::{MAPPINGS, Preset};
pub use process_group::{NO_GROUP, ProcessGroupBy, ProcessGroups};
pub use process_rules::ProcessRules;
pub use process_table::{ProcessEntry, ProcessId, ProcessTable};
pub use query::Query;
pub use runs::runs_of_cases;
pub use select::Selection;
pub use spec::{QuerySpec, SelectSpec};
pub use time_slices::TimeSlices;
pub use variables::Variables;
pub use warning::Warning;
