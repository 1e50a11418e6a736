//! Which file each name denotes, by now: a tree of names, as the calls of a trace made and removed them.
//!
//! A file is a number; names are labels that come and go. A rename moves what lies below a directory with it; symbolic
//! links that the trace made or read are followed. Relative names are those of the directory in which the trace began, as
//! long as its path is not known. Memory is bounded: when there are too many names all are forgotten, and what a name
//! denotes is unknown until something new is made there or a tracer looks.

use crate::births;
use crate::covers::Covers;
use crate::mounts::{MountId, Mounts};
use crate::node::Node;
use crate::paths;
use crate::paths::within;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{FileFacts, FileId, FileKind, Interner, Nullable, PathId, Timestamp};

/// Names and files that are remembered.
const MOST: usize = 1 << 18;
/// A longer path is none for the kernel.
const MOST_BYTES: usize = 4096;
/// A name of so many bytes costs as much as a look at it.
const LONG: usize = 256;
/// Symbolic links that the kernel follows in one path.
const MOST_LINKS: usize = 40;
const ROOT: Node = Node(0);
/// The directory in which the trace began.
const START: Node = Node(1);
/// Above a name that nothing leads to.
const NOWHERE: u32 = u32::MAX;

/// What a name denotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing was seen of it.
    #[default]
    Unknown,
    /// Nothing: what it denoted was removed or has another name now.
    Nothing,
    File(FileId),
    /// This file, which has no name: the kernel calls it so.
    Nameless(FileId),
}

/// Whether a call makes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Made {
    No,
    /// Unless it was there.
    Perhaps,
    /// Nothing was there.
    Surely,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) node: Node,
    /// The mount that shows it.
    mount: MountId,
    /// The first symbolic link on the way.
    pub(crate) link: Option<Crossed>,
}

/// A symbolic link that a path led through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crossed {
    pub(crate) file: FileId,
    /// How much of the path is its name.
    pub(crate) length: usize,
    /// Where the path led in the end.
    pub(crate) path: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Name {
    content: Content,
    /// The directory that it lies in.
    above: u32,
    /// What it is called there.
    component: u32,
    /// What the names that lie in it are called.
    below: Vec<u32>,
}

impl Name {
    fn new(content: Content, (above, component): (u32, u32)) -> Self {
        Self { content, above, component, below: Vec::new() }
    }

    /// One that nothing leads to but itself.
    fn top() -> Self {
        Self::new(Content::Unknown, (NOWHERE, 0))
    }
}

/// What is known of a file that has names.
#[derive(Clone, Debug, Default)]
struct Known {
    facts: Option<FileFacts>,
    /// What the calls say that it is.
    kind: Option<FileKind>,
    names: u32,
    /// Calls in flight that take a name from it.
    removals: u32,
    /// The last name that it got.
    name: Option<Node>,
    /// Whether a call of the trace made it.
    made: bool,
    /// When the first open of it began.
    since: Option<Timestamp>,
    /// When that was over.
    seen: Option<Timestamp>,
    /// When it lost its last name, or another file was found to have that.
    lost: Option<Timestamp>,
    /// Whether it has a name that a mount hides.
    hidden: bool,
    /// Where it points to, of a symbolic link.
    target: Option<Box<[u8]>>,
}

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

impl Known {
    fn has_names(&self) -> bool {
        self.names > 0 || self.hidden
    }

    fn outlives_its_names(&self, found: &FileFacts) -> bool {
        let births = self.facts.and_then(|known| known.birth).zip(found.birth);
        let (Some((birth, same)), Some(seen), Some(lost)) = (births, self.seen, self.lost) else {
            return false;
        };
        birth == same && births::is_over(birth, seen, lost)
    }
}

/// The names of a trace.
#[derive(Debug)]
pub(crate) struct Namespace {
    components: Interner,
    names: Vec<Name>,
    children: Map<(u32, u32), u32>,
    files: Map<FileId, Known>,
    by_inode: Map<(u64, u64), FileId>,
    /// Names of paths without a link on their way, valid while their epoch lasts.
    of_paths: Vec<(u32, u32)>,
    epoch: u32,
    links: usize,
    forgot: bool,
    /// Where relative names begin.
    start: Node,
    /// The root of who looks, where absolute targets of links begin; empty if it is the tracer's.
    root: Vec<u8>,
    /// The same as a name: nobody goes up from there.
    top: Option<Node>,
    pub(crate) mounts: Mounts,
    /// Those that a recorder saw, which tells itself where names lead.
    covers: Covers,
    /// When the call began that is looked at.
    now: Timestamp,
}

