//! Hands the calls that concern asynchronous I/O to [`crate::asynchronous`], and what that makes of them to the resolver.

use crate::names::rules::Last;
use crate::names::{Base, How, Who};
use crate::proc;
use crate::store::Store;
use crate::threads::InFlight;
use crate::tracer::{Recording, TraceeMemory};
use iotrail_decode::Returned;
use iotrail_decode::asynchronous::{Asked, Asynchronous, Deliver, HeldFile, Stop};
use iotrail_model::raw::RawItem;
use iotrail_model::{Pid, Tid, Timestamp};
use std::cell::RefCell;

impl<S: Store> Recording<'_, '_, S> {
    /// Whether asynchronous I/O must see both sides of a call.
    #[inline]
    pub(crate) fn concerns_requests(&self, process: Option<Pid>, call: &InFlight) -> bool {
        let both = process.zip(call.entry.call());
        both.is_some_and(|(process, call)| self.requests.concerns(process, call))
    }

    /// A call that concerns asynchronous I/O was entered.
    #[cold]
    pub(crate) fn asks(&mut self, tid: Tid, process: Option<Pid>, call: &InFlight, at: Timestamp) {
        self.requests(tid, process, at, |requests, stop, deliver| {
            requests.entered(stop, call.entry.registers(), deliver);
        });
    }

    /// It returned.
    #[cold]
    pub(crate) fn answers(
        &mut self,
        tid: Tid,
        process: Option<Pid>,
        call: &InFlight,
        returned: Returned,
        at: Timestamp,
    ) {
        self.requests(tid, process, at, |requests, stop, deliver| {
            requests.returned(stop, call.entry.registers(), returned, deliver);
        });
    }

    /// A thread is about to end; its memory can be read for the last time.
    pub(crate) fn last_requests(&mut self, tid: Tid, process: Option<Pid>, at: Timestamp) {
        self.requests(tid, process, at, |requests, stop, deliver| requests.ending(stop, deliver));
    }

    /// A process ended or runs another program: what it asked for and did not see done has no end.
    pub(crate) fn forget_requests(&mut self, process: Pid) {
        let scribe = &mut self.scribe;
        self.requests.gone(process, &mut |call| scribe.item(&RawItem::Call(*call)));
    }

    /// The recording is over.
    pub(crate) fn finish_requests(&mut self) {
        let scribe = &mut self.scribe;
        self.requests.finish(&mut |call| scribe.item(&RawItem::Call(*call)));
    }

    fn requests(
        &mut self,
        tid: Tid,
        process: Option<Pid>,
        at: Timestamp,
        act: impl FnOnce(&mut Asynchronous, &Stop<'_, TraceeMemory>, Deliver<'_>),
    ) {
        let Some(pid) = process else { return };
        self.overtakes(tid);
        let memory = TraceeMemory(tid);
        let look = |fd| {
            let found = proc::look(tid, fd)?;
            Some(HeldFile { name: found.name.target().name.to_vec(), appends: found.append })
        };
        let names = RefCell::new(&mut self.names);
        let who = Who { tid, pid, at };
        let place = |asked: &Asked<'_>| {
            let last = match (asked.is_name, asked.follows) {
                (true, _) => Last::Name,
                (false, true) => Last::Target,
                (false, false) => Last::Link,
            };
            let how = How { last, follows: asked.follows, anew: true, doubts: true, in_root: false };
            let base = asked.directory.map_or(Base::Cwd, |fd| Base::Fd(fd, None));
            names.borrow_mut().place(who, base, asked.path, how)
        };
        let stop = Stop { pid, tid, at, memory: &memory, look: &look, place: &place };
        let scribe = &mut self.scribe;
        act(&mut self.requests, &stop, &mut |call| {
            names.borrow_mut().changed_beside(call.call);
            scribe.item(&RawItem::Call(*call));
        });
    }
}
