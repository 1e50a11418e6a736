//! Where streams wait for each other.

use crate::engine::{NAP, Opened};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

/// The groups and events of an execution.
pub(crate) struct Meetings {
    pub(crate) groups: Vec<Meeting>,
    pub(crate) events: Vec<Event>,
}

impl Meetings {
    /// Returns when all streams of the group have come, or soon after `cancel` is set.
    pub(crate) fn wait_for_group(&self, group: usize, cancel: &AtomicBool) {
        if let Some(meeting) = self.groups.get(group) {
            meeting.wait(cancel);
        }
    }

    /// Sets an event, with a descriptor for those who wait.
    pub(crate) fn set(&self, event: usize, file: Option<Arc<Opened>>) {
        if let Some(event) = self.events.get(event) {
            event.set(file);
        }
    }

    /// Returns what came with the event when it is set, or soon after `cancel` is.
    pub(crate) fn wait_for_event(&self, event: usize, cancel: &AtomicBool) -> Option<Arc<Opened>> {
        self.events.get(event)?.wait(cancel)
    }
}

/// Where the streams of a group wait for each other, as often as they come to it.
pub(crate) struct Meeting {
    size: usize,
    /// Streams that wait, and how often all have come.
    here: Mutex<(usize, u64)>,
    all: Condvar,
}

impl Meeting {
    pub(crate) fn of(size: usize) -> Self {
        Self { size, here: Mutex::new((0, 0)), all: Condvar::new() }
    }

    fn wait(&self, cancel: &AtomicBool) {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        here.0 += 1;
        if here.0 == self.size {
            *here = (0, here.1 + 1);
            self.all.notify_all();
            return;
        }
        let round = here.1;
        while here.1 == round && !cancel.load(Ordering::Relaxed) {
            here = self.all.wait_timeout(here, NAP).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Something that happens once, and for which any number of streams wait.
#[derive(Default)]
pub(crate) struct Event {
    /// Set when it happens; it is asked without the lock first.
    came: OnceLock<Option<Arc<Opened>>>,
    lock: Mutex<()>,
    happened: Condvar,
}

impl Event {
    fn set(&self, file: Option<Arc<Opened>>) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // A checked program sets it once.
        let _ = self.came.set(file);
        self.happened.notify_all();
    }

    fn wait(&self, cancel: &AtomicBool) -> Option<Arc<Opened>> {
        if let Some(came) = self.came.get() {
            return came.clone();
        }
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.came.get().is_none() && !cancel.load(Ordering::Relaxed) {
            held = self.happened.wait_timeout(held, NAP).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.came.get().cloned().flatten()
    }
}
