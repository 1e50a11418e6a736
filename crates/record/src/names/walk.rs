//! Follows a path component by component, as the kernel does.
//!
//! A path that was walked has no symbolic link, no `.` and no `..` in it, so that its parent is what stands before the
//! last slash. One `readlink` for each component tells whether it is a link.

use super::mounts::{Mark, Mounts};
use super::view::{View, link};
use super::{MAX_KNOWN, is_fresh};
use hashbrown::HashMap;
use iotrail_model::{Pid, Timestamp};
use rustix::io::Errno;

/// The kernel follows no more (`MAXSYMLINKS`).
const MAX_LINKS: usize = 40;
/// No path gets longer than this by links.
const MAX_LENGTH: usize = 1 << 16;

/// A directory: by its name in the namespace of a thread, and the recorder's way there, if that is another one. Names in a
/// mount of no namespace that is known have a mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) path: Vec<u8>,
    pub(super) way: Option<Vec<u8>>,
    pub(super) mark: Option<Mark>,
}

impl Location {
    pub(super) fn root(view: &View) -> Self {
        let is_own = view.space.is_none() && view.mark.is_none();
        let way = (!is_own).then(|| view.root_way.to_vec());
        Self { path: view.root.to_vec(), way, mark: view.mark.clone() }
    }

    /// Whether it is this root.
    fn is_root(&self, view: &View) -> bool {
        self.path == *view.root && self.mark == view.mark
    }

    /// The recorder's way.
    pub(super) fn way(&self) -> &[u8] {
        self.way.as_deref().unwrap_or(&self.path)
    }

    pub(super) fn push(&mut self, name: &[u8]) {
        push(&mut self.path, name);
        if let Some(way) = &mut self.way {
            push(way, name);
        }
    }

    fn climb(&mut self) {
        self.path.truncate(parent(&self.path).len());
        if let Some(way) = &mut self.way {
            push(way, b"..");
        }
    }
}

/// Where a path led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Walked {
    /// As far as it is there.
    pub(super) place: Location,
    /// What follows from the first component on that is missing, as it was given.
    pub(super) missing: Vec<u8>,
    /// It is true of this process at this moment only.
    pub(super) own: bool,
    /// The links that were followed.
    pub(super) links: Vec<Vec<u8>>,
}

/// Adds a component.
pub(super) fn push(path: &mut Vec<u8>, name: &[u8]) {
    if name.is_empty() {
        return;
    }
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The directory of a walked path.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(slash) => &path[..slash],
    }
}

/// The last component of a walked path.
pub(super) fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Whether a walked path is `directory` or lies in it.
pub(super) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    directory == b"/"
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
}

/// Names of the recorder's namespace that were found to be no symbolic links.
#[derive(Debug, Default)]
pub(super) struct Plain {
    names: HashMap<Box<[u8]>, Timestamp, foldhash::fast::FixedState>,
}

impl Plain {
    pub(super) fn clear(&mut self) {
        self.names.clear();
    }

    fn has(&self, path: &[u8], now: Timestamp) -> bool {
        self.names.get(path).is_some_and(|learnt| is_fresh(*learnt, now))
    }

    fn learn(&mut self, path: &[u8], now: Timestamp) {
        if self.names.len() >= MAX_KNOWN {
            self.names.clear();
        }
        self.names.insert(path.into(), now);
    }
}

/// Who walks: how its thread sees names, its process, the recorder, and when.
#[derive(Clone, Copy)]
pub(super) struct Walker<'a> {
    pub(super) view: &'a View,
    pub(super) pid: Pid,
    pub(super) own: Pid,
    pub(super) at: Timestamp,
}

/// Follows `text` from the directory `start`. `None` if it is not known where that leads.
pub(super) fn walk(
    walker: Walker<'_>,
    plain: &mut Plain,
    mounts: &mut Mounts,
    start: &Location,
    text: &[u8],
) -> Option<Walked> {
    let view = walker.view;
    let place = if text.first() == Some(&b'/') { Location::root(view) } else { start.clone() };
    let mut walked = Walked { place, missing: Vec::new(), own: false, links: Vec::new() };
    let mut rest: Vec<Vec<u8>> = components(text).collect();
    while let Some(name) = rest.pop() {
        if !walked.missing.is_empty() {
            push(&mut walked.missing, &name);
            continue;
        }
        if name == b".." {
            if !walked.place.is_root(view) {
                walked.place.climb();
            }
            continue;
        }
        let mut next = walked.place.clone();
        next.push(&name);
        if next.way().len() > MAX_LENGTH {
            return None;
        }
        let is_own = view.space.is_none() && walked.place.way.is_none();
        if is_own && plain.has(&next.path, walker.at) {
            walked.place = next;
            continue;
        }
        match step(walker, &walked.place, &next, &name)? {
            Step::Is => {
                if is_own {
                    plain.learn(&next.path, walker.at);
                }
                walked.place = next;
            }
            Step::Missing => walked.missing = name,
            Step::Leads(target) => {
                walked.links.push(next.path);
                if walked.links.len() > MAX_LINKS {
                    return None;
                }
                if target.first() == Some(&b'/') {
                    walked.place = Location::root(view);
                }
                rest.extend(components(&target));
            }
            Step::Own(target) => {
                walked.own = true;
                rest.extend(components(&target));
            }
            Step::Jumps(target) => {
                walked.own = true;
                let mark = mounts.stray(view, &target, next.way());
                let way = if mark.is_some() { Some(next.way().to_vec()) } else { next.way };
                walked.place = Location { path: target, way, mark };
            }
        }
    }
    Some(walked)
}

