//! One file per command: its arguments, and what it calls.

pub(crate) mod completions;
pub(crate) mod import;
pub(crate) mod man;
