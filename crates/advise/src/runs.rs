//! Runs: sequences of accesses that can be one.
//!
//! Reads F1..Fk are *hoisted*: all are done at F1. That is safe if and only if no foreign write touches the bytes of an Fj between F1 and
//! Fj. Writes are *deferred*: all are done at Fk. That is safe if and only if no foreign access touches the bytes of an Fj between Fj and
//! Fk, and nothing in between promises to somebody that they are done (edges). Foreign is what goes through another open file
//! description, of whatever process. Every part of a safe run is safe, so runs that are taken as long as they stay safe, one behind the
//! other, are the fewest.
//!
//! Runs that are safe one by one need not be so together: a write that is deferred may meet a read that is hoisted. So runs of writes
//! are found first, and reads stay behind what these defer. (What reads before a write stays before it.)

use crate::access::{Access, DescriptionId, Edge, EdgeKind, Kind};
use crate::file::{Ask, Looking, ProcessEdges, Takes, next_edge};
use crate::result::Shape;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Why a run ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stop {
    /// There was no further access of the kind, or another shape begins.
    End,
    /// The description was used for something else: a transfer the other way, or one whose place is not known.
    Mixed,
    /// Another process or thread made the next one, or both overlapped.
    Parallel,
    /// A foreign access touches the bytes.
    Conflict(u32),
    /// A foreign access may touch any byte.
    Unknown(u32),
    /// An edge orders the writes.
    Edge(Edge),
    /// It writes bytes that the run has written: which is the last one would be lost when they are sorted.
    Overlap,
}

impl Stop {
    /// What is in the way, in a word; nothing if nothing is.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::End => return None,
            Self::Mixed => "mixed",
            Self::Parallel => "parallel",
            Self::Conflict(_) => "conflict",
            Self::Unknown(_) => "unknown",
            Self::Edge(edge) => edge.kind.name(),
            Self::Overlap => "overlap",
        })
    }
}

/// Two accesses that follow each other through one description, and what keeps them out of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Index of the first.
    pub last: u32,
    /// Index of the second.
    pub next: u32,
    /// What is between them.
    pub stop: Stop,
}

/// A sequence of accesses through one description that can be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Indices into the accesses of the file; two at least.
    pub members: Vec<u32>,
    /// How their ranges lie.
    pub shape: Shape,
    /// What is behind it.
    pub stop: Stop,
}

/// From so many regular accesses on they are a run of their own, also among irregular ones.
const REGULAR: usize = 4;

/// How the second of two accesses lies to the first.
fn shape(a: &Access, b: &Access) -> Shape {
    if a.high == b.low {
        return Shape::Adjacent;
    }
    let regular = a.bytes() == b.bytes() && b.low > a.high;
    if regular { Shape::Strided { size: a.bytes(), stride: b.low - a.low } } else { Shape::Scattered }
}

/// The runs of all descriptions of a file, in the order of descriptions and time; and why accesses that follow each other, and would
/// fit in shape, are in two runs: how often.
pub(crate) fn runs(looking: &mut Looking<'_>, processes: &ProcessEdges, ordered: bool) -> Runs {
    let sequences = sequences(&looking.file.accesses);
    let mut found = Runs::default();
    for kind in [Kind::Write, Kind::Read] {
        let limits = Limits::of(looking, kind, &sequences);
        let before = found.runs.len();
        for sequence in sequences.values() {
            let contended = contended(looking, sequence);
            Cutting { looking, processes, ordered, kind, limits: &limits, sequence, contended }
                .cut(&mut found);
        }
        found.runs[before..]
            .iter()
            .filter(|_| kind == Kind::Write)
            .for_each(|run| looking.defer(&run.members));
    }
    found.runs.sort_by_key(|run| run.members[0]);
    found.gaps.sort_unstable_by_key(|gap| gap.last);
    found
}

fn sequences(accesses: &[Access]) -> Sequences {
    let mut found: HashMap<DescriptionId, Vec<u32>, RandomState> = HashMap::default();
    for (index, access) in accesses.iter().enumerate().filter(|(_, access)| access.is_transfer()) {
        found.entry(access.description).or_default().push(index as u32);
    }
    found.into_iter().collect()
}

