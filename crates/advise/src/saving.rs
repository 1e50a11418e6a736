//! What fewer calls would save: their time less the time that their bytes take at the rate at which this file, or this program's
//! other files, were read or written in large pieces.

use crate::access::{Access, Kind};

/// Transfers of so many bytes show the rate of the storage and not the cost of a call.
const LARGE: u64 = 64 << 10;
/// The share of transfers that are faster than what is taken for the rate.
const FASTEST: usize = 10;

/// The rate of large transfers in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    /// Bytes a nanosecond.
    read: Option<f64>,
    write: Option<f64>,
}

/// How fast large transfers were, in bytes a nanosecond.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speeds {
    read: Vec<f64>,
    write: Vec<f64>,
}

impl Speeds {
    /// Adds an access, if it is a large transfer whose duration is known.
    pub(crate) fn add(&mut self, access: &Access, tracing: u64) {
        if access.mergeable && access.timed && access.bytes() >= LARGE {
            let speed = access.bytes() as f64 / time(access, tracing).max(1) as f64;
            if access.kind == Kind::Read { &mut self.read } else { &mut self.write }.push(speed);
        }
    }

    /// The rates that they show.
    pub(crate) fn rates(self) -> Rates {
        Rates { read: fast(self.read), write: fast(self.write) }
    }
}

impl Rates {
    /// Of these accesses.
    pub(crate) fn of<'a>(accesses: impl Iterator<Item = &'a Access>, tracing: u64) -> Self {
        let mut speeds = Speeds::default();
        accesses.for_each(|access| speeds.add(access, tracing));
        speeds.rates()
    }

    /// What is not known here is taken from there.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { read: self.read.or(other.read), write: self.write.or(other.write) }
    }

    /// How long the bytes of an access take, where that is known.
    fn transfer(self, access: &Access) -> u64 {
        let rate = if access.kind == Kind::Read { self.read } else { self.write };
        rate.map_or(0, |rate| (access.bytes() as f64 / rate) as u64)
    }

    /// What all but one of these accesses would save; NULL if a duration is not known.
    pub(crate) fn saving<'a>(self, members: impl Iterator<Item = &'a Access>, tracing: u64) -> Option<u64> {
        members
            .skip(1)
            .map(|access| access.timed.then(|| time(access, tracing).saturating_sub(self.transfer(access))))
            .try_fold(0, |sum: u64, saved| Some(sum.saturating_add(saved?)))
    }
}

/// The rate that one in [`FASTEST`] transfers exceeds.
fn fast(mut rates: Vec<f64>) -> Option<f64> {
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.get(rates.len() / FASTEST).copied()
}

/// The duration of an access without what tracing added to it.
pub(crate) fn time(access: &Access, tracing: u64) -> u64 {
    u64::try_from(access.end.saturating_sub(access.start)).unwrap_or_default().saturating_sub(tracing)
}
