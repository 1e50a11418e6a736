//! A loop tree with what changes in it: everything that was recorded of the sequences, without the events.
//!
//! Source: Scala-H-Trace, sections 2.1 and 4.2.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::column::{Column, Reader, Value};
use crate::distribution::Drawn;
use crate::draw::Urn;
use crate::tree::{ItemId, KeyId, Positions, Tree, What};

/// A column in the form that takes the least space: the values as they are, or what is left of them when what is
/// foreseen is taken away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coded {
    /// Which of the forms of this column; whoever gave the values knows what they mean.
    pub form: u8,
    /// One value for each execution.
    pub column: Column,
}

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
        columns: Vec<Coded>,
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
    /// A distribution does not have the values that are drawn from it.
    #[error("item {item}: the distributions of column {column} are not of its values")]
    Drawn {
        /// The index of the item.
        item: u32,
        /// 0 of counts, 1 more than the index of any other column.
        column: u32,
    },
    /// There are more iterations than events.
    #[error("loop {item} has more iterations than there are events")]
    Iterations {
        /// The index of the item.
        item: u32,
    },
    /// Draws leave more iterations without events than they do of any program.
    #[error("loop {item}: too many iterations without events")]
    Idle {
        /// The index of the item.
        item: u32,
    },
    /// An iteration does nothing.
    #[error("rank {rank}: an iteration of loop {item} has no event")]
    Empty {
        /// The number of the sequence.
        rank: u32,
        /// The index of the item.
        item: u32,
    },
}

/// One execution of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution<'a> {
    /// Of which item.
    pub item: ItemId,
    /// What all executions of the item have in common.
    pub key: KeyId,
    /// One value for each column of the item, in its form.
    pub values: &'a [Value],
    /// Which iteration it is of each item around it, from the outermost to its own.
    pub indices: &'a [u32],
    /// Number of calls around it.
    pub inside: usize,
    /// Number of loops that were entered since the last event of the sequence.
    pub entered: u32,
}

/// Sequences of events with their values, as nested loops. The number of a sequence is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    items: Vec<Repeated>,
    root: Vec<ItemId>,
    drawn: DrawnColumns,
}

/// Columns whose values are drawn, by item and column: 0 is that of counts, any other 1 more than its index.
pub type DrawnColumns = BTreeMap<(u32, u32), Drawn>;

impl Structure {
    /// The structure of so many sequences and their tree. Each column has `forms` of which the one that takes the least
    /// space is kept; `value` gives the value of an event, by its index, in a form of a column. Its items have the numbers that
    /// they have in the tree. `step` is told the number of events whose columns are made.
    pub fn new(
        tree: &Tree,
        sequences: u32,
        forms: &[u8],
        value: impl Fn(u32, usize, u8) -> Value,
        step: &mut dyn FnMut(u64),
    ) -> Self {
        let mut builder = Builder { tree, forms, value, items: Vec::new(), events: 0, step };
        let root = builder.body(tree.root(), &Positions::root(sequences));
        Self { items: builder.items, root, drawn: DrawnColumns::new() }
    }

    /// The structure of these items; each stands behind those inside of it.
    #[must_use]
    pub fn of_parts(items: Vec<Repeated>, root: Vec<ItemId>, drawn: DrawnColumns) -> Self {
        Self { items, root, drawn }
    }

