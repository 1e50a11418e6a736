//! `/proc/PID/status` (`man 5 proc_pid_status`).
//!
//! The first line holds the name of the command, in which the kernel writes line ends and backslashes as escapes; so a
//! name cannot pretend to be another line.

use super::read::{number, value_of};
use iotrail_model::{Pid, Tid};

/// The lines of `status` that are of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Largest resident memory of the image so far, in bytes.
    pub(crate) max_memory: Option<u64>,
    /// Context switches of this thread because it waited.
    pub(crate) voluntary: Option<u64>,
    /// Context switches of this thread because its time was up.
    pub(crate) involuntary: Option<u64>,
    /// What is taken away from the permissions of new files.
    pub(crate) umask: Option<u32>,
}

/// Reads the content of `status`.
pub(crate) fn parse(text: &[u8]) -> Status {
    let kilobytes = |value: &[u8]| number::<u64>(value.strip_suffix(b"kB")?)?.checked_mul(1024);
    Status {
        max_memory: value_of(text, b"VmHWM:").and_then(kilobytes),
        voluntary: value_of(text, b"voluntary_ctxt_switches:").and_then(number),
        involuntary: value_of(text, b"nonvoluntary_ctxt_switches:").and_then(number),
        umask: value_of(text, b"Umask:")
            .and_then(|octal| u32::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok()),
    }
}

/// The umask of the recorder itself, which the commands that it starts begin with.
pub(crate) fn own_umask() -> Option<u32> {
    parse(&std::fs::read("/proc/self/status").ok()?).umask
}

/// The process of a thread.
pub(crate) fn process_of(tid: Tid) -> Option<Pid> {
    id(tid, b"Tgid:").map(Pid)
}

/// The thread that traces a thread; 0 if none does.
pub(crate) fn tracer_of(tid: Tid) -> Option<u32> {
    id(tid, b"TracerPid:")
}

fn id(tid: Tid, key: &[u8]) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{tid}/status")).ok()?;
    value_of(&status, key).and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_found_and_others_ignored() {
        let text = b"Name:\tx\\nVmHWM:\t1 kB\nUmask:\t0022\nVmHWM:\t    1816 kB\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        let expected = Status {
            max_memory: Some(1_859_584),
            voluntary: Some(12),
            involuntary: Some(3),
            umask: Some(0o22),
        };
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn a_zombie_has_no_memory() {
        assert_eq!(parse(b"Name:\tx\nState:\tZ (zombie)\n"), Status::default());
        assert_eq!(parse(b"VmHWM:\t99999999999999999999 kB\n").max_memory, None);
        assert_eq!(parse(b"VmHWM:\t18446744073709551615 kB\n").max_memory, None);
    }

    #[test]
    fn the_kernel_writes_what_is_read() {
        let own = parse(&std::fs::read("/proc/thread-self/status").unwrap());
        assert!(own.max_memory.is_some_and(|bytes| bytes > 0));
        assert!(own.voluntary.is_some() && own.involuntary.is_some());
        assert_eq!(own.umask, own_umask());
        assert!(own.umask.is_some());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
        }
    }
}
