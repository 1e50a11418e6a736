//! One part of the trail: reads the files of some jobs through parser and resolver and writes their rows.

use crate::error::{InputFailure, Warning, WarningKind};
use crate::input::TraceFile;
use crate::intake::{self, Read, Remarks};
use crate::pipeline;
use crate::plan::Job;
use crate::reader::Trouble;
use crate::resolving::{Resolved, Resolving};
use crate::stream::Context;
use crate::tally::Tally;
use iotrail_model::{Case, Coverage, Dictionaries};
use iotrail_trail::{PartSummary, PartWriter, TrailError};

/// What became of some jobs.
#[derive(Debug)]
pub(crate) struct PartReport {
    pub(crate) part: PartSummary,
    pub(crate) read: Read,
}

/// Imports `jobs` into `part`; with `apart`, text is parsed on a thread of its own. The result is the same.
pub(crate) fn import_part(
    jobs: &[Job],
    part: PartWriter,
    max_open: usize,
    apart: bool,
    context: Context<'_>,
) -> Result<PartReport, TrailError> {
    let mut resolving = Resolving::new(part);
    let mut read = match apart {
        true => pipeline::read(jobs, max_open, context, &mut resolving),
        false => intake::read(jobs, max_open, context, &mut Dictionaries::default(), &mut resolving),
    };
    let (part, resolved, events) = resolving.finish()?;
    read.tally.events = events;
    let mut cases = &mut read.cases[..];
    for (number, resolved) in read.cases_of_jobs.iter().zip(&resolved) {
        let (of_job, rest) = cases.split_at_mut(*number);
        count_resolved(of_job, resolved, &mut read.coverage, &mut read.tally);
        cases = rest;
    }
    Ok(PartReport { part, read })
}

/// Adds what resolving a job told.
fn count_resolved(cases: &mut [Case], resolved: &Resolved, coverage: &mut Coverage, tally: &mut Tally) {
    let Resolved { summary, events, with_duration } = resolved;
    coverage.relative_paths += summary.relative_paths;
    tally.long_names += summary.long_names;
    tally.without_durations += u64::from(*events > 0 && *with_duration == 0);
    tally.orphans += summary.orphans;
    tally.changed_roots += summary.changed_roots;
    tally.unclear_mounts += summary.unclear_mounts;
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

/// The failure behind trouble.
pub(crate) fn failure(name: &str, trouble: &Trouble) -> InputFailure {
    match trouble {
        Trouble::Open(reason) => InputFailure::new("open", name, reason),
        Trouble::Read(0, reason) => InputFailure::new("read", name, reason),
        Trouble::Read(offset, reason) => {
            let bytes = iotrail_model::units::count(*offset);
            InputFailure::new(
                "read",
                name,
                format!("{reason} after {bytes} bytes of text, which are imported"),
            )
        }
        Trouble::Endless(offset) => {
            let bytes = iotrail_model::units::count(*offset);
            let found = format!(
                "within the first {bytes} bytes is a line without an end that is no strace output; what came before it is imported"
            );
            InputFailure::new("read", name, found)
        }
        Trouble::Damaged(_, error) => InputFailure::new("unpack", name, error),
        Trouble::Foreign(what, tool) => {
            InputFailure::new("unpack", name, format!("it is packed with {what}; unpack it first: {tool}"))
        }
    }
}

/// What to do about an input that is something else.
const RECORD_WITH: &str = "record with: strace -f -tt -T -y -o FILE COMMAND";

impl Remarks {
    /// A file is no strace output. Who named it wanted it imported; a directory may hold anything.
    pub(crate) fn not_strace(&mut self, file: &TraceFile, found: &str) {
        let (name, advice) = (file.name.clone(), RECORD_WITH.to_owned());
        if file.named {
            self.failures.push(InputFailure { advice, ..InputFailure::new("import", &name, found) });
        } else {
            let kind = WarningKind::NotStrace;
            self.warnings.push(Warning { kind, file: name, more: 0, found: found.to_owned(), advice });
        }
    }
}
