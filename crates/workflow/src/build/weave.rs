//! The sequential pass: records in the order of time become vertices and edges.
//!
//! | what happens | what it makes |
//! |---|---|
//! | p is born | a vertex, and an edge from its parent as that was then |
//! | p reads f | an edge from the current version of f, unless p wrote that version: then the figures are added to that edge |
//! | p writes f | an edge to the current version if p (the same part of it) wrote it last, else to a new version that continues it |
//! | p makes f (`O_CREAT` where nothing was known to be, `O_EXCL`, `mknod`) | another file, an edge to its first version |
//! | p empties f (`O_TRUNC`, `truncate` to 0) | a new version that continues nothing |
//! | p makes f without a name (`O_TMPFILE`) | another file, which is called by the first name that it is given |
//! | p opens f through symbolic links | an edge from each of them that the log saw being made |
//! | p renames f, or gives it a further name | as if it wrote f, with the relation `Create` |
//! | p removes f | the end of the file: what is made there later is another |
//!
//! A version that holds nothing and that nobody has read is written by its first writer, whoever made it (`cmd > file` of
//! a shell). A read that would close a cycle begins a new part of the process, a write that would a new version of the file.

use super::hidden::{Hidden, reason};
use super::meaning::{Meanings, Place};
use super::node::{Node, Version, What};
use super::order::{Order, Outcome};
use super::places::{At, FileId, Places};
use super::record::{Extent, Op, Record};
use crate::build::BuildOptions;
use crate::graph::{Edge, FileView, Relation, Transfer, VertexId};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Nullable, PathId, Timestamp};
use iotrail_query::{Life, LifeId, Lives};
use iotrail_trail::EventLog;

/// Parts of one process, and versions of one file, beyond which exchanges are joined.
pub(super) const MOST_PARTS: u32 = 1_000;

const UNBORN: u32 = u32::MAX;

/// Symbolic links that the kernel follows in one path.
const MOST_LINKS: usize = 40;

/// What stands where a file has no number: the path tells which it is.
const NO_NUMBER: iotrail_model::FileId = Nullable::<iotrail_model::FileId>::NULL.raw();

/// What the pass made.
#[derive(Debug)]
pub(super) struct Woven {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) hidden: Hidden,
    /// By [`PathId`]: whether the path is that of a vertex.
    pub(super) shown: Vec<bool>,
    pub(super) counts: Counts,
}

/// What the reader of the graph must be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Transfers that were added to an earlier edge because there were too many parts or versions.
    pub(super) joined: u64,
    /// Reads that began a new part because it would have taken too long to find out whether they must.
    pub(super) given_up: u64,
}

/// A file as the pass knows it.
#[derive(Clone, Debug, Default)]
struct FileState {
    version: Option<u32>,
    versions: u32,
    writer: Option<LifeId>,
    names: Vec<PathId>,
    /// Of a symbolic link where it leads to.
    target: Option<PathId>,
}

/// What a writer leaves of the version before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Continue,
    Empty,
}

/// A change of a file, or a transfer.
#[derive(Clone, Copy)]
struct Access {
    relation: Relation,
    moved: Transfer,
    written_to: Extent,
    /// When it takes effect.
    at: Timestamp,
    first: Timestamp,
    last: Timestamp,
}

pub(super) struct Weaver<'a> {
    lives: &'a Lives,
    meanings: &'a Meanings,
    changed: &'a [bool],
    programs: &'a [bool],
    options: &'a BuildOptions<'a>,
    /// By [`LifeId`]: whether the process is shown.
    selected: &'a [bool],
    places: Places<'a>,
    /// By the log's number of a file: whether it has one at all, and the file of that number.
    numbered: Vec<(bool, Option<FileId>)>,
    files: Vec<FileState>,
    parts: Vec<u32>,
    order: Order,
    /// By the part of a process and the version of a file that it wrote. In the view of whole files also what it read.
    writes: HashMap<(u32, u32), u32, RandomState>,
    /// By the process and the version that it read: what it reads of that once more is nothing new, whatever it did since.
    reads: HashMap<(LifeId, u32), u32, RandomState>,
    /// The last edge between a process and a file, in each direction, of those that have many parts or versions.
    channels: HashMap<(LifeId, FileId, bool), u32, RandomState>,
    woven: Woven,
}

