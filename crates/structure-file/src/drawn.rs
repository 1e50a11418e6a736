//! What is drawn instead of the values of columns.

use crate::error::FileError;
use crate::reader::Reader;
use crate::times::{histogram, read_histogram, read_plain_histogram};
use crate::writer::Writer;
use iotrail_structure::{
    Distribution, Drawn, DrawnColumns, Histogram, NameTable, Quantities, Repeated, Repeats, Resolution,
};
use std::collections::{BTreeMap, BTreeSet};

/// Few different values, each with its number.
const VALUES: u8 = 0;
/// Numbers of values in buckets; before version 4.
const PLAIN_BUCKETS: u8 = 1;
/// The most frequent names with their numbers, and which others there are.
const NAMES: u8 = 2;
/// Numbers of values in buckets.
const BUCKETS: u8 = 3;

type Result<T> = std::result::Result<T, FileError>;

pub(crate) fn write(columns: &DrawnColumns, out: &mut Writer) {
    out.len(columns.len());
    let mut last = 0;
    for (&(item, column), Drawn { common, draw, distributions }) in columns {
        out.number(item - last);
        last = item;
        out.number(column << 1 | u32::from(*common));
        out.number(*draw);
        out.len(distributions.len());
        distributions.iter().for_each(|distribution| write_distribution(distribution, out));
    }
}

fn write_distribution(distribution: &Distribution, out: &mut Writer) {
    match distribution {
        Distribution::Quantities(quantities) => match (quantities.values(), quantities.range()) {
            (Some(values), Some((min, max))) => {
                out.number(VALUES);
                counts(values, out);
                out.number(min.rank);
                out.number(max.rank);
            }
            _ => {
                out.number(BUCKETS);
                histogram(quantities.histogram(), u32::MAX, out);
            }
        },
        Distribution::Names(NameTable { frequent, others, others_count }) => {
            out.number(NAMES);
            counts(frequent, out);
            out.len(others.len());
            let mut last = 0;
            for &other in others {
                out.signed(i128::from(other) - i128::from(last));
                last = other;
            }
            out.number(*others_count);
        }
    }
}

fn counts(values: &BTreeMap<i64, u64>, out: &mut Writer) {
    out.len(values.len());
    let mut last = 0;
    for (&value, &count) in values {
        out.signed(i128::from(value) - i128::from(last));
        out.number(count);
        last = value;
    }
}

/// What is drawn of these items.
pub(crate) fn read(
    input: &mut Reader<'_>,
    items: &[Repeated],
    resolution: Resolution,
) -> Result<DrawnColumns> {
    let mut columns = DrawnColumns::new();
    let mut item = 0_u32;
    for _ in 0..input.len("drawn columns")? {
        item = item.saturating_add(input.u32("a step to an item")?);
        let Some(of_item) = items.get(item as usize) else {
            return Err(
                input.error(format_args!("item {item}"), format_args!("one of {} items", items.len()))
            );
        };
        let tag = input.u32("a column")?;
        let (column, common) = (tag >> 1, tag & 1 == 1);
        let most = match &of_item.what {
            Repeats::Event { columns, .. } => columns.len() as u32,
            Repeats::Loop(_) => 0,
        };
        if column > most {
            return Err(input.error(format_args!("column {column}"), format_args!("at most {most}")));
        }
        let draw = input.u32("a number of draws")?;
        let distributions = (0..input.len("distributions")?).map(|_| read_distribution(input, resolution));
        let distributions = distributions.collect::<Result<_>>()?;
        if columns.insert((item, column), Drawn { common, draw, distributions }).is_some() {
            return Err(input.error(format_args!("column {column} of item {item} twice"), "each column once"));
        }
    }
    Ok(columns)
}

fn read_distribution(input: &mut Reader<'_>, resolution: Resolution) -> Result<Distribution> {
    Ok(match input.at_most(BUCKETS.into(), "a kind of distribution")? as u8 {
        VALUES => {
            let values = read_counts(input)?;
            let ranks = (input.u32("a line")?, input.u32("a line")?);
            let quantities = Quantities::of_values(resolution, values, ranks);
            let wrong = || input.error("values with numbers that do not add up", "numbers from 1 on");
            Distribution::Quantities(quantities.ok_or_else(wrong)?)
        }
        PLAIN_BUCKETS => buckets(read_plain_histogram(input, resolution)?),
        BUCKETS => buckets(read_histogram(input, resolution, u32::MAX)?),
        _ => {
            let frequent = read_counts(input)?;
            let (mut others, mut last) = (BTreeSet::new(), 0);
            for _ in 0..input.len("names")? {
                last = step(input, last)?;
                others.insert(last);
            }
            let others_count = input.at_most(u64::MAX, "a count")?;
            let table = NameTable { frequent, others, others_count };
            if table.others_count < table.others.len() as u64
                || table.others.is_empty() && table.others_count > 0
                || table.others.iter().any(|other| table.frequent.contains_key(other))
            {
                return Err(input.error("names that do not add up", "each name once"));
            }
            Distribution::Names(table)
        }
    })
}

fn buckets(histogram: Histogram) -> Distribution {
    Distribution::Quantities(Quantities::of_histogram(histogram))
}

fn read_counts(input: &mut Reader<'_>) -> Result<BTreeMap<i64, u64>> {
    let (mut values, mut last) = (BTreeMap::new(), 0);
    let mut total = 0_u64;
    for _ in 0..input.len("values")? {
        last = step(input, last)?;
        let count = input.at_most(u64::MAX, "a count")?;
        let sum = total.checked_add(count).filter(|_| count > 0);
        total = sum.ok_or_else(|| input.error(count, "a count that adds up"))?;
        if values.insert(last, count).is_some() {
            return Err(input.error(format_args!("{last} twice"), "each value once"));
        }
    }
    Ok(values)
}

fn step(input: &mut Reader<'_>, last: i64) -> Result<i64> {
    let step = input.wide()?;
    let value = i128::from(last).checked_add(step).and_then(|value| i64::try_from(value).ok());
    value.ok_or_else(|| input.error(format_args!("a difference of {step}"), "one within 64 bits"))
}
