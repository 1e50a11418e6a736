//! The sequential pass: records in the order of time become vertices and edges.
//!
//! | what happens | what it makes |
//! |---|---|
//! | p is born | a vertex, and an edge from its parent as that was then |
//! | p reads f | an edge from the current version of f, unless p wrote that version: then from what of others that continues, if p has not read it yet, else the figures are added to the edge of the writes |
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
use super::node::{Before, Node, Version, What};
use super::order::{Order, Outcome};
use super::path_files::{At, FileId, PathFiles};
use super::record::{Extent, Op, Record};
use super::vocabulary::{PathKind, Vocabulary};
use crate::build::BuildOptions;
use crate::graph::{Edge, FileView, Relation, Transfer, VertexId};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Nullable, PathId, Timestamp};
use iotrail_query::{ProcessEntry, ProcessId, ProcessTable};
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
pub(super) struct BuiltGraph {
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
    writer: Option<ProcessId>,
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

/// Where what a process reads comes from.
#[derive(Clone, Copy)]
enum Source {
    /// From where this edge says.
    Edge(u32),
    /// From a version that it has not read yet.
    Version(u32),
}

/// A change of a file, or a transfer.
#[derive(Clone, Copy)]
struct Access {
    relation: Relation,
    moved: Transfer,
    reach: Extent,
    /// When it takes effect.
    at: Timestamp,
    first: Timestamp,
    last: Timestamp,
}

pub(super) struct GraphBuilder<'a> {
    processes: &'a ProcessTable,
    vocabulary: &'a Vocabulary,
    changed: &'a [bool],
    programs: &'a [bool],
    options: &'a BuildOptions<'a>,
    /// By [`ProcessId`]: whether the process is shown.
    selected: &'a [bool],
    path_files: PathFiles<'a>,
    /// By the log's number of a file: whether it has one at all, and the file of that number.
    numbered: Vec<(bool, Option<FileId>)>,
    files: Vec<FileState>,
    parts: Vec<u32>,
    order: Order,
    /// By the part of a process and the version of a file that it wrote. In the view of whole files also what it read.
    writes: HashMap<(u32, u32), u32, RandomState>,
    /// By the process and the version that it read: what it reads of that once more is nothing new, whatever it did since.
    reads: HashMap<(ProcessId, u32), u32, RandomState>,
    /// The last edge between a process and a file, in each direction, of those that have many parts or versions.
    channels: HashMap<(ProcessId, FileId, bool), u32, RandomState>,
    built: BuiltGraph,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(
        processes: &'a ProcessTable,
        vocabulary: &'a Vocabulary,
        log: &'a EventLog,
        changed: &'a [bool],
        programs: &'a [bool],
        options: &'a BuildOptions<'a>,
        selected: &'a [bool],
    ) -> Self {
        let paths = &log.names().paths;
        Self {
            selected,
            processes,
            vocabulary,
            changed,
            programs,
            options,
            path_files: PathFiles::new(paths),
            numbered: log.distinct_files().iter().map(|file| (file.numbered, None)).collect(),
            files: Vec::new(),
            parts: vec![UNBORN; processes.all().len()],
            order: Order::default(),
            writes: HashMap::default(),
            reads: HashMap::default(),
            channels: HashMap::default(),
            built: BuiltGraph {
                nodes: Vec::new(),
                edges: Vec::new(),
                hidden: Hidden::default(),
                shown: vec![false; paths.len()],
                counts: Counts::default(),
            },
        }
    }

    /// Takes all records, and the processes in the order of their births.
    pub(super) fn build(mut self, records: &[Record], births: &[ProcessId]) -> BuiltGraph {
        let mut births = births.iter().copied().peekable();
        for record in records {
            let born = |process: &ProcessId| {
                self.processes.get(*process).start.is_none_or(|start| start <= record.at)
            };
            while let Some(process) = births.next_if(born) {
                self.part(process);
            }
            self.record(record);
        }
        births.for_each(|process| {
            self.part(process);
        });
        self.built
    }

    fn is_whole(&self) -> bool {
        self.options.view == FileView::File
    }

