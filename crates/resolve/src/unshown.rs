//! Events of a trace that wait because it may show next which file a call opened.
//!
//! Programs ask for the attributes of what they open at once. Where a trace prints them, they are believed more than names, and an
//! open file description is one file: so its open is handed out when that is known, and with it, in their order, what came
//! meanwhile. Not for ever: what was not shown after [`MOST`] events is what its name says.

use iotrail_model::{Event, FileId, Nullable, OpenId, PathId};
use std::collections::VecDeque;

/// Events that may wait.
const MOST: usize = 64;

/// The waiting events.
#[derive(Debug, Default)]
pub(crate) struct Unshown {
    /// Whether the trace prints attributes.
    prints: bool,
    events: VecDeque<Event>,
    /// Whose files are not shown yet; their opens wait.
    opened: Vec<OpenId>,
}

impl Unshown {
    /// The trace prints attributes of files.
    pub(crate) fn prints(&mut self) {
        self.prints = true;
    }

    /// A call opened that.
    pub(crate) fn opens(&mut self, open: Nullable<OpenId>) {
        self.opened.extend(open.get().filter(|_| self.prints));
    }

    /// Nothing more is waited for.
    pub(crate) fn settles(&mut self, open: Nullable<OpenId>) {
        if !self.opened.is_empty() {
            self.opened.retain(|opened| Nullable::some(*opened) != open);
        }
    }

    /// All calls on an open file description act on this file. `false` if its open was handed out already.
    pub(crate) fn shows(&mut self, open: Nullable<OpenId>, file: Nullable<FileId>) -> bool {
        if !open.get().is_some_and(|open| self.opened.contains(&open)) {
            return false;
        }
        for event in &mut self.events {
            if event.open == open {
                event.file = file;
            }
            if event.open2 == open {
                event.file2 = file;
            }
        }
        true
    }

    /// Whether an event has to wait.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        !self.opened.is_empty() || !self.events.is_empty()
    }

    /// The event waits.
    pub(crate) fn push(&mut self, event: &Event) {
        self.events.push_back(*event);
        if self.events.len() > MOST {
            self.opened.clear();
        }
    }

    /// The event that waited longest, if it needs not wait any longer.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if self.opened.is_empty() { self.events.pop_front() } else { None }
    }

    /// Nothing more will be shown.
    pub(crate) fn end(&mut self) {
        self.opened.clear();
    }

    /// The paths of waiting events, to be renumbered.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Nullable<PathId>> {
        self.events.iter_mut().flat_map(|event| [&mut event.path, &mut event.path2])
    }
}
