//! What happened to a number while calls are in flight, and so what became of one that a call made which is told late.

/// What happened to a number, by the clock of [`crate::contested::Contested`]; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    /// When it was told to stand for something else.
    pub(crate) given: u64,
    /// When the call began that gave it.
    giver: u64,
    /// Up to when it may have been closed before it was given.
    freed: u64,
    /// Up to when it may have been closed.
    pub(crate) closed: u64,
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
            Gift::Free => self.closed,
            Gift::Closing => given,
            // What is replaced need not be closed before.
            Gift::Replaced => u64::MAX,
        };
        *self = Self { given, giver, freed, found: Unseen::default(), ..*self };
    }

    /// A call closes it.
    pub(crate) fn closes(&mut self, closed: u64) {
        let unseen = if self.found.at > 0 { self.found } else { self.unseen };
        *self = Self { closed, unseen, found: Unseen::default(), ..*self };
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
