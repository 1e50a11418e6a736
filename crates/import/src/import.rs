//! The way of trace files into a trail: find, look at, plan, read in parallel, write.

use crate::context::Context;
use crate::error::{ImportError, Warning, WarningKind};
use crate::format::Format;
use crate::input::{self, Input, TraceFile, TraceFiles};
use crate::intake::Remarks;
use crate::options::ImportOptions;
use crate::plan::Plan;
use crate::probe::{Content, Probe, probe};
use crate::progress::Progress;
use crate::summary::ImportSummary;
use crate::tally::Tally;
use crate::work::{PartReport, failure, import_part};
use iotrail_kernel::pool;
use iotrail_model::threads::one_per_core;
use iotrail_model::{Coverage, Dictionaries, Note};
use iotrail_trail::{Capture, CreateOptions, TrailWriter};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicU32;

/// Descriptors left to standard streams, the trail and libraries.
const RESERVED_FILES: u64 = 32;
/// More open files do not make merging faster.
const MAX_OPEN_FILES: u64 = 512;

/// Imports `inputs` into a new trail at `target`.
///
/// Each file is of one of `formats`, of which the most particular come first, and the one that is searched for to the end of a file
/// last. Inputs that cannot be read or are of no such format do not end the import: they are in the summary, and the trail
/// holds the rest. The trail is the same for any number of threads.
///
/// # Errors
/// If the options name a format that is not there, no input holds a trace, or the trail cannot be written; then there is nothing at `target`, or what was
/// there before.
pub fn import(
    formats: &[&dyn Format],
    inputs: &[Input],
    options: &ImportOptions,
    target: &Path,
    progress: &dyn Progress,
) -> Result<ImportSummary, ImportError> {
    if inputs.is_empty() {
        return Err(ImportError::NoInput);
    }
    let formats = &wanted(formats, options)?[..];
    let threads = options.threads.unwrap_or_else(one_per_core);
    let TraceFiles { files, mut remarks, .. } = input::find(inputs);
    let trail = TrailWriter::create(target, CreateOptions { overwrite: options.overwrite })?;
    let files = look_at(files, formats, options, threads, &mut remarks);
    if files.is_empty() {
        return Err(nothing(remarks));
    }
    let plan = Plan::new(files, &options.case_pattern, options.date);
    remarks.warnings.extend(unmatched(&plan.unmatched, options));
    let sizes = plan.files().map(|file| file.file.size());
    progress.begin(plan.files().count() as u64, sizes.sum());
    let next_case = &AtomicU32::new(plan.cases);
    let max_open = max_open_files(threads);
    let context = Context { options, max_open, progress, formats, next_case };
    // Threads that get no part of their own parse and encode for the others.
    let spare = threads.get() > plan.parts.len();
    let reports = pool::run(
        threads,
        plan.parts.len(),
        |_| if spare { trail.part_apart() } else { trail.part() },
        || (),
        |(), index, part| import_part(&plan.jobs[plan.parts[index].clone()], part, spare, context),
    )?;
    finish(trail, reports, inputs, remarks, context)
}

fn nothing(Remarks { failures, warnings }: Remarks) -> ImportError {
    ImportError::NothingToImport { failures, warnings }
}

/// The formats that inputs may be of.
fn wanted<'a>(
    formats: &[&'a dyn Format],
    options: &ImportOptions,
) -> Result<Vec<&'a dyn Format>, ImportError> {
    let is_wanted = |format: &&dyn Format| options.format.as_ref().is_none_or(|name| name == format.name());
    let wanted: Vec<_> = formats.iter().copied().filter(is_wanted).collect();
    if wanted.is_empty() {
        let name = options.format.clone().unwrap_or_default();
        return Err(ImportError::UnknownFormat { name, known: names(formats) });
    }
    Ok(wanted)
}

