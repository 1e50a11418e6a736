//! Which row of a table of files an event belongs to.

use crate::file_uses::RowBy;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{FileId, FileRow, Nullable, PathId};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// The rows of a table of files. Events are summed up by *subject*, each of which belongs to one row: a file, or, where each name is
/// a row, a name of a file.
pub(crate) struct FileTable {
    /// What each row is of, and how many files that is.
    pub(crate) rows: Vec<(FileRow, u64)>,
    /// The subject of a name of a file; empty if subjects are files.
    of_name: HashMap<(FileId, PathId), FileId, RandomState>,
    /// The row of each subject; empty if that is its number.
    of_subject: Vec<usize>,
}

impl FileTable {
    pub(crate) fn new(log: &EventLog, by: RowBy) -> Self {
        let mut rows = log.file_names();
        let mut table = Self { rows: Vec::new(), of_name: HashMap::default(), of_subject: Vec::new() };
        if by == RowBy::Name {
            let names = log.distinct_files().iter().enumerate().flat_map(|(file, known)| {
                known.names.iter().map(move |name| (FileId::from_index(file), name.path))
            });
            table.of_name = names.enumerate().map(|(row, name)| (name, FileId::from_index(row))).collect();
        } else {
            // The name to call a file by comes first.
            rows.dedup_by_key(|name| name.file);
        }
        if by == RowBy::Path {
            table.join(rows);
        } else {
            table.rows = rows.into_iter().map(|row| (row, 1)).collect();
        }
        table
    }

    /// Makes one row of the files that are called the same.
    fn join(&mut self, files: Vec<FileRow>) {
        let mut of_path: HashMap<Arc<str>, usize, RandomState> = HashMap::default();
        for file in files {
            let row = *of_path.entry(Arc::clone(&file.path)).or_insert(self.rows.len());
            self.of_subject.push(row);
            match self.rows.get_mut(row) {
                Some((known, files)) => {
                    *files += 1;
                    keep_common(known, &file);
                }
                None => self.rows.push((file, 1)),
            }
        }
    }

    /// What an event is summed up for.
    #[inline]
    pub(crate) fn subject(&self, file: Nullable<FileId>, path: Nullable<PathId>) -> Option<FileId> {
        match path.get() {
            Some(path) if !self.of_name.is_empty() => self.of_name.get(&(file.get()?, path)).copied(),
            _ => file.get(),
        }
    }

    /// The place in `rows` of a subject.
    pub(crate) fn row(&self, subject: FileId) -> usize {
        if self.of_subject.is_empty() {
            return subject.index();
        }
        self.of_subject.get(subject.index()).copied().unwrap_or(usize::MAX)
    }
}

/// Of several files with one name only that is known which they have in common.
fn keep_common(known: &mut FileRow, other: &FileRow) {
    fn common<T: PartialEq>(mine: &mut Option<T>, theirs: &Option<T>) {
        if mine != theirs {
            *mine = None;
        }
    }
    common(&mut known.kind, &other.kind);
    common(&mut known.device, &other.device);
    common(&mut known.inode, &other.inode);
    common(&mut known.size, &other.size);
    common(&mut known.file, &other.file);
    common(&mut known.birth, &other.birth);
    common(&mut known.gone, &other.gone);
}
