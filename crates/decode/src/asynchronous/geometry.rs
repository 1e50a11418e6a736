//! Where things lie in the memory of a ring: what `io_uring_setup` stored in its parameters.

use super::reading::{u32_at, u64_at};
use crate::Memory;

/// Size of `struct io_uring_params`.
const PARAMS: usize = 120;
/// The kernel allows no more entries (`IORING_MAX_ENTRIES`), and twice as many completions.
const MAX_ENTRIES: u32 = 32_768;

const SETUP_SQPOLL: u32 = 1 << 1;
const SETUP_SQE128: u32 = 1 << 10;
const SETUP_CQE32: u32 = 1 << 11;
const SETUP_NO_MMAP: u32 = 1 << 14;
const SETUP_REGISTERED_FD_ONLY: u32 = 1 << 15;
const SETUP_NO_SQARRAY: u32 = 1 << 16;
/// Entries of two sizes in one queue.
const SETUP_SQE_MIXED: u32 = 1 << 19;
/// Each call begins with the first entry.
const SETUP_SQ_REWIND: u32 = 1 << 20;
const FEAT_SINGLE_MMAP: u32 = 1;

/// Offsets within the mappings of a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) entries: u32,
    pub(super) completions: u32,
    flags: u32,
    single: bool,
    pub(super) sq_head: u32,
    pub(super) sq_tail: u32,
    /// Indices of entries, by position; without it the position is the index.
    pub(super) array: Option<u32>,
    pub(super) cq_tail: u32,
    pub(super) cqes: u32,
    /// Addresses that the program chose itself: of both rings, and of the entries.
    chosen: [u64; 2],
}

/// Where a process has mapped a ring.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RingAddresses {
    pub(super) sq: Option<u64>,
    pub(super) cq: Option<u64>,
    pub(super) sqes: Option<u64>,
}

impl Geometry {
    /// What the parameters say.
    pub(super) fn read(memory: &impl Memory, address: u64) -> Option<Self> {
        let params: [u8; PARAMS] = super::reading::bytes(memory, address)?;
        let at = |place| u32_at(&params, place);
        let flags = at(8);
        let size = |place, most| Some(at(place)).filter(|size: &u32| size.is_power_of_two() && *size <= most);
        Some(Self {
            entries: size(0, MAX_ENTRIES)?,
            completions: size(4, 2 * MAX_ENTRIES)?,
            flags,
            single: at(20) & FEAT_SINGLE_MMAP != 0,
            sq_head: at(40),
            sq_tail: at(44),
            array: (flags & SETUP_NO_SQARRAY == 0).then_some(at(64)),
            cq_tail: at(84),
            cqes: at(100),
            chosen: [u64_at(&params, 112), u64_at(&params, 72)],
        })
    }

    /// Whether the kernel fetches entries without being called.
    pub(super) fn is_polled(&self) -> bool {
        self.flags & SETUP_SQPOLL != 0
    }

    /// Whether its entries are laid out in a way that is not followed.
    pub(super) fn is_foreign(&self) -> bool {
        self.flags & (SETUP_SQE_MIXED | SETUP_SQ_REWIND) != 0
    }

    /// Whether the ring has no descriptor but a place among the registered ones of the thread.
    pub(super) fn is_registered_only(&self) -> bool {
        self.flags & SETUP_REGISTERED_FD_ONLY != 0
    }

    pub(super) fn entry_size(&self) -> u64 {
        if self.flags & SETUP_SQE128 != 0 { 128 } else { 64 }
    }

    pub(super) fn completion_size(&self) -> u64 {
        if self.flags & SETUP_CQE32 != 0 { 32 } else { 16 }
    }

    /// Where it lies if the program provided the memory.
    pub(super) fn ring_addresses(&self) -> RingAddresses {
        match self.flags & SETUP_NO_MMAP {
            0 => RingAddresses::default(),
            _ => RingAddresses {
                sq: Some(self.chosen[0]),
                cq: Some(self.chosen[0]),
                sqes: Some(self.chosen[1]),
            },
        }
    }

    /// The program mapped the part of the ring at `offset` to `address`.
    pub(super) fn mapped(&self, ring_addresses: &mut RingAddresses, offset: u64, address: u64) {
        const OFF_MASK: u64 = 0xf800_0000;
        const OFF_SQ_RING: u64 = 0;
        const OFF_CQ_RING: u64 = 0x800_0000;
        const OFF_SQES: u64 = 0x1000_0000;
        match offset & OFF_MASK {
            OFF_SQ_RING => {
                ring_addresses.sq = Some(address);
                if self.single {
                    ring_addresses.cq = Some(address);
                }
            }
            OFF_CQ_RING => {
                ring_addresses.cq = Some(address);
                if self.single {
                    ring_addresses.sq = Some(address);
                }
            }
            OFF_SQES => ring_addresses.sqes = Some(address),
            _ => {}
        }
    }
}

impl RingAddresses {
    /// The addresses from `start` to before `end` are no longer those of the ring.
    pub(super) fn unmapped(&mut self, start: u64, end: u64) {
        for place in [&mut self.sq, &mut self.cq, &mut self.sqes] {
            *place = place.filter(|address| !(start..end).contains(address));
        }
    }

    /// Whether a part of the ring is among the addresses from `start` to before `end`.
    pub(super) fn lie_within(&self, start: u64, end: u64) -> bool {
        [self.sq, self.cq, self.sqes].into_iter().flatten().any(|address| (start..end).contains(&address))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sq.is_none() && self.cq.is_none() && self.sqes.is_none()
    }
}
