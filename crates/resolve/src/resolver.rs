//! The resolver.

use crate::{Sink, Summary};
use iotrail_model::raw::RawItem;
use iotrail_model::{CaseId, Dictionaries};

/// Turns raw items into events.
///
/// One resolver serves one process tree. Several cases in one resolver are the files of one trace that was written with
/// a file per thread: they share process ids, and `seq` counts per case.
#[derive(Debug, Default)]
pub struct Resolver {
    summary: Summary,
}

impl Resolver {
    /// A resolver that knows no process yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one item of `case`. Events come out at once, except those of a thread whose parent is not yet known.
    pub fn item<S: Sink>(
        &mut self,
        _case: CaseId,
        _item: &RawItem<'_>,
        _names: &mut Dictionaries,
        _sink: &mut S,
    ) {
    }

    /// The trace is over: hands out what was held back and the processes that are still alive.
    pub fn finish<S: Sink>(&mut self, _names: &mut Dictionaries, _sink: &mut S) {}

    /// Rebuilds `names.paths` with the paths that live descriptors and processes still need. Ids of paths in earlier
    /// events are void afterwards.
    pub fn rotate(&mut self, _names: &mut Dictionaries) {}

    /// What can be said so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.summary.clone()
    }
}
