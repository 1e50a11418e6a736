//! Processes that are joined: their threads are held until all of them have stopped.

use iotrail_model::{Pid, Tid};

/// Processes whose threads are held until all of them have stopped, and whether threads are let go instead.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    groups: Vec<(Pid, Vec<Tid>)>,
    /// Threads are let go wherever they stop.
    pub(crate) detaching: bool,
}

impl Gathering {
    /// The threads of a process are held from now on.
    pub(crate) fn begin(&mut self, process: Pid, tids: Vec<Tid>) {
        self.groups.push((process, tids));
    }

    /// Whether a thread is to be held.
    #[inline]
    pub(crate) fn waits_for(&self, tid: Tid) -> bool {
        self.groups.iter().any(|(_, tids)| tids.contains(&tid))
    }

    /// Whether a process was not told about yet.
    pub(crate) fn has(&self, process: Pid) -> bool {
        self.groups.iter().any(|(joined, _)| *joined == process)
    }

    /// A thread ended instead.
    pub(crate) fn forget(&mut self, tid: Tid) {
        for (_, tids) in &mut self.groups {
            tids.retain(|other| *other != tid);
        }
    }

    /// Nobody is waited for any more.
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
    }

    /// Takes a process whose threads are all held.
    pub(crate) fn take_complete(&mut self, all_held: impl Fn(&[Tid]) -> bool) -> Option<(Pid, Vec<Tid>)> {
        let index = self.groups.iter().rposition(|(_, tids)| all_held(tids))?;
        Some(self.groups.swap_remove(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_complete_when_those_of_its_threads_that_still_live_are_held() {
        let mut gathering = Gathering::default();
        gathering.begin(Pid(1), vec![Tid(1), Tid(2), Tid(3)]);
        gathering.begin(Pid(9), vec![Tid(9)]);
        let held = |held: &'static [u32]| move |tids: &[Tid]| tids.iter().all(|tid| held.contains(&tid.0));
        assert!(gathering.waits_for(Tid(3)) && !gathering.waits_for(Tid(4)));
        assert_eq!(gathering.take_complete(held(&[1, 2])), None);
        gathering.forget(Tid(3));
        assert_eq!(gathering.take_complete(held(&[1, 2])), Some((Pid(1), vec![Tid(1), Tid(2)])));
        assert!(gathering.waits_for(Tid(9)) && !gathering.waits_for(Tid(1)));
        assert!(gathering.has(Pid(9)) && !gathering.has(Pid(1)));
    }
}
