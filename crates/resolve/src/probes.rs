//! What a tracer found behind descriptors that calls are about to return.

use iotrail_model::{FileFacts, Tid};

/// Findings that wait for the return of their calls.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    waiting: Vec<(Tid, i32, FileFacts)>,
}

impl Probes {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// This was found behind a descriptor that a call of the thread is about to return.
    pub(crate) fn push(&mut self, tid: Tid, fd: i32, facts: FileFacts) {
        self.waiting.push((tid, fd, facts));
    }

    /// What was found for a thread behind some descriptors may be of something else.
    pub(crate) fn forget(&mut self, tid: Tid, fds: &[i32]) {
        self.waiting.retain(|(of, fd, _)| *of != tid || !fds.contains(fd));
    }

    /// What was found behind a descriptor.
    pub(crate) fn get(&self, tid: Tid, fd: i32) -> Option<FileFacts> {
        self.waiting.iter().find(|(of, other, _)| (*of, *other) == (tid, fd)).map(|(_, _, facts)| *facts)
    }

    /// Takes what was found for a thread, whose call has returned.
    pub(crate) fn take(&mut self, tid: Tid) -> Vec<(i32, FileFacts)> {
        let taken = self.waiting.extract_if(.., |(of, _, _)| *of == tid);
        taken.map(|(_, fd, facts)| (fd, facts)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_for_one_thread_is_not_taken_by_another() {
        let mut probes = Probes::default();
        for (tid, fd, inode) in [(1, 3, 10), (2, 3, 20), (1, 4, 30)] {
            probes.push(Tid(tid), fd, FileFacts { device: 1, inode, size: None, kind: None, birth: None });
        }
        assert_eq!(probes.get(Tid(2), 3).map(|facts| facts.inode), Some(20));
        let taken = probes.take(Tid(1));
        assert_eq!(
            taken.iter().map(|(fd, facts)| (*fd, facts.inode)).collect::<Vec<_>>(),
            [(3, 10), (4, 30)]
        );
        assert!(probes.get(Tid(1), 3).is_none() && !probes.is_empty());
    }
}