impl Default for Namespace {
    fn default() -> Self {
        Self {
            components: Interner::new(),
            names: vec![Name::top(), Name::top()],
            children: Map::default(),
            files: Map::default(),
            by_inode: Map::default(),
            of_paths: Vec::new(),
            epoch: 1,
            links: 0,
            forgot: false,
            start: START,
            root: Vec::new(),
            top: None,
            mounts: Mounts::default(),
            covers: Covers::default(),
            now: Timestamp(0),
        }
    }
}

impl Namespace {
    /// The name that `path` leads to, which is absolute or seen from where the trace began; a link at its end is followed if `follow`. `None` if there are too
    /// many links.
    pub(crate) fn reach(&mut self, id: PathId, path: &[u8], follow: bool) -> Option<Walked> {
        // Where there are mounts, a path may lead elsewhere for each thread.
        if !self.mounts.is_empty() {
            return self.walk(path, follow);
        }
        if let Some((epoch, node)) = self.of_paths.get(id.index())
            && *epoch == self.epoch
        {
            return Some(Walked { node: Node(*node), mount: MountId::default(), link: None });
        }
        let walked = self.walk(path, follow)?;
        if walked.link.is_none() && !self.is_link(walked.node) {
            if self.of_paths.len() <= id.index() {
                self.of_paths.resize((id.index() + 1).next_power_of_two(), (0, 0));
            }
            self.of_paths[id.index()] = (self.epoch, walked.node.0);
        }
        Some(walked)
    }

    fn walk(&mut self, path: &[u8], follow: bool) -> Option<Walked> {
        if self.names.len().max(self.files.len()).max(self.by_inode.len()) > MOST {
            self.forget();
        }
        let start = if path.first() == Some(&b'/') { ROOT } else { self.start };
        self.walk_from(start, path, follow)
    }

    /// As [`Self::reach`] of a relative path seen from a directory, whatever is mounted over that.
    pub(crate) fn reach_below(&mut self, directory: Node, path: &[u8], follow: bool) -> Option<Walked> {
        self.walk_from(directory, path, follow)
    }

    /// The name of a directory that a path led to and that has it still, but is hidden by what is mounted over it or above.
    pub(crate) fn covered(&mut self, path: &[u8], directory: FileId) -> Option<Node> {
        if self.mounts.is_empty() {
            return None;
        }
        let node = self.files.get(&directory)?.name?;
        let is_there = self.content(node) == Content::File(directory)
            && self.walk(path, true).is_some_and(|walked| walked.node != node)
            && self.name_of(node).is_some_and(|name| name == path);
        is_there.then_some(node)
    }

    fn walk_from(&mut self, start: Node, path: &[u8], follow: bool) -> Option<Walked> {
        let (mut link, mut followed) = (None, 0);
        // With the mount of each name on it.
        let (mut way, mut mounts) = match start {
            ROOT => self.top_of_all(),
            _ => {
                let way = self.way(start);
                let mounts = vec![MountId::default(); way.len()];
                (way, mounts)
            }
        };
        let (mut rest, mut at) = (std::borrow::Cow::Borrowed(path), 0);
        while at < rest.len() {
            let end = rest[at..].iter().position(|byte| *byte == b'/').map_or(rest.len(), |slash| at + slash);
            let component = &rest[at..end];
            let next = (end + 1).min(rest.len());
            let is_last = rest[next..].iter().all(|byte| *byte == b'/');
            match component {
                b"" | b"." => {}
                b".." if self.ascends(&mut way) => {
                    mounts.truncate(way.len());
                    self.enter_mounts(&mut way, &mut mounts);
                }
                name => {
                    let above = way.last().map_or(ROOT, |(above, _)| *above);
                    let component = self.components.intern(name);
                    let mut node = self.child(above, component);
                    let mut mount = mounts.last().copied().unwrap_or_default();
                    if !self.mounts.is_empty() {
                        (mount, node) = self.mounts.seen_at(mount, node);
                    }
                    match self.link_at(node).filter(|_| follow || !is_last) {
                        None => {
                            way.push((node, component));
                            mounts.push(mount);
                        }
                        Some((file, target)) => {
                            followed += 1;
                            if followed > MOST_LINKS {
                                return None;
                            }
                            link = link.or(Some((file, end)));
                            let mut behind = [target, b"/", &rest[next..]].concat();
                            if target.first() == Some(&b'/') {
                                (way, mounts) = self.top_of_all();
                                if !self.root.is_empty() {
                                    behind = [&self.root, &b"/"[..], &within(&behind)].concat();
                                }
                            }
                            (rest, at) = (std::borrow::Cow::Owned(behind), 0);
                            continue;
                        }
                    }
                }
            }
            at = next;
        }
        let link = link.map(|(file, length)| Crossed { file, length, path: self.text(&way) });
        let mount = mounts.last().copied().unwrap_or_default();
        Some(Walked { node: way.last().map_or(ROOT, |(node, _)| *node), mount, link })
    }

