//! A spool becomes Parquet: several threads, each with the events of a span of time.

use crate::error::TrailError;
use crate::limits::Limits;
use crate::part::{PartSummary, PartWriter};
use crate::recording::Progress;
use iotrail_kernel::pool;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::{
    CaseId, Dictionaries, Event, FileId, Layer, NamedFile, Pid, Process, Site, SiteId, Tid, Timestamp,
};
use iotrail_spool::{Damage, Reader, Spool, Tables, Visit};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Below so many events for each, another thread costs more than it brings.
const WORTH_A_THREAD: u64 = 100_000;
/// How many events are converted between two words about progress.
const STEP: u64 = 1 << 16;
/// Each thread holds about 65 MB, whatever the number of events; more would be too much at the end of a job.
const MAX_THREADS: u64 = 4;

/// Images that were not seen to end, and when they began.
type OpenImages = BTreeMap<Pid, Option<Timestamp>>;

/// What a spool became.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) parts: Vec<PartSummary>,
    pub(crate) tables: Tables,
    /// What was found wrong in the spool.
    pub(crate) damage: Vec<Damage>,
}

impl Converted {
    pub(crate) fn events(&self) -> u64 {
        self.parts.iter().map(PartSummary::events).sum()
    }
}

/// Converts `spool` into parts in `directory`. Its events become those of `case`. Parts hold consecutive spans of time,
/// so that the rows of the case are in order from part to part.
pub(crate) fn convert(
    spool: &Spool,
    case: CaseId,
    directory: &Path,
    threads: NonZeroUsize,
    progress: Progress<'_>,
) -> Result<Converted, TrailError> {
    let tables = spool.tables()?;
    let sites = &spool.sites()?;
    let windows = windows(spool, threads);
    let (done, total) = (AtomicU64::new(0), spool.events());
    let count = |events: u64| progress(done.fetch_add(events, Ordering::Relaxed) + events, total);
    let open =
        &tables.processes.values().filter(|row| row.end.is_none()).map(|row| (row.pid, row.start)).collect();
    let jobs = windows.into_iter().zip(0..).map(|(window, part)| Job {
        spool,
        case,
        directory,
        part,
        window,
        open,
        sites,
    });
    let taken = pool::each(threads, jobs.collect(), |job: Job<'_>| job.run(&count))?;
    let (mut moved, mut damage) = (BTreeMap::<Pid, Moved>::new(), spool.damage().to_vec());
    let mut writers = Vec::new();
    for one in taken {
        writers.push(one.part);
        damage.extend(one.damage);
        one.moved.iter().for_each(|(pid, more)| moved.entry(*pid).or_default().add(more));
    }
    once(&mut damage);
    if let Some(first) = writers.first_mut() {
        for process in tables.processes.values() {
            first.push_process(&with_moved(process, &moved, case))?;
        }
    }
    let parts = pool::each(threads, writers, |part: PartWriter| part.finish(&Dictionaries::default()))?;
    Ok(Converted { parts, tables, damage })
}

/// What is wrong with a spool that nobody writes any more, all of it read.
pub(crate) fn damage_of(spool: &Spool) -> Result<Vec<Damage>, TrailError> {
    let mut reader = spool.reader();
    reader.read_all(&mut Nobody)?;
    let mut damage = [spool.damage(), reader.damage()].concat();
    once(&mut damage);
    Ok(damage)
}

/// Wants nothing but that it is read.
struct Nobody;

impl Visit for Nobody {
    type Error = TrailError;

    fn event(&mut self, _event: &Event, _names: &Dictionaries) -> Result<(), TrailError> {
        Ok(())
    }
}

/// Names each damage once: readers meet the same where their spans of time share a piece, and only those that want events
/// of it know how many are lost.
fn once(damage: &mut Vec<Damage>) {
    damage.sort();
    damage.dedup_by(|other, kept| {
        let is_same = (&other.path, other.byte, other.skipped) == (&kept.path, kept.byte, kept.skipped);
        if is_same {
            kept.events = kept.events.max(other.events);
        }
        is_same
    });
}

/// Spans of time with about as many events each, together all of time.
fn windows(spool: &Spool, threads: NonZeroUsize) -> Vec<RangeInclusive<Timestamp>> {
    let wanted = (spool.events() / WORTH_A_THREAD).clamp(1, MAX_THREADS.min(threads.get() as u64));
    let mut bounds = Vec::new();
    let (mut seen, mut latest) = (0, Timestamp(i64::MIN));
    for piece in spool.pieces() {
        let Some((_, last)) = piece.starts else { continue };
        seen += piece.events;
        latest = latest.max(last);
        let share = spool.events() * (bounds.len() as u64 + 1) / wanted;
        if seen >= share && (bounds.len() as u64) + 1 < wanted && bounds.last() != Some(&latest) {
            bounds.push(latest);
        }
    }
    let mut from = i64::MIN;
    let mut windows: Vec<_> = bounds
        .into_iter()
        .map(|bound| {
            let window = Timestamp(from)..=bound;
            from = bound.0.saturating_add(1);
            window
        })
        .collect();
    windows.push(Timestamp(from)..=Timestamp(i64::MAX));
    windows
}

/// The work of one thread.
struct Job<'a> {
    spool: &'a Spool,
    case: CaseId,
    directory: &'a Path,
    part: u32,
    window: RangeInclusive<Timestamp>,
    open: &'a OpenImages,
    sites: &'a BTreeMap<SiteId, Site>,
}

