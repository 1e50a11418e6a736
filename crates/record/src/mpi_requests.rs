//! Which requests of MPI a call makes, starts and completes.
//!
//! A handle may stand for several requests at a time (MPICH has one for all that are over at once): they are taken in the order
//! in which they were begun.

use iotrail_model::Tid;
use iotrail_model::requests::{Request, Requests};
use iotrail_mpi_abi::{Completed, Record, RequestUse};
use std::collections::{BTreeSet, VecDeque};

/// Handles that are remembered for each process.
pub(crate) const MOST_HANDLES: usize = 1 << 16;

pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;

/// Requests of one call that are looked at.
const MOST_GIVEN: usize = 1 << 20;

/// What a thread has told of the requests of its present call.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// Those of the call that is to begin.
    next: Vec<u64>,
    /// Those of the call that has begun.
    handles: Vec<u64>,
    /// The places of those that it has completed.
    places: Vec<u32>,
}

impl Given {
    /// Requests of the call that begins next.
    pub(crate) fn adds_handles(&mut self, handles: impl Iterator<Item = u64>) -> Option<()> {
        self.next.extend(handles);
        (self.next.len() <= MOST_GIVEN).then_some(())
    }

    /// Places of requests that the call has completed.
    pub(crate) fn adds_places(&mut self, places: impl Iterator<Item = u32>) -> Option<()> {
        self.places.extend(places);
        (self.places.len() <= MOST_GIVEN).then_some(())
    }

    /// A call begins.
    pub(crate) fn enters(&mut self) {
        self.handles.clear();
        self.places.clear();
        std::mem::swap(&mut self.next, &mut self.handles);
    }

    /// The call returned: the requests that it is about; none if it failed.
    pub(crate) fn returns(&mut self, record: &Record) -> Option<Vec<u64>> {
        let handles = std::mem::take(&mut self.handles);
        if record.returned != 0 {
            return None;
        }
        let at = |place: u32| handles.get(place as usize).copied();
        Some(match record.completed {
            Completed::None | Completed::All => handles,
            Completed::One(place) => at(place).into_iter().collect(),
            Completed::Listed => self.places.iter().filter_map(|place| at(*place)).collect(),
        })
    }
}

/// What a persistent request moves each time it is started, or what a call moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) comm: Option<i32>,
    pub(crate) peer: Option<i32>,
    pub(crate) tag: Option<i32>,
    pub(crate) sent: Option<i64>,
    pub(crate) received: Option<i64>,
}

