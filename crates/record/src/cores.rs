//! On which cores recorder and program run, as the loop sees it: nothing happens unless the recorder chooses.

use crate::placement::Placed;
use crate::selection::Cores;
use crate::threads::Threads;
use iotrail_model::{Tid, Timestamp};

/// Where everything runs, if the recorder chooses.
#[derive(Debug, Default)]
pub(crate) struct CorePlacement {
    placed: Option<Placed>,
}

impl CorePlacement {
    /// The recorder chooses from now on.
    pub(crate) fn begin(&mut self, placed: Placed) {
        self.placed = Some(placed);
    }

    /// It chooses no more.
    pub(crate) fn end(&mut self) {
        self.placed = None;
    }

    /// Whether the recorder chooses.
    #[inline]
    pub(crate) fn is_chosen(&self) -> bool {
        self.placed.is_some()
    }

    /// Whether recorder and program are bound to one core.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.placed.as_ref().is_some_and(Placed::is_shared)
    }

    /// Whether calls about cores must be seen.
    pub(crate) fn concerns_calls(&self) -> bool {
        self.placed.as_ref().is_some_and(Placed::concerns_calls)
    }

    /// Looks now and then whether recorder and program are in the right place.
    #[inline]
    pub(crate) fn look(&mut self, now: Timestamp, calls: u64, stopped: Option<Tid>, threads: &Threads) {
        if self.placed.as_ref().is_some_and(|placed| placed.is_due(now)) {
            self.look_now(now, calls, stopped, threads);
        }
    }

    #[cold]
    fn look_now(&mut self, now: Timestamp, calls: u64, stopped: Option<Tid>, threads: &Threads) {
        if let Some(placed) = &mut self.placed {
            placed.look(now, calls, stopped, &threads.ids());
        }
    }

    /// A thread is about to ask for cores or to choose some.
    #[cold]
    pub(crate) fn asks(&mut self, tid: Tid, cores: Cores, threads: &mut Threads) {
        let tids = threads.ids();
        if let (Some(placed), Some(thread)) = (&self.placed, threads.get_mut(tid)) {
            placed.asks(&tids);
            thread.cores = Some(cores);
        }
    }

    /// It was answered.
    #[cold]
    pub(crate) fn got(&mut self, tid: Tid, cores: Cores, failed: bool, threads: &Threads) {
        match &mut self.placed {
            Some(placed) if cores == Cores::Chosen && !failed => placed.settles(&threads.ids(), tid),
            Some(placed) => placed.was_answered(&threads.ids()),
            None => {}
        }
    }

    /// A program that reads of itself in `/proc` which cores it has shall read the truth.
    #[cold]
    pub(crate) fn status_is_read(&mut self, threads: &Threads) {
        if let Some(placed) = &mut self.placed {
            placed.settles(&threads.ids(), Tid(0));
        }
    }

    /// A thread was made.
    pub(crate) fn made(&mut self, tid: Tid) {
        if let Some(placed) = &mut self.placed {
            placed.made(tid);
        }
    }

    /// A thread is about to end.
    pub(crate) fn ends(&mut self, tid: Tid) {
        if let Some(placed) = &mut self.placed {
            placed.ends(tid);
        }
    }

    /// A thread is left running.
    pub(crate) fn leaves(&self, tid: Tid) {
        if let Some(placed) = &self.placed {
            placed.leaves(tid);
        }
    }
}
