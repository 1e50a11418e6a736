//! Second halves of calls: `<... read resumed>"", 5) = 0`.

use super::escape::Scratch;
use super::kind::Kind;
use super::marks::{DETACHED, cut_by_death, resumed_name};
use super::outcome::Outcome;
use super::pending::Half;
use super::scan::value_end;
use super::sink::{Out, Sink};
use super::threads::Began;
use super::{Parser, noise};
use iotrail_import::Prefix;
use iotrail_model::calls::numbers::name_behind;
use iotrail_model::raw::{RawCall, RawItem};
use iotrail_model::{CallId, Layer, Tid, Timestamp};

impl Parser {
    #[inline]
    pub(super) fn resumed(&mut self, prefix: &Prefix<'_>, out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        if prefix.rest == DETACHED {
            let tid = self.threads.of(prefix.tid, || Began::Other);
            out.emit(RawItem::Escaped { tid, table: true });
            return Some(Kind::Noise(noise::ATTACH));
        }
        let (name, rest) = resumed_name(prefix.rest)?;
        let (timeline, steps) = (self.timeline, self.steps.now());
        let (tid, now) = self.emitter(prefix, out);
        let kind = match self.half_of(tid, name, out) {
            Some(half) => self.join(half, rest, out),
            None => self.orphan(tid, now, name, rest, out),
        };
        if kind.is_none() {
            self.timeline = timeline;
            self.steps.undo(steps);
        } else {
            self.steps.went_on();
        }
        kind
    }

    /// The first half that waits for one of the call `name`. A thread that resumes another call has lost it.
    #[inline]
    fn half_of(&mut self, tid: Tid, name: &[u8], out: &mut Out<'_, impl Sink>) -> Option<Half> {
        let half = self.pending.take(tid)?;
        if half.text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'(')) {
            return Some(half);
        }
        self.abandon(&half, out);
        None
    }

    /// Reads a call from both its halves.
    #[inline]
    fn join(&mut self, mut half: Half, rest: &[u8], out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        let length = half.text.len();
        half.text.extend_from_slice(rest);
        if let Some(text) = cut_by_death(&half.text) {
            half.text.truncate(text.len());
            self.abandon(&half, out);
            return Some(Kind::Resumed);
        }
        let kind = self.settle(&half, Kind::Resumed, out);
        if kind.is_none() {
            half.text.truncate(length);
            self.abandon(&half, out);
        }
        self.pending.recycle(half.text);
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
        out: &mut Out<'_, impl Sink>,
    ) -> Option<Kind> {
        self.with_scratch(rest, |parser, rest, scratch| {
            let outcome = outcome_behind_arguments(rest, scratch)?;
            match outcome.restarts {
                Some(_) => parser.coverage.interrupted_unknown += 1,
                None => parser.coverage.incomplete += 1,
            }
            let call = CallId(out.names.calls.intern(name_behind(name)));
            let start = Timestamp(now.0.saturating_sub(outcome.dur.unwrap_or_default().0));
            let (dur, ret) = (outcome.dur, outcome.ret);
            out.emit(RawItem::Call(RawCall { tid, layer: Layer::Syscall, call, start, dur, ret, args: &[] }));
            Some(Kind::Resumed)
        })
    }
}

/// The outcome behind the first parenthesis that can close the arguments.
fn outcome_behind_arguments<'s>(rest: &'s [u8], scratch: &mut Scratch<'s>) -> Option<Outcome<'s>> {
    let mut at = 0;
    loop {
        at = value_end(rest, at)? + 1;
        if rest[at - 1] == b')'
            && let Some(outcome) = Outcome::read(&rest[at..], scratch)
        {
            return Some(outcome);
        }
    }
}