impl<'a> Weaver<'a> {
    pub(super) fn new(
        lives: &'a Lives,
        meanings: &'a Meanings,
        log: &'a EventLog,
        changed: &'a [bool],
        programs: &'a [bool],
        options: &'a BuildOptions<'a>,
        selected: &'a [bool],
    ) -> Self {
        let paths = &log.names().paths;
        Self {
            selected,
            lives,
            meanings,
            changed,
            programs,
            options,
            places: Places::new(paths),
            numbered: log.distinct_files().iter().map(|file| (file.numbered, None)).collect(),
            files: Vec::new(),
            parts: vec![UNBORN; lives.all().len()],
            order: Order::default(),
            writes: HashMap::default(),
            reads: HashMap::default(),
            channels: HashMap::default(),
            woven: Woven {
                nodes: Vec::new(),
                edges: Vec::new(),
                hidden: Hidden::default(),
                shown: vec![false; paths.len()],
                counts: Counts::default(),
            },
        }
    }

    /// Takes all records, and the processes in the order of their births.
    pub(super) fn weave(mut self, records: &[Record], births: &[LifeId]) -> Woven {
        let mut births = births.iter().copied().peekable();
        for record in records {
            let born = |life: &LifeId| self.lives.get(*life).start.is_none_or(|start| start <= record.at);
            while let Some(life) = births.next_if(born) {
                self.part(life);
            }
            self.record(record);
        }
        births.for_each(|life| {
            self.part(life);
        });
        self.woven
    }

    fn is_whole(&self) -> bool {
        self.options.view == FileView::File
    }

    fn record(&mut self, record: &Record) {
        let Record { life, path, path2, op, .. } = *record;
        let (at, at2) = (At { path, file: record.file }, At { path: path2, file: record.file2 });
        let file = Nullable::some(record.file);
        let place = self.meanings.place_of(path, file);
        if op == Op::Rename && place == Place::Directory {
            self.rename_directory(path, path2);
            return;
        }
        if let Some(why) = reason(self.meanings, (path, file), self.changed, self.options.system) {
            return self.woven.hidden.access(record, why);
        }
        let access = |relation| Access {
            relation,
            moved: record.moved,
            written_to: record.written_to,
            at: record.at,
            first: record.first,
            last: record.last,
        };
        let is_channel = place == Place::Channel;
        match op {
            Op::Exists | Op::Missing => self.look(path, op == Op::Exists),
            Op::MakeOrOpen | Op::MakeOrEmpty | Op::Empty if is_channel => self.look(path, true),
            Op::MakeOrOpen if self.is_there(at) => self.look(path, true),
            Op::MakeOrEmpty if self.is_there(at) => {
                self.put(life, at, access(Relation::Create), Contents::Empty)
            }
            Op::Empty => self.put(life, at, access(Relation::Create), Contents::Empty),
            Op::Make | Op::MakeOrOpen | Op::MakeOrEmpty => {
                self.new_file(at);
                self.put(life, at, access(Relation::Create), Contents::Empty);
            }
            Op::MakeNameless => {
                let file = self.new_file(at);
                self.put(life, at, access(Relation::Create), Contents::Empty);
                self.files[file.0 as usize].names.clear();
                self.places.found(path, false);
            }
            Op::MakeLink => {
                let file = self.new_file(at);
                self.files[file.0 as usize].target = Some(path2);
                self.put(life, at, access(Relation::Create), Contents::Empty);
            }
            Op::Channel => {
                self.new_file(at);
            }
            Op::Write => self.put(life, at, access(Relation::Write), Contents::Continue),
            Op::Read => {
                self.take(life, at, access(Relation::Read));
                self.take_targets(life, at, access(Relation::Read));
            }
            Op::Map | Op::View if self.shows_map(op, path) => self.take(life, at, access(Relation::Map)),
            Op::Map | Op::View => self.woven.hidden.access(record, super::hidden::Why::MappedOnly),
            Op::Rename => self.rename(life, at, at2, access(Relation::Create)),
            Op::Exchange => self.exchange(life, at, at2, access(Relation::Create)),
            Op::Link => self.link(life, at, at2, access(Relation::Create)),
            Op::Unlink => self.unlink(path),
        }
    }

