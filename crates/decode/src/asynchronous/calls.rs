//! What the calls of both families do, one by one.

use super::block::{self, Submission};
use super::context::Context;
use super::entry::names_of;
use super::geometry::{Geometry, RingAddresses};
use super::process::Process;
use super::reading::{self, u32_at, u64_at};
use super::request::Finish;
use super::ring::{Ring, RingId};
use super::{Asynchronous, Call, Deliver, Role, Stop};
use crate::{Memory, Returned};
use iotrail_model::Pid;

const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_WITH_REGISTERED_RING: u32 = 1 << 31;

/// io_uring.
impl Asynchronous {
    pub(super) fn ring_made<M: Memory>(&mut self, stop: &Stop<'_, M>, call: &Call, fd: i64) {
        let Some(geometry) = Geometry::read(stop.memory, call.long(1)) else { return };
        let id = RingId(self.next_ring);
        self.next_ring = self.next_ring.wrapping_add(1);
        self.tally.polled_rings += u64::from(geometry.is_polled());
        let process = self.process(stop.pid);
        match (geometry.is_registered_only(), i32::try_from(fd)) {
            (true, _) => drop(process.registered.insert((stop.tid, fd as u32), id)),
            (false, Ok(fd)) => drop(process.rings.insert(fd, id)),
            (false, Err(_)) => return,
        }
        process.ring_addresses.insert(id, geometry.ring_addresses());
        self.rings.insert(id, Ring::new(geometry));
    }

    fn ring_of<M>(&self, stop: &Stop<'_, M>, fd: i32, registered: bool) -> Option<RingId> {
        let process = self.processes.get(&stop.pid)?;
        match registered {
            true => process.registered.get(&(stop.tid, fd as u32)).copied(),
            false => process.rings.get(&fd).copied(),
        }
    }

    pub(super) fn ring_entered<M: Memory>(&mut self, stop: &Stop<'_, M>, call: &Call, deliver: Deliver<'_>) {
        let found = self.ring_of(stop, call.int(0), call.unsigned(3) & ENTER_REGISTERED_RING != 0);
        let process = self.processes.entry(stop.pid).or_default();
        process.threads_gone.remove(&stop.tid);
        let known = found.and_then(|id| {
            let (ring_addresses, ring) = (process.ring_addresses.get(&id)?, self.rings.get_mut(&id)?);
            ring.reap(stop, ring_addresses, &process.threads_gone, &mut self.tally, deliver);
            ring.enter(stop, ring_addresses, call.unsigned(1), call.width).then_some(id)
        });
        process.entering.insert(stop.tid, known);
    }

