//! Where executions of a body are cut: what separates the iterations of its loop, what is before and behind the loop.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

use super::sequences::{Run, Sequences, Span};
use super::{Key, KeyId};

/// Runs of a key in all executions of a body.
struct Occurrences {
    runs: u32,
    first: usize,
    last_execution: usize,
    recurs: bool,
}

/// The key between the iterations of a loop: of those with two runs in an execution a collective of the most members,
/// else the one with the fewest runs, of these the one that is seen last.
pub(super) fn separator(sequences: &Sequences, executions: &[Span]) -> Option<KeyId> {
    let mut keys: HashMap<KeyId, Occurrences> = HashMap::new();
    let mut position = 0;
    for (execution, span) in executions.iter().enumerate() {
        for run in &sequences.runs[span.range()] {
            let first =
                || Occurrences { runs: 0, first: position, last_execution: usize::MAX, recurs: false };
            let seen = keys.entry(run.key).or_insert_with(first);
            seen.recurs |= seen.last_execution == execution;
            seen.runs += 1;
            seen.last_execution = execution;
            position += 1;
        }
    }
    let recurring = keys.into_iter().filter(|(_, seen)| seen.recurs);
    let best = recurring.max_by_key(|(key, seen)| {
        let Key { members } = sequences.keys[key.0 as usize];
        (members, Reverse(seen.runs), seen.first)
    });
    best.map(|(key, _)| key)
}

/// Cuts the head from each execution: all events of the largest set of keys that stand before each separator and each
/// event of another key. What is left begins where the head ends.
pub(super) fn heads(runs: &[Run], separator: KeyId, executions: &[Span]) -> (Vec<Span>, Vec<Span>) {
    let ends = ends(executions, separator, |span| runs[span.range()].iter().map(|run| run.key));
    let cut = executions.iter().zip(ends).map(|(span, end)| {
        let middle = span.from + end as u32;
        (Span { from: span.from, to: middle }, Span { from: middle, to: span.to })
    });
    cut.unzip()
}

/// Cuts the tail from each execution, which is the head of what is read backwards: tails, and what is left.
pub(super) fn tails(runs: &[Run], separator: KeyId, executions: &[Span]) -> (Vec<Span>, Vec<Span>) {
    let ends = ends(executions, separator, |span| runs[span.range()].iter().rev().map(|run| run.key));
    let cut = executions.iter().zip(ends).map(|(span, end)| {
        let middle = span.to - end as u32;
        (Span { from: middle, to: span.to }, Span { from: span.from, to: middle })
    });
    cut.unzip()
}

/// Lengths of the heads. A key that is not of the head ends it at its first event in each execution; keys of events
/// behind that are none of it either. Each event is looked at once or twice.
fn ends<I: Iterator<Item = KeyId>>(
    executions: &[Span],
    separator: KeyId,
    keys: impl Fn(Span) -> I,
) -> Vec<usize> {
    let all: Vec<Vec<KeyId>> = executions.iter().map(|&span| keys(span).collect()).collect();
    let mut firsts: HashMap<KeyId, Vec<(usize, usize)>> = HashMap::new();
    for (execution, keys) in all.iter().enumerate() {
        for (position, &key) in keys.iter().enumerate() {
            let seen = firsts.entry(key).or_default();
            if seen.last().is_none_or(|&(last, _)| last != execution) {
                seen.push((execution, position));
            }
        }
    }
    let mut ends: Vec<usize> = all.iter().map(Vec::len).collect();
    let mut excluded: HashSet<KeyId> = HashSet::from([separator]);
    let mut waiting = vec![separator];
    while let Some(key) = waiting.pop() {
        for &(execution, position) in firsts.get(&key).map_or(&[][..], Vec::as_slice) {
            let end = ends[execution];
            if position < end {
                ends[execution] = position;
                let behind = all[execution][position..end].iter().copied();
                waiting.extend(behind.filter(|&key| excluded.insert(key)));
            }
        }
    }
    ends
}

/// Iterations of a loop, over all executions of its body: what is before the separator, its run, what is behind it.
#[derive(Default)]
pub(super) struct Iterations {
    pub(super) before: Vec<Span>,
    pub(super) separators: Vec<Option<u32>>,
    pub(super) behind: Vec<Span>,
    /// Of each execution.
    pub(super) counts: Vec<u32>,
}