    /// The way to the root of all names, and its mount.
    fn top_of_all(&self) -> (Vec<(Node, u32)>, Vec<MountId>) {
        let (mount, root) = match self.mounts.is_empty() {
            true => (MountId::default(), ROOT),
            false => self.mounts.seen_at(MountId::default(), ROOT),
        };
        (vec![(root, 0)], vec![mount])
    }

    /// Who looks from now on has this root; `None` is the tracer's.
    pub(crate) fn look_from(&mut self, root: Option<&[u8]>) {
        let root = root.filter(|root| *root != b"/").unwrap_or_default();
        if self.root == root {
            return;
        }
        self.root.clear();
        self.top = None;
        if !root.is_empty() {
            self.top = self.walk(root, true).map(|walked| walked.node);
            self.root.extend_from_slice(root);
        }
    }

    /// Whether who looks has another root than the tracer.
    pub(crate) fn is_rooted(&self) -> bool {
        !self.root.is_empty()
    }

    /// The names that lead to one, from the root or from where the trace began, and their components.
    fn way(&self, node: Node) -> Vec<(Node, u32)> {
        let mut way = Vec::new();
        let mut at = node.0;
        while let Some(name) = self.names.get(at as usize) {
            way.push((Node(at), name.component));
            at = name.above;
        }
        way.reverse();
        way
    }

    /// Goes to the directory above, which is unknown of where the trace began.
    fn ascends(&self, way: &mut Vec<(Node, u32)>) -> bool {
        let is_unknown = way.first().is_some_and(|(first, _)| *first == START)
            && way
                .last()
                .is_none_or(|(last, component)| *last == START || self.components.get(*component) == b"..");
        let is_top = self.top.is_some() && way.last().map(|(last, _)| *last) == self.top;
        if !is_unknown && !is_top && way.len() > 1 {
            way.pop();
        }
        !is_unknown
    }

    /// Goes up to what is mounted over the directory above, too, of who was in one below when that was mounted.
    fn enter_mounts(&self, way: &mut [(Node, u32)], mounts: &mut [MountId]) {
        if let (false, Some(last), Some(mount)) = (self.mounts.is_empty(), way.last_mut(), mounts.last_mut())
        {
            (*mount, last.0) = self.mounts.seen_at(*mount, last.0);
        }
    }

    fn text(&self, way: &[(Node, u32)]) -> Vec<u8> {
        let below = way.get(1..).unwrap_or_default();
        let mut text: Vec<u8> = Vec::new();
        for (_, component) in below {
            text.push(b'/');
            text.extend_from_slice(self.components.get(*component));
        }
        match (way.first(), text.is_empty()) {
            (Some((START, _)), true) => vec![b'.'],
            (Some((START, _)), false) => text.split_off(1),
            (_, true) => vec![b'/'],
            (_, false) => text,
        }
    }

    fn child(&mut self, above: Node, component: u32) -> Node {
        let names = &mut self.names;
        let child = *self.children.entry((above.0, component)).or_insert_with(|| {
            names[above.0 as usize].below.push(component);
            names.push(Name::new(Content::Unknown, (above.0, component)));
            names.len() as u32 - 1
        });
        Node(child)
    }

    /// The directory in which the trace began has this path: what was found by relative names lies there.
    pub(crate) fn begins_at(&mut self, path: &[u8]) {
        if self.start != START {
            return;
        }
        let Some(walked) = self.walk(path, true).filter(|walked| walked.node != START) else { return };
        for component in std::mem::take(&mut self.names[START.0 as usize].below) {
            if let Some(name) = self.children.remove(&(START.0, component)) {
                self.move_into(walked.node, component, name);
            }
        }
        match self.content(walked.node) {
            Content::Unknown => self.set(walked.node, self.content(START)),
            // It may have been seen as `.`, too, which is no name of it any more.
            Content::File(file) => self.files.entry(file).or_default().name = Some(walked.node),
            Content::Nothing | Content::Nameless(_) => {}
        }
        self.set(START, Content::Nothing);
        self.start = walked.node;
        self.epoch += 1;
    }

    /// Puts a name into a directory, unless something is known there.
    fn move_into(&mut self, above: Node, component: u32, name: u32) {
        self.names[name as usize].above = NOWHERE;
        if self.components.get(component) == b".." {
            return;
        }
        let present = self.child(above, component);
        if self.content(present) == Content::Unknown && !self.has_children(present) {
            self.put((above.0, component), name);
        }
    }

