//! The events of lines as sequences, with calls inside of the calls that made them.

use crate::lines::LineEvent;
use iotrail_structure::{EventId, Key, KeyId, Sequences, SequencesError};

/// How many calls are around each event of a line: a call is inside of its `parent` as long as that is open.
pub(crate) fn nesting(events: &[LineEvent]) -> Vec<usize> {
    let mut around: Vec<u64> = Vec::new();
    let inside = |LineEvent { event, .. }: &LineEvent| {
        let parent = event.parent.get().and_then(|parent| around.iter().rposition(|&seq| seq == parent));
        let inside = parent.map_or(0, |parent| parent + 1).min(Sequences::MAX_NESTING);
        around.truncate(inside);
        around.push(event.seq);
        inside
    };
    events.iter().map(inside).collect()
}

/// Sequences under construction, with the row of each of their events.
#[derive(Debug)]
pub(crate) struct SequenceBuilder {
    pub(crate) sequences: Sequences,
    /// By index of the event.
    pub(crate) rows: Vec<u32>,
}

impl SequenceBuilder {
    pub(crate) fn new(keys: Vec<Key>) -> Self {
        Self { sequences: Sequences::new(keys), rows: Vec::new() }
    }

    /// Adds a line, of whose events these are the keys and the number of calls around; its rows are those from `first`
    /// on.
    pub(crate) fn add(
        &mut self,
        keys: &[KeyId],
        inside: &[usize],
        first: usize,
    ) -> Result<(), SequencesError> {
        let rows = at_level(inside, 0..inside.len(), 0);
        let events = self.sequences.sequence(rows.iter().map(|&row| keys[row]))?;
        let mut waiting = vec![(events.start, rows, inside.len())];
        while let Some((event, rows, end)) = waiting.pop() {
            self.rows.resize(self.rows.len().max(event as usize + rows.len()), 0);
            for (number, &row) in rows.iter().enumerate() {
                self.rows[event as usize + number] = (first + row) as u32;
                let next = rows.get(number + 1).copied().unwrap_or(end);
                if next > row + 1 {
                    let children = at_level(inside, row + 1..next, inside[row] + 1);
                    let parent = EventId(event + number as u32);
                    let added = self.sequences.children(parent, children.iter().map(|&row| keys[row]))?;
                    waiting.push((added.start, children, next));
                }
            }
        }
        Ok(())
    }
}

fn at_level(inside: &[usize], rows: std::ops::Range<usize>, level: usize) -> Vec<usize> {
    rows.filter(|&row| inside[row] == level).collect()
}
