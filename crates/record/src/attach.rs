//! Joining running processes, and leaving them running.

use crate::error::RecordError;
use crate::proc;
use crate::recording::Recording;
use crate::store::Store;
use iotrail_model::{Pid, Tid, Timestamp};
use iotrail_ptrace::{Options, Stopped, Why};
use std::io;

/// How often the threads of a process are listed until no new ones are found.
const LISTINGS: usize = 1000;

impl<S: Store> Recording<'_, '_, S> {
    /// Joins a running process with all its threads. They are held until all of them have stopped, so that what is found
    /// in `/proc` is the state of one moment.
    pub(crate) fn attach(&mut self, pid: u32) -> Result<(), RecordError> {
        let attach = |error| RecordError::Attach { pid, error };
        let process = proc::process_of(Tid(pid))
            .ok_or_else(|| attach(io::Error::new(io::ErrorKind::NotFound, "there is no such process")))?;
        let mut joined: Vec<Tid> = Vec::new();
        // A thread that is made meanwhile is found by the next listing, or is traced already with the one that made it.
        for _ in 0..LISTINGS {
            let news: Vec<Tid> = threads_of(process)
                .map_err(attach)?
                .into_iter()
                .filter(|tid| !joined.contains(tid))
                .collect();
            if news.is_empty() {
                break;
            }
            for tid in news {
                match self.reports.tracer.seize(tid, Options::default()) {
                    Ok(()) => {}
                    Err(error) if is_own(&error, tid) => {}
                    // It ended between the listing and now.
                    Err(error) if crate::recording::is_gone(&error) && !joined.is_empty() => {}
                    Err(error) => return Err(attach(error)),
                }
                joined.push(tid);
            }
        }
        for tid in &joined {
            self.threads.belongs(*tid, process);
            // It may have ended; then its end is reported.
            let _ = self.reports.tracer.interrupt(*tid);
        }
        self.gathering.begin(process, joined);
        Ok(())
    }

    /// Processes that were attached to and whose threads have all stopped are told about and go on.
    fn gathered(&mut self) -> io::Result<()> {
        while let Some((process, tids)) = self.gathering.take_complete(|tids| self.threads.all_held(tids)) {
            let now = self.clock.now();
            self.accounts.joins(process);
            self.find(Tid(process.0), process, now);
            for tid in tids {
                match self.threads.get_mut(tid).and_then(|thread| thread.held.take()) {
                    Some(stop) if matches!(stop.why(), Why::Group(_)) => self.stays(stop)?,
                    Some(stop) => self.go_on(stop, None)?,
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Holds a thread if others of its process are waited for.
    pub(crate) fn gather(&mut self, stop: Stopped) -> Result<io::Result<()>, Stopped> {
        let tid = stop.tid();
        if !self.gathering.waits_for(tid) {
            return Err(stop);
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.held = Some(stop);
        }
        Ok(self.gathered())
    }

    /// A thread that was to be gathered ended instead: it may be the one that the others waited for.
    pub(crate) fn gather_without(&mut self, tid: Tid) {
        self.gathering.forget(tid);
        let _ = self.gathered();
    }

    /// Leaves every process that is still traced.
    pub(crate) fn detach_all(&mut self) {
        if std::mem::replace(&mut self.gathering.detaching, true) {
            return;
        }
        self.tally.left_running += self.threads.processes() as u64;
        self.gathering.clear();
        let now = self.clock.now();
        self.tally.left_at = Some(now).filter(|_| self.tally.left_running > 0);
        for tid in self.threads.ids() {
            match self.threads.get_mut(tid).and_then(|thread| thread.held.take()) {
                Some(stop) => drop(self.let_go(stop, now)),
                // It may have ended; then its end is reported.
                None => drop(self.reports.tracer.interrupt(tid)),
            }
        }
    }

    /// A thread stopped while everything is let go: it is free wherever it is.
    pub(crate) fn let_go(&mut self, stop: Stopped, _at: Timestamp) -> io::Result<()> {
        let tid = stop.tid();
        match stop.why() {
            Why::Created => {
                let child = Tid(stop.message()? as u32);
                let process = proc::process_of(child).unwrap_or(Pid(child.0));
                self.threads.belongs(child, process);
                if let Some(held) = self.threads.get_mut(child).and_then(|thread| thread.held.take()) {
                    self.free(child);
                    held.detach(None)?;
                }
            }
            // Its end is reported to its parent when it is free.
            Why::Exiting => {}
            Why::Exec => {
                let former = Tid(stop.message()? as u32);
                if former != tid {
                    self.free(former);
                }
            }
            _ => {}
        }
        let signal = match stop.why() {
            Why::Signal(signal) => Some(signal),
            _ => None,
        };
        self.free(tid);
        self.cores.leaves(tid);
        stop.detach(signal)
    }

    fn free(&mut self, tid: Tid) {
        self.abandon(tid);
        self.threads.retires(tid);
        self.threads.remove(tid);
    }
}

/// Whether a thread cannot be seized because it is traced by this thread already.
fn is_own(error: &io::Error, tid: Tid) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
        && proc::tracer_of(tid) == Some(rustix::thread::gettid().as_raw_nonzero().get() as u32)
}

fn threads_of(process: Pid) -> io::Result<Vec<Tid>> {
    let mut tids: Vec<Tid> = std::fs::read_dir(format!("/proc/{process}/task"))?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .map(Tid)
        .collect();
    tids.sort_unstable();
    Ok(tids)
}
