//! A ring: its entries from submission to completion.
//!
//! What the kernel has fetched says the head of the submission queue, what it has completed the tail of the completion
//! queue. Both are counters that wrap. Completions stay where they are after the program took them, until the
//! kernel needs the room, so one's own position finds those that were taken without a call.

use super::apart::told_apart;
use super::entry::{self, Asked, Entry};
use super::files::Files;
use super::geometry::{Geometry, RingAddresses};
use super::pending::Pending;
use super::reading::{self, u32_at, u64_at};
use super::request::{Change, Finish, Request, Value};
use super::{Deliver, Stop, Tally};
use crate::Memory;
use hashbrown::{HashMap, HashSet};
use iotrail_model::calls::{self, Transfer};
use iotrail_model::recording_coverage::count;
use iotrail_model::{Pid, Tid};
use std::collections::VecDeque;

/// Number of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RingId(pub(super) u32);

const CQE_MORE: u32 = 1 << 1;
const CQE_NOTIFICATION: u32 = 1 << 3;
const CQE_SKIP: u32 = 1 << 5;
const CQE_TWICE_AS_LARGE: u32 = 1 << 15;

#[derive(Debug)]
pub(super) struct Ring {
    pub(super) geometry: Geometry,
    pub(super) files: Files,
    pending: Pending,
    /// Entries that were read when a call entered, from position `fetched` on; `None` could not be read.
    offered: VecDeque<Option<Asked>>,
    /// Where the kernel is in the submission queue.
    fetched: u32,
    /// Where we are in the completion queue.
    reaped: u32,
    /// Threads that are in `io_uring_enter`.
    entering: Vec<(Pid, Tid)>,
    serial: u64,
}

#[derive(Clone, Copy, Debug)]
struct Completion {
    key: u64,
    result: i32,
    flags: u32,
}

