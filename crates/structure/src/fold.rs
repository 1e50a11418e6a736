//! Sequences of values that repeat, folded while they come.
//!
//! The queue of Scala-H-Trace, section 2.1: when its last items equal those before them, both become a loop. Only
//! the last few equal items are tried as its end, and hashes of items are compared before the items.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The longest loop body that is looked for, in items.
const WINDOW: usize = 1_024;
/// How many equal items before the last one are tried as the end of a loop body.
const CANDIDATES: usize = 4;

/// A part of a folded sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Folded<T> {
    /// A value, so many times.
    Run {
        /// At least 1.
        count: u64,
        /// What is repeated.
        value: T,
    },
    /// A body, so many times.
    Loop {
        /// At least 2.
        count: u64,
        /// What is repeated.
        body: Vec<Self>,
    },
}

impl<T> Folded<T> {
    /// Numbers that have to be kept.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Run { .. } => 2,
            Self::Loop { body, .. } => 2 + body.iter().map(Self::weight).sum::<usize>(),
        }
    }
}

/// Folds a sequence; [`unfold`] gives it back.
pub fn fold<T: Clone + Eq + Hash>(values: impl IntoIterator<Item = T>) -> Vec<Folded<T>> {
    let mut queue = Queue { items: vec![], hashes: vec![], positions: HashMap::new(), loops: vec![] };
    let mut run: Option<(T, u64)> = None;
    for value in values {
        match &mut run {
            Some((last, count)) if *last == value => *count += 1,
            _ => {
                let ended = run.replace((value, 1));
                queue.end(ended);
            }
        }
    }
    queue.end(run);
    queue.items
}

/// The values of a folded sequence, in order.
#[must_use]
pub fn unfold<T>(folded: &[Folded<T>]) -> Unfolded<'_, T> {
    Unfolded { levels: vec![Level { body: folded, part: 0, given: 0, left: 0 }] }
}

/// The values of a folded sequence, one after the other; none is kept.
#[derive(Clone, Debug)]
pub struct Unfolded<'a, T> {
    /// Loops in each other, the innermost last.
    levels: Vec<Level<'a, T>>,
}

#[derive(Clone, Debug)]
struct Level<'a, T> {
    body: &'a [Folded<T>],
    part: usize,
    /// Values of a run that were given.
    given: u64,
    /// Iterations behind this one.
    left: u64,
}

impl<'a, T> Iterator for Unfolded<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            let level = self.levels.last_mut()?;
            match level.body.get(level.part) {
                Some(Folded::Run { count, value }) if level.given < *count => {
                    level.given += 1;
                    return Some(value);
                }
                Some(part) => {
                    level.part += 1;
                    level.given = 0;
                    if let Folded::Loop { count, body } = part {
                        self.levels.push(Level { body, part: 0, given: 0, left: count - 1 });
                    }
                }
                None if level.left > 0 => {
                    level.left -= 1;
                    level.part = 0;
                }
                None => drop(self.levels.pop()),
            }
        }
    }
}

struct Queue<T> {
    items: Vec<Folded<T>>,
    hashes: Vec<u64>,
    /// Where items of a hash are, ascending.
    positions: HashMap<u64, Vec<usize>>,
    /// Where loops are, ascending.
    loops: Vec<usize>,
}

impl<T: Clone + Eq + Hash> Queue<T> {
    fn end(&mut self, run: Option<(T, u64)>) {
        if let Some((value, count)) = run {
            self.push(Folded::Run { count, value });
            while self.join() || self.repeat() {}
        }
    }

    fn push(&mut self, item: Folded<T>) {
        let hash = FixedState::default().hash_one(&item);
        let position = self.items.len();
        self.positions.entry(hash).or_default().push(position);
        if matches!(item, Folded::Loop { .. }) {
            self.loops.push(position);
        }
        self.items.push(item);
        self.hashes.push(hash);
    }

    fn truncate(&mut self, len: usize) {
        for hash in self.hashes.drain(len..) {
            if let Some(positions) = self.positions.get_mut(&hash) {
                positions.pop();
            }
        }
        self.items.truncate(len);
        self.loops.truncate(self.loops.partition_point(|&position| position < len));
    }

    /// The last items are another iteration of the loop before them.
    fn join(&mut self) -> bool {
        let fits = |&&position: &&usize| match &self.items[position] {
            Folded::Loop { body, .. } => *body == self.items[position + 1..],
            Folded::Run { .. } => false,
        };
        let Some(&position) = self.loops.iter().rev().take(CANDIDATES).find(fits) else { return false };
        let mut joined = self.items[position].clone();
        if let Folded::Loop { count, .. } = &mut joined {
            *count += 1;
        }
        self.truncate(position);
        self.push(joined);
        true
    }

    /// The last items equal those before them.
    fn repeat(&mut self) -> bool {
        let len = self.items.len();
        let Some(positions) = self.positions.get(&self.hashes[len - 1]) else { return false };
        let before = positions.iter().rev().skip(1).take(CANDIDATES);
        let lengths = before.map(|position| len - 1 - position);
        let equal = |&size: &usize| {
            size <= WINDOW
                && 2 * size <= len
                && self.hashes[len - size..] == self.hashes[len - 2 * size..len - size]
                && self.items[len - size..] == self.items[len - 2 * size..len - size]
        };
        let Some(size) = lengths.into_iter().find(equal) else { return false };
        let body = self.items[len - size..].to_vec();
        self.truncate(len - 2 * size);
        self.push(Folded::Loop { count: 2, body });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(folded: &[Folded<i64>]) -> String {
        let part = |part: &Folded<i64>| match part {
            Folded::Run { count: 1, value } => value.to_string(),
            Folded::Run { count, value } => format!("{count} x {value}"),
            Folded::Loop { count, body } => format!("{count} x [{}]", shown(body)),
        };
        folded.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn unfolded(folded: &[Folded<i64>]) -> Vec<i64> {
        unfold(folded).copied().collect()
    }

    #[test]
    fn what_repeats_is_a_loop() {
        assert_eq!(shown(&fold([5, 6].repeat(4))), "4 x [5, 6]");
        assert_eq!(shown(&fold([5, 5, 6].repeat(4))), "4 x [2 x 5, 6]");
        assert_eq!(shown(&fold([[1, 2].repeat(3), vec![7]].concat().repeat(5))), "5 x [3 x [1, 2], 7]");
        assert_eq!(shown(&fold(vec![9; 1_000])), "1000 x 9");
        assert_eq!(shown(&fold([])), "");
    }

    #[test]
    fn a_thousand_iterations_of_a_long_body_are_one_loop() {
        let body: Vec<i64> = (0..900).collect();
        assert!(matches!(&fold(body.repeat(50))[..], [Folded::Loop { count: 50, .. }]));
    }

    proptest! {
        #[test]
        fn unfolding_gives_the_values_back(
            values in prop::collection::vec(0_i64..3, 0..60), times in 1_usize..5, end in 0_i64..3,
        ) {
            let values = [values.repeat(times), vec![end]].concat().repeat(times);
            prop_assert_eq!(unfolded(&fold(values.clone())), values);
        }
    }
}
