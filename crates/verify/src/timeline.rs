//! Who touched which bytes last.

use std::collections::BTreeMap;

/// How bytes are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Bytes go behind what others append, whoever is first.
    Append,
    /// Zeros appear because something is written behind them, unless something is there.
    Extend,
    /// Bytes go, or appear, because the length is set.
    Cut,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Append, Self::Extend, Self::Cut];

    /// Whether all that comes after an earlier one comes after this one, too.
    fn replaces(self, earlier: Self) -> bool {
        self.follows(earlier) && Self::ALL.iter().all(|later| !later.follows(earlier) || later.follows(self))
    }

    /// Whether it comes after an earlier one. What is written where zeros appeared does, or it would be the end of the file itself.
    pub(crate) const fn follows(self, earlier: Self) -> bool {
        !matches!(
            (self, earlier),
            (Self::Read, Self::Read)
                | (Self::Append, Self::Append)
                | (Self::Extend, Self::Extend | Self::Write)
        )
    }
}

/// A call and its lane.
pub(crate) type Toucher = (usize, usize);

/// Ranges that a read finds divided more than that are joined: more calls wait than must.
const FINE: usize = 64;

/// Ranges by their begin: who touched them.
#[derive(Debug, Default)]
pub(crate) struct Timeline(BTreeMap<u64, Range>);

#[derive(Clone, Debug)]
struct Range {
    end: u64,
    /// The last calls of each lane and kind that no later one makes needless.
    touchers: Vec<(Toucher, Kind)>,
}

impl Timeline {
    /// Notes a call, and answers which ones it comes after: the last ones of each lane. `is_over` tells which calls were over before
    /// this one; the others are still in the way of what comes later.
    pub(crate) fn touch(
        &mut self,
        (low, high): (u64, u64),
        kind: Kind,
        toucher: Toucher,
        is_over: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        if low >= high {
            return Vec::new();
        }
        let found = self.take(low, high);
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let touchers = found.iter().flat_map(|(_, range)| &range.touchers);
        for ((lane, call), _) in touchers.filter(|(_, other)| kind.follows(*other)) {
            let last = before.entry(*lane).or_insert(*call);
            *last = (*last).max(*call);
        }
        if kind == Kind::Read && found.len() <= FINE {
            self.put_read(found, (low, high), toucher);
        } else {
            let mut range = joined(found, high);
            range.add(kind, toucher, is_over);
            self.0.insert(low, range);
        }
        before.into_values().collect()
    }

    /// Takes out what is known of the bytes from `low` to `high`.
    fn take(&mut self, low: u64, high: u64) -> Vec<(u64, Range)> {
        for at in [low, high] {
            if let Some((_, range)) = self.0.range_mut(..at).next_back().filter(|(_, range)| range.end > at) {
                let behind = range.clone();
                range.end = at;
                self.0.insert(at, behind);
            }
        }
        let begins: Vec<u64> = self.0.range(low..high).map(|(begin, _)| *begin).collect();
        begins.into_iter().filter_map(|begin| Some((begin, self.0.remove(&begin)?))).collect()
    }

    /// Puts back what a read found, with the reader.
    fn put_read(&mut self, found: Vec<(u64, Range)>, (low, high): (u64, u64), reader: Toucher) {
        let fresh = |end| Range { end, touchers: vec![(reader, Kind::Read)] };
        let mut at = low;
        for (begin, mut range) in found {
            if at < begin {
                self.0.insert(at, fresh(begin));
            }
            at = range.end;
            range.add(Kind::Read, reader, |_| false);
            self.0.insert(begin, range);
        }
        if at < high {
            self.0.insert(at, fresh(high));
        }
    }
}

/// All that is known of several ranges, as one.
fn joined(found: Vec<(u64, Range)>, end: u64) -> Range {
    let mut last: BTreeMap<(usize, Kind), usize> = BTreeMap::new();
    for ((lane, call), kind) in found.into_iter().flat_map(|(_, range)| range.touchers) {
        let last = last.entry((lane, kind)).or_insert(call);
        *last = (*last).max(call);
    }
    Range { end, touchers: last.into_iter().map(|((lane, kind), call)| ((lane, call), kind)).collect() }
}

impl Range {
    /// Adds a call, which may make earlier ones needless.
    fn add(&mut self, kind: Kind, toucher: Toucher, is_over: impl Fn(usize) -> bool) {
        self.touchers.retain(|((lane, call), other)| {
            let again = *lane == toucher.0 && *other == kind;
            let needless = kind.replaces(*other) && is_over(*call);
            !again && !needless
        });
        self.touchers.push((toucher, kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of lanes that are all over before the next begins: for each one, those that it comes after.
    fn before(rows: &[(usize, Kind, u64, u64)]) -> Vec<Vec<usize>> {
        let mut timeline = Timeline::default();
        let touch = |(call, (lane, kind, low, high)): (usize, &(usize, Kind, u64, u64))| {
            timeline.touch((*low, *high), *kind, (*lane, call), |_| true)
        };
        rows.iter().enumerate().map(touch).collect()
    }

    const NONE: Vec<usize> = Vec::new();

    #[test]
    fn reads_come_after_writes_and_writes_after_both() {
        let rows = [
            (0, Kind::Write, 0, 10),
            (1, Kind::Write, 10, 20),
            (2, Kind::Read, 5, 15),
            (3, Kind::Read, 20, 30),
            (4, Kind::Write, 8, 12),
            (5, Kind::Read, 0, 20),
        ];
        assert_eq!(before(&rows), [NONE, NONE, vec![0, 1], NONE, vec![0, 1, 2], vec![0, 1, 4]]);
    }

    #[test]
    fn what_is_appended_and_what_appears_waits_for_none_of_its_kind() {
        let rows = [
            (0, Kind::Append, 0, 10),
            (1, Kind::Append, 0, 20),
            (2, Kind::Extend, 100, 200),
            (3, Kind::Write, 150, 160),
            (4, Kind::Read, 0, 5),
            (4, Kind::Read, 100, 151),
            (5, Kind::Cut, 0, 300),
        ];
        assert_eq!(before(&rows), [NONE, NONE, NONE, vec![2], vec![0, 1], vec![2, 3], vec![0, 1, 2, 3, 5]]);
    }

    #[test]
    fn many_ranges_become_one_and_nobody_is_forgotten() {
        let mut rows: Vec<_> = (0..200_u64).map(|at| ((at % 3) as usize, Kind::Write, at, at + 1)).collect();
        rows.extend([(3, Kind::Read, 0, 200), (4, Kind::Write, 7, 8)]);
        let before = before(&rows);
        assert_eq!(before[200], [198, 199, 197]);
        assert_eq!(before[201], [198, 199, 197, 200]);
    }

    #[test]
    fn who_was_not_over_stays_in_the_way() {
        let mut timeline = Timeline::default();
        timeline.touch((0, 10), Kind::Write, (0, 0), |_| true);
        timeline.touch((0, 10), Kind::Write, (1, 1), |_| false);
        assert_eq!(timeline.touch((3, 4), Kind::Read, (2, 2), |_| true), [0, 1]);
    }
}
