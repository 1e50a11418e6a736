//! From sequences to their tree.

use super::cut::{heads, iterations, separator, tails};
use super::row::Row;
use super::sequences::{Run, Sequences, Span};
use super::{Counts, EventId, Item, ItemId, KeyId, Order, Tree, What};

/// Loops inside of loops that are looked for; deeper down, what recurs gets items in a row, which loses nothing.
const MAX_DEPTH: usize = 64;

/// The loop tree of sequences.
///
/// Work is linear in the number of events, times the loops that are inside of or behind each other: at most one for
/// each key.
#[must_use]
pub fn build(sequences: &Sequences, order: Order) -> Tree {
    let mut builder = Builder { sequences, order, tree: Tree::default() };
    builder.tree.root = builder.body(&sequences.roots, 0);
    builder.tree
}

/// Runs of one item: executions of the body and a run of each.
type Runs = Vec<(u32, u32)>;

/// A part of a body that is not built yet.
enum Part {
    Body(Vec<Span>),
    /// Only iterations with this separator.
    Loop(KeyId, Vec<Span>),
}

/// Tails, loop and heads; what is executed first is the last.
fn around_loop(runs: &[Run], separator: KeyId, executions: &[Span]) -> [Part; 3] {
    let (heads, rest) = heads(runs, separator, executions);
    let (tails, rest) = tails(runs, separator, &rest);
    [Part::Body(tails), Part::Loop(separator, rest), Part::Body(heads)]
}

struct Builder<'a> {
    sequences: &'a Sequences,
    order: Order,
    tree: Tree,
}

impl Builder<'_> {
    /// The items of a body that was executed like this. Heads and tails wait in a list, as there may be thousands.
    fn body(&mut self, executions: &[Span], depth: usize) -> Vec<ItemId> {
        let mut items = Vec::new();
        let mut waiting = vec![Part::Body(executions.to_vec())];
        while let Some(part) = waiting.pop() {
            match part {
                Part::Body(executions) if executions.iter().all(|span| span.is_empty()) => {}
                Part::Body(executions) => match separator(self.sequences, &executions) {
                    Some(separator) if depth < MAX_DEPTH => {
                        waiting.extend(around_loop(&self.sequences.runs, separator, &executions));
                    }
                    recurring => items.extend(self.row(&executions, recurring.is_some(), depth + 1)),
                },
                Part::Loop(separator, executions) => {
                    items.push(self.inner_loop(separator, &executions, depth + 1));
                }
            }
        }
        items
    }

    fn inner_loop(&mut self, separator: KeyId, executions: &[Span], depth: usize) -> ItemId {
        let iterations = iterations(&self.sequences.runs, separator, executions);
        let mut body = self.body(&iterations.before, depth);
        let indices = (0_u32..).zip(&iterations.separators);
        let separators = indices.filter_map(|(execution, run)| Some((execution, (*run)?))).collect();
        body.push(self.event(separator, separators, depth));
        body.extend(self.body(&iterations.behind, depth));
        let mut counts = Counts::default();
        (0..).zip(iterations.counts).for_each(|(execution, count)| counts.push(execution, count));
        self.tree.push(Item { counts, what: What::Loop(body) })
    }

    /// One item for each key, or several where their order changes.
    fn row(&mut self, executions: &[Span], recurring: bool, depth: usize) -> Vec<ItemId> {
        let loose = self.order == Order::Loose && !recurring;
        let mut row = Row::default();
        let mut items: Vec<(KeyId, Runs)> = Vec::new();
        for (execution, span) in (0..).zip(executions) {
            let (mut last, mut last_collective) = (None, None);
            for index in span.from..span.to {
                let key = self.sequences.runs[index as usize].key;
                let collective = self.sequences.is_collective(key);
                let (found, behind) = match (loose, collective) {
                    (false, _) => (row.behind(last, key), last),
                    (true, false) => (row.any(key), last),
                    (true, true) => (row.behind(last_collective, key), row.later(last, last_collective)),
                };
                let item = found.unwrap_or_else(|| row.insert(behind, key));
                if item == items.len() {
                    items.push((key, Runs::new()));
                }
                items[item].1.push((execution, index));
                last = Some(item);
                last_collective = if collective { last } else { last_collective };
            }
        }
        let mut taken: Vec<Option<(KeyId, Runs)>> = items.into_iter().map(Some).collect();
        let ordered: Vec<_> = row.ordered().filter_map(|item| taken[item].take()).collect();
        ordered.into_iter().map(|(key, runs)| self.event(key, runs, depth)).collect()
    }

    fn event(&mut self, key: KeyId, runs: Runs, depth: usize) -> ItemId {
        let (mut counts, mut events) = (Counts::default(), Vec::new());
        for (execution, index) in runs {
            let run = self.sequences.runs[index as usize];
            counts.push(execution, run.len);
            events.extend((run.first..run.first + run.len).map(EventId));
        }
        let inside: Vec<Span> = events.iter().map(|&event| self.sequences.inside(event)).collect();
        let children = self.body(&inside, depth);
        self.tree.push(Item { counts, what: What::Event { key, events, children } })
    }
}
