//! Table 4, access patterns: where each transfer begins, seen from the one before, and which bytes are moved again.
//!
//! Dun et al. ("ParaTrac", section 5.1) ask for the offsets and lengths of accesses; the measures made of them are defined in
//! `docs/stats.md`. The one before is that through the same open file description, whichever process and descriptor it was
//! made with. What lies on both sides of a boundary between two pieces of a log is decided when they meet, so that any split of
//! the log gives the same; what goes through a description that several cases use when all are there.

use crate::access::{Access, Step, Transfer};
use crate::across_cases::AcrossCases;
use crate::call::{Call, Description};
use crate::part::Context;
use crate::result::AccessRow;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_model::{CaseId, FileId, Nullable, Pid, Timestamp};
use iotrail_query::ProcessId;
use iotrail_query::process_group::{command_line, executable};
use std::hash::Hash;

/// What accesses are added up by.
pub(crate) trait Place: Copy + Eq + Hash {
    /// Where a transfer counts, and a copy on the side that it reads; NULL if nowhere.
    fn of(call: &Call) -> Option<Self>;
    /// Where a copy counts on the side that it writes.
    fn of_target(call: &Call) -> Option<Self>;
}

/// The access patterns of some rows of a log.
#[derive(Clone, Debug)]
pub(crate) struct Patterns<P = ProcessFile> {
    /// Boxed, so that neither a table that grows nor one that takes over another's copies them.
    accesses: HashMap<P, Box<Access>, RandomState>,
}

/// What consecutive rows leave open: through what files were accessed in them, and where the first and last access lay.
#[derive(Clone, Debug)]
pub(crate) struct Streams<P = ProcessFile> {
    streams: HashMap<StreamKey, Stream<P>, RandomState>,
    /// Those through descriptions that several cases use.
    apart: Vec<Apart<P>>,
}

/// An access whose neighbours in time are not those in the rows.
#[derive(Clone, Copy, Debug)]
struct Apart<P> {
    start: Timestamp,
    key: StreamKey,
    alone: Stream<P>,
}

/// What pieces of the log, in their order, have decided, and what they leave open.
#[derive(Clone, Debug)]
pub(crate) struct Closed<P = ProcessFile> {
    ends: Ends,
    steps: HashMap<P, Vec<Step>, RandomState>,
    apart: Vec<Apart<P>>,
}

impl<P> Default for Patterns<P> {
    fn default() -> Self {
        Self { accesses: HashMap::default() }
    }
}

impl<P> Default for Streams<P> {
    fn default() -> Self {
        Self { streams: HashMap::default(), apart: Vec::new() }
    }
}

impl<P> Default for Closed<P> {
    fn default() -> Self {
        Self { ends: Ends::default(), steps: HashMap::default(), apart: Vec::new() }
    }
}

impl<P: Place> Closed<P> {
    /// Adds the piece that follows.
    pub(crate) fn push(&mut self, piece: Streams<P>) {
        piece.streams.into_iter().for_each(|(key, stream)| self.follow(key, stream));
        self.apart.extend(piece.apart);
    }

    fn follow(&mut self, key: StreamKey, Stream { first, last }: Stream<P>) {
        let before = self.ends.replace(key, last.end());
        if let Some((before, (place, start))) = before.and_then(End::offset).zip(first) {
            self.steps.entry(place).or_default().push(Step::between(before, start));
        }
    }

    /// Puts what is apart from its neighbours in the order of time.
    fn join(&mut self) {
        let mut apart = std::mem::take(&mut self.apart);
        apart.sort_by_key(|access| access.start);
        apart.into_iter().for_each(|access| self.follow(access.key, access.alone));
    }
}

/// A process (NULL if unknown) and a file (NULL for all that is no file).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcessFile {
    process: Option<ProcessId>,
    file: Option<FileId>,
}

impl Place for ProcessFile {
    fn of(call: &Call) -> Option<Self> {
        Some(Self { process: call.process, file: call.file })
    }

    fn of_target(call: &Call) -> Option<Self> {
        Some(Self { process: call.process, file: call.second })
    }
}

/// Through what a file is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StreamKey {
    /// An open file description.
    Open(Description),
    /// Where that is not known: a descriptor of a process, and the file behind it.
    Descriptor(Descriptor),
}

type Descriptor = (CaseId, Pid, Nullable<i32>, FileId);