    /// Where a file is by now, if one of its names is known.
    pub(crate) fn path_of(&self, file: FileId) -> Option<Vec<u8>> {
        let node = self.files.get(&file)?.name?;
        self.name_of(node).filter(|_| self.content(node) == Content::File(file))
    }

    /// All names of some files.
    pub(crate) fn names_of(
        &self,
        files: &HashSet<FileId, foldhash::fast::RandomState>,
    ) -> Vec<(FileId, Vec<u8>)> {
        let nodes = (0..self.names.len() as u32).map(Node).filter(|_| !files.is_empty());
        let named = nodes.filter_map(|node| match self.content(node) {
            Content::File(file) if files.contains(&file) => Some((file, self.name_of(node)?)),
            _ => None,
        });
        named.collect()
    }

    /// The same, or where it was when its last name was removed: that name moves on with the directories above.
    pub(crate) fn last_path_of(&self, file: FileId) -> Option<Vec<u8>> {
        self.name_of(self.files.get(&file)?.name?)
    }

    /// Whether a path is known to lead to nothing.
    pub(crate) fn is_nothing(&mut self, path: &[u8]) -> bool {
        self.walk(path, true).is_none_or(|walked| self.content(walked.node) == Content::Nothing)
    }

    /// Whether a directory, which has one name only, has lost it.
    pub(crate) fn is_removed(&self, directory: FileId) -> bool {
        let name = self.files.get(&directory).and_then(|known| known.name);
        name.is_some_and(|name| self.content(name) != Content::File(directory))
    }

    /// A name as text, if something leads to it.
    pub(crate) fn name_of(&self, node: Node) -> Option<Vec<u8>> {
        let way = self.way(node);
        let leads = way.first().is_some_and(|(first, _)| [ROOT, START].contains(first));
        leads.then(|| self.text(&way))
    }

    /// The files below a name with how they are called there, none if that costs more than `most`; and what it cost.
    pub(crate) fn below(&self, node: Node, most: usize) -> (Vec<(Vec<u8>, FileId)>, usize) {
        let (mut found, mut seen) = (Vec::new(), 0);
        let mut left = vec![(node, Vec::new())];
        while let Some((node, name)) = left.pop() {
            for component in &self.names[node.0 as usize].below {
                let Some(child) = self.children.get(&(node.0, *component)) else { continue };
                // Long names count for several.
                seen += 1 + name.len() / LONG;
                if seen > most {
                    return (Vec::new(), most);
                }
                let (child, name) =
                    (Node(*child), [&name, &b"/"[..], self.components.get(*component)].concat());
                if let Content::File(file) = self.content(child) {
                    found.push((name.clone(), file));
                }
                left.push((child, name));
            }
        }
        found.sort_unstable();
        (found, seen)
    }

    /// As [`paths::join`], but `..` behind a link leads out of where the link leads to.
    pub(crate) fn join(&mut self, base: Option<&[u8]>, path: &[u8], out: &mut Vec<u8>) -> bool {
        if self.links == 0
            || path.len() > MOST_BYTES
            || !path.split(|byte| *byte == b'/').any(|component| component == b"..")
        {
            return paths::join(base, path, out);
        }
        out.clear();
        match path.first() {
            Some(b'/') => out.push(b'/'),
            _ => paths::push(base.unwrap_or_default(), out),
        }
        for component in path.split(|byte| *byte == b'/') {
            if component == b".."
                && let Some(link) = self.walk(out, true).and_then(|walked| walked.link)
            {
                *out = if link.path == b"." { Vec::new() } else { link.path };
            }
            paths::push(component, out);
        }
        if out.is_empty() {
            out.push(b'.');
        }
        out.first() == Some(&b'/')
    }

    fn link_at(&self, node: Node) -> Option<(FileId, &[u8])> {
        if self.links == 0 {
            return None;
        }
        let Content::File(file) = self.content(node) else { return None };
        Some((file, self.files.get(&file)?.target.as_deref()?))
    }

    fn is_link(&self, node: Node) -> bool {
        self.link_at(node).is_some()
    }

    /// Mounts an empty file system on `target`; whether that can be followed.
    pub(crate) fn mount(&mut self, target: &[u8]) -> bool {
        let Some(point) = self.walk(target, true) else { return false };
        self.names.push(Name::top());
        let root = Node(self.names.len() as u32 - 1);
        self.epoch += 1;
        self.mounts.add((point.mount, point.node), root).is_some()
    }

