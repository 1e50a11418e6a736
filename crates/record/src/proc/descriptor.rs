//! What lies behind a descriptor of a traced thread.

use super::fdinfo::{self, FdInfo};
use super::link::{self, Name, QUIET, WANTED};
use super::read;
use iotrail_model::raw::OpenFile;
use iotrail_model::{FileFacts, FileKind, Pid, Tid};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What was found behind a descriptor that was just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Device, inode, size, kind.
    pub facts: FileFacts,
    /// Its name, if it was asked for, or if it is a pipe, a socket, an anonymous inode or a file without a link: what no
    /// call named by a path.
    pub name: Option<Name>,
}

/// A descriptor that was there before anything was seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDescriptor {
    /// Number of the descriptor.
    pub fd: i32,
    /// Path or name.
    pub name: Name,
    /// Where the next read or write goes, if there are positions.
    pub position: Option<i64>,
    /// Whether writes go to the end (`O_APPEND`).
    pub append: bool,
    /// Whether it is closed at exec.
    pub cloexec: bool,
    /// Whether everybody who shares it is followed; whoever only looks does not know.
    pub followed: bool,
    /// Device, inode, size, kind.
    pub facts: FileFacts,
}

impl FoundDescriptor {
    /// As the resolver takes it.
    #[must_use]
    pub fn open_file(&self) -> OpenFile<'_> {
        OpenFile {
            target: self.name.target(),
            position: self.position,
            append: self.append,
            cloexec: self.cloexec,
            followed: self.followed,
            facts: Some(self.facts),
        }
    }
}

/// Whether a path is a link of the kernel to a descriptor of the process of thread `tid` (`/proc/self/fd/3`), or its own, whose file
/// has lost the name by which it was opened.
pub(crate) fn leads_to_lost_name((tid, process): (Tid, Pid), path: &[u8]) -> bool {
    let of_process = Tid(process.0);
    let owners =
        [(&b"/proc/self/fd/"[..], of_process), (b"/proc/thread-self/fd/", tid), (b"/dev/fd/", of_process)];
    let number = |(directory, owner)| Some((path.strip_prefix(directory)?, owner));
    let Some((number, owner)) = owners.into_iter().find_map(number) else { return false };
    let fd = std::str::from_utf8(number).ok().and_then(|number| number.parse::<u16>().ok());
    let name = fd.and_then(|fd| file_info(owner, fd.into(), true)?.name);
    name.is_some_and(|name| name.deleted)
}

/// What descriptor `fd` of thread `tid` refers to: one `statx`, and a `readlink` if the name is asked for or no path led
/// there. `None` if there is no such descriptor or it may not be looked at.
#[must_use]
pub fn file_info(tid: Tid, fd: i32, named: bool) -> Option<FileInfo> {
    let link = format!("/proc/{tid}/fd/{fd}");
    let stat = stat(&link)?;
    let facts = facts(&stat);
    let nameless = matches!(facts.kind, Some(FileKind::Pipe | FileKind::Socket | FileKind::Anon));
    let name = match named || nameless || stat.stx_nlink == 0 {
        true => link::name(&link, &root(tid), &stat),
        false => None,
    };
    Some(FileInfo { facts, name })
}

/// Everything about descriptor `fd` of thread `tid`, of whose making nothing was seen. `None` if there is no such
/// descriptor or it may not be looked at.
#[must_use]
pub fn look(tid: Tid, fd: i32) -> Option<FoundDescriptor> {
    let link = format!("/proc/{tid}/fd/{fd}");
    let stat = stat(&link)?;
    let facts = facts(&stat);
    let name = link::name(&link, &root(tid), &stat)?;
    let info: FdInfo = read::small(tid, &format!("fdinfo/{fd}")).and_then(|text| fdinfo::parse(&text))?;
    let seekable = matches!(facts.kind, Some(FileKind::File | FileKind::Directory | FileKind::Block));
    let position = info.position.filter(|_| seekable);
    let FdInfo { append, cloexec, .. } = info;
    Some(FoundDescriptor { fd, name, position, append, cloexec, followed: false, facts })
}

/// Where descriptor `fd` of thread `tid` stands.
pub(crate) fn position(tid: Tid, fd: i32) -> Option<i64> {
    read::small(tid, &format!("fdinfo/{fd}")).and_then(|text| fdinfo::parse(&text))?.position
}

