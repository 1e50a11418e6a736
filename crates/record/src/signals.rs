//! Signals that concern the recorder, and stopping and going on with the program.
//!
//! A signal that a process sends to the recorder alone is meant for the program and passed on to the main process. One
//! that is sent to the whole process group reaches the program anyway; the two cases look the same from here, so
//! the recorder waits a moment whether the program gets the same signal from the same sender.

use crate::error::RecordError;
use crate::proc::leads_session;
use crate::store::Store;
use crate::tracer::Recording;
use iotrail_model::{Nanos, Pid, Timestamp};
use iotrail_ptrace::{Messenger, Received, Signal, Stopped, is_stop_signal, stop_self};
use std::io::{self, IsTerminal};

/// How long a signal waits for its twin.
const PATIENCE: Nanos = Nanos(50_000_000);
const SIGHUP: i32 = 1;
const SIGSTOP: i32 = 19;
/// Signals that end an attached recording.
const ENDING: [i32; 4] = [1, 2, 3, 15];

/// Signals on their way to the program.
#[derive(Debug)]
pub(crate) struct Signals<'m> {
    messenger: &'m Messenger,
    waiting: Vec<(Received, Timestamp)>,
    /// What the main process got from other processes lately.
    delivered: Vec<(Received, Timestamp)>,
    ended: bool,
}

impl<'m> Signals<'m> {
    pub(crate) fn new(messenger: &'m Messenger) -> Self {
        Self { messenger, waiting: Vec::new(), delivered: Vec::new(), ended: false }
    }

    /// Whether something is to be done.
    #[inline]
    pub(crate) fn are_due(&self) -> bool {
        self.messenger.is_pending() || !self.waiting.is_empty()
    }

    /// Waits shall be interrupted now and then, or need not be any more.
    pub(crate) fn remind(&self, needed: bool) {
        if needed {
            self.messenger.remind();
        } else if self.waiting.is_empty() {
            self.messenger.quiet();
        }
    }

    /// The main process is gone; nothing is passed on any more.
    pub(crate) fn main_ended(&mut self) {
        self.ended = true;
        self.waiting.clear();
        self.messenger.quiet();
    }

    /// The main process gets a signal from another process.
    fn delivers(&mut self, received: Received, at: Timestamp) {
        self.delivered.retain(|(_, then)| at - *then < PATIENCE);
        match self.waiting.iter().position(|(waiting, _)| *waiting == received) {
            Some(twin) => drop(self.waiting.remove(twin)),
            None => self.delivered.push((received, at)),
        }
    }

    /// A signal arrived for the program.
    fn arrives(&mut self, received: Received, at: Timestamp) {
        self.delivered.retain(|(_, then)| at - *then < PATIENCE);
        match self.delivered.iter().position(|(delivered, _)| *delivered == received) {
            Some(twin) => drop(self.delivered.remove(twin)),
            None => self.waiting.push((received, at)),
        }
    }

    /// Passes on what has waited long enough.
    fn pass_on(&mut self, main: Pid, now: Timestamp) {
        let messenger = self.messenger;
        self.waiting.retain(|(received, since)| {
            let waits = now - *since < PATIENCE;
            if !waits {
                messenger.send(main.0, received.signal);
            }
            waits
        });
        if self.waiting.is_empty() {
            self.messenger.quiet();
        }
    }
}

impl<S: Store> Recording<'_, '_, S> {
    /// Does what signals to the recorder ask for.
    pub(crate) fn pass_signals_on(&mut self) -> Result<(), RecordError> {
        let now = self.clock.now();
        let arrived = self.signals.messenger.take();
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
                if !self.signals.ended {
                    arrived
                        .into_iter()
                        .filter(for_program)
                        .for_each(|received| self.signals.arrives(received, now));
                }
                self.signals.pass_on(main, now);
            }
        }
        Ok(())
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
        // A shell waits for the recorder, not for the program: it must see that its job has stopped.
        let of_a_job = signal.0 != SIGSTOP || io::stdin().is_terminal();
        if of_a_job && self.mode.main.is_some() && self.threads.all_listening() {
            stop_self();
        }
        Ok(())
    }
}
