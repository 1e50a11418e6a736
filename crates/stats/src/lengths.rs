//! Table 3: lengths of requests, bytes of processes and their lifetimes (Dun et al., "ParaTrac", figures 7 to 12).
//!
//! A request is a call that moved at least one byte. A copy between descriptors is a read of its source and a write of its
//! target.

use crate::options::FilesBy;
use crate::part::{Context, Part, RowFacts};
use crate::result::{Distribution, Quantity};
use crate::values::Values;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::{EventBatch, Nullable, PathId};
use iotrail_query::{NO_GROUP, ProcessId, Query};
use iotrail_trail::{Columns, EventLog};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The group of files whose name is unknown.
const UNKNOWN: &str = "(unknown)";

/// How files are grouped, decided once for each path.
#[derive(Debug)]
pub(crate) enum FileGroups {
    /// Names by number, and the number of each path.
    Preset { names: Vec<Arc<str>>, of_path: Vec<u32> },
    /// Numbers are those of activities.
    Map,
}

impl FileGroups {
    pub(crate) fn new(by: FilesBy, log: &EventLog, query: &Query) -> Self {
        let FilesBy::Preset(preset) = by else { return Self::Map };
        let mut numbers: HashMap<Arc<str>, u32, RandomState> = HashMap::default();
        let mut names: Vec<Arc<str>> = vec![UNKNOWN.into()];
        let number = |index: usize| {
            let Some(path) = query.path(PathId(index as u32)) else { return 0 };
            let name = preset.name_of(&path);
            if let Some(number) = numbers.get(&*name) {
                return *number;
            }
            let number = names.len() as u32;
            let name: Arc<str> = name.into();
            names.push(Arc::clone(&name));
            numbers.insert(name, number);
            number
        };
        let of_path = (0..log.names().paths.len()).map(number).collect();
        Self::Preset { names, of_path }
    }

    /// The number of the group that a path of a row belongs to; `None` if the mapping leaves the row out.
    #[inline]
    fn of(&self, path: Nullable<PathId>, facts: &RowFacts, row: usize) -> Option<u32> {
        match self {
            Self::Preset { of_path, .. } => {
                Some(path.get().and_then(|path| of_path.get(path.index())).copied().unwrap_or_default())
            }
            Self::Map => facts.activity.get(row)?.index().map(|activity| activity as u32),
        }
    }

    fn names(&self, context: &Context<'_>) -> Vec<Arc<str>> {
        match self {
            Self::Preset { names, .. } => names.clone(),
            Self::Map => context.query.activities(),
        }
    }
}

/// Lengths of reads and of writes.
#[derive(Clone, Debug, Default)]
struct Lengths {
    read: Values,
    written: Values,
}

/// What a process moved.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    read: u64,
    written: u64,
    /// Whether it made a selected call.
    called: bool,
}

/// Collects lengths and what processes moved.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    files: Arc<FileGroups>,
    by_file: HashMap<u32, Lengths, RandomState>,
    by_slot: HashMap<u32, Lengths, RandomState>,
    by_process: HashMap<ProcessId, Moved, RandomState>,
}

impl Requests {
    pub(crate) fn new(files: &Arc<FileGroups>) -> Self {
        Self {
            files: Arc::clone(files),
            by_file: HashMap::default(),
            by_slot: HashMap::default(),
            by_process: HashMap::default(),
        }
    }

    fn request(&mut self, read: bool, bytes: u64, slot: u32, file: Option<u32>) {
        let side = |lengths: &mut Lengths| {
            if read { lengths.read.push(bytes) } else { lengths.written.push(bytes) }
        };
        side(self.by_slot.entry(slot).or_default());
        if let Some(file) = file {
            side(self.by_file.entry(file).or_default());
        }
    }
}

impl Part for Requests {
    type Boundary = ();
    type Closed = ();
    type Table = Vec<Distribution>;

