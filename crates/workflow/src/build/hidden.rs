//! What the graph leaves out, counted.

use super::record::{Op, Record};
use super::vocabulary::{PathKind, Vocabulary};
use crate::graph::LeftOut;
use crate::system::System;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{FileId, Nullable, PathId};
use iotrail_query::ProcessId;

/// Why a file is no vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Why {
    System,
    Directory,
    MappedOnly,
    LookedAtOnly,
}

impl Why {
    const ALL: [Self; 4] = [Self::System, Self::Directory, Self::MappedOnly, Self::LookedAtOnly];

    const fn name(self) -> &'static str {
        match self {
            Self::System => "system files",
            Self::Directory => "directories",
            Self::MappedOnly => "programs and libraries that were executed or mapped only",
            Self::LookedAtOnly => "files that were opened or stat'ed but not read",
        }
    }
}

/// Accesses without an edge.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    edges: HashSet<(ProcessId, PathId), RandomState>,
    paths: HashMap<PathId, Why, RandomState>,
    bytes: u64,
}

/// Whether accesses to a path are hidden.
pub(super) fn reason(
    vocabulary: &Vocabulary,
    (path, file): (PathId, Nullable<FileId>),
    changed: &[bool],
    show_system: bool,
) -> Option<Why> {
    match vocabulary.place_of(path, file) {
        PathKind::File | PathKind::Channel => None,
        PathKind::Directory => Some(Why::Directory),
        PathKind::System(_) if show_system => None,
        PathKind::System(System::Installed) if changed.get(path.index()) == Some(&true) => None,
        PathKind::System(_) => Some(Why::System),
    }
}

impl Hidden {
    /// An access to a file that is left out for `why`.
    pub(super) fn access(&mut self, record: &Record, why: Why) {
        self.paths.entry(record.path).and_modify(|known| *known = why.min(*known)).or_insert(why);
        if matches!(record.op, Op::Read | Op::Write | Op::Map | Op::View) {
            self.edges.insert((record.process, record.path));
            self.bytes = self.bytes.saturating_add(record.moved.bytes);
        }
    }

    /// A path that was found, and perhaps never used.
    pub(super) fn looked_at(&mut self, path: PathId) {
        self.paths.entry(path).or_insert(Why::LookedAtOnly);
    }

    /// The counts; paths that became vertices after all are none of them.
    pub(super) fn left_out(self, shown: impl Fn(PathId) -> bool) -> LeftOut {
        let count = |why| {
            let of_it = |(path, known): &(&PathId, &Why)| **known == why && !shown(**path);
            self.paths.iter().filter(of_it).count() as u64
        };
        let vertices = Why::ALL.into_iter().map(|why| (why.name().to_owned(), count(why)));
        LeftOut {
            vertices: vertices.filter(|(_, count)| *count > 0).collect(),
            bytes: self.bytes,
            edges: self.edges.len() as u64,
        }
    }
}
