//! `/proc/PID/task/TID/io` (`man 5 proc_pid_io`): what a thread moved from and to storage.
//!
//! The file `io` of a process holds the same of all its threads, and of all its children that it waited for, who would
//! count twice; so threads are asked one by one.

use super::read::{number, value_of};

/// The lines of `io` that are of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Io {
    /// Bytes that were fetched from storage.
    pub(crate) read: Option<u64>,
    /// Bytes that were made to be sent to storage.
    made: Option<u64>,
    /// Bytes that were truncated away before they were sent, whoever made them.
    cancelled: Option<u64>,
}

impl Io {
    /// Nothing moved.
    pub(crate) const ZERO: Self = Self { read: Some(0), made: Some(0), cancelled: Some(0) };

    /// Bytes that were sent to storage or will be. Who truncates what others wrote has more cancelled than written; then it
    /// sent nothing.
    pub(crate) fn written(&self) -> Option<u64> {
        Some(self.made?.saturating_sub(self.cancelled?))
    }

    /// What both threads moved; unknown if one is.
    pub(crate) fn and(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            read: sum(self.read, other.read),
            made: sum(self.made, other.made),
            cancelled: sum(self.cancelled, other.cancelled),
        }
    }
}

/// Reads the content of `io`.
pub(crate) fn parse(text: &[u8]) -> Io {
    let line = |key| value_of(text, key).and_then(number::<u64>);
    Io { read: line(b"read_bytes:"), made: line(b"write_bytes:"), cancelled: line(b"cancelled_write_bytes:") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_cancelled_was_not_written() {
        let text = b"rchar: 9\nwchar: 8\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 12288\ncancelled_write_bytes: 8192\n";
        let io = parse(text);
        assert_eq!((io.read, io.written()), (Some(4096), Some(4096)));
        assert_eq!(io.and(Io::ZERO), io);
        assert_eq!(io.and(Io::default()), Io::default(), "unknown is not nothing");
        assert_eq!(parse(b"write_bytes: 1\ncancelled_write_bytes: 2\n").written(), Some(0));
    }

    #[test]
    fn a_kernel_without_the_lines_leaves_them_unknown() {
        let io = parse(b"rchar: 9\nread_bytes: x\nwrite_bytes: 3\n");
        assert_eq!((io.read, io.written()), (None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
        }
    }
}