/// Cuts what is between heads and tails into iterations.
pub(super) fn iterations(runs: &[Run], separator: KeyId, executions: &[Span]) -> Iterations {
    let pieces: Vec<Pieces> = executions.iter().map(|&span| Pieces::of(runs, separator, span)).collect();
    let last = last_keys(runs, &pieces);
    let cut = last.filter(|last| keeps_sides(runs, &pieces, last));
    let mut iterations = Iterations::default();
    for pieces in &pieces {
        let before = iterations.before.len();
        pieces.add(runs, cut.as_ref(), &mut iterations);
        iterations.counts.push((iterations.before.len() - before) as u32);
    }
    iterations
}

/// One execution as z0 s z1 s … zk: k runs of the separator and what is around them.
struct Pieces {
    between: Vec<Span>,
    separators: Vec<u32>,
}

impl Pieces {
    fn of(runs: &[Run], separator: KeyId, span: Span) -> Self {
        let is_separator = |&index: &u32| runs[index as usize].key == separator;
        let separators: Vec<u32> = (span.from..span.to).filter(is_separator).collect();
        let starts = std::iter::once(span.from).chain(separators.iter().map(|index| index + 1));
        let ends = separators.iter().copied().chain([span.to]);
        let between = starts.zip(ends).map(|(from, to)| Span { from, to }).collect();
        Self { between, separators }
    }

    fn first(&self) -> Span {
        self.between[0]
    }

    fn last(&self) -> Span {
        self.between[self.separators.len()]
    }

    /// What is between two separators.
    fn inner(&self) -> &[Span] {
        let count = self.separators.len();
        if count < 2 { &[] } else { &self.between[1..count] }
    }

    fn add(&self, runs: &[Run], cut: Option<&HashSet<KeyId>>, to: &mut Iterations) {
        let mut before = self.first();
        for (index, &separator) in self.separators.iter().enumerate() {
            let next = self.between[index + 1];
            let is_last = index + 1 == self.separators.len();
            let (behind, following) = match cut {
                Some(_) if is_last => (next, Span::default()),
                Some(last) => split(runs, last, next),
                None => (Span::default(), next),
            };
            to.push(before, Some(separator), behind);
            before = following;
        }
        if !before.is_empty() {
            to.push(before, None, Span::default());
        }
    }
}

impl Iterations {
    fn push(&mut self, before: Span, separator: Option<u32>, behind: Span) {
        self.before.push(before);
        self.separators.push(separator);
        self.behind.push(behind);
    }
}

/// Keys behind the last separators, if there are any and none of them is before a first one.
fn last_keys(runs: &[Run], pieces: &[Pieces]) -> Option<HashSet<KeyId>> {
    let mut last = HashSet::new();
    for pieces in pieces.iter().filter(|pieces| !pieces.separators.is_empty()) {
        last.extend(keys(runs, pieces.last()));
    }
    let before = |pieces: &Pieces| keys(runs, pieces.first()).any(|key| last.contains(&key));
    (!last.is_empty() && !pieces.iter().any(before)).then_some(last)
}

/// Whether no key is both before and behind separators when what is between two is cut behind its last event of `last`.
fn keeps_sides(runs: &[Run], pieces: &[Pieces], last: &HashSet<KeyId>) -> bool {
    let (mut before, mut behind) = (HashSet::new(), last.clone());
    for pieces in pieces {
        before.extend(keys(runs, pieces.first()));
        for &span in pieces.inner() {
            let (left, right) = split(runs, last, span);
            behind.extend(keys(runs, left));
            before.extend(keys(runs, right));
        }
    }
    before.is_disjoint(&behind)
}

/// Cuts behind the last event of these keys.
fn split(runs: &[Run], last: &HashSet<KeyId>, span: Span) -> (Span, Span) {
    let found = runs[span.range()].iter().rposition(|run| last.contains(&run.key));
    let middle = span.from + found.map_or(0, |position| position as u32 + 1);
    (Span { from: span.from, to: middle }, Span { from: middle, to: span.to })
}

fn keys(runs: &[Run], span: Span) -> impl Iterator<Item = KeyId> {
    runs[span.range()].iter().map(|run| run.key)
}
