//! Strace as a format of traces: which files are its own, and how they are read.

use crate::follow::{Merge, Step};
use crate::parser::Parser;
use crate::probe::{probe, understood};
use crate::stream::Stream;
use crate::unordered::Unordered;
use iotrail_import::{
    Door, FileReport, Format, ImportOptions, Intake, Job, Limits, PlannedFile, Probe, RawCalls, Taker,
    TraceFile, TraceReader,
};
use iotrail_model::Dictionaries;
use iotrail_model::raw::RawItem;

/// What strace prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strace;

impl Format for Strace {
    fn name(&self) -> &'static str {
        "strace"
    }

    fn what(&self) -> &'static str {
        "strace output"
    }

    fn advice(&self) -> &'static str {
        "record with: strace -f -tt -T -y -o FILE COMMAND"
    }

    /// Anything: a trace may come behind a lot of what the program itself printed.
    fn recognises(&self, _head: &[u8]) -> bool {
        true
    }

    fn probe(
        &self,
        file: &TraceFile,
        reader: TraceReader,
        options: &ImportOptions,
        names: &mut Dictionaries,
    ) -> Probe {
        probe(file, reader, options, names)
    }

    fn door(&self) -> Door<'_> {
        Door::Calls(self)
    }
}

impl RawCalls for Strace {
    fn read(
        &self,
        job: &Job,
        opened: Option<TraceReader>,
        intake: &mut Intake<'_, '_, dyn Taker + '_>,
    ) -> bool {
        match &job[..] {
            [file] => one(file, opened, intake),
            files => together(files, intake),
        }
    }
}

type Calls<'a, 'n, 't> = Intake<'a, 'n, dyn Taker + 't>;

fn one(file: &PlannedFile, opened: Option<TraceReader>, intake: &mut Calls<'_, '_, '_>) -> bool {
    let mut stream = Stream::new(file, Limits::LARGE, opened, intake.context);
    loop {
        let (to, case) = (&mut *intake.to, file.case);
        let more = stream.chunk(intake.names, &mut |item, names| to.item(case, &item, names));
        if !intake.to.pause(intake.names) {
            return false;
        }
        if !more {
            break;
        }
    }
    end_of(&stream, intake);
    true
}

/// The files of one `strace -ff`.
fn together(files: &[PlannedFile], intake: &mut Calls<'_, '_, '_>) -> bool {
    let mut unordered = Unordered::new(files, intake.context);
    let mut merge = Merge::new(files, intake.context.max_open, intake.context);
    loop {
        let to = &mut *intake.to;
        let step = merge.turn(intake.names, &mut |file, item, names| {
            let uncertain = unordered.uncertain(file, &item);
            for fd in uncertain.used {
                to.item(file.case, &RawItem::Uncertain { tid: item.tid(), fd }, names);
            }
            without_names(item, &uncertain.nameless, |item| to.item(file.case, item, names));
        });
        if !intake.to.pause(intake.names) {
            return false;
        }
        match step {
            Step::Paused => {}
            Step::Ended(stream) => {
                end_of(&stream, intake);
                if let Some(tid) = stream.text.file.tid {
                    intake.to.over(tid, intake.names);
                }
            }
            Step::Done => return true,
        }
    }
}

/// Takes an item without what strace printed of these descriptors.
fn without_names(item: RawItem<'_>, of: &[i32], take: impl FnOnce(&RawItem<'_>)) {
    match item {
        RawItem::Call(call) => call.without_names(of, |call| take(&RawItem::Call(*call))),
        RawItem::Entered(call) => call.without_names(of, |call| take(&RawItem::Entered(*call))),
        item => take(&item),
    }
}

fn end_of(stream: &Stream<'_>, intake: &mut Calls<'_, '_, '_>) {
    let (parser, file): (&Parser, _) = (&stream.parser, stream.text.file);
    let case = intake.case(file, file.case, file.name.clone(), parser.clock(), parser.resolution());
    let report = FileReport {
        cases: vec![case],
        coverage: parser.coverage(),
        understood: understood(parser.coverage()),
        clock: parser.clock(),
        resolution: parser.resolution(),
        clock_steps: parser.clock_steps(),
        ending: parser.ending(),
        presumed_restarts: parser.presumed_restarts(),
    };
    intake.end_of(&stream.text, report);
}
