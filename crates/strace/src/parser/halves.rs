//! What becomes of the first half of a call.
//!
//! It is reported as entered and waits. With its second half it is one call; without one, when its thread goes on to
//! something else or the input ends, it is a call whose return was not seen.

use super::arguments::Arguments;
use super::call::Origin;
use super::kind::Kind;
use super::marks::first_half;
use super::pending::Half;
use super::reading::Reading;
use super::sink::{Out, Sink};
use super::{Parser, rights};
use iotrail_model::raw::RawItem;
use iotrail_model::{Dictionaries, Tid, Timestamp};

impl Parser {
    /// Reports the entry of a call, because others may speak before it returns.
    pub(super) fn enter(&mut self, tid: Tid, start: Timestamp, text: &[u8], out: &mut Out<'_, impl Sink>) {
        self.with_scratch(text, |_, text, scratch| {
            let arguments = &mut Arguments::default();
            if let Some(reading) = Reading::of(text, out.names, scratch, arguments) {
                rights::emit_sent(reading.name, tid, text, out);
                let entered = reading.entered(tid, start, out.names);
                out.emit(RawItem::Entered(entered));
            }
        });
    }

    /// Keeps the first half of a call of a thread that has none.
    pub(super) fn keep(&mut self, tid: Tid, start: Timestamp, text: &[u8], out: &mut Out<'_, impl Sink>) {
        let half = self.pending.copy(tid, start, text);
        self.put(half, out);
    }

    /// Lets a half wait if there is room.
    pub(super) fn put(&mut self, half: Half, out: &mut Out<'_, impl Sink>) {
        if let Some(half) = self.pending.put(half) {
            self.abandon(&half, out);
        }
    }

    /// Reads a half behind which more was put: it is a `whole` call, or still a first half. `None` if it is neither.
    #[inline]
    pub(super) fn settle(&mut self, half: &Half, whole: Kind, out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        if let Some(text) = first_half(&half.text) {
            self.keep(half.tid, half.start, text, out);
            return Some(Kind::Unfinished);
        }
        self.complete(Origin::Known(half.tid, half.start), &half.text, out).then_some(whole)
    }

    /// Reports a call of which only the first half was seen.
    #[cold]
    pub(super) fn abandon(&mut self, half: &Half, out: &mut Out<'_, impl Sink>) {
        let first = self.continued(half.tid, &half.text);
        let (start, text) = match &first {
            Some(first) => (first.start, first.gone_on_with(&half.text)),
            None => (half.start, &half.text[..]),
        };
        self.with_scratch(text, |parser, text, scratch| {
            let arguments = &mut Arguments::default();
            let Some(reading) = Reading::of(text, out.names, scratch, arguments) else { return };
            let never_returns = reading.never_returns();
            if never_returns {
                parser.forgets(half.tid, out);
            }
            parser.coverage.incomplete += u64::from(!never_returns);
            parser.coverage.cut_arguments += u64::from(reading.arguments.cut);
            let entered = reading.entered(half.tid, start, out.names);
            out.emit(RawItem::Call(entered));
        });
    }

    /// Whether the last half is that of a thread that goes on in another file.
    pub(crate) fn has_renamed_half(&self) -> bool {
        self.renamed.is_some_and(|tid| self.pending.text(tid).is_some())
    }

    /// Gives up the half of a thread that goes on in another file.
    pub(crate) fn take_renamed_half(&mut self) -> Option<Half> {
        self.pending.take(self.renamed.take()?)
    }

    /// Takes the half of a thread that goes on in this file. If the times of both files cannot be compared, it began when the
    /// last call of this one did.
    pub(crate) fn receive_half(
        &mut self,
        half: Half,
        comparable: bool,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        let start = if comparable { half.start } else { self.steps.last() };
        self.put(Half { start, ..half }, &mut Out { names, sink });
    }

    /// The input is over: whatever waits will not be continued.
    pub(super) fn finish(&mut self, out: &mut Out<'_, impl Sink>) {
        let mut halves = self.pending.drain();
        halves.extend(self.broken.take().map(|broken| broken.half));
        halves.iter().for_each(|half| self.abandon(half, out));
        self.forget_all(out);
    }
}
