//! What `wait` says: the encoding of stops and ends in a status word (`man 2 ptrace`, "Stopped states").

/// A signal by its number; real-time signals included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(pub i32);

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(Signal),
}

/// Why a thread is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The filter selected the call that it is about to make.
    Selected,
    /// It enters or leaves a call.
    Call,
    /// It made another thread or process; the message is the id of that.
    Created,
    /// It runs another program now; the message is the id that it had before.
    Exec,
    /// It is about to end; the message is its status word.
    Exiting,
    /// A signal is about to be delivered.
    Signal(Signal),
    /// A signal stopped its whole process.
    Group(Signal),
    /// It was asked to stop, is new, or its process goes on after a group stop.
    Trap,
    /// Another event, by its number; of no meaning to anybody.
    Other(i32),
}

/// A status word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ended(Ending),
    Stopped(Why),
}

/// Set in the signal of a stop at a call, so that it is not taken for a SIGTRAP (`PTRACE_O_TRACESYSGOOD`).
const CALL_TRAP: i32 = libc::SIGTRAP | 0x80;

/// Takes a status word of `wait4` apart; `None` for words that a tracer cannot get.
pub(crate) fn decode(word: i32) -> Option<Status> {
    let low = word & 0x7f;
    if low == 0 {
        return Some(Status::Ended(Ending::Exited((word >> 8) & 0xff)));
    }
    if low != 0x7f {
        return Some(Status::Ended(Ending::Killed(Signal(low))));
    }
    if word == 0xffff {
        return None;
    }
    let (signal, event) = ((word >> 8) & 0xff, word >> 16);
    Some(Status::Stopped(match event {
        0 if signal == CALL_TRAP => Why::Call,
        0 => Why::Signal(Signal(signal)),
        libc::PTRACE_EVENT_SECCOMP => Why::Selected,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Why::Created,
        libc::PTRACE_EVENT_EXEC => Why::Exec,
        libc::PTRACE_EVENT_EXIT => Why::Exiting,
        libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => Why::Trap,
        libc::PTRACE_EVENT_STOP => Why::Group(Signal(signal)),
        other => Why::Other(other),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_apart() {
        assert_eq!(decode(42 << 8), Some(Status::Ended(Ending::Exited(42))));
        assert_eq!(decode(9), Some(Status::Ended(Ending::Killed(Signal(9)))));
        assert_eq!(decode(0x80 | 11), Some(Status::Ended(Ending::Killed(Signal(11)))), "with a core dump");
        assert_eq!(decode(64), Some(Status::Ended(Ending::Killed(Signal(64)))), "a real-time signal");
    }

    #[test]
    fn stops_are_told_apart() {
        let stop = |signal: i32, event: i32| decode(event << 16 | signal << 8 | 0x7f);
        let is = |why| Some(Status::Stopped(why));
        assert_eq!(stop(libc::SIGTRAP | 0x80, 0), is(Why::Call));
        assert_eq!(stop(libc::SIGTRAP, 0), is(Why::Signal(Signal(libc::SIGTRAP))));
        assert_eq!(stop(libc::SIGSTOP, 0), is(Why::Signal(Signal(libc::SIGSTOP))));
        assert_eq!(stop(64, 0), is(Why::Signal(Signal(64))));
        assert_eq!(stop(libc::SIGTRAP, libc::PTRACE_EVENT_SECCOMP), is(Why::Selected));
        assert_eq!(stop(libc::SIGTRAP, libc::PTRACE_EVENT_VFORK), is(Why::Created));
        assert_eq!(stop(libc::SIGTRAP, libc::PTRACE_EVENT_STOP), is(Why::Trap));
        assert_eq!(stop(libc::SIGTSTP, libc::PTRACE_EVENT_STOP), is(Why::Group(Signal(libc::SIGTSTP))));
        assert_eq!(stop(libc::SIGTRAP, libc::PTRACE_EVENT_VFORK_DONE), is(Why::Other(5)));
    }
}
