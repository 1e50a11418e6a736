//! The names of an event log with their ids, over all of its trails.

use crate::decode::NameTable;
use hashbrown::HashMap;
use iotrail_model::{NameKind, Names, calls};
use std::sync::Arc;

/// One dictionary and its inverse. The hash is seeded per process: no trace can choose its collisions.
#[derive(Clone, Debug, Default)]
struct Index {
    ids: HashMap<Arc<str>, u32, foldhash::fast::RandomState>,
}

impl Index {
    fn add(&mut self, names: &mut Vec<Arc<str>>, text: impl AsRef<str> + Into<Arc<str>>) -> Option<u32> {
        if let Some(known) = self.ids.get(text.as_ref()) {
            return Some(*known);
        }
        let name: Arc<str> = text.into();
        self.ids.insert(Arc::clone(&name), names.len() as u32);
        names.push(name);
        None
    }
}

/// Names by id and ids by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameIndex {
    names: Names,
    calls: Index,
    paths: Index,
    errnos: Index,
    flags: Index,
}

impl NameIndex {
    /// An index in which the rows of the call table have their own numbers.
    pub(crate) fn new() -> Self {
        let mut index = Self::default();
        for spec in calls::TABLE {
            index.add(NameKind::Call, spec.name);
        }
        index
    }

    /// Adds a name; answers its id if it was there before.
    pub(crate) fn add(&mut self, column: NameKind, text: impl AsRef<str> + Into<Arc<str>>) -> Option<u32> {
        let names = &mut self.names;
        match column {
            NameKind::Call => self.calls.add(&mut names.calls, text),
            NameKind::Path => self.paths.add(&mut names.paths, text),
            NameKind::Errno => self.errnos.add(&mut names.errnos, text),
            NameKind::Flags => self.flags.add(&mut names.flags, text),
        }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }
}

impl NameTable for &NameIndex {
    fn id(&mut self, column: NameKind, text: &str) -> Option<u32> {
        let index = match column {
            NameKind::Call => &self.calls,
            NameKind::Path => &self.paths,
            NameKind::Errno => &self.errnos,
            NameKind::Flags => &self.flags,
        };
        index.ids.get(text).copied()
    }
}