    /// Mounts were changed in a way that is not followed: nothing is known any more of any name of the current mount namespace.
    pub(crate) fn lose_names(&mut self) {
        if !self.mount(b"/") {
            self.forget();
        }
    }

    /// What is mounted on `new` comes to be the root of all, and the root that was moves to `put`. Nothing is known any more of
    /// any name if that cannot be followed.
    pub(crate) fn pivot(&mut self, new: &[u8], put: &[u8]) {
        let top = self.walk(b"/", true);
        let both = self.walk_both(new, put);
        self.epoch += 1;
        let is_followed = top.zip(both).is_some_and(|(top, [new, put])| {
            self.mounts.pivot((new.mount, new.node), (top.mount, top.node), (put.mount, put.node))
        });
        if !is_followed {
            self.lose_names();
        }
    }

    /// Shows on `target` once more what `source` leads to, and what is mounted below that if `recursive`; whether that can be
    /// followed.
    pub(crate) fn bind(&mut self, target: &[u8], source: &[u8], recursive: bool) -> bool {
        let Some([from, point]) = self.walk_both(source, target) else { return false };
        self.epoch += 1;
        let Some(to) = self.mounts.add((point.mount, point.node), from.node) else { return false };
        if !recursive {
            return true;
        }
        let mut mounts = std::mem::take(&mut self.mounts);
        let is_clear = mounts.copy_below(from.mount, to, |on| self.leads_to(on, from.node));
        self.mounts = mounts;
        is_clear
    }

    /// Moves what is mounted on `source` to `target`; whether that can be followed.
    pub(crate) fn move_mount(&mut self, source: &[u8], target: &[u8]) -> bool {
        let Some([from, point]) = self.walk_both(source, target) else { return false };
        self.epoch += 1;
        self.mounts.shift((from.mount, from.node), (point.mount, point.node))
    }

    /// Where two paths lead; `None` also if names were forgotten on the second way, so that the first means nothing any more.
    fn walk_both(&mut self, one: &[u8], other: &[u8]) -> Option<[Walked; 2]> {
        let first = self.walk(one, true)?;
        let epoch = self.epoch;
        let second = self.walk(other, true)?;
        (self.epoch == epoch).then_some([first, second])
    }

    /// Takes away what is mounted on `target`; whether its mounting was seen.
    pub(crate) fn unmount(&mut self, target: &[u8]) -> bool {
        self.epoch += 1;
        let shown = self.walk(target, true);
        shown.is_some_and(|shown| self.mounts.remove((shown.mount, shown.node)))
    }

    /// Whether a name lies below another one.
    fn leads_to(&self, node: Node, above: Node) -> bool {
        node != above && self.way(node).iter().any(|(on_way, _)| *on_way == above)
    }

    #[cold]
    fn forget(&mut self) {
        let mut mounts = std::mem::take(&mut self.mounts);
        mounts.forget();
        *self = Self { epoch: self.epoch + 1, forgot: true, mounts, ..Self::default() };
    }

    /// Whether names were forgotten: what one denotes that was not seen since then is unknown.
    pub(crate) fn forgot(&self) -> bool {
        self.forgot
    }

    /// Ids of paths change their meaning.
    pub(crate) fn rotate(&mut self) {
        self.of_paths = Vec::new();
    }

    pub(crate) fn content(&self, node: Node) -> Content {
        self.names[node.0 as usize].content
    }

    /// From now on the name denotes this.
    pub(crate) fn set(&mut self, node: Node, content: Content) {
        let old = std::mem::replace(&mut self.names[node.0 as usize].content, content);
        if old == content {
            return;
        }
        if let Content::File(file) = content {
            let known = self.files.entry(file).or_default();
            (known.names, known.name, known.hidden) = (known.names + 1, Some(node), false);
            if self.links > 0 && self.is_link(node) {
                self.epoch += 1;
            }
        }
        if let Content::File(file) = old
            && let Some(known) = self.files.get_mut(&file)
        {
            known.names = known.names.saturating_sub(1);
            if known.names == 0 {
                known.lost = Some(self.now);
                if known.target.take().is_some() {
                    self.links -= 1;
                }
            }
        }
    }

    /// The file is a symbolic link.
    pub(crate) fn set_target(&mut self, file: FileId, target: &[u8]) {
        let known = self.files.entry(file).or_default();
        self.links += usize::from(known.target.replace(target.into()).is_none());
        self.epoch += 1;
    }

    /// What the calls say that a file is.
    pub(crate) fn kind(&self, file: FileId) -> Option<FileKind> {
        self.files.get(&file)?.kind
    }

    pub(crate) fn set_kind(&mut self, file: FileId, kind: FileKind) {
        self.files.entry(file).or_default().kind = Some(kind);
    }

