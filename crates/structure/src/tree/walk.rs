//! Events of a tree in the order of execution.

use super::{EventId, ItemId, Tree, What};

/// An event of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Which one.
    pub event: EventId,
    /// Of which item.
    pub item: ItemId,
    /// Number of calls around it.
    pub inside: usize,
    /// Number of loops that were entered since the last event of the sequence.
    pub entered: u32,
}

/// Walks the sequences of a tree: a body is not searched for the items that an execution has, so that all sequences together take as
/// long as there are events.
#[derive(Debug)]
pub struct TreeWalker<'a> {
    tree: &'a Tree,
    root: Schedule,
    /// Of the body of each item.
    bodies: Vec<Schedule>,
}

impl<'a> TreeWalker<'a> {
    pub(super) fn new(tree: &'a Tree) -> Self {
        let schedule = |body: &[ItemId]| Schedule::of(tree, body);
        let bodies = tree.items.iter().map(|item| schedule(item.what.body())).collect();
        Self { tree, root: schedule(&tree.root), bodies }
    }

    /// Calls `visit` with each event of one sequence, in the order of execution.
    pub fn walk(&self, sequence: u32, visit: &mut impl FnMut(Visit)) {
        self.body(&self.root, sequence, 0, &mut 0, visit);
    }

    fn body(
        &self,
        body: &Schedule,
        execution: u32,
        inside: usize,
        entered: &mut u32,
        visit: &mut impl FnMut(Visit),
    ) {
        for &(item, from, to) in body.items(execution) {
            let inner = &self.bodies[item.0 as usize];
            match &self.tree.item(item).what {
                What::Loop(_) => {
                    *entered += 1;
                    (from..to).for_each(|index| self.body(inner, index, inside, entered, visit));
                }
                What::Event { events, .. } => {
                    for index in from..to {
                        let event = events[index as usize];
                        visit(Visit { event, item, inside, entered: std::mem::take(entered) });
                        self.body(inner, index, inside + 1, entered, visit);
                    }
                }
            }
        }
    }
}

/// Which items each execution of a body has.
#[derive(Debug, Default)]
struct Schedule {
    /// Where the items of each execution begin, and behind the last one.
    starts: Vec<u32>,
    /// Items with their executions.
    items: Vec<(ItemId, u32, u32)>,
}

impl Schedule {
    fn of(tree: &Tree, body: &[ItemId]) -> Self {
        let counts = || body.iter().map(|&id| (id, tree.item(id).counts.iter()));
        let executions = counts().filter_map(|(_, counts)| Some(counts.last()?.0 + 1)).max().unwrap_or(0);
        // Counted one further, so that filling in moves each start to its place.
        let mut starts = vec![0; executions as usize + 2];
        for (execution, _) in counts().flat_map(|(_, counts)| counts) {
            starts[execution as usize + 2] += 1;
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut items = vec![(ItemId(0), 0, 0); total as usize];
        for (id, counts) in counts() {
            let mut from = 0;
            for (execution, count) in counts {
                let place = &mut starts[execution as usize + 1];
                items[*place as usize] = (id, from, from + count);
                *place += 1;
                from += count;
            }
        }
        Self { starts, items }
    }

    fn items(&self, execution: u32) -> &[(ItemId, u32, u32)] {
        match self.starts.get(execution as usize..execution as usize + 2) {
            Some(&[from, to]) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }
}
