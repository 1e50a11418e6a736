//! From the event log to the workflow graph.
//!
//! Dun et al., section 5.3.1. What the paper leaves open (when a file is created, when one becomes another, in which order
//! two processes touched it) is decided in the modules below, each of which says how.

mod finish;
mod gather;
mod graph_builder;
mod hidden;
mod known;
pub(crate) mod labels;
mod node;
mod open_reads;
mod order;
mod path_files;
mod record;
mod survey;
#[cfg(test)]
mod tests;
mod vocabulary;

use crate::error::WorkflowError;
use crate::graph::{FileView, Graph};
use finish::Finish;
use graph_builder::GraphBuilder;
use iotrail_model::{Case, threads};
use iotrail_query::{ProcessGroups, ProcessId, ProcessTable, Query, scan};
use iotrail_trail::EventLog;
use record::Record;
use std::num::NonZeroUsize;

pub use gather::{Gathering, Records};
pub use survey::{Survey, Surveying};

/// What the graph shall show.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Versions of files, or whole files.
    pub view: FileView,
    /// Whether edges of the relation `Map` are shown: executables and libraries that were mapped.
    pub maps: bool,
    /// Whether system files are shown, see [`crate::system`].
    pub system: bool,
    /// Only events that this query selects; processes without any are left out.
    pub query: Option<&'a Query>,
    /// Number of threads; the result does not depend on it.
    pub threads: NonZeroUsize,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            view: FileView::Version,
            maps: false,
            system: false,
            query: None,
            threads: threads::one_per_core(),
        }
    }
}

/// The workflow graph of a log.
///
/// # Errors
/// If the trail cannot be read.
pub fn build(
    log: &EventLog,
    processes: &ProcessTable,
    groups: &ProcessGroups,
    options: &BuildOptions<'_>,
) -> Result<Graph, WorkflowError> {
    let survey = scan(log, None, options.threads, &Surveying::new(log, processes))?;
    let gathered = scan(log, options.query, options.threads, &Gathering::new(processes, &survey))?;
    graph(log, processes, groups, survey, gathered, options)
}

/// The workflow graph of a log that two passes have read.
///
/// # Errors
/// If the trail cannot be read.
pub fn graph(
    log: &EventLog,
    processes: &ProcessTable,
    groups: &ProcessGroups,
    survey: Survey,
    mut gathered: Records,
    options: &BuildOptions<'_>,
) -> Result<Graph, WorkflowError> {
    gathered.complete(log, processes, options.threads)?;
    let (Survey { waits, vocabulary, .. }, Records { records, changed, programs, tally, .. }) =
        (survey, gathered);
    let selected = selected(processes, &records, options.query.is_some());
    let builder = GraphBuilder::new(processes, &vocabulary, log, &changed, &programs, options, &selected);
    let built = builder.build(&records, &births(processes, &selected));
    drop(records);
    let graph = Finish { log, processes, groups, options, tally, selected: &selected }.graph(built, waits);
    let untimed = !log.cases().is_empty() && !log.cases().iter().any(Case::has_times);
    Ok(if untimed { graph.without_times() } else { graph })
}

/// Which processes are shown: with a selection of events those that have one.
fn selected(processes: &ProcessTable, records: &[Record], by_events: bool) -> Vec<bool> {
    let mut selected = vec![!by_events; processes.all().len()];
    for record in records {
        selected[record.process.index()] = true;
    }
    selected
}

/// The processes in the order in which they began.
fn births(processes: &ProcessTable, selected: &[bool]) -> Vec<ProcessId> {
    let mut births: Vec<ProcessId> = (0..processes.all().len())
        .map(|process| ProcessId(process as u32))
        .filter(|process| selected[process.index()])
        .collect();
    births.sort_by_key(|process| (processes.get(*process).start, *process));
    births
}
