//! Names of files in another mount namespace.
//!
//! The same directory may be mounted in both, at the same place or at another one. `/proc/PID/mountinfo` tells which
//! directory of which device is mounted where, there and here. A name found that way is taken only if device and inode
//! are the same; whatever the recorder cannot reach gets the mark of its namespace.
//!
//! A mount may also be attached nowhere (`open_tree`, `fsmount`, `umount -l`), or a descriptor may be of a namespace that its
//! thread has left. The kernel tells names in such a mount from its top, as if that were the root: they get the
//! mark of the mount.

use super::view::{View, identity, look, look_behind, mount_of, space_of};
use super::walk::{Location, is_below, last, parent, push};
use hashbrown::HashMap;
use rustix::fs::Statx;
use std::rc::Rc;

/// How names begin that belong to another mount namespace.
pub(crate) const MARK: &[u8] = b"/mnt:[";

/// What stands before a name that is none of the recorder's namespace.
pub(super) type Mark = Rc<[u8]>;

/// A line of `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    number: u64,
    device: Vec<u8>,
    /// The directory of the device that is mounted.
    root: Vec<u8>,
    point: Vec<u8>,
}

/// Mounts of the recorder, and of the namespace that was asked about last.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    own: Option<Vec<Mount>>,
    other: Option<(u64, Vec<Mount>)>,
    /// Marks of mounts that were found in neither the namespace that was asked about nor the recorder's.
    strays: HashMap<(Option<u64>, u64), Mark, foldhash::fast::FixedState>,
    /// Whether there may be such.
    pub(super) may_stray: bool,
}

impl Mounts {
    /// Something was mounted or unmounted.
    pub(super) fn forget(&mut self) {
        *self = Self { may_stray: self.may_stray, ..Self::default() };
    }

    /// The mark of what `link`, a link of the kernel, leads to by the name of `path`, if that is no name in the namespace of
    /// the thread or in the recorder's own.
    pub(super) fn stray(&mut self, view: &View, path: &[u8], link: &[u8]) -> Option<Mark> {
        if !self.may_stray || !path.starts_with(b"/") {
            return None;
        }
        let number = mount_of(link)?;
        if let Some(mark) = self.strays.get(&(view.space, number)) {
            return Some(Rc::clone(mark));
        }
        if self.has(view, number) {
            return None;
        }
        // It may be newer than what was read; and mounts outside of the root of a thread are not listed for it.
        self.forget();
        let is_outside = |path: &[u8]| view.space.is_some() && mount_of(&view.reach(path)) == Some(number);
        if self.has(view, number) || is_outside(b"/") || is_outside(path) {
            return None;
        }
        let mark: Mark = mark(space_with(link, number).unwrap_or(number)).into();
        self.strays.insert((view.space, number), Rc::clone(&mark));
        Some(mark)
    }

    /// The recorder's name of a directory in a mount with a mark.
    pub(super) fn behind_mark(mark: &Mark, way: &[u8], path: &[u8]) -> Vec<u8> {
        match (look_behind(way), look(path)) {
            (Some(there), Some(here)) if identity(&there) == identity(&here) => path.to_vec(),
            _ => with_mark(mark, path),
        }
    }

    /// The same of what bears a name in it.
    pub(super) fn entry_behind_mark(mark: &Mark, directory: Vec<u8>, place: &Location) -> Vec<u8> {
        let mut name = directory;
        push(&mut name, last(&place.path));
        match (look(place.way()), look(&name)) {
            (None, _) => name,
            (Some(there), Some(here)) if identity(&there) == identity(&here) => name,
            _ => with_mark(mark, &place.path),
        }
    }

    fn has(&mut self, view: &View, number: u64) -> bool {
        let own = self.own.get_or_insert_with(|| read("self"));
        let has = |mounts: &[Mount]| mounts.iter().any(|mount| mount.number == number);
        has(own) || view.space.is_some_and(|space| has(self.other(view, space)))
    }

    /// The mounts of another namespace.
    fn other(&mut self, view: &View, space: u64) -> &[Mount] {
        let former = self.other.take().filter(|(other, _)| *other == space);
        &self.other.insert(former.unwrap_or_else(|| (space, read(&view.tid.0.to_string())))).1
    }

    /// The recorder's name of a directory.
    pub(super) fn directory(&mut self, view: &View, place: &Location) -> Vec<u8> {
        let file = look_behind(place.way());
        self.same(view, &place.path, file.as_ref()).unwrap_or_else(|| marked(view, &place.path))
    }

    /// The recorder's name of what a link of the kernel leads to.
    pub(super) fn behind(&mut self, view: &View, link: &[u8], path: &[u8]) -> Vec<u8> {
        let file = look_behind(link);
        if file.as_ref().is_some_and(|file| file.stx_nlink == 0) {
            let way = view.reach(parent(path));
            let mut name =
                self.directory(view, &Location { path: parent(path).to_vec(), way: Some(way), mark: None });
            push(&mut name, last(path));
            return name;
        }
        self.same(view, path, file.as_ref()).unwrap_or_else(|| marked(view, path))
    }

