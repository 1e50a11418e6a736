//! The loop itself: hears what is reported and hands each stop to those whom it concerns.

use crate::error::RecordError;
use crate::orphans::Due;
use crate::recording::{Recording, is_gone};
use crate::reports::{Next, Others};
use crate::store::Store;
use iotrail_model::Timestamp;
use iotrail_model::recording_coverage::count;
use iotrail_ptrace::{Phase, Report, Stopped, Why};
use std::io;

/// The request is unknown to the kernel.
const EIO: i32 = 5;

impl<S: Store> Recording<'_, '_, S> {
    /// Traces until nothing is left to trace.
    pub(crate) fn run(&mut self) -> Result<(), RecordError> {
        loop {
            if self.signals.are_due() {
                self.pass_signals_on()?;
            }
            self.watch_orphans();
            if self.signals.is_stop_due() && self.reports.is_empty() {
                self.stop_too();
            }
            if self.threads.len() == 0 && self.reports.is_empty() {
                self.signals.watch_group_no_more();
                if self.reports.are_over()? {
                    break;
                }
            }
            match self.reports.next(self.others())? {
                Next::Report(report, at) => self.receive(report, at)?,
                Next::Signal => self.cores.look(self.clock.now(), self.tally.calls, None, &self.threads),
                Next::Nobody => break,
            }
        }
        self.requests.finish(&mut self.emitter);
        self.emitter.finish();
        Ok(())
    }

    /// Who else may stop when one thread has.
    fn others(&self) -> Others {
        match self.threads.len() {
            0 | 1 => Others::None,
            _ if self.cores.is_shared() => Others::OnOurCore,
            _ => Others::Anywhere,
        }
    }

    fn receive(&mut self, report: Report, at: Timestamp) -> Result<(), RecordError> {
        let tid = report.tid();
        self.report(report, at)?;
        if self.tally.is_statement_due() {
            self.state();
        }
        self.cores.look(at, self.tally.calls, Some(tid), &self.threads);
        Ok(())
    }

    /// Says what can be said so far: a recorder that is killed says nothing more.
    #[cold]
    fn state(&mut self) {
        let coverage = self.coverage();
        self.emitter.filter.state(&coverage);
    }

    fn watch_orphans(&mut self) {
        match self.orphans.watch(self.threads.has_orphans(), || self.clock.now()) {
            Due::Nothing => {}
            Due::Remind(needed) => self.signals.remind(needed),
            Due::Release(now) => self.release_orphans(now),
        }
    }

    fn report(&mut self, report: Report, at: Timestamp) -> Result<(), RecordError> {
        match report {
            Report::Ended(tid, ending) => {
                self.ended(tid, ending, at);
                Ok(())
            }
            Report::Stopped(stop) => {
                self.tally.stops += 1;
                match self.stopped(stop, at) {
                    Err(error) if is_gone(&error) => Ok(()),
                    Err(error) if error.raw_os_error() == Some(EIO) => Err(RecordError::KernelTooOld),
                    Err(error) => {
                        count(&mut self.tally.troubles, &error.to_string(), 1);
                        Ok(())
                    }
                    Ok(()) => Ok(()),
                }
            }
        }
    }

    pub(crate) fn stopped(&mut self, stop: Stopped, at: Timestamp) -> io::Result<()> {
        let tid = stop.tid();
        let thread = self.threads.entry(tid);
        if thread.process.is_none() {
            // A new thread may speak when it is known who made it.
            thread.held = Some(stop);
            return Ok(());
        }
        if self.gathering.detaching {
            return self.let_go(stop, at);
        }
        self.hear_mpi(tid, at);
        match stop.why() {
            Why::Selected => {
                let info = stop.call()?;
                if !info.ours {
                    match stop.refuse_call() {
                        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                        other => other?,
                    }
                }
                self.enters(stop, &info, at)
            }
            Why::Call => {
                let info = stop.call()?;
                match info.phase {
                    Phase::Entry { .. } => self.enters(stop, &info, at),
                    Phase::Exit { value, failed } => self.leaves(stop, &info, value, failed, at),
                    Phase::None => self.go_on(stop, None),
                }
            }
            Why::Created => self.created(stop, at),
            Why::Exec => self.executes(stop, at),
            Why::Exiting => self.exits(stop, at),
            Why::Signal(signal) => self.gets_signal(stop, signal, at),
            Why::Group(signal) => self.stops(stop, signal),
            Why::Trap => self.trapped(stop),
            Why::Other(_) => self.go_on(stop, None),
        }
    }

    /// A thread stopped because it was asked to, is new, or goes on after a group stop.
    fn trapped(&mut self, stop: Stopped) -> io::Result<()> {
        let tid = stop.tid();
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.listening = false;
        }
        match self.gather(stop) {
            Ok(result) => result,
            Err(stop) => self.go_on(stop, None),
        }
    }
}
