//! A loop tree with what changes in it: everything that was recorded of the sequences, without the events.
//!
//! Source: Scala-H-Trace, sections 2.1 and 4.2.

use thiserror::Error;

use crate::column::{Column, Reader, Value};
use crate::tree::{ItemId, KeyId, Positions, Tree, What};

/// An item with one value for each of its executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How often it is executed, for each execution of the body that it is in.
    pub counts: Column,
    /// What is executed.
    pub what: Repeats,
}

/// What an item repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// An event.
    Event {
        /// What all its executions have in common.
        key: KeyId,
        /// What they have not.
        columns: Vec<Column>,
        /// What was called inside.
        children: Vec<ItemId>,
    },
    /// A loop around these items.
    Loop(Vec<ItemId>),
}

/// What is said of an item does not fit what is said of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StructureError {
    /// A count is missing, negative, or more than 32 bits hold.
    #[error("rank {rank}: item {item} has no count where it is executed")]
    Count {
        /// The number of the sequence.
        rank: u32,
        /// The index of the item.
        item: u32,
    },
    /// An execution has no value.
    #[error("rank {rank}: item {item} has fewer values in column {column} than executions")]
    Value {
        /// The number of the sequence.
        rank: u32,
        /// The index of the item.
        item: u32,
        /// The index of the column.
        column: usize,
    },
}

/// Sequences of events with their values, as nested loops. The number of a sequence is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    items: Vec<Repeated>,
    root: Vec<ItemId>,
}

impl Structure {
    /// The structure of so many sequences and their tree. `value` gives the value of an event, by its index, in each of
    /// `columns` columns.
    pub fn new(tree: &Tree, sequences: u32, columns: usize, value: impl Fn(u32, usize) -> Value) -> Self {
        let mut builder = Builder { tree, columns, value, items: Vec::new() };
        let root = builder.body(tree.root(), &Positions::root(sequences));
        Self { items: builder.items, root }
    }

    /// The items of the outermost body.
    #[must_use]
    pub fn root(&self) -> &[ItemId] {
        &self.root
    }

    /// All items, on all levels.
    #[must_use]
    pub fn items(&self) -> &[Repeated] {
        &self.items
    }

    /// Calls `visit` with the key of each event of a rank, its values and the number of calls around it, in the order of
    /// execution; only this rank is expanded, and no event is kept.
    ///
    /// # Errors
    /// A count or a value is missing, which no structure of a tree lacks.
    pub fn walk(
        &self,
        rank: u32,
        visit: &mut impl FnMut(KeyId, &[Value], usize),
    ) -> Result<(), StructureError> {
        let readers = self.items.iter().map(|item| ItemReader::new(item, rank)).collect();
        let mut walk =
            Walk { structure: self, rank, readers, indices: Vec::new(), values: Vec::new(), visit };
        walk.body(&self.root, 0)
    }
}

struct Builder<'a, F> {
    tree: &'a Tree,
    columns: usize,
    value: F,
    items: Vec<Repeated>,
}

impl<F: Fn(u32, usize) -> Value> Builder<'_, F> {
    fn body(&mut self, body: &[ItemId], positions: &Positions) -> Vec<ItemId> {
        body.iter().map(|&id| self.item(id, positions)).collect()
    }

    fn item(&mut self, id: ItemId, around: &Positions) -> ItemId {
        let item = self.tree.item(id);
        let count = |execution| Some(item.counts.executions(execution as u32).len() as i64);
        let counts = Column::of(around, count);
        let positions = around.inside(&item.counts);
        let what = match &item.what {
            What::Loop(body) => Repeats::Loop(self.body(body, &positions)),
            What::Event { key, events, children } => {
                let column =
                    |column| Column::of(&positions, |execution| (self.value)(events[execution].0, column));
                let columns = (0..self.columns).map(column).collect();
                Repeats::Event { key: *key, columns, children: self.body(children, &positions) }
            }
        };
        self.items.push(Repeated { counts, what });
        ItemId(self.items.len() as u32 - 1)
    }
}

/// What is left of the columns of an item.
struct ItemReader<'a> {
    counts: Option<Reader<'a>>,
    columns: Vec<Option<Reader<'a>>>,
}

impl<'a> ItemReader<'a> {
    fn new(item: &'a Repeated, rank: u32) -> Self {
        let columns = match &item.what {
            Repeats::Event { columns, .. } => columns.iter().map(|column| column.reader(rank)).collect(),
            Repeats::Loop(_) => Vec::new(),
        };
        Self { counts: item.counts.reader(rank), columns }
    }
}

struct Walk<'a, F> {
    structure: &'a Structure,
    rank: u32,
    readers: Vec<ItemReader<'a>>,
    /// Of the execution that is visited.
    indices: Vec<u32>,
    values: Vec<Value>,
    visit: &'a mut F,
}

impl<'a, F: FnMut(KeyId, &[Value], usize)> Walk<'a, F> {
    fn body(&mut self, body: &'a [ItemId], inside: usize) -> Result<(), StructureError> {
        for &ItemId(item) in body {
            for index in 0..self.count(item)? {
                self.indices.push(index);
                self.execute(item, inside)?;
                self.indices.pop();
            }
        }
        Ok(())
    }

    fn count(&mut self, item: u32) -> Result<u32, StructureError> {
        let counts = self.readers[item as usize].counts.as_mut();
        let count = counts.and_then(|counts| counts.next(&self.indices)).flatten();
        let count = count.and_then(|count| u32::try_from(count).ok());
        count.ok_or(StructureError::Count { rank: self.rank, item })
    }

    fn execute(&mut self, item: u32, inside: usize) -> Result<(), StructureError> {
        match &self.structure.items[item as usize].what {
            Repeats::Loop(body) => self.body(body, inside),
            Repeats::Event { key, children, .. } => {
                self.values.clear();
                for (column, reader) in self.readers[item as usize].columns.iter_mut().enumerate() {
                    let value = reader.as_mut().and_then(|reader| reader.next(&self.indices));
                    let missing = StructureError::Value { rank: self.rank, item, column };
                    self.values.push(value.ok_or(missing)?);
                }
                (self.visit)(*key, &self.values, inside);
                self.body(children, inside + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests;