/// The transfers of each description, in the order of time.
type Sequences = BTreeMap<DescriptionId, Vec<u32>>;

/// What the runs of a file are.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The runs, by description and time.
    pub runs: Vec<Run>,
    /// What stands between accesses that follow each other and are not in one run, by the first of the two.
    pub gaps: Vec<Gap>,
}

impl Runs {
    /// What stands between accesses that follow each other and are not in one run, and how often.
    #[must_use]
    pub fn stops(&self) -> BTreeMap<&'static str, u64> {
        let mut stops = BTreeMap::new();
        for word in self.gaps.iter().filter_map(|gap| gap.stop.name()) {
            *stops.entry(word).or_default() += 1;
        }
        stops
    }

    /// What keeps an access and the next one through its description out of one run.
    #[must_use]
    pub fn gap_behind(&self, at: u32) -> Option<Gap> {
        self.gaps.binary_search_by_key(&at, |gap| gap.last).ok().map(|index| self.gaps[index])
    }
}

/// For each access of a kind what it may not be moved across: of reads the foreign write that ends last, of writes the foreign access
/// that begins first.
struct Limits {
    certain: Vec<Option<u32>>,
    unknown: Vec<Option<u32>>,
}

impl Limits {
    fn of(looking: &Looking<'_>, kind: Kind, sequences: &Sequences) -> Self {
        let own: Vec<u32> = sequences
            .values()
            .flatten()
            .copied()
            .filter(|at| looking.access(*at).kind == kind && looking.access(*at).mergeable)
            .collect();
        let asks = |bytes: &dyn Fn(u32) -> (u64, u64)| -> Vec<Ask> {
            let ask = |at: &u32| {
                let ((low, high), access) = (bytes(*at), looking.access(*at));
                Ask { by: *at, low, high, moment: if kind == Kind::Read { access.end } else { access.start } }
            };
            own.iter().map(ask).collect()
        };
        let spread = |answers: Vec<Option<u32>>| {
            let mut all = vec![None; looking.file.accesses.len()];
            own.iter().zip(answers).for_each(|(at, answer)| all[*at as usize] = answer);
            all
        };
        let bytes = asks(&|at| (looking.access(at).low, looking.access(at).high));
        if kind == Kind::Read {
            return Self {
                certain: spread(looking.before_own(Takes::VisibleWrites, &bytes)),
                unknown: spread(looking.before_own(Takes::UnknownWrites, &bytes)),
            };
        }
        let written = asks(&|at| match looking.appends(looking.access(at)) {
            true => (0, u64::MAX),
            false => (looking.access(at).low, looking.access(at).high),
        });
        let writers = looking.after_own(Takes::Writes, &written);
        let readers = looking.after_own(Takes::Reads, &asks(&|at| looking.visible(at)));
        let begin = |at: &u32| looking.time(*at).0;
        let first = writers.into_iter().zip(readers).map(|(a, b)| a.into_iter().chain(b).min_by_key(begin));
        Self { certain: spread(first.collect()), unknown: spread(looking.after_own(Takes::Unknown, &bytes)) }
    }
}

struct Cutting<'a> {
    looking: &'a Looking<'a>,
    processes: &'a ProcessEdges,
    ordered: bool,
    kind: Kind,
    limits: &'a Limits,
    sequence: &'a [u32],
    /// Of each place of the sequence, whether another thread uses the description meanwhile, and either of them writes.
    contended: Vec<bool>,
}

/// Of each place of a sequence, whether another access of it goes on at the same time, and either of them writes: what is moved across
/// such an access may meet it in another order. Calls of two threads that touch count as such.
fn contended(looking: &Looking<'_>, sequence: &[u32]) -> Vec<bool> {
    let mut contended = vec![false; sequence.len()];
    let mut last: [Option<usize>; 2] = [None; 2];
    for (index, at) in sequence.iter().enumerate() {
        let access = looking.access(*at);
        // What ended last of those before, of all and of those that write.
        for (ended, writes) in last.iter_mut().zip([false, true]) {
            if let Some(before) = *ended {
                let other = looking.access(sequence[before]);
                let meets = access.start < other.end || access.start == other.end && access.tid != other.tid;
                if meets && (access.kind.writes() || other.kind.writes()) {
                    contended[index] = true;
                    contended[before] = true;
                }
            }
            let is_later = ended.is_none_or(|before| looking.access(sequence[before]).end <= access.end);
            if is_later && (!writes || access.kind.writes()) {
                *ended = Some(index);
            }
        }
    }
    contended
}