    fn record(&mut self, record: &Record) {
        let Record { process, path, path2, op, .. } = *record;
        let (at, at2) = (At { path, file: record.file }, At { path: path2, file: record.file2 });
        let file = Nullable::some(record.file);
        let place = self.vocabulary.place_of(path, file);
        if op == Op::Rename && place == PathKind::Directory {
            self.rename_directory(path, path2);
            return;
        }
        if let Some(why) = reason(self.vocabulary, (path, file), self.changed, self.options.system) {
            return self.built.hidden.access(record, why);
        }
        let access = |relation| Access {
            relation,
            moved: record.moved,
            reach: record.reach,
            at: record.at,
            first: record.first,
            last: record.last,
        };
        let is_channel = place == PathKind::Channel;
        match op {
            Op::Exists | Op::Missing => self.look(path, op == Op::Exists),
            Op::MakeOrOpen | Op::MakeOrEmpty | Op::Empty if is_channel => self.look(path, true),
            Op::MakeOrOpen if self.is_there(at) => self.look(path, true),
            Op::MakeOrEmpty if self.is_there(at) => {
                self.put(process, at, access(Relation::Create), Contents::Empty)
            }
            Op::Empty => self.put(process, at, access(Relation::Create), Contents::Empty),
            Op::Make | Op::MakeOrOpen | Op::MakeOrEmpty => {
                self.new_file(at);
                self.put(process, at, access(Relation::Create), Contents::Empty);
            }
            Op::MakeNameless => {
                let file = self.new_file(at);
                self.put(process, at, access(Relation::Create), Contents::Empty);
                self.files[file.0 as usize].names.clear();
                self.path_files.found(path, false);
            }
            Op::MakeLink => {
                let file = self.new_file(at);
                self.files[file.0 as usize].target = Some(path2);
                self.put(process, at, access(Relation::Create), Contents::Empty);
            }
            Op::Channel => {
                self.new_file(at);
            }
            Op::Write => self.put(process, at, access(Relation::Write), Contents::Continue),
            Op::Read => {
                self.take(process, at, access(Relation::Read));
                self.take_targets(process, at, access(Relation::Read));
            }
            Op::Map | Op::View if self.shows_map(op, path) => self.take(process, at, access(Relation::Map)),
            Op::Map | Op::View => self.built.hidden.access(record, super::hidden::Why::MappedOnly),
            Op::Rename => self.rename(process, at, at2, access(Relation::Create)),
            Op::Exchange => self.exchange(process, at, at2, access(Relation::Create)),
            Op::Link => self.link(process, at, at2, access(Relation::Create)),
            Op::Unlink => self.unlink(path),
        }
    }

    /// Whether a mapping is shown: of data, and of a program that was made or changed in the log; else only if it is asked for.
    fn shows_map(&self, op: Op, path: PathId) -> bool {
        let of = |marks: &[bool]| marks.get(path.index()) == Some(&true);
        self.options.maps || of(self.changed) || (op == Op::View && !of(self.programs))
    }

    fn look(&mut self, path: PathId, exists: bool) {
        self.path_files.found(path, exists);
        if exists {
            self.built.hidden.looked_at(path);
        }
    }

    fn is_there(&self, at: At) -> bool {
        // What is made has a number of its own: under whatever name a known one was found, it was there.
        match self.numbered.get(at.file.index()) {
            Some((true, Some(_))) => true,
            _ => self.path_files.exists(at.path) == Some(true),
        }
    }

    // Processes.

    /// The current part of a process; makes it, and those that it descends from, if this is the first sign of it.
    fn part(&mut self, process: ProcessId) -> u32 {
        let mut unborn = vec![];
        let mut next = Some(process);
        while let Some(process) = next.filter(|process| self.parts[process.index()] == UNBORN) {
            unborn.push(process);
            next = self.processes.get(process).parent.filter(|parent| self.selected[parent.index()]);
        }
        while let Some(process) = unborn.pop() {
            let ProcessEntry { start, end, parent, .. } = *self.processes.get(process);
            let node = self.add_node(Node { what: What::Part(process, 1), first: start, last: end }, false);
            self.parts[process.index()] = node;
            if let Some(parent) = parent.filter(|parent| self.selected[parent.index()]) {
                let from = self.parts[parent.index()];
                let edge = Edge { first: start, last: start, ..edge(from, node, Relation::Fork) };
                self.add_edge(edge);
            }
        }
        self.parts[process.index()]
    }

    /// A new part of a process, which takes in data that depend on the part before.
    fn split(&mut self, process: ProcessId, at: Timestamp) -> u32 {
        let part = self.parts[process.index()];
        let number = self.part_number(part);
        let end = self.built.nodes[part as usize].last.replace(at);
        let what = What::Part(process, number + 1);
        let node = self.add_node(Node { what, first: Some(at), last: end.map(|end| end.max(at)) }, false);
        self.add_edge(Edge { first: Some(at), last: Some(at), ..edge(part, node, Relation::Continue) });
        self.parts[process.index()] = node;
        node
    }

