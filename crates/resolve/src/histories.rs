//! What happened to a number while calls are in flight, and so what became of one that a call made which is told late.

/// What happened to a number, by the clock of [`crate::contested::Contested`]; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    /// When it was told to stand for something else.
    pub(crate) given: u64,
    /// When the call began that gave it.
    giver: u64,
    /// Up to when something that nobody told of may have stood there, and have gone again before that was given.
    freed: u64,
    /// Up to when it may have been closed.
    pub(crate) closed: u64,
    /// The same of closes that need not have closed what was told to stand there.
    spare: u64,
    /// When it was found to stand for something that a call in flight may have made.
    pub(crate) found: Unseen,
    /// When a call closed it that found it given before anybody told.
    pub(crate) unseen: Unseen,
}

/// A number stood for something before anybody told what made it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    pub(crate) at: u64,
    /// Whether one call in flight alone can have made that.
    pub(crate) is_sure: bool,
}

/// What became of a number that a call made, when the call is told to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stands for what the call made.
    Stands,
    /// It stands for something else since, or for nothing.
    Over,
    /// It stands for that or for something else.
    Unclear,
}

/// How a number came to stand for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gift {
    /// It was free.
    Free,
    /// It was free, and a call in flight may close it.
    Closing,
    /// What it stood for was replaced.
    Replaced,
}

impl History {
    /// The number was told at `given` to stand for something else, by a call that began at `giver`.
    pub(crate) fn gives(&mut self, given: u64, giver: u64, gift: Gift) {
        let freed = match gift {
            Gift::Free => self.freed.max(self.spare),
            // What is replaced need not be closed before.
            Gift::Closing | Gift::Replaced => given,
        };
        *self = Self { given, giver, freed, found: Unseen::default(), ..*self };
    }

    /// A call closes it: what was told to stand there if that `is_sure`, or something that nobody has told of.
    pub(crate) fn closes(&mut self, closed: u64, is_sure: bool) {
        self.may_be_closed(closed, is_sure);
        let unseen = if self.found.at > 0 { self.found } else { self.unseen };
        *self = Self { unseen, found: Unseen::default(), ..*self };
    }

    /// A call closes it that is over, or will have been.
    pub(crate) fn may_be_closed(&mut self, closed: u64, is_sure: bool) {
        self.closed = closed;
        // What was found may be what a call in flight made.
        if !is_sure || self.found.at > 0 {
            self.spare = closed;
        }
    }

    /// What became of the number since a call made it that began at `maker` and is over now. Some call in flight may close it: `is_closing`.
    pub(crate) fn fate(&self, maker: u64, is_closing: bool) -> Fate {
        if self.given > maker.max(self.unseen.at) {
            // What was made was closed before the number was given again, or the other way round.
            let is_first = self.freed > maker;
            let is_last = self.closed > self.giver || is_closing;
            return match (is_first, is_last) {
                (true, false) => Fate::Over,
                (false, true) => Fate::Stands,
                _ => Fate::Unclear,
            };
        }
        match self.unseen {
            Unseen { at, .. } if at <= maker => Fate::Stands,
            Unseen { is_sure: true, .. } => Fate::Over,
            Unseen { .. } => Fate::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What became of what the call made that began at 10; the number was told to stand for something at 5.
    fn fate(then: &[(u64, Step)]) -> Fate {
        let mut history = History::default();
        history.gives(5, 4, Gift::Free);
        for (at, step) in then {
            match step {
                Given(giver) => history.gives(*at, *giver, Gift::Free),
                Replaced(giver) => history.gives(*at, *giver, Gift::Replaced),
                Closed => history.closes(*at, true),
                MayBeClosed => history.closes(*at, false),
            }
        }
        history.fate(10, false)
    }

    #[derive(Clone, Copy)]
    enum Step {
        Given(u64),
        Replaced(u64),
        Closed,
        MayBeClosed,
    }
    use Step::{Closed, Given, MayBeClosed, Replaced};

    #[test]
    fn what_was_told_to_stand_there_took_the_only_close_before_the_number_was_given_again() {
        assert_eq!(fate(&[(12, Closed)]), Fate::Stands);
        assert_eq!(fate(&[(12, Closed), (14, Given(13)), (16, Closed)]), Fate::Stands);
        assert_eq!(
            fate(&[(12, Closed), (14, Given(13)), (16, Closed), (18, Given(17)), (20, Closed)]),
            Fate::Stands
        );
    }

    #[test]
    fn a_close_of_something_else_may_have_closed_what_was_made() {
        assert_eq!(fate(&[(11, Closed), (12, MayBeClosed), (14, Given(13))]), Fate::Over);
        assert_eq!(fate(&[(11, Closed), (12, MayBeClosed), (14, Given(13)), (16, Closed)]), Fate::Unclear);
        // It is so for the rest of the call.
        let later = [(16, Closed), (18, Given(17)), (20, Closed)];
        assert_eq!(
            fate(&[&[(11, Closed), (12, MayBeClosed), (14, Given(13))], &later[..]].concat()),
            Fate::Unclear
        );
    }

    #[test]
    fn what_is_replaced_need_not_be_closed() {
        assert_eq!(fate(&[(12, Closed), (14, Replaced(13))]), Fate::Over);
        assert_eq!(fate(&[(12, Closed), (14, Replaced(13)), (16, Closed)]), Fate::Unclear);
    }
}
