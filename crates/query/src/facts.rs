//! What a query must know of an event log.

use iotrail_model::{Case, Layer, Names, Process, Timestamp};

/// The parts of an event log that decide what a query means there.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// All cases; `cases[i].id` is `i`.
    pub cases: &'a [Case],
    /// Dictionaries that the ids of the batch refer to.
    pub names: &'a Names,
    /// The name of each case's trail, by case; shorter lists leave the rest without a name.
    pub trails: &'a [String],
    /// The table `processes`; needed if a case is a process, a thread or an executable image.
    pub processes: &'a [Process],
    /// The layers of its calls, the lowest first.
    pub layers: &'a [Layer],
    /// First and last start of an event of each case's trail, by case; needed if the selection speaks of a trail's time.
    pub spans: &'a [Option<(Timestamp, Timestamp)>],
}

impl<'a> Facts<'a> {
    /// The name of the trail of `case`.
    #[must_use]
    pub fn trail(&self, case: &Case) -> &'a str {
        self.trails.get(case.id.index()).map_or("", String::as_str)
    }
}
