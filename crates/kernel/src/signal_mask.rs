//! Which signals a thread takes.

/// Blocks all signals for the calling thread and returns what was blocked before.
#[must_use]
pub fn block_all() -> libc::sigset_t {
    // SAFETY: all zero is an empty set.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut before = all;
    // SAFETY: fills a set.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both sets are valid.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

/// Blocks these signals and no others.
pub fn set_mask(mask: &libc::sigset_t) {
    // SAFETY: a valid set; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}