    /// Its items, its root and what is drawn of it.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Repeated>, Vec<ItemId>, DrawnColumns) {
        (self.items, self.root, self.drawn)
    }

    /// Columns of which the values are drawn.
    #[must_use]
    pub fn drawn(&self) -> &DrawnColumns {
        &self.drawn
    }

    /// Whether each rank has as many executions of each item as were recorded; else only all ranks together.
    #[must_use]
    pub fn has_counts_by_rank(&self) -> bool {
        self.drawn.iter().all(|(&(_, column), drawn)| column != 0 || drawn.common)
    }

    /// How many numbers have to be kept, about.
    #[must_use]
    pub fn weight(&self) -> usize {
        let of_item = |item: &Repeated| match &item.what {
            Repeats::Event { columns, .. } => columns.iter().map(|coded| coded.column.weight()).sum(),
            Repeats::Loop(_) => 0,
        };
        let items: usize = self.items.iter().map(|item| item.counts.weight() + of_item(item)).sum();
        items + self.drawn.values().map(Drawn::weight).sum::<usize>()
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

    /// Walks its ranks, of which no more than `events` events are expected; what is drawn depends on `seed`.
    #[must_use]
    pub fn walker(&self, seed: u64, events: u64) -> Walker<'_> {
        Walker {
            structure: self,
            seed,
            urns: BTreeMap::new(),
            most: events,
            iterations: vec![0; self.items.len()],
            may_be_idle: self.with_drawn_counts(),
            idle: 0,
            events: 0,
            readers: self.items.iter().map(|_| None).collect(),
            begun: Vec::new(),
        }
    }

    /// Of each item whether there is a count inside that is drawn.
    fn with_drawn_counts(&self) -> Vec<bool> {
        let mut with: Vec<bool> = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let (Repeats::Loop(body) | Repeats::Event { children: body, .. }) = &item.what;
            let is_drawn = |inner: &ItemId| {
                self.drawn.contains_key(&(inner.0, 0)) || with.get(inner.0 as usize) == Some(&true)
            };
            with.push(body.iter().any(is_drawn));
        }
        with
    }

    /// Calls `visit` with each event of a rank, in the order of execution, of a structure of which nothing is drawn; only this
    /// rank is expanded, and no event is kept.
    ///
    /// # Errors
    /// The first of `visit`, or a count or a value is missing, which no structure of a tree lacks.
    pub fn walk<E: From<StructureError>>(
        &self,
        rank: u32,
        visit: &mut impl FnMut(Execution<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walker(0, u64::MAX).walk(rank, &mut |_, _| {}, visit)
    }
}

/// Walks the ranks of a structure, one after the other: what is drawn for a rank depends on what was for those before.
#[derive(Debug)]
pub struct Walker<'a> {
    structure: &'a Structure,
    seed: u64,
    urns: BTreeMap<(u32, u32), Vec<Urn>>,
    most: u64,
    /// Of each loop, on all ranks.
    iterations: Vec<u64>,
    may_be_idle: Vec<bool>,
    /// Iterations without events of all loops, on all ranks.
    idle: u64,
    /// That were visited.
    events: u64,
    /// Of the rank that is walked.
    readers: Vec<Option<ItemReader<'a>>>,
    /// Items that have a reader.
    begun: Vec<u32>,
}

/// Iterations without events that there may be.
const FREE_IDLE: u64 = 1 << 16;
/// And for each event: some iterations have none where counts are drawn independently of each other. At each level more than half
/// have one, as each has where the counts are from.
const IDLE_OF_EVENT: u64 = 64;