    fn columns() -> Columns {
        Columns::CALL | Columns::PATH | Columns::PATH2 | Columns::SIZE
    }

    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, _: &Context<'_>) {
        let files = Arc::clone(&self.files);
        for row in (0..batch.len).filter(|row| facts.selected[*row]) {
            let transfer = calls::spec(batch.call[row]).map(|spec| spec.transfer).unwrap_or_default();
            let size = batch.size[row].get().and_then(|size| u64::try_from(size).ok());
            let bytes = size.filter(|size| *size > 0 && transfer != Transfer::None).unwrap_or_default();
            let reads = matches!(transfer, Transfer::Read | Transfer::Copy);
            let writes = matches!(transfer, Transfer::Write | Transfer::Copy);
            if bytes > 0 && reads {
                self.request(true, bytes, facts.slot[row], files.of(batch.path[row], facts, row));
            }
            if bytes > 0 && writes {
                let path = if transfer == Transfer::Copy { batch.path2[row] } else { batch.path[row] };
                self.request(false, bytes, facts.slot[row], files.of(path, facts, row));
            }
            if let Some(process) = facts.process[row] {
                let moved = self.by_process.entry(process).or_default();
                moved.called = true;
                moved.read = moved.read.saturating_add(if reads { bytes } else { 0 });
                moved.written = moved.written.saturating_add(if writes { bytes } else { 0 });
            }
        }
    }

    fn merge(&mut self, other: Self) {
        merge_lengths(&mut self.by_file, other.by_file);
        merge_lengths(&mut self.by_slot, other.by_slot);
        for (process, moved) in other.by_process {
            let mine = self.by_process.entry(process).or_default();
            mine.called |= moved.called;
            mine.read = mine.read.saturating_add(moved.read);
            mine.written = mine.written.saturating_add(moved.written);
        }
    }

    fn close((): &mut (), (): ()) {}

    fn finish(self, (): (), context: &Context<'_>) -> Vec<Distribution> {
        let mut all = Vec::new();
        let slots: BTreeMap<u32, Lengths> = self.by_slot.into_iter().collect();
        let slot_name = |slot: u32| context.groups.names.get(slot as usize).map_or(NO_GROUP, String::as_str);
        let (reads, writes) =
            sides(slots.into_iter().map(|(slot, lengths)| (slot_name(slot).to_owned(), lengths)));
        all.extend(distributions(Quantity::ReadLength, reads));
        all.extend(distributions(Quantity::WriteLength, writes));
        processes(&self.by_process, context, slot_name, &mut all);
        let names = self.files.names(context);
        let mut files: Vec<(String, Lengths)> = self
            .by_file
            .into_iter()
            .map(|(file, lengths)| {
                (names.get(file as usize).map_or(UNKNOWN, AsRef::as_ref).to_owned(), lengths)
            })
            .collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let (reads, writes) = sides(files.into_iter());
        all.extend(distributions(Quantity::FileReadLength, reads));
        all.extend(distributions(Quantity::FileWriteLength, writes));
        all.sort_by_key(|distribution| distribution.quantity);
        all
    }
}

fn merge_lengths(mine: &mut HashMap<u32, Lengths, RandomState>, theirs: HashMap<u32, Lengths, RandomState>) {
    for (key, lengths) in theirs {
        let sums = mine.entry(key).or_default();
        sums.read.merge(lengths.read);
        sums.written.merge(lengths.written);
    }
}

type Named = Vec<(String, Values)>;

fn sides(lengths: impl Iterator<Item = (String, Lengths)>) -> (Named, Named) {
    lengths.map(|(name, both)| ((name.clone(), both.read), (name, both.written))).unzip()
}

fn distributions(quantity: Quantity, series: Named) -> impl Iterator<Item = Distribution> {
    series
        .into_iter()
        .filter(|(_, values)| values.count() > 0)
        .map(move |(name, values)| Distribution::new(quantity, name, &values.settled()))
}

/// Bytes and lifetimes of the processes that take part: all of them, or with a selection those that made a selected call.
fn processes<'a>(
    moved: &HashMap<ProcessId, Moved, RandomState>,
    context: &Context<'_>,
    slot_name: impl Fn(u32) -> &'a str,
    all: &mut Vec<Distribution>,
) {
    let everything = context.query.selects_everything();
    let mut series: BTreeMap<(Quantity, u32), Values> = BTreeMap::new();
    for (index, process) in context.processes.all().iter().enumerate() {
        let id = ProcessId(index as u32);
        let bytes = moved.get(&id).copied().unwrap_or_default();
        if !everything && !bytes.called {
            continue;
        }
        let slot = context.slot(Some(id)) as u32;
        let mut push = |quantity, value| series.entry((quantity, slot)).or_default().push(value);
        push(Quantity::ProcessRead, bytes.read);
        push(Quantity::ProcessWritten, bytes.written);
        let case = context.cases().get(process.case.index());
        let known = process.start.zip(process.end).and_then(|(start, end)| match case {
            Some(case) => case.time_between(start, end),
            None => Some(end - start),
        });
        let span = known.and_then(|span| u64::try_from(span.0).ok());
        span.into_iter().for_each(|span| push(Quantity::Lifetime, span));
    }
    all.extend(series.into_iter().map(|((quantity, slot), values)| {
        Distribution::new(quantity, slot_name(slot).to_owned(), &values.settled())
    }));
}
