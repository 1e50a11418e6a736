//! Waiting for a file that is not there yet: a thread looks for a name in vain, sleeps, and looks again, until somebody makes it.
//!
//! The wait lasts from the first look in vain to the making. It ends in the first sleep behind the last look in vain, if another
//! thread makes the name in that sleep; who looked but once did not wait.

use super::ranks::NamedWait;
use super::{Act, Cause, Ended, Line, LineId};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{PathId, Tid};
use iotrail_query::ProcessId;

/// A thread and a name that it looked for.
pub(crate) type Search = (ProcessId, Tid, PathId);

/// How often a thread looked for a name in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looks {
    /// When the first look began.
    pub(crate) first: i64,
    /// When the last one ended.
    pub(crate) last: i64,
    pub(crate) number: u64,
}

impl Looks {
    pub(crate) fn one(start: i64, end: i64) -> Self {
        Self { first: start, last: end, number: 1 }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.number += other.number;
    }
}

/// A name that somebody made: when the call began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) path: PathId,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) process: ProcessId,
    pub(crate) tid: Tid,
}

/// What a log tells of names that were not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Absent {
    pub(crate) looks: HashMap<Search, Looks, RandomState>,
    pub(crate) made: Vec<Made>,
}

impl Absent {
    pub(crate) fn look(&mut self, search: Search, looks: Looks) {
        self.looks.entry(search).and_modify(|known| known.join(looks)).or_insert(looks);
    }

    pub(crate) fn add(&mut self, other: Self) {
        other.looks.into_iter().for_each(|(search, looks)| self.look(search, looks));
        self.made.extend(other.made);
    }

    /// The waits, by thread, in no order.
    pub(super) fn waits(
        self,
        lines: &[Line],
        line: impl Fn(ProcessId, Tid) -> Option<LineId>,
    ) -> Vec<(LineId, NamedWait)> {
        let searches: Vec<(Search, Looks)> =
            self.looks.into_iter().filter(|(_, looks)| looks.number > 1).collect();
        let mut made: HashMap<PathId, Vec<Made>, RandomState> =
            searches.iter().map(|((.., path), _)| (*path, Vec::new())).collect();
        for one in self.made {
            if let Some(makings) = made.get_mut(&one.path) {
                makings.push(one);
            }
        }
        let found = searches.into_iter().filter_map(|((process, tid, path), looks)| {
            let own = line(process, tid)?;
            let waits = &lines[own.index()].waits;
            let behind = waits.partition_point(|wait| wait.start < looks.last);
            let sleep = waits[behind..].iter().find(|wait| wait.act == Act::Slept)?;
            let by = made.get(&path)?.iter().filter(|made| {
                (made.process, made.tid) != (process, tid)
                    && sleep.start < made.start
                    && made.end <= sleep.end
            });
            let first = by.min_by_key(|made| (made.start, made.process, made.tid))?;
            let cause = Cause { line: line(first.process, first.tid)?, at: first.start, what: Ended::Made };
            Some((own, NamedWait { start: looks.first, end: sleep.end, cause, path: Some(path) }))
        });
        found.collect()
    }
}