    /// Whether a mapping is shown: of data, and of a program that was made or changed in the log; else only if it is asked for.
    fn shows_map(&self, op: Op, path: PathId) -> bool {
        let of = |marks: &[bool]| marks.get(path.index()) == Some(&true);
        self.options.maps || of(self.changed) || (op == Op::View && !of(self.programs))
    }

    fn look(&mut self, path: PathId, exists: bool) {
        self.places.found(path, exists);
        if exists {
            self.woven.hidden.looked_at(path);
        }
    }

    fn is_there(&self, at: At) -> bool {
        match self.places.exists(at.path) {
            Some(exists) => exists,
            // Under another name it is known.
            None => self.numbered.get(at.file.index()).is_some_and(|(_, file)| file.is_some()),
        }
    }

    // Processes.

    /// The current part of a process; makes it, and those that it descends from, if this is the first sign of it.
    fn part(&mut self, life: LifeId) -> u32 {
        let mut unborn = vec![];
        let mut next = Some(life);
        while let Some(life) = next.filter(|life| self.parts[life.index()] == UNBORN) {
            unborn.push(life);
            next = self.lives.get(life).parent.filter(|parent| self.selected[parent.index()]);
        }
        while let Some(life) = unborn.pop() {
            let Life { start, end, parent, .. } = *self.lives.get(life);
            let node = self.add_node(Node { what: What::Part(life, 1), first: start, last: end }, false);
            self.parts[life.index()] = node;
            if let Some(parent) = parent.filter(|parent| self.selected[parent.index()]) {
                let from = self.parts[parent.index()];
                let edge = Edge { first: start, last: start, ..edge(from, node, Relation::Fork) };
                self.add_edge(edge);
            }
        }
        self.parts[life.index()]
    }

    /// A new part of a process, which takes in data that depend on the part before.
    fn split(&mut self, life: LifeId, at: Timestamp) -> u32 {
        let part = self.parts[life.index()];
        let number = self.part_number(part);
        let end = self.woven.nodes[part as usize].last.replace(at);
        let what = What::Part(life, number + 1);
        let node = self.add_node(Node { what, first: Some(at), last: end.map(|end| end.max(at)) }, false);
        self.add_edge(Edge { first: Some(at), last: Some(at), ..edge(part, node, Relation::Continue) });
        self.parts[life.index()] = node;
        node
    }

    fn part_number(&self, node: u32) -> u32 {
        match &self.woven.nodes[node as usize].what {
            What::Part(_, number) => *number,
            What::Version(_) => 0,
        }
    }

    // Files.

    fn new_file(&mut self, at: At) -> FileId {
        let path = at.path;
        if let Some(before) = self.places.file(path) {
            self.files[before.0 as usize].names.retain(|name| *name != path);
        }
        let file = FileId(self.files.len() as u32);
        self.files.push(FileState { names: vec![path], ..FileState::default() });
        self.places.bind(path, file);
        if let Some((true, known)) = self.numbered.get_mut(at.file.index()) {
            *known = Some(file);
        }
        file
    }

    /// The file that an access is to: the one of its number, else the one that is at its path.
    fn file(&mut self, at: At) -> FileId {
        let known = match self.numbered.get(at.file.index()) {
            Some((true, known)) => *known,
            _ => self.places.file(at.path),
        };
        known.unwrap_or_else(|| self.new_file(at))
    }

    fn new_version(&mut self, file: FileId, path: PathId, before_all: bool) -> u32 {
        let state = &self.files[file.0 as usize];
        let names = state.names.iter().copied().filter(|name| *name != path).collect();
        let version = Version { file, path, names, made: false, filled: false, read: false, extent: None };
        let node = self.add_node(Node { what: What::Version(version), first: None, last: None }, before_all);
        let state = &mut self.files[file.0 as usize];
        state.version = Some(node);
        state.versions += 1;
        self.show(path);
        node
    }

    fn show(&mut self, path: PathId) {
        if let Some(shown) = self.woven.shown.get_mut(path.index()) {
            *shown = true;
        }
    }

