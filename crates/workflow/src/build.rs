//! From the event log to the workflow graph.
//!
//! Dun et al., section 5.3.1. What the paper leaves open (when a file is created, when one becomes another, in which order
//! two processes touched it) is decided in the modules below, each of which says how.

mod finish;
mod gather;
mod hidden;
mod known;
pub(crate) mod labels;
mod meaning;
mod node;
mod open_reads;
mod order;
mod places;
mod record;
mod survey;
#[cfg(test)]
mod tests;
mod weave;

use crate::error::WorkflowError;
use crate::graph::{FileView, Graph};
use finish::Finish;
use iotrail_model::{Case, threads};
use iotrail_query::{LifeId, Lives, ProcessGroups, Query, scan};
use iotrail_trail::EventLog;
use record::Record;
use std::num::NonZeroUsize;
use weave::Weaver;

pub use gather::{Gathered, Gathering};
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
    lives: &Lives,
    groups: &ProcessGroups,
    options: &BuildOptions<'_>,
) -> Result<Graph, WorkflowError> {
    let survey = scan(log, None, options.threads, &Surveying::new(log, lives))?;
    let gathered = scan(log, options.query, options.threads, &Gathering::new(lives, &survey))?;
    graph(log, lives, groups, survey, gathered, options)
}

/// The workflow graph of a log that two passes have read.
///
/// # Errors
/// If the trail cannot be read.
pub fn graph(
    log: &EventLog,
    lives: &Lives,
    groups: &ProcessGroups,
    survey: Survey,
    mut gathered: Gathered,
    options: &BuildOptions<'_>,
) -> Result<Graph, WorkflowError> {
    gathered.complete(log, lives, options.threads)?;
    let (Survey { waits, meanings, .. }, Gathered { records, changed, programs, tally, .. }) =
        (survey, gathered);
    let selected = selected(lives, &records, options.query.is_some());
    let weaver = Weaver::new(lives, &meanings, log, &changed, &programs, options, &selected);
    let woven = weaver.weave(&records, &births(lives, &selected));
    drop(records);
    let graph = Finish { log, lives, groups, options, tally, selected: &selected }.graph(woven, waits);
    let untimed = !log.cases().is_empty() && !log.cases().iter().any(Case::tells_time);
    Ok(if untimed { graph.without_times() } else { graph })
}

/// Which processes are shown: with a selection of events those that have one.
fn selected(lives: &Lives, records: &[Record], by_events: bool) -> Vec<bool> {
    let mut selected = vec![!by_events; lives.all().len()];
    for record in records {
        selected[record.life.index()] = true;
    }
    selected
}

/// The processes in the order in which they began.
fn births(lives: &Lives, selected: &[bool]) -> Vec<LifeId> {
    let mut births: Vec<LifeId> = (0..lives.all().len())
        .map(|life| LifeId(life as u32))
        .filter(|life| selected[life.index()])
        .collect();
    births.sort_by_key(|life| (lives.get(*life).start, *life));
    births
}