/// What a thread made of its span of time.
struct Taken {
    part: PartWriter,
    moved: BTreeMap<Pid, Moved>,
    damage: Vec<Damage>,
}

/// What an image moved that was never seen to end, as its events tell.
#[derive(Debug, Default)]
struct Moved {
    read: i64,
    written: i64,
    tids: BTreeSet<Tid>,
}

impl Moved {
    fn add(&mut self, more: &Self) {
        self.read = self.read.saturating_add(more.read);
        self.written = self.written.saturating_add(more.written);
        self.tids.extend(&more.tids);
    }

    fn count(&mut self, event: &Event) {
        self.tids.insert(event.tid);
        // What a library moves, its system calls move.
        if event.layer != Layer::Syscall {
            return;
        }
        let transfer = calls::spec(event.call).map(|spec| spec.transfer).unwrap_or_default();
        let size = event.size.get().unwrap_or_default();
        if matches!(transfer, Transfer::Read | Transfer::Copy) {
            self.read = self.read.saturating_add(size);
        }
        if matches!(transfer, Transfer::Write | Transfer::Copy) {
            self.written = self.written.saturating_add(size);
        }
    }
}

/// The row of a process. That of an image that was not seen to end is from its beginning, when it had moved nothing.
fn with_moved(process: &Process, moved: &BTreeMap<Pid, Moved>, case: CaseId) -> Process {
    let mut row = Process { case, ..process.clone() };
    if let (None, Some(moved)) = (process.end, moved.get(&process.pid)) {
        row.bytes_read = row.bytes_read.max(moved.read);
        row.bytes_written = row.bytes_written.max(moved.written);
        row.threads = row.threads.max(moved.tids.len() as u32);
    }
    row
}

impl Job<'_> {
    fn run(self, count: &(dyn Fn(u64) + Sync)) -> Result<Taken, TrailError> {
        let mut part = PartWriter::create(self.directory, self.part, Limits::default(), false)?;
        part.numbering(self.case, FileId(0));
        let mut reader: Reader<'_> = self.spool.reader().within(self.window.clone());
        let mut rows =
            Rows { part, job: &self, met: BTreeSet::new(), uncounted: 0, count, moved: BTreeMap::new() };
        reader.read_all(&mut rows)?;
        count(rows.uncounted);
        for site in &rows.met {
            rows.part.push_site(*site, self.sites[site].clone());
        }
        Ok(Taken { part: rows.part, moved: rows.moved, damage: reader.damage().to_vec() })
    }
}

/// Takes the events of a spool into a part.
struct Rows<'a> {
    part: PartWriter,
    job: &'a Job<'a>,
    /// Call sites of its events.
    met: BTreeSet<SiteId>,
    uncounted: u64,
    count: &'a (dyn Fn(u64) + Sync),
    moved: BTreeMap<Pid, Moved>,
}

impl Visit for Rows<'_> {
    type Error = TrailError;

    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), TrailError> {
        self.uncounted += 1;
        if self.uncounted == STEP {
            (self.count)(std::mem::take(&mut self.uncounted));
        }
        if self.job.open.get(&event.pid).is_some_and(|began| Some(event.start) >= *began) {
            self.moved.entry(event.pid).or_default().count(event);
        }
        // One that was lost with a part of its file is unknown.
        let site = event.site.get().filter(|site| self.job.sites.contains_key(site));
        self.met.extend(site);
        self.part.push(&Event { case: self.job.case, site: site.into(), ..*event }, names)
    }

    fn renamed(&mut self) -> Result<(), TrailError> {
        self.part.rotate(&Dictionaries::default())
    }

    fn file(&mut self, path: &[u8], file: &NamedFile) -> Result<(), TrailError> {
        self.part.push_file(path, file)
    }
}
