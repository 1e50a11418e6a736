//! Where executions of a loop are cut into iterations.

use hashbrown::HashSet;

use super::parts::Executions;
use super::sequences::{Run, Span};
use super::{Counts, KeyId};

/// Iterations of a loop, over all executions of its body, numbered from 0: what is before the separator, its run, what
/// is behind it.
#[derive(Default)]
pub(super) struct Iterations {
    pub(super) before: Executions,
    pub(super) separators: Vec<(u32, u32)>,
    pub(super) behind: Executions,
    /// Of each execution.
    pub(super) counts: Counts,
    total: u32,
}

/// Cuts executions of a loop into iterations.
pub(super) fn iterations(runs: &[Run], separator: KeyId, executions: &Executions) -> Iterations {
    let pieces: Vec<Pieces> = executions.iter().map(|&(_, span)| Pieces::of(runs, separator, span)).collect();
    let last = last_keys(runs, &pieces);
    let cut = last.filter(|last| keeps_sides(runs, &pieces, last));
    let mut iterations = Iterations::default();
    for (pieces, &(execution, _)) in pieces.iter().zip(executions) {
        let before = iterations.total;
        pieces.add(runs, cut.as_ref(), &mut iterations);
        iterations.counts.push(execution, iterations.total - before);
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
        let index = self.total;
        self.total += 1;
        self.separators.extend(separator.map(|run| (index, run)));
        for (span, side) in [(before, &mut self.before), (behind, &mut self.behind)] {
            if !span.is_empty() {
                side.push((index, span));
            }
        }
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