/// What was accessed through it, one transfer after the other.
#[derive(Clone, Copy, Debug)]
struct Stream<P> {
    /// Where the first transfer of the piece began, and whose it was, if what came before decides what it was.
    first: Option<(P, u64)>,
    last: Last,
}

impl<P> Stream<P> {
    const NEW: Self = Self { first: None, last: Last::Open };
    const UNKNOWN: Self = Self { first: None, last: Last::Unknown };
}

/// What a stream ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Open,
    /// Something after which nobody knows where the next one comes: it was opened, or an offset was unknown.
    Unknown,
    /// A transfer that ended there.
    At(u64),
}

impl Last {
    /// The same once it is known that nothing else happened before.
    fn end(self) -> Option<End> {
        match self {
            Self::Open => None,
            Self::Unknown => Some(End::UNKNOWN),
            Self::At(offset) => Some(End(offset)),
        }
    }
}

/// How each stream ended that something was done to: there are as many as files were opened.
#[derive(Clone, Debug, Default)]
struct Ends {
    open: HashMap<Description, End, RandomState>,
    descriptors: HashMap<Descriptor, End, RandomState>,
}

impl Ends {
    /// How a stream ended before, and how it ends now, if anything was done to it.
    fn replace(&mut self, key: StreamKey, end: Option<End>) -> Option<End> {
        match (key, end) {
            (StreamKey::Open(open), Some(end)) => self.open.insert(open, end),
            (StreamKey::Open(open), None) => self.open.get(&open).copied(),
            (StreamKey::Descriptor(descriptor), Some(end)) => self.descriptors.insert(descriptor, end),
            (StreamKey::Descriptor(descriptor), None) => self.descriptors.get(&descriptor).copied(),
        }
    }
}

/// Where the last transfer of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End(u64);

impl End {
    const UNKNOWN: Self = Self(u64::MAX);

    fn offset(self) -> Option<u64> {
        (self != Self::UNKNOWN).then_some(self.0)
    }
}

impl<P: Place> Patterns<P> {
    /// Adds a selected call; `streams` are those of the rows right before it.
    pub(crate) fn add(&mut self, call: &Call, streams: &mut Streams<P>, across: &AcrossCases) {
        let Some(moved) = call.moved else { return };
        let transfer = Transfer {
            is_write: moved.written,
            bytes: moved.bytes,
            requested: call.requested(),
            offset: call.event.offset.get().and_then(|offset| u64::try_from(offset).ok()),
            in_file: call.file.is_some(),
        };
        if !call.is_copy() {
            return self.transfer(call, &transfer, streams, across);
        }
        self.transfer(call, &Transfer { is_write: false, ..transfer }, streams, across);
        // Where a copy begins in its target is not recorded.
        let into = Transfer { offset: None, in_file: call.second.is_some(), ..transfer };
        if let Some(place) = P::of_target(call) {
            self.accesses.entry(place).or_default().add(&into);
        }
        streams.copied_into(call, across);
    }

    fn transfer(&mut self, call: &Call, transfer: &Transfer, streams: &mut Streams<P>, across: &AcrossCases) {
        let Some(place) = P::of(call) else { return };
        let step = call.file.and_then(|file| {
            let mut alone = Stream::NEW;
            match call.open.filter(|open| across.has(*open)) {
                Some(open) => {
                    let step = alone.go(place, transfer);
                    streams.put_apart(call, open, alone);
                    step
                }
                None => streams.of(call, file).go(place, transfer),
            }
        });
        let access = self.accesses.entry(place).or_default();
        access.add(transfer);
        step.into_iter().for_each(|step| access.step(step));
    }

    /// Adds other rows of the same log.
    pub(crate) fn merge(&mut self, other: Self) {
        for (place, access) in other.accesses {
            match self.accesses.entry(place) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(&access),
                Entry::Vacant(free) => {
                    free.insert(access);
                }
            }
        }
    }

    /// Adds what was decided between pieces. All their rows must have been added.
    pub(crate) fn settle(&mut self, mut closed: Closed<P>) {
        closed.join();
        for (place, steps) in closed.steps {
            if let Some(access) = self.accesses.get_mut(&place) {
                steps.into_iter().for_each(|step| access.step(step));
            }
        }
    }

    /// How each was accessed.
    pub(crate) fn into_accesses(self) -> HashMap<P, Box<Access>, RandomState> {
        self.accesses
    }
}

