//! A limit on CPU time (`ulimit -t`) is the program's to die of. The recorder, which needs about as much time as the calls that
//! it stops, would die of it, too, and take the program along.

use std::sync::OnceLock;

static ORIGINAL: OnceLock<libc::rlimit> = OnceLock::new();

/// Lifts the limit of this process as far as it may. Answers the seconds after which it is killed all the same.
pub fn lift_cpu_limit() -> Option<u64> {
    let original = original();
    let free = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    if original.rlim_cur == libc::RLIM_INFINITY || set(&free) {
        return None;
    }
    set(&libc::rlimit { rlim_cur: original.rlim_max, ..original });
    (original.rlim_max != libc::RLIM_INFINITY).then_some(original.rlim_max)
}

/// The limit that this process was started with.
#[must_use]
pub fn original() -> libc::rlimit {
    *ORIGINAL.get_or_init(|| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the kernel fills `limit`.
        unsafe { libc::getrlimit(libc::RLIMIT_CPU, &raw mut limit) };
        limit
    })
}

/// Sets the limit; answers whether that was allowed.
pub fn set(limit: &libc::rlimit) -> bool {
    // SAFETY: the kernel reads `limit`.
    unsafe { libc::setrlimit(libc::RLIMIT_CPU, std::ptr::from_ref(limit)) == 0 }
}
