//! Reading `/proc`, with a bound on everything.

use iotrail_model::Tid;
use rustix::fs::{CWD, Mode, OFlags};
use std::os::fd::OwnedFd;

/// The largest of the small files of `/proc` that are read whole; `status` with many groups is the largest of them.
const MAX_SMALL: usize = 1 << 20;

/// The file or directory `name` of a thread or process. Only for files of `/proc` itself, never for links.
pub(crate) fn open(tid: Tid, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::openat(CWD, format!("/proc/{tid}/{name}"), flags, Mode::empty())
}

/// The content of a small file of a thread or process.
pub(crate) fn small(tid: Tid, name: &str) -> Option<Vec<u8>> {
    let file = open(tid, name).ok()?;
    let mut content = Vec::new();
    let mut chunk = [0; 4096];
    chunks(&file, &mut chunk, |bytes| {
        content.extend_from_slice(bytes);
        content.len() < MAX_SMALL
    })?;
    Some(content)
}

/// Hands the content of `file` to `take` piece by piece, until that says no.
pub(crate) fn chunks(file: &OwnedFd, buffer: &mut [u8], mut take: impl FnMut(&[u8]) -> bool) -> Option<()> {
    loop {
        match rustix::io::read(file, &mut *buffer) {
            Ok(0) => return Some(()),
            Ok(length) if take(&buffer[..length]) => {}
            Ok(_) => return Some(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// The number in decimal digits that `text` is, between blanks.
pub(crate) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// The value of the first line `KEY` + blanks + value; `key` contains the colon.
pub(crate) fn value_of<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(key)).map(<[u8]>::trim_ascii)
}
