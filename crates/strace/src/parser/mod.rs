//! Text of strace in, raw calls out.
//!
//! One pass over the bytes of each line, nothing allocated per line. Every line is of exactly one kind
//! ([`iotrail_model::coverage::Lines`]), decided in one place, so that the kinds add up to the lines read whatever the
//! input is.
//!
//! A call that strace printed in two halves is put together as text and then read like any other: strace cuts
//! wherever the output of one thread ends, in the middle of a structure too. Copying the first half costs a few
//! nanoseconds; reading halves apart would need a reader that can stop anywhere. The first half is also read by itself
//! and reported as entered: what was in flight together is known only from there.
//!
//! Measured with `examples/parse_speed.rs` (CPU time of one thread, x86-64) on `strace -f -tt -T` of find, tar, python
//! and shell pipelines in parallel, two thirds of the lines unfinished or resumed: 459 to 540 MB/s with `-y` (159 MB),
//! 470 to 539 MB/s without (169 MB). Reporting entries takes 7 to 12 % of the speed.

mod arguments;
mod clock;
mod escape;
mod noise;
mod outcome;
mod output;
mod pending;
mod prefix;
mod scan;
mod threads;

use arguments::Arguments;
use clock::Timeline;
use escape::Scratch;
use iotrail_model::calls::{self, CallSpec, Family, Makes};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::{Arg, RawCall, RawItem, Return};
use iotrail_model::{CallId, Clock, Coverage, Tid, Timestamp};
use memchr::{memchr, memmem};
use outcome::Outcome;
use pending::{Half, Pending};
use prefix::Prefix;
use threads::{Began, Threads};

/// A longer line is counted as unparsed and skipped without being held in memory. strace prints 4 bytes at most for
/// each byte of a string and 32 bytes of a string unless told otherwise (`-s`); a line of this length needs `-s` of 16 MiB.
pub const MAX_LINE_BYTES: usize = 64 << 20;

const UNFINISHED: &[u8] = b"<unfinished ...>";
const DETACHED: &[u8] = b"<detached ...>";

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
    file: String,
    coverage: Coverage,
    timeline: Timeline,
    threads: Threads,
    pending: Pending,
    /// A line that something else broke; the next line may go on with it.
    interrupted: Option<(Half, Breaker)>,
    /// Inside a table of `strace -c`.
    in_table: bool,
    /// Inside the picture of `strace --tips`.
    in_tip: bool,
    ending: Ending,
    /// Inside a line that is too long.
    skipping: bool,
    /// How many bytes of the input not consumed are known to hold no line end.
    searched: usize,
    scratch: Vec<u8>,
    plain: Vec<u8>,
}

/// What a line is; [`Coverage::lines`] counts these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Event,
    Unfinished,
    Resumed,
    Signal,
    Exit,
    Noise(&'static str),
}

/// What broke a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breaker {
    /// A message of strace; the line counts as that.
    Message,
    /// What the traced program wrote; the line counts as a first half.
    Output,
}

/// How the input ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// With a whole line, or not yet.
    #[default]
    Whole,
    /// In the middle of this line, which was not understood.
    Cut(u64),
    /// Without a line end, and the last line was understood but its last value may lack digits.
    Doubtful,
}

/// Whose call it is and when it began.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// From the first half.
    Known(Tid, Timestamp),
    /// What stands in front of the line says so, provided that the line is a call at all.
    Line(&'a Prefix<'a>),
}

/// A call whose arguments were read.
struct Reading<'a> {
    name: &'a [u8],
    known: Option<CallId>,
    spec: Option<&'static CallSpec>,
    arguments: Arguments<'a>,
}

impl<'a> Reading<'a> {
    /// Reads `name(arguments`, as much of it as there is.
    #[inline]
    fn of(text: &'a [u8], names: &Dictionaries, scratch: &mut Scratch<'a>) -> Option<Self> {
        let length = name_length(text)?;
        let name = &text[..length];
        let known = names.calls.find(name).map(CallId);
        let spec = known.and_then(calls::spec);
        let arguments = Arguments::read(text, length + 1, spec.map_or(&[], |spec| spec.args), scratch);
        Some(Self { name, known, spec, arguments })
    }

    fn id(&self, names: &mut Dictionaries) -> CallId {
        self.known.unwrap_or_else(|| CallId(names.calls.intern(self.name)))
    }

