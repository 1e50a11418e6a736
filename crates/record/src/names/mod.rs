//! The names that the kernel resolved: paths of calls without symbolic links, `.` and `..`.
//!
//! A descriptor that was opened tells its own name. A name that a call was given is looked up as the kernel does it: from
//! the working directory, the directory descriptor or the root of the thread, link by link. What was learnt about
//! directories is kept until a call is seen that may change it, and no longer than a moment, because others that are not
//! recorded change names, too.
//!
//! A thread in another mount namespace sees other files under the same names. Its names are translated to those
//! that the recorder sees where both lead to the same file ([`mounts`]), and else marked: `/mnt:[4026532266]/etc/passwd`.

pub(crate) mod mounts;
pub(crate) mod rules;
mod view;
mod walk;

use crate::proc;
use hashbrown::{HashMap, HashSet};
use iotrail_decode::CallSet;
use iotrail_model::calls::{self, CallSpec};
use iotrail_model::{CallId, Nanos, Pid, Tid, Timestamp};
use mounts::Mounts;
use rules::{Change, Last};
use rustix::fs::FileType;
use view::{View, look, space_of};
use walk::{Location, Plain, Walker, push, walk};

/// How long what was learnt is believed without another look.
const BELIEVED: Nanos = Nanos(50_000_000);
/// Directories that are remembered at once.
const MAX_KNOWN: usize = 1 << 14;

/// What the kernel puts behind the name of a directory that was removed.
const DELETED: &[u8] = b" (deleted)";

/// The thread that looks a name up, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) tid: Tid,
    pub(crate) pid: Pid,
    pub(crate) at: Timestamp,
}

/// Where a path begins if it is relative.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base<'a> {
    Cwd,
    /// A descriptor, and its name when it was opened.
    Fd(i32, Option<&'a [u8]>),
    /// A directory by the name that the kernel resolved.
    Directory(&'a [u8]),
}

/// How to look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) last: Last,
    /// Whether the last component, if it is a link, was followed.
    pub(crate) follows: bool,
    /// Whether nothing remembered about the beginning of the path will do.
    pub(crate) anew: bool,
    /// Whether the name of a directory descriptor must have been seen a moment ago.
    pub(crate) doubts: bool,
    /// Whether the base is the root, too (`RESOLVE_IN_ROOT`).
    pub(crate) in_root: bool,
}

/// Names that could not be found, or are not those of the recorder.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Paths that are known by their letters only.
    pub(crate) unresolved: u64,
    /// Paths that could not be read from the memory of the program.
    pub(crate) unreadable: u64,
    /// Names that the recorder's mount namespace does not have.
    pub(crate) foreign: u64,
}

#[derive(Debug)]
struct Known {
    directory: Directory,
    at: Timestamp,
    epoch: u64,
    made: u64,
}

#[derive(Debug)]
struct Confirmed {
    path: Vec<u8>,
    at: Timestamp,
    epoch: u64,
}

#[derive(Debug)]
struct Cwd {
    path: Vec<u8>,
    at: Timestamp,
    epoch: (u64, u64),
}

/// Looks names up and remembers directories.
#[derive(Debug)]
pub(crate) struct Names {
    own: Pid,
    space: Option<u64>,
    views: HashMap<Tid, (View, u64), foldhash::fast::FixedState>,
    cwds: HashMap<Tid, Cwd, foldhash::fast::FixedState>,
    known: HashMap<Box<[u8]>, Known, foldhash::fast::FixedState>,
    /// Symbolic links that lie on the way to known directories.
    links: HashSet<Box<[u8]>, foldhash::fast::FixedState>,
    plain: Plain,
    /// Directory descriptors that had the name that is known of them, and when that was seen.
    confirmed: HashMap<(Tid, i32), Confirmed, foldhash::fast::FixedState>,
    mounts: Mounts,
    /// Renames and new links that were seen.
    epoch: u64,
    /// New directories that were seen.
    made: u64,
    /// Changes of working directories that were seen.
    moved: u64,
    /// Changes of roots and mounts that were seen.
    mounted: u64,
    /// Whether a directory may have another name than when it was opened.
    renamed: bool,
    /// Whether calls that change names may go unseen, so that nothing is believed.
    pub(crate) blind: bool,
    key: Vec<u8>,
    pub(crate) tally: Tally,
}

