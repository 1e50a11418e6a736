//! The loop tree of sequences of events.
//!
//! Defined on whole sequences, not by what has been seen so far: where they are cut depends only on the keys of the
//! events and their order, so every rank that knows all sequences builds the same tree. What changes from one
//! execution to the next (counts, parameters, times) never keeps sequences from folding.
//!
//! Source: Scala-H-Trace, sections 2.1, 4.1 and 4.2, of which RSDs and PRSDs are the items here.

mod build;
mod components;
mod counts;
mod cut;
mod parts;
mod positions;
mod row;
mod sequences;
#[cfg(test)]
mod tests;
mod walk;

pub use build::build;
pub use counts::Counts;
pub use positions::Positions;
pub use sequences::{EventId, Key, KeyId, Sequences, SequencesError};
pub use walk::{TreeWalker, Visit};

/// Which order of events a tree keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Every one: a tree gives back its sequences.
    Exact,
    /// Keys that change their order share an item, except collectives; a tree of K keys has at most 2 K items that
    /// are no collectives.
    Loose,
}

/// The index of an item of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemId(pub u32);

/// How often something is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// For each execution of the body that the item is in.
    pub counts: Counts,
    /// What is executed.
    pub what: What,
}

/// What an item repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An event.
    Event {
        /// What all its executions have in common.
        key: KeyId,
        /// Its executions in order.
        events: Vec<EventId>,
        /// What was called inside; executed once for each of `events`.
        children: Vec<ItemId>,
    },
    /// A loop around these items.
    Loop(Vec<ItemId>),
}

impl What {
    /// The items inside.
    fn body(&self) -> &[ItemId] {
        match self {
            Self::Loop(body) | Self::Event { children: body, .. } => body,
        }
    }
}

/// Sequences of events as nested loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    items: Vec<Item>,
    root: Vec<ItemId>,
}

impl Tree {
    /// The items of the outermost body, which is executed once for each sequence.
    #[must_use]
    pub fn root(&self) -> &[ItemId] {
        &self.root
    }

    /// Number of items, on all levels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there was no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// One item.
    #[must_use]
    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0 as usize]
    }

    /// Walks its sequences.
    #[must_use]
    pub fn walker(&self) -> TreeWalker<'_> {
        TreeWalker::new(self)
    }

    fn push(&mut self, item: Item) -> ItemId {
        let id = ItemId(self.items.len() as u32);
        self.items.push(item);
        id
    }
}
