//! Clocks that are set back while a trace is written.
//!
//! What a thread does one after the other stands in that order in its trace, whatever the clock says: a thread that
//! begins something before the last thing that it began shows that the clock was set back. From there on all times
//! of the input are later by as much as it takes for the thread to go on where it was. Between threads nothing
//! is certain (strace may print calls when they return), so only a thread's own order counts.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_import::ClockSteps;
use iotrail_model::{Nanos, Tid, Timestamp};

/// What can be undone if a line turns out to be none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// What is added to every time stamp.
    shift: i64,
    /// The thread of the last line, and when it began its last call or, if that is known, ended it.
    current: (Tid, Past),
    /// Whether the last line showed that the clock was set back.
    stepped: bool,
    seen: ClockSteps,
}

/// What a thread did last.
#[derive(Clone, Copy, Debug)]
struct Past {
    began: i64,
    ended: i64,
}

const NOTHING: Past = Past { began: i64::MIN, ended: i64::MIN };

/// The times of all threads of an input.
#[derive(Debug)]
pub(super) struct Steps {
    now: Now,
    others: HashMap<Tid, Past, RandomState>,
}

impl Default for Steps {
    fn default() -> Self {
        let now = Now { shift: 0, current: (Tid(0), NOTHING), stepped: false, seen: ClockSteps::default() };
        Self { now, others: HashMap::default() }
    }
}

impl Steps {
    /// When a thread says something for which the clock shows `printed`.
    #[inline]
    pub(super) fn at(&mut self, tid: Tid, printed: Timestamp) -> Timestamp {
        if self.now.current.0 != tid {
            self.turn_to(tid);
        }
        let past = &mut self.now.current.1;
        let mut at = printed.0.saturating_add(self.now.shift);
        self.now.stepped = at < past.began;
        if self.now.stepped {
            let goes_on = past.began.max(past.ended);
            self.now.seen.count(past.began.saturating_sub(at));
            self.now.shift = self.now.shift.saturating_add(goes_on.saturating_sub(at));
            at = goes_on;
        }
        past.began = at;
        Timestamp(at)
    }

    #[inline]
    fn turn_to(&mut self, tid: Tid) {
        let (last, past) = self.now.current;
        self.others.insert(last, past);
        self.now.current = (tid, self.others.get(&tid).copied().unwrap_or(NOTHING));
    }

    /// When a line of a thread would be, without taking note of it.
    pub(super) fn peek(&self, tid: Tid, printed: Timestamp) -> Timestamp {
        let past = match self.now.current.0 == tid {
            true => Some(self.now.current.1),
            false => self.others.get(&tid).copied(),
        };
        let at = printed.0.saturating_add(self.now.shift);
        Timestamp(past.map_or(at, |past| if at < past.began { past.began.max(past.ended) } else { at }))
    }

    /// The last call of a thread ended.
    #[inline]
    pub(super) fn ended(&mut self, tid: Tid, end: Timestamp) {
        if self.now.current.0 == tid {
            self.now.current.1.ended = end.0;
        }
    }

    /// The last line was the second half of a call: if the clock was set back while that went on, it is not over before its end.
    pub(super) fn went_on(&mut self) {
        let Past { began, ended } = self.now.current.1;
        if self.now.stepped && began < ended {
            self.now.current.1.began = ended;
            self.now.shift = self.now.shift.saturating_add(ended.saturating_sub(began));
        }
    }

    /// A thread is gone.
    pub(super) fn gone(&mut self, tid: Tid) {
        self.others.remove(&tid);
        if self.now.current.0 == tid {
            self.now.current.1 = NOTHING;
        }
    }

    /// A thread cannot begin before the call that made it, which began at this time by the clock of another input.
    pub(super) fn begin(&mut self, tid: Tid, made: Timestamp, shift: Nanos) {
        self.now.current = (tid, Past { began: made.0, ended: made.0 });
        self.now.shift = shift.0;
    }

    /// When the thread of the last line said something last.
    pub(super) fn last(&self) -> Timestamp {
        Timestamp(self.now.current.1.began)
    }

    /// What is added to every time stamp by now.
    pub(super) fn shift(&self) -> Nanos {
        Nanos(self.now.shift)
    }

    pub(super) fn seen(&self) -> ClockSteps {
        self.now.seen
    }

    /// To return to with [`Self::undo`].
    pub(super) fn now(&self) -> Now {
        self.now
    }

    pub(super) fn undo(&mut self, now: Now) {
        self.now = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lines: &[(u32, i64)]) -> (Vec<i64>, ClockSteps) {
        let mut steps = Steps::default();
        let times = lines.iter().map(|(tid, at)| {
            let peeked = steps.peek(Tid(*tid), Timestamp(*at));
            let time = steps.at(Tid(*tid), Timestamp(*at));
            assert_eq!(peeked, time);
            time.0
        });
        (times.collect(), steps.seen())
    }

    #[test]
    fn a_clock_that_is_set_back_goes_on_where_the_thread_was() {
        let (times, seen) = times(&[(1, 100), (1, 105), (1, 65), (1, 70), (2, 71), (1, 60)]);
        assert_eq!(times, [100, 105, 105, 110, 111, 110]);
        assert_eq!(seen, ClockSteps { count: 2, largest: Nanos(40) });
    }

    #[test]
    fn lines_of_different_threads_may_be_printed_in_any_order() {
        let lines = [(1, 100), (2, 50), (1, 110), (2, 60), (3, 1)];
        assert_eq!(times(&lines), (lines.map(|line| line.1).to_vec(), ClockSteps::default()));
    }

    #[test]
    fn a_call_that_took_long_is_over_before_the_next_begins() {
        let mut steps = Steps::default();
        assert_eq!(steps.at(Tid(1), Timestamp(100)).0, 100);
        steps.ended(Tid(1), Timestamp(150));
        assert_eq!(steps.at(Tid(1), Timestamp(90)).0, 150);
        assert_eq!(steps.at(Tid(1), Timestamp(95)).0, 155);
        assert_eq!(steps.at(Tid(1), Timestamp(94)).0, 155);
    }

    #[test]
    fn a_call_during_which_the_clock_is_set_back_lasts_as_long_as_it_says() {
        let mut steps = Steps::default();
        steps.at(Tid(1), Timestamp(100));
        steps.at(Tid(1), Timestamp(57));
        steps.ended(Tid(1), Timestamp(107));
        steps.went_on();
        assert_eq!(steps.at(Tid(1), Timestamp(58)).0, 108);
        steps.ended(Tid(1), Timestamp(120));
        steps.went_on();
        assert_eq!(steps.at(Tid(1), Timestamp(60)).0, 110, "the clock was not set back again");
    }

    #[test]
    fn a_line_that_is_none_can_be_undone() {
        let mut steps = Steps::default();
        steps.at(Tid(1), Timestamp(100));
        let now = steps.now();
        steps.at(Tid(2), Timestamp(5));
        steps.at(Tid(1), Timestamp(5));
        steps.undo(now);
        assert_eq!((steps.at(Tid(1), Timestamp(101)).0, steps.seen().count), (101, 0));
    }
}
