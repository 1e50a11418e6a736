//! What is known of row groups without reading them, in the engine's terms.

use datafusion::arrow::array::{ArrayRef, TimestampNanosecondArray, UInt32Array, UInt64Array};
use datafusion::common::Column;
use datafusion::common::pruning::PruningStatistics;
use datafusion::scalar::ScalarValue;
use iotrail_trail::{EventLog, RowGroupMeta};
use std::collections::HashSet;
use std::sync::Arc;

/// The bounds of `case_id` and `start` in each row group of a log.
pub(crate) struct RowGroups<'a>(pub(crate) &'a EventLog);

impl RowGroups<'_> {
    fn bounds(
        &self,
        column: &Column,
        case: fn(&RowGroupMeta) -> Option<u32>,
        start: fn(&RowGroupMeta) -> Option<i64>,
    ) -> Option<ArrayRef> {
        let groups = (0..self.0.row_groups()).map(|at| self.0.row_group(at));
        match column.name.as_str() {
            "case_id" => Some(Arc::new(groups.map(case).collect::<UInt32Array>())),
            "start" => {
                let times: TimestampNanosecondArray = groups.map(start).collect();
                Some(Arc::new(times.with_timezone("UTC")))
            }
            _ => None,
        }
    }
}

impl PruningStatistics for RowGroups<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        let case = |group: &RowGroupMeta| group.cases.as_ref().map(|cases| cases.start().0);
        self.bounds(column, case, |group| group.starts.as_ref().map(|starts| starts.start().0))
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        let case = |group: &RowGroupMeta| group.cases.as_ref().map(|cases| cases.end().0);
        self.bounds(column, case, |group| group.starts.as_ref().map(|starts| starts.end().0))
    }

    fn num_containers(&self) -> usize {
        self.0.row_groups()
    }

    fn null_counts(&self, _column: &Column) -> Option<ArrayRef> {
        None
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let rows = (0..self.0.row_groups()).map(|at| self.0.row_group(at).rows as u64);
        Some(Arc::new(UInt64Array::from_iter_values(rows)))
    }

    fn contained(
        &self,
        _column: &Column,
        _values: &HashSet<ScalarValue>,
    ) -> Option<datafusion::arrow::array::BooleanArray> {
        None
    }
}
