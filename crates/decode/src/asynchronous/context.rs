//! A context of Linux AIO and its ring of events.
//!
//! The address that stands for a context is that of a ring in the memory of the program (`struct aio_ring` of the
//! kernel's `fs/aio.c`), from which libraries take events without a call. It is read with one's own position; where it is no such
//! ring, what `io_getevents` returned counts.

use super::pending::Pending;
use super::reading::{self, u32_at, u64_at};
use super::request::{Finish, Request};
use super::{Deliver, Stop, Tally};
use crate::Memory;
use hashbrown::HashSet;
use iotrail_model::Tid;

const MAGIC: u32 = 0xa10a_10a1;
const HEADER: usize = 32;
/// Size of `struct io_event`.
const EVENT: usize = 32;
/// No ring is larger.
const MOST: u32 = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) pending: Pending,
    /// Where we are in the ring.
    position: u32,
    serial: u64,
}

/// The ring as its header describes it.
struct Ring {
    capacity: u32,
    tail: u32,
}

impl Ring {
    fn read(memory: &impl Memory, address: u64) -> Option<Self> {
        let header: [u8; HEADER] = reading::bytes(memory, address)?;
        let (capacity, tail) = (u32_at(&header, 4), u32_at(&header, 12));
        let is_ring = u32_at(&header, 16) == MAGIC && u32_at(&header, 28) as usize == HEADER;
        (is_ring && capacity <= MOST && tail < capacity).then_some(Self { capacity, tail })
    }
}

impl Context {
    /// The kernel took a request over.
    pub(super) fn submitted(&mut self, mut request: Request, tally: &mut Tally, deliver: Deliver<'_>) {
        self.serial += 1;
        request.serial = self.serial;
        tally.operations += 1;
        if let Some(old) = self.pending.push(request) {
            tally.unfinished += 1;
            old.deliver(old.tid, None, Finish::Unseen, deliver);
        }
    }

    /// Reads what was completed; `false` if the ring cannot be read.
    pub(super) fn reap<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        address: u64,
        gone: &HashSet<Tid>,
        deliver: Deliver<'_>,
    ) -> bool {
        let Some(ring) = Ring::read(stop.memory, address) else { return false };
        if self.position >= ring.capacity {
            self.position = ring.tail;
        }
        while self.position != ring.tail {
            let place = HEADER as u64 + u64::from(self.position) * EVENT as u64;
            let Some(event) = reading::bytes(stop.memory, address.wrapping_add(place)) else { return false };
            self.position = (self.position + 1) % ring.capacity;
            self.complete(&event, stop, gone, deliver);
        }
        true
    }

    /// Reads the `number` events that a call stored at `address`.
    pub(super) fn events<M: Memory>(
        &mut self,
        stop: &Stop<'_, M>,
        address: u64,
        number: u64,
        gone: &HashSet<Tid>,
        deliver: Deliver<'_>,
    ) {
        for index in 0..number.min(u64::from(MOST)) {
            let Some(event) = reading::bytes(stop.memory, address.wrapping_add(index * EVENT as u64)) else {
                return;
            };
            self.complete(&event, stop, gone, deliver);
        }
    }

    fn complete<M>(
        &mut self,
        event: &[u8; EVENT],
        stop: &Stop<'_, M>,
        gone: &HashSet<Tid>,
        deliver: Deliver<'_>,
    ) {
        let (block, result) = (u64_at(event, 8), u64_at(event, 16) as i64);
        if let Some(request) = self.pending.take(block) {
            let tid = if gone.contains(&request.tid) { stop.tid } else { request.tid };
            request.deliver(tid, Some(stop.at), Finish::Result(result), deliver);
        }
    }
}
