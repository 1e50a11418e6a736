//! The ranks of a job: each is a case, and a process.

use crate::line::Segment;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Layer, Pid, Tid};

/// Threads that are not the first of their rank have numbers from here on: no process has.
const FIRST_THREAD: u32 = 1 << 22;

#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) number: i64,
    pub(crate) host: Option<String>,
    pub(crate) case: CaseId,
    /// Its number: Darshan keeps no process ids.
    pub(crate) pid: Pid,
    /// How many events it has.
    pub(crate) events: u64,
    /// The number of its first thread.
    first: Option<u64>,
    pub(crate) threads: u32,
    /// Bytes read and written, by POSIX calls and by calls of MPI-IO.
    posix: Option<[i64; 2]>,
    mpiio: [i64; 2],
}

impl Rank {
    /// Bytes read and written: of what reached the lowest layer that was seen.
    pub(crate) fn bytes(&self) -> [i64; 2] {
        self.posix.unwrap_or(self.mpiio)
    }

    fn count(&mut self, segment: &Segment) {
        self.events += 1;
        let sums = match segment.layer {
            Layer::Mpiio => &mut self.mpiio,
            _ => self.posix.get_or_insert_default(),
        };
        let sum = &mut sums[usize::from(segment.writes)];
        *sum = sum.saturating_add(segment.length);
    }
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// In the order in which they came.
    pub(crate) all: Vec<Rank>,
    by_number: HashMap<i64, usize>,
    /// Other threads than the first ones, by rank and number.
    threads: HashMap<(i64, u64), Tid>,
}

impl Ranks {
    /// The place of a rank; `case` answers its case when it comes for the first time.
    pub(crate) fn place(&mut self, number: i64, case: impl FnOnce(u32) -> CaseId) -> usize {
        *self.by_number.entry(number).or_insert_with(|| {
            let place = self.all.len();
            let nth = u32::try_from(place).unwrap_or(u32::MAX);
            let pid = Pid(u32::try_from(number).ok().filter(|pid| *pid < FIRST_THREAD).unwrap_or(nth));
            let (host, first, posix) = (None, None, None);
            let case = case(nth);
            let rank = Rank { number, host, case, pid, events: 0, first, threads: 1, posix, mpiio: [0; 2] };
            self.all.push(rank);
            place
        })
    }

    /// Counts a transfer of a rank; its record number in the case, and its thread.
    pub(crate) fn count(&mut self, index: usize, segment: &Segment) -> (u64, Tid) {
        let rank = &mut self.all[index];
        let seq = rank.events;
        rank.count(segment);
        let Some(thread) = segment.thread else { return (seq, Tid(rank.pid.0)) };
        if *rank.first.get_or_insert(thread) == thread {
            return (seq, Tid(rank.pid.0));
        }
        let next = FIRST_THREAD.saturating_add(u32::try_from(self.threads.len()).unwrap_or(u32::MAX));
        let tid = *self.threads.entry((rank.number, thread)).or_insert_with(|| {
            rank.threads += 1;
            Tid(next)
        });
        (seq, tid)
    }
}
