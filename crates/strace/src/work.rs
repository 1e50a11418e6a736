//! One part of the trail: reads the files of some jobs through parser and resolver and writes their rows.

use crate::error::{InputFailure, Warning, WarningKind};
use crate::follow::{Merge, Step};
use crate::plan::{Job, PlannedFile};
use crate::probe::understood;
use crate::reader::Trouble;
use crate::stream::{Context, Stream};
use crate::tally::Tally;
use crate::window::Limits;
use iotrail_model::{Case, Coverage, Dictionaries, Event, FileId, Process};
use iotrail_resolve::{Resolver, Sink, Summary};
use iotrail_trail::{PartSummary, PartWriter, TrailError};

/// The paths of a part may take this much memory before those that are not needed any more are forgotten.
const PATHS_MEMORY: usize = 64 << 20;

/// What became of some jobs.
#[derive(Debug)]
pub(crate) struct PartReport {
    pub(crate) part: PartSummary,
    /// In the order of their ids.
    pub(crate) cases: Vec<Case>,
    pub(crate) coverage: Coverage,
    pub(crate) tally: Tally,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) failures: Vec<InputFailure>,
}

/// Imports `jobs` into `part`.
pub(crate) fn import_part(
    jobs: &[Job],
    part: PartWriter,
    max_open: usize,
    context: Context<'_>,
) -> Result<PartReport, TrailError> {
    let mut work = Work::new(part, context);
    for job in jobs {
        work.job(job, max_open)?;
    }
    work.finish()
}

struct Work<'a> {
    context: Context<'a>,
    names: Dictionaries,
    paths_limit: usize,
    rows: Rows,
    cases: Vec<Case>,
    coverage: Coverage,
    tally: Tally,
    warnings: Vec<Warning>,
    failures: Vec<InputFailure>,
}

impl<'a> Work<'a> {
    fn new(part: PartWriter, context: Context<'a>) -> Self {
        Self {
            context,
            names: Dictionaries::default(),
            paths_limit: PATHS_MEMORY,
            rows: Rows { part, error: None, events: 0, with_duration: 0 },
            cases: Vec::new(),
            coverage: Coverage::default(),
            tally: Tally::default(),
            warnings: Vec::new(),
            failures: Vec::new(),
        }
    }

    fn job(&mut self, job: &'a Job, max_open: usize) -> Result<(), TrailError> {
        let mut resolver = match job[..] {
            [_] => Resolver::new(),
            _ => Resolver::with_a_file_per_thread(),
        }
        .of_trace();
        let first = job.iter().map(|file| file.case).min().unwrap_or_default();
        self.rows.part.numbering(first, FileId(self.names.files));
        let first_case = self.cases.len();
        let before = (self.rows.events, self.rows.with_duration);
        match &job[..] {
            [file] => self.read_one(file, &mut resolver)?,
            files => self.read_together(Merge::new(files, max_open, self.context), &mut resolver)?,
        }
        resolver.finish(&mut self.names, &mut self.rows);
        self.rows.check()?;
        let (events, with_duration) = (self.rows.events - before.0, self.rows.with_duration - before.1);
        self.tally.without_durations += u64::from(events > 0 && with_duration == 0);
        self.cases[first_case..].sort_by_key(|case| case.id);
        self.count_resolved(first_case, &resolver.summary());
        Ok(())
    }

    fn read_one(&mut self, file: &'a PlannedFile, resolver: &mut Resolver) -> Result<(), TrailError> {
        let mut stream = Stream::new(file, Limits::LARGE, self.context);
        let case = file.case;
        loop {
            let rows = &mut self.rows;
            let more =
                stream.chunk(&mut self.names, &mut |item, names| resolver.item(case, &item, names, rows));
            self.between(resolver)?;
            if !more {
                break;
            }
        }
        self.end_of(&stream);
        Ok(())
    }

    fn read_together(&mut self, mut merge: Merge<'a>, resolver: &mut Resolver) -> Result<(), TrailError> {
        loop {
            let rows = &mut self.rows;
            let step = merge
                .turn(&mut self.names, &mut |file, item, names| resolver.item(file.case, &item, names, rows));
            self.between(resolver)?;
            match step {
                Step::Paused => {}
                Step::Ended(stream) => {
                    self.end_of(&stream);
                    if let Some(tid) = stream.file.tid {
                        resolver.over(tid, &mut self.names, &mut self.rows);
                    }
                }
                Step::Done => return Ok(()),
            }
        }
    }

