//! A workflow that was recorded, in any format.

use crate::error::ExportError;
use crate::format::Format;
use crate::workflow::{WriteOptions, write, write_jobs};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::EventLog;
use iotrail_workflow::Graph;
use iotrail_workflow::jobs::{JobOptions, jobs};
use std::collections::BTreeSet;

/// The graph in a format; in formats of jobs the jobs of the log of which a process is in the graph, with their command
/// lines. With it, in words, what was told instead of guessed. A graph whose processes are aggregated has no command lines and is described as far as the format allows.
///
/// # Errors
/// If the log cannot be read, or the format cannot hold it.
pub fn write_recorded(
    log: &EventLog,
    processes: &ProcessTable,
    graph: &Graph,
    format: Format,
    options: &WriteOptions,
    managers: &JobOptions,
) -> Result<(Vec<u8>, Vec<String>), ExportError> {
    let aggregated = graph.vertices.iter().any(|vertex| vertex.process().is_some() && vertex.members > 1);
    if !format.is_of_jobs() || aggregated {
        return Ok((write(graph, format, options)?, Vec::new()));
    }
    let wanted: BTreeSet<ProcessId> =
        graph.vertices.iter().filter_map(|vertex| Some(vertex.process()?.process)).collect();
    let all = jobs(log, processes, managers)?;
    let some = all.select(|process| wanted.contains(&process));
    let environment =
        some.environment_remark().filter(|_| !matches!(format, Format::Makefile | Format::Snakemake));
    let remarks = environment.into_iter().chain(some.issues.iter().map(|issue| issue.message())).collect();
    Ok((write_jobs(&some, format, options)?, remarks))
}
