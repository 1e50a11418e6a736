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
    for (line, of_line) in (0..).zip(&document.lines) {
        let mut executions = vec![0; document.structure.items().len()];
        count(document, document.structure.root(), line, 1, &mut executions)?;
        for (item, &times) in document.structure.items().iter().zip(&executions) {
            let Repeats::Event { key, columns, .. } = &item.what else { continue };
            let key = &document.keys[key.0 as usize];
            if times == 0 || key.layer != Layer::Mpi || !key.errno.is_null() {
                continue;
            }
            let place = |column: usize| OF_EXECUTION.iter().position(|(other, _)| *other == column);
            let told = COLUMNS.map(|column| values(&columns.get(place(column)?)?.column, line));
            let told = all(told)?;
            for (told, times) in together(told, times)? {
                counted.push(CountedCalls { case: of_line.case, call: key.call, told, times });
            }
        }
    }
    Some(counted)
}

fn all<T>(values: [Option<T>; 5]) -> Option<[T; 5]> {
    let [a, b, c, d, e] = values;
    Some([a?, b?, c?, d?, e?])
}

/// The values of a line.
enum Line<'a> {
    Constant(Value),
    Sequence(&'a [Folded<Value>]),
}

/// NULL: they depend on iterations, or there are none.
fn values(column: &Column, line: u32) -> Option<Line<'_>> {
    let class = column.classes().iter().find(|class| class.ranks.contains(line))?;
    Some(match &class.values {
        Values::Null => Line::Constant(None),
        Values::Affine(affine) if affine.coefficients.iter().all(|&coefficient| coefficient == 0) => {
            Line::Constant(Some(affine.constant.checked_add(class.added(line)?)?))
        }
        Values::Affine(_) => return None,
        Values::Sequence(folded) => Line::Sequence(folded),
    })
}

/// How often the items of a body are executed that is itself executed so often.
fn count(document: &Document, body: &[ItemId], line: u32, times: u64, executions: &mut [u64]) -> Option<()> {
    for item in body {
        let of_item = &document.structure.items()[item.0 as usize];
        let sum = match values(&of_item.counts, line)? {
            Line::Constant(count) => u64::try_from(count?).ok()?.checked_mul(times)?,
            Line::Sequence(folded) => sum(folded, times)?,
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

/// What so many calls tell together.
fn together(columns: [Line<'_>; 5], times: u64) -> Option<Vec<(Told, u64)>> {
    let constant = columns.each_ref().map(|column| match column {
        Line::Constant(value) => *value,
        Line::Sequence(_) => None,
    });
    let sequences: Vec<(usize, &[Folded<Value>])> = columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| match column {
            Line::Sequence(folded) => Some((place, *folded)),
            Line::Constant(_) => None,
        })
        .collect();
    let mut counts: HashMap<Told, u64, RandomState> = HashMap::default();
    match &sequences[..] {
        [] => return Some(vec![(constant, times)]),
        [(place, folded)] => {
            let mut of_values = HashMap::default();
            histogram(folded, 1, &mut of_values)?;
            for (value, count) in of_values {
                let mut told = constant;
                told[*place] = value;
                counts.insert(told, count);
            }
        }
        several => {
            let mut readers: Vec<_> =
                several.iter().map(|(place, folded)| (*place, unfold(folded))).collect();
            for _ in 0..times {
                let mut told = constant;
                for (place, reader) in &mut readers {
                    told[*place] = *reader.next()?;
                }
                *counts.entry(told).or_default() += 1;
            }
        }
    }
    let number = counts.values().try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
    (number == times).then(|| counts.into_iter().collect())
}
