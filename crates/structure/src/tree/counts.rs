//! How often an item is executed in each execution of its body.

/// A column of counts in the space of those that are not 0, with the executions of the item that each stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions of the body in which the item is executed, each with the number of all executions up to its end.
    ends: Vec<(u32, u32)>,
}

impl Counts {
    /// Adds the count of an execution of the body, which follows all those that were added.
    pub(crate) fn push(&mut self, execution: u32, count: u32) {
        debug_assert!(self.ends.last().is_none_or(|&(last, _)| last < execution));
        if count > 0 {
            self.ends.push((execution, self.total() + count));
        }
    }

    /// Executions of the body with a count above 0, and that count.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        self.ends.iter().zip(starts).map(|(&(execution, end), start)| (execution, end - start))
    }

    /// All executions of the item.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.ends.last().map_or(0, |&(_, end)| end)
    }
}
