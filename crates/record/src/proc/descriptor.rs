//! What lies behind a descriptor of a traced thread.

use super::fdinfo::{self, FdInfo};
use super::link::{self, Name, QUIET, WANTED};
use super::read;
use iotrail_model::raw::OpenFile;
use iotrail_model::{FileFacts, FileKind, Tid};
use rustix::fs::{CWD, Statx};

/// What was found behind a descriptor that was just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// Device, inode, size, kind.
    pub facts: FileFacts,
    /// Its name, if it is a pipe, a socket, an anonymous inode or a file without a link: what no call named by a path.
    pub name: Option<Name>,
}

/// A descriptor that was there before anything was seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The descriptor.
    pub fd: i32,
    /// Path or name.
    pub name: Name,
    /// Where the next read or write goes, if there are positions.
    pub position: Option<i64>,
    /// Whether writes go to the end (`O_APPEND`).
    pub append: bool,
    /// Whether it is closed at exec.
    pub cloexec: bool,
    /// Device, inode, size, kind.
    pub facts: FileFacts,
}

impl Found {
    /// As the resolver takes it.
    #[must_use]
    pub fn open_file(&self) -> OpenFile<'_> {
        OpenFile {
            target: self.name.target(),
            position: self.position,
            append: self.append,
            cloexec: self.cloexec,
            facts: Some(self.facts),
        }
    }
}

/// What descriptor `fd` of thread `tid` refers to: one `statx`, and a `readlink` only for what no path led to. `None` if
/// there is no such descriptor or it may not be looked at.
#[must_use]
pub fn behind(tid: Tid, fd: i32) -> Option<Behind> {
    let link = format!("/proc/{tid}/fd/{fd}");
    let stat = stat(&link)?;
    let facts = facts(&stat);
    let nameless = matches!(facts.kind, Some(FileKind::Pipe | FileKind::Socket | FileKind::Anon));
    let name = match nameless || stat.stx_nlink == 0 {
        true => link::name(&link, &root(tid), &stat),
        false => None,
    };
    Some(Behind { facts, name })
}

/// Everything about descriptor `fd` of thread `tid`, of whose making nothing was seen. `None` if there is no such
/// descriptor or it may not be looked at.
#[must_use]
pub fn look(tid: Tid, fd: i32) -> Option<Found> {
    let link = format!("/proc/{tid}/fd/{fd}");
    let stat = stat(&link)?;
    let facts = facts(&stat);
    let name = link::name(&link, &root(tid), &stat)?;
    let info: FdInfo = read::small(tid, &format!("fdinfo/{fd}")).and_then(|text| fdinfo::parse(&text))?;
    let seekable = matches!(facts.kind, Some(FileKind::File | FileKind::Directory | FileKind::Block));
    let position = info.position.filter(|_| seekable);
    Some(Found { fd, name, position, append: info.append, cloexec: info.cloexec, facts })
}

/// What `statx` tells of the file behind a link of `/proc`. Such a link is not a path to walk but leads straight to what
/// is open, so no directory is read, and no file system is asked for news.
pub(crate) fn stat(link: &str) -> Option<Statx> {
    rustix::fs::statx(CWD, link, QUIET, WANTED).ok()
}

fn root(tid: Tid) -> String {
    format!("/proc/{tid}/root")
}

fn facts(stat: &Statx) -> FileFacts {
    // An anonymous inode (eventfd, epoll, io_uring) has no type.
    let kind = FileKind::of_mode(u32::from(stat.stx_mode)).unwrap_or(FileKind::Anon);
    FileFacts {
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        size: (kind == FileKind::File).then(|| i64::try_from(stat.stx_size).ok()).flatten(),
        kind: Some(kind),
    }
}
