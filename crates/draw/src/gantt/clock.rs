//! The span of time of a Gantt chart.

use super::{Gantt, GanttRow};

/// First and last moment.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    first: i64,
    last: i64,
}

impl Clock {
    pub(super) fn of(gantt: &Gantt) -> Self {
        let known = || gantt.rows.iter().flat_map(|row| [row.start, row.end]).flatten();
        let (first, last) = gantt.span.unwrap_or((i64::MAX, i64::MIN));
        let first = known().fold(first, i64::min);
        let last = known().fold(last, i64::max);
        if first <= last { Self { first, last } } else { Self { first: 0, last: 0 } }
    }

    pub(super) fn length(self) -> f64 {
        self.since(self.last)
    }

    pub(super) fn since(self, moment: i64) -> f64 {
        (i128::from(moment) - i128::from(self.first)) as f64
    }

    /// Start and end of a row as far as they are drawn; what is not known reaches to the border.
    pub(super) fn span(self, row: &GanttRow) -> (i64, i64) {
        let start = row.start.or(row.end).unwrap_or(self.first);
        let start = if row.start.is_none() { self.first } else { start };
        (start, row.end.unwrap_or(self.last).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_seen_reaches_to_the_border() {
        let clock = Clock { first: 0, last: 100 };
        let row = |start, end| GanttRow { start, end, ..GanttRow::default() };
        assert_eq!(clock.span(&row(None, None)), (0, 100));
        assert_eq!(clock.span(&row(Some(7), None)), (7, 100));
        assert_eq!(clock.span(&row(None, Some(9))), (0, 9));
        assert_eq!(clock.span(&row(Some(9), Some(3))), (9, 9));
    }
}
