//! Shares of reads, and of transfers at random places.

use super::KnobError;
use crate::model::drawn::WHOLE;
use crate::model::synthesis::stratified;
use crate::model::{ModelSession, RequestKind, Statistics};
use std::collections::BTreeMap;

/// So many millionths, to the nearest.
fn part(of: u64, share: u64) -> u64 {
    ((u128::from(of) * u128::from(share) + u128::from(WHOLE / 2)) / u128::from(WHOLE)) as u64
}

/// A session of which that share of the transfers reads. Their number, sizes and places stay.
pub(super) fn read_session(session: &mut ModelSession, share: u64) -> Result<(), KnobError> {
    let count = |kind| session.requests.get(&kind).copied().unwrap_or_default();
    let (reads, writes) = (count(RequestKind::Read), count(RequestKind::Write));
    let all = reads + writes;
    let now = part(all, share);
    if all == 0 || now == reads {
        return Ok(());
    }
    if session.write_offset.is_some() {
        return Err(KnobError::TwoLaws(session.name.clone()));
    }
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for (kind, count) in [(RequestKind::Read, reads), (RequestKind::Write, writes)] {
        for (size, times) in stratified(session.sizes_of(kind), count) {
            *sizes.entry(size).or_default() += times;
        }
    }
    let written = stratified(&sizes, all - now);
    for (size, times) in &written {
        sizes.entry(*size).and_modify(|left| *left -= times);
    }
    let kept = |sizes: BTreeMap<u64, u64>| sizes.into_iter().filter(|(_, times)| *times > 0).collect();
    let (read, written): (BTreeMap<u64, u64>, BTreeMap<u64, u64>) =
        (kept(sizes), kept(written.into_iter().collect()));
    (session.sizes, session.write_sizes) = match (read.is_empty(), written.is_empty()) {
        (true, _) => (written, BTreeMap::new()),
        (_, true) => (read, BTreeMap::new()),
        _ => (read, written),
    };
    for (kind, count) in [(RequestKind::Read, now), (RequestKind::Write, all - now)] {
        session.requests.insert(kind, count);
    }
    session.requests.retain(|_, count| *count > 0);
    session.mode.read |= now > 0;
    session.mode.write |= now < all;
    session.runs.clear();
    session.write_runs.clear();
    session.order.clear();
    Ok(())
}

/// The same of what is drawn: the share of reads among the transfers, and files may be read and written.
pub(super) fn read_statistics(statistics: &mut Statistics, share: u64) {
    let count = |kind| statistics.requests.get(&kind).copied().unwrap_or_default();
    let all = count(RequestKind::Read) + count(RequestKind::Write);
    if all == 0 {
        return;
    }
    // The shares of other requests stay, too.
    let unit = WHOLE;
    let others = statistics.requests.iter().filter(|(kind, _)| !kind.is_transfer());
    let mut requests: BTreeMap<RequestKind, u64> =
        others.map(|(kind, count)| (*kind, (count * unit / all).max(1))).collect();
    requests.insert(RequestKind::Read, share);
    requests.insert(RequestKind::Write, unit - share);
    requests.retain(|_, count| *count > 0);
    statistics.requests = requests;
    let modes = std::mem::take(&mut statistics.modes);
    for (mut mode, count) in modes {
        mode.read |= share > 0;
        mode.write |= share < unit;
        *statistics.modes.entry(mode).or_default() += count;
    }
}

/// Of the transfers that follow others that share begins at any multiple of a mean transfer.
pub(super) fn random_statistics(statistics: &mut Statistics, share: u64) {
    /// As many places are drawn.
    const PLACES: u64 = 64;
    if share == 0 || statistics.requests.keys().all(|kind| !kind.is_transfer()) {
        return;
    }
    let [all, consecutive] = statistics.pairs;
    statistics.pairs[1] = consecutive - part(consecutive.min(all), share);
    let weights: u64 = statistics.sizes.values().sum();
    let sum: u128 = statistics.sizes.iter().map(|(size, count)| u128::from(*size) * u128::from(*count)).sum();
    let mean = ((sum / u128::from(weights.max(1))) as u64).max(1);
    let blocks = (statistics.file_size / mean).max(1);
    let places = (0..PLACES.min(blocks)).map(|place| (blocks * place / PLACES.min(blocks) * mean, 1));
    statistics.offsets = places.collect();
    statistics.write_offsets.clear();
}
