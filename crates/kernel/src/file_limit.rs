//! A limit on the size of files (`ulimit -f`) is the program's to die of. The recorder, whose files grow faster, takes the
//! error instead of SIGXFSZ and says what it could not keep.

use std::sync::OnceLock;

static ORIGINAL: OnceLock<libc::sigaction> = OnceLock::new();

/// From now on this process gets an error where a limit on the size of files would kill it. A program that it starts under
/// trace is killed as ever.
pub fn survive_file_limit() {
    original_action();
}

/// The same; answers what the process would have done before.
pub fn original_action() -> libc::sigaction {
    *ORIGINAL.get_or_init(|| {
        // SAFETY: all zero is a valid `sigaction`: SIG_DFL, no flags, an empty mask.
        let mut ignoring: libc::sigaction = unsafe { std::mem::zeroed() };
        let mut before = ignoring;
        ignoring.sa_sigaction = libc::SIG_IGN;
        // SAFETY: both point to valid actions, and the new one calls nothing.
        unsafe { libc::sigaction(libc::SIGXFSZ, &raw const ignoring, &raw mut before) };
        before
    })
}
