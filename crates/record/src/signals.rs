//! Signals that concern the recorder, and stopping and going on with the program.
//!
//! A signal that a process sends to the recorder alone is meant for the program and passed on to the main process. One
//! that is sent to the whole process group reaches the program anyway; the two cases look the same from here, so the recorder
//! keeps a process in its group that takes no signals: what is pending there was sent to the group. A sender that signals
//! each process by itself is known by the same signal of the same sender that the program gets within a moment.
//!
//! When a signal has stopped the program, the recorder stops by the same signal: whoever started it sees its job stop.
//! SIGSTOP to the whole group stops the recorder, too; the canary's keeper continues it when the program needs it.

use iotrail_model::{Nanos, Pid, Timestamp};
use iotrail_ptrace::{Canary, Messenger, Received, Signal, is_stop_signal};

/// How long a signal waits for its twin.
const PATIENCE: Nanos = Nanos(50_000_000);
const SIGCONT: i32 = 18;

/// Signals on their way to the program.
#[derive(Debug)]
pub(crate) struct Signals<'m> {
    pub(crate) messenger: &'m Messenger,
    waiting: Vec<(Received, Timestamp)>,
    /// What the main process got from other processes lately.
    delivered: Vec<(Received, Timestamp)>,
    /// The process that tells what was sent to the group; `None` if there cannot be one.
    canary: Option<Canary>,
    pub(crate) ended: bool,
    /// What is left after the main process was told to end.
    pub(crate) told_to_end: bool,
    /// A signal stopped the whole program, and the recorder shall stop as well.
    pub(crate) stop_due: Option<Signal>,
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
            stop_due: None,
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
    pub(crate) fn was_sent_to_group(&mut self, signal: Signal) -> bool {
        let got = self.canary.as_mut().is_some_and(|canary| canary.got(signal));
        if got {
            // The next one must not find this one pending.
            self.watch_group_anew();
        }
        got
    }

    /// What arrived from others than the keeper of the canary, and whether something came from that.
    pub(crate) fn take(&mut self) -> (Vec<Received>, bool) {
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
    pub(crate) fn continues(&self) -> bool {
        self.waiting.iter().any(|(received, _)| is_continue(received))
    }

    /// Whether the recorder shall stop as the program did.
    #[inline]
    pub(crate) fn is_stop_due(&self) -> bool {
        self.stop_due.is_some()
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
    pub(crate) fn delivers(&mut self, received: Received, at: Timestamp) {
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
    pub(crate) fn arrives(&mut self, received: Received, at: Timestamp) {
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
    pub(crate) fn pass_on(&mut self, main: Pid, now: Timestamp) {
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
