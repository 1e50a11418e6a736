//! The events of a structure, line by line.

use crate::columns::{
    CALL, CASE, DUR, ERRNO, FLAGS, LAYER, Numbers, OF_EXECUTION, OFFSET, PEER, PID, SEQ, SITE, START, TID,
};
use crate::draws::Draws;
use crate::error::CompressError;
use crate::foresight::{Foresight, Threads};
use crate::peers::{RELATIVE, Ranks};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Cell, Event, FileRow, Names};
use iotrail_structure::{Execution, ItemId, Repeats, Walker};
use iotrail_structure_file::Document;

/// An event that a structure gives back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expanded<'a> {
    /// The item that it is an execution of.
    pub(crate) item: ItemId,
    /// Which iteration it is of each item around it, from the outermost to its own.
    pub(crate) indices: &'a [u32],
    pub(crate) event: Event,
    /// It moved bytes from where the access of the same open file before it ended.
    pub(crate) is_sequential: bool,
}

/// The file of each name, by the number that the name has: the first.
pub(crate) fn files_of_paths(names: &Names, files: &[FileRow]) -> HashMap<i64, i64, RandomState> {
    let numbers: HashMap<&str, i64> = names.paths.iter().map(|path| &**path).zip(0..).collect();
    let mut of_paths = HashMap::default();
    for row in files {
        if let (Some(&path), Some(file)) = (numbers.get(&*row.path), row.file) {
            of_paths.entry(path).or_insert(i64::from(file));
        }
    }
    of_paths
}

/// Calls `visit` with each event of a structure and the number of its line, line by line, in the order of their calls.
///
/// Times that are drawn depend on `seed`.
///
/// # Errors
/// The structure contradicts itself, or the first error of `visit`.
pub fn each_event(
    document: &Document,
    seed: u64,
    visit: &mut impl FnMut(u32, &Event) -> Result<(), CompressError>,
) -> Result<(), CompressError> {
    let mut events = Events::new(document, seed);
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |expanded| visit(line, &expanded.event))?;
    }
    events.end()
}

/// Where an event stands in the tree: of each item around it, from the outermost to its own, its place in its body and the
/// iteration. A later one is larger, also on another rank.
pub type Place = [(u32, u32)];

/// As [`each_event`], with the place of each event.
///
/// # Errors
/// The structure contradicts itself, or the first error of `visit`.
pub fn each_placed_event(
    document: &Document,
    seed: u64,
    visit: &mut impl FnMut(u32, &Event, &Place) -> Result<(), CompressError>,
) -> Result<(), CompressError> {
    let mut places = vec![Vec::new(); document.structure.items().len()];
    note_places(document, document.structure.root(), &[], &mut places);
    let mut events = Events::new(document, seed);
    let mut place = Vec::new();
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |expanded| {
            place.clear();
            let around = &places[expanded.item.0 as usize];
            place.extend(around.iter().copied().zip(expanded.indices.iter().copied()));
            visit(line, &expanded.event, &place)
        })?;
    }
    events.end()
}

fn note_places(document: &Document, body: &[ItemId], around: &[u32], places: &mut [Vec<u32>]) {
    for (place, item) in (0..).zip(body) {
        let here = [around, &[place]].concat();
        let (Repeats::Loop(inner) | Repeats::Event { children: inner, .. }) =
            &document.structure.items()[item.0 as usize].what;
        note_places(document, inner, &here, places);
        places[item.0 as usize] = here;
    }
}

/// Reads the events of a document, line by line from the first one on; no event is kept.
pub(crate) struct Events<'a> {
    document: &'a Document,
    files: HashMap<i64, i64, RandomState>,
    threads: Threads,
    draws: Draws<'a>,
    walker: Walker<'a>,
    ranks: Ranks,
    /// How many events each case had up to now.
    of_cases: HashMap<CaseId, i64, RandomState>,
    events: u64,
}

impl<'a> Events<'a> {
    pub(crate) fn new(document: &'a Document, seed: u64) -> Self {
        let files = files_of_paths(&document.names, &document.files);
        let loose = document.structure.drawn().keys().any(|&(_, column)| column == 0);
        let draws = Draws::new(&document.times, seed, loose);
        let walker = document.structure.walker(seed, document.events());
        Self {
            document,
            files,
            threads: Threads::of(&document.lines),
            draws,
            walker,
            ranks: Ranks::of(document),
            of_cases: HashMap::default(),
            events: 0,
        }
    }

