//! What was done to each file: the rows of `iotrail files`, and when and where the heaviest files were accessed.

use crate::data::NameId;
use crate::name_table::NameTable;
use crate::options::Limits;
use iotrail_stats::size_histogram::SizeBin;
use iotrail_stats::{AccessSample, UsedFile};
use serde::Serialize;

/// Steps of a point in time, and of an offset, in the picture of a sample: two digits of 64.
const STEPS: u64 = 64 * 64;

/// The table of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageFiles {
    /// Those with the most I/O time.
    pub list: Vec<PageFile>,
    /// How many more rows there are.
    pub more: u64,
    /// I/O time of all rows; NULL if none is known.
    pub io_ns: Option<u64>,
    /// I/O time of the rows that are not listed.
    pub more_io_ns: Option<u64>,
    /// How many rows have a sample of accesses at most.
    pub sampled: u64,
}

/// A file. Keys are short because there are many; the fields are those of `iotrail files`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageFile {
    /// Path of the file.
    pub n: NameId,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<String>,
    /// How many files had this name one after the other.
    pub files: u64,
    /// Calls, opens, reads, writes.
    pub c: (u64, u64, u64, u64),
    /// Failed calls by name of the error.
    pub e: Vec<(NameId, u64)>,
    /// Bytes read and written.
    pub b: (u64, u64),
    /// Time of data, sync and metadata calls, and time waited for it; NULL if it is unknown.
    pub t: Option<(u64, u64, u64, u64)>,
    /// Time in which requests (io_uring, aio) were in flight; NULL if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r: Option<u64>,
    /// Accesses that begin where the one before ended or behind, and others.
    pub s: (u64, u64),
    /// The most common size of a request, and its share.
    pub q: (Option<i64>, Option<f64>),
    /// Sizes of reads: 0 for the bin of zero, else one more than the power of two of the bin's lower end, and the count.
    pub rh: Vec<(u32, u64)>,
    /// Sizes of writes, likewise.
    pub wh: Vec<(u32, u64)>,
    /// Bytes read, and written, again.
    pub a: (Option<u64>, Option<u64>),
    /// Processes and ranks.
    pub p: (u64, u64),
    /// First start and last end after the page's origin.
    pub w: (Option<i64>, Option<i64>),
    /// When and where it was accessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<PageAccesses>,
}

/// A sample of the accesses to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageAccesses {
    /// Accesses whose offset is known, and those whose is not.
    pub placed: u64,
    /// Accesses whose offset is unknown.
    pub unplaced: u64,
    /// How many are in the picture; of several in one place of it one is drawn.
    pub drawn: u64,
    /// Time of the first and the last one after the page's origin.
    pub from: i64,
    /// Start of the last one.
    pub to: i64,
    /// The end of the farthest one, in bytes.
    pub extent: u64,
    /// Five digits of 64 each: two for the time, two for the offset, one for the size (binary digits of it, at most 31) and the
    /// direction (32 more for writes).
    pub points: String,
}

/// The rows of a log's files that calls touched, the one with the most I/O time first, as `iotrail files` sorts them. Answers their numbers.
pub(crate) fn order(files: &[UsedFile]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).filter(|row| files[*row].used.calls > 0).collect();
    order.sort_by_cached_key(|row| files[*row].sort_key(files[*row].used.weight_ns()));
    order
}

/// The rows whose accesses are sampled: the heaviest with any.
pub(crate) fn sampled(files: &[UsedFile], order: &[usize], limits: &Limits) -> Vec<usize> {
    let listed = order.iter().take(limits.files);
    let accessed = listed.filter(|row| files[**row].used.reads + files[**row].used.writes > 0);
    accessed.take(limits.sampled_files).copied().collect()
}

/// What a log's files are, and what was done to them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) rows: Vec<UsedFile>,
    pub(crate) order: Vec<usize>,
    /// Rows with a sample, and the samples.
    pub(crate) sampled: Vec<usize>,
    pub(crate) samples: Vec<AccessSample>,
}

impl Files {
    /// The rows that are listed, in their order.
    pub(crate) fn listed(&self, limits: &Limits) -> &[usize] {
        &self.order[..limits.files.min(self.order.len())]
    }

    /// The table, within the page's limits.
    pub(crate) fn page(&self, origin: i64, limits: &Limits, names: &mut NameTable) -> PageFiles {
        let (listed, rest) = self.order.split_at(limits.files.min(self.order.len()));
        let time = |rows: &[usize]| {
            let known = rows.iter().filter_map(|row| self.rows[*row].used.io_ns);
            known.fold(None, |sum: Option<u64>, nanos| Some(sum.unwrap_or(0).saturating_add(nanos)))
        };
        let list = listed.iter().map(|row| {
            let sample = self.sampled.iter().position(|other| other == row);
            let sample = sample.and_then(|at| self.samples.get(at));
            PageFile {
                x: sample.map(|sample| accesses(sample, origin, limits.accesses)),
                ..page_file(&self.rows[*row], origin, names)
            }
        });
        PageFiles {
            list: list.collect(),
            more: rest.len() as u64,
            io_ns: time(&self.order),
            more_io_ns: time(rest),
            sampled: limits.sampled_files as u64,
        }
    }
}

