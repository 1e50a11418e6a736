//! How long events take and what lies between them, as distributions.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use iotrail_structure::{Bucket, Extreme, Histogram, HistogramParts, Resolution};
use std::collections::BTreeMap;

/// Times of the events of an item, in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemTimes {
    /// From start to return, of those whose end was seen.
    pub durations: Histogram,
    /// From the end of the event before to the start, by the number of loops that were entered between.
    pub gaps: BTreeMap<u32, Histogram>,
}

impl ItemTimes {
    /// No event yet.
    #[must_use]
    pub fn new(resolution: Resolution) -> Self {
        Self { durations: Histogram::new(resolution), gaps: BTreeMap::new() }
    }

    /// Counts what lies before an event of a line, with so many loops entered between.
    pub fn add_gap(&mut self, entered: u32, gap: i64, line: u32, resolution: Resolution) {
        self.gaps.entry(entered).or_insert_with(|| Histogram::new(resolution)).add(gap, line);
    }

    fn histograms(&self) -> impl Iterator<Item = &Histogram> {
        std::iter::once(&self.durations).chain(self.gaps.values())
    }

    fn write(&self, most_line: u32, out: &mut Writer) {
        histogram(&self.durations, most_line, out);
        out.len(self.gaps.len());
        for (class, gaps) in &self.gaps {
            out.number(*class);
            histogram(gaps, most_line, out);
        }
    }

    fn read(
        input: &mut Reader<'_>,
        histogram: impl Fn(&mut Reader<'_>) -> Result<Histogram, FileError>,
    ) -> Result<Self, FileError> {
        let durations = histogram(input)?;
        let mut gaps = BTreeMap::new();
        for _ in 0..input.len("classes of gaps")? {
            let class = input.u32("a number of loops")?;
            if gaps.insert(class, histogram(input)?).is_some() {
                return Err(input.error(format_args!("class {class} twice"), "each class once"));
            }
        }
        Ok(Self { durations, gaps })
    }
}

/// The section of the times of items: the largest number of a line, and the items.
pub(crate) fn write(items: &[ItemTimes], out: &mut Writer) {
    let histograms = items.iter().flat_map(ItemTimes::histograms);
    let extremes = histograms.flat_map(|histogram| [histogram.min(), histogram.max()]);
    let most_line = extremes.flatten().map(|extreme| extreme.rank).max().unwrap_or(0);
    out.number(most_line);
    items.iter().for_each(|item| item.write(most_line, out));
}

/// The times of so many items.
pub(crate) fn read(
    input: &mut Reader<'_>,
    items: usize,
    resolution: Resolution,
) -> Result<Vec<ItemTimes>, FileError> {
    let most_line = input.u32("a number of a line")?;
    let histogram = |input: &mut Reader<'_>| read_histogram(input, resolution, most_line);
    (0..items).map(|_| ItemTimes::read(input, histogram)).collect()
}

/// The times of so many items, as files before version 4 have them.
pub(crate) fn read_plain(
    input: &mut Reader<'_>,
    items: usize,
    resolution: Resolution,
) -> Result<Vec<ItemTimes>, FileError> {
    let histogram = |input: &mut Reader<'_>| read_plain_histogram(input, resolution);
    (0..items).map(|_| ItemTimes::read(input, histogram)).collect()
}

/// A histogram whose smallest and largest value, lines of these and sum are digits: the values within their buckets, the sum within
/// what they allow.
pub(crate) fn histogram(histogram: &Histogram, most_line: u32, out: &mut Writer) {
    out.len(histogram.counts().len());
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return };
    out.number(histogram.level());
    let mut last = 0;
    for (&bucket, &count) in histogram.counts() {
        out.signed(bucket - last);
        out.number(count);
        last = bucket;
    }
    let (level, counts) = (histogram.level(), histogram.counts().clone());
    let parts = HistogramParts { level, counts, sum: histogram.sum(), min: Some(min), max: Some(max) };
    let (from, to) = first_range(&parts);
    digit(min.value.into(), from.into(), to.into(), out);
    out.digits.digit(min.rank.into(), most_line.into());
    if is_single(&parts) {
        return;
    }
    let (from, to) = last_range(&parts, min.value);
    digit(max.value.into(), from.into(), to.into(), out);
    out.digits.digit(max.rank.into(), most_line.into());
    let (from, to) = parts.sums();
    digit(parts.sum, from, to, out);
}

/// Whether it is of one value, which is all there is to tell.
fn is_single(parts: &HistogramParts) -> bool {
    parts.counts.values().eq([&1])
}

/// Where the smallest value is.
fn first_range(parts: &HistogramParts) -> (i64, i64) {
    range(parts, parts.counts.first_key_value())
}

/// Where the largest value is.
fn last_range(parts: &HistogramParts, min: i64) -> (i64, i64) {
    let (from, to) = range(parts, parts.counts.last_key_value());
    (from.max(min), to)
}

fn range(parts: &HistogramParts, bucket: Option<(&i32, &u64)>) -> (i64, i64) {
    let bucket = bucket.and_then(|(&number, &count)| Bucket::of_number(number, parts.level, count));
    bucket.map_or((i64::MIN, i64::MAX), |bucket| bucket.range())
}

/// A number of a range, as a digit if the range has no more than 64 bits.
fn digit(number: i128, from: i128, to: i128, out: &mut Writer) {
    match u64::try_from(to.saturating_sub(from)) {
        Ok(most) => out.digits.digit(number.saturating_sub(from) as u64, most),
        Err(_) => out.signed(number),
    }
}

