//! The reading side of an import: what the files of some jobs hold, one after the other, and what is said about them.

use crate::context::Context;
use crate::ending::{ClockSteps, Ending};
use crate::error::{InputFailure, Warning, WarningKind};
use crate::format::{Events, Format, RawCalls};
use crate::input::TraceFile;
use crate::plan::{Job, PlannedFile};
use crate::probe::{Content, Probe};
use crate::reader::{ReadError, TraceReader};
use crate::rows::Rows;
use crate::tally::Tally;
use crate::text::Text;
use crate::work::failure;
use iotrail_model::raw::RawItem;
use iotrail_model::{Case, CaseId, CaseName, Clock, Coverage, Dictionaries, FileId, Resolution, Tid};

/// Takes what files hold, in its order.
pub trait Taker {
    /// A job begins, whose first case is this; whether each of its files holds one thread.
    fn begin(&mut self, first: CaseId, own_files: bool, names: &mut Dictionaries);
    /// The next item of a case.
    fn item(&mut self, case: CaseId, item: &RawItem<'_>, names: &mut Dictionaries);
    /// Nothing more comes of a thread.
    fn over(&mut self, tid: Tid, names: &mut Dictionaries);
    /// A moment for what is due now and then. False if it takes nothing more.
    fn pause(&mut self, names: &mut Dictionaries) -> bool;
    /// The job is over. False if it takes nothing more.
    fn end(&mut self, names: &mut Dictionaries) -> bool;
}

/// What became of the files of some jobs.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// In the order of their ids.
    pub(crate) cases: Vec<Case>,
    /// How many of them each job made.
    pub(crate) cases_of_jobs: Vec<usize>,
    pub(crate) coverage: Coverage,
    pub(crate) tally: Tally,
    pub(crate) remarks: Remarks,
}

impl Read {
    /// What came of later jobs.
    pub(crate) fn add(&mut self, other: Self) {
        self.cases.extend(other.cases);
        self.cases_of_jobs.extend(other.cases_of_jobs);
        self.coverage.merge(&other.coverage);
        self.tally.add(&other.tally);
        self.remarks.add(other.remarks);
    }
}

/// What is to be said about inputs.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) warnings: Vec<Warning>,
    pub(crate) failures: Vec<InputFailure>,
}

impl Remarks {
    pub(crate) fn add(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        self.failures.extend(other.failures);
    }

    /// A file is of none of the formats.
    pub(crate) fn of_no_format(&mut self, file: &TraceFile, probe: &Probe, formats: &[&dyn Format]) {
        let kind = match probe.content {
            Content::Binary => "binary data".to_owned(),
            _ => format!("text that begins with `{}`", probe.head),
        };
        let found = match formats {
            [format] => format!("no line of it is {}: {kind}", format.what()),
            _ => {
                let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
                format!("{kind}, in none of the formats {}", names.join(", "))
            }
        };
        let advice = match formats {
            [format] => format.advice(),
            _ => formats.iter().find_map(|format| format.advice_on(&probe.head)).unwrap_or_default(),
        };
        self.no_trace(file, found, advice);
    }

    /// A file is no trace. Who named it wanted it imported; a directory may hold anything.
    pub(crate) fn no_trace(&mut self, file: &TraceFile, found: String, advice: &str) {
        let (name, advice) = (file.name.clone(), advice.to_owned());
        if file.named {
            self.failures.push(InputFailure { advice, ..InputFailure::new("import", &name, found) });
        } else {
            let kind = WarningKind::UnknownFormat;
            self.warnings.push(Warning { kind, file: name, more: 0, found, advice });
        }
    }
}

/// Some jobs of one format.
pub(crate) struct Run<'a> {
    pub(crate) jobs: &'a [Job],
    pub(crate) format: &'a dyn Format,
    /// The first file of the first job, if it was opened before.
    pub(crate) opened: Option<TraceReader>,
}

/// Reads raw calls, as long as `taker` takes them.
pub(crate) fn read_calls(
    run: Run<'_>,
    calls: &dyn RawCalls,
    context: Context<'_>,
    names: &mut Dictionaries,
    taker: &mut dyn Taker,
) -> Read {
    let Run { jobs, format, mut opened } = run;
    let mut intake = Intake { context, names, to: taker, format, read: Read::default() };
    for job in jobs {
        intake.to.begin(first_case(job), job.len() != 1, intake.names);
        let goes_on = calls.read(job, opened.take(), &mut intake) && intake.to.end(intake.names);
        intake.job_is_over();
        if !goes_on {
            break;
        }
    }
    intake.read
}

