//! A body as parts behind each other: loops, and rows of items around them.
//!
//! Keys are the nodes of a graph, with an edge from each run to the next one of its execution. What stands behind a
//! key in some execution is reached from it, and a key that recurs is on a cycle. So the loop of a separator is its
//! strongly connected component, its heads are all that it does not reach, its tails what it reaches without a way
//! back. One look at the runs finds all loops behind each other.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

use super::components::{Graph, components};
use super::sequences::{Sequences, Span};
use super::{Key, KeyId};

/// Executions of a body in which there are runs, by index.
pub(super) type Executions = Vec<(u32, Span)>;

/// Items of a body that belong together.
#[derive(Default)]
pub(super) struct Part {
    /// The key between the iterations of the loop; NULL: a row of items.
    pub(super) separator: Option<KeyId>,
    /// What the part has of each execution.
    pub(super) executions: Executions,
}

/// The parts of a body in the order of execution.
///
/// Work is linear in the number of runs, and for each loop in the number of keys that it reaches among those that no
/// better separator has set apart.
pub(super) fn parts(sequences: &Sequences, executions: Executions) -> Vec<Part> {
    let seen = Seen::of(sequences, &executions);
    if !seen.keys.iter().any(|key| key.recurs) {
        return vec![Part { separator: None, executions }];
    }
    let order = seen.order(sequences);
    let mut parts: Vec<Part> = order.separators.into_iter().map(Part::of).collect();
    for (execution, span) in executions {
        let mut from = span.from;
        let part_at = |index: u32| order.part_of[seen.index(sequences, index)];
        for index in span.from..span.to {
            let part = part_at(index);
            if index + 1 == span.to || part_at(index + 1) != part {
                parts[part].executions.push((execution, Span { from, to: index + 1 }));
                from = index + 1;
            }
        }
    }
    parts.retain(|part| !part.executions.is_empty());
    parts
}

/// Whether a key has two runs in an execution.
pub(super) fn recurs(sequences: &Sequences, executions: &Executions) -> bool {
    Seen::of(sequences, executions).keys.iter().any(|key| key.recurs)
}

impl Part {
    fn of(separator: Option<KeyId>) -> Self {
        Self { separator, executions: Vec::new() }
    }
}

/// A key in all executions of a body.
struct SeenKey {
    key: KeyId,
    runs: u32,
    last_execution: u32,
    recurs: bool,
}

/// Keys of a body, in the order in which they are first seen, and which follow which.
#[derive(Default)]
struct Seen {
    keys: Vec<SeenKey>,
    indices: HashMap<KeyId, usize>,
    follow: HashSet<(usize, usize)>,
}

impl Seen {
    fn of(sequences: &Sequences, executions: &Executions) -> Self {
        let mut seen = Self::default();
        for &(execution, span) in executions {
            let mut before = None;
            for run in &sequences.runs[span.range()] {
                let index = seen.add(run.key, execution);
                seen.follow.extend(before.replace(index).map(|before| (before, index)));
            }
        }
        seen
    }

    fn add(&mut self, key: KeyId, execution: u32) -> usize {
        let index = *self.indices.entry(key).or_insert(self.keys.len());
        match self.keys.get_mut(index) {
            Some(seen) => {
                seen.recurs |= seen.last_execution == execution;
                seen.last_execution = execution;
                seen.runs += 1;
            }
            None => self.keys.push(SeenKey { key, runs: 1, last_execution: execution, recurs: false }),
        }
        index
    }

    fn index(&self, sequences: &Sequences, run: u32) -> usize {
        self.indices[&sequences.runs[run as usize].key]
    }

    /// Keys that recur, the best separator first: collectives of the most members, then those with the fewest runs,
    /// then the one that is first seen last.
    fn separators(&self, sequences: &Sequences) -> Vec<usize> {
        let recurring = self.keys.iter().enumerate().filter(|(_, key)| key.recurs);
        let mut separators: Vec<usize> = recurring.map(|(index, _)| index).collect();
        separators.sort_by_key(|&index| {
            let SeenKey { key, runs, .. } = self.keys[index];
            let Key { members } = sequences.keys[key.0 as usize];
            Reverse((members, Reverse(runs), index))
        });
        separators
    }

    /// Sets apart, separator by separator, its loop and all that it reaches.
    fn order(&self, sequences: &Sequences) -> PartOrder {
        let graph = Graph::new(self.keys.len(), self.follow.iter().copied());
        let component_of = components(&graph);
        let mut order = PartList { part_of: vec![0; self.keys.len()], next: vec![None], loops: vec![None] };
        let mut has_loop = HashSet::new();
        for separator in self.separators(sequences) {
            let component = component_of[separator];
            if has_loop.insert(component) {
                order.set_apart(&graph, separator, |key| component_of[key] == component);
            }
        }
        order.sorted(|separator| self.keys[separator].key)
    }
}

/// Parts by position: what separates the iterations of each, and the part of each key.
struct PartOrder {
    separators: Vec<Option<KeyId>>,
    part_of: Vec<usize>,
}

/// Parts while they are divided; each knows the one behind it, and the first one stays so.
struct PartList {
    part_of: Vec<usize>,
    next: Vec<Option<usize>>,
    loops: Vec<Option<usize>>,
}

impl PartList {
    fn set_apart(&mut self, graph: &Graph, separator: usize, is_loop: impl Fn(usize) -> bool) {
        let divided = self.part_of[separator];
        let inner = self.insert_behind(divided, Some(separator));
        let tails = self.insert_behind(inner, None);
        self.part_of[separator] = inner;
        let mut waiting = vec![separator];
        while let Some(key) = waiting.pop() {
            for &reached in graph.next(key) {
                if self.part_of[reached] == divided {
                    self.part_of[reached] = if is_loop(reached) { inner } else { tails };
                    waiting.push(reached);
                }
            }
        }
    }

    fn insert_behind(&mut self, part: usize, separator: Option<usize>) -> usize {
        let inserted = self.next.len();
        let behind = self.next[part].replace(inserted);
        self.next.push(behind);
        self.loops.push(separator);
        inserted
    }

    fn sorted(mut self, key: impl Fn(usize) -> KeyId) -> PartOrder {
        let ordered = std::iter::successors(Some(0), |&part: &usize| self.next[part]);
        let ordered: Vec<usize> = ordered.collect();
        let mut positions = vec![0; ordered.len()];
        for (position, &part) in ordered.iter().enumerate() {
            positions[part] = position;
        }
        self.part_of.iter_mut().for_each(|part| *part = positions[*part]);
        let separators = ordered.into_iter().map(|part| self.loops[part].map(&key)).collect();
        PartOrder { separators, part_of: self.part_of }
    }
}