impl Patterns {
    /// How each file was accessed, whoever did it.
    pub(crate) fn by_file(self) -> HashMap<FileId, Box<Access>, RandomState> {
        let mut files: HashMap<FileId, Box<Access>, RandomState> = HashMap::default();
        for (place, access) in self.accesses {
            match place.file.map(|file| files.entry(file)) {
                Some(Entry::Occupied(mut known)) => known.get_mut().merge(&access),
                Some(Entry::Vacant(free)) => {
                    free.insert(access);
                }
                None => {}
            }
        }
        files
    }

    /// The rows of files and of processes, those with most bytes first.
    pub(crate) fn rows(self, context: &Context<'_>) -> (Vec<AccessRow>, Vec<AccessRow>) {
        let mut files: HashMap<FileId, Access, RandomState> = HashMap::default();
        let mut processes: HashMap<ProcessId, Access, RandomState> = HashMap::default();
        for (place, mut access) in self.accesses {
            if let Some(file) = place.file {
                files.entry(file).or_default().merge(&access);
            }
            if let Some(process) = place.process {
                processes.entry(process).or_default().merge_other_file(&mut access);
            }
        }
        let paths = &context.log.names().paths;
        let name = |file: FileId| context.log.distinct_files()[file.index()].path;
        let file = |(file, mut access): (FileId, Access)| access.row(paths[name(file).index()].to_string());
        let process = |(process, mut access): (ProcessId, Access)| {
            let image = context.processes.last_image(process);
            let name = command_line(image).or_else(|| executable(image).map(str::to_owned));
            AccessRow {
                pid: Some(image.pid.0),
                group: Some(context.slot(Some(process)) as u32),
                ..access.row(name.unwrap_or_else(|| format!("process {}", image.pid)))
            }
        };
        let rows = (in_order(files).map(file).collect(), in_order(processes).map(process).collect());
        (most_bytes_first(rows.0), most_bytes_first(rows.1))
    }
}

impl<P> Streams<P> {
    fn of(&mut self, call: &Call, file: FileId) -> &mut Stream<P> {
        let event = &call.event;
        let key = match call.open {
            Some(open) => StreamKey::Open(open),
            None => StreamKey::Descriptor((event.case, event.pid, event.fd, file)),
        };
        self.streams.entry(key).or_insert(Stream::NEW)
    }

    fn put_apart(&mut self, call: &Call, open: Description, alone: Stream<P>) {
        self.apart.push(Apart { start: call.event.start, key: StreamKey::Open(open), alone });
    }

    /// Nobody knows where the next transfer comes after a copy into an open file description.
    fn copied_into(&mut self, call: &Call, across: &AcrossCases) {
        match call.open2 {
            Some(open) if across.has(open) => self.put_apart(call, open, Stream::UNKNOWN),
            Some(open) => {
                self.streams.entry(StreamKey::Open(open)).or_insert(Stream::NEW).last = Last::Unknown;
            }
            None => {}
        }
    }

    /// Looks at a call, selected or not, that may make a descriptor: where its open file description is not known, the number may
    /// have been another one's before.
    pub(crate) fn open(&mut self, call: &Call) {
        let is_new = call.kind.opens && !call.failed() && call.event.open.is_null();
        if let (true, Some(file)) = (is_new, call.file) {
            self.of(call, file).last = Last::Unknown;
        }
    }
}

impl<P> Stream<P> {
    /// Goes on with a transfer of `place`; says how, if that is decided.
    fn go(&mut self, place: P, transfer: &Transfer) -> Option<Step> {
        let Some(start) = transfer.offset else {
            self.last = Last::Unknown;
            return None;
        };
        match std::mem::replace(&mut self.last, Last::At(start.saturating_add(transfer.bytes))) {
            Last::At(before) => Some(Step::between(before, start)),
            Last::Unknown => None,
            Last::Open => {
                self.first = Some((place, start));
                None
            }
        }
    }
}

/// By number: several files may have one name.
fn in_order<K: Copy + Ord>(accesses: HashMap<K, Access, RandomState>) -> impl Iterator<Item = (K, Access)> {
    let mut list: Vec<(K, Access)> = accesses.into_iter().collect();
    list.sort_unstable_by_key(|(key, _)| *key);
    list.into_iter()
}

fn most_bytes_first(mut rows: Vec<AccessRow>) -> Vec<AccessRow> {
    let bytes = |row: &AccessRow| row.bytes_read.saturating_add(row.bytes_written);
    rows.sort_by(|a, b| bytes(b).cmp(&bytes(a)).then_with(|| a.name.cmp(&b.name)));
    rows
}
