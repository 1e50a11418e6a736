//! Reports of stops and ends, in the order in which they are heard.

use crate::clock::Clock;
use crate::proc;
use iotrail_model::{Tid, Timestamp};
use iotrail_ptrace::{Report, Tracer};
use std::collections::VecDeque;
use std::io;

/// No child is left to wait for.
const ECHILD: i32 = 10;
/// So many reports of one thread are heard before others are looked for, where it cannot run while they are.
const IN_A_ROW: u32 = 8;

/// What the kernel reports, and what was taken from it and is not heard yet.
pub(crate) struct Reports {
    pub(crate) tracer: Tracer,
    clock: Clock,
    waiting: VecDeque<(Report, Timestamp)>,
    /// Whether there may be children that are not traced.
    pub(crate) foreign_children: bool,
    /// The thread that was heard last, and how many times in a row.
    last: (Option<Tid>, u32),
}

/// Who else may have stopped when one thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nobody: there is one thread.
    None,
    /// Others run on the core of the recorder, so as a rule none of them stops while it listens.
    OnOurCore,
    /// Others run anywhere.
    Anywhere,
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
        Self { tracer, clock, waiting: VecDeque::new(), foreign_children: true, last: (None, 0) }
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
    pub(crate) fn next(&mut self, others: Others) -> io::Result<Next> {
        if let Some((report, at)) = self.waiting.pop_front() {
            return Ok(Next::Report(report, at));
        }
        let first = match self.tracer.wait(true) {
            Ok(report) => report.map(|report| (report, self.clock.now())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Next::Signal),
            Err(error) if error.raw_os_error() == Some(ECHILD) => return Ok(Next::Nobody),
            Err(error) => return Err(error),
        };
        if first.as_ref().is_some_and(|(report, _)| self.is_time_for(others, report.tid())) {
            while self.take() {}
        }
        Ok(first.map_or(Next::Signal, |(report, at)| Next::Report(report, at)))
    }

    /// Whether it is looked now who else has stopped, when `tid` has.
    fn is_time_for(&mut self, others: Others, tid: Tid) -> bool {
        let again = self.last.0 == Some(tid) && self.last.1 < IN_A_ROW;
        self.last = (Some(tid), if again { self.last.1 + 1 } else { 0 });
        match others {
            Others::None => false,
            Others::OnOurCore => !again,
            Others::Anywhere => true,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(others: Others, tids: &[u32]) -> Vec<bool> {
        let mut reports = Reports::new(Tracer::new(), Clock::start());
        tids.iter().map(|tid| reports.is_time_for(others, Tid(*tid))).collect()
    }

    #[test]
    fn a_busy_thread_on_our_core_makes_nobody_wait_for_long() {
        let mut expected = [false; 20];
        for look in [0, 9, 18] {
            expected[look] = true;
        }
        assert_eq!(looks(Others::OnOurCore, &[7; 20]), expected);
        assert_eq!(looks(Others::OnOurCore, &[7, 8, 8, 7]), [true, true, false, true]);
    }

    #[test]
    fn threads_on_other_cores_are_looked_for_each_time_and_one_alone_never() {
        assert_eq!(looks(Others::Anywhere, &[7, 7, 8]), [true; 3]);
        assert_eq!(looks(Others::None, &[7, 7, 8]), [false; 3]);
    }
}
