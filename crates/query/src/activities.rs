//! The table of activities that all workers of a query share.

use crate::classified::ActivityId;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names of activities, numbered in the order in which workers meet them. Each name is stored once: results share it.
#[derive(Debug, Default)]
pub(crate) struct Activities(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    ids: HashMap<Arc<str>, u32, RandomState>,
    names: Vec<Arc<str>>,
}

impl Activities {
    /// The id of `name`, a new one if it was not met before.
    pub(crate) fn id(&self, name: &str) -> ActivityId {
        let mut table = self.lock();
        if let Some(known) = table.ids.get(name) {
            return ActivityId(*known);
        }
        let (id, name) = (table.names.len() as u32, Arc::<str>::from(name));
        table.ids.insert(Arc::clone(&name), id);
        table.names.push(name);
        ActivityId(id)
    }

    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        self.lock().names.clone()
    }

    /// A worker that panicked has either added its name or not; a number that no name has is never used.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
