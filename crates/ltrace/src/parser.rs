//! Text of ltrace in, raw calls out.
//!
//! Calls of libraries have the layer `libc`, system calls (`ltrace -S`) their own. Those that a function makes come between its two
//! halves, so that it is announced when its first half is read.

use crate::arguments::Arguments;
use crate::line::{Finished, Line, Name};
use crate::names;
use crate::pending::{Pending, Stack};
use hashbrown::HashMap;
use iotrail_import::{Ending, Prefix, Timeline, lines};
use iotrail_model::calls::{self, CallKind, CallSpec, Makes};
use iotrail_model::errors::{error_name, restarts};
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{CallId, Clock, Coverage, Dictionaries, Layer, Nanos, Note, Resolution, Tid, Timestamp};

/// Calls that a thread may be in; of more, the outermost is taken for one that was left otherwise than by returning (`longjmp`).
const MAX_DEPTH: usize = 1000;
/// Memory for the arguments of calls that have not returned: beyond it they are unknown.
const HELD_TEXT: usize = 64 << 20;

/// The smallest return value of a system call that says that it failed.
const LEAST_ERROR: i64 = -4095;

/// Reads what one ltrace wrote.
#[derive(Debug)]
pub struct Parser {
    file: String,
    coverage: Coverage,
    timeline: Timeline,
    stacks: HashMap<Tid, Stack>,
    /// Bytes of arguments in them.
    held: usize,
    /// Whether there was a system call.
    has_system_calls: bool,
    ending: Ending,
}

/// Takes what was read.
trait Sink: FnMut(RawItem<'_>, &mut Dictionaries) {}

impl<F: FnMut(RawItem<'_>, &mut Dictionaries)> Sink for F {}

/// A sink and the names that its items refer to.
struct Out<'a, S> {
    names: &'a mut Dictionaries,
    sink: &'a mut S,
}

impl<S: Sink> Out<'_, S> {
    fn emit(&mut self, item: RawItem<'_>) {
        (self.sink)(item, self.names);
    }
}

/// A call, whole or in part.
struct Seen<'a> {
    tid: Tid,
    layer: Layer,
    call: CallId,
    spec: Option<&'static CallSpec>,
    start: Timestamp,
    dur: Option<Nanos>,
    ret: Return<'a>,
}

impl Seen<'_> {
    fn ends_its_thread(&self) -> bool {
        let kind = self.spec.map(|spec| spec.kind).unwrap_or_default();
        self.layer == Layer::Syscall && matches!(kind, CallKind::ExitThread | CallKind::ExitProcess)
    }

    fn item<T>(&self, arguments: &Arguments, then: impl FnOnce(RawCall<'_>) -> T) -> T {
        then(RawCall {
            tid: self.tid,
            layer: self.layer,
            call: self.call,
            start: self.start,
            dur: self.dur,
            ret: self.ret,
            args: &arguments.as_seen(self.spec),
        })
    }
}

impl Parser {
    /// A parser at the start of the input `file`; `date` is that of its first line.
    #[must_use]
    pub fn new(file: String, date: Option<(i64, i64, i64)>) -> Self {
        Self {
            file,
            coverage: Coverage::default(),
            timeline: Timeline::new(date),
            stacks: HashMap::new(),
            held: 0,
            has_system_calls: false,
            ending: Ending::Whole,
        }
    }

    /// Parses all whole lines of `text`, and at the end of the input (`at_end`) whatever is left. Returns how many bytes those are.
    pub fn parse(
        &mut self,
        text: &[u8],
        at_end: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> usize {
        let out = &mut Out { names, sink };
        let (mut last, mut understood) = (0, true);
        let done = lines(text, at_end, |line| (last, understood) = (line.len(), self.line(line, out)));
        if at_end {
            if !text.is_empty() && text.last() != Some(&b'\n') {
                let line = &text[text.len() - last..];
                self.ending = Ending::without_line_end(line, self.coverage.lines.total, understood);
            }
            self.finish(out);
            self.note();
        }
        done
    }

    /// What a reader must know of the trace.
    fn note(&mut self) {
        let lines = &self.coverage.lines;
        if lines.event + lines.resumed > 0 && !self.has_system_calls {
            self.coverage.note(Note::FunctionsOnly);
        }
    }

    /// What was read and what was not understood.
    #[must_use]
    pub const fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What the time stamps mean.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    /// How fine they are.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.timeline.resolution()
    }

    /// How the input ended.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Reads a line; whether it was understood.
    fn line(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) -> bool {
        self.coverage.lines.total += 1;
        let prefix = Prefix::read(line);
        let said = Line::read(prefix.rest);
        if let Line::Known(kind) = said {
            self.coverage.count_noise(kind);
            return true;
        }
        if said == Line::Unknown {
            self.coverage.lines.unparsed += 1;
            self.coverage.keep_example(&self.file, self.coverage.lines.total, line);
            return false;
        }
        // Of a trace without threads there is one.
        let tid = prefix.tid.unwrap_or_default();
        let at = self.timeline.advance(&prefix.stamp);
        self.said(said, tid, at, out);
        true
    }

