//! Signals that reach the tracer while the program runs.
//!
//! The terminal sends Ctrl-C, Ctrl-\ and Ctrl-Z to program and tracer alike: they are the program's. What another process
//! sends to the tracer alone is meant for the program, too, and the tracer passes it on. So the tracer must survive
//! all of them and know who sent them.
//!
//! A tracer sleeps in `wait4`, which takes no signal mask, so a signal that arrives just before it would be noticed
//! too late. A timer therefore rings every few milliseconds from the arrival until [`Messenger::quiet`].

use crate::status::Signal;
use iotrail_kernel::{block_all, set_mask};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

/// Signals that are received and passed on.
const RECEIVED: [i32; 10] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGCONT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];
/// How often the bell rings, in microseconds.
const RING: i64 = 10_000;
const SIGNALS: usize = 65;
/// In [`ARRIVED`]: sent by the kernel.
const BY_KERNEL: i32 = -1;

static TRACER: AtomicI32 = AtomicI32::new(0);
/// Handlers that are at work, in whatever thread.
static HANDLING: AtomicI32 = AtomicI32::new(0);
static PENDING: AtomicBool = AtomicBool::new(false);
/// How often the bell rings when nothing has arrived, in microseconds; 0: never.
static REST: AtomicI64 = AtomicI64::new(0);
/// By signal: 0, [`BY_KERNEL`], or the process that sent it.
static ARRIVED: [AtomicI32; SIGNALS] = [const { AtomicI32::new(0) }; SIGNALS];

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The signal that arrived.
    pub signal: Signal,
    /// The process that sent it; `None` if the kernel did (the terminal, a hang-up).
    pub sender: Option<i32>,
}

/// Receives signals for the calling thread, until it is dropped. A process can have one.
#[derive(Debug)]
pub struct Messenger {
    originals: Originals,
    /// Signals that were ignored and are received all the same.
    were_ignored: Vec<i32>,
}

/// Which signals a [`Messenger`] receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Those that are not ignored: the program ignores them, too.
    Heeded,
    /// All. A shell without job control lets commands in the background ignore SIGINT, which must not end them when the
    /// terminal sends it; what another process sends is meant.
    All,
}

/// How signals were treated before.
#[derive(Clone)]
pub(crate) struct Originals {
    pub(crate) actions: Vec<(i32, libc::sigaction)>,
    pub(crate) mask: libc::sigset_t,
}

impl std::fmt::Debug for Originals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.actions.iter().map(|(signal, _)| signal)).finish()
    }
}

impl Messenger {
    /// Receives signals that end or stop processes and that can be received, SIGCONT, SIGUSR1 and SIGUSR2 from now on.
    ///
    /// # Errors
    /// There is one already.
    pub fn install(takes: Takes) -> io::Result<Self> {
        // SAFETY: takes and changes nothing.
        let own = unsafe { libc::gettid() };
        if TRACER.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "this process records already"));
        }
        let mask = block_all();
        let mut originals = Originals { actions: Vec::new(), mask };
        let mut were_ignored = Vec::new();
        for signal in RECEIVED.into_iter().chain([libc::SIGALRM]) {
            let before = replace(signal, &handling());
            let was_ignored = before.sa_sigaction == libc::SIG_IGN && signal != libc::SIGALRM;
            if was_ignored && takes == Takes::Heeded {
                replace(signal, &before);
                continue;
            }
            were_ignored.extend(was_ignored.then_some(signal));
            originals.actions.push((signal, before));
        }
        // With SIGCHLD ignored the kernel would reap the program before its status is read; and nobody wants a signal
        // for every stop.
        let mut quiet = default();
        quiet.sa_flags = libc::SA_NOCLDSTOP;
        originals.actions.push((libc::SIGCHLD, replace(libc::SIGCHLD, &quiet)));
        let mut mask = mask;
        for (signal, _) in &originals.actions {
            // SAFETY: the set is initialised and the signals exist.
            unsafe { libc::sigdelset(&raw mut mask, *signal) };
        }
        set_mask(&mask);
        Ok(Self { originals, were_ignored })
    }

    /// Whether something arrived since the last [`Messenger::take`].
    #[inline]
    #[must_use]
    pub fn is_pending(&self) -> bool {
        PENDING.load(Ordering::Relaxed)
    }

    /// What arrived, each signal once. Waits are interrupted from now on until [`Messenger::quiet`].
    #[must_use]
    pub fn take(&self) -> Vec<Received> {
        PENDING.store(false, Ordering::SeqCst);
        let mut received = Vec::new();
        for signal in RECEIVED {
            match ARRIVED[signal as usize].swap(0, Ordering::SeqCst) {
                0 => {}
                BY_KERNEL if self.were_ignored.contains(&signal) => {}
                BY_KERNEL => received.push(Received { signal: Signal(signal), sender: None }),
                sender => received.push(Received { signal: Signal(signal), sender: Some(sender) }),
            }
        }
        received
    }

    /// Waits are interrupted every few milliseconds from now on, until [`Messenger::quiet`].
    pub fn remind(&self) {
        ring(RING);
    }

    /// From now on waits are interrupted every `micros` microseconds even if nothing has arrived; 0: never.
    pub fn ring_at_rest(&self, micros: i64) {
        if REST.swap(micros, Ordering::SeqCst) != micros {
            self.quiet();
        }
    }

    /// Nothing is left to be done about what arrived: waits are interrupted no more than at rest.
    pub fn quiet(&self) {
        ring(REST.load(Ordering::SeqCst));
        if self.is_pending() {
            ring(RING);
        }
    }

    /// Passes a signal on to a process. That it is gone is no error.
    pub fn send(&self, pid: u32, signal: Signal) {
        // SAFETY: touches no memory. The process is a child that was not reaped, so the number is still its own.
        unsafe { libc::kill(pid as libc::pid_t, signal.0) };
    }

    /// Kills a traced child and waits until it is gone.
    pub fn kill(&self, pid: u32) {
        self.send(pid, Signal(libc::SIGKILL));
        // Stops of it may be reported before its end.
        let mut word = 0;
        loop {
            // SAFETY: the kernel stores one status word.
            let waited = unsafe { libc::waitpid(pid as libc::pid_t, &raw mut word, libc::__WALL) };
            if waited == -1 || libc::WIFEXITED(word) || libc::WIFSIGNALED(word) {
                return;
            }
        }
    }

    pub(crate) fn originals(&self) -> &Originals {
        &self.originals
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        REST.store(0, Ordering::SeqCst);
        ring(0);
        // A last bell, perhaps on its way from a handler in another thread, must not meet the default action.
        let mut ignoring = default();
        ignoring.sa_sigaction = libc::SIG_IGN;
        replace(libc::SIGALRM, &ignoring);
        while HANDLING.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        for (signal, action) in &self.originals.actions {
            replace(*signal, action);
        }
        set_mask(&self.originals.mask);
        for arrived in &ARRIVED {
            arrived.store(0, Ordering::SeqCst);
        }
        PENDING.store(false, Ordering::SeqCst);
        TRACER.store(0, Ordering::SeqCst);
    }
}

