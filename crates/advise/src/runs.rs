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
    Edge(EdgeKind),
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

/// Whether a step from one access to the next can be part of a run, by itself.
fn step(a: &Access, b: &Access) -> Result<Shape, Stop> {
    if a.kind != b.kind || !a.mergeable || !b.mergeable {
        return Err(Stop::Mixed);
    }
    if a.pid != b.pid || b.start < a.end {
        return Err(Stop::Parallel);
    }
    if a.high == b.low {
        return Ok(Shape::Adjacent);
    }
    let regular = a.bytes() == b.bytes() && b.low > a.high;
    Ok(if regular { Shape::Strided { size: a.bytes(), stride: b.low - a.low } } else { Shape::Scattered })
}

/// The runs of all descriptions of a file, in the order of descriptions and time; and why accesses that follow each other, and would
/// fit in shape, are in two runs: how often.
pub(crate) fn runs(looking: &mut Looking<'_>, processes: &ProcessEdges, ordered: bool) -> Runs {
    let mut sequences: Sequences = BTreeMap::new();
    for (at, access) in looking.file.accesses.iter().enumerate() {
        if access.is_transfer() {
            sequences.entry(access.description).or_default().push(at as u32);
        }
    }
    let mut found = Runs::default();
    for kind in [Kind::Write, Kind::Read] {
        let limits = Limits::of(looking, kind, &sequences);
        let before = found.runs.len();
        for sequence in sequences.values() {
            Cutting { looking, processes, ordered, kind, limits: &limits, sequence }.cut(&mut found);
        }
        found.runs[before..]
            .iter()
            .filter(|_| kind == Kind::Write)
            .for_each(|run| looking.defer(&run.members));
    }
    found.runs.sort_by_key(|run| run.members[0]);
    found
}

/// The transfers of each description, in the order of time.
type Sequences = BTreeMap<DescriptionId, Vec<u32>>;

/// What the runs of a file are.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The runs, by description and time.
    pub runs: Vec<Run>,
    /// What stands between accesses that follow each other and are not in one run, and how often.
    pub stops: BTreeMap<&'static str, u64>,
}

impl Runs {
    fn stop(&mut self, stop: Stop) {
        let word = match stop {
            Stop::End => return,
            Stop::Mixed => "mixed",
            Stop::Parallel => "parallel",
            Stop::Conflict(_) => "conflict",
            Stop::Unknown(_) => "unknown",
            Stop::Edge(kind) => kind.name(),
        };
        *self.stops.entry(word).or_default() += 1;
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
                certain: spread(looking.before(Takes::VisibleWrites, &bytes)),
                unknown: spread(looking.before(Takes::UnknownWrites, &bytes)),
            };
        }
        let written = asks(&|at| match looking.appends(looking.access(at)) {
            true => (0, u64::MAX),
            false => (looking.access(at).low, looking.access(at).high),
        });
        let writers = looking.after(Takes::Writes, &written);
        let readers = looking.after(Takes::Reads, &asks(&|at| looking.visible(at)));
        let begin = |at: &u32| looking.time(*at).0;
        let first = writers.into_iter().zip(readers).map(|(a, b)| a.into_iter().chain(b).min_by_key(begin));
        Self { certain: spread(first.collect()), unknown: spread(looking.after(Takes::Unknown, &bytes)) }
    }
}

struct Cutting<'a> {
    looking: &'a Looking<'a>,
    processes: &'a ProcessEdges,
    ordered: bool,
    kind: Kind,
    limits: &'a Limits,
    sequence: &'a [u32],
}

impl Cutting<'_> {
    fn cut(&self, found: &mut Runs) {
        let mut first = 0;
        while first + 1 < self.sequence.len() {
            if self.looking.access(self.sequence[first]).kind != self.kind {
                first += 1;
                continue;
            }
            let (length, shape, stop) = self.longest(first);
            found.stop(stop);
            if length > 1 {
                let members = self.sequence[first..first + length].to_vec();
                found.runs.push(Run { members, shape, stop });
            }
            first += length;
        }
    }

    /// How many accesses from this one on can be one.
    fn longest(&self, first: usize) -> (usize, Shape, Stop) {
        let head = self.looking.access(self.sequence[first]);
        let (mut shape, mut barrier) = (None, Barrier::of(self, self.sequence[first]));
        for next in first + 1..self.sequence.len() {
            let (a, b) = (self.sequence[next - 1], self.sequence[next]);
            let found = match step(self.looking.access(a), self.looking.access(b)) {
                Ok(found) => found,
                Err(stop) => return (next - first, shape.unwrap_or(Shape::Adjacent), stop),
            };
            let whole = *shape.get_or_insert(found);
            if whole != found {
                // What begins a regular run is not spent on an irregular one.
                let irregular = usize::from(whole == Shape::Scattered);
                return (next - first - irregular, whole, Stop::End);
            }
            if let Err(stop) = barrier.lets(self, head, b) {
                return (next - first, whole, stop);
            }
        }
        (self.sequence.len() - first, shape.unwrap_or(Shape::Adjacent), Stop::End)
    }
}

/// What a growing run must not cross.
struct Barrier {
    /// Writes: the first moment at which somebody touches what a member wrote.
    conflict: Option<(i64, u32)>,
    unknown: Option<(i64, u32)>,
    edge: Option<Edge>,
}

impl Barrier {
    fn of(cutting: &Cutting<'_>, head: u32) -> Self {
        let mut barrier = Self { conflict: None, unknown: None, edge: None };
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
    fn lets(&mut self, cutting: &Cutting<'_>, head: &Access, next: u32) -> Result<(), Stop> {
        let access = cutting.looking.access(next);
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
            .or(edge.map(|edge| Stop::Edge(edge.kind)));
        if let Some(stop) = stop {
            return Err(stop);
        }
        self.add(cutting, next);
        Ok(())
    }
}