impl<'a> Walker<'a> {
    /// Calls `visit` with each event of a rank, in the order of execution; no event is kept. `counted` is told how often an item
    /// is executed, for each execution of the body that it is in, before these executions are visited.
    ///
    /// # Errors
    /// The first of `visit`, or a count or a value is missing, which no structure of a tree lacks.
    pub fn walk<E: From<StructureError>>(
        &mut self,
        rank: u32,
        counted: &mut impl FnMut(ItemId, u32),
        visit: &mut impl FnMut(Execution<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let structure = self.structure;
        self.begun.drain(..).for_each(|item| self.readers[item as usize] = None);
        let (indices, values) = (Vec::new(), Vec::new());
        let mut walk = Walk { walker: self, rank, indices, values, entered: 0, counted, visit };
        walk.body(&structure.root, 0)?;
        Ok(self.end_rank()?)
    }

    /// What is common to all ranks is drawn by each of them.
    fn end_rank(&mut self) -> Result<(), StructureError> {
        for (&(item, column), urns) in &mut self.urns {
            if self.structure.drawn.get(&(item, column)).is_some_and(|drawn| drawn.common) {
                if urns.iter().any(|urn| urn.left() > 0) && urns.iter().any(Urn::has_begun) {
                    return Err(StructureError::Drawn { item, column });
                }
                urns.iter_mut().for_each(Urn::begin_again);
            }
        }
        Ok(())
    }

    /// Whether every value was drawn by the ranks that were walked.
    ///
    /// # Errors
    /// A distribution has values that were not.
    pub fn end(&self) -> Result<(), StructureError> {
        for (&(item, column), drawn) in &self.structure.drawn {
            let left = |urns: &Vec<Urn>| urns.iter().map(Urn::left).any(|left| left > 0);
            if !drawn.common && self.urns.get(&(item, column)).is_none_or(left) {
                return Err(StructureError::Drawn { item, column });
            }
        }
        Ok(())
    }

    /// The value of a column that has this one; nothing is drawn for most columns.
    fn value(&mut self, item: u32, column: u32, value: Value) -> Result<Value, StructureError> {
        let Some((drawn, number)) = self.structure.drawn.get(&(item, column)).zip(value) else {
            return Ok(value);
        };
        let contradiction = StructureError::Drawn { item, column };
        if !self.urns.contains_key(&(item, column)) {
            let urns = (0..).zip(&drawn.distributions);
            let urns = urns.map(|(number, one)| Urn::new(one, (drawn.draw, column, number), self.seed));
            self.urns.insert((item, column), urns.collect::<Option<_>>().ok_or(contradiction)?);
        }
        let urns = self.urns.get_mut(&(item, column));
        let urn = urns.zip(usize::try_from(number).ok()).and_then(|(urns, number)| urns.get_mut(number));
        urn.and_then(Urn::draw).map(Some).ok_or(contradiction)
    }

    /// Notes an iteration, of which there are no more than events.
    fn iterate(&mut self, item: u32) -> Result<(), StructureError> {
        let iterations = &mut self.iterations[item as usize];
        *iterations += 1;
        if *iterations > self.most { Err(StructureError::Iterations { item }) } else { Ok(()) }
    }

    /// Notes an iteration without events: else a few bytes could keep a reader busy for ever. Only draws may leave one.
    fn idle(&mut self, rank: u32, item: u32) -> Result<(), StructureError> {
        if !self.may_be_idle[item as usize] {
            return Err(StructureError::Empty { rank, item });
        }
        self.idle += 1;
        let most = self.events.saturating_mul(IDLE_OF_EVENT).saturating_add(FREE_IDLE);
        if self.idle > most { Err(StructureError::Idle { item }) } else { Ok(()) }
    }

    /// What is left of an item of the rank that is walked.
    fn reader(&mut self, item: u32, rank: u32) -> &mut ItemReader<'a> {
        let (repeated, begun) = (&self.structure.items[item as usize], &mut self.begun);
        self.readers[item as usize].get_or_insert_with(|| {
            begun.push(item);
            ItemReader { counts: repeated.counts.reader(rank), columns: None }
        })
    }
}

struct Builder<'a, F> {
    tree: &'a Tree,
    forms: &'a [u8],
    value: F,
    items: Vec<Repeated>,
    /// Whose columns are made.
    events: u64,
    step: &'a mut dyn FnMut(u64),
}

impl<F: Fn(u32, usize, u8) -> Value> Builder<'_, F> {
    fn body(&mut self, body: &[ItemId], positions: &Positions) -> Vec<ItemId> {
        body.iter().map(|&id| self.item(id, positions)).collect()
    }

    fn item(&mut self, id: ItemId, around: &Positions) -> ItemId {
        let item = self.tree.item(id);
        let counts = Column::of_counts(around, &item.counts);
        let positions = around.inside(&item.counts);
        let what = match &item.what {
            What::Loop(body) => Repeats::Loop(self.body(body, &positions)),
            What::Event { key, events, children } => {
                let value = |execution: usize, column, form| (self.value)(events[execution].0, column, form);
                let of_form = |column, form| Coded {
                    form,
                    column: Column::of(&positions, |execution| value(execution, column, form)),
                };
                let smallest = |(column, &forms): (usize, &u8)| smallest(forms, |form| of_form(column, form));
                let columns = self.forms.iter().enumerate().map(smallest).collect();
                self.events += events.len() as u64;
                (self.step)(self.events);
                Repeats::Event { key: *key, columns, children: self.body(children, &positions) }
            }
        };
        debug_assert_eq!(id.0 as usize, self.items.len());
        self.items.push(Repeated { counts, what });
        ItemId(self.items.len() as u32 - 1)
    }
}

