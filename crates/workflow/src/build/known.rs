//! What must be known of files before records may be joined.

use super::vocabulary::{Action, Vocabulary};
use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::{CallId, CaseId, FileId, Nullable, PathId};
use iotrail_query::{Asks, Pass, Rows};
use iotrail_trail::{Columns, EventLog};
use std::sync::Arc;

/// What was found out of files.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Files that events of several cases name, whose rows may lie in different row groups. Empty for a single case.
    shared: Vec<bool>,
    /// Files that copies write. They do so at the end of their calls, which may lie among the rows of a later row group. Empty if
    /// nothing is copied.
    copied_into: Vec<bool>,
    /// In logs that tell files by their names alone, all names of one file have the same number. Empty if no file has two.
    file_of: Vec<u32>,
    /// By path the file of that name.
    of_paths: Vec<FileId>,
}

impl Known {
    /// Who reads at one end of a connection does not name the other one, which its data are called by.
    pub(super) fn share_connections(&mut self, channels: &Channels) {
        if self.shared.is_empty() {
            return;
        }
        for path in (0..self.of_paths.len()).map(PathId::from_index) {
            let [one, other] = [channels.sends(path), channels.receives(path)];
            if one != other {
                [one, other].into_iter().for_each(|way| self.share(way));
            }
        }
    }

    fn share(&mut self, path: PathId) {
        let file = self.of_paths.get(path.index()).and_then(|file| self.shared.get_mut(file.index()));
        file.into_iter().for_each(|shared| *shared = true);
    }

    /// The file of a name.
    pub(super) fn of_path(&self, path: PathId) -> Nullable<FileId> {
        self.of_paths.get(path.index()).copied().into()
    }

    /// Whether what other row groups hold of the file may lie between two of its records.
    pub(super) fn is_shared(&self, file: FileId) -> bool {
        [&self.shared, &self.copied_into].into_iter().any(|files| files.get(file.index()) == Some(&true))
    }

    /// The number that all names of the file share.
    pub(super) fn file(&self, file: FileId) -> u32 {
        self.file_of.get(file.index()).copied().unwrap_or(file.0)
    }
}

/// The pass that finds it out.
#[derive(Debug)]
pub struct Knowing<'a> {
    log: &'a EventLog,
    vocabulary: Arc<Vocabulary>,
    /// Whether files may be shared by several cases.
    shares: bool,
    /// Whether a file may have several numbers.
    renames: bool,
    /// Whether calls copy from one file to another.
    copies: bool,
}

/// Pairs that events name.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    users: HashSet<(FileId, CaseId), RandomState>,
    names: HashSet<(FileId, FileId), RandomState>,
    copied_into: HashSet<FileId, RandomState>,
}

impl<'a> Knowing<'a> {
    pub(super) fn new(log: &'a EventLog, vocabulary: Arc<Vocabulary>) -> Self {
        let mut calls = (0..log.names().calls.len()).map(CallId::from_index);
        let renames = log.distinct_files().iter().any(|file| !file.numbered)
            && calls.any(|call| vocabulary.gives_names(call));
        let mut calls = (0..log.names().calls.len()).map(CallId::from_index);
        let copies = calls.any(|call| vocabulary.action(call) == Action::Copy);
        Self { log, vocabulary, shares: log.cases().len() > 1, renames, copies }
    }

    fn reads(&self) -> bool {
        self.shares || self.renames || self.copies
    }

    fn shared(&self, users: &HashSet<(FileId, CaseId), RandomState>) -> Vec<bool> {
        let mut owner: Vec<Option<CaseId>> = vec![None; self.log.distinct_files().len()];
        let mut shared = vec![false; owner.len()];
        for (file, case) in users {
            match owner.get_mut(file.index()) {
                Some(Some(known)) if known != case => shared[file.index()] = true,
                Some(owner) => *owner = Some(*case),
                None => {}
            }
        }
        shared
    }

    /// For each file a number that all names of one file share, by renames and links, whether they succeeded or not.
    fn aliases(&self, names: &HashSet<(FileId, FileId), RandomState>) -> Vec<u32> {
        let mut file_of: Vec<u32> = (0..self.log.distinct_files().len() as u32).collect();
        for (one, other) in names {
            let (one, other) = (root(&mut file_of, one.0), root(&mut file_of, other.0));
            file_of[one.max(other) as usize] = one.min(other);
        }
        for file in 0..file_of.len() as u32 {
            file_of[file as usize] = root(&mut file_of, file);
        }
        file_of
    }
}

fn root(file_of: &mut [u32], mut file: u32) -> u32 {
    while file_of[file as usize] != file {
        file_of[file as usize] = file_of[file_of[file as usize] as usize];
        file = file_of[file as usize];
    }
    file
}

impl Pass for Knowing<'_> {
    type Sums = Pairs;
    type Boundary = ();
    type Closed = ();
    type Output = Known;

    fn columns(&self) -> Columns {
        match self.reads() {
            true => Columns::CASE | Columns::CALL | Columns::FILE | Columns::FILE2,
            false => Columns::NONE,
        }
    }

    fn asks(&self) -> Asks {
        Asks { whole_log: self.reads(), ..Asks::default() }
    }

    fn sums(&self) -> Pairs {
        Pairs::default()
    }

    fn closed(&self) {}

    fn add(&self, pairs: &mut Pairs, rows: &Rows<'_>) {
        let batch = rows.batch;
        if self.shares {
            for (case, (file, file2)) in batch.case.iter().zip(batch.file.iter().zip(&batch.file2)) {
                pairs.users.extend([file.get(), file2.get()].into_iter().flatten().map(|file| (file, *case)));
            }
        }
        if self.renames {
            let rows = (0..batch.len).filter(|row| self.vocabulary.gives_names(batch.call[*row]));
            pairs.names.extend(rows.filter_map(|row| batch.file[row].get().zip(batch.file2[row].get())));
        }
        if self.copies {
            let rows = (0..batch.len).filter(|row| self.vocabulary.action(batch.call[*row]) == Action::Copy);
            pairs.copied_into.extend(rows.filter_map(|row| batch.file2[row].get()));
        }
    }

    fn merge(&self, pairs: &mut Pairs, other: Pairs) {
        pairs.copied_into.extend(other.copied_into);
        pairs.users.extend(other.users);
        pairs.names.extend(other.names);
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, pairs: Pairs, (): ()) -> Known {
        let mut copied_into = vec![false; if self.copies { self.log.distinct_files().len() } else { 0 }];
        for file in pairs.copied_into {
            copied_into[file.index()] = true;
        }
        Known {
            copied_into,
            shared: if self.shares { self.shared(&pairs.users) } else { Vec::new() },
            file_of: if self.renames { self.aliases(&pairs.names) } else { Vec::new() },
            of_paths: (0..self.vocabulary.paths())
                .map(|path| self.log.file_of(PathId::from_index(path)))
                .collect(),
        }
    }
}