    fn said(&mut self, said: Line<'_>, tid: Tid, at: Timestamp, out: &mut Out<'_, impl Sink>) {
        if let Line::Whole(name, _) | Line::Begun(name, ..) | Line::Resumed(name, _) = &said {
            self.has_system_calls |= name.layer == Layer::Syscall;
        }
        let lines = &mut self.coverage.lines;
        match said {
            Line::Whole(name, finished) => {
                lines.event += 1;
                self.whole(tid, at, name, &finished, out);
            }
            Line::Begun(name, arguments, never) => {
                *(if never { &mut lines.event } else { &mut lines.unfinished }) += 1;
                self.begun(tid, at, name, arguments, never, out);
            }
            Line::Resumed(name, finished) => {
                lines.resumed += 1;
                self.resumed(tid, at, name, &finished, out);
            }
            Line::Exited(status) => {
                lines.exit += 1;
                self.left(tid, out);
                out.emit(RawItem::Exited { tid, at, status });
            }
            Line::Killed(signal) => {
                lines.exit += 1;
                self.left(tid, out);
                out.emit(RawItem::Killed { tid, at, signal });
            }
            Line::Signal => lines.signal += 1,
            Line::Exec => {
                self.coverage.count_noise("exec-message");
                self.began_a_program(tid, out);
            }
            Line::Known(_) | Line::Unknown => {}
        }
    }

    fn whole(
        &mut self,
        tid: Tid,
        at: Timestamp,
        name: Name<'_>,
        finished: &Finished<'_>,
        out: &mut Out<'_, impl Sink>,
    ) {
        let seen = seen(tid, name.layer, name.name, at, out.names);
        let mut arguments = Arguments::read(finished.arguments);
        self.within_function(&seen, &mut arguments);
        if is_restarted(&seen, finished.value) {
            seen.item(&arguments, |call| out.emit(RawItem::Entered(call)));
        }
        self.returned(seen, finished, &arguments, out);
    }

    fn begun(
        &mut self,
        tid: Tid,
        at: Timestamp,
        name: Name<'_>,
        text: &[u8],
        never: bool,
        out: &mut Out<'_, impl Sink>,
    ) {
        let seen = seen(tid, name.layer, name.name, at, out.names);
        let mut arguments = Arguments::read(text);
        let opens = match name.layer {
            Layer::Syscall => self.within_function(&seen, &mut arguments),
            _ if names::opens_its_argument(name.name) => arguments.first_text().map(<[u8]>::to_owned),
            _ => None,
        };
        seen.item(&arguments, |call| out.emit(RawItem::Entered(call)));
        let text = if self.held + text.len() > HELD_TEXT { &[] } else { text };
        self.held += text.len();
        let opens = opens.filter(|_| !text.is_empty());
        let (layer, name, arguments) = (name.layer, name.name.to_owned(), text.to_owned());
        let pending = Pending { layer, name, arguments, start: at, opens, never };
        if let Some(outermost) = self.stacks.entry(tid).or_default().push(pending, MAX_DEPTH) {
            self.coverage.incomplete += 1;
            self.unseen(tid, &[outermost], out);
        }
    }

    fn resumed(
        &mut self,
        tid: Tid,
        at: Timestamp,
        name: Name<'_>,
        finished: &Finished<'_>,
        out: &mut Out<'_, impl Sink>,
    ) {
        let stack = self.stacks.entry(tid).or_default();
        let Some((pending, left)) = stack.returns(name.layer, name.name) else {
            return self.without_beginning(tid, at, name, finished, out);
        };
        self.held -= pending.arguments.len();
        self.coverage.incomplete += left.len() as u64;
        self.unseen(tid, &left, out);
        let seen = seen(tid, name.layer, name.name, pending.start, out.names);
        let mut arguments = Arguments::read(&[&pending.arguments[..], finished.arguments].concat());
        let function =
            self.stacks.get_mut(&tid).and_then(Stack::function).map(|pending| pending.name.clone());
        if let (Some(spec), Layer::Syscall) = (seen.spec, seen.layer) {
            arguments.within(spec, &function.unwrap_or_default(), pending.opens.as_deref());
        }
        self.returned(seen, finished, &arguments, out);
    }