    /// The recorder's name of what bears a name in a directory, which may be a mount of its own.
    pub(super) fn entry(&mut self, view: &View, directory: Vec<u8>, place: &Location) -> Vec<u8> {
        let mut name = directory;
        push(&mut name, last(&place.path));
        let file = look(place.way());
        match (&file, look(&name)) {
            (None, _) => name,
            (Some(there), Some(here)) if identity(there) == identity(&here) => name,
            _ => self.same(view, &place.path, file.as_ref()).unwrap_or_else(|| marked(view, &place.path)),
        }
    }

    /// A name by which the recorder reaches that file.
    fn same(&mut self, view: &View, path: &[u8], file: Option<&Statx>) -> Option<Vec<u8>> {
        let is_it = |name: &[u8]| Some(identity(&look(name)?) == identity(file?));
        if is_it(path) == Some(true) {
            return Some(path.to_vec());
        }
        self.mapped(view, path).filter(|name| is_it(name) == Some(true))
    }

    /// Where the directory of a device that is mounted there is mounted here.
    fn mapped(&mut self, view: &View, path: &[u8]) -> Option<Vec<u8>> {
        self.other(view, view.space?);
        let own = self.own.get_or_insert_with(|| read("self"));
        let (_, other) = self.other.as_ref()?;
        // `mountinfo` tells places as seen from the root of the process.
        let seen = if &*view.root == b"/" { path } else { path.strip_prefix(&*view.root)? };
        let seen = if seen.is_empty() { b"/" } else { seen };
        let mount = deepest(other, seen, |mount| &mount.point)?;
        let mut inside = mount.root.clone();
        push(&mut inside, below(seen, &mount.point));
        let candidates = own.iter().filter(|own| own.device == mount.device && is_below(&inside, &own.root));
        let here = candidates.max_by_key(|own| own.root.len())?;
        let mut name = here.point.clone();
        push(&mut name, below(&inside, &here.root));
        Some(name)
    }
}

/// The mount that `path` lies in; of several at one place the last.
fn deepest<'a>(mounts: &'a [Mount], path: &[u8], place: impl Fn(&Mount) -> &Vec<u8>) -> Option<&'a Mount> {
    mounts.iter().filter(|mount| is_below(path, place(mount))).max_by_key(|mount| place(mount).len())
}

/// The part of `path` behind `directory`.
fn below<'a>(path: &'a [u8], directory: &[u8]) -> &'a [u8] {
    let rest = path.get(directory.len()..).unwrap_or_default();
    if directory == b"/" {
        path.get(1..).unwrap_or_default()
    } else {
        rest.strip_prefix(b"/").unwrap_or(rest)
    }
}

fn marked(view: &View, path: &[u8]) -> Vec<u8> {
    with_mark(&mark(view.space.unwrap_or_default()), path)
}

/// A path as it is called behind a mark.
fn with_mark(mark: &[u8], path: &[u8]) -> Vec<u8> {
    let mut name = mark.to_vec();
    push(&mut name, path.strip_prefix(b"/").unwrap_or(path));
    name
}

/// The mark of a namespace or of a mount; their numbers are far apart.
fn mark(number: u64) -> Vec<u8> {
    format!("/mnt:[{number}]").into_bytes()
}

/// The namespace of the process whose link that is (`/proc/7/fd/3`), if the mount is one of it.
fn space_with(link: &[u8], number: u64) -> Option<u64> {
    let process = link.strip_prefix(b"/proc/")?.split(|byte| *byte == b'/').next()?;
    let process = std::str::from_utf8(process).ok()?;
    let has = read(process).iter().any(|mount| mount.number == number);
    if has { space_of(process) } else { None }
}

/// The mark of a name that was told before.
pub(super) fn mark_of(name: &[u8]) -> Option<Mark> {
    let end = name.iter().position(|byte| *byte == b']').filter(|_| name.starts_with(MARK))?;
    Some(name[..=end].into())
}

fn read(process: &str) -> Vec<Mount> {
    let text = std::fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    text.split(|byte| *byte == b'\n').filter_map(parse).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let number = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let mut fields = fields.skip(1);
    let device = fields.next()?.to_vec();
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    (root.starts_with(b"/") && point.starts_with(b"/")).then_some(Mount { number, device, root, point })
}

/// Blanks, tabs, line ends and backslashes stand as octal numbers.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let octal = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match octal {
            Some(byte) => {
                out.push(byte);
                rest = &behind[3..];
            }
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mountinfo_are_read() {
        let mount = parse(br"36 35 98:0 /a\040b /c\134d rw,noatime master:1 - ext3 /dev/root rw").unwrap();
        assert_eq!(
            mount,
            Mount { number: 36, device: b"98:0".to_vec(), root: b"/a b".to_vec(), point: br"/c\d".to_vec() }
        );
        assert_eq!(parse(b"1 2 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn the_last_of_the_deepest_mounts_holds_a_path() {
        let mount = |root: &str, point: &str| Mount {
            number: 0,
            device: b"1:0".to_vec(),
            root: root.into(),
            point: point.into(),
        };
        let mounts = [mount("/", "/"), mount("/x", "/a"), mount("/y", "/a"), mount("/z", "/ab")];
        assert_eq!(deepest(&mounts, b"/a/f", |mount| &mount.point), Some(&mounts[2]));
        assert_eq!(deepest(&mounts, b"/abc", |mount| &mount.point), Some(&mounts[0]));
        assert_eq!(
            (below(b"/a/f", b"/a"), below(b"/a", b"/"), below(b"/a", b"/a")),
            (&b"f"[..], &b"a"[..], &b""[..])
        );
    }
}
