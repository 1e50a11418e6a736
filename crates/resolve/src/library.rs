//! Calls of libraries, which are seen above the system calls that they make.
//!
//! What they do to descriptors, their system calls do; so they change nothing here. They are the `parent` of what their thread
//! calls from their beginning, which must be announced, to their end.

use crate::Sink;
use crate::context::Context;
use crate::operands::{Base, Operands, PathArg};
use crate::process_table::{Enclosing, ThreadId};
use crate::scene::set_result;
use crate::state::State;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::raw::{Operation, RawCall, Return};
use iotrail_model::{CaseId, Dictionaries, Event, FlagsId, Nullable, OpenId, PathId};

impl State {
    /// A thread enters a call of a library.
    pub(crate) fn enter_library(&mut self, case: CaseId, id: ThreadId, seq: Option<u64>, call: &RawCall<'_>) {
        let seq = seq.unwrap_or_else(|| self.cases.next_seq(case));
        let (_, open) = self.behind_descriptor(id, call);
        let enclosing = &mut self.processes.thread_mut(id).enclosing;
        // What it was in at this layer or below, it left otherwise than by returning (`longjmp`).
        enclosing.retain(|outer| outer.layer > call.layer);
        enclosing.push(Enclosing { layer: call.layer, start: call.start, case, seq, open });
    }

    /// A call of a library returned.
    pub(crate) fn library_call<S: Sink>(
        &mut self,
        case: CaseId,
        id: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        operation: Option<&Operation<&[u8]>>,
        cx: &mut Context<'_, S>,
    ) {
        let entered = self.left_library(id, call).filter(|entered| entered.case == case);
        let seq = entered.map(|entered| entered.seq).or(seq).unwrap_or_else(|| self.cases.next_seq(case));
        let (path, now) = self.behind_descriptor(id, call);
        let open = entered.map_or(now, |entered| entered.open);
        let spec = calls::spec(call.call);
        let operands = Operands::of(spec, call);
        let mut event = Event {
            case,
            seq,
            layer: call.layer,
            call: call.call,
            tid: call.tid,
            start: call.start,
            dur: call.dur.into(),
            fd: operands.fd.map(|(fd, _)| fd).into(),
            path: if open == now { path } else { Nullable::NULL },
            open,
            ..Event::default()
        };
        set_result(&mut event, call, cx.names);
        if spec.is_some_and(|spec| spec.transfer != Transfer::None) {
            event.requested = operands.requested.into();
            event.size = match call.ret {
                Return::Value(bytes, _) if bytes >= 0 => operands.moved(bytes).into(),
                _ => Nullable::NULL,
            };
        }
        if let Some(operation) = operation {
            // A call that opens a file was entered without it.
            if event.open.is_null() {
                (event.open, event.path) = (now, path);
            }
            if let (Some(name), true) = (operation.name, event.path.is_null()) {
                event.path = self.named(id, name, cx.names);
            }
            tell(&mut event, operation, cx.names);
        }
        self.hand_over(event, id, cx);
    }

    /// The path of a file by the name that the program gave.
    fn named(&mut self, id: ThreadId, name: &[u8], names: &mut Dictionaries) -> Nullable<PathId> {
        let name = PathArg { base: Base::Cwd(None), bytes: Some(name), located: false, in_root: false };
        self.locate(id, name, false, names).path
    }

    /// The announced call that returned; what was entered in it and did not return is over, too.
    fn left_library(&mut self, id: ThreadId, call: &RawCall<'_>) -> Option<Enclosing> {
        let enclosing = &mut self.processes.thread_mut(id).enclosing;
        let is_it = |outer: &Enclosing| (outer.layer, outer.start) == (call.layer, call.start);
        let index = enclosing.iter().rposition(is_it)?;
        let entered = enclosing[index];
        enclosing.truncate(index);
        Some(entered)
    }

    /// The path and the open file description that its descriptor stands for now.
    fn behind_descriptor(&self, id: ThreadId, call: &RawCall<'_>) -> (Nullable<PathId>, Nullable<OpenId>) {
        let operands = Operands::of(calls::spec(call.call), call);
        let table = self.processes.thread(id).table;
        let description = operands.fd.and_then(|(fd, _)| self.descriptors.get(table, fd));
        description.map_or_else(Default::default, |description| {
            let description = self.descriptors.description(description);
            (description.path, description.number)
        })
    }
}

/// What the tracer knows of the call, in its columns.
fn tell(event: &mut Event, operation: &Operation<&[u8]>, names: &mut Dictionaries) {
    event.offset = operation.offset.into();
    event.requested = operation.requested.into();
    event.size = operation.size.into();
    event.comm = operation.comm.into();
    event.peer = operation.peer.into();
    event.tag = operation.tag.into();
    event.sent = operation.sent.into();
    event.received = operation.received.into();
    event.args = operation.args.map(|text| FlagsId(names.flags.intern(text))).into();
    event.site = operation.site.into();
}