    pub(super) fn ring_returned<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        call: &Call,
        returned: Returned,
        deliver: Deliver<'_>,
    ) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        let Some(entering) = process.entering.remove(&stop.tid) else { return };
        let ring = entering.and_then(|id| Some((process.ring_addresses.get(&id)?, self.rings.get_mut(&id)?)));
        match (ring, returned) {
            (Some((ring_addresses, ring)), _) => {
                ring.reap(stop, ring_addresses, &process.threads_gone, &mut self.tally, deliver);
                ring.leave(stop.pid, stop.tid);
            }
            (None, Returned::Value(number)) if call.unsigned(1) > 0 => {
                self.tally.unread_entries += u64::try_from(number).unwrap_or(0);
            }
            (None, _) => {}
        }
    }

    /// Whether a call would take a ring away: its descriptor or its memory.
    pub(super) fn touches_ring(&self, pid: Pid, call: &Call) -> bool {
        let Some(process) = self.processes.get(&pid) else { return false };
        match call.role {
            Role::Close => process.rings.contains_key(&call.int(0)),
            Role::Copy => process.rings.contains_key(&call.int(1)),
            _ => {
                let (start, end) = (call.long(0), call.long(0).saturating_add(call.long(1)));
                process.ring_addresses.values().any(|ring_addresses| ring_addresses.lie_within(start, end))
            }
        }
    }

    /// A part of a ring was mapped.
    pub(super) fn mapped<M>(&mut self, stop: &Stop<'_, M>, call: &Call, address: u64) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        let Some(id) = process.rings.get(&call.int(4)) else { return };
        let offset = if call.in_pages { call.long(5) << 12 } else { call.long(5) };
        if let Some(ring) = self.rings.get(id) {
            ring.geometry.mapped(process.ring_addresses.entry(*id).or_default(), offset, address);
        }
    }

    pub(super) fn unmapped(&mut self, pid: Pid, call: &Call) {
        let (start, end) = (call.long(0), call.long(0).saturating_add(call.long(1)));
        let Some(process) = self.processes.get_mut(&pid) else { return };
        if process.ring_addresses.values().any(|ring_addresses| ring_addresses.lie_within(start, end)) {
            process
                .ring_addresses
                .values_mut()
                .for_each(|ring_addresses| ring_addresses.unmapped(start, end));
            self.tidy(pid);
        }
    }

    /// Descriptors were closed.
    pub(super) fn closed(&mut self, pid: Pid, first: i32, last: i32, only_mark: bool) {
        let Some(process) = self.processes.get_mut(&pid).filter(|_| !only_mark) else { return };
        let before = process.rings.len();
        process.rings.retain(|fd, _| !(first..=last).contains(fd));
        if process.rings.len() < before {
            self.tidy(pid);
        }
    }

    pub(super) fn range_closed(&mut self, pid: Pid, call: &Call) {
        const CLOSE_RANGE_CLOEXEC: u32 = 4;
        let bound = |place| i32::try_from(call.unsigned(place)).unwrap_or(i32::MAX);
        self.closed(pid, bound(0), bound(1), call.unsigned(2) & CLOSE_RANGE_CLOEXEC != 0);
    }

    pub(super) fn copied(&mut self, pid: Pid, from: i32, to: i64) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let Ok(to) = i32::try_from(to) else { return };
        let replaced = match process.rings.get(&from).copied() {
            Some(id) => process.rings.insert(to, id),
            None => process.rings.remove(&to),
        };
        if replaced.is_some() {
            self.tidy(pid);
        }
    }

    /// Forgets rings that a process can no longer reach.
    fn tidy(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let Process { rings, registered, ring_addresses, .. } = process;
        let held = |id: &RingId| rings.values().chain(registered.values()).any(|other| other == id);
        let waits = |id: &RingId| self.rings.get(id).is_some_and(Ring::waits);
        ring_addresses.retain(|id, ring_addresses: &mut RingAddresses| {
            held(id) || (!ring_addresses.is_empty() && waits(id))
        });
        self.drop_unused_rings();
    }

    /// `io_uring_register` succeeded.
    pub(super) fn registered<M: Memory>(&mut self, stop: &Stop<'_, M>, call: &Call, value: i64) {
        let operation = call.unsigned(1);
        let by_place = operation & REGISTER_WITH_REGISTERED_RING != 0;
        let Some(id) = self.ring_of(stop, call.int(0), by_place) else { return };
        let (address, number) = (call.long(2), call.unsigned(3));
        match operation & !REGISTER_WITH_REGISTERED_RING {
            20 => self.rings_registered(stop, address, number),
            21 => self.rings_unregistered(stop, address, number),
            33 => self.resized(stop, id, address),
            operation => {
                if let Some(ring) = self.rings.get_mut(&id) {
                    files_registered(stop, ring, operation, address, number, value);
                }
            }
        }
    }

    /// Rings got places among the registered ones of the thread; the kernel has stored which.
    fn rings_registered<M: Memory>(&mut self, stop: &Stop<'_, M>, address: u64, number: u32) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        for (place, fd) in ring_updates(stop, address, number) {
            if let Some(id) = process.rings.get(&(fd as i32)) {
                process.registered.insert((stop.tid, place), *id);
            }
        }
    }

    fn rings_unregistered<M: Memory>(&mut self, stop: &Stop<'_, M>, address: u64, number: u32) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        for (place, _) in ring_updates(stop, address, number) {
            process.registered.remove(&(stop.tid, place));
        }
    }

    /// The ring has another size and must be mapped again (`IORING_REGISTER_RESIZE_RINGS`).
    fn resized<M: Memory>(&mut self, stop: &Stop<'_, M>, id: RingId, params: u64) {
        let Some(geometry) = Geometry::read(stop.memory, params) else { return };
        if let Some(ring) = self.rings.get_mut(&id) {
            ring.geometry = geometry;
        }
        for process in self.processes.values_mut() {
            if let Some(ring_addresses) = process.ring_addresses.get_mut(&id) {
                *ring_addresses = geometry.ring_addresses();
            }
        }
    }
}

/// `struct io_uring_rsrc_update` of registered rings: place and descriptor.
fn ring_updates<M: Memory>(stop: &Stop<'_, M>, address: u64, number: u32) -> Vec<(u32, u64)> {
    /// A thread has no more places (`IO_RINGFD_REG_MAX`).
    const MOST: u32 = 16;
    let read = |index: u32| -> Option<[u8; 16]> {
        reading::bytes(stop.memory, address.wrapping_add(u64::from(index) * 16))
    };
    (0..number.min(MOST)).map_while(read).map(|update| (u32_at(&update, 0), u64_at(&update, 8))).collect()
}

