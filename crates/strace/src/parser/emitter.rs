//! Who says a line, and when.

use super::Parser;
use super::marks::resumed_name;
use super::pending::Pending;
use super::reading::name_length;
use super::sink::{Out, Sink};
use super::threads::Began;
use iotrail_import::Prefix;
use iotrail_model::calls::{self, Makes};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_model::{CallId, Tid, Timestamp};

impl Parser {
    /// Thread and time of a line.
    #[inline]
    pub(super) fn emitter(&mut self, prefix: &Prefix<'_>, out: &mut Out<'_, impl Sink>) -> (Tid, Timestamp) {
        let printed = self.timeline.advance(&prefix.stamp);
        let (pending, names) = (&self.pending, &*out.names);
        let tid = self.threads.of(prefix.tid, || began(pending, prefix.rest, names));
        if let Some(comm) = prefix.comm {
            self.comm(tid, comm, out);
        }
        (tid, self.steps.at(tid, printed))
    }

    /// Thread and time of a line with which the thread begins something: it will not go on with the call before.
    #[inline]
    pub(super) fn beginner(&mut self, prefix: &Prefix<'_>, out: &mut Out<'_, impl Sink>) -> (Tid, Timestamp) {
        let (tid, now) = self.emitter(prefix, out);
        if let Some(old) = self.pending.take(tid) {
            self.abandon(&old, out);
            self.pending.recycle(old.text);
        }
        (tid, now)
    }

    #[cold]
    fn comm(&mut self, tid: Tid, comm: &[u8], out: &mut Out<'_, impl Sink>) {
        if self.threads.is_renamed(tid, comm) {
            self.with_scratch(comm, |_, comm, scratch| {
                out.emit(RawItem::Comm { tid, comm: scratch.unescape(comm) });
            });
        }
    }
}

/// What the anonymous thread began, when an unknown one says `line`.
fn began(pending: &Pending, line: &[u8], names: &Dictionaries) -> Began {
    let began = pending.text(Tid(0)).unwrap_or_default();
    let continues = resumed_name(line).is_some_and(|(name, _)| began.starts_with(name));
    let spec = name_length(began)
        .and_then(|length| names.calls.find(&began[..length]))
        .and_then(|id| calls::spec(CallId(id)));
    let makes = spec.is_some_and(|spec| spec.makes == Makes::Process);
    if makes && !continues { Began::Process } else { Began::Other }
}
