//! Raw records as a format of traces: what another way of recording delivers as lines of JSON (`iotrail_raw`).

use crate::ending::Ending;
use crate::format::{Door, Format, RawCalls};
use crate::intake::{FileReport, Intake, Taker};
use crate::lines::lines;
use crate::plan::{Job, PlannedFile};
use crate::reader::TraceReader;
use crate::text::Text;
use crate::window::Limits;
use hashbrown::HashSet;
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{Clock, Coverage, Dictionaries, Nanos, Resolution, Tid, Timestamp};
use iotrail_raw::RawRecord;

/// Lines of JSON, one for each raw item.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawRecords;

impl Format for RawRecords {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn what(&self) -> &'static str {
        "a raw record"
    }

    fn advice(&self) -> &'static str {
        "raw records are lines like {\"item\":\"exited\",\"tid\":7,\"at\":1700000000000000000,\"status\":0}"
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.next().is_some_and(|line| line.trim_ascii_start().starts_with(b"{\"item\":"))
    }

    fn door(&self) -> Door<'_> {
        Door::Calls(self)
    }
}

impl RawCalls for RawRecords {
    fn read(
        &self,
        job: &Job,
        opened: Option<TraceReader>,
        intake: &mut Intake<'_, '_, dyn Taker + '_>,
    ) -> bool {
        let mut opened = opened;
        job.iter().all(|file| read(file, opened.take(), intake))
    }
}

/// Reads a file. False if no more is taken.
fn read(
    file: &PlannedFile,
    opened: Option<TraceReader>,
    intake: &mut Intake<'_, '_, dyn Taker + '_>,
) -> bool {
    let mut text = Text::new(file, Limits::LARGE, opened, intake.context);
    let mut records = Records::new(&file.file.name);
    loop {
        let (to, names) = (&mut *intake.to, &mut *intake.names);
        let mut take = |item: &RawItem<'_>, names: &mut Dictionaries| to.item(file.case, item, names);
        let more = text.chunk(|text, ended| records.read(text, ended, names, &mut take));
        if !intake.to.pause(intake.names) {
            return false;
        }
        if !more {
            break;
        }
    }
    let resolution = records.resolution();
    let case = intake.case(file, file.case, file.name.clone(), Clock::Utc, resolution);
    let report = FileReport {
        cases: vec![case],
        coverage: &records.coverage,
        understood: records.understood,
        clock: Clock::Utc,
        resolution,
        clock_steps: Default::default(),
        ending: records.ending,
        presumed_restarts: 0,
    };
    intake.end_of(&text, report);
    true
}

/// The units that time stamps may have.
const UNITS: [i64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

/// The records of a file, counted.
struct Records<'a> {
    file: &'a str,
    coverage: Coverage,
    /// Calls that were announced and have not returned.
    entered: HashSet<(Tid, Timestamp)>,
    /// The largest of [`UNITS`] of which every time is a multiple; an index.
    unit: usize,
    has_times: bool,
    understood: bool,
    ending: Ending,
}