    /// The second half of a call whose first is not there. A child returns from the call that made it, which is its parent's.
    fn without_beginning(
        &mut self,
        tid: Tid,
        at: Timestamp,
        name: Name<'_>,
        finished: &Finished<'_>,
        out: &mut Out<'_, impl Sink>,
    ) {
        let start = finished.dur.map_or(at, |dur| Timestamp(at.0.saturating_sub(dur.0)));
        let seen = seen(tid, name.layer, name.name, start, out.names);
        if seen.spec.is_some_and(|spec| spec.makes == Makes::Process) && finished.value == Some(0) {
            return;
        }
        self.coverage.incomplete += 1;
        self.returned(seen, finished, &Arguments::default(), out);
    }

    /// What the function of a library says of a system call in it; the path that it opens, if this is the call that does.
    fn within_function(&mut self, seen: &Seen<'_>, arguments: &mut Arguments) -> Option<Vec<u8>> {
        let spec = seen.spec.filter(|_| seen.layer == Layer::Syscall)?;
        let function = self.stacks.get_mut(&seen.tid).and_then(Stack::function)?;
        let opens = arguments.within(spec, &function.name, function.opens.as_deref());
        if opens { function.opens.take() } else { None }
    }

    fn returned(
        &mut self,
        mut seen: Seen<'_>,
        finished: &Finished<'_>,
        arguments: &Arguments,
        out: &mut Out<'_, impl Sink>,
    ) {
        if is_restarted(&seen, finished.value) {
            self.coverage.interrupted += 1;
            return out.emit(RawItem::Interrupted { tid: seen.tid, at: seen.start });
        }
        self.coverage.cut_arguments += u64::from(arguments.is_cut(seen.spec));
        seen.dur = finished.dur;
        seen.ret = match finished.value {
            None => Return::Unseen,
            Some(error @ LEAST_ERROR..=-1) if seen.layer == Layer::Syscall => {
                Return::Failed(error_name(-error as i32).as_bytes())
            }
            Some(value) => Return::Value(value, None),
        };
        seen.item(arguments, |call| out.emit(RawItem::Call(call)));
    }

    /// A thread began another program: the call that does so succeeded, and it returns from nothing any more.
    fn began_a_program(&mut self, tid: Tid, out: &mut Out<'_, impl Sink>) {
        let stack = self.stacks.entry(tid).or_default();
        if let Some(exec) = stack.0.pop_if(|pending| pending.layer == Layer::Syscall) {
            self.held -= exec.arguments.len();
            let mut seen = seen(tid, exec.layer, &exec.name, exec.start, out.names);
            seen.ret = Return::Value(0, None);
            let arguments = Arguments::read(&exec.arguments);
            seen.item(&arguments, |call| out.emit(RawItem::Call(call)));
        }
        self.left(tid, out);
    }

    /// A thread returns from nothing any more.
    fn left(&mut self, tid: Tid, out: &mut Out<'_, impl Sink>) {
        let left = self.stacks.remove(&tid).unwrap_or_default();
        self.unseen(tid, &left.0, out);
    }

    /// Calls whose return was not seen; what ends the thread comes last, because nothing of the thread can come after it.
    fn unseen(&mut self, tid: Tid, calls: &[Pending], out: &mut Out<'_, impl Sink>) {
        self.held -= calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        let calls = calls.iter().rev().map(|pending| {
            let seen = seen(tid, pending.layer, &pending.name, pending.start, out.names);
            (seen, Arguments::read(&pending.arguments))
        });
        let (last, first): (Vec<_>, Vec<_>) = calls.partition(|(seen, _)| seen.ends_its_thread());
        for (seen, arguments) in first.iter().chain(&last) {
            seen.item(arguments, |call| out.emit(RawItem::Call(call)));
        }
    }

    fn finish(&mut self, out: &mut Out<'_, impl Sink>) {
        let mut threads: Vec<Tid> = self.stacks.keys().copied().collect();
        threads.sort_unstable();
        for tid in threads {
            let open =
                self.stacks.get(&tid).map_or(0, |stack| stack.0.iter().filter(|call| !call.never).count());
            self.coverage.incomplete += open as u64;
            self.left(tid, out);
        }
    }
}

/// A call by the name that ltrace has for it.
fn seen<'a>(tid: Tid, layer: Layer, name: &[u8], start: Timestamp, names: &mut Dictionaries) -> Seen<'a> {
    let name = if layer == Layer::Syscall { names::system_call(name) } else { name };
    let call = CallId(names.calls.intern(name));
    Seen { tid, layer, call, spec: calls::spec(call), start, dur: None, ret: Return::Unseen }
}

/// Whether a signal interrupted a call before it did anything, so that the kernel makes it again.
fn is_restarted(seen: &Seen<'_>, value: Option<i64>) -> bool {
    let error = value.filter(|value| (LEAST_ERROR..0).contains(value)).map(|value| -value as i32);
    seen.layer == Layer::Syscall && error.is_some_and(restarts)
}