    pub(crate) fn facts(&self, file: FileId) -> Option<FileFacts> {
        self.files.get(&file)?.facts
    }

    /// Remembers what was found behind a file.
    pub(crate) fn learn(&mut self, file: FileId, facts: &FileFacts) {
        self.files.entry(file).or_default().facts = Some(*facts);
        self.by_inode.insert((facts.device, facts.inode), file);
    }

    /// Whether a name of the file is known.
    pub(crate) fn has_names(&self, file: FileId) -> bool {
        self.files.get(&file).is_some_and(Known::has_names)
    }

    /// Whether a file that has no known name must be what was found: it was there for so long that what got its inode later has
    /// another time of birth.
    pub(crate) fn outlives_its_names(&self, file: FileId, found: &FileFacts) -> bool {
        self.files.get(&file).is_some_and(|known| known.outlives_its_names(found))
    }

    /// A call is looked at that began then.
    #[inline]
    pub(crate) fn looks_at(&mut self, start: Timestamp) {
        self.now = start;
    }

    /// A recorder saw something being mounted there.
    pub(crate) fn cover(&mut self, path: &[u8]) {
        if let Some(point) = self.walk(path, true) {
            self.covers.mount(point.node, self.now);
        }
    }

    /// A recorder saw that being taken away.
    pub(crate) fn uncover(&mut self, path: &[u8]) {
        if let Some(point) = self.walk(path, true) {
            self.covers.unmount(point.node);
        }
    }

    /// Whether a mount hides the file that was found before at a name. Then it keeps that name.
    pub(crate) fn hides(&mut self, node: Node, file: FileId) -> bool {
        if self.covers.is_empty() {
            return false;
        }
        let way = self.way(node);
        let Some(known) = self.files.get_mut(&file) else { return false };
        let way = way.into_iter().map(|(node, _)| node);
        let is_hidden = known.since.is_some_and(|since| self.covers.hide(way, since));
        known.hidden |= is_hidden;
        is_hidden
    }

    /// A call was entered that takes a name from the file if it succeeds, or is over.
    pub(crate) fn goes(&mut self, file: FileId, begins: bool) {
        if let Some(known) = self.files.get_mut(&file) {
            known.removals = if begins { known.removals + 1 } else { known.removals.saturating_sub(1) };
        }
    }

    /// Whether the file may have lost all its names to calls that have not returned yet.
    pub(crate) fn is_going(&self, file: FileId) -> bool {
        self.files.get(&file).is_some_and(|known| known.removals > 0 && known.removals >= known.names)
    }

    /// A call that began and ended then opened the file.
    pub(crate) fn was_opened(&mut self, file: FileId, start: Timestamp, end: Option<Timestamp>) {
        let known = self.files.entry(file).or_default();
        if known.since.is_none() {
            (known.since, known.seen) = (Some(start), end);
        }
    }

    /// Whether the file was opened by a call that began before: what a call makes then is another one.
    pub(crate) fn is_known_before(&self, file: FileId, start: Timestamp) -> bool {
        self.files.get(&file).and_then(|known| known.since).is_some_and(|since| since < start)
    }

    /// The trace made the file.
    pub(crate) fn set_made(&mut self, file: FileId) {
        self.files.entry(file).or_default().made = true;
    }

    /// Whether the trace made the file.
    pub(crate) fn is_made(&self, file: FileId) -> bool {
        self.files.get(&file).is_some_and(|known| known.made)
    }

    /// The known file that was found, if it is one. The inode of a file that has lost all its known names goes to the one that
    /// is, or may be, made now, also with an equal time of birth: these are coarse. Unless it was there for longer than that.
    pub(crate) fn of_facts(&self, facts: &FileFacts, made: Made) -> Option<FileId> {
        let file = *self.by_inode.get(&(facts.device, facts.inode))?;
        let known = self.files.get(&file)?;
        let has_names = known.has_names() || known.outlives_its_names(facts);
        let is_same = match (known.facts.and_then(|known| known.birth), facts.birth) {
            (Some(known), Some(found)) => known == found && (made == Made::No || has_names),
            _ => made == Made::No || has_names,
        };
        is_same.then_some(file)
    }

    /// `new` denotes what `old` did, and what lies below goes with it.
    pub(crate) fn rename(&mut self, old: &[u8], new: &[u8]) {
        let (Some(from), Some(to)) = (self.walk(old, false), self.walk(new, false)) else { return };
        if self.has_children(from.node) || self.has_children(to.node) {
            // The name that is no more may have had names below it: they end here.
            if self.swap(old, new)
                && let Some(left) = self.walk(old, false)
            {
                self.cut_off(old, left.node);
            }
        } else {
            self.give_name(from.node, to.node);
        }
    }