/// Whether the default action of a signal is to stop the process, on behalf of the terminal or of anybody.
#[must_use]
pub fn is_stop_signal(signal: Signal) -> bool {
    matches!(signal.0, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    HANDLING.fetch_add(1, Ordering::SeqCst);
    let error = io::Error::last_os_error().raw_os_error();
    let tracer = TRACER.load(Ordering::SeqCst);
    if signal != libc::SIGALRM {
        // SAFETY: the kernel passes the information of the signal to a handler that was installed with SA_SIGINFO.
        let info = unsafe { &*info };
        // SAFETY: signals of processes carry who sent them; for others the value is some number that is not used.
        let sender = unsafe { info.si_pid() };
        let sender = if info.si_code <= 0 && sender > 0 { sender } else { BY_KERNEL };
        if let Some(arrived) = ARRIVED.get(signal as usize) {
            arrived.store(sender, Ordering::SeqCst);
        }
        PENDING.store(true, Ordering::SeqCst);
        ring(RING);
    }
    // SAFETY: takes and changes nothing.
    let own = unsafe { libc::gettid() };
    if tracer != 0 && own != tracer {
        // SAFETY: sends a signal that has a handler to a thread of this process.
        unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), tracer, libc::SIGALRM) };
    }
    if let Some(error) = error {
        // SAFETY: the location of this thread's `errno` is always valid; the interrupted code may be about to read it.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        unsafe { *place = error };
    }
    HANDLING.fetch_sub(1, Ordering::SeqCst);
}

fn handling() -> libc::sigaction {
    let mut action = default();
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    action
}

pub(crate) fn default() -> libc::sigaction {
    // SAFETY: all zero is a valid `sigaction`: SIG_DFL, no flags, an empty mask.
    unsafe { std::mem::zeroed() }
}

pub(crate) fn replace(signal: i32, action: &libc::sigaction) -> libc::sigaction {
    let mut before = default();
    // SAFETY: both point to valid actions; the handler is async-signal-safe (atomics and system calls only).
    unsafe { libc::sigaction(signal, action, &raw mut before) };
    before
}

/// Lets the bell ring every `micros` microseconds, or no more.
fn ring(micros: i64) {
    let span = libc::timeval { tv_sec: micros / 1_000_000, tv_usec: micros % 1_000_000 };
    let timer = libc::itimerval { it_interval: span, it_value: span };
    // SAFETY: a valid timer; SIGALRM has a handler for as long as the bell may ring.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_a_process_is_received_and_waits_are_interrupted() {
        let messenger = Messenger::install(Takes::Heeded).unwrap();
        assert!(Messenger::install(Takes::Heeded).is_err());
        assert!(!messenger.is_pending());
        let own = std::process::id();
        messenger.send(own, Signal(libc::SIGUSR1));
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !messenger.is_pending() {
            assert!(std::time::Instant::now() < deadline);
        }
        assert_eq!(messenger.take(), [Received { signal: Signal(libc::SIGUSR1), sender: Some(own as i32) }]);
        // SAFETY: sleeps until a signal is handled: the bell.
        unsafe { libc::pause() };
        messenger.quiet();
        assert_eq!(messenger.take(), []);
        drop(messenger);
        Messenger::install(Takes::Heeded).unwrap();
    }
}
