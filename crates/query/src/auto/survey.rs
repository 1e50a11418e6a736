//! The scan before the mapping: when programs start up, and how much is done at each path outside of that.
//!
//! Rows of a process come in the order of time. What comes in a piece of the log before the first sign of whether its process is
//! starting up waits for the pieces before.

use super::startup::{Startups, is_on_the_way, lies_beside};
use super::tree::Weight;
use crate::images::Images;
use crate::pass::{Asks, Pass, Rows, scan};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, EventClasses, Transfer};
use iotrail_model::{CallId, CaseId, EventBatch, Nullable, PathId, Pid, Process, Timestamp};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// What a log shows.
pub(super) struct Survey {
    /// I/O at each path outside of start-ups.
    pub(super) weights: BTreeMap<PathId, Weight>,
    pub(super) startups: Startups,
}

pub(super) fn survey(
    log: &EventLog,
    processes: &[Process],
    threads: NonZeroUsize,
) -> Result<Survey, TrailError> {
    let names = log.names();
    let is_thread = |flags: &Arc<str>| flags.split('|').any(|word| word == "CLONE_THREAD");
    let surveying = Surveying {
        classes: EventClasses::new(names, log.files(), HashSet::new()),
        images: Images::new(processes),
        system: names.paths.iter().map(|path| is_on_the_way(path)).collect(),
        threads: names.flags.iter().map(is_thread).collect(),
        paths: &names.paths,
    };
    scan(log, None, threads, &surveying)
}

struct Surveying<'a> {
    classes: EventClasses,
    images: Images,
    /// Whether each path is one that any program opens when it starts up.
    system: Vec<bool>,
    /// Whether each text of flags makes a thread.
    threads: Vec<bool>,
    paths: &'a [Arc<str>],
}

/// I/O by call and path; which of it is I/O is decided once for each.
type Weights = HashMap<(CallId, PathId), Weight, RandomState>;

/// What a piece knows of the processes in it.
#[derive(Default)]
pub(super) struct Piece(HashMap<(CaseId, Pid), Part, RandomState>);

/// What a piece knows of a process.
#[derive(Default)]
struct Part {
    /// Rows before it is known whether the process is starting up.
    head: Weights,
    /// What ended the head, and all that changed after.
    changes: Vec<Change>,
}

/// Something that begins or ends a start-up.
enum Change {
    Executes(Timestamp, PathId),
    Own(Timestamp),
}

/// What pieces from the first on say.
#[derive(Default)]
pub(super) struct Closed {
    weights: Weights,
    startups: Startups,
}

impl Pass for Surveying<'_> {
    type Sums = Weights;
    type Boundary = Piece;
    type Closed = Closed;
    type Output = Survey;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::PID
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::PATH
            | Columns::PATH2
            | Columns::ERRNO
            | Columns::FLAGS
    }

    fn asks(&self) -> Asks {
        Asks::COLUMNS
    }

    fn sums(&self) -> Weights {
        Weights::default()
    }

    fn closed(&self) -> Closed {
        Closed::default()
    }

    fn add(&self, sums: &mut Weights, rows: &Rows<'_>) -> Piece {
        let batch = rows.batch;
        let mut piece = Piece::default();
        let mut process = None;
        let mut part = &mut Part::default();
        for row in 0..batch.len {
            let key = (batch.case[row], batch.pid[row]);
            if process != Some(key) {
                process = Some(key);
                part = piece.0.entry(key).or_default();
            }
            if let Some(change) = self.change(batch, row, part.changes.last()) {
                part.changes.push(change);
            }
            let Some(path) = batch.path[row].get() else { continue };
            let weights = match part.changes.last() {
                Some(Change::Executes(..)) => continue,
                Some(Change::Own(_)) => &mut *sums,
                None => &mut part.head,
            };
            let nanos = batch.dur[row].get().map_or(0, |dur| u64::try_from(dur.0).unwrap_or_default());
            weights.entry((batch.call[row], path)).or_default().add(Weight { events: 1, nanos });
        }
        piece
    }

    fn merge(&self, sums: &mut Weights, other: Weights) {
        merge(sums, other);
    }

    fn close(&self, closed: &mut Closed, piece: Piece) {
        for (process, part) in piece.0 {
            if !closed.startups.is_open(process) {
                merge(&mut closed.weights, part.head);
            }
            for change in part.changes {
                match change {
                    Change::Executes(start, path) => {
                        let (case, pid) = process;
                        let exe = self.images.exe(case, self.images.find(case, pid, start));
                        let path = self.paths.get(path.index()).map_or("?", |path| path);
                        closed.startups.begin(process, start, exe.unwrap_or(path));
                    }
                    Change::Own(start) => closed.startups.end(process, start),
                }
            }
        }
    }

    fn finish(&self, sums: Weights, mut closed: Closed) -> Survey {
        merge(&mut closed.weights, sums);
        let mut weights: BTreeMap<PathId, Weight> = BTreeMap::new();
        for ((call, path), weight) in closed.weights {
            if self.is_io(call, path) {
                weights.entry(path).or_default().add(weight);
            }
        }
        Survey { weights, startups: closed.startups }
    }
}

fn merge(mine: &mut Weights, theirs: Weights) {
    for (key, weight) in theirs {
        mine.entry(key).or_default().add(weight);
    }
}

impl Surveying<'_> {
    /// Whether a row begins or ends a start-up. An own event that follows an own event changes nothing.
    fn change(&self, batch: &EventBatch, row: usize, last: Option<&Change>) -> Option<Change> {
        if !batch.errno[row].is_null() {
            return None;
        }
        let spec = self.classes.spec(batch, row)?;
        let path = batch.path[row].get();
        if let (CallKind::Exec, Some(path)) = (spec.kind, path) {
            return Some(Change::Executes(batch.start[row], path));
        }
        if matches!(last, Some(Change::Own(_))) {
            return None;
        }
        let own = match spec.kind {
            CallKind::Spawn | CallKind::Vfork => {
                let flags = batch.flags[row].get();
                flags.is_none_or(|flags| self.threads.get(flags.index()) != Some(&true))
            }
            kind if kind.opens_file() => path.is_some_and(|path| self.is_own(path, batch, row)),
            _ if self.classes.waits(batch, row) => true,
            _ => match spec.transfer {
                Transfer::Read => path.is_none_or(|path| self.is_own(path, batch, row)),
                Transfer::Write | Transfer::Copy => true,
                Transfer::None => false,
            },
        };
        own.then(|| Change::Own(batch.start[row]))
    }

    /// Whether a path is none that its process opens only because it starts up.
    fn is_own(&self, path: PathId, batch: &EventBatch, row: usize) -> bool {
        if self.system.get(path.index()) != Some(&false) {
            return false;
        }
        let case = batch.case[row];
        let image = self.images.find(case, batch.pid[row], batch.start[row]);
        let exe = self.images.exe(case, image);
        !exe.is_some_and(|exe| lies_beside(&self.paths[path.index()], exe))
    }

    fn is_io(&self, call: CallId, path: PathId) -> bool {
        let kind = self.classes.kind(Nullable::some(path));
        let class = self.classes.spec_of(call).and_then(|spec| spec.class(kind, kind));
        class.is_some_and(iotrail_model::calls::Class::is_io)
    }
}
