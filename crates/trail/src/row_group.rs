//! What is known about a row group without reading it, so that a scan can skip it.

use crate::columns::Columns;
use crate::parquet_file::ParquetFile;
use iotrail_model::{CaseId, EventBatch, Timestamp};
use parquet::file::statistics::Statistics;
use std::ops::RangeInclusive;

/// Bounds of a row group; ids are those of the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGroupMeta {
    /// Number of rows.
    pub rows: usize,
    /// Smallest and largest case; `None` if the file does not say.
    pub cases: Option<RangeInclusive<CaseId>>,
    /// First and last start; `None` if the file does not say.
    pub starts: Option<RangeInclusive<Timestamp>>,
}

impl RowGroupMeta {
    pub(crate) fn of_file(file: &ParquetFile, row_group: usize, first_case: u32) -> Self {
        let group = file.metadata().row_group(row_group);
        let statistics =
            |column: Columns| group.columns().get(column.place()).and_then(|chunk| chunk.statistics());
        let cases = match statistics(Columns::CASE) {
            Some(Statistics::Int32(bounds)) => bounds.min_opt().zip(bounds.max_opt()),
            _ => None,
        };
        let starts = match statistics(Columns::START) {
            Some(Statistics::Int64(bounds)) => bounds.min_opt().zip(bounds.max_opt()),
            _ => None,
        };
        let case = |id: i32| CaseId((id as u32).saturating_add(first_case));
        Self {
            rows: file.group_rows(row_group),
            cases: cases.map(|(min, max)| case(*min)..=case(*max)),
            starts: starts.map(|(min, max)| Timestamp(*min)..=Timestamp(*max)),
        }
    }

    pub(crate) fn of_batch(batch: &EventBatch) -> Self {
        let cases = batch.case.iter().min().zip(batch.case.iter().max());
        let starts = batch.start.iter().min().zip(batch.start.iter().max());
        Self {
            rows: batch.len,
            cases: cases.map(|(min, max)| *min..=*max),
            starts: starts.map(|(min, max)| *min..=*max),
        }
    }
}
