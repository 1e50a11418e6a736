//! The values of a structure, item by item.

use super::{FORESEEN, LOSSY};
use crate::columns::Numbers;
use crate::error::CompressError;
use crate::events::Events;
use crate::stage::{Stage, Step};
use iotrail_structure::{Repeats, Value};
use iotrail_structure_file::Document;

/// Counts that take no more numbers than this are never smaller as distributions.
const SMALL: usize = 9;

/// Values by line, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByLine(pub(super) Vec<(u32, Vec<Value>)>);

impl ByLine {
    fn push(&mut self, line: u32, value: Value) {
        match self.0.last_mut() {
            Some((last, values)) if *last == line => values.push(value),
            _ => self.0.push((line, vec![value])),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(line, _)| *line)
    }

    /// Known values, each with its line.
    pub(super) fn known(&self) -> impl Iterator<Item = (u32, i64)> {
        self.0.iter().flat_map(|(line, values)| values.iter().flatten().map(|&value| (*line, value)))
    }

    /// Whether all lines have the same values.
    pub(super) fn is_common(&self) -> bool {
        self.0.iter().all(|(_, values)| Some(values) == self.0.first().map(|(_, first)| first))
    }
}

/// What is gathered of an item.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    /// Number of items around it, with itself.
    pub(super) depth: usize,
    /// Counts, unless they are small as they are.
    pub(super) counts: Option<ByLine>,
    /// [`LOSSY`] columns and then [`FORESEEN`] ones, of events.
    columns: Option<Vec<ByLine>>,
}

impl Gathered {
    pub(super) fn column(&self, column: usize) -> Option<&ByLine> {
        let place = columns().position(|other| other == column)?;
        Some(&self.columns.as_ref()?[place]).filter(|values| values.known().next().is_some())
    }
}

fn columns() -> impl Iterator<Item = usize> {
    LOSSY.into_iter().chain(FORESEEN)
}

pub(super) fn gather(document: &Document, step: Step<'_>) -> Result<Vec<Gathered>, CompressError> {
    let begin = |item: &iotrail_structure::Repeated| {
        let columns = match &item.what {
            Repeats::Event { .. } => Some(vec![ByLine::default(); columns().count()]),
            Repeats::Loop(_) => None,
        };
        let counts = (item.counts.weight() > SMALL).then(ByLine::default);
        Gathered { depth: 0, counts, columns }
    };
    let mut gathered: Vec<Gathered> = document.structure.items().iter().map(begin).collect();
    let mut depths = vec![0_usize; gathered.len()];
    note_depths(document, document.structure.root(), 1, &mut depths);
    let mut events = Events::new(document, 0);
    let mut walker = document.structure.walker(0, document.events());
    let mut done = 0;
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |expanded| {
            let numbers: Numbers = expanded.event.numbers();
            if let Some(values) = &mut gathered[expanded.item.0 as usize].columns {
                columns().zip(values).for_each(|(column, values)| values.push(line, numbers[column]));
            }
            done += 1;
            Ok(())
        })?;
        step(Stage::Distributions, done);
        let mut counted = |item: iotrail_structure::ItemId, count: u32| {
            if let Some(counts) = &mut gathered[item.0 as usize].counts {
                counts.push(line, Some(count.into()));
            }
        };
        walker.walk(line, &mut counted, &mut |_| Ok::<_, CompressError>(()))?;
    }
    gathered.iter_mut().zip(depths).for_each(|(item, depth)| item.depth = depth);
    Ok(gathered)
}

fn note_depths(document: &Document, body: &[iotrail_structure::ItemId], depth: usize, depths: &mut [usize]) {
    for item in body {
        depths[item.0 as usize] = depth;
        let (Repeats::Loop(inner) | Repeats::Event { children: inner, .. }) =
            &document.structure.items()[item.0 as usize].what;
        note_depths(document, inner, depth + 1, depths);
    }
}