    /// One name denotes what the other did, which denotes nothing any more.
    pub(crate) fn give_name(&mut self, from: Node, to: Node) {
        self.set(to, self.content(from));
        self.set(from, Content::Nothing);
    }

    /// Each of the two denotes what the other did, and what lies below goes with it.
    pub(crate) fn exchange(&mut self, one: &[u8], other: &[u8]) {
        self.swap(one, other);
    }

    /// Does nothing, and answers that, if one of the two leads to the other.
    fn swap(&mut self, one: &[u8], other: &[u8]) -> bool {
        let (Some(a), Some(b)) = (self.walk(one, false), self.walk(other, false)) else { return false };
        let (Some(above_a), Some(above_b)) = (self.place(one), self.place(other)) else { return false };
        let leads_to = |way: Vec<(Node, u32)>, node: Node| way.iter().any(|(on_way, _)| *on_way == node);
        if leads_to(self.way(a.node), b.node) || leads_to(self.way(b.node), a.node) {
            return false;
        }
        self.put(above_a, b.node.0);
        self.put(above_b, a.node.0);
        self.epoch += 1;
        true
    }

    /// Lets a name be the one of that component in that directory.
    fn put(&mut self, place: (u32, u32), name: u32) {
        self.children.insert(place, name);
        (self.names[name as usize].above, self.names[name as usize].component) = place;
    }

    /// A name ends with all below it; an empty one takes its place.
    fn cut_off(&mut self, path: &[u8], node: Node) {
        self.set(node, Content::Nothing);
        if let Some(index) = self.place(path).filter(|_| self.has_children(node)) {
            self.names[node.0 as usize].above = NOWHERE;
            self.names.push(Name::new(Content::Nothing, index));
            self.children.insert(index, self.names.len() as u32 - 1);
            self.epoch += 1;
        }
    }

    /// Whether names were seen below one.
    pub(crate) fn has_children(&self, node: Node) -> bool {
        !self.names[node.0 as usize].below.is_empty()
    }

    /// The directory and the last component of a path.
    fn place(&mut self, path: &[u8]) -> Option<(u32, u32)> {
        let path = &path[..path.iter().rposition(|byte| *byte != b'/')? + 1];
        let name = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        if [&b"."[..], b".."].contains(&&path[name..]) {
            return None;
        }
        let component = self.components.intern(&path[name..]);
        Some((self.walk(&path[..name], true)?.node.0, component))
    }
}