/// A request that is not over.
#[derive(Debug)]
enum Live {
    /// It goes on since its thread began it, as its so manieth.
    Once(Tid, u64),
    /// It can be started often.
    Often { number: u32, by: &'static str, moves: Made, is_started: bool },
}

/// The requests of a process.
#[derive(Debug, Default)]
pub(crate) struct LiveRequests {
    by_handle: Map<u64, VecDeque<Live>>,
    /// How many are in `by_handle`.
    live: usize,
    /// How many each thread has begun.
    begun: Map<Tid, u64>,
    /// Numbers of persistent ones that were given back, and the next one.
    free: BTreeSet<u32>,
    next: u32,
}

impl LiveRequests {
    /// Follows a call that succeeded and moved so much, with what it does to requests and those that it was given; what it moved, and its
    /// arguments in words.
    pub(crate) fn follow(
        &mut self,
        tid: Tid,
        (name, requests): (&'static str, RequestUse),
        record: &Record,
        (given, moved): (Vec<u64>, Made),
    ) -> (Made, Option<String>) {
        let (mut moved, mut list, mut by, mut bytes) = (moved, Vec::new(), None, None);
        match requests {
            RequestUse::None => return (moved, None),
            RequestUse::Makes => {
                let number = self.begun.entry(tid).or_default();
                *number += 1;
                let number = *number;
                self.add(record.request, Live::Once(tid, number));
                return (moved, None);
            }
            RequestUse::MakesPersistent => {
                let number = self.free.pop_first().unwrap_or_else(|| {
                    self.next += 1;
                    self.next - 1
                });
                let live = Live::Often { number, by: name, moves: moved, is_started: false };
                self.add(record.request, live);
                list.push(Request::Persistent(number));
                bytes = moved.sent.and_then(|sent| u64::try_from(sent).ok());
                (moved.sent, moved.received) = (None, None);
            }
            RequestUse::Starts => {
                let started: Vec<(Request, &str, Made)> =
                    given.iter().filter_map(|handle| self.start(*handle)).collect();
                list.extend(started.iter().map(|(request, ..)| *request));
                moved = together(started.iter().map(|(.., moves)| *moves));
                let first = started.first().map(|(_, by, _)| *by);
                by = first.filter(|first| started.iter().all(|(_, by, _)| by == first));
            }
            RequestUse::Completes if record.completed == Completed::None => {}
            RequestUse::Completes => {
                list.extend(given.iter().filter_map(|handle| self.complete(tid, *handle)));
            }
            RequestUse::Frees => list.extend(given.iter().filter_map(|handle| self.free(tid, *handle))),
            RequestUse::Names => list.extend(given.iter().filter_map(|handle| self.request(tid, *handle))),
        }
        (moved, Requests { list, by, bytes }.to_text())
    }

    fn add(&mut self, handle: u64, live: Live) {
        if handle == 0 || self.live >= MOST_HANDLES {
            return;
        }
        let others = self.by_handle.entry(handle).or_default();
        let before = others.len();
        // Only requests that are not persistent share a handle: who has it otherwise is over, though nobody said so.
        match live {
            Live::Often { .. } => others.clear(),
            Live::Once(..) => others.retain(|other| matches!(other, Live::Once(..))),
        }
        self.live = self.live + 1 + others.len() - before;
        others.push_back(live);
    }

    /// The request that a handle stands for, as a thread sees it.
    fn request(&self, tid: Tid, handle: u64) -> Option<Request> {
        let place = self.place(tid, handle)?;
        Some(match self.by_handle.get(&handle)?.get(place)? {
            Live::Often { number, .. } => Request::Persistent(*number),
            Live::Once(by, _) if *by != tid => Request::Elsewhere,
            Live::Once(by, number) => {
                let after = self.begun.get(by).copied().unwrap_or_default().saturating_sub(*number);
                Request::Age(u32::try_from(after).ok()?)
            }
        })
    }

    fn start(&mut self, handle: u64) -> Option<(Request, &'static str, Made)> {
        match self.by_handle.get_mut(&handle)?.front_mut()? {
            Live::Often { number, by, moves, is_started } => {
                *is_started = true;
                Some((Request::Persistent(*number), by, *moves))
            }
            Live::Once(..) => None,
        }
    }

    /// A request is over. One that is persistent stays; if it was not started, nothing is over.
    fn complete(&mut self, tid: Tid, handle: u64) -> Option<Request> {
        let request = self.request(tid, handle)?;
        match self.by_handle.get_mut(&handle)?.front_mut()? {
            Live::Often { is_started, .. } => std::mem::take(is_started).then_some(request),
            Live::Once(..) => {
                self.remove(tid, handle);
                Some(request)
            }
        }
    }

    /// A request is given back.
    fn free(&mut self, tid: Tid, handle: u64) -> Option<Request> {
        let request = self.request(tid, handle)?;
        if let Some(Live::Often { number, .. }) = self.remove(tid, handle) {
            self.free.insert(number);
        }
        Some(request)
    }

    /// Where the request stands that a handle is for a thread: its own oldest, else the oldest of all.
    fn place(&self, tid: Tid, handle: u64) -> Option<usize> {
        let live = self.by_handle.get(&handle)?;
        let own = live.iter().position(|live| matches!(live, Live::Once(by, _) if *by == tid));
        own.or_else(|| (!live.is_empty()).then_some(0))
    }

    fn remove(&mut self, tid: Tid, handle: u64) -> Option<Live> {
        let place = self.place(tid, handle)?;
        let live = self.by_handle.get_mut(&handle)?;
        let first = live.remove(place)?;
        if live.is_empty() {
            self.by_handle.remove(&handle);
        }
        self.live -= 1;
        Some(first)
    }
}

/// What requests move that are started together: bytes of all, and the tag, if it is one.
fn together(mut each: impl Iterator<Item = Made>) -> Made {
    let Some(first) = each.next() else { return Made::default() };
    let sum = |one: Option<i64>, other: Option<i64>| match (one, other) {
        (Some(one), Some(other)) => one.checked_add(other),
        (one, other) => one.or(other),
    };
    let same = |one: Option<i32>, other: Option<i32>| one.filter(|_| one == other);
    // Several are no one message: they have no communicator, by which messages are told.
    each.fold(first, |all, next| Made {
        comm: None,
        peer: None,
        tag: same(all.tag, next.tag),
        sent: sum(all.sent, next.sent),
        received: sum(all.received, next.received),
    })
}