    fn part_number(&self, node: u32) -> u32 {
        match &self.built.nodes[node as usize].what {
            What::Part(_, number) => *number,
            What::Version(_) => 0,
        }
    }

    // Files.

    fn new_file(&mut self, at: At) -> FileId {
        let path = at.path;
        if let Some(before) = self.path_files.file(path) {
            self.files[before.0 as usize].names.retain(|name| *name != path);
        }
        let file = FileId(self.files.len() as u32);
        self.files.push(FileState { names: vec![path], ..FileState::default() });
        self.path_files.bind(path, file);
        if let Some((true, known)) = self.numbered.get_mut(at.file.index()) {
            *known = Some(file);
        }
        file
    }

    /// The file that an access is to: the one of its number, else the one that is at its path.
    fn file(&mut self, at: At) -> FileId {
        let known = match self.numbered.get(at.file.index()) {
            Some((true, known)) => *known,
            _ => self.path_files.file(at.path),
        };
        known.unwrap_or_else(|| self.new_file(at))
    }

    fn new_version(&mut self, file: FileId, path: PathId, before_all: bool) -> u32 {
        let state = &self.files[file.0 as usize];
        let names = state.names.iter().copied().filter(|name| *name != path).collect();
        let version = Version {
            file,
            path,
            names,
            made: false,
            filled: false,
            read: false,
            extent: None,
            written: 0,
            before: Before::Nothing,
        };
        let node = self.add_node(Node { what: What::Version(version), first: None, last: None }, before_all);
        let state = &mut self.files[file.0 as usize];
        state.version = Some(node);
        state.versions += 1;
        self.show(path);
        node
    }

    fn show(&mut self, path: PathId) {
        if let Some(shown) = self.built.shown.get_mut(path.index()) {
            *shown = true;
        }
    }

    fn version(&self, node: u32) -> Option<&Version> {
        match &self.built.nodes[node as usize].what {
            What::Version(version) => Some(version),
            What::Part(..) => None,
        }
    }

