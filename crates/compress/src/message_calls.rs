//! What calls of MPI tell of messages, counted without executing the loops that they are in.
//!
//! How often an item is executed follows from the counts around it; which values it has, from its columns. Only where two
//! columns change are they read value by value.

use crate::columns::{COMM, OF_EXECUTION, PEER, RECEIVED, SENT, TAG};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CallId, CaseId, Layer};
use iotrail_structure::{Column, Folded, ItemId, Repeats, Value, Values, unfold};
use iotrail_structure_file::Document;

/// Communicator, partner, tag, bytes sent and received.
pub type Told = [Value; 5];

const COLUMNS: [usize; 5] = [COMM, PEER, TAG, SENT, RECEIVED];

/// Calls of MPI that did not fail and tell the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCalls {
    /// The case of the thread that made them.
    pub case: CaseId,
    /// Their name.
    pub call: CallId,
    /// What they tell.
    pub told: Told,
    /// How many they are.
    pub times: u64,
}

/// The calls of MPI of a structure; NULL: something is drawn, or follows from iterations, so that it has to be expanded.
#[must_use]
pub fn counted_calls(document: &Document) -> Option<Vec<CountedCalls>> {
    if !document.structure.drawn().is_empty() {
        return None;
    }
    let mut counted = Vec::new();
    let mut chains = vec![Vec::new(); document.structure.items().len()];
    note_chains(document, document.structure.root(), &[], &mut chains);
    for (line, of_line) in (0..).zip(&document.lines) {
        let mut executions = vec![0; document.structure.items().len()];
        count(document, document.structure.root(), line, 1, &mut executions)?;
        for ((item, &times), chain) in document.structure.items().iter().zip(&executions).zip(&chains) {
            let Repeats::Event { key, columns, .. } = &item.what else { continue };
            let key = &document.keys[key.0 as usize];
            if times == 0 || key.layer != Layer::Mpi || !key.errno.is_null() {
                continue;
            }
            let place = |column: usize| OF_EXECUTION.iter().position(|(other, _)| *other == column);
            let repetitions: Vec<Option<i64>> =
                chain.iter().map(|&item| constant(document, item, line)).collect();
            let told = COLUMNS.map(|column| values(&columns.get(place(column)?)?.column, line, &repetitions));
            let told = all(told)?;
            for (told, times) in together(&told, times)? {
                counted.push(CountedCalls { case: of_line.case, call: key.call, told, times });
            }
        }
    }
    Some(counted)
}

/// The items around each item, from the outermost to itself.
fn note_chains(document: &Document, body: &[ItemId], around: &[ItemId], chains: &mut [Vec<ItemId>]) {
    for &item in body {
        let chain = [around, &[item]].concat();
        let (Repeats::Loop(inner) | Repeats::Event { children: inner, .. }) =
            &document.structure.items()[item.0 as usize].what;
        note_chains(document, inner, &chain, chains);
        chains[item.0 as usize] = chain;
    }
}

/// The count of an item that is the same in each execution of its body.
fn constant(document: &Document, item: ItemId, line: u32) -> Option<i64> {
    match values(&document.structure.items()[item.0 as usize].counts, line, &[])? {
        Line::Constant(count) => count,
        Line::Sequence(_) | Line::Cycle(_) => None,
    }
}

fn all<T>(values: [Option<T>; 5]) -> Option<[T; 5]> {
    let [a, b, c, d, e] = values;
    Some([a?, b?, c?, d?, e?])
}

/// The values of a line.
enum Line<'a> {
    Constant(Value),
    Sequence(&'a [Folded<Value>]),
    /// The same again and again: those of the iterations of the innermost loops, of which each has as many.
    Cycle(Vec<Value>),
}

/// Most values of a cycle.
const LONGEST_CYCLE: i64 = 1_024;

/// NULL: there are none, or they depend on iterations of loops that have not always as many. `repetitions` are those of the
/// items around, from the outermost to its own.
fn values<'a>(column: &'a Column, line: u32, repetitions: &[Option<i64>]) -> Option<Line<'a>> {
    let class = column.classes().iter().find(|class| class.ranks.contains(line))?;
    Some(match &class.values {
        Values::Null => Line::Constant(None),
        Values::Affine(affine) if affine.coefficients.iter().all(|&coefficient| coefficient == 0) => {
            Line::Constant(Some(affine.constant.checked_add(class.added(line)?)?))
        }
        Values::Affine(affine) => {
            let first = affine.constant.checked_add(class.added(line)?)?;
            Line::Cycle(cycle(first, &affine.coefficients, repetitions)?)
        }
        Values::Sequence(folded) => Line::Sequence(folded),
    })
}

