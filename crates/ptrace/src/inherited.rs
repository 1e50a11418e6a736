//! What this process was started with and the runtime changed before `main`.
//!
//! Rust ignores SIGPIPE and opens `/dev/null` in place of closed standard descriptors. The program under trace must be
//! started as if it had been started directly, so both are noted before the runtime begins.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);
/// Bit n: descriptor n was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

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

/// Whether descriptor 0, 1 or 2 was closed when this process was started.
pub(crate) fn was_closed(fd: i32) -> bool {
    (0..3).contains(&fd) && CLOSED.load(Ordering::Relaxed) & (1 << fd) != 0
}
