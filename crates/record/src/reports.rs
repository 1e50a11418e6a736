//! Reports of stops and ends, in the order in which they are heard.

use crate::clock::Clock;
use crate::proc;
use iotrail_model::Timestamp;
use iotrail_ptrace::{Report, Tracer};
use std::collections::VecDeque;
use std::io;

/// No child is left to wait for.
const ECHILD: i32 = 10;

/// What the kernel reports, and what was taken from it and is not heard yet.
pub(crate) struct Reports {
    pub(crate) tracer: Tracer,
    clock: Clock,
    waiting: VecDeque<(Report, Timestamp)>,
    /// Whether there may be children that are not traced.
    pub(crate) foreign_children: bool,
}

/// What comes next.
pub(crate) enum Next {
    Report(Report, Timestamp),
    /// A signal came instead.
    Signal,
    /// There is no child left.
    Nobody,
}

impl Reports {
    pub(crate) fn new(tracer: Tracer, clock: Clock) -> Self {
        Self { tracer, clock, waiting: VecDeque::new(), foreign_children: true }
    }

    /// Whether nothing that was taken waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waits for the next report.
    ///
    /// With several threads all that have stopped are taken at once: the kernel offers them in the order of their
    /// age, and a busy old one would let the others wait for ever.
    pub(crate) fn next(&mut self, several: bool) -> io::Result<Next> {
        if let Some((report, at)) = self.waiting.pop_front() {
            return Ok(Next::Report(report, at));
        }
        let first = match self.tracer.wait(true) {
            Ok(report) => report.map(|report| (report, self.clock.now())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Next::Signal),
            Err(error) if error.raw_os_error() == Some(ECHILD) => return Ok(Next::Nobody),
            Err(error) => return Err(error),
        };
        if several {
            while self.take() {}
        }
        Ok(first.map_or(Next::Signal, |(report, at)| Next::Report(report, at)))
    }

    /// Takes a report without waiting; whether there was one.
    pub(crate) fn take(&mut self) -> bool {
        let Ok(Some(report)) = self.tracer.wait(false) else { return false };
        self.waiting.push_back((report, self.clock.now()));
        true
    }

    /// Whether no traced thread is left. One of which nothing is known, because its maker was killed in the making, shows up
    /// sooner or later; children that are not traced must not be waited for.
    #[cold]
    pub(crate) fn are_over(&mut self) -> io::Result<bool> {
        match self.tracer.wait(false) {
            Ok(Some(report)) => {
                self.waiting.push_back((report, self.clock.now()));
                Ok(false)
            }
            Ok(None) => Ok(self.foreign_children && !proc::is_tracing()),
            Err(error) if error.raw_os_error() == Some(ECHILD) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }
}
