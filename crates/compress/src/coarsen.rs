//! Structures of a lower precision: counts, sizes and offsets that are near each other become distributions.
//!
//! Of each column the form that takes the least space is kept, among the exact one and all clusterings that are as precise
//! as was asked for; so a lower precision never takes more numbers. What is drawn again has the recorded number of values,
//! sum, smallest and largest.
//!
//! Source: Scala-H-Trace, section 4; what is exact at every precision is in `safety`.

mod gather;
mod safety;
mod smallest;

use crate::columns::{
    ARGS, FD, FILE, FILE2, OF_EXECUTION, OFFSET, OPEN, OPEN2, PARENT, PATH, PATH2, PEER, RECEIVED, REQUESTED,
    RET, SENT, SIZE, TAG,
};
use crate::error::CompressError;
use crate::peers::{RELATIVE, Ranks};
use crate::stage::Step;
use gather::{ByLine, Gathered};
use iotrail_model::calls::{CallKind, PerCall, Transfer, mpi};
use iotrail_mpi_abi::RequestUse;
use iotrail_structure::{
    Affine, Coded, Column, Drawn, DrawnColumns, ItemId, Precision, Repeated, Repeats, Resolution, Sequences,
    Structure, Values,
};
use iotrail_structure_file::{CallKey, Document};
use safety::{Safety, can_change};
use smallest::{names, quantities};

/// Columns that are gathered: quantities, and the names that are tables at precision 0.
const LOSSY: [usize; 9] = [REQUESTED, SIZE, RET, OFFSET, SENT, RECEIVED, PEER, TAG, ARGS];

/// Columns of names that are foreseen from the events before.
const FORESEEN: [usize; 7] = [FD, OPEN, PATH, FILE, PATH2, FILE2, OPEN2];

/// The structure at a precision, in percent; 100 is the structure as it is. `step` is told how far it is.
///
/// # Errors
/// It is not exact, or contradicts itself.
pub fn coarsen(
    mut document: Document,
    precision: Precision,
    step: Step<'_>,
) -> Result<Document, CompressError> {
    if precision == Precision::EXACT || document.about.value_precision() == precision {
        return Ok(document);
    }
    if let Some(percent) = document.about.precision {
        return Err(CompressError::Coarse { percent });
    }
    let gathered = gather::gather(&document, step)?;
    let safety = Safety::of(&document);
    document.about.precision = Some(precision.percent());
    document.about.fixed_counts = safety.fixed();
    let exact = std::mem::take(&mut document.structure);
    let (resolution, kinds) = (document.about.value_resolution(), Kinds::of(&document));
    let coarsened = |document: &Document, counts: bool, requests: bool| {
        let (items, root, drawn) = exact.clone().into_parts();
        let (gathered, safety, kinds) = (&gathered, &safety, &kinds);
        let mut coarsening = Coarsening {
            document,
            gathered,
            safety,
            kinds,
            precision,
            resolution,
            counts,
            requests,
            items,
            drawn,
        };
        coarsening.name_parents(&root, 0);
        coarsening.body(&root);
        Structure::of_parts(coarsening.items, root, coarsening.drawn)
    };
    let draws_counts = |structure: &Structure| structure.drawn().keys().any(|&(_, column)| column == 0);
    let smallest = |document: &Document, requests: bool| {
        let fixed = coarsened(document, false, requests);
        let loose = safety.counts_may_change().then(|| coarsened(document, true, requests));
        let loose = loose.filter(|loose| draws_counts(loose) && loose.weight() < fixed.weight());
        loose.unwrap_or(fixed)
    };
    document.structure = smallest(&document, false);
    // Where senders decide, it does not matter which requests a call completed; elsewhere others would wait for ever.
    if precision == Precision::LEAST && safety.names_may_change() && draws_messages(&document) {
        document.structure = smallest(&document, true);
    }
    Ok(document)
}

/// As [`coarsen()`], unless the file of the structure is not smaller then.
///
/// # Errors
/// It is not exact, or contradicts itself.
pub fn smaller(document: Document, precision: Precision, step: Step<'_>) -> Result<Document, CompressError> {
    if precision == Precision::EXACT {
        return Ok(document);
    }
    let coarse = coarsen(document.clone(), precision, step)?;
    let len = |document: &Document| document.to_bytes().map(|bytes| bytes.len());
    Ok(if len(&coarse).ok() < len(&document).ok() { coarse } else { document })
}

