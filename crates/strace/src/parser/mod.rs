//! Text of strace in, raw calls out.
//!
//! One pass over the bytes of each line, nothing allocated per line. Every line is of exactly one kind
//! ([`iotrail_model::coverage::Lines`]), decided in one place (`kind.rs`), so that the kinds add up to the lines read
//! whatever the input is.
//!
//! A call that strace printed in two halves is put together as text and then read like any other: strace cuts
//! wherever the output of one thread ends, in the middle of a structure too. Copying the first half costs a few
//! nanoseconds; reading halves apart would need a reader that can stop anywhere. The first half is also read by itself
//! and reported as entered: what was in flight together is known only from there.
//!
//! Measured with `examples/parse_speed.rs` (CPU time of one thread, x86-64) on `strace -f -tt -T` of find, tar, python
//! and shell pipelines in parallel, two thirds of the lines unfinished or resumed: 459 to 540 MB/s with `-y` (159 MB),
//! 470 to 539 MB/s without (169 MB). Reporting entries takes 7 to 12 % of the speed.

mod ahead;
mod arguments;
mod block;
mod broken;
mod call;
mod emitter;
mod escape;
mod feed;
mod halves;
mod interruptions;
mod kind;
mod marks;
mod messages;
mod missed;
mod noise;
mod notices;
mod outcome;
mod output;
mod pending;
mod reading;
mod resumed;
mod rights;
mod scan;
mod sink;
mod steps;
mod threads;

pub(crate) use ahead::{Ahead, Notice};
pub(crate) use pending::Half;

use block::Block;
use broken::Broken;
use feed::{Feed, Piece};
use interruptions::Interruptions;
use iotrail_import::{ClockSteps, Ending, Prefix, Timeline};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_model::{Clock, Coverage, Nanos, Resolution, Tid, Timestamp};
use memchr::memchr;
use pending::Pending;
use sink::{Out, Sink};
use std::sync::Arc;
use steps::Steps;
use threads::Threads;

/// A longer line is counted as unparsed and skipped without being held in memory. strace prints 4 bytes at most for
/// each byte of a string and 32 bytes of a string unless told otherwise (`-s`); a line of this length needs `-s` of 16 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// What a [`Parser`] must know about its input.
#[derive(Clone, Debug, Default)]
pub struct ParserSetup {
    /// Name of the input, for examples of lines that were not understood.
    pub file: String,
    /// The thread of lines that name none: from the name of a file that `strace -ff` wrote.
    pub default_tid: Option<Tid>,
    /// The threads of the files that the same `strace -ff` wrote, sorted; of others it is not known what they do.
    pub set: Arc<[Tid]>,
    /// Year, month and day of the first line, for time stamps without a date.
    pub date: Option<(i64, i64, i64)>,
}

/// Reads what one strace wrote to one file.
#[derive(Debug)]
pub struct Parser {
    file: String,
    coverage: Coverage,
    feed: Feed,
    ending: Ending,
    timeline: Timeline,
    steps: Steps,
    threads: Threads,
    pending: Pending,
    /// The thread whose half was the last to go on in another file.
    renamed: Option<Tid>,
    interruptions: Interruptions,
    /// A line that something else broke; the next line may go on with it.
    broken: Option<Broken>,
    /// What the line before was part of.
    block: Option<Block>,
    /// Whether there may be escape sequences of terminals in the input.
    may_be_coloured: bool,
    /// Whether there may be bytes 0 in the input: strace writes none, but a crash may leave holes of them.
    may_hold_zeros: bool,
    scratch: Vec<u8>,
    plain: Vec<u8>,
}

impl Parser {
    /// A parser at the start of its input.
    #[must_use]
    pub fn new(setup: ParserSetup) -> Self {
        Self {
            file: setup.file,
            coverage: Coverage::default(),
            feed: Feed::default(),
            ending: Ending::Whole,
            timeline: Timeline::new(setup.date),
            steps: Steps::default(),
            threads: Threads::new(setup.default_tid, setup.set),
            pending: Pending::default(),
            renamed: None,
            interruptions: Interruptions::default(),
            broken: None,
            block: None,
            may_be_coloured: true,
            may_hold_zeros: true,
            scratch: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Parses all whole lines of `input`, and at the end of the input (`at_end`) whatever is left. Returns how many
    /// bytes were consumed; the caller hands the others over again, with more behind them. If nothing was consumed
    /// and the input does not end here, more bytes are needed.
    pub fn parse(
        &mut self,
        input: &[u8],
        at_end: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        let out = &mut Out { names, sink };
        // Once for all lines.
        self.may_be_coloured = memchr(noise::ESCAPE, input).is_some();
        self.may_hold_zeros = memchr(0, input).is_some();
        let mut done = 0;
        loop {
            let consumed = self.next(&input[done..], at_end, out);
            if consumed == 0 {
                break;
            }
            done += consumed;
        }
        (self.may_be_coloured, self.may_hold_zeros) = (true, true);
        done
    }

    /// Parses one line, as [`Self::parse`]. At the end of the input a call with nothing left emits what is pending.
    pub fn step(
        &mut self,
        input: &[u8],
        at_end: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        self.next(input, at_end, &mut Out { names, sink })
    }

    /// Parses one line, as [`Self::parse`], but emits nothing at the end of the input.
    pub(crate) fn step_line(
        &mut self,
        input: &[u8],
        at_end: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        if input.is_empty() { 0 } else { self.step(input, at_end, names, sink) }
    }

    /// The time stamp of the line at the start of `input`, without consuming it; `None` if it has none or is not whole.
    #[must_use]
    pub fn peek_time(&self, input: &[u8], at_end: bool) -> Option<Timestamp> {
        let stamp = Prefix::read(feed::first_line(input, at_end)?).stamp;
        let mut timeline = self.timeline;
        (stamp.absolute.is_some() || stamp.delta.is_some()).then(|| timeline.advance(&stamp))
    }

    /// What was read and what was not understood.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What the time stamps mean: known after the first line with a call.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    /// How fine the time stamps are.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.timeline.resolution()
    }

    /// How often the clock was set back.
    #[must_use]
    pub fn clock_steps(&self) -> ClockSteps {
        self.steps.seen()
    }

    /// Interrupted calls that were taken for restarted because the thread made them again, in a trace that does not seem to hold
    /// the returns from signal handlers: those may have said that the calls had failed.
    #[must_use]
    pub fn presumed_restarts(&self) -> u64 {
        self.interruptions.presumed()
    }

    /// What is added to every time stamp since the clock was set back.
    pub(crate) fn shift(&self) -> Nanos {
        self.steps.shift()
    }

    /// Before the first line: its thread was made at this time, and the clock is behind by `shift`.
    pub(crate) fn begin(&mut self, tid: Tid, made: Timestamp, shift: Nanos) {
        self.steps.begin(tid, made, shift);
    }

    /// How the input ended.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Parses one line and returns how many bytes were consumed.
    #[inline]
    fn next(&mut self, input: &[u8], at_end: bool, out: &mut Out<'_, impl Sink>) -> usize {
        if input.is_empty() {
            if at_end {
                self.finish(out);
            }
            return 0;
        }
        match self.feed.next(input, at_end) {
            Piece::Line { line, consumed } => {
                let understood = self.line(line, out);
                if at_end && consumed == line.len() {
                    self.ending = Ending::without_line_end(line, self.coverage.lines.total, understood);
                }
                consumed
            }
            Piece::Skipped(consumed) => consumed,
            Piece::Open => 0,
        }
    }
}