    fn version(&self, node: u32) -> Option<&Version> {
        match &self.woven.nodes[node as usize].what {
            What::Version(version) => Some(version),
            What::Part(..) => None,
        }
    }

    fn version_mut(&mut self, node: u32) -> Option<&mut Version> {
        match &mut self.woven.nodes[node as usize].what {
            What::Version(version) => Some(version),
            What::Part(..) => None,
        }
    }

    /// The current version; what nobody made or wrote was there before everything else.
    fn current(&mut self, file: FileId, path: PathId) -> u32 {
        match self.files[file.0 as usize].version {
            Some(version) => version,
            None => self.new_version(file, path, true),
        }
    }

    // Data.

    /// Data of a file go to a process.
    fn take(&mut self, life: LifeId, at: At, access: Access) {
        let part = self.part(life);
        let file = self.file(at);
        let version = self.current(file, at.path);
        self.woven.nodes[version as usize].seen(access.first, access.last);
        if let Some(edge) = self.edge_to_read(life, part, file, version) {
            return self.add_figures(edge, &access, false);
        }
        if let Some(version) = self.version_mut(version) {
            version.read = true;
        }
        let outcome = if self.is_whole() { Outcome::Added } else { self.order.add_edge(version, part) };
        let part = match outcome {
            Outcome::Added => part,
            _ if self.part_number(part) >= MOST_PARTS && self.joins((life, file, false), access) => return,
            outcome => {
                self.woven.counts.given_up += u64::from(outcome == Outcome::GivenUp);
                let part = self.split(life, access.at);
                self.order_edge(version, part);
                part
            }
        };
        let id = self.push_edge(edge(version, part, access.relation));
        self.reads.insert((life, version), id);
        self.add_figures(id, &access, false);
        self.remember((life, file, false), part, id);
    }

    /// Who reads a symbolic link that leads to another one reads that, too.
    fn take_targets(&mut self, life: LifeId, at: At, access: Access) {
        let mut link = self.file(at);
        for _ in 0..MOST_LINKS {
            let Some(path) = self.files[link.0 as usize].target else { return };
            let next = self.places.file(path).filter(|_| self.places.exists(path) != Some(false));
            let Some(next) = next.filter(|next| self.files[next.0 as usize].target.is_some()) else { return };
            self.take(life, At { path, file: NO_NUMBER }, Access { moved: Transfer::default(), ..access });
            link = next;
        }
    }

    /// The edge that a read is added to: that of an earlier read, or of a write if nobody else has written since.
    fn edge_to_read(&mut self, life: LifeId, part: u32, file: FileId, version: u32) -> Option<u32> {
        if let Some(edge) = self.reads.get(&(life, version)) {
            return Some(*edge);
        }
        let own = self.is_whole() || self.files[file.0 as usize].writer == Some(life);
        let edge = self.writes.get(&(part, version)).copied().filter(|_| own)?;
        self.reads.insert((life, version), edge);
        Some(edge)
    }

    /// Data of a process, a name or nothing go to a file.
    fn put(&mut self, life: LifeId, at: At, access: Access, contents: Contents) {
        let part = self.part(life);
        let file = self.file(at);
        let Some(version) = self.version_to_write(life, part, file, at.path, access, contents) else {
            return;
        };
        self.woven.nodes[version as usize].seen(access.first, access.last);
        self.files[file.0 as usize].writer = Some(life);
        if let Some(version) = self.version_mut(version) {
            version.made = true;
            version.filled |= access.relation == Relation::Write;
            if let Some(extent) = &mut version.extent {
                extent.add(access.written_to);
            }
        }
        let known = self
            .writes
            .get(&(part, version))
            .or_else(|| self.reads.get(&(life, version)).filter(|_| self.is_whole()));
        let edge = match known.copied() {
            Some(edge) => edge,
            None => self.push_edge(edge(part, version, access.relation)),
        };
        self.writes.insert((part, version), edge);
        self.add_figures(edge, &access, true);
        self.remember((life, file, true), part, edge);
    }

