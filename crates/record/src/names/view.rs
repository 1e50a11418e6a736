//! Where a thread looks names up: its root, and its mount namespace.

use super::mounts::Mark;
use super::walk::push;
use iotrail_model::Tid;
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags};
use std::rc::Rc;

/// Root and mount namespace of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) tid: Tid,
    /// The root directory, by its name in the namespace.
    pub(super) root: Rc<[u8]>,
    /// The recorder's way there.
    pub(super) root_way: Rc<[u8]>,
    /// The mount namespace, if it is not the recorder's own.
    pub(super) space: Option<u64>,
    /// What stands before the name of the root, if it lies in a mount of no namespace that is known.
    pub(super) mark: Option<Mark>,
}

impl View {
    /// How thread `tid` sees names; `None` if it may not be looked at.
    pub(super) fn of(tid: Tid, own_space: Option<u64>) -> Option<Self> {
        let space = Some(space_of(&tid.0.to_string())?).filter(|space| Some(*space) != own_space);
        let link_to_root = format!("/proc/{tid}/root").into_bytes();
        let root: Rc<[u8]> = link(&link_to_root).ok().filter(|root| root.starts_with(b"/"))?.into();
        let root_way = if space.is_some() { link_to_root.into() } else { Rc::clone(&root) };
        Some(Self { tid, root, root_way, space, mark: None })
    }

    /// The root is behind a mark: it is reached through its thread alone.
    pub(super) fn behind(mut self, mark: Option<Mark>) -> Self {
        if mark.is_some() {
            self.root_way = format!("/proc/{}/root", self.tid).into_bytes().into();
        }
        Self { mark, ..self }
    }

    /// The recorder's way to a name of the namespace. The root of another process is no root for the recorder, so it
    /// climbs from there to the top.
    pub(super) fn reach(&self, path: &[u8]) -> Vec<u8> {
        if self.space.is_none() {
            return path.to_vec();
        }
        let mut way = format!("/proc/{}/root", self.tid).into_bytes();
        let names = self.root.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.for_each(|_| way.extend_from_slice(b"/.."));
        push(&mut way, path.strip_prefix(b"/").unwrap_or(path));
        way
    }
}

/// The mount namespace of a process.
pub(super) fn space_of(process: &str) -> Option<u64> {
    let link = format!("/proc/{process}/ns/mnt");
    Some(rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::INO).ok()?.stx_ino)
}

/// The text of a symbolic link.
pub(super) fn link(path: &[u8]) -> rustix::io::Result<Vec<u8>> {
    rustix::fs::readlink(path, Vec::with_capacity(256)).map(std::ffi::CString::into_bytes)
}

/// What is there under a name, itself and not where it leads.
pub(super) fn look(path: &[u8]) -> Option<Statx> {
    stat(path, AtFlags::SYMLINK_NOFOLLOW)
}

/// The number of the mount in which lies what a link of the kernel leads to.
pub(super) fn mount_of(link: &[u8]) -> Option<u64> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let stat = rustix::fs::statx(CWD, link, flags, StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id)
}

/// What a name leads to.
pub(super) fn look_behind(path: &[u8]) -> Option<Statx> {
    stat(path, AtFlags::empty())
}

fn stat(path: &[u8], flags: AtFlags) -> Option<Statx> {
    let flags = flags | AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK).ok()
}

/// What tells files apart.
pub(super) fn identity(file: &Statx) -> (u32, u32, u64) {
    (file.stx_dev_major, file.stx_dev_minor, file.stx_ino)
}
