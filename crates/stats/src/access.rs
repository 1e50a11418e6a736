//! How a process accessed a file, or a file was accessed, or a process did it to all its files: figures that add up.

use crate::byte_ranges::ByteRanges;
use crate::result::AccessRow;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::intervals::IntervalSet;

/// Distinct sizes at which counting them gives up.
const MOST_SIZES: usize = 1 << 14;
/// Distinct sizes that are looked for one after the other.
const FEW_SIZES: usize = 8;

/// One transfer between a process and a file, one way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) is_write: bool,
    pub(crate) bytes: u64,
    /// Bytes asked for, as far as known.
    pub(crate) requested: Option<u64>,
    /// Where it began.
    pub(crate) offset: Option<u64>,
    /// Whether it has a place in a file at all.
    pub(crate) in_file: bool,
}

/// Where an access began, seen from the end of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Consecutive,
    Ahead,
    Back,
}

impl Step {
    pub(crate) fn between(end: u64, start: u64) -> Self {
        match start.cmp(&end) {
            std::cmp::Ordering::Equal => Self::Consecutive,
            std::cmp::Ordering::Greater => Self::Ahead,
            std::cmp::Ordering::Less => Self::Back,
        }
    }
}

/// Transfers one way.
#[derive(Clone, Debug, Default)]
struct DirectionTotals {
    transfers: u64,
    bytes: u64,
    /// Of the bytes, those that have a place in a file.
    in_files: u64,
    /// The distinct bytes of files that were already summed up.
    summed: u64,
    /// The bytes of the file.
    set: IntervalSet,
    /// Whether the place of some is unknown.
    unknown: bool,
}

/// How a file was accessed. There may be as many as files times processes, and few are both read and written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    read: Option<Box<DirectionTotals>>,
    written: Option<Box<DirectionTotals>>,
    consecutive: u64,
    ahead: u64,
    back: u64,
    sizes: Sizes,
}

/// How often requests had which size.
#[derive(Clone, Debug)]
enum Sizes {
    /// Sizes and counts, in the order in which they came.
    Few(Vec<(u64, u64)>),
    Many(Box<HashMap<u64, u64, RandomState>>),
    /// Too many to count.
    Overflowed,
}

impl Access {
    pub(crate) fn add(&mut self, transfer: &Transfer) {
        let direction = if transfer.is_write { &mut self.written } else { &mut self.read };
        let direction = direction.get_or_insert_default();
        direction.transfers += 1;
        direction.bytes = direction.bytes.saturating_add(transfer.bytes);
        if transfer.in_file {
            direction.in_files = direction.in_files.saturating_add(transfer.bytes);
            match transfer.offset {
                Some(offset) => direction.set.insert(offset..offset.saturating_add(transfer.bytes)),
                None => direction.unknown = true,
            }
        }
        self.sizes.count(transfer.requested.unwrap_or(transfer.bytes), 1);
    }

    pub(crate) fn step(&mut self, step: Step) {
        match step {
            Step::Consecutive => self.consecutive += 1,
            Step::Ahead => self.ahead += 1,
            Step::Back => self.back += 1,
        }
    }

    /// Adds how the same file was accessed otherwise.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_figures(other);
        for (mine, theirs) in [(&mut self.read, &other.read), (&mut self.written, &other.written)] {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().set.union(&theirs.set);
            }
        }
    }

    /// Adds how another file was accessed, of which no more will come.
    pub(crate) fn merge_other_file(&mut self, other: &mut Self) {
        self.add_figures(other);
        for (mine, theirs) in [(&mut self.read, &mut other.read), (&mut self.written, &mut other.written)] {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_default();
            match theirs.set.bytes() {
                Some(bytes) => mine.summed = mine.summed.saturating_add(bytes),
                None => mine.unknown = true,
            }
        }
    }

    /// The bytes of the one file that were read, and those that were written; NULL where an offset is unknown.
    pub(crate) fn ranges(&mut self) -> [Option<ByteRanges>; 2] {
        [&mut self.read, &mut self.written].map(|direction| direction.get_or_insert_default().ranges())
    }

    fn add_figures(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.read, &other.read), (&mut self.written, &other.written)] {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_default();
            mine.transfers += theirs.transfers;
            mine.bytes = mine.bytes.saturating_add(theirs.bytes);
            mine.in_files = mine.in_files.saturating_add(theirs.in_files);
            mine.unknown |= theirs.unknown;
        }
        self.consecutive += other.consecutive;
        self.ahead += other.ahead;
        self.back += other.back;
        self.sizes.merge(&other.sizes);
    }

    pub(crate) fn row(&mut self, name: String) -> AccessRow {
        let common = self.sizes.most_common();
        let (read, written) = (self.read.get_or_insert_default(), self.written.get_or_insert_default());
        let requests = read.transfers + written.transfers;
        let (unique_read, reread) = read.unique();
        let (unique_written, overwritten) = written.unique();
        AccessRow {
            name,
            reads: read.transfers,
            writes: written.transfers,
            bytes_read: read.bytes,
            bytes_written: written.bytes,
            consecutive: self.consecutive,
            sequential: self.consecutive + self.ahead,
            random: self.back,
            common_size: common.and_then(|(size, _)| i64::try_from(size).ok()),
            common_share: common.map(|(_, count)| count as f64 / requests as f64),
            unique_read,
            unique_written,
            reread,
            overwritten,
            ..AccessRow::default()
        }
    }
}

impl DirectionTotals {
    fn ranges(&mut self) -> Option<ByteRanges> {
        if self.unknown { None } else { ByteRanges::of(&mut self.set) }
    }

    /// Distinct bytes, and those that were moved again.
    fn unique(&mut self) -> (Option<u64>, Option<u64>) {
        let unique = if self.unknown { None } else { self.set.bytes() };
        let unique = unique.map(|bytes| bytes.saturating_add(self.summed));
        (unique, unique.map(|unique| self.in_files.saturating_sub(unique)))
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Sizes {
    fn count(&mut self, size: u64, times: u64) {
        match self {
            Self::Few(counts) => match counts.iter().position(|(known, _)| *known == size) {
                Some(at) => counts[at].1 += times,
                None if counts.len() < FEW_SIZES => {
                    counts.reserve_exact(usize::from(counts.is_empty()));
                    counts.push((size, times));
                }
                None => {
                    let counts = counts.iter().copied().chain([(size, times)]);
                    *self = Self::Many(Box::new(counts.collect()));
                }
            },
            Self::Many(counts) => {
                *counts.entry(size).or_default() += times;
                if counts.len() > MOST_SIZES {
                    *self = Self::Overflowed;
                }
            }
            Self::Overflowed => {}
        }
    }

    fn merge(&mut self, other: &Self) {
        match other {
            Self::Few(counts) => counts.iter().for_each(|(size, times)| self.count(*size, *times)),
            Self::Many(counts) => counts.iter().for_each(|(size, times)| self.count(*size, *times)),
            Self::Overflowed => *self = Self::Overflowed,
        }
    }

    fn most_common(&self) -> Option<(u64, u64)> {
        let most = |(size, count): &(u64, u64)| (*count, std::cmp::Reverse(*size));
        match self {
            Self::Few(counts) => counts.iter().copied().max_by_key(most),
            Self::Many(counts) => counts.iter().map(|(size, count)| (*size, *count)).max_by_key(most),
            Self::Overflowed => None,
        }
    }
}