impl Cutting<'_> {
    fn cut(&self, found: &mut Runs) {
        let regular = self.regular();
        let mut first = 0;
        while first + 1 < self.sequence.len() {
            if self.looking.access(self.sequence[first]).kind != self.kind {
                first += 1;
                continue;
            }
            let many = |cut: &Cut| cut.length >= Shape::Scattered.fewest();
            let irregular =
                if regular[first] < REGULAR { Some(self.irregular(first, &regular)) } else { None };
            let Cut { length, shape, stop } = irregular.filter(many).unwrap_or_else(|| self.longest(first));
            let behind = first + length;
            let last = self.sequence[behind - 1];
            let apart = self.looking.access(last).mergeable && stop.name().is_some();
            if let Some(next) = self.sequence.get(behind).copied().filter(|_| apart) {
                found.gaps.push(Gap { last, next, stop });
            }
            if length > 1 {
                let members = self.sequence[first..behind].to_vec();
                found.runs.push(Run { members, shape, stop });
            }
            first = behind;
        }
    }

    /// Whether the access behind this place can be in a run with the one at it, by itself.
    fn step(&self, index: usize) -> Result<Shape, Stop> {
        let [a, b] = [index, index + 1].map(|index| self.looking.access(self.sequence[index]));
        if a.kind != b.kind || !a.mergeable || !b.mergeable {
            return Err(Stop::Mixed);
        }
        let is_contended = self.contended[index] || self.contended[index + 1];
        if a.pid != b.pid || b.start < a.end || is_contended {
            return Err(Stop::Parallel);
        }
        // What is on storage when it returns is not put off.
        if self.ordered && self.looking.syncs(a) {
            let Access { start, pid, call, .. } = *a;
            return Err(Stop::Edge(Edge { start, kind: EdgeKind::Sync, pid, call }));
        }
        let shape = shape(a, b);
        // Where an appended write lands nobody chooses.
        if shape != Shape::Adjacent && self.looking.appends(a) {
            return Err(Stop::Mixed);
        }
        Ok(shape)
    }

    /// From each place on, how many accesses are of one regular shape, whether or not it is safe to merge them.
    fn regular(&self) -> Vec<usize> {
        let mut lengths = vec![1; self.sequence.len()];
        let mut behind = None;
        for index in (0..self.sequence.len().saturating_sub(1)).rev() {
            let shape = self.step(index).ok().filter(|shape| *shape != Shape::Scattered);
            if shape.is_some() {
                lengths[index] = if shape == behind { lengths[index + 1] + 1 } else { 2 };
            }
            behind = shape;
        }
        lengths
    }

    /// How many accesses from this one on can be one if it does not matter how they lie, up to the next regular run.
    fn irregular(&self, first: usize, regular: &[usize]) -> Cut {
        let (head, mut barrier) = (self.sequence[first], Barrier::of(self, self.sequence[first]));
        let cut = |next: usize, stop: Stop| Cut { length: next - first, shape: Shape::Scattered, stop };
        for (next, length) in regular.iter().enumerate().skip(first + 1) {
            if *length >= REGULAR {
                return cut(next, Stop::End);
            }
            let step = self.step(next - 1);
            if let Err(stop) =
                step.and_then(|_| barrier.lets(self, head, self.sequence[next], Shape::Scattered))
            {
                return cut(next, stop);
            }
        }
        cut(self.sequence.len(), Stop::End)
    }

    /// How many accesses from this one on can be one, of one shape.
    fn longest(&self, first: usize) -> Cut {
        let head = self.sequence[first];
        let (mut shape, mut barrier) = (None, Barrier::of(self, head));
        for next in first + 1..self.sequence.len() {
            let found = match self.step(next - 1) {
                Ok(found) => found,
                Err(stop) => {
                    return Cut { length: next - first, shape: shape.unwrap_or(Shape::Adjacent), stop };
                }
            };
            let shape = *shape.get_or_insert(found);
            if shape != found {
                // What begins a regular run is not spent on an irregular one, or on one that is too short.
                let spared = usize::from(shape == Shape::Scattered || next - first < shape.fewest());
                return Cut { length: next - first - spared, shape, stop: Stop::End };
            }
            if let Err(stop) = barrier.lets(self, head, self.sequence[next], shape) {
                return Cut { length: next - first, shape, stop };
            }
        }
        let length = self.sequence.len() - first;
        Cut { length, shape: shape.unwrap_or(Shape::Adjacent), stop: Stop::End }
    }
}

