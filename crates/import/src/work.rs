//! One part of the trail: reads the files of some jobs and writes their rows.

use crate::context::Context;
use crate::error::InputFailure;
use crate::format::{Door, RawCalls};
use crate::intake::{self, Read, Run};
use crate::pipeline;
use crate::plan::{Job, PlannedFile};
use crate::probe::format_of;
use crate::reader::{ReadError, TraceReader};
use crate::resolving::{Resolved, Resolving};
use crate::rows::Rows;
use crate::tally::Tally;
use crate::window::Limits;
use iotrail_model::{Case, Coverage, Dictionaries};
use iotrail_trail::{PartSummary, PartWriter, TrailError};

/// What became of some jobs.
#[derive(Debug)]
pub(crate) struct PartReport {
    pub(crate) part: PartSummary,
    pub(crate) read: Read,
}

/// Imports `jobs` into `part`; with `apart`, raw calls are read on a thread of their own. The result is the same.
pub(crate) fn import_part(
    jobs: &[Job],
    part: PartWriter,
    apart: bool,
    context: Context<'_>,
) -> Result<PartReport, TrailError> {
    let mut work = Work { rows: Rows::new(part), names: Dictionaries::default(), apart, context };
    let mut read = Read::default();
    for jobs in jobs.chunk_by(|a, b| format(a).is_some() && format(a) == format(b)) {
        if work.rows.goes_on() {
            read.add(work.run(jobs));
        }
    }
    let (part, events) = work.rows.finish()?;
    read.tally.events = events;
    Ok(PartReport { part, read })
}

/// The format of a job, if that is known before it is read.
fn format(job: &Job) -> Option<usize> {
    job.first().and_then(|file| file.format)
}

struct Work<'a> {
    rows: Rows,
    names: Dictionaries,
    apart: bool,
    context: Context<'a>,
}

impl Work<'_> {
    /// Imports jobs of one format.
    fn run(&mut self, jobs: &[Job]) -> Read {
        let (number, opened) = match jobs.first().map(Vec::as_slice) {
            Some([file, ..]) => self.format_and_reader(file),
            _ => return Read::default(),
        };
        let Some(&format) = self.context.formats.get(number) else { return Read::default() };
        let run = Run { jobs, format, opened };
        match format.door() {
            Door::Calls(calls) => self.calls(run, calls),
            Door::Events(events) => {
                intake::read_events(run, events, self.context, &mut self.names, &mut self.rows)
            }
        }
    }

    /// The format of a file; of a pipe only its beginning tells, which is then read.
    fn format_and_reader(&self, file: &PlannedFile) -> (usize, Option<TraceReader>) {
        if let Some(number) = file.format {
            return (number, None);
        }
        let mut reader = TraceReader::new(&file.file, Limits::LARGE, &self.context.options.cancel);
        (format_of(&mut reader, self.context.formats), Some(reader))
    }

    fn calls(&mut self, run: Run<'_>, calls: &dyn RawCalls) -> Read {
        let mut resolving = Resolving::new(&mut self.rows);
        let mut read = match self.apart {
            true => pipeline::read(run, calls, self.context, &mut self.names, &mut resolving),
            false => intake::read_calls(run, calls, self.context, &mut self.names, &mut resolving),
        };
        let mut cases = &mut read.cases[..];
        for (number, resolved) in read.cases_of_jobs.iter().zip(&resolving.resolved) {
            let (of_job, rest) = cases.split_at_mut(*number);
            count_resolved(of_job, resolved, &mut read.coverage, &mut read.tally);
            cases = rest;
        }
        read
    }
}

/// Adds what resolving a job told.
fn count_resolved(cases: &mut [Case], resolved: &Resolved, coverage: &mut Coverage, tally: &mut Tally) {
    let Resolved { summary, events, with_duration } = resolved;
    if let [first, others @ ..] = &mut *cases {
        others.iter_mut().for_each(|case| case.numbered_with = Some(first.id));
    }
    coverage.relative_paths += summary.relative_paths;
    tally.long_names += summary.long_names;
    tally.without_durations += u64::from(*events > 0 && *with_duration == 0);
    tally.orphans += summary.orphans;
    tally.changed_roots += summary.changed_roots;
    tally.unclear_mounts += summary.unclear_mounts;
    tally.uncertain_calls += summary.uncertain_calls;
    tally.file_mappings += summary.file_mappings;
    tally.submitted += summary.submitted;
    tally.rings += summary.rings;
    let mut resolved = summary.cases.iter().peekable();
    for case in cases {
        while resolved.next_if(|summary| summary.case < case.id).is_some() {}
        let summary = resolved.next_if(|summary| summary.case == case.id);
        case.interleaved = summary.is_some_and(|summary| summary.interleaved);
        tally.without_events += u64::from(summary.is_none_or(|summary| summary.events == 0));
    }
}

/// The failure behind a read error.
pub(crate) fn failure(name: &str, read_error: &ReadError) -> InputFailure {
    match read_error {
        ReadError::Open(reason) => InputFailure::new("open", name, reason),
        ReadError::Read(0, reason) => InputFailure::new("read", name, reason),
        ReadError::Read(offset, reason) => {
            let bytes = iotrail_model::units::count(*offset);
            InputFailure::new(
                "read",
                name,
                format!("{reason} after {bytes} bytes of text, which are imported"),
            )
        }
        ReadError::Endless(offset) => {
            let bytes = iotrail_model::units::count(*offset);
            let found = format!(
                "within the first {bytes} bytes is a line without an end that is of no trace; what came before it is imported"
            );
            InputFailure::new("read", name, found)
        }
        ReadError::Damaged(_, error) => InputFailure::new("unpack", name, error),
        ReadError::Foreign(what, tool) => {
            InputFailure::new("unpack", name, format!("it is packed with {what}; unpack it first: {tool}"))
        }
    }
}
