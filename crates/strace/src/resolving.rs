//! The resolving side of an import: items in, rows of a part out.

use crate::intake::Taker;
use iotrail_model::raw::RawItem;
use iotrail_model::{CaseId, Dictionaries, Event, FileId, NamedFile, PathId, Process, Tid};
use iotrail_resolve::{Resolver, Sink, Summary};
use iotrail_trail::{PartSummary, PartWriter, TrailError};

/// The paths of a part may take this much memory before those that are not needed any more are forgotten.
const PATHS_MEMORY: usize = 64 << 20;

/// What resolving a job told.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) summary: Summary,
    pub(crate) events: u64,
    pub(crate) with_duration: u64,
}

/// See the [module](self).
pub(crate) struct Resolving {
    resolver: Resolver,
    rows: Rows,
    /// Events, and those with a duration, before the present job.
    before: (u64, u64),
    paths_limit: usize,
    resolved: Vec<Resolved>,
}

impl Resolving {
    pub(crate) fn new(part: PartWriter) -> Self {
        Self {
            resolver: Resolver::new(),
            rows: Rows { part, error: None, events: 0, with_duration: 0 },
            before: (0, 0),
            paths_limit: PATHS_MEMORY,
            resolved: Vec::new(),
        }
    }

    /// Closes the part; what the jobs told, and how many events there were.
    pub(crate) fn finish(mut self) -> Result<(PartSummary, Vec<Resolved>, u64), TrailError> {
        self.rows.error.take().map_or(Ok(()), Err)?;
        let part = self.rows.part.finish(&Dictionaries::default())?;
        Ok((part, self.resolved, self.rows.events))
    }
}

impl Taker for Resolving {
    fn begin(&mut self, first: CaseId, own_files: bool, names: &mut Dictionaries) {
        let resolver = if own_files { Resolver::with_a_file_per_thread() } else { Resolver::new() };
        self.resolver = resolver.of_trace();
        self.before = (self.rows.events, self.rows.with_duration);
        self.rows.part.numbering(first, FileId(names.files));
    }

    #[inline]
    fn item(&mut self, case: CaseId, item: &RawItem<'_>, names: &mut Dictionaries) {
        self.resolver.item(case, item, names, &mut self.rows);
    }

    fn over(&mut self, tid: Tid, names: &mut Dictionaries) {
        self.resolver.over(tid, names, &mut self.rows);
    }

    /// Keeps the path dictionary from growing without bound.
    fn pause(&mut self, names: &mut Dictionaries) -> bool {
        if names.paths.memory() > self.paths_limit && self.rows.error.is_none() {
            self.rows.error = self.rows.part.rotate(names).err();
            self.resolver.rotate(names);
            self.paths_limit = PATHS_MEMORY.max(2 * names.paths.memory());
        }
        self.rows.error.is_none()
    }

    fn end(&mut self, names: &mut Dictionaries) -> bool {
        self.resolver.finish(names, &mut self.rows);
        self.resolved.push(Resolved {
            summary: self.resolver.summary(),
            events: self.rows.events - self.before.0,
            with_duration: self.rows.with_duration - self.before.1,
        });
        self.rows.error.is_none()
    }
}

/// Hands the resolver's results to the part and keeps the first error.
struct Rows {
    part: PartWriter,
    error: Option<TrailError>,
    events: u64,
    with_duration: u64,
}

impl Sink for Rows {
    #[inline]
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        self.events += 1;
        self.with_duration += u64::from(!event.dur.is_null());
        if self.error.is_none() {
            self.error = self.part.push(event, names).err();
        }
    }

    fn process(&mut self, process: Process) {
        if self.error.is_none() {
            self.error = self.part.push_process(&process).err();
        }
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        if self.error.is_none() {
            self.error = self.part.push_file(names.paths.get(path.0), file).err();
        }
    }
}