    fn version_mut(&mut self, node: u32) -> Option<&mut Version> {
        match &mut self.built.nodes[node as usize].what {
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
    fn take(&mut self, process: ProcessId, at: At, access: Access) {
        let part = self.part(process);
        let file = self.file(at);
        let current = self.current(file, at.path);
        self.built.nodes[current as usize].seen(access.first, access.last);
        let version = match self.source(process, part, file, current, access.reach) {
            Source::Edge(edge) => return self.add_figures(edge, &access, false),
            Source::Version(version) => version,
        };
        if let Some(version) = self.version_mut(version) {
            version.read = true;
        }
        let outcome = if self.is_whole() { Outcome::Added } else { self.order.add_edge(version, part) };
        let part = match outcome {
            Outcome::Added => part,
            _ if self.part_number(part) >= MOST_PARTS && self.joins((process, file, false), access) => return,
            outcome => {
                self.built.counts.given_up += u64::from(outcome == Outcome::GivenUp);
                let part = self.split(process, access.at);
                self.order_edge(version, part);
                part
            }
        };
        let id = self.push_edge(edge(version, part, access.relation));
        self.reads.extend([version, current].map(|version| ((process, version), id)));
        self.add_figures(id, &access, false);
        self.remember((process, file, false), part, id);
    }

    /// Who reads a symbolic link that leads to another one reads that, too.
    fn take_targets(&mut self, process: ProcessId, at: At, access: Access) {
        let mut link = self.file(at);
        for _ in 0..MOST_LINKS {
            let Some(path) = self.files[link.0 as usize].target else { return };
            let next = self.path_files.file(path).filter(|_| self.path_files.exists(path) != Some(false));
            let Some(next) = next.filter(|next| self.files[next.0 as usize].target.is_some()) else { return };
            self.take(process, At { path, file: NO_NUMBER }, Access { moved: Transfer::default(), ..access });
            link = next;
        }
    }

    /// What a read is added to: the edge of an earlier read, or of a write if nobody else has written since and nothing of others is new.
    fn source(&mut self, process: ProcessId, part: u32, file: FileId, version: u32, reach: Extent) -> Source {
        if let Some(edge) = self.reads.get(&(process, version)) {
            return Source::Edge(*edge);
        }
        let own = self.is_whole() || self.files[file.0 as usize].writer == Some(process);
        let Some(edge) = self.writes.get(&(part, version)).copied().filter(|_| own) else {
            return Source::Version(version);
        };
        if let Some(before) = self.unread_before(process, version, reach) {
            return Source::Version(before);
        }
        self.reads.insert((process, version), edge);
        Source::Edge(edge)
    }

    /// The version that holds what others wrote before the process wrote `version`, if it has not read that yet. A read that may end
    /// before what it wrote is its own; one that goes farther is not.
    fn unread_before(&self, process: ProcessId, version: u32, reach: Extent) -> Option<u32> {
        if self.is_whole() {
            return None;
        }
        let known = self.version(version)?;
        let before = match known.before {
            Before::Version(before) => before,
            Before::Unseen if reach.end > known.written => version,
            Before::Nothing | Before::Unseen => return None,
        };
        (!self.reads.contains_key(&(process, before))).then_some(before)
    }

    /// Data of a process, a name or nothing go to a file.
    fn put(&mut self, process: ProcessId, at: At, access: Access, contents: Contents) {
        let part = self.part(process);
        let file = self.file(at);
        let Some(version) = self.version_to_write(process, part, file, at.path, access, contents) else {
            return;
        };
        self.built.nodes[version as usize].seen(access.first, access.last);
        self.files[file.0 as usize].writer = Some(process);
        if let Some(version) = self.version_mut(version) {
            version.made = true;
            version.filled |= access.relation == Relation::Write;
            version.written = version.written.saturating_add(access.moved.bytes);
            if let Some(extent) = &mut version.extent {
                extent.add(access.reach);
            }
        }
        let known = self
            .writes
            .get(&(part, version))
            .or_else(|| self.reads.get(&(process, version)).filter(|_| self.is_whole()));
        let edge = match known.copied() {
            Some(edge) => edge,
            None => self.push_edge(edge(part, version, access.relation)),
        };
        self.writes.insert((part, version), edge);
        self.add_figures(edge, &access, true);
        self.remember((process, file, true), part, edge);
    }

    /// The version that a writer writes, with room in the order for the edge to it; `None` if the access was joined.
    fn version_to_write(
        &mut self,
        process: ProcessId,
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
        if self.is_whole() || self.stays(process, part, current, contents) {
            return Some(current);
        }
        if self.files[file.0 as usize].versions >= MOST_PARTS && self.joins((process, file, true), access) {
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

    /// What a new version holds of the one before, or of what was there before the log.
    fn fill(&mut self, version: u32, current: Option<u32>, contents: Contents) {
        let continued = current.and_then(|current| self.version(current));
        let (before, extent) = match (contents, current.zip(continued)) {
            (Contents::Empty, _) => (Before::Nothing, Some(Extent::default())),
            (Contents::Continue, None) => (Before::Unseen, None),
            (Contents::Continue, Some((_, held))) if !held.may_hold_data() => (Before::Nothing, held.extent),
            (Contents::Continue, Some((current, held))) => (Before::Version(current), held.extent),
        };
        if let Some(version) = self.version_mut(version) {
            (version.filled, version.extent, version.before) = (before != Before::Nothing, extent, before);
        }
    }

    /// Whether an access goes to the current version; if it does, there is room in the order for its edge.
    fn stays(&mut self, process: ProcessId, part: u32, current: u32, contents: Contents) -> bool {
        let Some(version) = self.version(current) else { return false };
        let (blank, file) = (version.is_blank(), version.file);
        if contents == Contents::Empty && !blank {
            return false;
        }
        if self.writes.contains_key(&(part, current)) {
            return true;
        }
        let own = self.files[file.0 as usize].writer == Some(process);
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

    fn rename(&mut self, process: ProcessId, old: At, new: At, access: Access) {
        let (from, to) = (old.path, new.path);
        if from == to || to.index() >= self.built.shown.len() {
            return;
        }
        if self.path_files.file(from).is_none() && self.rename_directory(from, to) {
            return;
        }
        let file = self.file(old);
        if self.path_files.exists(to) == Some(true) && self.path_files.file(to) == Some(file) {
            // Two names of one file: the kernel leaves both.
            return;
        }
        let before = self.current(file, from);
        self.unbind(to);
        let names = &mut self.files[file.0 as usize].names;
        names.retain(|name| *name != from && *name != to);
        names.push(to);
        self.path_files.bind(to, file);
        self.path_files.found(from, false);
        self.put(process, At { path: to, ..old }, access, Contents::Continue);
        self.named(file, before, to, Some(from));
    }

    fn exchange(&mut self, process: ProcessId, at: At, at2: At, access: Access) {
        let (from, to) = (at.path, at2.path);
        if from == to || to.index() >= self.built.shown.len() {
            return;
        }
        if self.exchange_directories(from, to) {
            return;
        }
        let (one, other) = (self.file(at), self.file(at2));
        for (file, number, old, new) in [(one, at.file, from, to), (other, at2.file, to, from)] {
            let before = self.current(file, old);
            let names = &mut self.files[file.0 as usize].names;
            names.retain(|name| *name != old);
            names.push(new);
            self.path_files.bind(new, file);
            self.put(process, At { path: new, file: number }, access, Contents::Continue);
            self.named(file, before, new, Some(old));
        }
    }

    fn link(&mut self, process: ProcessId, old: At, new: At, access: Access) {
        let (from, to) = (old.path, new.path);
        if from == to || to.index() >= self.built.shown.len() {
            return;
        }
        let file = self.file(old);
        let before = self.current(file, from);
        let has_name = self.files[file.0 as usize].names.contains(&from);
        self.unbind(to);
        self.files[file.0 as usize].names.push(to);
        self.path_files.bind(to, file);
        if !has_name {
            // The file had no name, or lost the one by which it was opened: this is what it is called.
            self.put(process, At { path: to, ..old }, access, Contents::Continue);
            return self.named(file, before, to, None);
        }
        self.put(process, old, access, Contents::Continue);
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
        self.path_files.found(path, false);
    }

    /// The file that was at a path loses this name.
    fn unbind(&mut self, path: PathId) {
        if let Some(file) = self.path_files.file(path) {
            self.files[file.0 as usize].names.retain(|name| *name != path);
        }
    }

    /// Renames everything below a directory; whether there was anything.
    fn rename_directory(&mut self, from: PathId, to: PathId) -> bool {
        let below = self.path_files.below(from, to);
        self.move_all(below)
    }

    /// Exchanges everything below two directories; whether there was anything.
    fn exchange_directories(&mut self, one: PathId, other: PathId) -> bool {
        let mut below = self.path_files.below(one, other);
        below.extend(self.path_files.below(other, one));
        self.move_all(below)
    }

    /// Gives files other names, all at once; whether there is any.
    fn move_all(&mut self, names: Vec<(PathId, Option<PathId>)>) -> bool {
        let moves: Vec<_> =
            names.into_iter().map(|(old, new)| (old, new, self.path_files.file(old))).collect();
        moves.iter().for_each(|(old, ..)| self.unlink(*old));
        for (old, new, file) in &moves {
            let Some(new) = *new else { continue };
            let Some(file) = *file else {
                self.path_files.found(new, true);
                continue;
            };
            self.unbind(new);
            self.files[file.0 as usize].names.push(new);
            self.path_files.bind(new, file);
            if let Some(current) = self.files[file.0 as usize].version {
                self.named(file, current, new, Some(*old));
            }
        }
        !moves.is_empty()
    }

    // Edges.

    fn add_node(&mut self, node: Node, before_all: bool) -> u32 {
        self.built.nodes.push(node);
        if !self.is_whole() {
            if before_all {
                self.order.add_first()
            } else {
                self.order.add_last()
            };
        }
        (self.built.nodes.len() - 1) as u32
    }

    /// An edge to a new vertex.
    fn add_edge(&mut self, edge: Edge) {
        self.order_edge(edge.from.0, edge.to.0);
        self.built.edges.push(edge);
    }

    fn push_edge(&mut self, edge: Edge) -> u32 {
        self.built.edges.push(edge);
        (self.built.edges.len() - 1) as u32
    }

    /// Adds an access to an edge. The first relation in the order of precedence is kept, and with it the direction.
    fn add_figures(&mut self, edge: u32, access: &Access, written: bool) {
        let edge = &mut self.built.edges[edge as usize];
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
    fn remember(&mut self, channel: (ProcessId, FileId, bool), part: u32, edge: u32) {
        let versions = self.files[channel.1.0 as usize].versions;
        if self.part_number(part).max(versions) > MOST_PARTS / 2 {
            self.channels.insert(channel, edge);
        }
    }

    /// Adds an access to the last edge of the same process and file, if there is one.
    fn joins(&mut self, channel: (ProcessId, FileId, bool), access: Access) -> bool {
        let Some(&edge) = self.channels.get(&channel) else { return false };
        self.built.counts.joined += 1;
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
