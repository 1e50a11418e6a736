//! From sequences to their tree.

use super::cut::iterations;
use super::parts::{Executions, Part, parts, recurs};
use super::row::Row;
use super::sequences::Sequences;
use super::{Counts, EventId, Item, ItemId, KeyId, Order, Tree, What};

/// Loops inside of loops that are looked for; deeper down, what recurs gets items in a row, which loses nothing.
const MAX_DEPTH: usize = 64;

/// The loop tree of sequences; `step` is told the number of events that have an item.
///
/// Work is linear in the number of events, times the loops that are inside of each other.
#[must_use]
pub fn build(sequences: &Sequences, order: Order, step: &mut dyn FnMut(u64)) -> Tree {
    let mut builder = Builder { sequences, order, tree: Tree::default(), events: 0, step };
    let roots = (0..).zip(sequences.roots.iter().copied()).filter(|(_, span)| !span.is_empty());
    builder.tree.root = builder.body(roots.collect(), 0);
    builder.tree
}

/// Runs of one item: executions of the body and a run of each.
type Runs = Vec<(u32, u32)>;

struct Builder<'a> {
    sequences: &'a Sequences,
    order: Order,
    tree: Tree,
    /// That have an item.
    events: u64,
    step: &'a mut dyn FnMut(u64),
}

impl Builder<'_> {
    /// The items of a body that was executed like this.
    fn body(&mut self, executions: Executions, depth: usize) -> Vec<ItemId> {
        if executions.is_empty() {
            return Vec::new();
        }
        if depth >= MAX_DEPTH {
            let recurring = recurs(self.sequences, &executions);
            return self.row(&executions, recurring, depth + 1);
        }
        let mut items = Vec::new();
        for Part { separator, executions } in parts(self.sequences, executions) {
            match separator {
                Some(separator) => items.push(self.inner_loop(separator, &executions, depth + 1)),
                None => items.extend(self.row(&executions, false, depth + 1)),
            }
        }
        items
    }

    fn inner_loop(&mut self, separator: KeyId, executions: &Executions, depth: usize) -> ItemId {
        let iterations = iterations(&self.sequences.runs, separator, executions);
        let mut body = self.body(iterations.before, depth);
        body.push(self.event(separator, iterations.separators, depth));
        body.extend(self.body(iterations.behind, depth));
        self.tree.push(Item { counts: iterations.counts, what: What::Loop(body) })
    }

    /// One item for each key, or several where their order changes.
    fn row(&mut self, executions: &Executions, recurring: bool, depth: usize) -> Vec<ItemId> {
        let loose = self.order == Order::Loose && !recurring;
        let mut row = Row::default();
        let mut items: Vec<(KeyId, Runs)> = Vec::new();
        for &(execution, span) in executions {
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
        self.events += events.len() as u64;
        (self.step)(self.events);
        let inside = (0..).zip(events.iter().map(|&event| self.sequences.inside(event)));
        let children = self.body(inside.filter(|(_, span)| !span.is_empty()).collect(), depth);
        self.tree.push(Item { counts, what: What::Event { key, events, children } })
    }
}