impl Names {
    /// Remembers names only if the calls that change them are followed.
    pub(crate) fn new(calls: &CallSet) -> Self {
        Self {
            own: Pid(std::process::id()),
            space: space_of("self"),
            views: HashMap::default(),
            cwds: HashMap::default(),
            known: HashMap::default(),
            links: HashSet::default(),
            plain: Plain::default(),
            confirmed: HashMap::default(),
            mounts: Mounts::default(),
            epoch: 0,
            made: 0,
            moved: 0,
            mounted: 0,
            renamed: false,
            blind: !rules::follows_changes(calls),
            key: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// A thread is gone, and its id may be given again.
    pub(crate) fn forget(&mut self, tid: Tid) {
        self.views.remove(&tid);
        self.cwds.remove(&tid);
        if self.confirmed.len() >= MAX_KNOWN {
            self.confirmed.clear();
        }
    }

    /// The name of what `text` stands for; `None` if it cannot be found out.
    pub(crate) fn place(&mut self, who: Who, base: Base<'_>, text: &[u8], how: How) -> Option<Vec<u8>> {
        let mut view = self.view(who.tid)?;
        let absolute = text.first() == Some(&b'/') && !how.in_root;
        let start = if absolute { Location::root(&view) } else { self.start(&view, who, base, how)? };
        if how.in_root {
            view.root = start.path.as_slice().into();
            view.root_way = start.way().into();
            view.mark = start.mark.clone();
        }
        let (directories, name) = split(text, how.last);
        let lasting = start.mark.is_none() && (absolute || view.space.is_none());
        let directory = self.directory(&view, who, &start, directories, lasting)?;
        let Some(name) = name else {
            let is_gone = directory.missing.is_empty() && is_gone(&directory.place.path);
            let mut path = self.outer_of(directory);
            path.truncate(path.len() - if is_gone { DELETED.len() } else { 0 });
            return Some(path);
        };
        if how.last == Last::Name || !directory.missing.is_empty() {
            let mut path = self.outer_of(directory);
            push(&mut path, name);
            return Some(path);
        }
        if how.follows && how.last == Last::Target {
            let walker = Walker { view: &view, pid: who.pid, own: self.own, at: who.at };
            if self.blind {
                self.plain.clear();
            }
            let walked = walk(walker, &mut self.plain, &mut self.mounts, &directory.place, name)?;
            // A link that leads to nothing was not followed by a call that failed.
            if (!walked.links.is_empty() || walked.own) && walked.missing.is_empty() {
                let mut path = self.outer(&view, &walked.place);
                path.truncate(path.len() - if is_gone(&walked.place.path) { DELETED.len() } else { 0 });
                return Some(path);
            }
        }
        let mut place = directory.place.clone();
        place.push(name);
        let name = match directory.outer {
            None => return Some(place.path),
            Some(outer) => match &place.mark {
                Some(mark) => Mounts::entry_behind_mark(mark, outer, &place),
                None => self.mounts.entry(&view, outer, &place),
            },
        };
        self.count(&name);
        Some(name)
    }

    /// The working directory of a thread, as it is now.
    pub(crate) fn cwd(&mut self, who: Who) -> Option<Vec<u8>> {
        let path = without_mark(link_of(who.tid, "cwd")?, who.tid, "cwd");
        Some(self.seen(who.tid, "cwd", path))
    }

    /// The root directory of a thread, as it is now.
    pub(crate) fn root(&mut self, who: Who) -> Option<Vec<u8>> {
        self.views.remove(&who.tid);
        let view = self.view(who.tid)?;
        Some(self.outer(&view, &Location::root(&view)))
    }

    /// The recorder's name of what a link of a thread (`fd/3`, `exe`) leads to.
    pub(crate) fn seen(&mut self, tid: Tid, link: &str, name: Vec<u8>) -> Vec<u8> {
        if !name.starts_with(b"/") || is_in_no_directory(&name) {
            return name;
        }
        match self.view(tid) {
            Some(view) if view.space.is_some() || self.mounts.may_stray => {
                let link = format!("/proc/{tid}/{link}").into_bytes();
                let name = match self.mounts.stray(&view, &name, &link) {
                    Some(mark) => Mounts::behind_mark(&mark, &link, &name),
                    None if view.space.is_some() => self.mounts.behind(&view, &link, &name),
                    None => name,
                };
                self.count(&name);
                name
            }
            _ => name,
        }
    }

    /// A descriptor came from somewhere else, perhaps out of another mount namespace.
    pub(crate) fn suspect(&mut self) {
        self.mounts.may_stray = true;
    }

    /// A call did what it shall, `paths` being the names that it was given.
    pub(crate) fn changed(&mut self, who: Who, spec: &CallSpec, paths: &[&[u8]]) {
        match rules::change(spec) {
            Change::None => {}
            Change::Made => self.made += 1,
            Change::Linked => self.linked(),
            Change::Removed => {
                if paths.iter().any(|path| self.links.contains(*path)) {
                    self.linked();
                }
            }
            Change::Renamed => {
                // What was exchanged stands under both names.
                let harmless = match paths {
                    [from, to] => look(from).is_none() && is_file(to),
                    _ => false,
                };
                if !harmless {
                    self.renamed = true;
                    self.linked();
                }
            }
            Change::Directory => self.moved += 1,
            Change::Mounts => {
                self.mounted += 1;
                self.mounts.forget();
                self.mounts.may_stray = true;
                self.linked();
                self.views.remove(&who.tid);
            }
        }
    }

    /// A request was served beside the calls: when, nobody knows.
    pub(crate) fn changed_beside(&mut self, call: CallId) {
        if calls::spec(call).is_some_and(|spec| rules::change(spec) != Change::None) {
            self.renamed = true;
            self.linked();
        }
    }

    fn linked(&mut self) {
        self.epoch += 1;
        self.made += 1;
        self.links.clear();
        self.plain.clear();
    }

    /// How a thread sees names. A root that is a directory below the top may be renamed or removed.
    fn view(&mut self, tid: Tid) -> Option<View> {
        if let Some((view, epoch)) = self.views.get(&tid)
            && *epoch == self.mounted
            && *view.root == *b"/"
            && !self.blind
        {
            return Some(view.clone());
        }
        let view = View::of(tid, self.space)?;
        let mark = self.mounts.stray(&view, &view.root, format!("/proc/{tid}/root").as_bytes());
        let view = view.behind(mark);
        self.views.insert(tid, (view.clone(), self.mounted));
        Some(view)
    }

    /// Where a relative path begins. A directory that was removed has a mark behind its name, as the kernel shows it.
    fn start(&mut self, view: &View, who: Who, base: Base<'_>, how: How) -> Option<Location> {
        let tid = who.tid;
        let is_foreign = view.space.is_some();
        let way = |link: &str, is_marked: bool| {
            (is_foreign || is_marked).then(|| format!("/proc/{tid}/{link}").into_bytes())
        };
        match base {
            Base::Directory(_) if is_foreign => None,
            Base::Directory(path) if path.starts_with(mounts::MARK) => None,
            Base::Directory(path) => Some(Location { path: path.to_vec(), ..Location::default() }),
            Base::Fd(fd, name) => {
                let (unsure, may_stray) = (how.doubts || self.renamed, self.mounts.may_stray);
                let usable = |name: &&[u8]| {
                    let sure = !unsure || self.is_confirmed(who, fd, name);
                    let is_here = name.starts_with(b"/") && !name.starts_with(mounts::MARK);
                    is_here && sure && !(how.anew || self.blind || is_foreign || may_stray)
                };
                let link = format!("fd/{fd}");
                if let Some(name) = name.filter(usable) {
                    return Some(Location { path: name.to_vec(), ..Location::default() });
                }
                let path = without_mark(link_of(tid, &link)?, tid, &link);
                if name == Some(&path[..]) {
                    let confirmed = Confirmed { path: path.clone(), at: who.at, epoch: self.epoch };
                    self.confirmed.insert((tid, fd), confirmed);
                }
                let mark = self.mounts.stray(view, &path, format!("/proc/{tid}/{link}").as_bytes());
                // What it was called when its namespace was known says more.
                let mark = mark.map(|mark| name.and_then(mounts::mark_of).unwrap_or(mark));
                let way = way(&link, mark.is_some());
                Some(Location { path, way, mark })
            }
            Base::Cwd => {
                let epoch = (self.epoch, self.moved);
                if let Some(cwd) = self.cwds.get(&tid)
                    && cwd.epoch == epoch
                    && is_fresh(cwd.at, who.at)
                    && !(how.anew || self.blind)
                {
                    return Some(Location { path: cwd.path.clone(), way: way("cwd", false), mark: None });
                }
                let path = without_mark(link_of(tid, "cwd")?, tid, "cwd");
                let mark = self.mounts.stray(view, &path, format!("/proc/{tid}/cwd").as_bytes());
                if mark.is_none() {
                    self.cwds.insert(tid, Cwd { path: path.clone(), at: who.at, epoch });
                }
                Some(Location { path, way: way("cwd", mark.is_some()), mark })
            }
        }
    }

    /// Whether a moment ago a descriptor had the name that is known of it.
    fn is_confirmed(&self, who: Who, fd: i32, name: &[u8]) -> bool {
        self.confirmed
            .get(&(who.tid, fd))
            .is_some_and(|seen| seen.path == name && seen.epoch == self.epoch && is_fresh(seen.at, who.at))
    }

    /// The directory that `text` leads to from `start`. It is remembered if `start` is known by its name alone.
    fn directory(
        &mut self,
        view: &View,
        who: Who,
        start: &Location,
        text: &[u8],
        lasting: bool,
    ) -> Option<Directory> {
        if matches!(text, b"" | b"/") && view.space.is_none() {
            let outer = start.mark.as_ref().map(|mark| Mounts::behind_mark(mark, start.way(), &start.path));
            return Some(Directory { place: start.clone(), missing: Vec::new(), outer });
        }
        self.key.clear();
        self.key.extend_from_slice(&view.space.unwrap_or_default().to_ne_bytes());
        self.key.extend_from_slice(&view.root);
        self.key.push(0);
        self.key.extend_from_slice(&start.path);
        self.key.push(0);
        self.key.extend_from_slice(text);
        if let Some(known) = self.known.get(&self.key[..]).filter(|_| lasting)
            && known.epoch == self.epoch
            && (known.directory.missing.is_empty() || known.made == self.made)
            && is_fresh(known.at, who.at)
            && !self.blind
        {
            let mut directory = known.directory.clone();
            // The way led through another thread, which may be gone.
            if directory.place.way.is_some() {
                directory.place.way = Some(view.reach(&directory.place.path));
            }
            return Some(directory);
        }
        let key: Box<[u8]> = self.key.as_slice().into();
        // `start` is the root if `text` begins there.
        let text = text.strip_prefix(b"/").unwrap_or(text);
        if self.blind {
            self.plain.clear();
        }
        let walker = Walker { view, pid: who.pid, own: self.own, at: who.at };
        let walked = walk(walker, &mut self.plain, &mut self.mounts, start, text)?;
        let outer = match &walked.place.mark {
            Some(mark) => Some(Mounts::behind_mark(mark, walked.place.way(), &walked.place.path)),
            None => view.space.map(|_| self.mounts.directory(view, &walked.place)),
        };
        let directory = Directory { place: walked.place, missing: walked.missing, outer };
        if lasting && !walked.own {
            if self.known.len() >= MAX_KNOWN {
                self.known.clear();
                self.links.clear();
            }
            self.links.extend(walked.links.into_iter().map(Vec::into_boxed_slice));
            let (at, epoch, made) = (who.at, self.epoch, self.made);
            self.known.insert(key, Known { directory: directory.clone(), at, epoch, made });
        }
        Some(directory)
    }

    fn outer_of(&mut self, directory: Directory) -> Vec<u8> {
        let mut name = directory.outer.unwrap_or(directory.place.path);
        push(&mut name, &directory.missing);
        self.count(&name);
        name
    }

    /// The recorder's name of a place.
    fn outer(&mut self, view: &View, place: &Location) -> Vec<u8> {
        let name = match &place.mark {
            Some(mark) => Mounts::behind_mark(mark, place.way(), &place.path),
            None if view.space.is_none() || !place.path.starts_with(b"/") => return place.path.clone(),
            None => self.mounts.directory(view, place),
        };
        self.count(&name);
        name
    }

    fn count(&mut self, name: &[u8]) {
        self.tally.foreign += u64::from(name.starts_with(mounts::MARK));
    }
}

/// A directory that a path leads to.
#[derive(Clone, Debug)]
struct Directory {
    /// As far as it is there.
    place: Location,
    missing: Vec<u8>,
    /// The name in the recorder's namespace, if that is another one.
    outer: Option<Vec<u8>>,
}

/// Whether the kernel put the mark of what was removed behind a name.
fn is_gone(path: &[u8]) -> bool {
    path.ends_with(DELETED) && look(path).is_none()
}

fn is_fresh(learnt: Timestamp, now: Timestamp) -> bool {
    (0..BELIEVED.0).contains(&(now - learnt).0)
}

/// The path that a link of a thread leads to.
fn link_of(tid: Tid, name: &str) -> Option<Vec<u8>> {
    view::link(format!("/proc/{tid}/{name}").as_bytes()).ok().filter(|path| path.starts_with(b"/"))
}

/// The name of a removed directory without the mark of the kernel.
fn without_mark(path: Vec<u8>, tid: Tid, link: &str) -> Vec<u8> {
    if !path.ends_with(DELETED) {
        return path;
    }
    proc::path(tid, link).unwrap_or(path)
}

/// The part of a path that is looked up, and the last component, if that stands for a name in a directory.
fn split(text: &[u8], how: Last) -> (&[u8], Option<&[u8]>) {
    let end = text.iter().rposition(|byte| *byte != b'/').map_or(0, |place| place + 1);
    let trimmed = &text[..end];
    let start = trimmed.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let name = &trimmed[start..];
    let whole = matches!(name, b"" | b"." | b"..") || (trimmed.len() < text.len() && how != Last::Name);
    match whole {
        true => (text, None),
        false => (&text[..start], Some(name)),
    }
}

fn is_file(path: &[u8]) -> bool {
    look(path).is_some_and(|stat| FileType::from_raw_mode(stat.stx_mode.into()).is_file())
}

/// Whether the kernel calls something so that lies on a mount of its own, where no path leads.
fn is_in_no_directory(name: &[u8]) -> bool {
    [&b"/memfd:"[..], b"/SYSV", b"/dmabuf:", b"/[aio]", b"/secretmem"]
        .iter()
        .any(|kind| name.starts_with(kind))
}
