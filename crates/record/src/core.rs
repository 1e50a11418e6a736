//! One core for program and recorder.
//!
//! A stop costs two switches between program and tracer. On one core they hand it over to each other; on two, each wakes
//! the other up through an interrupt, which costs several times as much, above all on virtual machines.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;

/// Binds the calling thread, and what it starts, to the core that it runs on; gives it back when dropped.
#[derive(Debug)]
pub(crate) struct OneCore {
    before: CpuSet,
}

impl OneCore {
    pub(crate) fn bind() -> io::Result<Self> {
        let before = sched_getaffinity(None)?;
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        sched_setaffinity(None, &one)?;
        Ok(Self { before })
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        // What was allowed before is allowed again, unless an administrator took cores away meanwhile.
        let _ = sched_setaffinity(None, &self.before);
    }
}
