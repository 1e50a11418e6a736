//! The resolving side of an import: raw calls in, rows of a part out.

use crate::intake::Taker;
use crate::rows::{PATHS_MEMORY, Rows};
use iotrail_model::raw::RawItem;
use iotrail_model::{CaseId, Dictionaries, FileId, Tid};
use iotrail_resolve::{Resolver, Summary};

/// What resolving a job told.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) summary: Summary,
    pub(crate) events: u64,
    pub(crate) with_duration: u64,
}

/// See the [module](self).
pub(crate) struct Resolving<'r> {
    resolver: Resolver,
    rows: &'r mut Rows,
    /// Events, and those with a duration, before the present job.
    before: (u64, u64),
    paths_limit: usize,
    pub(crate) resolved: Vec<Resolved>,
}

impl<'r> Resolving<'r> {
    pub(crate) fn new(rows: &'r mut Rows) -> Self {
        Self {
            resolver: Resolver::new(),
            rows,
            before: (0, 0),
            paths_limit: PATHS_MEMORY,
            resolved: Vec::new(),
        }
    }
}

impl Taker for Resolving<'_> {
    fn begin(&mut self, first: CaseId, own_files: bool, names: &mut Dictionaries) {
        let resolver = if own_files { Resolver::with_a_file_per_thread() } else { Resolver::new() };
        self.resolver = resolver.of_trace();
        self.before = (self.rows.events, self.rows.with_duration);
        self.rows.numbering(first, FileId(names.files));
    }

    #[inline]
    fn item(&mut self, case: CaseId, item: &RawItem<'_>, names: &mut Dictionaries) {
        self.resolver.item(case, item, names, self.rows);
    }

    fn over(&mut self, tid: Tid, names: &mut Dictionaries) {
        self.resolver.over(tid, names, self.rows);
    }

    /// Keeps the path dictionary from growing without bound.
    fn pause(&mut self, names: &mut Dictionaries) -> bool {
        if names.paths.memory() > self.paths_limit && self.rows.goes_on() {
            self.rows.rotate(names);
            self.resolver.rotate(names);
            self.paths_limit = PATHS_MEMORY.max(2 * names.paths.memory());
        }
        self.rows.goes_on()
    }

    fn end(&mut self, names: &mut Dictionaries) -> bool {
        self.resolver.finish(names, self.rows);
        self.resolved.push(Resolved {
            summary: self.resolver.summary(),
            events: self.rows.events - self.before.0,
            with_duration: self.rows.with_duration - self.before.1,
        });
        self.rows.goes_on()
    }
}
