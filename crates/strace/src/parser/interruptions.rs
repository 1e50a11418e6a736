//! Calls that a signal interrupted, until it shows what became of them.
//!
//! `read(0, 0x7ffc, 9) = ? ERESTARTSYS` says that the kernel will restart the call, unless a handler of the signal says
//! otherwise. It is restarted if the thread makes it again at once, or behind a handler; it has failed with EINTR if a handler
//! returns with that (`rt_sigreturn({mask=[]}) = -1 EINTR`). If nothing shows, because the thread ended or left its handler with
//! a jump, the call is an event whose result is not known.
//!
//! A call that is restarted without a handler in between is one call that began when it was first made: what its thread
//! makes next goes on with it, by `restart_syscall` or once more.

use super::Parser;
use super::arguments::Arguments;
use super::call::Origin;
use super::outcome::Restart;
use super::reading::{Reading, name_length};
use super::rights;
use super::scan::{trim_end, trim_start, value_end};
use super::sink::{Out, Sink};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{Call, CallKind};
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{Nanos, Tid, Timestamp};

/// Calls of one thread that may wait: each but the last was interrupted before the handler that interrupts the next.
const MAX_DEPTH: usize = 16;
/// Bytes of calls that may wait.
const MAX_BYTES: usize = 16 << 20;

/// The calls of all threads that wait.
#[derive(Debug, Default)]
pub(super) struct Interruptions {
    /// Of each thread the last one at the end.
    waiting: HashMap<u32, Vec<Interruption>, RandomState>,
    bytes: usize,
    /// Whether the trace holds the calls that return from handlers, as far as one can tell.
    shows_returns: bool,
    /// Calls that were taken for restarted, though a return from a handler would not have been shown.
    presumed: u64,
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Interruption {
    pub(super) start: Timestamp,
    dur: Option<Nanos>,
    /// From the call's name on.
    text: Vec<u8>,
    /// Whether a restart would be the next call of the thread.
    at_restart: bool,
    /// Whether a handler has returned since.
    handled: bool,
}

impl Interruption {
    /// The text of the call with which `again` goes on: `restart_syscall` does not show it.
    pub(super) fn gone_on_with<'a>(&'a self, again: &'a [u8]) -> &'a [u8] {
        if is_restart(again) { &self.text } else { again }
    }

    /// The time from its first start to the end of the call that went on with it, which began at `again`.
    pub(super) fn lasted(&self, again: Timestamp, dur: Nanos) -> Nanos {
        Nanos((again + dur).0.saturating_sub(self.start.0))
    }
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Restarted,
    Failed,
    Unknown,
}

impl Interruptions {
    /// Whether no call waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes note of a call that only a trace with the calls about signals holds: this is about what people choose when they
    /// trace, hence the names.
    #[inline]
    pub(super) fn see(&mut self, name: &[u8]) {
        if !self.shows_returns && matches!(name.first(), Some(b'r' | b's')) {
            self.shows_returns = name.starts_with(b"rt_sig")
                || matches!(name, b"rseq" | b"set_tid_address" | b"set_robust_list" | b"sigreturn");
        }
    }

    /// Calls that were taken for restarted, though a return from a handler would not have been shown.
    pub(super) fn presumed(&self) -> u64 {
        self.presumed
    }

    fn push(&mut self, tid: Tid, interruption: Interruption) {
        self.bytes += interruption.text.len();
        self.waiting.entry(tid.0).or_default().push(interruption);
    }

    /// What the next call of a thread says of the last one that waits.
    fn fate(&mut self, tid: Tid, text: &[u8], ret: Return<'_>) -> Option<Fate> {
        let shows_returns = self.shows_returns;
        let last = self.waiting.get_mut(&tid.0)?.last_mut()?;
        let name = &text[..name_length(text)?];
        let kind = Call::named(std::str::from_utf8(name).unwrap_or_default()).kind();
        if kind == CallKind::SignalReturn {
            (last.at_restart, last.handled) = (true, true);
            return (ret == Return::Failed(b"EINTR")).then_some(Fate::Failed);
        }
        let again = is_restart(text) || is_same(&last.text, text);
        let restarts = std::mem::replace(&mut last.at_restart, false) && again;
        self.presumed += u64::from(restarts && !shows_returns);
        restarts.then_some(Fate::Restarted)
    }

