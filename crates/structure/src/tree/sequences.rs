//! What trees are built of: sequences of events of which only the key counts.

use std::ops::Range;

use hashbrown::HashMap;
use thiserror::Error;

/// The index of a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(pub u32);

/// The index of an event, in the order in which events were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventId(pub u32);

/// What building a tree has to know of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Members of the largest communicator of a collective call; NULL of all other calls.
    pub members: Option<u32>,
}

/// Why sequences were not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SequencesError {
    /// Indices of events have 32 bits.
    #[error("more than {} events", u32::MAX)]
    Events,
    /// Calls are inside calls, further than those of libraries are.
    #[error("calls inside calls are more than {} deep", Sequences::MAX_NESTING)]
    Nesting,
    /// The event was not added, or its children were before.
    #[error("event {0} takes no children: it does not exist, or it has some")]
    Parent(u32),
    /// The key is not one of those given.
    #[error("key {0} does not exist")]
    Key(u32),
}

/// A key that is repeated directly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) key: KeyId,
    pub(super) first: u32,
    pub(super) len: u32,
}

/// Runs of one execution of a body, by index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Span {
    pub(super) fn is_empty(self) -> bool {
        self.from == self.to
    }

    pub(super) fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// Sequences of events, one for each rank and thread, and what was called inside of events.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    pub(super) keys: Vec<Key>,
    pub(super) runs: Vec<Run>,
    pub(super) roots: Vec<Span>,
    children: HashMap<EventId, Span>,
    /// Events below others, in the order of their indices: where each such sequence begins, and its depth.
    depths: Vec<(u32, u8)>,
    events: u32,
}

impl Sequences {
    /// Calls inside of calls that are accepted; libraries have two or three.
    pub const MAX_NESTING: usize = 32;

    /// No sequence yet of events of these keys.
    #[must_use]
    pub fn new(keys: Vec<Key>) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Adds the next sequence, in order of rank and thread, and returns the indices of its events.
    ///
    /// # Errors
    /// There are too many events, or a key does not exist.
    pub fn sequence(&mut self, keys: impl IntoIterator<Item = KeyId>) -> Result<Range<u32>, SequencesError> {
        let (span, events) = self.add(keys, 0)?;
        self.roots.push(span);
        Ok(events)
    }

    /// Adds what was called inside of an event.
    ///
    /// # Errors
    /// The event is not there or has children, calls are too deep, there are too many events, or a key does not exist.
    pub fn children(
        &mut self,
        parent: EventId,
        keys: impl IntoIterator<Item = KeyId>,
    ) -> Result<Range<u32>, SequencesError> {
        if parent.0 >= self.events || self.children.contains_key(&parent) {
            return Err(SequencesError::Parent(parent.0));
        }
        let depth = self.depth(parent) + 1;
        if usize::from(depth) > Self::MAX_NESTING {
            return Err(SequencesError::Nesting);
        }
        let (span, events) = self.add(keys, depth)?;
        self.children.insert(parent, span);
        Ok(events)
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.events
    }

    /// Whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    pub(super) fn inside(&self, event: EventId) -> Span {
        self.children.get(&event).copied().unwrap_or_default()
    }

    pub(super) fn is_collective(&self, key: KeyId) -> bool {
        self.keys[key.0 as usize].members.is_some()
    }

    fn depth(&self, event: EventId) -> u8 {
        let index = self.depths.partition_point(|&(first, _)| first <= event.0);
        index.checked_sub(1).map_or(0, |index| self.depths[index].1)
    }

    fn add(
        &mut self,
        keys: impl IntoIterator<Item = KeyId>,
        depth: u8,
    ) -> Result<(Span, Range<u32>), SequencesError> {
        let (from, start) = (self.runs.len(), self.events);
        let added = self.append(keys, from);
        if let Err(error) = added {
            self.runs.truncate(from);
            self.events = start;
            return Err(error);
        }
        if self.depths.last().map_or(0, |&(_, last)| last) != depth {
            self.depths.push((start, depth));
        }
        Ok((Span { from: from as u32, to: self.runs.len() as u32 }, start..self.events))
    }

    fn append(&mut self, keys: impl IntoIterator<Item = KeyId>, from: usize) -> Result<(), SequencesError> {
        for key in keys {
            if key.0 as usize >= self.keys.len() {
                return Err(SequencesError::Key(key.0));
            }
            let next = self.events.checked_add(1).ok_or(SequencesError::Events)?;
            match self.runs[from..].last_mut() {
                Some(run) if run.key == key => run.len += 1,
                _ => self.runs.push(Run { key, first: self.events, len: 1 }),
            }
            self.events = next;
        }
        Ok(())
    }
}
