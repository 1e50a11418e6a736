//! Names of signals, as `strace` and `kill -l` write them.

use std::borrow::Cow;

/// The first real-time signal of the kernel.
const FIRST_REAL_TIME: i32 = 32;
/// The last signal.
const LAST: i32 = 64;

#[rustfmt::skip]
static NAMES: [&str; 32] = [
    "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
];

/// The name of a signal: `SIGKILL`, `SIGRTMIN`, `SIGRT_2`; its number if there is no such signal.
#[must_use]
pub fn signal_name(number: i32) -> Cow<'static, str> {
    match number {
        1..FIRST_REAL_TIME => Cow::Borrowed(NAMES[number as usize]),
        FIRST_REAL_TIME => Cow::Borrowed("SIGRTMIN"),
        33..=LAST => Cow::Owned(format!("SIGRT_{}", number - FIRST_REAL_TIME)),
        _ => Cow::Owned(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_has_a_name() {
        assert_eq!(
            [1, 9, 17, 31, 32, 34, 64].map(signal_name),
            ["SIGHUP", "SIGKILL", "SIGCHLD", "SIGSYS", "SIGRTMIN", "SIGRT_2", "SIGRT_32"]
        );
        assert_eq!([0, 65, -3].map(signal_name), ["0", "65", "-3"]);
    }
}
