//! The links of `/proc`: their text, and whether ` (deleted)` at its end is the kernel's or the file's own.
//!
//! The kernel appends ` (deleted)` to the path of a file that has lost the name by which it was opened (`d_path`), and a
//! file may be called that. The number of links decides where it is 0; else the name as it stands is looked up, but only
//! in the kernel's cache of names (`RESOLVE_CACHED`), which asks no file system.

use iotrail_model::raw::Target;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Statx, StatxFlags};

const DELETED: &[u8] = b" (deleted)";

/// What a link of `/proc` leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Path, or name of what has no path (`pipe:[7]`).
    pub name: Vec<u8>,
    /// Whether the file has lost that name.
    pub deleted: bool,
}

impl Name {
    /// As the resolver takes it.
    #[must_use]
    pub fn target(&self) -> Target<'_> {
        Target { name: &self.name, deleted: self.deleted }
    }
}

/// The text of a link.
pub(crate) fn read(link: &str) -> Option<Vec<u8>> {
    rustix::fs::readlink(link, Vec::with_capacity(256)).ok().map(std::ffi::CString::into_bytes)
}

/// The text of `link`, a link of process or thread `root` that leads to the file of which `statx` told `behind`.
pub(crate) fn name(link: &str, root: &str, behind: &Statx) -> Option<Name> {
    let text = read(link)?;
    let Some(name) = text.strip_suffix(DELETED).filter(|_| text.first() == Some(&b'/')) else {
        return Some(Name { name: text, deleted: false });
    };
    if behind.stx_nlink > 0 && is_at(root, &text, behind) {
        return Some(Name { name: text, deleted: false });
    }
    Some(Name { name: name.to_vec(), deleted: true })
}

/// Whether the cache of names knows `path`, below the root of a process, as the file that `behind` tells of.
fn is_at(root: &str, path: &[u8], behind: &Statx) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let relative = path.trim_ascii_start().strip_prefix(b"/").unwrap_or(path);
    rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .and_then(|root| rustix::fs::openat2(root, relative, flags, Mode::empty(), ResolveFlags::CACHED))
        .and_then(|file| rustix::fs::statx(file, "", AtFlags::EMPTY_PATH | QUIET, WANTED))
        .is_ok_and(|found| identity(&found) == identity(behind))
}

/// Neither asks a file system for news nor mounts anything.
pub(crate) const QUIET: AtFlags = AtFlags::STATX_DONT_SYNC.union(AtFlags::NO_AUTOMOUNT);
/// What is asked of `statx`.
pub(crate) const WANTED: StatxFlags = StatxFlags::TYPE
    .union(StatxFlags::INO)
    .union(StatxFlags::SIZE)
    .union(StatxFlags::NLINK)
    .union(StatxFlags::BTIME);

fn identity(file: &Statx) -> (u32, u32, u64) {
    (file.stx_dev_major, file.stx_dev_minor, file.stx_ino)
}
