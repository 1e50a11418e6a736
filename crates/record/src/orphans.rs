//! New threads of which nobody said who made them.
//!
//! A new thread is held at its first stop until its maker reports it. A maker that is killed between the two reports
//! nothing, and its child would be held for ever.

use crate::attach::process_of;
use crate::store::Store;
use crate::tracer::Recording;
use iotrail_model::{Nanos, Pid, Timestamp};

/// How long a new thread waits for somebody to say who made it.
const PATIENCE: Nanos = Nanos(50_000_000);

impl<S: Store> Recording<'_, '_, S> {
    /// A thread may have died while it made another one, which waits in vain for somebody to say who made it.
    #[inline]
    pub(crate) fn look_after_orphans(&mut self, at: Timestamp) {
        if self.threads.has_orphans() && !self.threads.is_any_spawning() {
            self.adopt_orphans(at);
        }
    }

    #[cold]
    fn adopt_orphans(&mut self, at: Timestamp) {
        for tid in self.threads.orphans() {
            let process = process_of(tid).unwrap_or(Pid(tid.0));
            self.find(tid, process, at);
            self.threads.belongs(tid, process);
            // It may have been killed meanwhile; then its end is reported.
            let _ = self.release(tid);
        }
    }

    /// Sees to it that no thread is held for ever: the kernel says nothing of a maker that was killed at the wrong moment.
    pub(crate) fn watch_orphans(&mut self) {
        match (self.threads.has_orphans(), self.orphaned) {
            (false, None) => {}
            (false, Some(_)) => {
                self.orphaned = None;
                self.signals.remind(false);
            }
            (true, None) => {
                self.orphaned = Some(self.clock.now());
                self.signals.remind(true);
            }
            (true, Some(since)) => {
                let now = self.clock.now();
                if now - since > PATIENCE {
                    self.adopt_orphans(now);
                }
            }
        }
    }
}
