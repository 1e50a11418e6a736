//! What this process was started with and the runtime changed before `main`.
//!
//! Rust ignores SIGPIPE and opens `/dev/null` in place of closed standard descriptors; the C library takes two signals for
//! itself as soon as there are threads. The program under trace must be started as if it had been started directly, so all of
//! this is noted before the runtime begins.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);
/// Bit n: descriptor n was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);
/// Bit n: the n-th signal of [`OF_THREADS`] was ignored.
static THREADS_IGNORED: AtomicU8 = AtomicU8::new(0);

/// The signals of the C library's threads, of which `sigaction` does not speak.
const OF_THREADS: [libc::c_int; 2] = [32, 33];

/// What the kernel takes and gives as the action of a signal: the handler first.
type KernelAction = [usize; 4];

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks for the disposition of a signal; the kernel fills `action`, which may also stay zero.
    let known = unsafe { libc::sigaction(libc::SIGPIPE, std::ptr::null(), action.as_mut_ptr()) } == 0;
    // SAFETY: zero is a valid `sigaction`, and so is what the kernel stored.
    let action = unsafe { action.assume_init() };
    PIPE_IGNORED.store(known && action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
    for (index, signal) in OF_THREADS.into_iter().enumerate() {
        let mut action: KernelAction = [0; 4];
        // SAFETY: asks for the disposition of a signal; the kernel fills `action`, which is at least as long as its structure.
        let known =
            unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, 0_usize, action.as_mut_ptr(), 8_usize) };
        if known == 0 && action[0] == libc::SIG_IGN {
            THREADS_IGNORED.fetch_or(1 << index, Ordering::Relaxed);
        }
    }
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no argument and changes nothing.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << fd, Ordering::Relaxed);
        }
    }
}

/// Whether SIGPIPE was ignored when this process was started.
pub(crate) fn pipe_was_ignored() -> bool {
    PIPE_IGNORED.load(Ordering::Relaxed)
}

/// Ignores the signals of the C library's threads that were ignored when this process was started. Safe between fork and exec.
pub(crate) fn ignore_signals_of_threads() {
    let ignoring: KernelAction = [libc::SIG_IGN, 0, 0, 0];
    for (index, signal) in OF_THREADS.into_iter().enumerate() {
        if THREADS_IGNORED.load(Ordering::Relaxed) & (1 << index) != 0 {
            // SAFETY: sets the disposition of a signal; the kernel reads `ignoring`, which is at least as long as its structure.
            unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, ignoring.as_ptr(), 0_usize, 8_usize) };
        }
    }
}

/// Whether descriptor 0, 1 or 2 was closed when this process was started.
pub(crate) fn was_closed(fd: i32) -> bool {
    (0..3).contains(&fd) && CLOSED.load(Ordering::Relaxed) & (1 << fd) != 0
}
