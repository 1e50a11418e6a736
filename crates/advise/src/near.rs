//! What lies between two accesses where that is little, as it mostly is: looked at one by one.

use crate::file::{Looking, Takes};
use crate::pairs::{Between, Rules, Two};

/// So many accesses are looked at one by one.
const FEW: usize = 256;

/// When all accesses up to each one were over.
pub(crate) struct Near {
    over: Vec<i64>,
}

impl Near {
    pub(crate) fn of(looking: &Looking<'_>) -> Self {
        let mut last = i64::MIN;
        let over = (0..looking.file.accesses.len() as u32).map(|at| {
            last = last.max(looking.time(at).1);
            last
        });
        Self { over: over.collect() }
    }

    /// What is between the two; `None` if that may be much.
    pub(crate) fn between(&self, looking: &Looking<'_>, rules: Rules, two: Two) -> Option<Between> {
        let (begin, end) = (looking.access(two.first).start, looking.access(two.second).end);
        let has_begun = |at: u32| looking.time(at).0 <= end;
        let count = self.over.len() as u32;
        let mut behind = two.second + 1;
        while behind < count && has_begun(behind) {
            behind += 1;
            if (behind - two.second) as usize > FEW {
                return None;
            }
        }
        let mut looker = Looker::new(looking, rules, two);
        for (seen, at) in (0..behind).rev().enumerate() {
            if self.over[at as usize] < begin {
                break;
            }
            if seen > FEW {
                return None;
            }
            if looking.time(at).1 >= begin && has_begun(at) {
                looker.look(at);
            }
        }
        Some(looker.found)
    }
}

/// Sorts what is between two accesses.
struct Looker<'a> {
    looking: &'a Looking<'a>,
    two: Two,
    bytes: (u64, u64),
    seen: (u64, u64),
    writes_of_reads: Takes,
    writes_of_writes: Takes,
    seeks: bool,
    found: Between,
}

impl<'a> Looker<'a> {
    fn new(looking: &'a Looking<'a>, rules: Rules, two: Two) -> Self {
        let (visible, writes_of_reads, writes_of_writes, seeks) = Between::takes(rules);
        let bytes = two.bytes(looking);
        let seen = if visible { two.visible(looking) } else { bytes };
        Self {
            looking,
            two,
            bytes,
            seen,
            writes_of_reads,
            writes_of_writes,
            seeks,
            found: Between::default(),
        }
    }

    fn look(&mut self, at: u32) {
        if !self.looking.is_foreign(at, self.two.second) {
            return;
        }
        let looking = self.looking;
        let touches = |takes: Takes, (low, high): (u64, u64)| {
            takes.takes(looking.access(at)) && {
                let (from, to) = looking.bytes(at, takes);
                from < to && from < high && low < to
            }
        };
        let keep = |place: &mut Option<u32>| {
            if place.is_none_or(|known| looking.time(known).1 < looking.time(at).1) {
                *place = Some(at);
            }
        };
        keep(&mut self.found.any);
        if Takes::Unknown.takes(looking.access(at)) {
            keep(&mut self.found.unknown);
            if Takes::UnknownWrites.takes(looking.access(at)) {
                keep(&mut self.found.unknown_writes);
            }
            return;
        }
        if touches(Takes::Reads, self.seen) {
            keep(&mut self.found.reads);
        }
        if touches(self.writes_of_reads, self.bytes) {
            keep(&mut self.found.writes);
        }
        if touches(self.writes_of_writes, self.bytes) {
            keep(&mut self.found.any_write);
        }
        if self.seeks && touches(Takes::Seeks, self.bytes) {
            keep(&mut self.found.seeks);
        }
    }
}
