//! The rows of one part of a trail, which events and what belongs to them become: the second door, and the end of the first.

use iotrail_model::{CaseId, Dictionaries, Event, FileId, NamedFile, PathId, Process};
use iotrail_resolve::Sink;
use iotrail_trail::{PartSummary, PartWriter, TrailError};

/// The paths of a part may take this much memory before those that are not needed any more are forgotten.
pub(crate) const PATHS_MEMORY: usize = 64 << 20;

/// The rows of one part of a trail. The first error is kept until the end; after it nothing more is taken.
#[derive(Debug)]
pub struct Rows {
    part: PartWriter,
    error: Option<TrailError>,
    pub(crate) events: u64,
    pub(crate) with_duration: u64,
}

impl Rows {
    pub(crate) const fn new(part: PartWriter) -> Self {
        Self { part, error: None, events: 0, with_duration: 0 }
    }

    /// Whether more is taken.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.error.is_none()
    }

    /// A job begins, whose first case is this; files are numbered from `from` on.
    pub(crate) fn numbering(&mut self, first: CaseId, from: FileId) {
        self.part.numbering(first, from);
    }

    /// From here on the ids of `names` may change their meaning.
    pub(crate) fn rotate(&mut self, names: &Dictionaries) {
        if self.error.is_none() {
            self.error = self.part.rotate(names).err();
        }
    }

    /// Keeps the paths in `names` from growing without bound: afterwards all ids of paths may have lost their meaning. False if
    /// nothing more is taken.
    pub fn pause(&mut self, names: &mut Dictionaries) -> bool {
        if names.paths.memory() > PATHS_MEMORY {
            self.rotate(names);
            names.paths = Default::default();
        }
        self.goes_on()
    }

    /// Adds an event; the ids of its names are those of `names`.
    #[inline]
    pub fn add_event(&mut self, event: &Event, names: &Dictionaries) {
        self.events += 1;
        self.with_duration += u64::from(!event.dur.is_null());
        if self.error.is_none() {
            self.error = self.part.push(event, names).err();
        }
    }

    /// Adds a process.
    pub fn add_process(&mut self, process: &Process) {
        if self.error.is_none() {
            self.error = self.part.push_process(process).err();
        }
    }

    /// Closes the part, and says how many events there were.
    pub(crate) fn finish(self) -> Result<(PartSummary, u64), TrailError> {
        self.error.map_or(Ok(()), Err)?;
        Ok((self.part.finish(&Dictionaries::default())?, self.events))
    }
}

impl Sink for Rows {
    #[inline]
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        self.add_event(event, names);
    }

    fn process(&mut self, process: Process) {
        self.add_process(&process);
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        if self.error.is_none() {
            self.error = self.part.push_file(names.paths.get(path.0), file).err();
        }
    }
}
