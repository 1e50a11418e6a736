//! Where executions stand.

use std::ops::Range;

use super::Counts;

/// For each execution of an item, by sequence and in order: which iteration of each loop around it, the outermost
/// first, and which repetition of the item itself; all counted from 0.
#[derive(Clone, Debug)]
pub struct Positions {
    width: usize,
    indices: Vec<u32>,
    /// Executions up to the end of each sequence.
    ends: Vec<usize>,
}

impl Positions {
    /// Of the outermost body, which each sequence executes once.
    #[must_use]
    pub fn root(sequences: u32) -> Self {
        Self { width: 0, indices: Vec::new(), ends: (1..=sequences as usize).collect() }
    }

    /// Of an item in the body that is executed at these positions.
    #[must_use]
    pub fn inside(&self, counts: &Counts) -> Self {
        let mut inside = Self { width: self.width + 1, indices: Vec::new(), ends: Vec::new() };
        let mut counts = counts.iter().peekable();
        let mut total = 0;
        for &end in &self.ends {
            while let Some((execution, count)) = counts.next_if(|&(execution, _)| (execution as usize) < end)
            {
                for index in 0..count {
                    inside.indices.extend_from_slice(self.at(execution as usize));
                    inside.indices.push(index);
                }
                total += count as usize;
            }
            inside.ends.push(total);
        }
        inside
    }

    /// The indices of an execution.
    #[must_use]
    pub fn at(&self, execution: usize) -> &[u32] {
        &self.indices[execution * self.width..(execution + 1) * self.width]
    }

    /// Sequences that execute the item, each with its executions.
    pub fn sequences(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, &end)| start..end);
        (0..).zip(ranges).filter(|(_, range)| !range.is_empty())
    }
}