fn names(formats: &[&dyn Format]) -> String {
    formats.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// Sorts out what is no trace.
fn look_at(
    files: Vec<TraceFile>,
    formats: &[&dyn Format],
    options: &ImportOptions,
    threads: NonZeroUsize,
    remarks: &mut Remarks,
) -> Vec<(TraceFile, Probe)> {
    let Ok::<Vec<Probe>, Infallible>(probes) = pool::run(
        threads,
        files.len(),
        |_| Ok(()),
        Dictionaries::default,
        |names, index, ()| {
            let file = &files[index];
            Ok(probe(file, formats, options, names))
        },
    );
    let mut traces = Vec::with_capacity(files.len());
    for (file, probe) in files.into_iter().zip(probes) {
        match &probe.content {
            Content::Trace | Content::Empty => traces.push((file, probe)),
            Content::Binary | Content::Text => remarks.of_no_format(&file, &probe, formats),
            Content::Unreadable(read_error) => remarks.failures.push(failure(&file.name, read_error)),
        }
    }
    traces
}

fn finish(
    trail: TrailWriter,
    reports: Vec<PartReport>,
    inputs: &[Input],
    mut remarks: Remarks,
    context: Context<'_>,
) -> Result<ImportSummary, ImportError> {
    let (mut coverage, mut tally) = (Coverage::default(), Tally::default());
    let (mut cases, mut parts) = (Vec::new(), Vec::new());
    for PartReport { part, read } in reports {
        coverage.merge(&read.coverage);
        tally.add(&read.tally);
        cases.extend(read.cases);
        parts.push(part);
        remarks.add(read.remarks);
    }
    if tally.formats.is_empty() && (tally.text_bytes > 0 || !remarks.failures.is_empty()) {
        return Err(nothing(remarks));
    }
    tally.note(&mut coverage);
    note_left_out(&mut coverage, &remarks);
    let mut hosts = cases.iter().map(|case| case.name.host.clone());
    let host = hosts.next().flatten().filter(|first| hosts.all(|host| host.as_ref() == Some(first)));
    let capture = Capture {
        source: tally.formats.iter().copied().collect::<Vec<_>>().join(","),
        host,
        inputs: inputs.iter().map(Input::to_text).collect(),
        ..Capture::default()
    };
    let totals = trail.finish(&cases, parts, capture, &coverage)?;
    Ok(ImportSummary {
        files: tally.files,
        cases: cases.len() as u64,
        events: tally.events,
        processes: totals.processes,
        bytes_read: tally.stored_bytes,
        text_bytes: tally.text_bytes,
        cancelled: context.cancelled() && tally.cut,
        coverage,
        warnings: remarks.warnings,
        failures: remarks.failures,
    })
}

/// Inputs that are named at most where some were left out.
const MOST_NAMED: usize = 10;

/// States in the trail which inputs are not in it: who reads it later sees no warning.
fn note_left_out(coverage: &mut Coverage, remarks: &Remarks) {
    let is_left_out =
        |warning: &&Warning| matches!(warning.kind, WarningKind::UnknownFormat | WarningKind::LeftOut);
    let foreign = remarks.warnings.iter().filter(is_left_out);
    let foreign = foreign.map(|warning| (&warning.file, warning.more, false, &warning.found));
    let failed = remarks
        .failures
        .iter()
        .map(|failure| (&failure.file, 0, failure.action != "import", &failure.reason));
    let mut left_out: Vec<_> = foreign.chain(failed).collect();
    left_out.sort();
    for (file, more, partly, why) in left_out.iter().take(MOST_NAMED) {
        let (file, why) = ((*file).clone(), (*why).clone());
        coverage.note(Note::InputLeftOut { file, more: *more, partly: *partly, why });
    }
    let unnamed: u64 = left_out.iter().skip(MOST_NAMED).map(|(_, more, ..)| more + 1).sum();
    if unnamed > 0 {
        coverage.note(Note::InputsLeftOut { more: unnamed });
    }
}

/// Says once that a pattern given by the user does not fit.
fn unmatched(files: &[String], options: &ImportOptions) -> Option<Warning> {
    let first = files.first().filter(|_| options.case_pattern != crate::CasePattern::Guess)?;
    Some(Warning {
        kind: WarningKind::CaseName,
        file: first.clone(),
        more: files.len() as u64 - 1,
        found: format!("the file name does not match the pattern {}", options.case_pattern),
        advice: "the cid of the case is the file name without its extension".to_owned(),
    })
}

/// How many trace files one thread may hold open.
fn max_open_files(threads: NonZeroUsize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share =
        limit.map_or(MAX_OPEN_FILES, |limit| limit.saturating_sub(RESERVED_FILES) / threads.get() as u64 / 2);
    share.clamp(1, MAX_OPEN_FILES) as usize
}
