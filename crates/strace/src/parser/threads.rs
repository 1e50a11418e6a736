//! Which thread a line belongs to.
//!
//! Written to a terminal, strace names the thread of a line only while it follows more than one. The process it
//! started is anonymous until a second one appears, and whoever is left at the end is anonymous again. The first one
//! keeps the id 0 throughout, so that it stays one thread; the last one is found by who has ended.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::Tid;
use std::sync::Arc;

/// The thread that strace started and did not name.
const ANONYMOUS: Tid = Tid(0);

/// The threads of one trace, as far as lines without a thread make it necessary to know them.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The thread of all lines that name none.
    default: Option<Tid>,
    /// The threads that are followed beside that one.
    set: Arc<[Tid]>,
    /// Lines without a thread were seen, and nobody said whose.
    anonymous: bool,
    /// The id that the anonymous first thread turned out to have.
    first: Option<Tid>,
    first_ended: bool,
    others: HashSet<u32, RandomState>,
    comms: HashMap<u32, Vec<u8>, RandomState>,
}

impl Threads {
    pub(super) fn new(default: Option<Tid>, set: Arc<[Tid]>) -> Self {
        Self { default, set, ..Self::default() }
    }

    /// The thread of a line; `about` says what the anonymous thread began, should an unknown one speak.
    #[inline]
    pub(super) fn of(&mut self, printed: Option<Tid>, about: impl FnOnce() -> Began) -> Tid {
        match printed {
            Some(tid) if !self.anonymous => tid,
            Some(tid) => self.recognise(tid, about),
            None => self.default.unwrap_or_else(|| self.unnamed()),
        }
    }

    /// The thread that is printed as this one, as far as is known.
    pub(super) fn named(&self, printed: Tid) -> Tid {
        if self.first == Some(printed) { ANONYMOUS } else { printed }
    }

    /// The thread of lines that name none, if somebody said whose they are.
    pub(super) fn of_unnamed(&self) -> Option<Tid> {
        self.default
    }

    fn unnamed(&mut self) -> Tid {
        self.anonymous = true;
        match self.others.iter().next() {
            Some(&last) if self.first_ended && self.others.len() == 1 => Tid(last),
            _ => ANONYMOUS,
        }
    }

    fn recognise(&mut self, tid: Tid, about: impl FnOnce() -> Began) -> Tid {
        if self.first == Some(tid) {
            return ANONYMOUS;
        }
        if self.first.is_none() && !self.others.contains(&tid.0) && about() != Began::Process {
            self.first = Some(tid);
            return ANONYMOUS;
        }
        self.others.insert(tid.0);
        tid
    }

    /// strace said that it follows a new thread, or a call returned its id, if it did.
    #[inline]
    pub(super) fn appeared(&mut self, tid: Option<u32>) {
        if let Some(tid) = tid
            && self.anonymous
            && self.first != Some(Tid(tid))
        {
            self.others.insert(tid);
        }
    }

    /// Whether what a new thread does is in the trace. Lines without a thread are those of a strace that follows one
    /// process, unless it said that it follows the new one.
    pub(super) fn are_followed(&self, child: Option<u32>) -> bool {
        let Some(child) = child else { return true };
        match self.default {
            Some(_) => self.set.binary_search(&Tid(child)).is_ok(),
            None => !self.anonymous || self.others.contains(&child),
        }
    }

    /// A thread ended.
    pub(super) fn ended(&mut self, tid: Tid) {
        self.comms.remove(&tid.0);
        if self.anonymous {
            self.first_ended |= tid == ANONYMOUS;
            self.others.remove(&tid.0);
        }
    }

    /// Whether the name of the thread's command is a new one.
    pub(super) fn is_renamed(&mut self, tid: Tid, comm: &[u8]) -> bool {
        let known = self.comms.entry(tid.0).or_default();
        let renamed = known != comm;
        if renamed {
            known.clear();
            known.extend_from_slice(comm);
        }
        renamed
    }
}

/// What the anonymous thread began, when an unknown thread speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Began {
    /// A call that makes a process, and the unknown thread does not continue it: it may be that process.
    Process,
    Other,
}