/// The values of the iterations of the innermost loops that values depend on.
fn cycle(first: i64, coefficients: &[i64], repetitions: &[Option<i64>]) -> Option<Vec<Value>> {
    let outermost = coefficients.iter().position(|&coefficient| coefficient != 0)?;
    let mut values = vec![first];
    for (&coefficient, &count) in coefficients.get(outermost..)?.iter().zip(repetitions.get(outermost..)?) {
        let count = count.filter(|&count| (1..=LONGEST_CYCLE / values.len() as i64).contains(&count))?;
        let mut longer = Vec::with_capacity(values.len() * count as usize);
        for value in values {
            for index in 0..count {
                longer.push(value.checked_add(coefficient.checked_mul(index)?)?);
            }
        }
        values = longer;
    }
    Some(values.into_iter().map(Some).collect())
}

/// How often the items of a body are executed that is itself executed so often.
fn count(document: &Document, body: &[ItemId], line: u32, times: u64, executions: &mut [u64]) -> Option<()> {
    for item in body {
        let of_item = &document.structure.items()[item.0 as usize];
        let sum = match values(&of_item.counts, line, &[])? {
            Line::Constant(count) => u64::try_from(count?).ok()?.checked_mul(times)?,
            Line::Sequence(folded) => sum(folded, times)?,
            Line::Cycle(_) => return None,
        };
        executions[item.0 as usize] = sum;
        let (Repeats::Loop(inner) | Repeats::Event { children: inner, .. }) = &of_item.what;
        if sum > 0 {
            count(document, inner, line, sum, executions)?;
        }
    }
    Some(())
}

/// The sum of exactly so many values.
fn sum(folded: &[Folded<Value>], times: u64) -> Option<u64> {
    let mut counts = HashMap::default();
    histogram(folded, 1, &mut counts)?;
    let (mut number, mut sum) = (0_u64, 0_u64);
    for (value, count) in counts {
        number = number.checked_add(count)?;
        sum = sum.checked_add(u64::try_from(value?).ok()?.checked_mul(count)?)?;
    }
    (number == times).then_some(sum)
}

/// Values with their numbers, without unfolding.
fn histogram(
    folded: &[Folded<Value>],
    times: u64,
    counts: &mut HashMap<Value, u64, RandomState>,
) -> Option<()> {
    for part in folded {
        match part {
            Folded::Run { count, value } => {
                let known = counts.entry(*value).or_default();
                *known = known.checked_add(count.checked_mul(times)?)?;
            }
            Folded::Loop { count, body } => histogram(body, count.checked_mul(times)?, counts)?,
        }
    }
    Some(())
}

/// The values of a line that change, one after the other.
fn reader<'a>(column: &'a Line<'_>) -> Option<Box<dyn Iterator<Item = Value> + 'a>> {
    match column {
        Line::Constant(_) => None,
        Line::Sequence(folded) => Some(Box::new(unfold(folded).copied())),
        Line::Cycle(values) => Some(Box::new(values.iter().copied().cycle())),
    }
}

/// What so many calls tell together.
fn together(columns: &[Line<'_>; 5], times: u64) -> Option<Vec<(Told, u64)>> {
    let mut counts: HashMap<Told, u64, RandomState> = HashMap::default();
    let constant = columns.each_ref().map(|column| match column {
        Line::Constant(value) => *value,
        Line::Sequence(_) | Line::Cycle(_) => None,
    });
    let changing = || columns.iter().enumerate().filter(|(_, column)| !matches!(column, Line::Constant(_)));
    let cycles = columns.iter().filter_map(|column| match column {
        Line::Cycle(values) => Some(values.len()),
        _ => None,
    });
    let sequences = columns.iter().filter(|column| matches!(column, Line::Sequence(_))).count();
    match (sequences, cycles.max()) {
        (0, None) => return Some(vec![(constant, times)]),
        // The loops of a shorter cycle are inside of those of a longer one.
        (0, Some(len)) => {
            for index in 0..len {
                let mut told = constant;
                for (place, column) in changing() {
                    let Line::Cycle(values) = column else { continue };
                    told[place] = *values.get(index % values.len().max(1))?;
                }
                *counts.entry(told).or_default() += times / len as u64;
            }
        }
        (1, None) => {
            for (place, column) in changing() {
                let Line::Sequence(folded) = column else { continue };
                let mut of_values = HashMap::default();
                histogram(folded, 1, &mut of_values)?;
                for (value, count) in of_values {
                    let mut told = constant;
                    told[place] = value;
                    counts.insert(told, count);
                }
            }
        }
        _ => {
            let mut readers: Vec<_> = columns
                .iter()
                .enumerate()
                .filter_map(|(place, column)| Some((place, reader(column)?)))
                .collect();
            for _ in 0..times {
                let mut told = constant;
                for (place, reader) in &mut readers {
                    told[*place] = reader.next()?;
                }
                *counts.entry(told).or_default() += 1;
            }
        }
    }
    let number = counts.values().try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
    (number == times).then(|| counts.into_iter().collect())
}
