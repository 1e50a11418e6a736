//! Text of strace in, raw calls out.

use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_model::{Clock, Coverage, Tid, Timestamp};

/// What a [`Parser`] must know about its input.
#[derive(Clone, Debug, Default)]
pub struct ParserSetup {
    /// Name of the input, for examples of lines that were not understood.
    pub file: String,
    /// The thread of lines that name none: from the name of a file that `strace -ff` wrote.
    pub default_tid: Option<Tid>,
    /// Year, month and day of the first line, for time stamps without a date.
    pub date: Option<(i64, i64, i64)>,
}

/// Reads what one strace wrote to one file.
#[derive(Debug)]
pub struct Parser {
    coverage: Coverage,
    clock: Clock,
}

impl Parser {
    /// A parser at the start of its input.
    #[must_use]
    pub fn new(_setup: ParserSetup) -> Self {
        Self { coverage: Coverage::default(), clock: Clock::Utc }
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
        let mut done = 0;
        loop {
            let consumed = self.step(&input[done..], at_end, names, sink);
            if consumed == 0 {
                return done;
            }
            done += consumed;
        }
    }

    /// Parses one line, as [`Self::parse`]. At the end of the input a call with nothing left emits what is pending.
    pub fn step(
        &mut self,
        input: &[u8],
        _at_end: bool,
        _names: &mut Dictionaries,
        _sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        input.len()
    }

    /// The time stamp of the line at the start of `input`, without consuming it; `None` if it has none or is not whole.
    #[must_use]
    pub fn peek_time(&self, _input: &[u8], _at_end: bool) -> Option<Timestamp> {
        None
    }

    /// What was read and what was not understood.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What the time stamps mean: known after the first line with a call.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }
}