impl<'a> Records<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            coverage: Coverage::default(),
            entered: HashSet::new(),
            unit: 0,
            has_times: false,
            understood: false,
            ending: Ending::Whole,
        }
    }

    /// Reads all whole lines of `text`, and at the end whatever is left. Returns how many bytes those are.
    fn read(
        &mut self,
        text: &[u8],
        at_end: bool,
        names: &mut Dictionaries,
        take: &mut impl FnMut(&RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        let mut understood = true;
        let done = lines(text, at_end, |line| understood = self.line(line, names, take));
        if at_end && !understood && !text.is_empty() && !text.ends_with(b"\n") {
            self.ending = Ending::Cut(self.coverage.lines.total);
        }
        done
    }

    /// Reads a line; whether it was understood.
    fn line(
        &mut self,
        line: &[u8],
        names: &mut Dictionaries,
        take: &mut impl FnMut(&RawItem<'_>, &mut Dictionaries),
    ) -> bool {
        self.coverage.lines.total += 1;
        if line.trim_ascii().is_empty() {
            self.coverage.count_noise("empty-line");
            return true;
        }
        let taken = RawRecord::read(line).is_some_and(|record| {
            record.with(names, |item, names| {
                let is_sound = !ends_before_it_begins(item);
                if is_sound {
                    self.count(item);
                    take(item, names);
                }
                is_sound
            })
        });
        self.understood |= taken;
        if !taken {
            self.coverage.lines.unparsed += 1;
            self.coverage.keep_example(self.file, self.coverage.lines.total, line);
        }
        taken
    }

    fn count(&mut self, item: &RawItem<'_>) {
        match item {
            RawItem::Call(call) | RawItem::Library { call, .. } => self.call(call),
            RawItem::Entered(call) => {
                self.coverage.lines.unfinished += 1;
                self.entered.insert((call.tid, call.start));
            }
            RawItem::Exited { .. } | RawItem::Killed { .. } => self.coverage.lines.exit += 1,
            RawItem::Lost { .. } => {
                self.coverage.count_noise("lost");
                self.coverage.lost += 1;
            }
            _ => self.coverage.count_noise("state"),
        }
    }

    fn call(&mut self, call: &RawCall<'_>) {
        let lines = &mut self.coverage.lines;
        let was_announced = self.entered.remove(&(call.tid, call.start));
        *(if was_announced { &mut lines.resumed } else { &mut lines.event }) += 1;
        if call.ret == Return::Unseen && call.dur.is_none() {
            self.coverage.incomplete += 1;
        }
        self.has_times = true;
        for time in [call.start.0, call.dur.map_or(0, |Nanos(nanos)| nanos)] {
            while time % UNITS[self.unit] != 0 {
                self.unit += 1;
            }
        }
    }

    fn resolution(&self) -> Resolution {
        Resolution(Nanos(if self.has_times { UNITS[self.unit] } else { 0 }))
    }
}

fn ends_before_it_begins(item: &RawItem<'_>) -> bool {
    match item {
        RawItem::Call(call) | RawItem::Entered(call) | RawItem::Library { call, .. } => {
            call.dur.is_some_and(|dur| dur.0 < 0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
{\"item\":\"found\",\"tid\":7,\"pid\":7,\"ppid\":1,\"at\":1000}

{\"item\":\"entered\",\"tid\":7,\"call\":\"clone\",\"start\":2000,\"args\":[]}
{\"item\":\"call\",\"tid\":7,\"call\":\"getpid\",\"start\":4000,\"dur\":1000,\"ret\":{\"value\":{\"value\":7}},\"args\":[]}
{\"item\":\"call\",\"tid\":7,\"call\":\"clone\",\"start\":2000,\"args\":[]}
{\"item\":\"exited\",\"tid\":7,\"at\":9000,\"status\":0}
{\"item\":\"call\",\"tid\":7,\"ca";

    #[test]
    fn every_line_is_counted_once_and_items_come_in_their_order() {
        let (mut records, mut names) = (Records::new("a.raw"), Dictionaries::default());
        let mut tids = Vec::new();
        let done = records.read(TEXT.as_bytes(), true, &mut names, &mut |item, _| tids.push(item.tid().0));
        assert_eq!((done, tids), (TEXT.len(), vec![7; 5]));
        let lines = &records.coverage.lines;
        assert_eq!((lines.total, lines.sum()), (7, 7));
        assert_eq!([lines.event, lines.unfinished, lines.resumed, lines.exit], [1, 1, 1, 1]);
        assert_eq!([lines.noise, lines.unparsed, records.coverage.incomplete], [2, 1, 1]);
        assert_eq!((records.ending, records.resolution().known()), (Ending::Cut(7), Some(1000)));
    }

    #[test]
    fn a_call_that_ends_before_it_begins_is_not_a_record() {
        let (mut records, mut names) = (Records::new("a.raw"), Dictionaries::default());
        let call = |dur: i64| {
            format!(r#"{{"item":"call","tid":7,"call":"getpid","start":4,"dur":{dur},"args":[]}}"#)
        };
        let mut taken = |line: &str| records.line(line.as_bytes(), &mut names, &mut |_, _| {});
        assert_eq!([taken(&call(0)), taken(&call(-1))], [true, false]);
        assert_eq!((records.coverage.lines.event, records.coverage.lines.unparsed), (1, 1));
    }

    #[test]
    fn records_are_recognised_by_their_first_line() {
        assert!(RawRecords.recognises(TEXT.as_bytes()) && RawRecords.recognises(b"\n {\"item\":\"sent\"}"));
        assert!(!RawRecords.recognises(b"7 read(3, \"{\\\"item\\\":\", 8) = 8\n{\"item\":1}"));
        assert!(!RawRecords.recognises(b"{\"name\":1}") && !RawRecords.recognises(b""));
    }
}
