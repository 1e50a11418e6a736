//! What signals mean for the program and the recorder: passing them on, stopping and going on together.

use crate::error::RecordError;
use crate::proc::leads_session;
use crate::recording::Recording;
use crate::store::Store;
use iotrail_model::Timestamp;
use iotrail_ptrace::{Received, Signal, Stopped, is_stop_signal, stop_like};
use std::io;

const SIGHUP: i32 = 1;
const SIGKILL: Signal = Signal(9);
/// Signals that end an attached recording, and what is left of a program whose main process has ended.
const ENDING: [i32; 4] = [1, 2, 3, 15];

impl<S: Store> Recording<'_, '_, S> {
    /// Does what signals to the recorder ask for.
    pub(crate) fn pass_signals_on(&mut self) -> Result<(), RecordError> {
        let now = self.clock.now();
        let (arrived, _) = self.signals.take();
        match self.mode.main {
            None if arrived.iter().any(|received| ENDING.contains(&received.signal.0)) => {
                self.signals.messenger.quiet();
                self.detach_all();
            }
            None => self.signals.messenger.quiet(),
            Some(main) => {
                // The kernel tells the leader of a session alone that the terminal is gone.
                let leads = leads_session();
                let for_program =
                    |received: &Received| received.sender.is_some() || (leads && received.signal.0 == SIGHUP);
                if self.signals.ended {
                    arrived.iter().for_each(|received| self.ends_what_is_left(*received));
                    self.signals.messenger.quiet();
                } else {
                    arrived
                        .into_iter()
                        .filter(for_program)
                        .for_each(|received| self.signals.arrives(received, now));
                    self.signals.pass_on(main, now);
                }
            }
        }
        Ok(())
    }

    /// The main process has ended, and the recorder waits for the others: a signal that shall end the recorder is for them.
    /// Those of its own process group that the terminal or a sender has reached already are spared; a second signal kills.
    fn ends_what_is_left(&mut self, received: Received) {
        if !ENDING.contains(&received.signal.0) {
            return;
        }
        let reached = received.sender.is_none() || self.signals.was_sent_to_group(received.signal);
        let group = |pid: Option<rustix::process::Pid>| rustix::process::getpgid(pid).ok();
        let own = group(None);
        let kills = std::mem::replace(&mut self.signals.told_to_end, true);
        for process in self.threads.all_processes() {
            let pid = i32::try_from(process.0).ok().and_then(rustix::process::Pid::from_raw);
            if kills {
                self.signals.messenger.send(process.0, SIGKILL);
            } else if pid.is_some() && !(reached && group(pid) == own) {
                self.signals.messenger.send(process.0, received.signal);
            }
        }
    }

    /// A signal is about to be delivered to a thread.
    pub(crate) fn gets_signal(&mut self, stop: Stopped, signal: Signal, at: Timestamp) -> io::Result<()> {
        let process = self.threads.get(stop.tid()).and_then(|thread| thread.process);
        if process.is_some() && process == self.mode.main {
            let info = stop.signal_info()?;
            if info.code <= 0 {
                self.signals.delivers(Received { signal, sender: Some(info.sender) }, at);
            }
        }
        self.go_on(stop, Some(signal))
    }

    /// Leaves a thread in its group stop.
    pub(crate) fn stays(&mut self, stop: Stopped) -> io::Result<()> {
        if let Some(thread) = self.threads.get_mut(stop.tid()) {
            thread.listening = true;
        }
        stop.listen()
    }

    /// A signal stopped the process of this thread.
    pub(crate) fn stops(&mut self, stop: Stopped, signal: Signal) -> io::Result<()> {
        if !is_stop_signal(signal) {
            return self.go_on(stop, None);
        }
        match self.gather(stop) {
            Ok(result) => return result,
            Err(stop) => self.stays(stop)?,
        }
        self.signals.stop_due = self.mode.main.map(|_| signal);
        Ok(())
    }

    /// Whoever started the recorder waits for it, not for the program, and must see that it has stopped. That the program goes
    /// on, or ends, lets the recorder go on, too.
    #[cold]
    pub(crate) fn stop_too(&mut self) {
        let Some(signal) = self.signals.stop_due.take().filter(|_| self.threads.all_listening()) else {
            return;
        };
        if self.signals.continues() {
            // Whoever continued the recorder alone means the program, which will be told so.
            return self.signals.stop_due = Some(signal);
        }
        let (reports, messenger) = (&mut self.reports, self.signals.messenger);
        let has_reports = || reports.take() || messenger.is_pending();
        let watcher = match stop_like(signal, has_reports) {
            // It is tried again when what was reported has been heard.
            Ok(None) => return self.signals.stop_due = Some(signal),
            Ok(watcher) => watcher,
            Err(_) => return,
        };
        let now = self.clock.now();
        let (mut arrived, is_kept) = self.signals.take();
        // If nobody but the keeper continued it, the program is as stopped as before, and it stops again.
        self.signals.stop_due = (is_kept && arrived.is_empty()).then_some(signal);
        let ended = self.signals.ended;
        arrived.retain(|received| received.sender.is_some() && received.sender != watcher && !ended);
        arrived.into_iter().for_each(|received| self.signals.arrives(received, now));
        self.signals.remind(true);
    }
}
