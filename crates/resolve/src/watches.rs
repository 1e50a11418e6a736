//! A call in flight on a descriptor, and what others do to that meanwhile.

use crate::ids::DescriptionId;

/// What a call does with a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It acts on what that stands for.
    Uses,
    /// It closes it.
    Closes,
    /// It lets it stand for something else.
    Replaces,
}

/// A call in flight on a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    /// The number of the call.
    pub(crate) call: u64,
    pub(crate) how: How,
    /// What the descriptor stood for when the call began; of a close, what it stands for since, if that was told.
    pub(crate) stood_for: Option<DescriptionId>,
    /// It stood for something else meanwhile.
    pub(crate) changed: bool,
    /// It was closed meanwhile.
    pub(crate) closed: bool,
    /// The call has closed it, though nobody told yet that it is over.
    pub(crate) done: bool,
    /// It stood for nothing when the call began, or may have been replaced since.
    pub(crate) is_unsure: bool,
    /// It may have stood for anything, or for nothing.
    pub(crate) is_any: bool,
}

/// A call that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its number, if it was seen to begin.
    pub(crate) call: Option<u64>,
    pub(crate) closes: bool,
    /// Whether its descriptor stood for nothing.
    pub(crate) is_bad: bool,
    /// The first other call in flight that may make a descriptor.
    pub(crate) first_maker: Option<u64>,
}

impl Watch {
    /// The call began when the descriptor stood for that, or perhaps for nothing.
    pub(crate) const fn new(call: u64, how: How, stood_for: Option<DescriptionId>) -> Self {
        Self {
            call,
            how,
            stood_for,
            changed: false,
            closed: false,
            done: false,
            is_unsure: false,
            is_any: false,
        }
    }

    /// Whether it may still close the descriptor.
    pub(crate) fn is_closing(&self) -> bool {
        self.how == How::Closes && !self.done
    }

    /// Whether a close has surely freed the descriptor, if that is given again and nobody else closes it.
    pub(crate) fn has_freed(&self) -> bool {
        self.stood_for.is_some() && !self.closed && !self.changed && !self.is_unsure
    }

    /// Whether it is unknown because of this what the descriptor stood for in the call that `ended`; it was told last at `given`
    /// to stand for something. What was closed may be given again by a call in flight.
    pub(crate) fn hides(&self, ended: &Ended, given: u64) -> bool {
        let may_be_given = ended.first_maker.is_some();
        match (Some(self.call) == ended.call, self.how) {
            (true, How::Uses) => self.changed || self.closed && (ended.is_bad || may_be_given),
            (true, How::Closes) => {
                // What was told last to come may not have been what it closed: something may have come before it, or been there.
                let may_be_second = ended.first_maker.is_some_and(|maker| maker < given);
                let came_late = self.is_unsure && (self.done || may_be_second);
                let may_have_come = self.is_any && self.stood_for.is_some();
                self.changed || self.closed && ended.is_bad || came_late || may_have_come
            }
            (false, How::Closes) => !self.done && (ended.is_bad || ended.closes || may_be_given),
            (false, How::Replaces) => true,
            (true, How::Replaces) | (false, How::Uses) => false,
        }
    }

    /// Whether it gives the descriptor to something else while the call `own` does, which is over.
    pub(crate) fn replaces_beside(&self, own: Option<u64>) -> bool {
        self.how == How::Replaces && (self.changed || self.closed || Some(self.call) != own)
    }

    /// The call `by` replaced what the descriptor stood for.
    pub(crate) fn is_replaced_by(&mut self, by: Option<u64>) {
        self.changed |= Some(self.call) != by && self.how != How::Uses && !self.done;
    }

    /// Another call closes the descriptor.
    pub(crate) fn closes(&mut self) {
        self.closed = true;
        self.changed |= self.is_closing();
    }

    /// The descriptor was given again: this is the only close in flight, so it has freed it, if nobody did before.
    pub(crate) fn frees(&mut self, is_replaced: bool) {
        self.done = !self.closed && self.stood_for.is_some();
        self.is_unsure |= self.done && (is_replaced || self.changed);
    }

    /// The descriptor stands for something else.
    pub(crate) fn comes(&mut self, description: DescriptionId) {
        let before = match self.how {
            // It closes what comes now, if anything, or closed what was there before.
            How::Closes if !self.done => self.stood_for.replace(description).unwrap_or(description),
            _ => return self.may_come(description),
        };
        self.changed |= before != description;
    }

    /// The descriptor stood for something else for a while.
    pub(crate) fn may_come(&mut self, description: DescriptionId) {
        self.changed |= !self.done && self.stood_for != Some(description);
    }
}