impl Ring {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            files: Files::default(),
            pending: Pending::default(),
            offered: VecDeque::new(),
            fetched: 0,
            reaped: 0,
            entering: Vec::new(),
            serial: 0,
        }
    }

    /// A thread is about to submit up to `most` entries. `false` if they cannot be read.
    pub(super) fn enter<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        ring_addresses: &RingAddresses,
        most: u32,
        width: usize,
    ) -> bool {
        if self.geometry.is_polled() || most == 0 {
            self.entering.push((stop.pid, stop.tid));
            return true;
        }
        if self.geometry.is_foreign() {
            return false;
        }
        let (Some(sq), Some(sqes)) = (ring_addresses.sq, ring_addresses.sqes) else { return false };
        let number = |offset: u32| reading::unsigned(stop.memory, sq.wrapping_add(u64::from(offset)));
        let Some((head, tail)) = number(self.geometry.sq_head).zip(number(self.geometry.sq_tail)) else {
            return false;
        };
        let most = most.min(tail.wrapping_sub(head)).min(self.geometry.entries);
        let known = self.fetched.wrapping_add(self.offered.len() as u32).wrapping_sub(head);
        for step in known.min(most)..most {
            let position = head.wrapping_add(step);
            let read = self.read_entry(stop, sq, sqes, position, width);
            self.offered.push_back(read);
        }
        self.entering.push((stop.pid, stop.tid));
        true
    }

    fn read_entry<M: Memory>(
        &self,
        stop: &Stop<'_, M>,
        sq: u64,
        sqes: u64,
        position: u32,
        width: usize,
    ) -> Option<Asked> {
        let slot = position & (self.geometry.entries - 1);
        let index = match self.geometry.array {
            Some(array) => {
                let place = sq.wrapping_add(u64::from(array)).wrapping_add(u64::from(slot) * 4);
                reading::unsigned(stop.memory, place)?
            }
            None => slot,
        };
        if index >= self.geometry.entries {
            return None;
        }
        let address = sqes.wrapping_add(u64::from(index) * self.geometry.entry_size());
        let bytes = reading::bytes::<{ entry::SIZE }>(stop.memory, address)?;
        Some(Entry::of(&bytes).asks(stop, width, &self.files))
    }

    /// The thread has left `io_uring_enter`.
    pub(super) fn leave(&mut self, pid: Pid, tid: Tid) {
        self.entering.retain(|entering| *entering != (pid, tid));
        if self.entering.is_empty() {
            self.offered.clear();
        }
    }

    /// Takes over what the kernel has fetched, and reads what it has completed.
    pub(super) fn reap<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        ring_addresses: &RingAddresses,
        gone: &HashSet<Tid>,
        tally: &mut Tally,
        deliver: Deliver<'_>,
    ) {
        self.fetch(stop, ring_addresses, tally, deliver);
        let Some(cq) = ring_addresses.cq else { return };
        let address = cq.wrapping_add(u64::from(self.geometry.cq_tail));
        let Some(tail) = reading::unsigned(stop.memory, address) else { return };
        let new = tail.wrapping_sub(self.reaped);
        if new > self.geometry.completions {
            tally.overwritten += u64::from(new - self.geometry.completions);
            self.reaped = tail.wrapping_sub(self.geometry.completions);
        }
        let mut completions = Vec::new();
        while self.reaped != tail {
            let Some(completion) = self.read_completion(stop.memory, cq) else {
                tally.overwritten += u64::from(tail.wrapping_sub(self.reaped));
                self.reaped = tail;
                break;
            };
            let twice = completion.flags & CQE_TWICE_AS_LARGE != 0;
            let step = if twice { 2 } else { 1 };
            self.reaped = self.reaped.wrapping_add(step.min(tail.wrapping_sub(self.reaped)));
            if completion.flags & CQE_SKIP == 0 {
                completions.push(completion);
            }
        }
        for (completion, serial) in self.with_requests(completions) {
            self.complete((completion, serial), stop, gone, tally, deliver);
        }
    }

    /// Completions with the serials of their requests, where several have one key and all of them are over.
    fn with_requests(&self, completions: Vec<Completion>) -> Vec<(Completion, Option<u64>)> {
        let mut serials: Vec<Option<u64>> = vec![None; completions.len()];
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        // Alone it is of the only request with its key, or nobody can say.
        for (at, completion) in completions.iter().enumerate().filter(|_| completions.len() > 1) {
            by_key.entry(completion.key).or_default().push(at);
        }
        for (key, places) in by_key.into_iter().filter(|(_, places)| places.len() > 1) {
            let requests: Vec<&Request> = self.pending.of_key(key).collect();
            let is_last = |at: &usize| completions[*at].flags & (CQE_MORE | CQE_NOTIFICATION) == 0;
            if requests.iter().any(|request| request.unsure) || !places.iter().all(is_last) {
                continue;
            }
            let most: Vec<Option<u64>> = requests.iter().map(|request| request.most()).collect();
            let results: Vec<i32> = places.iter().map(|at| completions[*at].result).collect();
            for (at, request) in places.iter().zip(told_apart(&most, &results).into_iter().flatten()) {
                serials[*at] = Some(requests[request].serial);
            }
        }
        completions.into_iter().zip(serials).collect()
    }

    fn read_completion(&self, memory: &impl Memory, cq: u64) -> Option<Completion> {
        let slot = self.reaped & (self.geometry.completions - 1);
        let offset = u64::from(self.geometry.cqes) + u64::from(slot) * self.geometry.completion_size();
        let bytes: [u8; 16] = reading::bytes(memory, cq.wrapping_add(offset))?;
        Some(Completion {
            key: u64_at(&bytes, 0),
            result: u32_at(&bytes, 8) as i32,
            flags: u32_at(&bytes, 12),
        })
    }

    /// What the kernel has fetched of what was offered is under way.
    fn fetch<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        ring_addresses: &RingAddresses,
        tally: &mut Tally,
        deliver: Deliver<'_>,
    ) {
        let Some(sq) =
            ring_addresses.sq.filter(|_| !self.geometry.is_polled() && !self.geometry.is_foreign())
        else {
            return;
        };
        let address = sq.wrapping_add(u64::from(self.geometry.sq_head));
        let Some(head) = reading::unsigned(stop.memory, address) else { return };
        let fetched = head.wrapping_sub(self.fetched);
        self.fetched = head;
        if fetched > self.geometry.entries {
            self.offered.clear();
            return;
        }
        for _ in 0..fetched {
            match self.offered.pop_front() {
                None | Some(None) => tally.unread_entries += 1,
                Some(Some(Asked::Other(name))) => count(&mut tally.other_entries, name, 1),
                Some(Some(Asked::Operation(mut request))) => {
                    self.serial += 1;
                    request.serial = self.serial;
                    tally.operations += u64::from(!request.silent);
                    if let Some(old) = self.pending.push(*request) {
                        tally.unfinished += 1;
                        old.deliver(old.tid, None, Finish::Unseen, deliver);
                    }
                }
            }
        }
    }

    fn complete<M: Memory>(
        &mut self,
        (completion, serial): (Completion, Option<u64>),
        stop: &Stop<'_, M>,
        gone: &HashSet<Tid>,
        tally: &mut Tally,
        deliver: Deliver<'_>,
    ) {
        let Completion { key, result, flags } = completion;
        let more = flags & CQE_MORE != 0;
        let found = match serial {
            Some(serial) => self.pending.remove(serial),
            None => self.pending.take(key),
        };
        let Some(mut request) = found else { return };
        if flags & CQE_NOTIFICATION != 0 {
            // The buffer of a send without copying is free again; the send itself was completed before.
            return;
        }
        let result = i64::from(result);
        if request.unsure {
            self.files.may_change(&request.change);
            tally.unfinished += u64::from(!request.silent);
        } else if result >= 0 {
            self.files.apply(&request.change, result);
            if let Change::Pipe(address) = request.change
                && let Some(fds) = reading::ints(stop.memory, address, 2)
                && let (Some(arg), [first, second]) = (request.args.first_mut(), &fds[..])
            {
                *arg = Value::Pair([*first, *second]);
            }
        }
        let lost = request.pid == stop.pid && gone.contains(&request.tid);
        let tid = if lost { stop.tid } else { request.tid };
        request.deliver(tid, Some(stop.at), Finish::Result(result), deliver);
        if more {
            // It goes on: what it does next begins now, at the earliest.
            request.start = stop.at;
            request.silent = is_send(&request);
            tally.operations += u64::from(!request.silent);
            self.pending.push(request);
        }
    }

    /// Whether something was not seen to complete.
    pub(super) fn waits(&self) -> bool {
        !self.pending.is_empty() || !self.entering.is_empty()
    }

    /// What a process asked for and was not seen to complete.
    pub(super) fn abandoned_by(&mut self, pid: Pid, left: &mut Vec<Request>) {
        self.entering.retain(|(entering, _)| *entering != pid);
        left.append(&mut self.pending.take_of(pid));
        if self.entering.is_empty() {
            self.offered.clear();
        }
    }
}

/// Sends without copying say `more` before the notification that their buffer is free, and do nothing more.
fn is_send(request: &Request) -> bool {
    let spec = calls::spec(request.call);
    spec.is_some_and(|spec| spec.name.ends_with("_zc") && spec.transfer == Transfer::Write)
}