    /// Whether a call goes on with the last one of its thread that waits: without a handler in between, which only shows if its
    /// return does. No handler is followed by `restart_syscall`.
    fn is_continued(&self, tid: Tid, text: &[u8]) -> bool {
        let last = self.waiting.get(&tid.0).and_then(|of_thread| of_thread.last());
        last.is_some_and(|last| {
            let is_next = last.at_restart && !last.handled;
            is_next && (is_restart(text) || self.shows_returns && is_same(&last.text, text))
        })
    }

    /// Takes the last call of a thread that waits.
    fn pop(&mut self, tid: Tid) -> Option<Interruption> {
        let of_thread = self.waiting.get_mut(&tid.0)?;
        let last = of_thread.pop();
        if of_thread.is_empty() {
            self.waiting.remove(&tid.0);
        }
        self.bytes -= last.as_ref().map_or(0, |last| last.text.len());
        last
    }

    /// Takes the first call of a thread that waits, if there are too many.
    fn pop_excess(&mut self, tid: Tid) -> Option<Interruption> {
        let of_thread = self.waiting.get_mut(&tid.0)?;
        if of_thread.len() <= MAX_DEPTH && self.bytes <= MAX_BYTES {
            return None;
        }
        let first = of_thread.remove(0);
        if of_thread.is_empty() {
            self.waiting.remove(&tid.0);
        }
        self.bytes -= first.text.len();
        Some(first)
    }

    /// The threads of which calls wait, in their order.
    fn threads(&self) -> Vec<Tid> {
        let mut threads: Vec<Tid> = self.waiting.keys().map(|tid| Tid(*tid)).collect();
        threads.sort_unstable();
        threads
    }
}

impl Parser {
    /// A signal interrupted a call that was read.
    #[cold]
    pub(super) fn is_interrupted(
        &mut self,
        (tid, start): (Tid, Timestamp),
        origin: Origin<'_>,
        (text, reading): (&[u8], &Reading<'_, '_>),
        (how, dur): (Restart, Option<Nanos>),
        out: &mut Out<'_, impl Sink>,
    ) {
        if self.interruptions.is_continued(tid, text) {
            self.coverage.interrupted += 1;
            return;
        }
        self.goes_on(tid, text, Return::Unseen, out);
        let announced = matches!(origin, Origin::Known(..));
        if how == Restart::Always {
            self.coverage.interrupted += 1;
            if announced {
                out.emit(RawItem::Interrupted { tid, at: start });
            }
            return;
        }
        if !announced {
            rights::emit_sent(reading.name, tid, text, out);
            let entered = reading.entered(tid, start, out.names);
            out.emit(RawItem::Entered(entered));
        }
        out.emit(RawItem::Suspended { tid, at: start });
        let text = text[..reading.arguments.end.unwrap_or(text.len())].to_vec();
        self.interruptions.push(tid, Interruption { start, dur, text, at_restart: true, handled: false });
        while let Some(first) = self.interruptions.pop_excess(tid) {
            self.tell_fate(tid, &first, Fate::Unknown, out);
        }
    }

    /// Whether a call goes on with one that was interrupted, and is announced with it.
    #[inline]
    pub(super) fn is_continued(&self, tid: Tid, text: &[u8]) -> bool {
        !self.interruptions.is_empty() && self.interruptions.is_continued(tid, text)
    }

    /// The interrupted call that a call goes on with.
    #[inline]
    pub(super) fn continued(&mut self, tid: Tid, text: &[u8]) -> Option<Interruption> {
        let first = self.is_continued(tid, text).then(|| self.interruptions.pop(tid))?;
        self.coverage.interrupted += 1;
        first
    }

    /// A thread made a call: what does it say of those of its calls that were interrupted?
    #[inline]
    pub(super) fn goes_on(&mut self, tid: Tid, text: &[u8], ret: Return<'_>, out: &mut Out<'_, impl Sink>) {
        if !self.interruptions.is_empty()
            && let Some(fate) = self.interruptions.fate(tid, text, ret)
            && let Some(last) = self.interruptions.pop(tid)
        {
            self.tell_fate(tid, &last, fate, out);
        }
    }

    /// Nothing more will show what became of the calls of a thread.
    #[inline]
    pub(super) fn forgets(&mut self, tid: Tid, out: &mut Out<'_, impl Sink>) {
        if !self.interruptions.is_empty() {
            while let Some(last) = self.interruptions.pop(tid) {
                self.tell_fate(tid, &last, Fate::Unknown, out);
            }
        }
    }