/// The file, or NULL.
impl From<Content> for Nullable<FileId> {
    fn from(content: Content) -> Self {
        match content {
            Content::File(file) | Content::Nameless(file) => Self::some(file),
            Content::Unknown | Content::Nothing => Self::NULL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(space: &mut Namespace, path: &str) -> Content {
        let node = space.walk(path.as_bytes(), true).unwrap().node;
        space.content(node)
    }

    fn put(space: &mut Namespace, path: &str, file: u32) {
        let node = space.walk(path.as_bytes(), false).unwrap().node;
        space.set(node, Content::File(FileId(file)));
    }

    fn file(number: u32) -> Content {
        Content::File(FileId(number))
    }

    #[test]
    fn a_directory_takes_what_lies_below_with_it() {
        let mut space = Namespace::default();
        put(&mut space, "/d/x/a", 1);
        put(&mut space, "/e/b", 2);
        assert_eq!(
            space.reach(PathId(0), b"/d/x/a", true).map(|walked| space.content(walked.node)),
            Some(file(1))
        );
        space.rename(b"/d", b"/e");
        assert_eq!((at(&mut space, "/e/x/a"), at(&mut space, "/e/b")), (file(1), Content::Unknown));
        assert_eq!(at(&mut space, "/d"), Content::Nothing);
        let again = space.reach(PathId(0), b"/d/x/a", true).map(|walked| space.content(walked.node));
        assert_eq!(again, Some(Content::Unknown), "what was looked up before is found anew");
        space.exchange(b"/e/x", b"/other");
        assert_eq!((at(&mut space, "/other/a"), at(&mut space, "/e/x/a")), (file(1), Content::Unknown));
    }

    #[test]
    fn links_are_followed_within_a_path_and_at_its_end_if_wanted() {
        let mut space = Namespace::default();
        put(&mut space, "/w/1/out", 1);
        put(&mut space, "/w/2/in", 2);
        space.set_target(FileId(2), b"../1/out");
        put(&mut space, "/w/dir", 3);
        space.set_target(FileId(3), b"/w/1");
        assert_eq!(at(&mut space, "/w/2/in"), file(1));
        assert_eq!(at(&mut space, "/w/dir/out"), file(1));
        let walked = space.walk(b"/w/2/in", false).unwrap();
        assert_eq!((space.content(walked.node), walked.link), (file(2), None));
        let crossed = Crossed { file: FileId(3), length: "/w/dir".len(), path: b"/w/1/out".to_vec() };
        assert_eq!(space.walk(b"/w/dir/out", true).unwrap().link, Some(crossed));
        put(&mut space, "/loop", 4);
        space.set_target(FileId(4), b"loop");
        assert_eq!(space.walk(b"/loop", true), None);
        let node = space.walk(b"/w/2/in", false).unwrap().node;
        space.set(node, Content::Nothing);
        assert_eq!(at(&mut space, "/w/2/in"), Content::Nothing);
    }

    #[test]
    fn what_lies_below_a_directory_is_told_with_its_names() {
        let mut space = Namespace::default();
        for (path, number) in [("/d/x/a", 1), ("/d/b", 2), ("/e", 3)] {
            put(&mut space, path, number);
        }
        let node = space.walk(b"/d", false).unwrap().node;
        let found = vec![(b"/b".to_vec(), FileId(2)), (b"/x/a".to_vec(), FileId(1))];
        assert_eq!(space.below(node, 3), (found, 3));
        assert_eq!(space.below(node, 2), (Vec::new(), 2));
        space.rename(b"/d", b"/f");
        assert_eq!(space.path_of(FileId(1)), Some(b"/f/x/a".to_vec()));
        space.rename(b"/e", b"/f/x/e");
        assert_eq!(space.path_of(FileId(3)), Some(b"/f/x/e".to_vec()));
        space.rename(b"/f", b"/f/x/y");
        assert_eq!(
            space.path_of(FileId(1)),
            Some(b"/f/x/a".to_vec()),
            "a directory is not moved into itself"
        );
    }

    #[test]
    fn relative_names_are_those_of_where_the_trace_began() {
        let mut space = Namespace::default();
        for (path, number) in [("d/a", 1), ("../up", 2), ("b", 3), ("../../up", 4)] {
            put(&mut space, path, number);
        }
        assert_eq!((at(&mut space, "d/../b"), at(&mut space, "d/../../up")), (file(3), file(2)));
        assert_eq!(at(&mut space, "/d/a"), Content::Unknown);
        space.rename(b"d", b"e");
        assert_eq!(space.path_of(FileId(1)), Some(b"e/a".to_vec()));
        put(&mut space, "/w/b", 5);
        put(&mut space, "l", 6);
        space.set_target(FileId(6), b"../up");
        assert_eq!(at(&mut space, "l"), file(2));
        space.begins_at(b"/w");
        assert_eq!((at(&mut space, "/w/e/a"), at(&mut space, "e/a")), (file(1), file(1)));
        assert_eq!((at(&mut space, "/w/b"), at(&mut space, "b")), (file(5), file(5)));
        assert_eq!(space.path_of(FileId(1)), Some(b"/w/e/a".to_vec()));
        assert_eq!((space.path_of(FileId(2)), space.path_of(FileId(3))), (None, None));
        space.begins_at(b"/other");
        assert_eq!(at(&mut space, "e/a"), file(1));
    }

    #[test]
    fn the_way_up_from_a_link_leads_out_of_its_target() {
        let mut space = Namespace::default();
        put(&mut space, "/w/l", 1);
        space.set_target(FileId(1), b"real/deep");
        let mut joined = |base: Option<&[u8]>, path: &[u8]| {
            let mut out = Vec::new();
            let is_absolute = space.join(base, path, &mut out);
            (String::from_utf8(out).unwrap(), is_absolute)
        };
        assert_eq!(joined(Some(b"/w"), b"l/../file"), ("/w/real/file".to_owned(), true));
        assert_eq!(joined(None, b"/w/x/../l/../../file"), ("/w/file".to_owned(), true));
        assert_eq!(joined(Some(b"/w"), b"l/file"), ("/w/l/file".to_owned(), true));
        assert_eq!(joined(None, b"../x/.."), ("..".to_owned(), false));
        assert_eq!(joined(None, b"x/.."), (".".to_owned(), false));
    }

    #[test]
    fn many_names_are_forgotten_and_memory_is_bounded() {
        let mut space = Namespace::default();
        put(&mut space, "/first", 1);
        for number in 0..MOST + 10 {
            space.walk(format!("/{number}").as_bytes(), true);
        }
        assert!(space.forgot() && space.names.len() < MOST);
        assert_eq!(at(&mut space, "/first"), Content::Unknown);
    }
}
