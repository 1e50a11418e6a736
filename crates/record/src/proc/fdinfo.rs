//! `/proc/PID/fdinfo/FD` (`man 5 proc_pid_fdinfo`): where a descriptor stands and how it was opened.

use super::read::{number, value_of};

const O_APPEND: u32 = 0o2000;
const O_CLOEXEC: u32 = 0o2_000_000;

/// The lines of `fdinfo` that are of use. Later lines differ from file to file and may hold anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FdInfo {
    /// Where the next read or write goes.
    pub(crate) position: Option<i64>,
    /// Whether writes go to the end.
    pub(crate) append: bool,
    /// Whether it is closed at exec.
    pub(crate) cloexec: bool,
}

/// Reads the content of an `fdinfo` file; `None` if it has no flags.
pub(crate) fn parse(text: &[u8]) -> Option<FdInfo> {
    let octal = value_of(text, b"flags:").and_then(|digits| std::str::from_utf8(digits).ok());
    let flags = u32::from_str_radix(octal?, 8).ok()?;
    Some(FdInfo {
        position: value_of(text, b"pos:").and_then(number),
        append: flags & O_APPEND != 0,
        cloexec: flags & O_CLOEXEC != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn position_and_flags_are_read() {
        let text =
            b"pos:\t4096\nflags:\t02102001\nmnt_id:\t22\nino:\t7\nlock:\t1: FLOCK  ADVISORY  WRITE 9\n";
        assert_eq!(parse(text), Some(FdInfo { position: Some(4096), append: true, cloexec: true }));
        assert_eq!(
            parse(b"pos:\t0\nflags:\t0100000\n"),
            Some(FdInfo { position: Some(0), ..FdInfo::default() })
        );
    }

    #[test]
    fn what_has_no_flags_is_no_descriptor() {
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"pos:\t1\nflags:\t9\n"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
        }
    }
}
