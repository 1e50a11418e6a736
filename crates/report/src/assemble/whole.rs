//! Figures of the whole log: totals, hosts, commands, calls, files, cases.

use crate::data::{Bounded, CaseRow, NameId, PageTotals, TotalsRow};
use crate::name_table::NameTable;
use crate::subject::Subject;
use iotrail_dfg::details::Totals;
use iotrail_model::Case;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Longest command line in characters.
const LONGEST_COMMAND: usize = 300;
/// Hosts, commands and kinds of calls that are listed.
const LISTED: usize = 60;

/// The clock of all cases, `mixed` if they differ.
pub(super) fn clock(cases: &[Case]) -> &'static str {
    let clocks: BTreeSet<&'static str> = cases.iter().map(|case| case.clock.name()).collect();
    match clocks.len() {
        0 => "utc",
        1 => clocks.first().copied().unwrap_or("utc"),
        _ => "mixed",
    }
}

pub(super) fn totals(subject: &Subject<'_>) -> PageTotals {
    let (dfg, details) = (subject.dfg, &subject.collected.details);
    let (all, threads) = (details.all(), details.threads());
    let (processes, acting) = population(subject);
    PageTotals {
        events: dfg.events.total,
        mapped: dfg.events.mapped,
        unmapped: dfg.events.unmapped,
        cases: dfg.cases,
        cases_without_trace: dfg.cases_without_trace,
        processes,
        threads: acting,
        files: details.files().len() as u64,
        failures: all.failures,
        duration_ns: all.known_duration_ns().map(|nanos| nanos.saturating_sub(dfg.request_ns())),
        mapped_ns: dfg.duration_ns,
        thread_ns: threads.iter().fold(0, |sum: u64, (_, span)| sum.saturating_add(span.span_ns())),
        read: all.read,
        written: all.written,
        copied: all.copied,
    }
}

/// How many processes and threads there were; of a selection those that made a call in it.
fn population(subject: &Subject<'_>) -> (u64, u64) {
    if let (true, Ok(info)) = (subject.query.selects_everything(), subject.log.info()) {
        return (info.processes, info.threads);
    }
    let threads = subject.collected.details.threads();
    let processes: BTreeSet<_> = threads.iter().map(|(thread, _)| (thread.case, thread.pid)).collect();
    (processes.len() as u64, threads.len() as u64)
}

fn bounded<T>(rows: Vec<T>, limit: usize) -> (Vec<T>, u64) {
    let more = rows.len().saturating_sub(limit) as u64;
    (rows.into_iter().take(limit).collect(), more)
}

fn row(name: NameId, totals: &Totals) -> TotalsRow {
    let duration = totals.known_duration_ns();
    (name, totals.count, totals.failures, duration, totals.read, totals.written, totals.copied)
}

pub(super) fn hosts(subject: &Subject<'_>, names: &mut NameTable) -> Bounded<NameId> {
    let seen: BTreeSet<_> = subject.collected.details.cases().iter().map(|(key, _)| key.case()).collect();
    let cases = subject.log.cases().iter().filter(|case| seen.contains(&case.id));
    let hosts: BTreeSet<&str> = cases.filter_map(|case| case.name.host.as_deref()).collect();
    let (list, more) = bounded(hosts.into_iter().collect(), LISTED);
    Bounded { list: list.into_iter().map(|host| names.id(host)).collect(), more }
}

/// Distinct command lines, the earliest first; without a table of processes the commands of the cases' names.
pub(super) fn commands(subject: &Subject<'_>, names: &mut NameTable) -> Bounded<(NameId, u64)> {
    let mut commands: BTreeMap<String, (i64, u64)> = BTreeMap::new();
    let mut add = |text: String, start: i64| {
        let known = commands.entry(text).or_insert((start, 0));
        *known = (known.0.min(start), known.1 + 1);
    };
    for process in subject.processes {
        let line = process.cmdline.as_ref().map(|line| line.trim_end_matches('\0').replace('\0', " "));
        if let Some(text) = line.or_else(|| process.exe.clone()).filter(|text| !text.is_empty()) {
            let short = iotrail_model::text::shorten(&text, LONGEST_COMMAND).into_owned();
            add(short, process.start.map_or(i64::MAX, |start| start.0));
        }
    }
    if subject.processes.iter().all(|process| process.cmdline.is_none() && process.exe.is_none()) {
        let cases = subject.log.cases().iter();
        cases.filter_map(|case| case.name.cid.clone()).for_each(|cid| add(cid, 0));
    }
    let mut rows: Vec<_> = commands.into_iter().collect();
    rows.sort_by_key(|(_, (start, _))| *start);
    let (list, more) = bounded(rows, LISTED);
    Bounded { list: list.into_iter().map(|(text, (_, count))| (names.id(&text), count)).collect(), more }
}

pub(super) fn calls(subject: &Subject<'_>, names: &mut NameTable) -> Bounded<TotalsRow> {
    let (list, more) = bounded(subject.collected.details.calls(), LISTED);
    let row = |(call, totals)| row(names.id(subject.log.names().call(call)), &totals);
    Bounded { list: list.into_iter().map(row).collect(), more }
}

pub(super) fn cases(subject: &Subject<'_>, names: &mut NameTable) -> Bounded<CaseRow> {
    let mut cases = subject.collected.details.cases();
    cases.sort_by_key(|(key, span)| (Reverse(span.totals.duration_ns), *key));
    let (list, more) = bounded(cases, subject.options.limits.table_rows);
    let rows = list.into_iter().map(|(key, span)| {
        let group = subject.query.group(key.case()).map_or(-1, |group| group.0 as i32);
        let name = names.id(&subject.query.case_name(key));
        let (_, count, failures, duration, read, written, copied) = row(name, &span.totals);
        let first = subject.offset(span.first);
        (name, group, count, failures, duration, read, written, copied, first, span.span_ns())
    });
    Bounded { list: rows.collect(), more }
}