/// The form that takes the least space, the first of several. None is smaller than one that takes one number besides its ranks: where
/// values are NULL, they are so in each form.
fn smallest(forms: u8, of_form: impl Fn(u8) -> Coded) -> Coded {
    let mut smallest: Option<(usize, Coded)> = None;
    for form in 0..forms {
        let coded = of_form(form);
        let weight = coded.column.weight();
        if smallest.as_ref().is_none_or(|(least, _)| weight < *least) {
            smallest = Some((weight, coded));
        }
        if weight <= Column::LEAST_WEIGHT {
            break;
        }
    }
    smallest.map(|(_, coded)| coded).unwrap_or_default()
}

/// What is left of the columns of an item.
#[derive(Debug)]
struct ItemReader<'a> {
    counts: Option<Reader<'a>>,
    /// NULL: it was not executed yet.
    columns: Option<Vec<Option<Reader<'a>>>>,
}

fn column_readers(item: &Repeated, rank: u32) -> Vec<Option<Reader<'_>>> {
    match &item.what {
        Repeats::Event { columns, .. } => columns.iter().map(|coded| coded.column.reader(rank)).collect(),
        Repeats::Loop(_) => Vec::new(),
    }
}

struct Walk<'a, 'b, C, F> {
    walker: &'b mut Walker<'a>,
    rank: u32,
    /// Of the execution that is visited.
    indices: Vec<u32>,
    values: Vec<Value>,
    /// Loops since the last event.
    entered: u32,
    counted: &'b mut C,
    visit: &'b mut F,
}

impl<'a, E, C, F> Walk<'a, '_, C, F>
where
    E: From<StructureError>,
    C: FnMut(ItemId, u32),
    F: FnMut(Execution<'_>) -> Result<(), E>,
{
    fn body(&mut self, body: &'a [ItemId], inside: usize) -> Result<(), E> {
        for &item in body {
            let count = self.count(item.0)?;
            (self.counted)(item, count);
            for index in 0..count {
                self.indices.push(index);
                self.execute(item, index, inside)?;
                self.indices.pop();
            }
        }
        Ok(())
    }

    fn count(&mut self, item: u32) -> Result<u32, StructureError> {
        let counts = self.walker.reader(item, self.rank).counts.as_mut();
        let count = counts.and_then(|counts| counts.next(&self.indices)).flatten();
        let count = self.walker.value(item, 0, count)?;
        let count = count.and_then(|count| u32::try_from(count).ok());
        count.ok_or(StructureError::Count { rank: self.rank, item })
    }

    fn execute(&mut self, id: ItemId, index: u32, inside: usize) -> Result<(), E> {
        match &self.walker.structure.items[id.0 as usize].what {
            Repeats::Loop(body) => {
                let before = self.walker.events;
                self.entered += u32::from(index == 0);
                self.walker.iterate(id.0)?;
                self.body(body, inside)?;
                if self.walker.events == before {
                    self.walker.idle(self.rank, id.0)?;
                }
                Ok(())
            }
            Repeats::Event { key, children, .. } => {
                self.read_values(id.0)?;
                self.walker.events += 1;
                let entered = std::mem::take(&mut self.entered);
                (self.visit)(Execution {
                    item: id,
                    key: *key,
                    values: &self.values,
                    indices: &self.indices,
                    inside,
                    entered,
                })?;
                self.body(children, inside + 1)
            }
        }
    }

    fn read_values(&mut self, item: u32) -> Result<(), StructureError> {
        self.values.clear();
        let (repeated, rank) = (&self.walker.structure.items[item as usize], self.rank);
        let readers = &mut self.walker.reader(item, rank).columns;
        for column in 0..readers.get_or_insert_with(|| column_readers(repeated, rank)).len() {
            let readers = self.walker.reader(item, rank).columns.as_mut();
            let reader = readers.and_then(|readers| readers.get_mut(column)?.as_mut());
            let value = reader.and_then(|reader| reader.next(&self.indices));
            let value = value.ok_or(StructureError::Value { rank: self.rank, item, column })?;
            self.values.push(self.walker.value(item, column as u32 + 1, value)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
