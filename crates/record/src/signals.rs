//! Signals that concern the recorder, and stopping and going on with the program.
//!
//! A signal that a process sends to the recorder alone is meant for the program and passed on to the main process. One
//! that is sent to the whole process group reaches the program anyway; the two cases look the same from here, so the recorder
//! keeps a process in its group that takes no signals: what is pending there was sent to the group. A sender that signals
//! each process by itself is known by the same signal of the same sender that the program gets within a moment.
//!
//! When a signal has stopped the program, the recorder stops by the same signal: whoever started it sees its job stop.
//! SIGSTOP to the whole group stops the recorder, too; the canary's keeper continues it when the program needs it.

use crate::error::RecordError;
use crate::proc::leads_session;
use crate::store::Store;
use crate::tracer::Recording;
use iotrail_model::{Nanos, Pid, Timestamp};
use iotrail_ptrace::{Canary, Messenger, Received, Signal, Stopped, is_stop_signal, stop_like};
use std::io;

/// How long a signal waits for its twin.
const PATIENCE: Nanos = Nanos(50_000_000);
const SIGHUP: i32 = 1;
const SIGCONT: i32 = 18;
const SIGKILL: Signal = Signal(9);
/// Signals that end an attached recording, and what is left of a program whose main process has ended.
const ENDING: [i32; 4] = [1, 2, 3, 15];

/// Signals on their way to the program.
#[derive(Debug)]
pub(crate) struct Signals<'m> {
    messenger: &'m Messenger,
    waiting: Vec<(Received, Timestamp)>,
    /// What the main process got from other processes lately.
    delivered: Vec<(Received, Timestamp)>,
    /// The process that tells what was sent to the group; `None` if there cannot be one.
    canary: Option<Canary>,
    ended: bool,
    /// What is left after the main process was told to end.
    told_to_end: bool,
}

impl<'m> Signals<'m> {
    pub(crate) fn new(messenger: &'m Messenger) -> Self {
        Self {
            messenger,
            waiting: Vec::new(),
            delivered: Vec::new(),
            canary: None,
            ended: false,
            told_to_end: false,
        }
    }

    /// From now on, or at the latest when it is settled, it is known what was sent to the process group.
    pub(crate) fn watch_group(&mut self) {
        self.canary = Canary::start().ok();
    }

    /// What is sent to the process group does not go unseen any more.
    pub(crate) fn settle(&mut self) {
        if let Some(canary) = &mut self.canary {
            canary.settle();
        }
    }

    /// Another canary takes the place of one that has done its work; the keeper of the old one is there until then.
    fn watch_group_anew(&mut self) {
        let mut canary = Canary::start().ok();
        if let Some(canary) = &mut canary {
            canary.settle();
        }
        self.canary = canary;
    }

    /// Nothing more is passed on.
    pub(crate) fn watch_group_no_more(&mut self) {
        self.canary = None;
    }

    /// Whether a signal was sent to the whole process group.
    fn was_sent_to_group(&mut self, signal: Signal) -> bool {
        let got = self.canary.as_mut().is_some_and(|canary| canary.got(signal));
        if got {
            // The next one must not find this one pending.
            self.watch_group_anew();
        }
        got
    }

    /// What arrived from others than the keeper of the canary, and whether something came from that.
    fn take(&mut self) -> (Vec<Received>, bool) {
        let mut arrived = self.messenger.take();
        if !arrived.iter().any(is_continue) {
            return (arrived, false);
        }
        let Some(canary) = &mut self.canary else { return (arrived, false) };
        let keeper = Some(canary.keeper());
        if canary.is_stopped() {
            // Continued with the recorder alone, it would not notice the next SIGSTOP.
            self.watch_group_anew();
            arrived.extend(self.messenger.take());
        }
        let all = arrived.len();
        arrived.retain(|received| received.sender != keeper);
        let is_kept = arrived.len() < all;
        (arrived, is_kept)
    }

    /// Whether the program is about to be continued.
    fn continues(&self) -> bool {
        self.waiting.iter().any(|(received, _)| is_continue(received))
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
        if is_continue(&received) {
            // It may have been sent long ago, and the one that waits since then.
            if received.sender != Some(std::process::id() as i32) {
                self.take_back(&received);
            }
            return;
        }
        self.delivered.retain(|(_, then)| at - *then < PATIENCE);
        match self.waiting.iter().position(|(waiting, _)| *waiting == received) {
            Some(twin) => drop(self.waiting.remove(twin)),
            None => self.delivered.push((received, at)),
        }
    }

    /// A signal arrived for the program.
    fn arrives(&mut self, received: Received, at: Timestamp) {
        self.take_back(&received);
        self.delivered.retain(|(_, then)| at - *then < PATIENCE);
        match self.delivered.iter().position(|(delivered, _)| *delivered == received) {
            Some(twin) => drop(self.delivered.remove(twin)),
            None => self.waiting.push((received, at)),
        }
    }

    /// SIGCONT takes back what would stop the program and is on its way, and the other way round, as the kernel does.
    fn take_back(&mut self, received: &Received) {
        if is_continue(received) {
            self.waiting.retain(|(waiting, _)| !is_stop_signal(waiting.signal));
        } else if is_stop_signal(received.signal) {
            self.waiting.retain(|(waiting, _)| !is_continue(waiting));
        }
    }

    /// Passes on what has waited long enough.
    fn pass_on(&mut self, main: Pid, now: Timestamp) {
        let due = |(_, since): &mut (Received, Timestamp)| now - *since >= PATIENCE;
        let due: Vec<_> = self.waiting.extract_if(.., due).collect();
        for (received, _) in due {
            if !self.was_sent_to_group(received.signal) {
                self.messenger.send(main.0, received.signal);
            }
        }
        if self.waiting.is_empty() {
            self.messenger.quiet();
        }
    }
}

fn is_continue(received: &Received) -> bool {
    received.signal.0 == SIGCONT
}

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
        self.stop_due = self.mode.main.map(|_| signal);
        Ok(())
    }

    /// Whoever started the recorder waits for it, not for the program, and must see that it has stopped. That the program goes
    /// on, or ends, lets the recorder go on, too.
    #[cold]
    pub(crate) fn stop_too(&mut self) {
        let Some(signal) = self.stop_due.take().filter(|_| self.threads.all_listening()) else { return };
        if self.signals.continues() {
            // Whoever continued the recorder alone means the program, which will be told so.
            return self.stop_due = Some(signal);
        }
        let (tracer, clock, reports) = (&self.tracer, &self.clock, &mut self.reports);
        let messenger = self.signals.messenger;
        let has_reports = || match tracer.wait(false) {
            Ok(Some(report)) => {
                reports.push_back((report, clock.now()));
                true
            }
            _ => messenger.is_pending(),
        };
        let watcher = match stop_like(signal, has_reports) {
            // It is tried again when what was reported has been heard.
            Ok(None) => return self.stop_due = Some(signal),
            Ok(watcher) => watcher,
            Err(_) => return,
        };
        let now = self.clock.now();
        let (mut arrived, is_kept) = self.signals.take();
        // If nobody but the keeper continued it, the program is as stopped as before, and it stops again.
        self.stop_due = (is_kept && arrived.is_empty()).then_some(signal);
        let ended = self.signals.ended;
        arrived.retain(|received| received.sender.is_some() && received.sender != watcher && !ended);
        arrived.into_iter().for_each(|received| self.signals.arrives(received, now));
        self.signals.remind(true);
    }
}
