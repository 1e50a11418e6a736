//! What was done to each file of a log, whatever it is: the rows of `iotrail files`.
//!
//! Access patterns are those of table 4 of a profile (`docs/stats.md`), times those of classes (`docs/why.md`).

use crate::access::Access;
use crate::byte_ranges::ByteRanges;
use crate::call::{Call, Kinds, columns};
use crate::error::StatsError;
use crate::file_table::FileTable;
use crate::part::{Context, RowFacts};
use crate::pattern::{Closed, Patterns, Streams};
use crate::size_histogram::SizeBin;
use crate::uses::Use;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::PerCall;
use iotrail_model::{FileId, FileRow, Nullable};
use iotrail_query::{Asks, Pass, ProcessGroups, ProcessTable, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// What was done to a file. Layer: that of the calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileUse {
    /// Calls that name it, or a descriptor of it.
    pub calls: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that failed, by name of the error.
    pub errors: BTreeMap<String, u64>,
    /// How often it was opened.
    pub opens: u64,
    /// Reads that moved bytes.
    pub reads: u64,
    /// Writes that moved bytes.
    pub writes: u64,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// Time of its calls that is I/O time: the sum of data, sync and metadata. NULL if no call tells.
    pub io_ns: Option<u64>,
    /// Time of calls that moved data. NULL if no call tells; so are all of the next.
    pub data_ns: Option<u64>,
    /// Time of calls that forced data to storage.
    pub sync_ns: Option<u64>,
    /// Time of calls that asked or changed something about it.
    pub metadata_ns: Option<u64>,
    /// Time of calls that waited for it, by the clock or for somebody.
    pub wait_ns: Option<u64>,
    /// Time in which requests (io_uring, aio) were in flight, each by itself; it is in none of the times above.
    pub request_ns: Option<u64>,
    /// Accesses that begin where the one before through the same open file description ended.
    pub consecutive: u64,
    /// Accesses that begin there or behind; holds the consecutive ones.
    pub sequential: u64,
    /// Accesses that begin before that.
    pub random: u64,
    /// The most common size of a request, the smallest of equally common ones; NULL also if there are too many sizes.
    pub common_size: Option<i64>,
    /// Its share of all requests.
    pub common_share: Option<f64>,
    /// Sizes of the reads: what was asked for, where that is known, else what moved.
    pub read_sizes: Vec<SizeBin>,
    /// Sizes of the writes.
    pub write_sizes: Vec<SizeBin>,
    /// Distinct bytes that were read; NULL if the offset of one read is unknown, or it is no file.
    pub unique_read: Option<u64>,
    /// Distinct bytes that were written.
    pub unique_written: Option<u64>,
    /// Bytes read again.
    pub reread: Option<u64>,
    /// Bytes written again.
    pub overwritten: Option<u64>,
    /// Which bytes were read; NULL where `unique_read` is, and of several files.
    pub ranges_read: Option<ByteRanges>,
    /// Which bytes were written; NULL where `unique_written` is, and of several files.
    pub ranges_written: Option<ByteRanges>,
    /// Processes that made these calls.
    pub processes: u64,
    /// Recorded cases (ranks) of these processes.
    pub ranks: u64,
    /// When the first of these calls began, ns since the epoch.
    pub first_ns: Option<i64>,
    /// When the last of them ended.
    pub last_ns: Option<i64>,
}

/// A file, or several that were called the same, and what was done to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UsedFile {
    /// What is known of it; of several only what all have in common.
    #[serde(flatten)]
    pub file: FileRow,
    /// Number of files.
    pub files: u64,
    /// What was done to it.
    #[serde(flatten)]
    pub used: FileUse,
}

impl UsedFile {
    /// Sorts files by a figure of theirs: the largest first, equal ones by path.
    #[must_use]
    pub fn sort_key(&self, figure: u64) -> (Reverse<u64>, Arc<str>, Option<u32>) {
        (Reverse(figure), self.file.path.clone(), self.file.file)
    }
}

/// What was done to the files of a log, and what is of no file that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileUses {
    /// The files.
    pub rows: Vec<UsedFile>,
    /// Bytes read through descriptors of which it is not known what they denote.
    pub unnamed_read: u64,
    /// Bytes written through such descriptors.
    pub unnamed_written: u64,
}

/// What is a row of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBy {
    /// The files that are called the same at last: most often a file that is made anew again and again.
    Path,
    /// Each file, whatever its names.
    File,
    /// Each name of each file.
    Name,
}

/// What was done to each file of `log` in the events that `query` selects, also where nothing was.
///
/// # Errors
/// If the log cannot be read.
pub fn file_uses(
    log: &EventLog,
    query: &Query,
    processes: &ProcessTable,
    by: RowBy,
    threads: NonZeroUsize,
) -> Result<FileUses, StatsError> {
    let groups = ProcessGroups::default();
    let pass = FileUsing::new(Context { log, query, processes, groups: &groups, only: None }, by, threads)?;
    Ok(scan(log, Some(query), threads, &pass)?)
}

/// The pass that makes [`UsedFile`]s.
pub struct FileUsing<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) kinds: Arc<Kinds>,
    /// Whether a call opens files.
    opens: PerCall<bool>,
    pub(crate) table: FileTable,
}

impl<'a> FileUsing<'a> {
    /// For the files of a log, whose rows are made as `by` says.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(context: Context<'a>, by: RowBy, threads: NonZeroUsize) -> Result<Self, StatsError> {
        Ok(Self::of_kinds(context, Arc::new(Kinds::new(context.log, threads)?), by))
    }

    /// The same beside a profile, with what is known of calls and files already.
    pub(crate) fn of_kinds(context: Context<'a>, kinds: Arc<Kinds>, by: RowBy) -> Self {
        let log = context.log;
        Self {
            context,
            kinds,
            opens: PerCall::new(&log.names().calls, |call| call.opens_file()),
            table: FileTable::new(log, by),
        }
    }
}

