//! Ranks that wait for others through files: the first read of bytes that another rank wrote, or the open of a name that it made, where no
//! barrier is between.
//!
//! Source: section 5 of the definitions.

use crate::messages::Messages;
use crate::program::{Program, Target};
use crate::sessions::{Execution, RankSessions};
use crate::streams::Frame;
use iotrail_model::intervals::OrderedIntervals;
use iotrail_workload::{FileIndex, ModelFile, Partner, ProgramStep, RequestKind, takes_locks};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A kind of wait for another rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitFigures {
    /// File and session of the model that others must have ended.
    pub after: String,
    /// File and session before which ranks wait.
    pub before: String,
    /// For whom: `rank N`, `all`, the distance of ranks, or `no pattern`.
    pub of: String,
    /// Sessions that needed it.
    pub seen: u64,
    /// Whether the program has it: else others do not come before in its order, or they are no pattern of ranks.
    pub kept: bool,
}

/// File and session of a model.
type Kind = (usize, usize);
/// Waits by who is waited for, and who waits.
type Waits = BTreeMap<(Kind, Kind), Wait>;

/// Sessions of one kind that need those of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    producer: (usize, usize),
    consumer: (usize, usize),
    /// Producing ranks and consuming ones.
    pairs: BTreeSet<(u32, u32)>,
    seen: u64,
}

/// A session of a rank that moved bytes, or made or used a name.
struct Moved<'a> {
    rank: u32,
    target: (usize, usize),
    execution: &'a Execution,
    /// When its first request began and its last one ended, in ns.
    times: (i64, i64),
    /// Barriers of the rank before it, and before its end.
    barriers: (usize, usize),
    read: OrderedIntervals,
    written: OrderedIntervals,
}

impl Moved<'_> {
    /// Whether it reads what the other one wrote, or opens what that made.
    fn needs(&self, other: &Self) -> bool {
        let mode = other.execution.shape.mode();
        let makes = mode.create && !self.execution.shape.mode().create;
        // Who locks a file takes its turn whenever it comes.
        let [own, others] = [self, other].map(|moved| takes_locks(&moved.execution.shape.requests));
        let in_turns = own && others;
        self.read.meets(&other.written) && !in_turns || makes && other.execution.transfers.is_empty()
    }
}

/// The bytes that the transfers of a kind moved, as far as it is known where.
fn bytes(execution: &Execution, kind: RequestKind) -> OrderedIntervals {
    let own = execution.transfers.iter().filter(|transfer| transfer.kind == kind);
    own.filter_map(|transfer| {
        Some(transfer.offset.get()?..transfer.offset.get()?.checked_add(transfer.size)?)
    })
    .collect()
}

/// What ranks wait for. A session is held against the last one of each other rank that ended before it began.
/// What messages order is not waited for once more.
pub(crate) fn waits(
    (frame, messages): (&Frame, Option<&Messages>),
    ranks: &[RankSessions],
    targets: &[Vec<Target>],
) -> Vec<Wait> {
    let mut files: BTreeMap<FileIndex, Vec<Moved<'_>>> = BTreeMap::new();
    for (rank, (sessions, targets)) in ranks.iter().zip(targets).enumerate() {
        for (execution, target) in sessions.executions.iter().zip(targets) {
            if let Some(moved) = moved(frame, rank, execution, *target) {
                let same = frame.files[execution.file].same;
                files.entry(same).or_default().push(moved);
            }
        }
    }
    let mut waits = Waits::new();
    for mut of_file in files.into_values() {
        if of_file.iter().all(|moved| moved.rank == of_file[0].rank) {
            continue;
        }
        of_file.sort_by_key(|moved| (moved.times.0, moved.rank));
        find(&of_file, messages, &mut waits);
    }
    waits.into_values().collect()
}

fn moved<'a>(frame: &Frame, rank: usize, execution: &'a Execution, target: Target) -> Option<Moved<'a>> {
    let Target::Session(file, session) = target else { return None };
    let before = |at: usize| frame.barriers[rank].partition_point(|barrier| *barrier <= at);
    Some(Moved {
        rank: rank as u32,
        target: (file, session),
        execution,
        times: (execution.start, execution.end),
        barriers: (before(execution.first), before(execution.last)),
        read: bytes(execution, RequestKind::Read),
        written: bytes(execution, RequestKind::Write),
    })
}