/// Files were registered with a ring.
fn files_registered<M: Memory>(
    stop: &Stop<'_, M>,
    ring: &mut Ring,
    operation: u32,
    address: u64,
    number: u32,
    value: i64,
) {
    let files = &mut ring.files;
    match operation {
        // IORING_REGISTER_FILES, IORING_UNREGISTER_FILES
        2 => {
            files.clear();
            files.update(0, &names_of(stop, address, number), i64::from(number));
        }
        3 => files.clear(),
        // IORING_REGISTER_FILES_UPDATE
        6 => {
            let Some(update) = reading::bytes::<16>(stop.memory, address) else { return };
            files.update(u32_at(&update, 0), &names_of(stop, u64_at(&update, 8), number), value);
        }
        // IORING_REGISTER_FILES2
        13 => {
            let Some(register) = reading::bytes::<32>(stop.memory, address) else { return };
            let number = u32_at(&register, 0);
            files.clear();
            let sparse = u64_at(&register, 16) == 0;
            if !sparse {
                files.update(0, &names_of(stop, u64_at(&register, 16), number), i64::from(number));
            }
        }
        // IORING_REGISTER_FILES_UPDATE2
        14 => {
            let Some(update) = reading::bytes::<32>(stop.memory, address) else { return };
            let number = u32_at(&update, 24);
            files.update(u32_at(&update, 0), &names_of(stop, u64_at(&update, 8), number), value);
        }
        _ => {}
    }
}

/// Linux AIO.
impl Asynchronous {
    pub(super) fn context_made<M: Memory>(&mut self, stop: &Stop<'_, M>, call: &Call) {
        let mut address = [0; 8];
        let Some(()) = reading::fill(stop.memory, call.long(1), &mut address[..call.width]) else { return };
        self.process(stop.pid).contexts.insert(u64::from_le_bytes(address), Context::default());
    }

    /// `io_destroy` waits for what is under way, but tells nobody how it ended.
    pub(super) fn context_destroyed<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        call: &Call,
        deliver: Deliver<'_>,
    ) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        let Some(mut context) = process.contexts.remove(&call.long(0)) else { return };
        for request in context.pending.drain() {
            let tid = if process.threads_gone.contains(&request.tid) { stop.tid } else { request.tid };
            self.tally.unfinished += 1;
            request.deliver(tid, None, Finish::Unseen, deliver);
        }
    }

    pub(super) fn reap_contexts<M: Memory>(&mut self, stop: &Stop<'_, M>, deliver: Deliver<'_>) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        for (address, context) in &mut process.contexts {
            context.reap(stop, *address, &process.threads_gone, deliver);
        }
    }

    pub(super) fn submit_entered<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        call: &Call,
        deliver: Deliver<'_>,
    ) {
        self.reap_contexts(stop, deliver);
        let tally = &mut self.tally;
        let blocks = block::read(stop, call.long(2), call.long(1), call.width);
        let requests = blocks
            .iter()
            .map(|(address, bytes)| block::request(stop, *address, bytes, call.width, tally))
            .collect();
        let process = self.process(stop.pid);
        process.threads_gone.remove(&stop.tid);
        process.submitting.insert(stop.tid, Submission { context: call.long(0), requests });
    }

    pub(super) fn submit_returned<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        returned: Returned,
        deliver: Deliver<'_>,
    ) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        let Some(submission) = process.submitting.remove(&stop.tid) else { return };
        let Returned::Value(number) = returned else { return };
        let number = usize::try_from(number).unwrap_or(0);
        self.tally.unread_entries += number.saturating_sub(submission.requests.len()) as u64;
        // A context that was made before the recording began is met here.
        let context = process.contexts.entry(submission.context).or_default();
        for request in submission.requests.into_iter().take(number).flatten() {
            context.submitted(request, &mut self.tally, deliver);
        }
        self.reap_contexts(stop, deliver);
    }

    pub(super) fn events_returned<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        call: &Call,
        returned: Returned,
        deliver: Deliver<'_>,
    ) {
        let Some(process) = self.processes.get_mut(&stop.pid) else { return };
        let Some(context) = process.contexts.get_mut(&call.long(0)) else { return };
        let seen = context.reap(stop, call.long(0), &process.threads_gone, deliver);
        if let (false, Returned::Value(number)) = (seen, returned) {
            let number = u64::try_from(number).unwrap_or(0);
            context.events(stop, call.long(3), number, &process.threads_gone, deliver);
        }
    }
}
