//! Changes of one thing by several threads, by time: which of them overlap a call, and whether the last one before it is known.

use iotrail_model::Timestamp;

/// A change, or a call for which changes matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) thread: usize,
    pub(crate) begin: Timestamp,
    /// It was over by then.
    pub(crate) end: Timestamp,
    /// The names of what it made were looked up by then: its thread called again.
    pub(crate) named: Timestamp,
    /// It puts something else in the place of what is there.
    pub(crate) replaces: bool,
}

/// Changes by their begins.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    spans: Vec<Span>,
    /// When the last one up to each was over.
    over: Vec<Timestamp>,
}

impl Overlaps {
    pub(crate) fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| span.begin);
        let ends = spans.iter().scan(Timestamp(i64::MIN), |over, span| {
            *over = (*over).max(span.end);
            Some(*over)
        });
        Self { over: ends.collect(), spans }
    }

    /// Whether changes of other threads may have come before or after a call, or two did come before it and nobody can say which
    /// was the last.
    pub(crate) fn is_uncertain(&self, call: Span) -> bool {
        if self.during(call).next().is_some() {
            return true;
        }
        let before = self.spans.partition_point(|span| span.begin < call.begin);
        let of_before = || self.spans[..before].iter().rev();
        let Some(last) = of_before().take(MANY).max_by_key(|span| span.end) else { return false };
        self.behind(before, last.begin).any(|span| span.thread != last.thread)
    }

    /// A change until the names of what it made were looked up.
    pub(crate) fn until_named(&self, change: Span) -> Span {
        let first = self.spans.partition_point(|span| span.begin < change.begin);
        let at_once = self.spans[first..].iter().take_while(|span| span.begin == change.begin);
        let named = at_once.filter(|span| span.thread == change.thread).map(|span| span.named).max();
        Span { end: change.end.max(named.unwrap_or(change.end)), ..change }
    }

    /// Changes of other threads that may have come before or after a call, or while it was made.
    pub(crate) fn during(&self, call: Span) -> impl Iterator<Item = &Span> {
        let begun = self.spans.partition_point(|span| span.begin <= call.end);
        self.behind(begun, call.begin).filter(move |span| span.thread != call.thread)
    }

    /// Those of the first `count` that were not over before `time`.
    fn behind(&self, count: usize, time: Timestamp) -> impl Iterator<Item = &Span> {
        let spans = self.spans[..count].iter().zip(&self.over[..count]).rev();
        let spans = spans.take_while(move |(_, over)| **over >= time).map(|(span, _)| span);
        spans.filter(move |span| span.end >= time)
    }
}

/// The last of changes is among so many that began last: a thread makes one at a time.
const MANY: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn span(thread: usize, begin: i64, end: i64) -> Span {
        Span { thread, begin: Timestamp(begin), end: Timestamp(end), named: Timestamp(end), replaces: false }
    }

    #[test]
    fn what_overlaps_is_uncertain_and_what_came_before_is_not() {
        let changes = Overlaps::new(vec![span(1, 10, 12), span(2, 20, 22), span(1, 30, 39)]);
        let uncertain = |begin, end| changes.is_uncertain(span(3, begin, end));
        assert_eq!(
            [(13, 19), (0, 9), (23, 29), (40, 90)].map(|(begin, end)| uncertain(begin, end)),
            [false; 4]
        );
        assert_eq!(
            [(11, 11), (5, 10), (12, 13), (0, 99), (35, 90)].map(|(begin, end)| uncertain(begin, end)),
            [true; 5]
        );
        assert!(!changes.is_uncertain(span(1, 31, 35)), "its own");
    }

    #[test]
    fn names_are_looked_up_until_the_thread_calls_again() {
        let named = Span { named: Timestamp(25), ..span(1, 10, 12) };
        let changes = Overlaps::new(vec![named, span(2, 10, 11), span(2, 20, 22)]);
        assert_eq!(changes.until_named(span(1, 10, 12)).end, Timestamp(25));
        assert_eq!(changes.until_named(span(2, 20, 22)).end, Timestamp(22));
        assert_eq!(changes.during(span(1, 10, 12)).count(), 1);
        assert_eq!(changes.during(changes.until_named(span(1, 10, 12))).count(), 2);
        assert_eq!(changes.until_named(span(3, 1, 2)).end, Timestamp(2), "it is no change");
    }

    #[test]
    fn of_two_changes_at_once_nobody_knows_the_last() {
        let changes = Overlaps::new(vec![span(1, 10, 20), span(2, 15, 18)]);
        assert!(changes.is_uncertain(span(3, 30, 31)));
        assert!(changes.is_uncertain(span(1, 30, 31)));
        let settled = Overlaps::new(vec![span(1, 10, 20), span(2, 15, 18), span(2, 25, 26)]);
        assert!(!settled.is_uncertain(span(3, 30, 31)));
    }
}
