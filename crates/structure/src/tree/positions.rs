//! Where executions stand.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Counts;
use crate::RankList;

/// For each execution of an item, by sequence and in order: which iteration of each loop around it, the outermost
/// first, and which repetition of the item itself; all counted from 0.
#[derive(Clone, Debug)]
pub struct Positions {
    width: usize,
    indices: Vec<u32>,
    /// Sequences that execute the item, each with the number of executions up to its end.
    ends: Vec<(u32, usize)>,
    ranks: OnceLock<Arc<RankList>>,
}

impl Positions {
    /// Of the outermost body, which each sequence executes once.
    #[must_use]
    pub fn root(sequences: u32) -> Self {
        Self::new(0, Vec::new(), (0..sequences).zip(1..).collect())
    }

    fn new(width: usize, indices: Vec<u32>, ends: Vec<(u32, usize)>) -> Self {
        Self { width, indices, ends, ranks: OnceLock::new() }
    }

    /// Of an item in the body that is executed at these positions.
    #[must_use]
    pub fn inside(&self, counts: &Counts) -> Self {
        let (mut indices, mut ends) = (Vec::new(), Vec::<(u32, usize)>::new());
        let (mut total, mut index) = (0, 0);
        for (execution, count) in counts.iter() {
            index += self.ends[index..].partition_point(|&(_, end)| end <= execution as usize);
            let Some(&(sequence, _)) = self.ends.get(index) else { break };
            for repetition in 0..count {
                indices.extend_from_slice(self.at(execution as usize));
                indices.push(repetition);
            }
            total += count as usize;
            match ends.last_mut() {
                Some((last, end)) if *last == sequence => *end = total,
                _ => ends.push((sequence, total)),
            }
        }
        Self::new(self.width + 1, indices, ends)
    }

    /// The indices of an execution.
    #[must_use]
    pub fn at(&self, execution: usize) -> &[u32] {
        &self.indices[execution * self.width..(execution + 1) * self.width]
    }

    /// How many indices an execution has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// All executions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.last().map_or(0, |&(_, end)| end)
    }

    /// Whether there is no execution.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sequences that execute the item, each with its executions.
    pub fn sequences(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(sequence, end))| (sequence, start..end))
    }

    /// The set of sequences that execute the item.
    #[must_use]
    pub fn ranks(&self) -> &Arc<RankList> {
        self.ranks.get_or_init(|| Arc::new(RankList::new(self.ends.iter().map(|&(sequence, _)| sequence))))
    }
}
