//! A limit on the size of files (`ulimit -f`) is the program's to die of. The recorder, whose files grow faster, takes the
//! error instead of SIGXFSZ and says what it could not keep.

use crate::messenger::{default, replace};
use std::sync::OnceLock;

static ORIGINAL: OnceLock<libc::sigaction> = OnceLock::new();

/// From now on this process gets an error where a limit on the size of files would kill it. A program that it starts under
/// trace is killed as ever.
pub fn survive_file_limit() {
    survive();
}

/// The same; answers what the process would have done before.
pub(crate) fn survive() -> libc::sigaction {
    *ORIGINAL.get_or_init(|| {
        let mut ignoring = default();
        ignoring.sa_sigaction = libc::SIG_IGN;
        replace(libc::SIGXFSZ, &ignoring)
    })
}
