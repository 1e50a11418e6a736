//! Which files have a position to read and write at.

/// Whether an open file has a position, and what moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Positions {
    /// It has none.
    None,
    /// Reads move it by the bytes read; what writes do is for each file to decide: most of `/proc` leave it where it is.
    OfReads,
    /// Reads and writes move it by the bytes moved.
    All,
}

impl Positions {
    /// Of a file of this path, as far as the path tells.
    pub(crate) fn of_path(path: &[u8]) -> Self {
        const NONE: [&[u8]; 15] = [
            b"/dev/null",
            b"/dev/zero",
            b"/dev/full",
            b"/dev/random",
            b"/dev/urandom",
            b"/dev/tty",
            b"/dev/console",
            b"/dev/ptmx",
            b"/dev/pts/",
            b"/dev/kmsg",
            b"/dev/fuse",
            b"/dev/std",
            b"/dev/fd/",
            b"/dev/net/",
            b"/proc/self/fd/",
        ];
        const OF_READS: [&[u8]; 2] = [b"/proc/", b"/sys/kernel/debug/"];
        let is_in = |prefix: &&[u8]| path.starts_with(prefix);
        if NONE.iter().any(is_in) {
            return Self::None;
        }
        match OF_READS.iter().any(is_in) && !path.starts_with(b"/proc/sys/") {
            true => Self::OfReads,
            false => Self::All,
        }
    }

    /// Of what a tracer calls so: what is no path (`pipe:[7]`) has none.
    pub(crate) fn of_name(name: &[u8]) -> Self {
        match name.first() {
            Some(b'/') => Self::of_path(name),
            _ => Self::None,
        }
    }

    /// Whether there are positions at all.
    #[inline]
    pub(crate) fn exist(self) -> bool {
        self != Self::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_and_pipes_have_no_positions() {
        for (path, expected) in [
            ("/dev/pts/3", Positions::None),
            ("/dev/null", Positions::None),
            ("/dev/shm/segment", Positions::All),
            ("/dev/nvme0n1", Positions::All),
            ("/tmp/a", Positions::All),
            ("/proc/self/comm", Positions::OfReads),
            ("/proc/7/fd", Positions::OfReads),
            ("/proc/sys/kernel/core_pattern", Positions::All),
        ] {
            assert_eq!(Positions::of_path(path.as_bytes()), expected, "{path}");
        }
        assert_eq!(Positions::of_name(b"pipe:[7]"), Positions::None);
    }
}