/// The begin of a sequence that can be one access.
struct Cut {
    length: usize,
    shape: Shape,
    stop: Stop,
}

/// What a growing run must not cross.
struct Barrier {
    /// Writes: the first moment at which somebody touches what a member wrote.
    conflict: Option<(i64, u32)>,
    unknown: Option<(i64, u32)>,
    edge: Option<Edge>,
    /// What an irregular run writes: first bytes and the bytes behind the last ones.
    written: BTreeMap<u64, u64>,
}

impl Barrier {
    fn of(cutting: &Cutting<'_>, head: u32) -> Self {
        let mut barrier = Self { conflict: None, unknown: None, edge: None, written: BTreeMap::new() };
        let access = cutting.looking.access(head);
        if access.kind == Kind::Write {
            barrier.add(cutting, head);
            barrier.edge = if cutting.ordered { barrier.next_edge(cutting, access) } else { None };
        }
        barrier
    }

    fn next_edge(&self, cutting: &Cutting<'_>, head: &Access) -> Option<Edge> {
        let file = cutting.looking.file;
        let case = cutting.looking.descriptions.get(head.description.0 as usize).map(|open| open.case);
        let of_process = case.and_then(|case| cutting.processes.get(&(case, head.pid)));
        let of_description = file.edges_of_descriptions.get(&head.description);
        [Some(&file.edges), of_process, of_description]
            .into_iter()
            .flatten()
            .filter_map(|edges| next_edge(edges, head.start))
            .min()
    }

    /// A write becomes a member: what comes after it counts from now on.
    fn add(&mut self, cutting: &Cutting<'_>, member: u32) {
        let begun = |at: u32| (cutting.looking.time(at).0, at);
        let sooner = |old: Option<(i64, u32)>, new: Option<u32>| match (old, new.map(begun)) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        self.conflict = sooner(self.conflict, cutting.limits.certain[member as usize]);
        self.unknown = sooner(self.unknown, cutting.limits.unknown[member as usize]);
    }

    /// Whether the run may go on with `next`.
    fn lets(&mut self, cutting: &Cutting<'_>, head: u32, next: u32, shape: Shape) -> Result<(), Stop> {
        let [head, access] = [head, next].map(|at| cutting.looking.access(at));
        if access.kind == Kind::Read {
            let crossed = |found: Option<u32>| found.filter(|at| cutting.looking.time(*at).1 >= head.start);
            let conflict = crossed(cutting.limits.certain[next as usize]).map(Stop::Conflict);
            let unknown = crossed(cutting.limits.unknown[next as usize]).map(Stop::Unknown);
            return conflict.or(unknown).map_or(Ok(()), Err);
        }
        let reached =
            |limit: Option<(i64, u32)>| limit.filter(|(moment, _)| *moment <= access.end).map(|(_, at)| at);
        let edge = self.edge.filter(|edge| edge.start <= access.end);
        let stop = (reached(self.conflict).map(Stop::Conflict))
            .or(reached(self.unknown).map(Stop::Unknown))
            .or(edge.map(Stop::Edge));
        if let Some(stop) = stop {
            return Err(stop);
        }
        if shape == Shape::Scattered {
            if self.written.is_empty() {
                self.written.insert(head.low, head.high);
            }
            let before = self.written.range(..access.high).next_back();
            if before.is_some_and(|(_, high)| *high > access.low) {
                return Err(Stop::Overlap);
            }
            self.written.insert(access.low, access.high);
        }
        self.add(cutting, next);
        Ok(())
    }
}
