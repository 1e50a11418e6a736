//! The rows of table 2: what groups moved, with what is known of their processes.

use crate::part::Context;
use crate::result::{Modes, PhaseRow};
use crate::storage::Storage;
use crate::summary::{Summary, Sums, Use};
use iotrail_model::{Case, Nanos, Resolution, Timestamp};
use iotrail_query::{ProcessEntry, ProcessId};

/// What is known of the processes of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Processes {
    jobs: u64,
    modes: Modes,
    storage: Storage,
    lifetime_ns: Option<u64>,
    /// Whether time stamps are too coarse to tell one of the lifetimes: then they do not tell the sum either.
    incomplete: bool,
    span: Option<(i64, i64)>,
    /// Of the time stamps of its processes.
    resolution: Resolution,
}

/// The rows of all groups of which something is selected, and the row of all together. `names` are those of the slots;
/// `last` is when the last selected call ended.
pub(crate) fn phases(
    summary: &Summary,
    names: &[String],
    last: Option<i64>,
    context: &Context<'_>,
) -> (Vec<PhaseRow>, PhaseRow) {
    let whole = context.query.selects_whole_processes();
    let end = end_of_log(context).max(last);
    let mut groups = vec![Processes::default(); context.slots()];
    let mut total = Processes::default();
    for index in 0..context.processes.all().len() {
        let process = ProcessId(index as u32);
        let Some(usage) = summary.process(process).or_else(|| idle(process, context)) else { continue };
        for group in [&mut groups[context.slot(Some(process))], &mut total] {
            group.jobs += u64::from(context.groups.is_job(process));
            group.modes.count(usage);
            group.storage.add(context.processes.images(process), summary.read_of_files(process));
            group.live(context.processes.get(process), end, context);
        }
    }
    let (files, all_files) = summary.files(context.slots());
    let rows = names.iter().enumerate().map(|(slot, name)| {
        let files = files.get(slot).copied().unwrap_or_default();
        row(name.clone(), &summary.sums(slot), &groups[slot], files, whole)
    });
    let rows = rows.filter(|row| row.calls > 0 || row.processes != Modes::default()).collect();
    (rows, row("total".to_owned(), &summary.total(), &total, all_files, whole))
}

fn row(group: String, sums: &Sums, processes: &Processes, files: Modes, whole: bool) -> PhaseRow {
    PhaseRow {
        group,
        jobs: processes.jobs,
        calls: sums.calls,
        bytes_read: sums.bytes_read,
        bytes_written: sums.bytes_written,
        other_read: sums.other_read,
        other_written: sums.other_written,
        files,
        processes: processes.modes,
        mappings: sums.mappings,
        storage_read: processes.storage.read,
        storage_written: processes.storage.written,
        storage_unknown: processes.storage.unknown,
        page_cache_hit: processes.storage.page_cache_hit().filter(|_| whole),
        call_ns: (sums.timed > 0).then_some(sums.call_ns),
        io_ns: (sums.timed > 0).then_some(sums.io_ns),
        wait_ns: (sums.timed > 0).then_some(sums.wait_ns),
        request_ns: (sums.timed > 0).then_some(sums.request_ns),
        cpu_ns: processes.storage.cpu,
        lifetime_ns: processes.lifetime_ns.filter(|_| !processes.incomplete),
        span: processes.span.filter(|(first, last)| {
            processes.resolution.known_span(Nanos(last.saturating_sub(*first))).is_some()
        }),
    }
}

/// What a process did that made no selected call: nothing, if it is selected nevertheless.
fn idle(process: ProcessId, context: &Context<'_>) -> Option<Use> {
    let ProcessEntry { case, pid, .. } = context.processes.get(process);
    let selected = context.covers(*case) && context.query.selects_process(*case, *pid) == Some(true);
    selected.then(Use::default)
}

/// The last sign of life of anything.
fn end_of_log(context: &Context<'_>) -> Option<i64> {
    let timed = context.processes.all().iter().enumerate().filter(|(_, process)| is_timed(process, context));
    let images = timed.flat_map(|(at, _)| context.processes.images(ProcessId(at as u32)));
    images.flat_map(|image| [image.start, image.end]).flatten().map(|Timestamp(at)| at).max()
}

fn is_timed(process: &ProcessEntry, context: &Context<'_>) -> bool {
    context.cases().get(process.case.index()).is_none_or(Case::has_times)
}

fn resolution(process: &ProcessEntry, context: &Context<'_>) -> Resolution {
    context.cases().get(process.case.index()).map(|case| case.resolution).unwrap_or_default()
}

impl Processes {
    fn live(&mut self, process: &ProcessEntry, end_of_log: Option<i64>, context: &Context<'_>) {
        if !is_timed(process, context) {
            return;
        }
        let Some(start) = process.start.map(|Timestamp(at)| at) else { return };
        let end = process.end.map(|Timestamp(at)| at).or(end_of_log).unwrap_or(start).max(start);
        let resolution = resolution(process, context);
        self.resolution = self.resolution.max(resolution);
        self.incomplete |= resolution.known_span(Nanos(end.saturating_sub(start))).is_none();
        self.lifetime_ns = Some(self.lifetime_ns.unwrap_or(0).saturating_add(end.abs_diff(start)));
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}
