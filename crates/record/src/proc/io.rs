//! `/proc/PID/io` (`man 5 proc_pid_io`): what a process moved from and to storage, with all its threads and without its
//! children.

use super::read::{number, value_of};

/// The lines of `io` that are of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Io {
    /// Bytes that were fetched from storage.
    pub(crate) read: Option<u64>,
    /// Bytes that were sent to storage or will be; what was truncated away before it was written is taken off.
    pub(crate) written: Option<u64>,
}

/// Reads the content of `io`.
pub(crate) fn parse(text: &[u8]) -> Io {
    let line = |key| value_of(text, key).and_then(number::<u64>);
    // A process that truncates what others wrote has more cancelled than written; then it sent nothing.
    let written = line(b"write_bytes:").zip(line(b"cancelled_write_bytes:"));
    Io { read: line(b"read_bytes:"), written: written.map(|(all, cancelled)| all.saturating_sub(cancelled)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_cancelled_was_not_written() {
        let text = b"rchar: 9\nwchar: 8\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 12288\ncancelled_write_bytes: 8192\n";
        assert_eq!(parse(text), Io { read: Some(4096), written: Some(4096) });
        assert_eq!(parse(b"write_bytes: 1\ncancelled_write_bytes: 2\n").written, Some(0));
    }

    #[test]
    fn a_kernel_without_the_lines_leaves_them_unknown() {
        assert_eq!(parse(b"rchar: 9\nread_bytes: x\nwrite_bytes: 3\n"), Io::default());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
        }
    }
}