/// Reads events, as long as `rows` takes them.
pub(crate) fn read_events(
    run: Run<'_>,
    events: &dyn Events,
    context: Context<'_>,
    names: &mut Dictionaries,
    rows: &mut Rows,
) -> Read {
    let Run { jobs, format, mut opened } = run;
    let mut intake = Intake { context, names, to: rows, format, read: Read::default() };
    for job in jobs {
        intake.to.numbering(first_case(job), FileId(intake.names.files));
        let goes_on = events.read(job, opened.take(), &mut intake) && intake.to.goes_on();
        intake.job_is_over();
        if !goes_on {
            break;
        }
    }
    intake.read
}

fn first_case(job: &Job) -> CaseId {
    job.iter().map(|file| file.case).min().unwrap_or_default()
}

/// What a format reads into.
pub struct Intake<'a, 'n, T: ?Sized> {
    /// What all readers share.
    pub context: Context<'a>,
    /// The names that what is read refers to.
    pub names: &'n mut Dictionaries,
    /// Who takes it.
    pub to: &'n mut T,
    format: &'a dyn Format,
    read: Read,
}

impl<T: ?Sized> std::fmt::Debug for Intake<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("format", &self.format.name()).finish_non_exhaustive()
    }
}

/// What a format tells of a file that it read to its end.
#[derive(Debug)]
pub struct FileReport<'a> {
    /// The cases in it.
    pub cases: Vec<Case>,
    /// What became of each line.
    pub coverage: &'a Coverage,
    /// Whether anything of the format was in it.
    pub understood: bool,
    /// What its time stamps mean.
    pub clock: Clock,
    /// How fine they are.
    pub resolution: Resolution,
    /// How often its clock was set back.
    pub clock_steps: ClockSteps,
    /// How it ended.
    pub ending: Ending,
    /// Interrupted calls that were taken for restarted.
    pub presumed_restarts: u64,
}

impl<T: ?Sized> Intake<'_, '_, T> {
    /// The row of a case of `file`.
    #[must_use]
    pub fn case(
        &self,
        file: &PlannedFile,
        id: CaseId,
        name: CaseName,
        clock: Clock,
        resolution: Resolution,
    ) -> Case {
        Case {
            id,
            name,
            label: self.context.options.label.clone(),
            clock,
            source: file.file.name.clone(),
            interleaved: false,
            resolution,
            numbered_with: None,
        }
    }

    /// A file was read to its end.
    pub fn end_of(&mut self, text: &Text<'_>, report: FileReport<'_>) {
        let (reader, file) = (&text.reader, text.file);
        let name = &file.file.name;
        let read = &mut self.read;
        read.coverage.merge(report.coverage);
        read.cases.extend(report.cases);
        read.tally.count_file(reader.text_bytes(), reader.stored_bytes(), reader.window.dropped());
        read.tally.cut |= text.is_cut();
        read.tally.clock_steps.add(report.clock_steps);
        read.tally.presumed_restarts += report.presumed_restarts;
        if report.understood {
            read.tally.count_format(self.format.name());
            read.tally.count_ending(name, report.ending);
            read.tally.count_clock(report.clock, file.date.is_some());
            read.tally.resolution = read.tally.resolution.max(report.resolution);
        } else if reader.text_bytes() > 0 && reader.read_error().is_none() {
            let found = format!("no line of it is {}", self.format.what());
            read.remarks.no_trace(&file.file, found, self.format.advice());
        }
        if let Some(read_error) = reader.read_error() {
            read.read_error(name, read_error);
        }
    }

    fn job_is_over(&mut self) {
        let before = self.read.cases_of_jobs.iter().sum();
        let of_job = &mut self.read.cases[before..];
        of_job.sort_by_key(|case| case.id);
        let number = of_job.len();
        self.read.cases_of_jobs.push(number);
    }
}

impl Read {
    fn read_error(&mut self, name: &str, read_error: &ReadError) {
        if let ReadError::Damaged(offset, error) = read_error {
            self.tally.damaged += 1;
            let bytes = iotrail_model::units::count(*offset);
            self.remarks.warnings.push(Warning {
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
            self.remarks.failures.push(failure(name, read_error));
        }
    }
}