/// What the calls of a document are.
struct Kinds {
    /// Whether what a call returns is a number of bytes or a position.
    returns: PerCall<bool>,
    /// Whether all ranks of a communicator give and get data.
    exchanges: PerCall<bool>,
    /// Whether it is one message.
    message: PerCall<bool>,
    /// Whether it completes requests.
    completes: PerCall<bool>,
}

impl Kinds {
    fn of(document: &Document) -> Self {
        let calls = &document.names.calls;
        let returns = PerCall::new(calls, |call| {
            call.spec.is_some_and(|spec| {
                matches!(spec.transfer, Transfer::Read | Transfer::Write) || spec.kind == CallKind::Seek
            })
        });
        Self {
            returns,
            exchanges: PerCall::new(calls, |call| mpi::exchanges(call.name)),
            message: PerCall::new(calls, |call| mpi::is_message(call.name)),
            completes: PerCall::new(calls, |call| RequestUse::of(call.name) == RequestUse::Completes),
        }
    }
}

/// Whether all counts stay exact at any precision, because some calls must be made as they were.
pub(crate) fn has_fixed_counts(document: &Document) -> bool {
    !Safety::of(document).counts_may_change()
}

/// Whether it is drawn how many messages there are, between which ranks, or with which tags, or they are made in another order: then those that
/// are sent need not be those that are received.
#[must_use]
pub fn draws_messages(document: &Document) -> bool {
    let items = document.structure.items();
    let names = [PEER, TAG].map(place_of);
    let holds_messages = |item: u32| {
        let mut waiting = vec![ItemId(item)];
        while let Some(item) = waiting.pop() {
            match &items[item.0 as usize].what {
                Repeats::Loop(body) => waiting.extend(body),
                Repeats::Event { key, children, .. } => {
                    if mpi::is_message(document.names.call(document.keys[key.0 as usize].call)) {
                        return true;
                    }
                    waiting.extend(children);
                }
            }
        }
        false
    };
    let is_message = |key: &CallKey| mpi::is_message(document.names.call(key.call));
    let mut drawn = document.structure.drawn().keys();
    let is_reordered = document.about.reordered && document.keys.iter().any(is_message);
    is_reordered
        || drawn.any(|&(item, column)| names.contains(&Some(column)) || column == 0 && holds_messages(item))
}

/// Whether the bytes of messages are drawn in calls of a kind.
#[must_use]
pub fn draws_bytes_of(document: &Document, is_of_kind: impl Fn(&str) -> bool) -> bool {
    draws_of(document, [SENT, RECEIVED], is_of_kind)
}

/// Whether partners and tags are drawn in calls of a kind.
#[must_use]
pub fn draws_partners_of(document: &Document, is_of_kind: impl Fn(&str) -> bool) -> bool {
    draws_of(document, [PEER, TAG], is_of_kind)
}

fn draws_of(document: &Document, columns: [usize; 2], is_of_kind: impl Fn(&str) -> bool) -> bool {
    let items = document.structure.items();
    let names = columns.map(place_of);
    let is_call = |item: u32| match &items[item as usize].what {
        Repeats::Loop(_) => false,
        Repeats::Event { key, .. } => is_of_kind(document.names.call(document.keys[key.0 as usize].call)),
    };
    document.structure.drawn().keys().any(|&(item, column)| names.contains(&Some(column)) && is_call(item))
}

struct Coarsening<'a> {
    document: &'a Document,
    gathered: &'a [Gathered],
    safety: &'a Safety,
    kinds: &'a Kinds,
    precision: Precision,
    resolution: Resolution,
    /// Whether counts may become distributions.
    counts: bool,
    /// Whether requests may become tables.
    requests: bool,
    items: Vec<Repeated>,
    drawn: DrawnColumns,
}