/// The last sessions of other ranks that each session of a file needs; `all` are in the order of their begins.
fn find(all: &[Moved<'_>], messages: Option<&Messages>, waits: &mut Waits) {
    // Of each rank its last sessions of each kind.
    let mut last: BTreeMap<(u32, Kind), &Moved<'_>> = BTreeMap::new();
    for moved in all {
        let ended = last.values().filter(|other| other.rank != moved.rank && other.times.1 <= moved.times.0);
        let unordered = ended.filter(|other| other.barriers.1 >= moved.barriers.0);
        let is_told = |other: &Moved<'_>| {
            let ends = (other.rank, other.execution.last);
            messages.is_some_and(|messages| messages.order(ends, (moved.rank, moved.execution.first)))
        };
        let needed = unordered.filter(|other| moved.needs(other) && !is_told(other));
        let mut needed: Vec<&&Moved<'_>> = needed.collect();
        // What was written last is read: of several writers of the same bytes the others do not matter.
        needed.sort_by_key(|other| std::cmp::Reverse(other.times.1));
        let mut covered = OrderedIntervals::default();
        for other in needed {
            if !other.written.is_empty() && covered.includes(&other.written) {
                continue;
            }
            covered.extend(other.written.spans());
            let key = (other.target, moved.target);
            let wait = waits.entry(key).or_insert_with(|| Wait {
                producer: key.0,
                consumer: key.1,
                pairs: BTreeSet::new(),
                seen: 0,
            });
            wait.pairs.insert((other.rank, moved.rank));
            wait.seen += 1;
        }
        last.insert((moved.rank, moved.target), moved);
    }
}

impl Wait {
    /// For whom each rank waits, if that is a pattern.
    fn producer(&self, program: &mut Program) -> Option<(Partner, String)> {
        let shifts: BTreeSet<i64> =
            self.pairs.iter().map(|(of, rank)| i64::from(*of) - i64::from(*rank)).collect();
        let producers: BTreeSet<u32> = self.pairs.iter().map(|(of, _)| *of).collect();
        let consumers: BTreeSet<u32> = self.pairs.iter().map(|(_, rank)| *rank).collect();
        if let (1, Some(of)) = (producers.len(), producers.first())
            && (consumers.len() > 1 || *of == 0)
        {
            return Some((Partner::Group(program.group(&producers)?), format!("rank {of}")));
        }
        if let (1, Some(shift)) = (shifts.len(), shifts.first()) {
            return Some((Partner::Shift(i32::try_from(*shift).ok()?), format!("{shift:+}")));
        }
        // Round the ranks: one distance in one direction, and what is left to a whole round in the other.
        let all = i64::from(program.ranks());
        if let (2, Some(one), Some(other)) = (shifts.len(), shifts.first(), shifts.last())
            && other - one == all
        {
            let shift = if one.abs() <= *other { *one } else { *other };
            return Some((Partner::Around(i32::try_from(shift).ok()?), format!("{shift:+}, counted round")));
        }
        let all = consumers.iter().all(|rank| {
            let own = self.pairs.iter().filter(|(_, of)| of == rank).count();
            own == producers.len() - usize::from(producers.contains(rank))
        });
        if !all {
            return None;
        }
        let group = program.group(&producers)?;
        Some((Partner::Group(group), "all".to_owned()))
    }
}

/// The steps with waits before the sessions that need them, and which these are.
pub(crate) fn with_waits(
    steps: Vec<(ProgramStep, bool)>,
    waits: &[Wait],
    program: &mut Program,
    files: &[ModelFile],
) -> (Vec<(ProgramStep, bool)>, Vec<WaitFigures>) {
    let session = |step: &ProgramStep| match *step {
        ProgramStep::Session { file, session, ranks } | ProgramStep::Part { file, session, ranks, .. } => {
            Some(((file, session), ranks))
        }
        _ => None,
    };
    let first = |of: (usize, usize)| {
        steps.iter().position(|(step, _)| session(step).is_some_and(|(found, _)| found == of))
    };
    let (mut figures, mut kept) = (Vec::new(), Vec::new());
    for wait in waits {
        let producer = wait.producer(program);
        // A session waits for those of its own kind that others did before it.
        let comes_before = wait.producer == wait.consumer || first(wait.producer) < first(wait.consumer);
        let words =
            |(file, session): Kind| format!("{}/{}", files[file].name, files[file].sessions[session].name);
        figures.push(WaitFigures {
            after: words(wait.producer),
            before: words(wait.consumer),
            of: producer.as_ref().map_or_else(|| "no pattern".to_owned(), |(_, words)| words.clone()),
            seen: wait.seen,
            kept: producer.is_some() && comes_before,
        });
        kept.extend(producer.filter(|_| comes_before).map(|(of, _)| (wait, of)));
    }
    let mut out = Vec::with_capacity(steps.len());
    for (step, begins) in steps {
        if let Some((found, ranks)) = session(&step).filter(|_| begins) {
            for (wait, of) in kept.iter().filter(|(wait, _)| wait.consumer == found) {
                let (file, session) = wait.producer;
                out.push((ProgramStep::After { file, session, of: *of, ranks }, true));
            }
        }
        out.push((step, begins));
    }
    (out, figures)
}
