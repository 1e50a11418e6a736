//! A look at the next line, by which files that were written side by side are read in one order.

use super::notices::End;
use super::{Parser, feed};
use iotrail_import::Prefix;
use iotrail_model::{Tid, Timestamp};

/// What the next line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// When, if it has a time stamp.
    pub(crate) time: Option<Timestamp>,
    pub(crate) notice: Notice,
}

/// What the next line says beside calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    None,
    /// The thread ended.
    End,
    /// The thread goes on as this one, which called exec.
    Superseded(Tid),
}

impl Parser {
    /// Looks at the line at the start of `input`, without consuming it; `None` if it is not whole.
    pub(crate) fn ahead(&self, input: &[u8], at_end: bool) -> Option<Ahead> {
        let prefix = Prefix::read(feed::first_line(input, at_end)?);
        let stamp = prefix.stamp;
        let timed = stamp.absolute.is_some() || stamp.delta.is_some();
        let time = timed.then(|| {
            let mut timeline = self.timeline;
            let printed = timeline.advance(&stamp);
            let tid = prefix.tid.or(self.threads.of_unnamed());
            tid.map_or(printed, |tid| self.steps.peek(tid, printed))
        });
        let notice = match End::of_line(prefix.rest) {
            None => Notice::None,
            Some(End::Superseded(by)) => Notice::Superseded(by),
            Some(_) => Notice::End,
        };
        Some(Ahead { time, notice })
    }
}