fn read_digit(input: &mut Reader<'_>, (from, to): (i128, i128)) -> Result<i128, FileError> {
    match u64::try_from(to.saturating_sub(from)) {
        Ok(most) => Ok(from + i128::from(input.digit(most))),
        Err(_) => input.wide(),
    }
}

pub(crate) fn read_histogram(
    input: &mut Reader<'_>,
    resolution: Resolution,
    most_line: u32,
) -> Result<Histogram, FileError> {
    let Some(mut parts) = read_counts(input)? else { return Ok(Histogram::new(resolution)) };
    let extreme = |input: &mut Reader<'_>, (from, to): (i64, i64)| {
        let value = read_digit(input, (from.into(), to.into()))?;
        let value = i64::try_from(value).map_err(|_| input.error(value, "a number of 64 bits"))?;
        Ok(Extreme { value, rank: input.digit(most_line.into()) as u32 })
    };
    let min = extreme(input, first_range(&parts))?;
    let max = match is_single(&parts) {
        true => min,
        false => extreme(input, last_range(&parts, min.value))?,
    };
    (parts.min, parts.max) = (Some(min), Some(max));
    parts.sum = match is_single(&parts) {
        true => min.value.into(),
        false => read_digit(input, parts.sums())?,
    };
    of_parts(input, resolution, parts)
}

/// A histogram as files before version 4 have it.
pub(crate) fn read_plain_histogram(
    input: &mut Reader<'_>,
    resolution: Resolution,
) -> Result<Histogram, FileError> {
    let Some(parts) = read_counts(input)? else { return Ok(Histogram::new(resolution)) };
    let sum = input.wide()?;
    let (min, max) = (Some(extreme(input)?), Some(extreme(input)?));
    of_parts(input, resolution, HistogramParts { sum, min, max, ..parts })
}

fn of_parts(
    input: &Reader<'_>,
    resolution: Resolution,
    parts: HistogramParts,
) -> Result<Histogram, FileError> {
    let histogram = Histogram::of_parts(resolution, parts);
    histogram.ok_or_else(|| input.error("a histogram that contradicts itself", "one that adds up"))
}

/// Level and counts by bucket; NULL if there are none.
fn read_counts(input: &mut Reader<'_>) -> Result<Option<HistogramParts>, FileError> {
    let buckets = input.len("buckets")?;
    if buckets == 0 {
        return Ok(None);
    }
    let level = input.at_most(Resolution::MAX_LEVEL.into(), "a level")? as u8;
    let (mut counts, mut last) = (BTreeMap::new(), 0_i64);
    for _ in 0..buckets {
        last = last.saturating_add(input.signed()?);
        let bucket = i32::try_from(last).map_err(|_| input.error(last, "a bucket"))?;
        counts.insert(bucket, input.at_most(u64::MAX, "a count")?);
    }
    match counts.len() == buckets {
        true => Ok(Some(HistogramParts { level, counts, ..HistogramParts::default() })),
        false => Err(input.error("a bucket twice", "each bucket once")),
    }
}

fn extreme(input: &mut Reader<'_>) -> Result<Extreme, FileError> {
    Ok(Extreme { value: input.signed()?, rank: input.u32("a line")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Content;
    use crate::section::Section;
    use proptest::prelude::*;

    const RESOLUTION: Resolution = Resolution { level: 3, buckets: Some(16) };

    fn of(values: &[(i64, u32)]) -> Histogram {
        let mut histogram = Histogram::new(RESOLUTION);
        values.iter().for_each(|&(value, line)| histogram.add(value, line));
        histogram
    }

    fn content(items: &[ItemTimes]) -> Content {
        let mut out = Writer::default();
        write(items, &mut out);
        out.into()
    }

    fn back(content: &Content, items: usize) -> Result<Vec<ItemTimes>, FileError> {
        let mut input = Reader::new(Section::Histograms, content);
        let times = read(&mut input, items, RESOLUTION)?;
        input.end()?;
        Ok(times)
    }

    #[test]
    fn one_value_is_told_once() {
        let durations = of(&[(1_234_567, 3)]);
        let content = content(&[ItemTimes { durations, gaps: BTreeMap::new() }]);
        // The largest line; one bucket of level 3, its number (two bytes) and count; no gaps.
        assert_eq!(
            (content.bytes.len(), content.digits.len()),
            (1 + 1 + 1 + 2 + 1 + 1, 2),
            "16 and 2 bits and the last are not needed"
        );
    }

    proptest! {
        #[test]
        fn times_come_back(
            durations in prop::collection::vec((prop_oneof![0_i64..100, 0..9_999_999_i64, any::<i64>()], 0..40_u32), 0..40),
            gaps in prop::collection::vec((any::<i32>(), 0..4_u32), 0..4),
        ) {
            let mut item = ItemTimes { durations: of(&durations), gaps: BTreeMap::new() };
            gaps.iter().for_each(|&(gap, class)| item.add_gap(class, gap.into(), class, RESOLUTION));
            let items = [item.clone(), ItemTimes::new(RESOLUTION), item];
            prop_assert_eq!(back(&content(&items), 3).expect("times"), items);
        }

        #[test]
        fn any_bytes_are_times_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..100), digits in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let content = Content { bytes, digits, expanded: 0 };
            let _times_or_error = back(&content, 2);
            let _times_or_error = read_plain(&mut Reader::new(Section::Times, &content), 2, RESOLUTION);
        }
    }
}
