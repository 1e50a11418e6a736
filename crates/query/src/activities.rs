//! The table of activities that all workers of a query share.

use crate::classified::ActivityId;
use iotrail_model::Interner;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of activities, numbered in the order in which workers meet them.
#[derive(Debug, Default)]
pub(crate) struct Activities(Mutex<Interner>);

impl Activities {
    /// The id of `name`, a new one if it was not met before.
    pub(crate) fn id(&self, name: &str) -> ActivityId {
        ActivityId(self.lock().intern(name.as_bytes()))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.lock().iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// A worker that panicked has either interned its name or not; the table is whole.
    fn lock(&self) -> MutexGuard<'_, Interner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
