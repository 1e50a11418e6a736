//! Events column by column: what analyses read.

use crate::event::Layer;
use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, SiteId, Tid};
use crate::nullable::Nullable;
use crate::time::{Nanos, Timestamp};
use std::ops::Range;
use std::sync::Arc;

macro_rules! batch {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// Consecutive rows of an event log, column by column, sorted by (case, start, seq).
        ///
        /// Every column is either `len` long or, when the reader was not asked for it, empty.
        /// Ids refer to the log's [`Names`].
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct EventBatch {
            /// How many rows there are.
            pub len: usize,
            $(#[$doc] pub $field: Vec<$cell>,)*
        }

        impl EventBatch {
            /// Appends one event to every column.
            pub fn push(&mut self, event: &crate::Event) {
                self.len += 1;
                $(self.$field.push(event.$field);)*
            }

            /// Row `row` as an event; columns that were not read are NULL or zero.
            #[must_use]
            pub fn event(&self, row: usize) -> crate::Event {
                crate::Event { $($field: self.$field.get(row).copied().unwrap_or_default(),)* }
            }

            /// Removes the first `count` rows of every column.
            pub fn drop_front(&mut self, count: usize) {
                self.len -= count;
                $(self.$field.drain(..count);)*
            }

            /// Removes all rows and keeps the memory.
            pub fn clear(&mut self) {
                self.len = 0;
                $(self.$field.clear();)*
            }

            /// Appends rows of `source` to every column.
            pub fn append(&mut self, source: &Self, rows: Range<usize>) {
                self.len += rows.len();
                $(self.$field.extend_from_slice(&source.$field[rows.clone()]);)*
            }

            /// Appends runs of rows of `source` to every column, in this order.
            pub fn append_runs(&mut self, source: &Self, runs: &[Range<usize>]) {
                self.len += runs.iter().map(ExactSizeIterator::len).sum::<usize>();
                $(append_runs(&mut self.$field, &source.$field, runs);)*
            }

            /// Brings the rows of every column into the order of these runs, which hold each row once.
            pub fn reorder(&mut self, runs: &[Range<usize>]) {
                $(reorder(&mut self.$field, runs);)*
            }

            /// Removes all rows that are not in these runs, which ascend.
            pub fn keep(&mut self, runs: &[Range<usize>]) {
                self.len = runs.iter().map(ExactSizeIterator::len).sum();
                $(keep(&mut self.$field, runs);)*
            }
        }
    };
}

crate::event_columns!(batch);

fn append_runs<T: Copy>(column: &mut Vec<T>, source: &[T], runs: &[Range<usize>]) {
    column.reserve(runs.iter().map(ExactSizeIterator::len).sum());
    for run in runs {
        // Most runs are short, and a row is cheaper than a copy of a range.
        match run.len() {
            1 => column.push(source[run.start]),
            _ => column.extend_from_slice(&source[run.clone()]),
        }
    }
}

fn reorder<T: Copy + PartialEq>(column: &mut Vec<T>, runs: &[Range<usize>]) {
    // Many columns are NULL in all rows.
    let Some(first) = column.first().copied() else { return };
    let is_equal = |some: &[T]| some.iter().fold(true, |equal, cell| equal & (*cell == first));
    if !column.chunks(64).all(is_equal) {
        let mut ordered = Vec::with_capacity(column.len());
        append_runs(&mut ordered, column, runs);
        *column = ordered;
    }
}

fn keep<T: Copy>(column: &mut Vec<T>, runs: &[Range<usize>]) {
    let mut end = 0;
    for run in runs {
        column.copy_within(run.clone(), end);
        end += run.len();
    }
    column.truncate(end);
}

impl EventBatch {
    /// A batch of whole events, all columns filled.
    #[must_use]
    pub fn from_events(events: &[crate::Event]) -> Self {
        let mut batch = Self::default();
        events.iter().for_each(|event| batch.push(event));
        batch
    }
}

/// The dictionaries of an event log: `names.calls[CallId.index()]` and so on.
///
/// Paths are in the text form of [`crate::text::path_to_text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Call names by [`CallId`].
    pub calls: Vec<Arc<str>>,
    /// Paths by [`PathId`].
    pub paths: Vec<Arc<str>>,
    /// Error names by [`ErrnoId`].
    pub errnos: Vec<Arc<str>>,
    /// Flag texts by [`FlagsId`].
    pub flags: Vec<Arc<str>>,
}

impl Names {
    /// The name of a call.
    #[must_use]
    pub fn call(&self, id: CallId) -> &str {
        &self.calls[id.index()]
    }

    /// The path, if it is known.
    #[must_use]
    pub fn path(&self, id: Nullable<PathId>) -> Option<&str> {
        id.get().map(|id| &*self.paths[id.index()])
    }

    /// The error name, if the call failed.
    #[must_use]
    pub fn errno(&self, id: Nullable<ErrnoId>) -> Option<&str> {
        id.get().map(|id| &*self.errnos[id.index()])
    }

    /// The flags, if there are any.
    #[must_use]
    pub fn flags(&self, id: Nullable<FlagsId>) -> Option<&str> {
        id.get().map(|id| &*self.flags[id.index()])
    }
}