/// What `statx` tells of the file behind a link of `/proc`. Such a link is not a path to walk but leads straight to what
/// is open, so no directory is read, and no file system is asked for news.
pub(crate) fn stat(link: &str) -> Option<Statx> {
    rustix::fs::statx(CWD, link, QUIET, WANTED).ok()
}

/// What there is under a path by now; a symbolic link is not followed.
pub(crate) fn there(path: &[u8]) -> Option<FileFacts> {
    let path = OsStr::from_bytes(path);
    rustix::fs::statx(CWD, path, QUIET | AtFlags::SYMLINK_NOFOLLOW, WANTED).ok().map(|stat| facts(&stat))
}

fn root(tid: Tid) -> String {
    format!("/proc/{tid}/root")
}

/// The type in `st_mode`.
const TYPE: u32 = 0o170_000;

fn facts(stat: &Statx) -> FileFacts {
    let mode = u32::from(stat.stx_mode);
    // An anonymous inode (eventfd, epoll, io_uring) has no type; a symbolic link is open only to be looked at.
    let kind = FileKind::of_mode(mode).or((mode & TYPE == 0).then_some(FileKind::Anon));
    FileFacts {
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        size: (kind == Some(FileKind::File)).then(|| i64::try_from(stat.stx_size).ok()).flatten(),
        kind,
        birth: birth(stat),
    }
}

/// When the file was made, if its file system keeps that.
fn birth(stat: &Statx) -> Option<i64> {
    let is_told = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let seconds = stat.stx_btime.tv_sec.checked_mul(1_000_000_000)?;
    seconds.checked_add(i64::from(stat.stx_btime.tv_nsec)).filter(|_| is_told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions, hard_link, remove_file};
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn own() -> Tid {
        Tid(std::process::id())
    }

    fn named(file: &File) -> (Vec<u8>, bool) {
        let name = look(own(), file.as_raw_fd()).unwrap().name;
        (name.name, name.deleted)
    }

    fn bytes(path: &Path) -> Vec<u8> {
        path.as_os_str().as_bytes().to_vec()
    }

    #[test]
    fn a_found_file_tells_its_path_position_and_flags() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("a\nb");
        let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        file.write_all(b"seven..").unwrap();
        let found = look(own(), file.as_raw_fd()).unwrap();
        assert_eq!(found.name, Name { name: bytes(&path), deleted: false });
        assert_eq!((found.position, found.append, found.cloexec), (Some(7), true, true));
        assert_eq!((found.facts.size, found.facts.kind), (Some(7), Some(FileKind::File)));
        assert_eq!(
            file_info(own(), file.as_raw_fd(), false).unwrap(),
            FileInfo { facts: found.facts, name: None }
        );
    }

    #[test]
    fn deleted_is_told_from_a_name_that_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (plain, honest) = (dir.join("x"), dir.join("x (deleted)"));
        let (gone, there) = (File::create_new(&plain).unwrap(), File::create_new(&honest).unwrap());
        assert_eq!(named(&there), (bytes(&honest), false));
        remove_file(&plain).unwrap();
        assert_eq!(named(&gone), (bytes(&plain), true));
        assert_eq!(
            file_info(own(), gone.as_raw_fd(), false).unwrap().name.unwrap().target().name,
            bytes(&plain)
        );
        remove_file(&honest).unwrap();
        assert_eq!(named(&there), (bytes(&honest), true));
    }

    #[test]
    fn a_file_that_lost_one_of_two_names_has_lost_the_one_it_was_opened_by() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let file = File::create_new(dir.join("x")).unwrap();
        hard_link(dir.join("x"), dir.join("y")).unwrap();
        remove_file(dir.join("x")).unwrap();
        assert_eq!(named(&file), (bytes(&dir.join("x")), true));
    }

    #[test]
    fn what_has_no_path_has_a_name() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        for end in [&reader, &writer] {
            let found = file_info(own(), end.as_raw_fd(), false).unwrap();
            assert_eq!(found.facts.kind, Some(FileKind::Pipe));
            assert!(found.name.unwrap().name.starts_with(b"pipe:["));
            assert_eq!(look(own(), end.as_raw_fd()).unwrap().position, None);
        }
        assert_eq!(file_info(own(), i32::MAX, true), None);
        assert_eq!(look(Tid(u32::MAX >> 4), 0), None);
    }
}
