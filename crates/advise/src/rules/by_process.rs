//! Values by process, in the order of processes. Most files are used by one process: a list takes a tenth of what a tree takes.

use iotrail_query::ProcessId;

pub(crate) struct ByProcess<V>(Vec<(ProcessId, V)>);

impl<V> Default for ByProcess<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> ByProcess<V> {
    pub(crate) fn get_or_insert_with(&mut self, process: ProcessId, value: impl FnOnce() -> V) -> &mut V {
        let place = self.place(process);
        if let Err(at) = place {
            self.0.reserve_exact(usize::from(self.0.is_empty()));
            self.0.insert(at, (process, value()));
        }
        let (Ok(at) | Err(at)) = place;
        &mut self.0[at].1
    }

    pub(crate) fn get(&self, process: ProcessId) -> Option<&V> {
        self.place(process).ok().map(|at| &self.0[at].1)
    }

    pub(crate) fn get_mut(&mut self, process: ProcessId) -> Option<&mut V> {
        let at = self.place(process).ok()?;
        Some(&mut self.0[at].1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(ProcessId, V)> {
        self.0.iter()
    }

    fn place(&self, process: ProcessId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&process, |(process, _)| *process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_one_value() {
        let mut values = ByProcess::<u32>::default();
        for (process, value) in [(5, 1), (2, 10), (9, 100), (2, 1000)] {
            *values.get_or_insert_with(ProcessId(process), || 0) += value;
        }
        let expected = [(2, 1010), (5, 1), (9, 100)].map(|(process, value)| (ProcessId(process), value));
        assert_eq!(values.iter().copied().collect::<Vec<_>>(), expected);
        assert_eq!((values.get(ProcessId(5)), values.get(ProcessId(6))), (Some(&1), None));
    }
}