    /// Nothing more comes.
    pub(super) fn forget_all(&mut self, out: &mut Out<'_, impl Sink>) {
        for tid in self.interruptions.threads() {
            self.forgets(tid, out);
        }
    }

    #[cold]
    fn tell_fate(&mut self, tid: Tid, call: &Interruption, fate: Fate, out: &mut Out<'_, impl Sink>) {
        let ret = match fate {
            Fate::Restarted => {
                self.coverage.interrupted += 1;
                out.emit(RawItem::Interrupted { tid, at: call.start });
                return;
            }
            Fate::Failed => Return::Failed(b"EINTR"),
            Fate::Unknown => Return::Unseen,
        };
        match fate {
            Fate::Failed => self.coverage.interrupted_ended += 1,
            _ => self.coverage.interrupted_unknown += 1,
        }
        self.with_scratch(&call.text, |parser, text, scratch| {
            let arguments = &mut Arguments::default();
            let Some(reading) = Reading::of(text, out.names, scratch, arguments) else { return };
            parser.coverage.cut_arguments += u64::from(reading.arguments.cut);
            let entered = reading.entered(tid, call.start, out.names);
            out.emit(RawItem::Call(RawCall { dur: call.dur, ret, ..entered }));
        });
    }
}

/// Whether a call is that with which the kernel goes on with another one.
fn is_restart(text: &[u8]) -> bool {
    let name = name_length(text).and_then(|length| std::str::from_utf8(&text[..length]).ok());
    name.is_some_and(|name| Call::named(name).kind() == CallKind::Restart)
}

/// Whether a call is the one that was interrupted, made again with the same registers. What a call stores is printed only when
/// it does, and may have changed: such arguments say nothing.
fn is_same(interrupted: &[u8], again: &[u8]) -> bool {
    let says_nothing = |value: &[u8]| matches!(value.first(), Some(b'[' | b'{')) || value.starts_with(b"0x");
    let (Some(length), Some(other)) = (name_length(interrupted), name_length(again)) else { return false };
    if interrupted[..length] != again[..other] {
        return false;
    }
    let (mut old, mut new) = (length + 1, other + 1);
    while let (Some(value), Some(repeated)) = (next(interrupted, &mut old), next(again, &mut new)) {
        if value != repeated && !says_nothing(value) && !says_nothing(repeated) {
            return false;
        }
    }
    true
}

/// The argument at a place, which moves behind it; `None` behind the last.
fn next<'a>(text: &'a [u8], place: &mut usize) -> Option<&'a [u8]> {
    let end = value_end(text, *place)?;
    let value = trim_end(trim_start(&text[*place..end]));
    // Behind a parenthesis stands the result.
    *place = if text[end] == b',' { end + 1 } else { text.len() };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_made_again_has_the_arguments_that_it_is_given() {
        for (interrupted, again, same) in [
            ("read(0, 0x7ffc, 9)", "read(0, \"abc\", 9) = 3", true),
            ("read(0, 0x7ffc, 9)", "read(4, \"abc\", 9) = 3", false),
            ("read(0, 0x7ffc, 9)", "read(0, \"abc\", 10) = 3", false),
            ("read(0, 0x7ffc, 9)", "pread64(0, \"abc\", 9, 0) = 3", false),
            (
                "wait4(-1, 0x7ffc, 0, NULL)",
                "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 9",
                true,
            ),
            ("wait4(-1, 0x7ffc, 0, NULL)", "wait4(-1, [{WIFEXITED(s)}], WNOHANG, NULL) = 9", false),
            ("write(1, \"a, b)\", 6)", "write(1, \"a, b)\", 6) = 6", true),
            ("write(1, \"a, b)\", 6)", "write(1, \"handler\", 6) = 6", false),
            (
                "select(1, [0], NULL, NULL, {tv_sec=9, tv_usec=0})",
                "select(1, [0], NULL, NULL, {tv_sec=8, tv_usec=1}) = 0 (Timeout)",
                true,
            ),
            ("pause()", "pause() = ? ERESTARTNOHAND", true),
        ] {
            assert_eq!(is_same(interrupted.as_bytes(), again.as_bytes()), same, "{interrupted} {again}");
        }
    }
}