fn page_file(row: &UsedFile, origin: i64, names: &mut NameTable) -> PageFile {
    let used = &row.used;
    let time = (used.data_ns, used.sync_ns, used.metadata_ns);
    let after = |time: Option<i64>| time.map(|time| time.saturating_sub(origin));
    PageFile {
        n: names.id(&row.file.path),
        k: row.file.kind.clone(),
        files: row.files,
        c: (used.calls, used.opens, used.reads, used.writes),
        e: used.errors.iter().map(|(error, count)| (names.id(error), *count)).collect(),
        b: (used.bytes_read, used.bytes_written),
        t: match time {
            (Some(data), Some(sync), Some(metadata)) => {
                Some((data, sync, metadata, used.wait_ns.unwrap_or_default()))
            }
            _ => None,
        },
        r: used.request_ns.filter(|nanos| *nanos > 0),
        s: (used.sequential, used.random),
        q: (used.common_size, used.common_share.map(|share| (share * 1e6).round() / 1e6)),
        rh: histogram(&used.read_sizes),
        wh: histogram(&used.write_sizes),
        a: (used.reread, used.overwritten),
        p: (used.processes, used.ranks),
        w: (after(used.first_ns), after(used.last_ns)),
        x: None,
    }
}

fn histogram(bins: &[SizeBin]) -> Vec<(u32, u64)> {
    bins.iter().map(|bin| (u64::BITS - bin.from.leading_zeros(), bin.count)).collect()
}

/// A sample as a picture of [`STEPS`] by [`STEPS`] places, with at most `most` points.
fn accesses(sample: &AccessSample, origin: i64, most: usize) -> PageAccesses {
    let stride = sample.list.len().div_ceil(most.max(1)).max(1);
    let kept = || sample.list.iter().step_by(stride);
    let from = kept().next().map_or(0, |access| access.start_ns);
    let to = kept().next_back().map_or(from, |access| access.start_ns);
    let extent = kept().map(|access| access.offset.saturating_add(access.bytes)).max().unwrap_or(0);
    let mut points: Vec<[u64; 3]> = kept()
        .map(|access| {
            let size = u64::from((u64::BITS - access.bytes.leading_zeros()).min(31));
            let time = step(access.start_ns.abs_diff(from), to.abs_diff(from));
            [time, step(access.offset, extent), size + if access.is_write { 32 } else { 0 }]
        })
        .collect();
    let drawn = points.len() as u64;
    points.dedup();
    PageAccesses {
        placed: sample.placed,
        unplaced: sample.unplaced,
        drawn,
        from: from.saturating_sub(origin),
        to: to.saturating_sub(origin),
        extent,
        points: points
            .into_iter()
            .flat_map(|[time, offset, what]| [time / 64, time % 64, offset / 64, offset % 64, what])
            .map(crate::strip::figure)
            .collect(),
    }
}

/// Where `part` of `whole` is.
fn step(part: u64, whole: u64) -> u64 {
    let exact = u128::from(part) * u128::from(STEPS - 1) / u128::from(whole.max(1));
    u64::try_from(exact).unwrap_or(STEPS - 1).min(STEPS - 1)
}

impl Files {
    /// What the first scan found, to be completed with samples.
    pub(crate) fn new(rows: Vec<UsedFile>, limits: &Limits) -> Self {
        let order = order(&rows);
        let sampled = sampled(&rows, &order, limits);
        Self { rows, order, sampled, samples: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_stats::{FileUse, SampledAccess};

    fn file(path: &str, io_ns: Option<u64>) -> UsedFile {
        let used = FileUse {
            io_ns,
            data_ns: io_ns,
            sync_ns: io_ns.map(|_| 0),
            metadata_ns: io_ns.map(|_| 0),
            ..FileUse::default()
        };
        let file = iotrail_model::FileRow { path: path.into(), ..iotrail_model::FileRow::default() };
        UsedFile { file, used, files: 1 }
    }

    #[test]
    fn what_is_left_out_is_told_with_its_time() {
        let rows = vec![file("/a", Some(5)), file("/b", Some(7)), file("/c", None), file("/d", Some(1))];
        let files = Files { order: vec![1, 0, 3, 2], rows, ..Files::default() };
        let limits = Limits { files: 2, ..Limits::default() };
        let page = files.page(0, &limits, &mut NameTable::default());
        let times: Vec<_> = page.list.iter().map(|file| file.t).collect();
        assert_eq!(times, [Some((7, 0, 0, 0)), Some((5, 0, 0, 0))]);
        assert_eq!((page.more, page.io_ns, page.more_io_ns), (2, Some(13), Some(1)));
        let none = Files { order: vec![0], rows: vec![file("/x", None)], ..Files::default() };
        let page = none.page(0, &limits, &mut NameTable::default());
        assert_eq!((page.io_ns, page.more_io_ns, page.list[0].t), (None, None, None));
    }

    #[test]
    fn a_picture_of_accesses_reaches_from_corner_to_corner() {
        let at = |start_ns, offset, is_write| SampledAccess { start_ns, offset, bytes: 10, is_write };
        let list = vec![at(100, 0, false), at(150, 45, true), at(200, 90, false)];
        let sample = AccessSample { placed: 3, unplaced: 1, list };
        let page = accesses(&sample, 100, 9);
        assert_eq!((page.from, page.to, page.extent, page.drawn), (0, 100, 100, 3));
        assert_eq!(&page.points[..5], "00004");
        assert_eq!(&page.points[10..], "__vb4", "{}", page.points);
        let few = accesses(&sample, 100, 2);
        assert_eq!((few.drawn, few.placed, few.points.len()), (2, 3, 10));
        assert_eq!(accesses(&AccessSample::default(), 0, 2), PageAccesses::default());
    }
}
