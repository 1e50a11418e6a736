//! Which file each name denotes, by now: a tree of names, as the calls of a trace made and removed them.
//!
//! A file is a number; names are labels that come and go. A rename moves what lies below a directory with it; symbolic
//! links that the trace made are followed. Memory is bounded: when there are too many names all are forgotten, and what a
//! name denotes is unknown until something new is made there or a tracer looks.

use hashbrown::HashMap;
use iotrail_model::{FileFacts, FileId, Interner, Nullable, PathId};

/// Names and files that are remembered.
const MOST: usize = 1 << 18;
/// Symbolic links that the kernel follows in one path.
const MOST_LINKS: usize = 40;
const ROOT: Node = Node(0);

/// A name in [`Namespace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(u32);

/// What a name denotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing was seen of it.
    #[default]
    Unknown,
    /// Nothing: what it denoted was removed or has another name now.
    Nothing,
    /// This file.
    File(FileId),
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

#[derive(Clone, Copy, Debug, Default)]
struct Name {
    content: Content,
    children: u32,
}

/// What is known of a file that has names.
#[derive(Clone, Debug, Default)]
struct Known {
    facts: Option<FileFacts>,
    names: u32,
    /// Where it points to, of a symbolic link.
    target: Option<Box<[u8]>>,
}

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

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
}

impl Default for Namespace {
    fn default() -> Self {
        Self {
            components: Interner::new(),
            names: vec![Name::default()],
            children: Map::default(),
            files: Map::default(),
            by_inode: Map::default(),
            of_paths: Vec::new(),
            epoch: 1,
            links: 0,
            forgot: false,
        }
    }
}

