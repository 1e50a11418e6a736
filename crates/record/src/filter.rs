//! Between resolver and store: what is not wanted, not allowed or not possible to keep is counted here.

use crate::plan::Limits;
use crate::store::Store;
use iotrail_decode::CallSet;
use iotrail_model::calls::{self, CallKind, Family, Transfer};
use iotrail_model::recording_coverage::NO_FILE;
use iotrail_model::recording_coverage::{Counts, count};
use iotrail_model::{CallId, Coverage, Dictionaries, Event, Layer, NamedFile, PathId, Process, Site, SiteId};
use iotrail_resolve::Sink;
use std::num::NonZeroU64;

const BY_MAX_EVENTS: &str = "limit of events";
const BY_MAX_SIZE: &str = "limit of size";
const BY_SAMPLE: &str = "sample";

/// Lets the wanted events through.
#[derive(Debug)]
pub(crate) struct Filter<'s, S> {
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
}

impl<'s, S: Store> Filter<'s, S> {
    pub(crate) fn new(store: &'s mut S, calls: CallSet, limits: Limits) -> Self {
        Self { store, calls, limits, transfers: 0, events: 0, left_out: Counts::new(), lost: Counts::new() }
    }

    /// There is something to keep from now on.
    pub(crate) fn begun(&mut self) {
        self.store.begun();
    }

    /// Ids of names mean something else from now on.
    pub(crate) fn rotated(&mut self) {
        self.store.rotated();
    }

    /// Keeps a call site; answers whether it is kept.
    pub(crate) fn site(&mut self, site: SiteId, of: &Site) -> bool {
        self.store.site(site, of).is_ok()
    }

    /// Keeps a statement of what was seen so far. If it is not kept, the last one says it.
    pub(crate) fn state(&mut self, coverage: &Coverage) {
        let _ = self.store.coverage(coverage);
    }

    /// One of so many transfers is kept, if not all are.
    pub(crate) fn sample(&self) -> Option<u64> {
        self.limits.sample.map(NonZeroU64::get)
    }

    /// Why an event is left out, if it is.
    fn unwanted(&mut self, event: &Event) -> Option<&'static str> {
        let spec = calls::spec(event.call);
        // An anonymous mapping is looked at because it may take the place of a file, whatever the kernel was asked for.
        if event.path.is_null()
            && spec.is_some_and(|spec| match spec.kind {
                CallKind::Map => event.fd.is_null() && !self.calls.holds_all(),
                _ => spec.family == Family::Memory,
            })
        {
            return Some(NO_FILE);
        }
        if let Some(sample) = self.limits.sample
            && spec.is_some_and(|spec| spec.transfer != Transfer::None)
        {
            self.transfers += 1;
            if !is_drawn(event, self.transfers, sample.get()) {
                return Some(BY_SAMPLE);
            }
        }
        if self.limits.max_events.is_some_and(|most| self.events >= most) {
            return Some(BY_MAX_EVENTS);
        }
        self.limits.max_size.is_some_and(|most| self.store.bytes() >= most).then_some(BY_MAX_SIZE)
    }
}

/// Whether a transfer is in a sample of one of `each`. Drawn by a hash, so that whatever pattern transfers follow, each kind
/// of them keeps its share.
fn is_drawn(event: &Event, number: u64, each: u64) -> bool {
    let open = u64::from(event.pid.0) << 32 | u64::from(event.fd.get().unwrap_or(-1).cast_unsigned());
    let parts = [open, u64::from(event.call.0), number];
    let hash = parts.iter().fold(0, |hash, part| mix(hash ^ part));
    // The upper half of the product is a number below `each`, evenly.
    (u128::from(hash) * u128::from(each)) >> 64 == 0
}

/// The finaliser of SplitMix64: each bit of the number changes half of the bits of the result.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl<S: Store> Sink for Filter<'_, S> {
    fn asks(&self, call: CallId) -> bool {
        self.calls.contains(call)
    }

    fn event(&mut self, event: &Event, names: &Dictionaries) {
        if event.layer == Layer::Syscall && !self.asks(event.call) {
            return;
        }
        if let Some(reason) = self.unwanted(event) {
            count(&mut self.left_out, reason, 1);
            return;
        }
        // A store that has failed says so of each event that it is offered.
        match self.store.event(event, names) {
            Ok(()) => self.events += 1,
            Err(error) => count(&mut self.lost, &error.to_string(), 1),
        }
    }

    // What is said of images and files repeats what events say; losses are counted by events.
    fn process(&mut self, process: Process) {
        let _ = self.store.process(&process);
    }

    fn image(&mut self, process: &Process) {
        let _ = self.store.image(process);
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        let _ = self.store.file(path, file, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;
    use iotrail_model::{CallId, Nullable, Pid, Tid};

    #[test]
    fn each_kind_of_transfer_keeps_its_share_whatever_their_order() {
        for each in [2, 10, 97] {
            for period in [1, 2, 10, each] {
                let mut drawn = vec![0_u64; period as usize];
                let rounds = 1000 * each;
                for number in 0..rounds * period {
                    let kind = number % period;
                    let event = Event {
                        pid: Pid(7),
                        call: CallId(kind as u32),
                        fd: Nullable::some(3),
                        ..Event::default()
                    };
                    drawn[kind as usize] += u64::from(is_drawn(&event, number, each));
                }
                // Expected are 1000 of each kind, give or take 32.
                assert!(drawn.iter().all(|drawn| (840..1160).contains(drawn)), "{each} {period} {drawn:?}");
            }
        }
    }

    /// Keeps three events and then fails; refuses those without a thread.
    #[derive(Default)]
    struct Small(u64);

    impl Store for Small {
        fn event(&mut self, event: &Event, _names: &Dictionaries) -> Result<(), StoreError> {
            if event.tid.0 == 0 {
                return Err(StoreError::Refused("too long"));
            }
            self.0 += 1;
            if self.0 > 3 { Err(StoreError::Failed("the disk is full".to_owned())) } else { Ok(()) }
        }

        fn process(&mut self, _process: &Process) -> Result<(), StoreError> {
            Err(StoreError::Failed("the disk is full".to_owned()))
        }

        fn bytes(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn what_a_store_does_not_keep_is_counted_with_its_reason() {
        let mut store = Small::default();
        let calls = CallSet::parse("all").unwrap();
        let mut filter = Filter::new(&mut store, calls, Limits::default());
        let (names, call) = (Dictionaries::default(), calls::id("read").unwrap());
        for tid in [1, 1, 0, 1, 1, 0, 1] {
            filter.event(&Event { call, tid: Tid(tid), ..Event::default() }, &names);
        }
        assert_eq!(filter.events, 3);
        let lost = [("the disk is full".to_owned(), 2), ("too long".to_owned(), 2)];
        assert_eq!(filter.lost.iter().map(|(why, times)| (why.clone(), *times)).collect::<Vec<_>>(), lost);
    }

    #[test]
    fn one_of_one_is_all() {
        assert!((0..1000).all(|number| is_drawn(&Event::default(), number, 1)));
    }
}
