//! A spool becomes Parquet: several threads, each with the events of a span of time.

use crate::error::TrailError;
use crate::limits::Limits;
use crate::part::{PartSummary, PartWriter};
use crate::recording::Progress;
use iotrail_model::{CaseId, Dictionaries, Event, FileFacts, Process, Timestamp};
use iotrail_spool::{Damage, Reader, Spool, Tables, Visit};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Below so many events for each, another thread costs more than it brings.
const WORTH_A_THREAD: u64 = 100_000;
/// How many events are converted between two words about progress.
const STEP: u64 = 1 << 16;

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
    let windows = windows(spool, threads);
    let (done, total) = (AtomicU64::new(0), spool.events());
    let count = |events: u64| progress(done.fetch_add(events, Ordering::Relaxed) + events, total);
    let work = |number: usize| {
        let job = Job { spool, case, directory, part: number as u32, window: windows[number].clone() };
        job.run(if number == 0 { Some(&tables) } else { None }, &count)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..windows.len()).map(|number| scope.spawn(move || work(number))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut converted =
        Converted { parts: Vec::new(), tables: tables.clone(), damage: spool.damage().to_vec() };
    for (number, result) in results.into_iter().enumerate() {
        let (part, damage) = result?;
        converted.parts.push(part);
        // Every reader meets the damage of the pieces that it reads; the whole is known to who reads them all.
        if number == 0 || windows.len() > 1 {
            converted.damage.extend(damage);
        }
    }
    converted.damage.dedup();
    Ok(converted)
}

/// Spans of time with about as many events each, together all of time.
fn windows(spool: &Spool, threads: NonZeroUsize) -> Vec<RangeInclusive<Timestamp>> {
    let wanted = (spool.events() / WORTH_A_THREAD).clamp(1, threads.get() as u64);
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
}

impl Job<'_> {
    fn run(
        self,
        tables: Option<&Tables>,
        count: &(dyn Fn(u64) + Sync),
    ) -> Result<(PartSummary, Vec<Damage>), TrailError> {
        let mut part = PartWriter::create(self.directory, self.part, Limits::default())?;
        for process in tables.into_iter().flat_map(|tables| tables.processes.values()) {
            part.push_process(&Process { case: self.case, ..process.clone() })?;
        }
        let mut reader: Reader<'_> = self.spool.reader().within(self.window);
        let mut rows = Rows { part, case: self.case, uncounted: 0, count };
        reader.read_all(&mut rows)?;
        count(rows.uncounted);
        Ok((rows.part.finish(&Dictionaries::default())?, reader.damage().to_vec()))
    }
}

/// Takes the events of a spool into a part.
struct Rows<'a> {
    part: PartWriter,
    case: CaseId,
    uncounted: u64,
    count: &'a (dyn Fn(u64) + Sync),
}

impl Visit for Rows<'_> {
    type Error = TrailError;

    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), TrailError> {
        self.uncounted += 1;
        if self.uncounted == STEP {
            (self.count)(std::mem::take(&mut self.uncounted));
        }
        self.part.push(&Event { case: self.case, ..*event }, names)
    }

    fn renamed(&mut self) -> Result<(), TrailError> {
        self.part.rotate(&Dictionaries::default())
    }

    fn file(&mut self, path: &[u8], facts: &FileFacts) -> Result<(), TrailError> {
        self.part.push_file(path, facts)
    }
}
