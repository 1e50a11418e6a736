//! Hands the calls that concern asynchronous I/O to [`crate::asynchronous`], and what that makes of them to the resolver.

use crate::emitter::Emitter;
use crate::names::rules::Last;
use crate::names::{Base, How, Names, Who};
use crate::proc;
use crate::store::Store;
use crate::threads::InFlight;
use crate::tracee_memory::TraceeMemory;
use iotrail_decode::Returned;
use iotrail_decode::asynchronous::{Asked, Asynchronous, Deliver, HeldFile, Stop};
use iotrail_model::raw::RawItem;
use iotrail_model::{Pid, Tid};
use std::cell::RefCell;

/// Asynchronous I/O of the program.
pub(crate) struct Requests {
    asynchronous: Asynchronous,
}

/// What delivering a request needs.
pub(crate) struct Delivery<'d, 's, S> {
    pub(crate) names: &'d mut Names,
    pub(crate) emitter: &'d mut Emitter<'s, S>,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self { asynchronous: Asynchronous::new() }
    }

    /// Whether both sides of a call must be seen.
    #[inline]
    pub(crate) fn concern(&self, process: Option<Pid>, call: &InFlight) -> bool {
        let both = process.zip(call.entry.call());
        both.is_some_and(|(process, call)| self.asynchronous.concerns(process, call))
    }

    /// A call that concerns asynchronous I/O was entered.
    #[cold]
    pub(crate) fn entered<S: Store>(&mut self, who: Who, call: &InFlight, delivery: Delivery<'_, '_, S>) {
        self.act(who, delivery, |requests, stop, deliver| {
            requests.entered(stop, call.entry.registers(), deliver);
        });
    }

    #[cold]
    pub(crate) fn returned<S: Store>(
        &mut self,
        who: Who,
        call: &InFlight,
        returned: Returned,
        delivery: Delivery<'_, '_, S>,
    ) {
        self.act(who, delivery, |requests, stop, deliver| {
            requests.returned(stop, call.entry.registers(), returned, deliver);
        });
    }

    /// A thread is about to end; its memory can be read for the last time.
    pub(crate) fn ending<S: Store>(&mut self, who: Who, delivery: Delivery<'_, '_, S>) {
        self.act(who, delivery, |requests, stop, deliver| requests.ending(stop, deliver));
    }

    /// A thread is gone.
    pub(crate) fn thread_ended(&mut self, process: Pid, tid: Tid) {
        self.asynchronous.thread_ended(process, tid);
    }

    /// A process made another one.
    pub(crate) fn forked(&mut self, process: Pid, child: Pid) {
        self.asynchronous.forked(process, child);
    }

    /// A process ended or runs another program: what it asked for and did not see done has no end.
    pub(crate) fn forget<S: Store>(&mut self, process: Pid, emitter: &mut Emitter<'_, S>) {
        self.asynchronous.gone(process, &mut |call| emitter.item(&RawItem::Call(*call)));
    }

    /// The recording is over.
    pub(crate) fn finish<S: Store>(&mut self, emitter: &mut Emitter<'_, S>) {
        self.asynchronous.finish(&mut |call| emitter.item(&RawItem::Call(*call)));
    }

    /// What could not be followed, so far.
    pub(crate) fn tally(&self) -> &iotrail_decode::asynchronous::Tally {
        self.asynchronous.tally()
    }

    fn act<S: Store>(
        &mut self,
        who: Who,
        delivery: Delivery<'_, '_, S>,
        act: impl FnOnce(&mut Asynchronous, &Stop<'_, TraceeMemory>, Deliver<'_>),
    ) {
        let Delivery { names, emitter } = delivery;
        let Who { tid, pid, at } = who;
        let memory = TraceeMemory(tid);
        let look = |fd| {
            let found = proc::look(tid, fd)?;
            Some(HeldFile { name: found.name.target().name.to_vec(), appends: found.append })
        };
        let names = RefCell::new(names);
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
        act(&mut self.asynchronous, &stop, &mut |call| {
            names.borrow_mut().changed_beside(call.call);
            emitter.item(&RawItem::Call(*call));
        });
    }
}
