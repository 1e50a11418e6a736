//! A report from a log and a query.

use crate::assemble::assemble;
use crate::collect::collect;
use crate::data::PageData;
use crate::error::ReportError;
use crate::options::ReportOptions;
use crate::page::page;
use crate::place::{places, shown};
use crate::subject::Subject;
use iotrail_dfg::{DfgOptions, compare, synthesize};
use iotrail_query::Query;
use iotrail_trail::EventLog;

/// The report as one HTML file. Where the query has groups, the first two that have traces are compared.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn report(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<String, ReportError> {
    Ok(page(&page_data(log, query, options)?)?)
}

/// The data of the report.
///
/// # Errors
/// If the log cannot be read or the graph cannot be laid out.
pub fn page_data(log: &EventLog, query: &Query, options: &ReportOptions) -> Result<PageData, ReportError> {
    let how = DfgOptions { max_concurrency: options.concurrency, threads: options.threads };
    let dfg = synthesize(log, query, &how)?;
    let mut groups = dfg.groups.iter().filter(|group| group.cases > 0).map(|group| group.name.as_str());
    let comparison = match (groups.next(), groups.next()) {
        (Some(a), Some(b)) => Some(compare(log, query, a, b, &how)?),
        _ => None,
    };
    let processes = log.processes()?;
    let shown = shown(&dfg, options);
    let places = places(&dfg, &shown, options)?;
    let collected = collect(log, query, &dfg, &shown.nodes, options)?;
    let subject = Subject {
        log,
        query,
        processes: &processes,
        dfg: &dfg,
        comparison: comparison.as_ref(),
        collected: &collected,
        options,
    };
    Ok(assemble(&subject, &shown, &places))
}
