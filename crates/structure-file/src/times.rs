//! How long events take and what lies between them, as distributions.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use iotrail_structure::{Extreme, Histogram, HistogramParts, Resolution};
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

    pub(crate) fn write(&self, out: &mut Writer) {
        histogram(&self.durations, out);
        out.len(self.gaps.len());
        for (class, gaps) in &self.gaps {
            out.number(*class);
            histogram(gaps, out);
        }
    }

    pub(crate) fn read(input: &mut Reader<'_>, resolution: Resolution) -> Result<Self, FileError> {
        let durations = read_histogram(input, resolution)?;
        let mut gaps = BTreeMap::new();
        for _ in 0..input.len("classes of gaps")? {
            let class = input.u32("a number of loops")?;
            if gaps.insert(class, read_histogram(input, resolution)?).is_some() {
                return Err(input.error(format_args!("class {class} twice"), "each class once"));
            }
        }
        Ok(Self { durations, gaps })
    }
}

pub(crate) fn histogram(histogram: &Histogram, out: &mut Writer) {
    out.len(histogram.counts().len());
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return };
    out.number(histogram.level());
    let mut last = 0;
    for (&bucket, &count) in histogram.counts() {
        out.signed(bucket - last);
        out.number(count);
        last = bucket;
    }
    out.signed(histogram.sum());
    for extreme in [min, max] {
        out.signed(extreme.value);
        out.number(extreme.rank);
    }
}

pub(crate) fn read_histogram(input: &mut Reader<'_>, resolution: Resolution) -> Result<Histogram, FileError> {
    let buckets = input.len("buckets")?;
    if buckets == 0 {
        return Ok(Histogram::new(resolution));
    }
    let level = input.at_most(Resolution::MAX_LEVEL.into(), "a level")? as u8;
    let (mut counts, mut last) = (BTreeMap::new(), 0_i64);
    for _ in 0..buckets {
        last = last.saturating_add(input.signed()?);
        let bucket = i32::try_from(last).map_err(|_| input.error(last, "a bucket"))?;
        counts.insert(bucket, input.at_most(u64::MAX, "a count")?);
    }
    let sum = input.wide()?;
    let (min, max) = (extreme(input)?, extreme(input)?);
    let different = counts.len() == buckets;
    let parts = HistogramParts { level, counts, sum, min: Some(min), max: Some(max) };
    let histogram = different.then(|| Histogram::of_parts(resolution, parts)).flatten();
    histogram.ok_or_else(|| input.error("a histogram that contradicts itself", "one that adds up"))
}

fn extreme(input: &mut Reader<'_>) -> Result<Extreme, FileError> {
    Ok(Extreme { value: input.signed()?, rank: input.u32("a line")? })
}