impl Namespace {
    /// The name that `path`, which is absolute, leads to; a link at its end is followed if `follow`. `None` if there are too
    /// many links.
    pub(crate) fn reach(&mut self, id: PathId, path: &[u8], follow: bool) -> Option<Walked> {
        if let Some((epoch, node)) = self.of_paths.get(id.index())
            && *epoch == self.epoch
        {
            return Some(Walked { node: Node(*node), link: None });
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
        let (mut way, mut link, mut followed) = (vec![(ROOT, 0)], None, 0);
        let (mut rest, mut at) = (std::borrow::Cow::Borrowed(path), 0);
        while at < rest.len() {
            let end = rest[at..].iter().position(|byte| *byte == b'/').map_or(rest.len(), |slash| at + slash);
            let component = &rest[at..end];
            let next = (end + 1).min(rest.len());
            let is_last = rest[next..].iter().all(|byte| *byte == b'/');
            match component {
                b"" | b"." => {}
                b".." => {
                    if way.len() > 1 {
                        way.pop();
                    }
                }
                name => {
                    let above = way.last().map_or(ROOT, |(above, _)| *above);
                    let component = self.components.intern(name);
                    let node = self.child(above, component);
                    match self.link_at(node).filter(|_| follow || !is_last) {
                        None => way.push((node, component)),
                        Some((file, target)) => {
                            followed += 1;
                            if followed > MOST_LINKS {
                                return None;
                            }
                            link = link.or(Some((file, end)));
                            if target.first() == Some(&b'/') {
                                way.truncate(1);
                            }
                            let behind = [target, b"/", &rest[next..]].concat();
                            (rest, at) = (std::borrow::Cow::Owned(behind), 0);
                            continue;
                        }
                    }
                }
            }
            at = next;
        }
        let link = link.map(|(file, length)| Crossed { file, length, path: self.text(&way) });
        Some(Walked { node: way.last().map_or(ROOT, |(node, _)| *node), link })
    }

    fn text(&self, way: &[(Node, u32)]) -> Vec<u8> {
        let below = way.get(1..).unwrap_or_default();
        let mut text: Vec<u8> = Vec::new();
        for (_, component) in below {
            text.push(b'/');
            text.extend_from_slice(self.components.get(*component));
        }
        if text.is_empty() { vec![b'/'] } else { text }
    }

    fn child(&mut self, above: Node, component: u32) -> Node {
        let names = &mut self.names;
        let child = *self.children.entry((above.0, component)).or_insert_with(|| {
            names[above.0 as usize].children += 1;
            names.push(Name::default());
            names.len() as u32 - 1
        });
        Node(child)
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

    #[cold]
    fn forget(&mut self) {
        *self = Self { epoch: self.epoch + 1, forgot: true, ..Self::default() };
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
            self.files.entry(file).or_default().names += 1;
            if self.links > 0 && self.is_link(node) {
                self.epoch += 1;
            }
        }
        if let Content::File(file) = old
            && let Some(known) = self.files.get_mut(&file)
        {
            known.names = known.names.saturating_sub(1);
            if known.names == 0 && known.target.is_some() {
                known.target = None;
                self.links -= 1;
            }
        }
    }

    /// The file is a symbolic link.
    pub(crate) fn set_target(&mut self, file: FileId, target: &[u8]) {
        let known = self.files.entry(file).or_default();
        self.links += usize::from(known.target.replace(target.into()).is_none());
        self.epoch += 1;
    }

    /// What was found behind a file.
    pub(crate) fn facts(&self, file: FileId) -> Option<FileFacts> {
        self.files.get(&file)?.facts
    }

    /// Remembers what was found behind a file.
    pub(crate) fn learn(&mut self, file: FileId, facts: &FileFacts) {
        self.files.entry(file).or_default().facts = Some(*facts);
        self.by_inode.insert((facts.device, facts.inode), file);
    }

    /// The known file that was found, if it is one. The inode of a file that has lost all its known names goes to the one that
    /// is, or may be, made now, also with an equal time of birth: these are coarse.
    pub(crate) fn of_facts(&self, facts: &FileFacts, made: Made) -> Option<FileId> {
        let file = *self.by_inode.get(&(facts.device, facts.inode))?;
        let known = self.files.get(&file)?;
        let has_names = known.names > 0;
        let is_same = match (known.facts.and_then(|known| known.birth), facts.birth) {
            (Some(known), Some(found)) => known == found && (made == Made::No || has_names),
            _ => made == Made::No || has_names,
        };
        is_same.then_some(file)
    }

    /// `new` denotes what `old` did, and what lies below goes with it.
    pub(crate) fn rename(&mut self, old: &[u8], new: &[u8]) {
        let (Some(from), Some(to)) = (self.walk(old, false), self.walk(new, false)) else { return };
        let content = self.content(from.node);
        if self.has_children(from.node) || self.has_children(to.node) {
            self.swap(old, new);
            // The name that is no more may have had names below it: they end here.
            if let Some(left) = self.walk(old, false) {
                self.cut_off(old, left.node);
            }
        } else {
            self.set(to.node, content);
            self.set(from.node, Content::Nothing);
        }
    }

    /// Each of the two denotes what the other did, and what lies below goes with it.
    pub(crate) fn exchange(&mut self, one: &[u8], other: &[u8]) {
        self.swap(one, other);
    }

    fn swap(&mut self, one: &[u8], other: &[u8]) {
        let (Some(a), Some(b)) = (self.walk(one, false), self.walk(other, false)) else { return };
        let (Some(above_a), Some(above_b)) = (self.place(one), self.place(other)) else { return };
        self.children.insert(above_a, b.node.0);
        self.children.insert(above_b, a.node.0);
        self.epoch += 1;
    }

    /// A name ends with all below it; an empty one takes its place.
    fn cut_off(&mut self, path: &[u8], node: Node) {
        self.set(node, Content::Nothing);
        if let Some(place) = self.place(path).filter(|_| self.has_children(node)) {
            self.names.push(Name { content: Content::Nothing, children: 0 });
            self.children.insert(place, self.names.len() as u32 - 1);
            self.epoch += 1;
        }
    }

    fn has_children(&self, node: Node) -> bool {
        self.names[node.0 as usize].children > 0
    }

    /// The directory and the last component of a path.
    fn place(&mut self, path: &[u8]) -> Option<(u32, u32)> {
        let path = &path[..path.iter().rposition(|byte| *byte != b'/')? + 1];
        let slash = path.iter().rposition(|byte| *byte == b'/')?;
        let component = self.components.intern(&path[slash + 1..]);
        Some((self.walk(&path[..slash], true)?.node.0, component))
    }
}

/// The file, or NULL.
impl From<Content> for Nullable<FileId> {
    fn from(content: Content) -> Self {
        match content {
            Content::File(file) => Self::some(file),
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
