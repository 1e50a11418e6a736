//! Groups of arguments that several commands share.

pub(crate) mod graph;
pub(crate) mod query;
