//! What stays exact, so that what is drawn can be made again without that ranks wait for each other for ever, and totals
//! are those that were recorded.

use super::{FORESEEN, OF_EXECUTION, OFFSET, place};
use crate::columns::{PARENT, RECEIVED, REQUESTED, SENT, SIZE};
use iotrail_model::calls::mpi::is_collective;
use iotrail_mpi_abi::RequestUse;
use iotrail_structure::{Column, DrawnColumns, ItemId, Repeated, Repeats, Sequences, Values};
use iotrail_structure_file::{Document, FixedCounts};
use std::collections::BTreeMap;

/// Which counts may change.
#[derive(Debug, Default)]
pub(super) struct Safety {
    /// Items that are collective calls, or around some.
    collective: Vec<bool>,
    fixed: Option<FixedCounts>,
}

impl Safety {
    pub(super) fn of(document: &Document) -> Self {
        let mut safety = Self { collective: vec![false; document.structure.items().len()], fixed: None };
        safety.note(document, document.structure.root(), &mut Vec::new(), 0);
        safety
    }

    pub(super) fn fixed(&self) -> Option<FixedCounts> {
        self.fixed
    }

    /// Whether some counts may become distributions.
    pub(super) fn counts_may_change(&self) -> bool {
        self.fixed.is_none()
    }

    /// Whether partners and tags of messages may.
    pub(super) fn names_may_change(&self) -> bool {
        self.fixed.is_none()
    }

    pub(super) fn is_collective(&self, item: ItemId) -> bool {
        self.collective[item.0 as usize]
    }

    /// `inside`: how many calls the body is in.
    fn note(&mut self, document: &Document, body: &[ItemId], around: &mut Vec<ItemId>, inside: usize) {
        for &item in body {
            around.push(item);
            match &document.structure.items()[item.0 as usize].what {
                Repeats::Loop(inner) => self.note(document, inner, around, inside),
                Repeats::Event { key, columns, children } => {
                    let name = document.names.call(document.keys[key.0 as usize].call);
                    self.call(document, name, around);
                    let parents = place(PARENT).map(|place| &columns[place]);
                    let others = inside == 0 || inside >= Sequences::MAX_NESTING;
                    if others && parents.is_some_and(|coded| coded.form == 0 && !is_null(&coded.column)) {
                        self.fixed.get_or_insert(FixedCounts::Parents);
                    }
                    self.note(document, children, around, inside + 1);
                }
            }
            around.pop();
        }
    }

    fn call(&mut self, document: &Document, name: &str, around: &[ItemId]) {
        if name.starts_with("MPI_Win_") {
            self.fixed.get_or_insert(FixedCounts::OneSided);
        }
        if RequestUse::of(name) == RequestUse::Starts {
            self.fixed.get_or_insert(FixedCounts::Persistent);
        }
        if !is_collective(name) {
            return;
        }
        around.iter().for_each(|item| self.collective[item.0 as usize] = true);
        let items = document.structure.items();
        let lines = around.last().map_or_else(Vec::new, |item| executing(&items[item.0 as usize].counts));
        let mut ranks: BTreeMap<u32, u32> = document.lines.iter().map(|line| (line.rank, 0)).collect();
        lines.iter().for_each(|&line| *ranks.entry(document.lines[line as usize].rank).or_default() += 1);
        let differ = |item: &ItemId| !is_equal(&items[item.0 as usize].counts, &lines);
        if ranks.values().any(|&lines| lines != 1) {
            self.fixed.get_or_insert(FixedCounts::SomeRanks);
        } else if around.iter().any(differ) {
            self.fixed.get_or_insert(FixedCounts::Differ);
        }
    }
}

/// Lines that execute an item at least once.
fn executing(counts: &Column) -> Vec<u32> {
    let never = |values: &Values| matches!(values, Values::Affine(affine) if affine.constant == 0 && affine.coefficients.iter().all(|&c| c == 0));
    let classes = counts
        .classes()
        .iter()
        .filter(|class| !never(&class.values) || class.strides.iter().any(|&s| s != 0));
    let mut lines: Vec<u32> = classes.flat_map(|class| class.ranks.iter()).collect();
    lines.sort_unstable();
    lines
}

/// Whether these lines have the same values.
fn is_equal(counts: &Column, lines: &[u32]) -> bool {
    let class = |line: u32| counts.classes().iter().position(|class| class.ranks.contains(line));
    let of_first = lines.first().and_then(|&line| class(line));
    let strides =
        of_first.is_some_and(|class| counts.classes()[class].strides.iter().any(|&stride| stride != 0));
    lines.iter().all(|&line| class(line) == of_first) && !strides
}

fn is_null(column: &Column) -> bool {
    column.classes().iter().all(|class| class.values == Values::Null)
}

/// Whether counts of an item may be drawn: all that is counted in it and its bytes come to the same. If ranks exchange their
/// counts (`common` is false), what is in it must be the same for all of these lines.
pub(super) fn can_change(
    items: &[Repeated],
    drawn: &DrawnColumns,
    item: ItemId,
    lines: &[u32],
    common: bool,
) -> bool {
    let fits = |item: u32, place: u32, column: &Column, is_exact: bool| {
        let is_drawn = drawn.get(&(item, place));
        if common {
            return is_drawn.is_some() || !is_exact || !is_sloped(column);
        }
        let pooled = is_drawn.is_none_or(|drawn| !drawn.common && drawn.distributions.len() == 1);
        pooled && is_for_all(column, lines, is_exact)
    };
    let of_inner = |inner: &ItemId| {
        fits(inner.0, 0, &items[inner.0 as usize].counts, true)
            && can_change(items, drawn, *inner, lines, common)
    };
    match &items[item.0 as usize].what {
        Repeats::Loop(body) => body.iter().all(of_inner),
        Repeats::Event { columns, children, .. } => {
            let of_column = |(place, coded): (usize, &iotrail_structure::Coded)| {
                let (column, _) = OF_EXECUTION[place];
                let adds_up = [REQUESTED, SIZE, SENT, RECEIVED].contains(&column);
                // Another execution would have another name.
                let is_exact = adds_up || FORESEEN.contains(&column);
                fits(item.0, place as u32 + 1, &coded.column, is_exact)
                    // Distances add up to offsets; those of other ranks' calls are others.
                    && (common || column != OFFSET || coded.form == 0)
            };
            columns.iter().enumerate().all(of_column) && children.iter().all(of_inner)
        }
    }
}

/// Whether values depend on iterations.
fn is_sloped(column: &Column) -> bool {
    column.classes().iter().any(|class| {
        matches!(&class.values, Values::Affine(affine) if affine.coefficients.iter().any(|&coefficient| coefficient != 0))
    })
}

/// Whether each of these lines has values, however many it needs; and if they must be those that were recorded, all the same.
fn is_for_all(column: &Column, lines: &[u32], is_exact: bool) -> bool {
    let endless = column.classes().iter().all(|class| !matches!(class.values, Values::Sequence(_)));
    let covered = lines.iter().all(|&line| column.classes().iter().any(|class| class.ranks.contains(line)));
    endless && covered && !(is_exact && (is_sloped(column) || !is_equal(column, lines)))
}