/// What a worker sums up.
#[derive(Default)]
pub struct FileSums {
    uses: HashMap<FileId, Use, RandomState>,
    patterns: Patterns,
    facts: RowFacts,
    unnamed_read: u64,
    unnamed_written: u64,
}

/// What consecutive rows remember of their ends.
pub struct FileBoundary(Streams);

/// What boundaries, in the order of their rows, make.
#[derive(Debug)]
pub struct ClosedFiles(Closed);

impl Pass for FileUsing<'_> {
    type Sums = FileSums;
    type Boundary = FileBoundary;
    type Closed = ClosedFiles;
    type Output = FileUses;

    fn columns(&self) -> Columns {
        columns()
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, activities: false, whole_log: false }
    }

    fn sums(&self) -> FileSums {
        FileSums::default()
    }

    fn closed(&self) -> ClosedFiles {
        ClosedFiles(Closed::default())
    }

    fn add(&self, sums: &mut FileSums, rows: &Rows<'_>) -> FileBoundary {
        let FileSums { uses, patterns, facts, unnamed_read, unnamed_written } = sums;
        let mut streams = Streams::default();
        facts.look(rows, &self.context);
        for row in 0..rows.batch.len {
            let mut call = self.kinds.call(rows.batch.event(row), facts.process[row], 0);
            streams.open(&call);
            if !facts.selected[row] {
                continue;
            }
            call.class = self.kinds.classes.of(rows.batch, row);
            let file = self.table.subject(call.event.file, call.event.path);
            let second = self.table.subject(call.event.file2, call.event.path2);
            if let Some(moved) = call.moved {
                let target = if call.is_copy() { second } else { file };
                let add =
                    |sum: &mut u64, is: bool| *sum = sum.saturating_add(if is { moved.bytes } else { 0 });
                add(unnamed_read, moved.read && file.is_none());
                add(unnamed_written, moved.written && target.is_none());
            }
            if let Some(file) = file {
                uses.entry(file).or_default().add(&call, self.opens.of(call.event.call));
            }
            if let Some(second) = second.filter(|_| call.kind.second) {
                uses.entry(second).or_default().add_second(&call, file == Some(second));
            }
            if call.file.is_some() || call.second.is_some() {
                // By file: whose access it was does not matter.
                let (file, second) = (call.file.and(file), call.second.and(second));
                let by_file = Call { process: None, file, second, ..call };
                patterns.add(&by_file, &mut streams, &self.kinds.across_cases);
            }
        }
        FileBoundary(streams)
    }

    fn merge(&self, sums: &mut FileSums, other: FileSums) {
        for (file, theirs) in other.uses {
            sums.uses.entry(file).or_default().merge(theirs);
        }
        sums.patterns.merge(other.patterns);
        sums.unnamed_read = sums.unnamed_read.saturating_add(other.unnamed_read);
        sums.unnamed_written = sums.unnamed_written.saturating_add(other.unnamed_written);
    }

    fn close(&self, ClosedFiles(closed): &mut ClosedFiles, FileBoundary(streams): FileBoundary) {
        closed.push(streams);
    }

    fn finish(&self, mut sums: FileSums, ClosedFiles(closed): ClosedFiles) -> FileUses {
        sums.patterns.settle(closed);
        let mut rows: Vec<(Use, Access, [Option<ByteRanges>; 2])> = Vec::new();
        rows.extend(self.table.rows.iter().map(|(_, files)| {
            let untouched = if *files == 1 { Access::default().ranges() } else { [None, None] };
            (Use::default(), Access::default(), untouched)
        }));
        let (unnamed_read, unnamed_written) = (sums.unnamed_read, sums.unnamed_written);
        for (subject, used) in sums.uses {
            if let Some((row, ..)) = rows.get_mut(self.table.row(subject)) {
                row.merge(used);
            }
        }
        for (subject, mut access) in sums.patterns.by_file() {
            let at = self.table.row(subject);
            if let Some((_, row, ranges)) = rows.get_mut(at) {
                if self.table.rows[at].1 == 1 {
                    *ranges = access.ranges();
                }
                row.merge_other_file(&mut access);
            }
        }
        let errno = |id| self.context.log.names().errno(Nullable::some(id)).unwrap_or_default().to_owned();
        let rows = self.table.rows.iter().zip(rows);
        let rows = rows.map(|((file, files), (used, access, ranges))| UsedFile {
            file: file.clone(),
            files: *files,
            used: used.row(errno, access, ranges),
        });
        FileUses { rows: rows.collect(), unnamed_read, unnamed_written }
    }
}

impl FileUse {
    /// Share of the accesses that begin where the one before ended or behind; NULL if none can be compared with one before.
    #[must_use]
    pub fn sequential_share(&self) -> Option<f64> {
        let steps = self.sequential + self.random;
        (steps > 0).then(|| self.sequential as f64 / steps as f64)
    }

    /// I/O time and time of requests in flight: by what files are sorted.
    #[must_use]
    pub fn weight_ns(&self) -> u64 {
        self.io_ns.unwrap_or_default().saturating_add(self.request_ns.unwrap_or_default())
    }

    /// Bytes moved in both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }

    /// Bytes that were moved again, as far as known.
    #[must_use]
    pub fn again(&self) -> Option<u64> {
        match (self.reread, self.overwritten) {
            (None, None) => None,
            (reread, overwritten) => {
                Some(reread.unwrap_or_default().saturating_add(overwritten.unwrap_or_default()))
            }
        }
    }
}