    /// What is due now and then: stops after an error, and keeps the path dictionary from growing without bound.
    fn between(&mut self, resolver: &mut Resolver) -> Result<(), TrailError> {
        self.rows.check()?;
        if self.names.paths.memory() > self.paths_limit {
            self.rows.part.rotate(&self.names)?;
            resolver.rotate(&mut self.names);
            self.paths_limit = PATHS_MEMORY.max(2 * self.names.paths.memory());
        }
        Ok(())
    }

    fn end_of(&mut self, stream: &Stream<'_>) {
        let (reader, parser, file) = (&stream.reader, &stream.parser, stream.file);
        let name = &file.file.name;
        self.coverage.merge(parser.coverage());
        self.cases.push(Case {
            id: file.case,
            name: file.name.clone(),
            label: self.context.options.label.clone(),
            clock: parser.clock(),
            source: name.clone(),
            interleaved: false,
        });
        self.tally.count_file(reader.text_bytes(), reader.stored_bytes(), reader.window.dropped());
        self.tally.cut |= stream.is_cut();
        self.tally.clock_steps.add(parser.clock_steps());
        self.tally.presumed_restarts += parser.presumed_restarts();
        if understood(parser.coverage()) {
            self.tally.understood += 1;
            self.tally.count_ending(name, parser.ending());
            self.tally.count_clock(parser.clock(), file.date.is_some());
        } else if reader.text_bytes() > 0 && reader.trouble().is_none() {
            self.warnings.push(not_strace(name, "no line of it is strace output"));
        }
        if let Some(trouble) = reader.trouble() {
            self.trouble(name, trouble);
        }
    }

    fn trouble(&mut self, name: &str, trouble: &Trouble) {
        if let Trouble::Damaged(offset, error) = trouble {
            self.tally.damaged += 1;
            let bytes = iotrail_model::units::count(*offset);
            self.warnings.push(Warning {
                kind: WarningKind::DamagedData,
                file: name.to_owned(),
                more: 0,
                found: format!(
                    "the compressed data are damaged or end early after {bytes} bytes of text ({error})"
                ),
                advice: "what came before is imported; copy the file again if there is a better one"
                    .to_owned(),
            });
        } else {
            self.tally.unreadable += 1;
            self.failures.push(failure(name, trouble));
        }
    }

    fn count_resolved(&mut self, first_case: usize, summary: &Summary) {
        self.coverage.relative_paths += summary.relative_paths;
        self.tally.orphans += summary.orphans;
        self.tally.changed_roots += summary.changed_roots;
        self.tally.file_mappings += summary.file_mappings;
        self.tally.submitted += summary.submitted;
        self.tally.rings += summary.rings;
        let mut resolved = summary.cases.iter().peekable();
        for case in &mut self.cases[first_case..] {
            while resolved.next_if(|summary| summary.case < case.id).is_some() {}
            let summary = resolved.next_if(|summary| summary.case == case.id);
            case.interleaved = summary.is_some_and(|summary| summary.interleaved);
            self.tally.without_events += u64::from(summary.is_none_or(|summary| summary.events == 0));
        }
    }

    fn finish(mut self) -> Result<PartReport, TrailError> {
        self.tally.events = self.rows.events;
        Ok(PartReport {
            part: self.rows.part.finish(&self.names)?,
            cases: self.cases,
            coverage: self.coverage,
            tally: self.tally,
            warnings: self.warnings,
            failures: self.failures,
        })
    }
}

/// Hands the resolver's results to the part and keeps the first error until somebody asks.
struct Rows {
    part: PartWriter,
    error: Option<TrailError>,
    events: u64,
    with_duration: u64,
}

impl Rows {
    fn check(&mut self) -> Result<(), TrailError> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl Sink for Rows {
    #[inline]
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        self.events += 1;
        self.with_duration += u64::from(!event.dur.is_null());
        if self.error.is_none() {
            self.error = self.part.push(event, names).err();
        }
    }

    fn process(&mut self, process: Process) {
        if self.error.is_none() {
            self.error = self.part.push_process(&process).err();
        }
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
        Trouble::Damaged(_, error) => InputFailure::new("unpack", name, error),
        Trouble::Foreign(what, tool) => {
            InputFailure::new("unpack", name, format!("it is packed with {what}; unpack it first: {tool}"))
        }
    }
}

/// The warning about a file that is something else.
pub(crate) fn not_strace(name: &str, found: &str) -> Warning {
    Warning {
        kind: WarningKind::NotStrace,
        file: name.to_owned(),
        more: 0,
        found: found.to_owned(),
        advice: "record with: strace -f -tt -T -y -o FILE COMMAND".to_owned(),
    }
}
