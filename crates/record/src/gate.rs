//! What stands between resolver and store: what is not wanted, not allowed or not possible to keep is counted here.

use crate::decode::CallSet;
use crate::plan::Limits;
use crate::store::Store;
use iotrail_model::calls::{self, Family, Transfer};
use iotrail_model::recording_coverage::{Counts, count};
use iotrail_model::{Dictionaries, Event, NamedFile, PathId, Process};
use iotrail_resolve::Sink;

const BY_MAX_EVENTS: &str = "--max-events";
const BY_MAX_SIZE: &str = "--max-size";
const BY_SAMPLE: &str = "--sample";
const NO_FILE: &str = "memory of no file";

/// Lets the wanted events through.
#[derive(Debug)]
pub(crate) struct Gate<'s, S> {
    store: &'s mut S,
    calls: CallSet,
    limits: Limits,
    transfers: u64,
    /// Events that were kept.
    pub(crate) events: u64,
    /// Events left out, by reason.
    pub(crate) left_out: Counts,
    /// Events that could not be kept, by reason.
    pub(crate) lost: Counts,
    /// Why nothing can be kept any more; asked for once.
    failure: Option<String>,
}

impl<'s, S: Store> Gate<'s, S> {
    pub(crate) fn new(store: &'s mut S, calls: CallSet, limits: Limits) -> Self {
        Self {
            store,
            calls,
            limits,
            transfers: 0,
            events: 0,
            left_out: Counts::new(),
            lost: Counts::new(),
            failure: None,
        }
    }

    pub(crate) fn store(&mut self) -> &mut S {
        self.store
    }

    /// Why an event is left out, if it is.
    fn unwanted(&mut self, event: &Event) -> Option<&'static str> {
        let spec = calls::spec(event.call);
        if event.path.is_null()
            && spec.is_some_and(|spec| spec.family == Family::Memory && spec.name != "mmap")
        {
            return Some(NO_FILE);
        }
        if let Some(sample) = self.limits.sample
            && spec.is_some_and(|spec| spec.transfer != Transfer::None)
        {
            self.transfers += 1;
            if !(self.transfers - 1).is_multiple_of(sample.get()) {
                return Some(BY_SAMPLE);
            }
        }
        if self.limits.max_events.is_some_and(|most| self.events >= most) {
            return Some(BY_MAX_EVENTS);
        }
        self.limits.max_size.is_some_and(|most| self.store.bytes() >= most).then_some(BY_MAX_SIZE)
    }
}

impl<S: Store> Sink for Gate<'_, S> {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        if !self.calls.contains(event.call) {
            return;
        }
        if let Some(reason) = self.unwanted(event) {
            count(&mut self.left_out, reason, 1);
            return;
        }
        if let Some(reason) = &self.failure {
            count(&mut self.lost, reason, 1);
            return;
        }
        self.store.event(event, names);
        match self.store.failure() {
            None => self.events += 1,
            Some(reason) => {
                count(&mut self.lost, &reason, 1);
                self.failure = Some(reason);
            }
        }
    }

    fn process(&mut self, process: Process) {
        self.store.process(process);
    }

    fn image(&mut self, process: &Process) {
        self.store.image(process);
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        self.store.file(path, file, names);
    }
}