impl Coarsening<'_> {
    /// What is inside first: counts may change only if what they count allows it.
    fn body(&mut self, body: &[ItemId]) {
        for &item in body {
            let inside = match &self.items[item.0 as usize].what {
                Repeats::Loop(inside) => inside.clone(),
                Repeats::Event { children, .. } => children.clone(),
            };
            self.body(&inside);
            self.columns(item.0);
        }
        self.counts(body);
    }

    /// The call around a call is told by where it stands, not by its number, which depends on counts.
    fn name_parents(&mut self, body: &[ItemId], inside: usize) {
        for item in body {
            let depth = self.gathered[item.0 as usize].depth;
            let (inner, inside) = match &mut self.items[item.0 as usize].what {
                Repeats::Loop(inner) => (inner.clone(), inside),
                Repeats::Event { columns, children, .. } => {
                    let place = place(PARENT).filter(|_| (1..Sequences::MAX_NESTING).contains(&inside));
                    let parents = place.map(|place| &mut columns[place]).filter(|coded| coded.form == 0);
                    if let Some(coded) = parents {
                        *coded = Coded { form: 1, column: smallest::zero(&coded.column, depth) };
                    }
                    (children.clone(), inside + 1)
                }
            };
            self.name_parents(&inner, inside);
        }
    }

    fn columns(&mut self, item: u32) {
        let Repeats::Event { key, .. } = self.items[item as usize].what else { return };
        let call = self.document.keys[key.0 as usize].call;
        if self.counts {
            FORESEEN.into_iter().for_each(|column| self.as_they_are(item, column));
        }
        self.quantity(item, REQUESTED, None);
        self.quantity(item, SIZE, Some(REQUESTED));
        if self.form(item, RET) == Some(1) || self.kinds.returns.of(call) {
            self.quantity(item, RET, Some(SIZE));
        }
        self.quantity(item, OFFSET, None);
        if !self.kinds.exchanges.of(call) {
            self.quantity(item, SENT, None);
            self.quantity(item, RECEIVED, None);
        }
        if self.precision == Precision::LEAST && self.safety.names_may_change() {
            if self.kinds.message.of(call) {
                self.names(item, PEER, RELATIVE);
                self.names(item, TAG, 0);
            }
            if self.requests && self.kinds.completes.of(call) {
                self.names(item, ARGS, 0);
            }
        }
    }

    /// Names as they are: which events stand before an event, from which they are foreseen else, changes with their counts.
    fn as_they_are(&mut self, item: u32, column: usize) {
        let gathered = &self.gathered[item as usize];
        let Some((place, values)) = place(column).zip(gathered.column(column)) else { return };
        if self.form(item, column) != Some(0) {
            self.replace(item, place, 0, values.as_column(gathered.depth), None);
        }
    }

    /// Takes the form of a quantity that is smallest. `source`: the column that its form 1 is foreseen from.
    fn quantity(&mut self, item: u32, column: usize, source: Option<usize>) {
        let Some(place) = place(column) else { return };
        let Repeats::Event { columns, .. } = &self.items[item as usize].what else { return };
        let coded = &columns[place];
        let follows =
            source.and_then(place_of).is_some_and(|source| self.drawn.contains_key(&(item, source)));
        // What is drawn is drawn once: what equals it in every call equals it again.
        if follows && coded.form == 1 && is_zero(&coded.column) {
            return;
        }
        let Some(values) = self.gathered[item as usize].column(column) else { return };
        let depth = self.gathered[item as usize].depth;
        let exact = if follows && coded.form == 1 { None } else { Some(coded.column.weight()) };
        let found = quantities(values, depth, self.precision, self.resolution, exact);
        match found {
            Some((numbers, drawn)) => {
                let saved = exact.map(|exact| exact - numbers.weight() - drawn.weight());
                if saved.is_none_or(|saved| saved > self.cost(item, column)) {
                    self.replace(item, place, 0, numbers, Some(drawn));
                }
            }
            None if exact.is_none() => self.replace(item, place, 0, values.as_column(depth), None),
            None => {}
        }
    }

    /// How many numbers more the column takes that is foreseen from this one, if this one is drawn.
    fn cost(&self, item: u32, column: usize) -> usize {
        let dependant = match column {
            REQUESTED => SIZE,
            SIZE => RET,
            _ => return 0,
        };
        let gathered = &self.gathered[item as usize];
        let Some((values, place)) = gathered.column(dependant).zip(place(dependant)) else { return 0 };
        let Repeats::Event { columns, .. } = &self.items[item as usize].what else { return 0 };
        let coded = &columns[place];
        if coded.form != 1 || is_zero(&coded.column) {
            return 0;
        }
        let exact = values.as_column(gathered.depth).weight();
        let drawn = quantities(values, gathered.depth, self.precision, self.resolution, Some(exact));
        let weight = drawn.map_or(exact, |(numbers, drawn)| numbers.weight() + drawn.weight());
        weight.saturating_sub(coded.column.weight())
    }

    fn form(&self, item: u32, column: usize) -> Option<u8> {
        match &self.items[item as usize].what {
            Repeats::Event { columns, .. } => Some(columns[place(column)?].form),
            Repeats::Loop(_) => None,
        }
    }

    /// Takes a table in place of names, if that is smaller.
    fn names(&mut self, item: u32, column: usize, form: u8) {
        let Some(place) = place(column) else { return };
        let Repeats::Event { columns, .. } = &self.items[item as usize].what else { return };
        let exact = columns[place].column.weight();
        let gathered = &self.gathered[item as usize];
        let Some(values) = gathered.column(column) else { return };
        let ranks = Ranks::of(self.document);
        let lines = &self.document.lines;
        let name = |line: u32, value: i64| match form {
            RELATIVE => ranks.relative(value, lines[line as usize].rank),
            _ => value,
        };
        if let Some((numbers, drawn)) = names(values, gathered.depth, name, exact) {
            self.replace(item, place, form, numbers, Some(drawn));
        }
    }

    fn replace(&mut self, item: u32, place: usize, form: u8, column: Column, drawn: Option<Drawn>) {
        if let Repeats::Event { columns, .. } = &mut self.items[item as usize].what {
            columns[place].form = form;
            columns[place].column = column;
        }
        if let Some(drawn) = drawn {
            self.drawn.insert((item, place as u32 + 1), Drawn { draw: item, ..drawn });
        }
    }

    /// Equal counts of a body change together or not at all: what is opened, written and closed stays together.
    fn counts(&mut self, body: &[ItemId]) {
        if !self.counts {
            return;
        }
        let mut done = vec![false; body.len()];
        for first in 0..body.len() {
            if std::mem::replace(&mut done[first], true) {
                continue;
            }
            let item = body[first].0 as usize;
            let Some(counts) = &self.gathered[item].counts else { continue };
            let mut equal = vec![body[first]];
            for (other, done) in body.iter().zip(&mut done).skip(first + 1) {
                if self.gathered[other.0 as usize].counts.as_ref() == Some(counts) {
                    equal.push(*other);
                    *done = true;
                }
            }
            let exact = self.items[item].counts.weight();
            let depth = self.gathered[item].depth - 1;
            let found = quantities(counts, depth, self.precision, self.resolution, Some(exact));
            let Some((numbers, drawn)) = found else { continue };
            let lines: Vec<u32> = counts.lines().collect();
            let may_change = |item: &ItemId| {
                (drawn.common || !self.safety.is_collective(*item))
                    && can_change(&self.items, &self.drawn, *item, &lines, drawn.common)
            };
            if equal.iter().all(may_change) {
                for other in equal {
                    self.items[other.0 as usize].counts = numbers.clone();
                    self.drawn.insert((other.0, 0), Drawn { draw: item as u32, ..drawn.clone() });
                }
            }
        }
    }
}

/// The place of a column among those of items.
fn place(column: usize) -> Option<usize> {
    OF_EXECUTION.iter().position(|(other, _)| *other == column)
}

/// The number of a column among those that are drawn.
fn place_of(column: usize) -> Option<u32> {
    Some(place(column)? as u32 + 1)
}

/// Whether all values are 0.
fn is_zero(column: &Column) -> bool {
    column.classes().iter().all(|class| {
        class.strides.iter().all(|&stride| stride == 0)
            && match &class.values {
                Values::Null => true,
                Values::Affine(Affine { constant, coefficients }) => {
                    *constant == 0 && coefficients.iter().all(|&coefficient| coefficient == 0)
                }
                Values::Sequence(_) => false,
            }
    })
}

impl ByLine {
    fn as_column(&self, depth: usize) -> Column {
        smallest::column(self, depth, |value| value)
    }
}

#[cfg(test)]
mod tests;