enum Step {
    /// It is no link.
    Is,
    Missing,
    /// It is a link.
    Leads(Vec<u8>),
    /// It is a link that is another one for each process.
    Own(Vec<u8>),
    /// It is a link of the kernel to what is open, whatever its path. What was removed has a mark behind its name.
    Jumps(Vec<u8>),
}

fn step(walker: Walker<'_>, directory: &Location, next: &Location, name: &[u8]) -> Option<Step> {
    let Walker { view, pid, own, .. } = walker;
    let target = match link(next.way()) {
        Ok(target) => target,
        Err(Errno::INVAL) => return Some(Step::Is),
        Err(Errno::NOENT | Errno::NOTDIR) => {
            // The pseudo link is there for the process, but not for a recorder that its namespace does not know.
            let hidden = matches!(name, b"self" | b"thread-self") && last(&directory.path) == b"proc";
            return (!hidden).then_some(Step::Missing);
        }
        Err(_) => return None,
    };
    if is_magic(&directory.path, name) {
        return Some(Step::Jumps(target));
    }
    let number = own.0.to_string();
    Some(match name {
        b"self" if target == number.as_bytes() => Step::Own(pid.0.to_string().into_bytes()),
        b"thread-self" if target.starts_with(format!("{number}/task/").as_bytes()) => {
            Step::Own(format!("{pid}/task/{}", view.tid).into_bytes())
        }
        _ => Step::Leads(target),
    })
}

/// Whether the kernel itself leads on from there (`/proc/PID/fd/3`, `/proc/PID/cwd`), and not the text of the link.
fn is_magic(directory: &[u8], name: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let above = parent(directory);
    let is_process = |path: &[u8]| {
        is_number(last(path)) && matches!(last(parent(path)), b"proc" | b"task") && path.len() > 6
    };
    match name {
        b"cwd" | b"root" | b"exe" => is_process(directory),
        _ => match last(directory) {
            b"fd" => is_number(name) && is_process(above),
            b"ns" | b"map_files" => is_process(above),
            _ => false,
        },
    }
}

/// The components of a path, the first one last.
fn components(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let parts = text.rsplit(|byte| *byte == b'/');
    parts.filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Tid;
    use std::fs::{File, create_dir_all};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    struct Stage {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    fn stage() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        create_dir_all(root.join("real/deep")).unwrap();
        symlink("real/deep", root.join("link")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/real", root.join("absolute")).unwrap();
        Stage { _dir: dir, root }
    }

    fn bytes(path: &Path) -> &[u8] {
        path.as_os_str().as_bytes()
    }

    impl Stage {
        fn walk_below(&self, root: &Path, text: &str) -> Option<Walked> {
            let own = Pid(std::process::id());
            let root = bytes(root);
            let view =
                View { tid: Tid(own.0), root: root.into(), root_way: root.into(), space: None, mark: None };
            let start = Location { path: bytes(&self.root).to_vec(), ..Location::default() };
            let walker = Walker { view: &view, pid: own, own, at: Timestamp(0) };
            walk(walker, &mut Plain::default(), &mut Mounts::default(), &start, text.as_bytes())
        }

        fn walk(&self, text: &str) -> String {
            let walked = self.walk_below(Path::new("/"), text).unwrap();
            let mut path = walked.place.path;
            push(&mut path, &walked.missing);
            let path = String::from_utf8(path).unwrap();
            path.strip_prefix(self.root.to_str().unwrap()).map_or(path.clone(), str::to_owned)
        }
    }

    #[test]
    fn two_dots_behind_a_link_lead_to_the_directory_of_its_target() {
        let stage = stage();
        assert_eq!(stage.walk("link/../file"), "/real/file");
        assert_eq!(stage.walk("./link//."), "/real/deep");
        assert_eq!(stage.walk("real/../real/deep/x"), "/real/deep/x");
        assert_eq!(stage.walk("/../../proc"), "/proc");
    }

    #[test]
    fn what_follows_a_missing_component_is_as_given() {
        let stage = stage();
        assert_eq!(stage.walk("none/../real"), "/none/../real");
        assert!(stage.walk_below(Path::new("/"), "none").unwrap().missing.starts_with(b"none"));
    }

    #[test]
    fn nothing_lies_above_a_root_and_its_links_stay_below_it() {
        let stage = stage();
        let walked = stage.walk_below(&stage.root, "/../absolute/deep").unwrap();
        assert_eq!(walked.place.path, bytes(&stage.root.join("real/deep")));
        assert_eq!(walked.links, [bytes(&stage.root.join("absolute"))]);
    }

    #[test]
    fn loops_lead_nowhere() {
        let stage = stage();
        assert_eq!(stage.walk_below(Path::new("/"), "loop/x"), None);
    }

    #[test]
    fn links_of_the_kernel_lead_to_what_is_open() {
        let stage = stage();
        let file = File::create_new(stage.root.join("real/open")).unwrap();
        let pid = std::process::id();
        assert_eq!(stage.walk(&format!("/proc/self/fd/{}", file.as_raw_fd())), "/real/open");
        assert_eq!(stage.walk(&format!("/proc/{pid}/root/proc")), "/proc");
        assert_eq!(stage.walk("/proc/self/stat"), format!("/proc/{pid}/stat"));
        assert_eq!(stage.walk("/proc/self"), format!("/proc/{pid}"));
    }
}