    fn makes_process(&self) -> bool {
        self.spec.is_some_and(|spec| spec.makes == Makes::Process)
    }

    /// A process id that was returned is no descriptor, even if the name of its command stands beside it.
    fn without_comm(&self, ret: Return<'a>) -> Return<'a> {
        match (ret, self.spec) {
            (Return::Value(value, Some(_)), Some(spec))
                if spec.makes != Makes::Descriptor
                    && matches!(spec.family, Family::Process | Family::Wait) =>
            {
                Return::Value(value, None)
            }
            _ => ret,
        }
    }
}

/// Length of the call name at the start of `text`, which a parenthesis must follow.
#[inline]
fn name_length(text: &[u8]) -> Option<usize> {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?' | b'#'))
        .count();
    (length > 0 && text.get(length) == Some(&b'(')).then_some(length)
}

impl Parser {
    /// A parser at the start of its input.
    #[must_use]
    pub fn new(setup: ParserSetup) -> Self {
        Self {
            file: setup.file,
            coverage: Coverage::default(),
            timeline: Timeline::new(setup.date),
            threads: Threads::new(setup.default_tid),
            pending: Pending::default(),
            interrupted: None,
            in_table: false,
            in_tip: false,
            ending: Ending::Whole,
            skipping: false,
            searched: 0,
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
        at_end: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        if input.is_empty() {
            if at_end {
                self.finish(names, sink);
            }
            return 0;
        }
        let from = self.searched.min(input.len());
        let end = memchr(b'\n', &input[from..]).map(|place| from + place);
        self.searched = 0;
        if self.skipping {
            self.skipping = end.is_none();
            return end.map_or(input.len(), |end| end + 1);
        }
        let (line, consumed) = match end {
            Some(end) => (&input[..end], end + 1),
            None if at_end => (input, input.len()),
            None if input.len() > MAX_LINE_BYTES => {
                self.skipping = true;
                (input, input.len())
            }
            None => {
                self.searched = input.len();
                return 0;
            }
        };
        let understood = self.line(line, names, sink);
        if end.is_none() && at_end {
            self.ends_with(line, understood);
        }
        consumed
    }

    /// The time stamp of the line at the start of `input`, without consuming it; `None` if it has none or is not whole.
    #[must_use]
    pub fn peek_time(&self, input: &[u8], at_end: bool) -> Option<Timestamp> {
        let line = match memchr(b'\n', input) {
            Some(end) => &input[..end],
            None if at_end => input,
            None => return None,
        };
        let stamp = Prefix::read(line).stamp;
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

    /// How the input ended.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// The last line has no end.
    fn ends_with(&mut self, line: &[u8], understood: bool) {
        let doubtful = line.last().is_some_and(u8::is_ascii_alphanumeric);
        self.ending = match understood {
            false => Ending::Cut(self.coverage.lines.total),
            true if doubtful => Ending::Doubtful,
            true => Ending::Whole,
        };
    }

    /// Counts and reads a line; `false` if it was not understood.
    fn line(
        &mut self,
        line: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> bool {
        self.coverage.lines.total += 1;
        let kind = if line.len() > MAX_LINE_BYTES { None } else { self.understand(line, names, sink) };
        let lines = &mut self.coverage.lines;
        match kind {
            Some(Kind::Event) => lines.event += 1,
            Some(Kind::Unfinished) => lines.unfinished += 1,
            Some(Kind::Resumed) => lines.resumed += 1,
            Some(Kind::Signal) => lines.signal += 1,
            Some(Kind::Exit) => lines.exit += 1,
            Some(Kind::Noise(kind)) => self.coverage.count_noise(kind),
            None => {
                lines.unparsed += 1;
                self.coverage.keep_example(&self.file, self.coverage.lines.total, line);
            }
        }
        kind.is_some()
    }

    fn understand(
        &mut self,
        line: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr(0x1b, line).is_none() {
            return self.plain_line(line, names, sink);
        }
        let mut plain = std::mem::take(&mut self.plain);
        noise::strip_colours(line, &mut plain);
        let kind = self.plain_line(&plain, names, sink);
        self.plain = plain;
        kind
    }

    fn plain_line(
        &mut self,
        line: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        if self.in_table
            && let Some(kind) = self.table(line)
        {
            return Some(kind);
        }
        if self.in_tip {
            self.in_tip = noise::is_tip(line);
            if self.in_tip {
                return Some(Kind::Noise(noise::TIPS));
            }
        }
        if self.interrupted.is_some()
            && let Some(kind) = self.go_on(line, names, sink)
        {
            return Some(kind);
        }
        if line.first() == Some(&b' ')
            && let Some(kind) = noise::indented(line)
        {
            return Some(Kind::Noise(kind));
        }
        let prefix = Prefix::read(line);
        let kind = match prefix.rest.first() {
            Some(b'<') => self.resumed(&prefix, names, sink),
            Some(b'-') => self.signal(&prefix),
            Some(b'+') => self.exit(&prefix, names, sink),
            Some(_) => self.call(&prefix, names, sink),
            None => None,
        };
        kind.or_else(|| self.talk(line))
    }

    /// Lines that belong to no thread.
    fn talk(&mut self, line: &[u8]) -> Option<Kind> {
        if line.iter().all(|byte| byte.is_ascii_whitespace()) {
            return Some(Kind::Noise(noise::BLANK));
        }
        if let Some(kind) = noise::message(line) {
            if let Some(tid) = noise::attached(line) {
                self.threads.appeared(tid);
            }
            return Some(Kind::Noise(kind));
        }
        if noise::is_tip_head(line) {
            self.in_tip = true;
            return Some(Kind::Noise(noise::TIPS));
        }
        let is_table =
            noise::is_table_head(line) || noise::is_table_rule(line) || noise::is_table_title(line);
        self.in_table = is_table;
        is_table.then(|| {
            self.coverage.note("a table of call counts (strace -c or -C) was skipped");
            Kind::Noise(noise::TABLE)
        })
    }

    fn table(&mut self, line: &[u8]) -> Option<Kind> {
        let row = noise::is_table_row(line);
        self.in_table = row || noise::is_table_rule(line) || noise::is_table_head(line);
        self.in_table.then_some(Kind::Noise(noise::TABLE))
    }

    fn thread(
        &mut self,
        prefix: &Prefix<'_>,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
        names: &mut Dictionaries,
    ) -> Tid {
        let pending = &self.pending;
        let tid = self.threads.of(prefix.tid, || {
            let began = pending.text(Tid(0)).unwrap_or_default();
            let continues = resumed_name(prefix.rest).is_some_and(|(name, _)| began.starts_with(name));
            let spec = name_length(began)
                .and_then(|length| names.calls.find(&began[..length]))
                .and_then(|id| calls::spec(CallId(id)));
            let makes = spec.is_some_and(|spec| spec.makes == Makes::Process);
            if makes && !continues { Began::Process } else { Began::Other }
        });
        if let Some(comm) = prefix.comm {
            self.comm(tid, comm, names, sink);
        }
        tid
    }

    #[cold]
    fn comm(
        &mut self,
        tid: Tid,
        comm: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        if self.threads.is_renamed(tid, comm) {
            let mut space = std::mem::take(&mut self.scratch);
            let comm = scratch_for(comm, &mut space).unescape(comm);
            sink(RawItem::Comm { tid, comm }, names);
            self.scratch = space;
        }
    }

    #[inline]
    fn call(
        &mut self,
        prefix: &Prefix<'_>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        let text = prefix.rest;
        name_length(text)?;
        if let Some(half) = first_half(text) {
            let start = self.timeline.advance(&prefix.stamp);
            let tid = self.thread(prefix, sink, names);
            self.abandon_pending(tid, names, sink);
            self.enter(tid, start, half, names, sink);
            self.keep(tid, start, half, names, sink);
            return Some(Kind::Unfinished);
        }
        if let Some(half) = cut_by_death(text) {
            let start = self.timeline.advance(&prefix.stamp);
            let tid = self.thread(prefix, sink, names);
            self.abandon_pending(tid, names, sink);
            self.abandon(&Half { tid, start, text: half.to_vec() }, names, sink);
            return Some(Kind::Event);
        }
        if self.complete(Origin::Line(prefix), text, names, sink) {
            return Some(Kind::Event);
        }
        if let Some((at, child)) = noise::interruption(text) {
            self.interrupt(prefix, &text[..at], Breaker::Message, names, sink);
            child.into_iter().for_each(|child| self.threads.appeared(child));
            return Some(Kind::Noise(noise::ATTACH));
        }
        let at = output::begins(text)?;
        self.interrupt(prefix, &text[..at], Breaker::Output, names, sink);
        Some(Kind::Unfinished)
    }

    /// Something broke the line: what stands before it waits for the next line.
    #[cold]
    fn interrupt(
        &mut self,
        prefix: &Prefix<'_>,
        text: &[u8],
        breaker: Breaker,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        let start = self.timeline.advance(&prefix.stamp);
        let tid = self.thread(prefix, sink, names);
        if let Some((half, _)) = self.interrupted.take() {
            self.abandon(&half, names, sink);
        }
        self.abandon_pending(tid, names, sink);
        self.enter(tid, start, text, names, sink);
        let mut buffer = self.pending.buffer();
        buffer.extend_from_slice(text);
        self.interrupted = Some((Half { tid, start, text: buffer }, breaker));
    }

    /// Reads a line as the rest of the one that was broken.
    #[cold]
    fn go_on(
        &mut self,
        line: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        if let Some(kind) = noise::message(line) {
            if let Some(tid) = noise::attached(line) {
                self.threads.appeared(tid);
            }
            return Some(Kind::Noise(kind));
        }
        let (mut half, breaker) = self.interrupted.take()?;
        let own_line = has_its_own_start(line);
        let other = breaker == Breaker::Output && !line.starts_with(b")");
        if own_line || other || noise::indented(line).is_some() {
            self.abandon(&half, names, sink);
            return None;
        }
        let length = half.text.len();
        half.text.extend_from_slice(line);
        if let Some(text) = first_half(&half.text) {
            self.keep(half.tid, half.start, text, names, sink);
            return Some(Kind::Unfinished);
        }
        if self.complete(Origin::Known(half.tid, half.start), &half.text, names, sink) {
            self.pending.recycle(half.text);
            return Some(match breaker {
                Breaker::Message => Kind::Event,
                Breaker::Output => Kind::Resumed,
            });
        }
        if let Some((at, child)) = noise::interruption(&half.text) {
            child.into_iter().for_each(|child| self.threads.appeared(child));
            half.text.truncate(at);
            self.interrupted = Some((half, breaker));
            return Some(Kind::Noise(noise::ATTACH));
        }
        half.text.truncate(length);
        self.abandon(&half, names, sink);
        None
    }

    /// A thread that begins a call will not go on with the one before.
    #[inline]
    fn abandon_pending(
        &mut self,
        tid: Tid,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        if let Some(old) = self.pending.take(tid) {
            self.abandon(&old, names, sink);
            self.pending.recycle(old.text);
        }
    }

    /// Keeps the first half of a call of a thread that has none.
    fn keep(
        &mut self,
        tid: Tid,
        start: Timestamp,
        text: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        let mut buffer = self.pending.buffer();
        buffer.extend_from_slice(text);
        if let Some(half) = self.pending.put(Half { tid, start, text: buffer }) {
            self.abandon(&half, names, sink);
        }
    }

    /// Reports the entry of a call, because others may speak before it returns.
    fn enter(
        &mut self,
        tid: Tid,
        start: Timestamp,
        text: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        let mut space = std::mem::take(&mut self.scratch);
        if let Some(reading) = Reading::of(text, names, &mut scratch_for(text, &mut space)) {
            let call = reading.id(names);
            let args = reading.arguments.as_slice();
            sink(RawItem::Entered(RawCall { tid, call, start, dur: None, ret: Return::Unseen, args }), names);
        }
        self.scratch = space;
    }

    /// Reads a whole call and reports it; `false` if it is none.
    #[inline]
    fn complete(
        &mut self,
        origin: Origin<'_>,
        text: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> bool {
        let mut space = std::mem::take(&mut self.scratch);
        let done = self.complete_with(&mut space, origin, text, names, sink).is_some();
        self.scratch = space;
        done
    }

    #[inline]
    fn complete_with(
        &mut self,
        space: &mut Vec<u8>,
        origin: Origin<'_>,
        text: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<()> {
        let mut scratch = scratch_for(text, space);
        let reading = Reading::of(text, names, &mut scratch)?;
        let outcome = Outcome::read(&text[reading.arguments.end?..], &mut scratch)?;
        let (tid, start) = match origin {
            Origin::Known(tid, start) => (tid, start),
            Origin::Line(prefix) => {
                let start = self.timeline.advance(&prefix.stamp);
                (self.thread(prefix, sink, names), start)
            }
        };
        self.abandon_pending(tid, names, sink);
        if outcome.restarts {
            self.coverage.interrupted += 1;
            if matches!(origin, Origin::Known(..)) {
                sink(RawItem::Interrupted { tid, at: start }, names);
            }
            return Some(());
        }
        let ret = reading.without_comm(outcome.ret);
        if let (true, Return::Value(child, _)) = (reading.makes_process(), ret) {
            u32::try_from(child).into_iter().for_each(|child| self.threads.appeared(child));
        }
        let call = reading.id(names);
        let args = reading.arguments.as_slice();
        sink(RawItem::Call(RawCall { tid, call, start, dur: outcome.dur, ret, args }), names);
        Some(())
    }

    /// Reports a call of which only the first half was seen.
    #[cold]
    fn abandon(
        &mut self,
        half: &Half,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        let mut space = Vec::new();
        let mut scratch = scratch_for(&half.text, &mut space);
        let Some(reading) = Reading::of(&half.text, names, &mut scratch) else { return };
        let never_returns = matches!(reading.name, b"exit" | b"exit_group");
        self.coverage.incomplete += u64::from(!never_returns);
        let call = reading.id(names);
        let args = reading.arguments.as_slice();
        let (tid, start) = (half.tid, half.start);
        sink(RawItem::Call(RawCall { tid, call, start, dur: None, ret: Return::Unseen, args }), names);
    }

    #[inline]
    fn resumed(
        &mut self,
        prefix: &Prefix<'_>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        if prefix.rest == DETACHED {
            return Some(Kind::Noise(noise::ATTACH));
        }
        let (name, rest) = resumed_name(prefix.rest)?;
        let timeline = self.timeline;
        let now = self.timeline.advance(&prefix.stamp);
        let tid = self.thread(prefix, sink, names);
        if let Some(mut half) = self.pending.take(tid) {
            if half.text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'(')) {
                let length = half.text.len();
                half.text.extend_from_slice(rest);
                if let Some(text) = first_half(&half.text) {
                    self.keep(tid, half.start, text, names, sink);
                    return Some(Kind::Unfinished);
                }
                if let Some(text) = cut_by_death(&half.text) {
                    half.text.truncate(text.len());
                    self.abandon(&half, names, sink);
                    return Some(Kind::Resumed);
                }
                if self.complete(Origin::Known(tid, half.start), &half.text, names, sink) {
                    self.pending.recycle(half.text);
                    return Some(Kind::Resumed);
                }
                half.text.truncate(length);
                self.timeline = timeline;
                self.abandon(&half, names, sink);
                return None;
            }
            self.abandon(&half, names, sink);
        }
        let kind = self.orphan(tid, now, name, rest, names, sink);
        if kind.is_none() {
            self.timeline = timeline;
        }
        kind
    }

    /// Reports a call of which only the second half was seen; which arguments that holds is unknown.
    #[cold]
    fn orphan(
        &mut self,
        tid: Tid,
        now: Timestamp,
        name: &[u8],
        rest: &[u8],
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        let mut space = Vec::new();
        let mut scratch = scratch_for(rest, &mut space);
        let mut at = 0;
        let outcome = loop {
            at = scan::value_end(rest, at)? + 1;
            if rest[at - 1] == b')'
                && let Some(outcome) = Outcome::read(&rest[at..], &mut scratch)
            {
                break outcome;
            }
        };
        if outcome.restarts {
            self.coverage.interrupted += 1;
            return Some(Kind::Resumed);
        }
        self.coverage.incomplete += 1;
        let call = CallId(names.calls.intern(name));
        let start = Timestamp(now.0.saturating_sub(outcome.dur.unwrap_or_default().0));
        let ret = outcome.ret;
        sink(
            RawItem::Call(RawCall { tid, call, start, dur: outcome.dur, ret, args: &[] as &[Arg<'_>] }),
            names,
        );
        Some(Kind::Resumed)
    }

    /// `--- SIGCHLD {si_signo=SIGCHLD, ...} ---`, `--- stopped by SIGSTOP ---`
    fn signal(&mut self, prefix: &Prefix<'_>) -> Option<Kind> {
        let inner = prefix.rest.strip_prefix(b"--- ")?.strip_suffix(b" ---")?;
        let known =
            inner.starts_with(b"SIG") || inner.starts_with(b"stopped by ") || inner.starts_with(b"0x");
        known.then(|| {
            self.timeline.advance(&prefix.stamp);
            Kind::Signal
        })
    }

    /// `+++ exited with 0 +++`, `+++ killed by SIGKILL (core dumped) +++`, `+++ superseded by execve in pid 7 +++`
    fn exit(
        &mut self,
        prefix: &Prefix<'_>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Option<Kind> {
        let inner = prefix.rest.strip_prefix(b"+++ ")?.strip_suffix(b" +++")?;
        let end = End::of(inner)?;
        let at = self.timeline.advance(&prefix.stamp);
        let tid = self.thread(prefix, sink, names);
        self.abandon_pending(tid, names, sink);
        match end {
            End::Exited(status) => sink(RawItem::Exited { tid, at, status }, names),
            End::Killed(signal) => sink(RawItem::Killed { tid, at, signal }, names),
            End::Superseded(by) => {
                let by = self.threads.of(Some(by), || Began::Other);
                if let Some(half) = self.pending.take(by) {
                    let moved = self.pending.put(Half { tid, ..half });
                    moved.iter().for_each(|half| self.abandon(half, names, sink));
                }
                self.threads.ended(by);
                sink(RawItem::Superseded { tid, by, at }, names);
                return Some(Kind::Exit);
            }
        }
        self.threads.ended(tid);
        Some(Kind::Exit)
    }

    /// The input is over: whatever waits will not be continued.
    fn finish(&mut self, names: &mut Dictionaries, sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries)) {
        let mut halves = self.pending.drain();
        halves.extend(self.interrupted.take().map(|(half, _)| half));
        halves.iter().for_each(|half| self.abandon(half, names, sink));
    }
}

/// How a thread ended.
enum End<'a> {
    Exited(i32),
    Killed(&'a [u8]),
    Superseded(Tid),
}

impl<'a> End<'a> {
    fn of(text: &'a [u8]) -> Option<Self> {
        if let Some(status) = text.strip_prefix(b"exited with ") {
            let (status, _) = scan::number(status).filter(|(_, length)| *length == status.len())?;
            return Some(Self::Exited(status as i32));
        }
        if let Some(signal) = text.strip_prefix(b"killed by ") {
            let name = signal.strip_suffix(b" (core dumped)").unwrap_or(signal);
            return Some(Self::Killed(name));
        }
        let (pid, _) = prefix::digits(text.strip_prefix(b"superseded by execve in pid ")?)?;
        Some(Self::Superseded(Tid(pid as u32)))
    }
}

/// The name and the rest in `<... name resumed>rest`.
#[inline]
fn resumed_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"<... ")?;
    let end = memchr(b' ', text)?;
    let rest = text[end..].strip_prefix(b" resumed>")?;
    Some((&text[..end], rest))
}

/// Whether a line does not go on with the one before: it names its thread or its time, or is no call.
fn has_its_own_start(line: &[u8]) -> bool {
    let marks = [&b"[pid "[..], b"--- ", b"+++ ", b"<... "];
    let number = line.first().is_some_and(u8::is_ascii_digit) && !line.starts_with(b"0x");
    line.is_empty() || number || marks.iter().any(|mark| line.starts_with(mark))
}

/// The first half of a call, if the line is one: it was interrupted, or its thread was detached or changed its id.
#[inline]
fn first_half(text: &[u8]) -> Option<&[u8]> {
    if !text.ends_with(b"...>") {
        return None;
    }
    let half = text
        .strip_suffix(UNFINISHED)
        .or_else(|| text.strip_suffix(DETACHED))
        .or_else(|| memmem::rfind(text, b"<pid changed to ").map(|mark| &text[..mark]))?;
    Some(half.strip_suffix(b" ").unwrap_or(half))
}

/// What is known of a call during which its thread ended: `read(0,  <unfinished ...>) = ?`.
#[inline]
fn cut_by_death(text: &[u8]) -> Option<&[u8]> {
    let call = scan::trim_end(text.strip_suffix(b"= ?")?).strip_suffix(b")")?;
    let half = call.strip_suffix(UNFINISHED)?;
    Some(half.strip_suffix(b" ").unwrap_or(half))
}

/// Scratch as long as `text`.
#[inline]
fn scratch_for<'a>(text: &[u8], space: &'a mut Vec<u8>) -> Scratch<'a> {
    if space.len() < text.len() {
        space.resize(text.len(), 0);
    }
    Scratch::new(&mut space[..])
}
