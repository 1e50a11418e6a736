//! One file per command: its arguments, and what it calls.

pub(crate) mod advise;
pub(crate) mod characterize;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compare_phases;
pub(crate) mod completions;
pub(crate) mod dfg;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod man;
pub(crate) mod processes;
pub(crate) mod record;
pub(crate) mod recorded;
pub(crate) mod recover;
pub(crate) mod redact;
pub(crate) mod report;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod tree;
pub(crate) mod why;
pub(crate) mod workflow;
pub(crate) mod workload;