    /// The version that a writer writes, with room in the order for the edge to it; `None` if the access was joined.
    fn version_to_write(
        &mut self,
        life: LifeId,
        part: u32,
        file: FileId,
        path: PathId,
        access: Access,
        contents: Contents,
    ) -> Option<u32> {
        let Some(current) = self.files[file.0 as usize].version else {
            let version = self.new_version(file, path, false);
            self.order_edge(part, version);
            self.fill(version, None, contents);
            return Some(version);
        };
        if self.is_whole() || self.stays(life, part, current, contents) {
            return Some(current);
        }
        if self.files[file.0 as usize].versions >= MOST_PARTS && self.joins((life, file, true), access) {
            return None;
        }
        let version = self.new_version(file, path, false);
        self.fill(version, Some(current), contents);
        if contents == Contents::Continue {
            let (first, last) = (Some(access.first), Some(access.first));
            self.add_edge(Edge { first, last, ..edge(current, version, Relation::Next) });
        }
        self.order_edge(part, version);
        Some(version)
    }

    /// What a new version holds of the one before.
    fn fill(&mut self, version: u32, before: Option<u32>, contents: Contents) {
        let before = before.and_then(|before| self.version(before));
        let (filled, extent) = match contents {
            Contents::Empty => (false, Some(Extent::default())),
            Contents::Continue => before.map_or((false, None), |before| (before.filled, before.extent)),
        };
        if let Some(version) = self.version_mut(version) {
            (version.filled, version.extent) = (filled, extent);
        }
    }

    /// Whether an access goes to the current version; if it does, there is room in the order for its edge.
    fn stays(&mut self, life: LifeId, part: u32, current: u32, contents: Contents) -> bool {
        let Some(version) = self.version(current) else { return false };
        let (blank, file) = (version.is_blank(), version.file);
        if contents == Contents::Empty && !blank {
            return false;
        }
        if self.writes.contains_key(&(part, current)) {
            return true;
        }
        let own = self.files[file.0 as usize].writer == Some(life);
        (own || blank) && self.order.add_edge(part, current) == Outcome::Added
    }

    /// Makes room for an edge to a new vertex, which closes no cycle.
    fn order_edge(&mut self, from: u32, to: u32) {
        if !self.is_whole() {
            let outcome = self.order.add_edge(from, to);
            debug_assert_eq!(outcome, Outcome::Added, "an edge to a new vertex closes no cycle");
        }
    }

    // Names.

    fn rename(&mut self, life: LifeId, old: At, new: At, access: Access) {
        let (from, to) = (old.path, new.path);
        if from == to || to.index() >= self.woven.shown.len() {
            return;
        }
        if self.places.file(from).is_none() && self.rename_directory(from, to) {
            return;
        }
        let file = self.file(old);
        if self.places.exists(to) == Some(true) && self.places.file(to) == Some(file) {
            // Two names of one file: the kernel leaves both.
            return;
        }
        let before = self.current(file, from);
        self.unbind(to);
        let names = &mut self.files[file.0 as usize].names;
        names.retain(|name| *name != from && *name != to);
        names.push(to);
        self.places.bind(to, file);
        self.places.found(from, false);
        self.put(life, At { path: to, ..old }, access, Contents::Continue);
        self.named(file, before, to, Some(from));
    }

    fn exchange(&mut self, life: LifeId, at: At, at2: At, access: Access) {
        let (from, to) = (at.path, at2.path);
        if from == to || to.index() >= self.woven.shown.len() {
            return;
        }
        let (one, other) = (self.file(at), self.file(at2));
        for (file, number, old, new) in [(one, at.file, from, to), (other, at2.file, to, from)] {
            let before = self.current(file, old);
            let names = &mut self.files[file.0 as usize].names;
            names.retain(|name| *name != old);
            names.push(new);
            self.places.bind(new, file);
            self.put(life, At { path: new, file: number }, access, Contents::Continue);
            self.named(file, before, new, Some(old));
        }
    }

    fn link(&mut self, life: LifeId, old: At, new: At, access: Access) {
        let (from, to) = (old.path, new.path);
        if from == to || to.index() >= self.woven.shown.len() {
            return;
        }
        let file = self.file(old);
        let before = self.current(file, from);
        let has_name = self.files[file.0 as usize].names.contains(&from);
        self.unbind(to);
        self.files[file.0 as usize].names.push(to);
        self.places.bind(to, file);
        if !has_name {
            // The file had no name, or lost the one by which it was opened: this is what it is called.
            self.put(life, At { path: to, ..old }, access, Contents::Continue);
            return self.named(file, before, to, None);
        }
        self.put(life, old, access, Contents::Continue);
        let current = self.files[file.0 as usize].version;
        if let Some(version) = current.and_then(|node| self.version_mut(node)) {
            version.names.retain(|name| *name != to);
            version.names.push(to);
        }
        self.show(to);
    }

