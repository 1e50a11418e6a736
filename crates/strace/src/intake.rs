//! The reading side of an import: the files of some jobs through the parser, item by item.

use crate::error::{InputFailure, Warning, WarningKind};
use crate::follow::{Merge, Step};
use crate::plan::{Job, PlannedFile};
use crate::probe::understood;
use crate::reader::Trouble;
use crate::stream::{Context, Stream};
use crate::tally::Tally;
use crate::window::Limits;
use crate::work::failure;
use iotrail_model::raw::RawItem;
use iotrail_model::{Case, CaseId, Coverage, Dictionaries, Tid};

/// Takes what files hold, in its order.
pub(crate) trait Taker {
    /// A job begins, whose first case is this; whether each of its files holds one thread.
    fn begin(&mut self, first: CaseId, own_files: bool, names: &mut Dictionaries);
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
}

/// Reads the files of `jobs`, as long as `taker` takes what they hold.
pub(crate) fn read(
    jobs: &[Job],
    max_open: usize,
    context: Context<'_>,
    names: &mut Dictionaries,
    taker: &mut impl Taker,
) -> Read {
    let mut intake = Intake { context, names, taker, read: Read::default() };
    for job in jobs {
        if !intake.job(job, max_open) {
            break;
        }
    }
    intake.read
}

struct Intake<'a, 'n, T> {
    context: Context<'a>,
    names: &'n mut Dictionaries,
    taker: &'n mut T,
    read: Read,
}

impl<'a, T: Taker> Intake<'a, '_, T> {
    fn job(&mut self, job: &'a Job, max_open: usize) -> bool {
        let first = job.iter().map(|file| file.case).min().unwrap_or_default();
        let before = self.read.cases.len();
        self.taker.begin(first, job.len() != 1, self.names);
        let goes_on = match &job[..] {
            [file] => self.one(file),
            files => self.together(Merge::new(files, max_open, self.context)),
        };
        let goes_on = goes_on && self.taker.end(self.names);
        self.read.cases[before..].sort_by_key(|case| case.id);
        self.read.cases_of_jobs.push(self.read.cases.len() - before);
        goes_on
    }

    fn one(&mut self, file: &'a PlannedFile) -> bool {
        let mut stream = Stream::new(file, Limits::LARGE, self.context);
        let case = file.case;
        loop {
            let taker = &mut *self.taker;
            let more = stream.chunk(self.names, &mut |item, names| taker.item(case, &item, names));
            if !self.taker.pause(self.names) {
                return false;
            }
            if !more {
                break;
            }
        }
        self.end_of(&stream);
        true
    }

    fn together(&mut self, mut merge: Merge<'a>) -> bool {
        loop {
            let taker = &mut *self.taker;
            let step = merge.turn(self.names, &mut |file, item, names| taker.item(file.case, &item, names));
            if !self.taker.pause(self.names) {
                return false;
            }
            match step {
                Step::Paused => {}
                Step::Ended(stream) => {
                    self.end_of(&stream);
                    if let Some(tid) = stream.file.tid {
                        self.taker.over(tid, self.names);
                    }
                }
                Step::Done => return true,
            }
        }
    }

    fn end_of(&mut self, stream: &Stream<'_>) {
        let (reader, parser, file) = (&stream.reader, &stream.parser, stream.file);
        let name = &file.file.name;
        self.read.coverage.merge(parser.coverage());
        self.read.cases.push(Case {
            id: file.case,
            name: file.name.clone(),
            label: self.context.options.label.clone(),
            clock: parser.clock(),
            source: name.clone(),
            interleaved: false,
            resolution: parser.resolution(),
        });
        self.read.tally.count_file(reader.text_bytes(), reader.stored_bytes(), reader.window.dropped());
        self.read.tally.cut |= stream.is_cut();
        self.read.tally.clock_steps.add(parser.clock_steps());
        self.read.tally.presumed_restarts += parser.presumed_restarts();
        if understood(parser.coverage()) {
            self.read.tally.understood += 1;
            self.read.tally.count_ending(name, parser.ending());
            self.read.tally.count_clock(parser.clock(), file.date.is_some());
            self.read.tally.resolution = self.read.tally.resolution.max(parser.resolution());
        } else if reader.text_bytes() > 0 && reader.trouble().is_none() {
            self.read.remarks.not_strace(&file.file, "no line of it is strace output");
        }
        if let Some(trouble) = reader.trouble() {
            self.trouble(name, trouble);
        }
    }

    fn trouble(&mut self, name: &str, trouble: &Trouble) {
        if let Trouble::Damaged(offset, error) = trouble {
            self.read.tally.damaged += 1;
            let bytes = iotrail_model::units::count(*offset);
            self.read.remarks.warnings.push(Warning {
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
            self.read.tally.unreadable += 1;
            self.read.remarks.failures.push(failure(name, trouble));
        }
    }
}
