//! A report from a log and a query.

use crate::assemble::assemble;
use crate::collect::collect;
use crate::data::PageData;
use crate::error::ReportError;
use crate::options::ReportOptions;
use crate::page::page;
use crate::place::{places, shown};
use crate::subject::Subject;
use iotrail_dfg::{Comparison, Dfg, DfgOptions, synthesize};
use iotrail_query::Query;
use iotrail_trail::EventLog;

/// The report as one HTML file.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn report(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<String, ReportError> {
    let how = DfgOptions { max_concurrency: options.concurrency, threads: options.threads };
    let dfg = synthesize(log, query, &how)?;
    Ok(page(&page_data(log, query, &dfg, None, options)?)?)
}

/// The data of the report on a graph that was synthesized from the same log and query, and on a comparison of its groups.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn page_data(
    log: &EventLog,
    query: &Query,
    dfg: &Dfg,
    comparison: Option<&Comparison>,
    options: &ReportOptions,
) -> Result<PageData, ReportError> {
    let processes = log.processes()?;
    let shown = shown(dfg, options);
    let places = places(dfg, &shown, options)?;
    let collected = collect(log, query, dfg, &shown.nodes, options)?;
    let subject =
        Subject { log, query, processes: &processes, dfg, comparison, collected: &collected, options };
    Ok(assemble(&subject, &shown, &places))
}