    /// Gives the version that was current before a rename, if it still is, its new name.
    fn named(&mut self, file: FileId, before: u32, to: PathId, from: Option<PathId>) {
        if self.files[file.0 as usize].version != Some(before) {
            return;
        }
        self.show(to);
        if let Some(version) = self.version_mut(before) {
            version.names.retain(|name| *name != to);
            version.names.extend(from);
            version.path = to;
        }
    }

    fn unlink(&mut self, path: PathId) {
        self.unbind(path);
        self.places.found(path, false);
    }

    /// The file that was at a path loses this name.
    fn unbind(&mut self, path: PathId) {
        if let Some(file) = self.places.file(path) {
            self.files[file.0 as usize].names.retain(|name| *name != path);
        }
    }

    /// Renames everything below a directory; whether there was anything.
    fn rename_directory(&mut self, from: PathId, to: PathId) -> bool {
        let below = self.places.rename_directory(from, to);
        let any = !below.is_empty();
        for (old, new) in below {
            let file = self.places.file(old);
            self.unlink(old);
            let Some(new) = new else { continue };
            let Some(file) = file else {
                self.places.found(new, true);
                continue;
            };
            self.unbind(new);
            self.files[file.0 as usize].names.push(new);
            self.places.bind(new, file);
            if let Some(current) = self.files[file.0 as usize].version {
                self.named(file, current, new, Some(old));
            }
        }
        any
    }

    // Edges.

    fn add_node(&mut self, node: Node, before_all: bool) -> u32 {
        self.woven.nodes.push(node);
        if !self.is_whole() {
            if before_all {
                self.order.add_first()
            } else {
                self.order.add_last()
            };
        }
        (self.woven.nodes.len() - 1) as u32
    }

    /// An edge to a new vertex.
    fn add_edge(&mut self, edge: Edge) {
        self.order_edge(edge.from.0, edge.to.0);
        self.woven.edges.push(edge);
    }

    fn push_edge(&mut self, edge: Edge) -> u32 {
        self.woven.edges.push(edge);
        (self.woven.edges.len() - 1) as u32
    }

    /// Adds an access to an edge. The first relation in the order of precedence is kept, and with it the direction.
    fn add_figures(&mut self, edge: u32, access: &Access, written: bool) {
        let edge = &mut self.woven.edges[edge as usize];
        if written && edge.relation >= Relation::Read {
            std::mem::swap(&mut edge.from, &mut edge.to);
        }
        edge.relation = edge.relation.min(access.relation);
        if written {
            edge.written.add(&access.moved)
        } else {
            edge.read.add(&access.moved)
        };
        edge.first = Some(edge.first.map_or(access.first, |known| known.min(access.first)));
        edge.last = Some(edge.last.map_or(access.last, |known| known.max(access.last)));
    }

    /// Remembers the last edge of a process and a file if exchanges between them may have to be joined.
    fn remember(&mut self, channel: (LifeId, FileId, bool), part: u32, edge: u32) {
        let versions = self.files[channel.1.0 as usize].versions;
        if self.part_number(part).max(versions) > MOST_PARTS / 2 {
            self.channels.insert(channel, edge);
        }
    }

    /// Adds an access to the last edge of the same process and file, if there is one.
    fn joins(&mut self, channel: (LifeId, FileId, bool), access: Access) -> bool {
        let Some(&edge) = self.channels.get(&channel) else { return false };
        self.woven.counts.joined += 1;
        self.add_figures(edge, &access, channel.2);
        true
    }
}

fn edge(from: u32, to: u32, relation: Relation) -> Edge {
    Edge {
        from: VertexId(from),
        to: VertexId(to),
        relation,
        read: Transfer::default(),
        written: Transfer::default(),
        first: None,
        last: None,
        members: 1,
    }
}
