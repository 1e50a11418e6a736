//! The events of a structure, line by line.

use crate::columns::{
    CALL, CASE, DUR, ERRNO, FLAGS, LAYER, Numbers, OF_EXECUTION, OFFSET, PID, SEQ, START, TID,
};
use crate::draws::Draws;
use crate::error::CompressError;
use crate::foresight::Foresight;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Cell, Event, FileRow, Names};
use iotrail_structure::{Execution, ItemId, Repeats};
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
    let mut events = Events { draws: Draws::seeded(&document.times, seed), ..Events::new(document) };
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |expanded| visit(line, &expanded.event))?;
    }
    events.end()
}

/// Reads the events of a document; no event is kept.
pub(crate) struct Events<'a> {
    document: &'a Document,
    files: HashMap<i64, i64, RandomState>,
    draws: Draws<'a>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        let files = files_of_paths(&document.names, &document.files);
        Self { document, files, draws: Draws::new(&document.times) }
    }

    /// Calls `visit` with each event of the next line, in the order of its calls.
    pub(crate) fn line(
        &mut self,
        line: u32,
        visit: &mut impl FnMut(Expanded<'_>) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        let document = self.document;
        let of_line = &document.lines[line as usize];
        let draws = &mut self.draws;
        let mut foresight = Foresight::new(of_line.start, &self.files);
        let before = document.lines[..line as usize].iter().filter(|other| other.case == of_line.case);
        let first_seq: i64 = before.map(|line| i64::from(line.events)).sum();
        let mut events = 0;
        document.structure.walk(line, &mut |execution: Execution<'_>| {
            if events == of_line.events {
                return Err(CompressError::Events {
                    line,
                    found: events.saturating_add(1),
                    expected: events,
                });
            }
            let mut numbers = decode(document, &execution, &foresight);
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
        if events != of_line.events {
            return Err(CompressError::Events { line, found: events, expected: of_line.events });
        }
        Ok(())
    }

    /// Whether each time was drawn once.
    pub(crate) fn end(&self) -> Result<(), CompressError> {
        self.draws.end()
    }
}

fn decode(document: &Document, execution: &Execution<'_>, foresight: &Foresight<'_>) -> Numbers {
    let mut numbers = Numbers::default();
    let key = &document.keys[execution.key.0 as usize];
    numbers[LAYER] = key.layer.number();
    numbers[CALL] = key.call.number();
    numbers[ERRNO] = key.errno.number();
    numbers[FLAGS] = key.flags.number();
    let Repeats::Event { columns, .. } = &document.structure.items()[execution.item.0 as usize].what else {
        return numbers;
    };
    for (((column, _), coded), value) in OF_EXECUTION.into_iter().zip(columns).zip(execution.values) {
        let foreseen = || foresight.of(column, coded.form, &numbers, execution.inside).unwrap_or(0);
        numbers[column] = value.map(|value| value.wrapping_add(foreseen()));
    }
    numbers
}

fn names_exist(document: &Document, event: &Event) -> bool {
    let paths = document.names.paths.len();
    [event.path, event.path2].iter().all(|path| path.get().is_none_or(|path| path.index() < paths))
}

/// Whether its end is a time.
fn has_times(event: &Event) -> bool {
    event.dur.get().is_none_or(|span| span.0 >= 0 && event.start.0.checked_add(span.0).is_some())
}
