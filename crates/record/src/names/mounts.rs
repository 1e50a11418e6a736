//! Names of files in another mount namespace.
//!
//! The same directory may be mounted in both, at the same place or at another one. `/proc/PID/mountinfo` tells which
//! directory of which device is mounted where, there and here. A name found that way is taken only if device and inode
//! are the same; whatever the recorder cannot reach gets the mark of its namespace.

use super::view::{View, identity, look, look_behind};
use super::walk::{Place, is_below, last, parent, push};
use rustix::fs::Statx;

/// How names begin that belong to another mount namespace.
pub(crate) const MARK: &[u8] = b"/mnt:[";

/// A line of `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    device: Vec<u8>,
    /// The directory of the device that is mounted.
    root: Vec<u8>,
    /// Where.
    point: Vec<u8>,
}

/// Mounts of the recorder, and of the namespace that was asked about last.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    own: Option<Vec<Mount>>,
    other: Option<(u64, Vec<Mount>)>,
}

impl Mounts {
    /// Something was mounted or unmounted.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The recorder's name of a directory.
    pub(super) fn directory(&mut self, view: &View, place: &Place) -> Vec<u8> {
        let file = look_behind(place.way());
        self.same(view, &place.path, file.as_ref()).unwrap_or_else(|| marked(view, &place.path))
    }

    /// The recorder's name of what a link of the kernel leads to.
    pub(super) fn behind(&mut self, view: &View, link: &[u8], path: &[u8]) -> Vec<u8> {
        let file = look_behind(link);
        if file.as_ref().is_some_and(|file| file.stx_nlink == 0) {
            let way = view.reach(parent(path));
            let mut name = self.directory(view, &Place { path: parent(path).to_vec(), way: Some(way) });
            push(&mut name, last(path));
            return name;
        }
        self.same(view, path, file.as_ref()).unwrap_or_else(|| marked(view, path))
    }

    /// The recorder's name of what bears a name in a directory, which may be a mount of its own.
    pub(super) fn entry(&mut self, view: &View, directory: Vec<u8>, place: &Place) -> Vec<u8> {
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
        let space = view.space?;
        if self.other.as_ref().is_none_or(|(other, _)| *other != space) {
            self.other = Some((space, read(&view.tid.0.to_string())));
        }
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
    let mut name = format!("/mnt:[{}]", view.space.unwrap_or_default()).into_bytes();
    push(&mut name, path.strip_prefix(b"/").unwrap_or(path));
    name
}

fn read(process: &str) -> Vec<Mount> {
    let text = std::fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    text.split(|byte| *byte == b'\n').filter_map(parse).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = fields.next()?.to_vec();
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    (root.starts_with(b"/") && point.starts_with(b"/")).then_some(Mount { device, root, point })
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
            Mount { device: b"98:0".to_vec(), root: b"/a b".to_vec(), point: br"/c\d".to_vec() }
        );
        assert_eq!(parse(b"1 2 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn the_last_of_the_deepest_mounts_holds_a_path() {
        let mount = |root: &str, point: &str| Mount {
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