    /// Calls `visit` with each event of the next line, in the order of its calls.
    pub(crate) fn line(
        &mut self,
        line: u32,
        visit: &mut impl FnMut(Expanded<'_>) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        self.line_counts(line, &mut |_, _| {}, visit)
    }

    /// Like [`Self::line`]; `counted` is told how often each item is executed.
    pub(crate) fn line_counts(
        &mut self,
        line: u32,
        counted: &mut impl FnMut(ItemId, u32),
        visit: &mut impl FnMut(Expanded<'_>) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        let document = self.document;
        let of_line = &document.lines[line as usize];
        let (draws, ranks) = (&mut self.draws, self.ranks);
        let mut foresight = Foresight::new(of_line, &self.files, &self.threads);
        let first_seq = self.of_cases.get(&of_line.case).copied().unwrap_or(0);
        let by_line = document.structure.has_counts_by_rank();
        let most = if by_line {
            of_line.events.into()
        } else {
            document.events() - self.events.min(document.events())
        };
        let mut events = 0_u32;
        self.walker.walk(line, counted, &mut |execution: Execution<'_>| {
            if u64::from(events) == most {
                return Err(CompressError::Events {
                    line,
                    found: events.saturating_add(1),
                    expected: events,
                });
            }
            let mut numbers = decode(document, &execution, &foresight, (ranks, of_line.rank));
            if !document.about.has_every_time() {
                numbers[SEQ] = Some(first_seq + i64::from(events));
                let expected = foresight.of(START, 0, &numbers, execution.inside).unwrap_or(0);
                let earliest = foresight.of(START, 1, &numbers, execution.inside).unwrap_or(expected);
                draws.times(&execution, events == 0, (expected, earliest), &mut numbers)?;
            }
            numbers[CASE] = of_line.case.number();
            numbers[PID] = of_line.pid.number();
            numbers[TID] = of_line.tid.number();
            let event =
                Event::of_numbers(&numbers).filter(|event| names_exist(document, event) && has_times(event));
            let event = event.ok_or(CompressError::Value { line, event: events })?;
            let expected = foresight.of(OFFSET, 1, &numbers, execution.inside);
            let is_sequential =
                event.size.get().is_some() && expected.is_some() && expected == numbers[OFFSET];
            foresight.follow(&numbers, numbers[DUR], execution.inside);
            events += 1;
            visit(Expanded { item: execution.item, indices: execution.indices, event, is_sequential })
        })?;
        if by_line && events != of_line.events {
            return Err(CompressError::Events { line, found: events, expected: of_line.events });
        }
        *self.of_cases.entry(of_line.case).or_default() += i64::from(events);
        self.events += u64::from(events);
        Ok(())
    }

    /// Whether each time and each value was drawn once.
    pub(crate) fn end(&self) -> Result<(), CompressError> {
        self.walker.end()?;
        self.draws.end()
    }
}

fn decode(
    document: &Document,
    execution: &Execution<'_>,
    foresight: &Foresight<'_>,
    (ranks, rank): (Ranks, u32),
) -> Numbers {
    let mut numbers = Numbers::default();
    let key = &document.keys[execution.key.0 as usize];
    numbers[LAYER] = key.layer.number();
    numbers[CALL] = key.call.number();
    numbers[ERRNO] = key.errno.number();
    numbers[FLAGS] = key.flags.number();
    numbers[SITE] = key.site.number();
    let Repeats::Event { columns, .. } = &document.structure.items()[execution.item.0 as usize].what else {
        return numbers;
    };
    for (((column, _), coded), value) in OF_EXECUTION.into_iter().zip(columns).zip(execution.values) {
        if column == PEER && coded.form == RELATIVE {
            numbers[column] = value.map(|value| ranks.absolute(value, rank));
            continue;
        }
        let foreseen = || foresight.of(column, coded.form, &numbers, execution.inside).unwrap_or(0);
        numbers[column] = value.map(|value| value.wrapping_add(foreseen()));
    }
    numbers
}

fn names_exist(document: &Document, event: &Event) -> bool {
    let (paths, flags) = (document.names.paths.len(), document.names.flags.len());
    [event.path, event.path2].iter().all(|path| path.get().is_none_or(|path| path.index() < paths))
        && [event.via, event.args].iter().all(|text| text.get().is_none_or(|text| (text.0 as usize) < flags))
}

/// Whether its end is a time.
fn has_times(event: &Event) -> bool {
    event.dur.get().is_none_or(|span| span.0 >= 0 && event.start.0.checked_add(span.0).is_some())
}
