//! Which files of a log are files in the sense of profiles (Dun et al., section 6.3): what holds data under a name.
//!
//! Regular files and block devices are files; directories, pipes, sockets, terminals and other character devices, and
//! anonymous inodes are not. Of what was only looked at a trail does not know the kind. It is a file if data was read from it
//! or written to it, or if it was opened for writing, which no directory lets anybody do. Else it is a directory if another
//! path lies below one of its names, and a file if it has a path at all, be it a relative one. A name of the kernel's without a number
//! (`/proc/self/fd/5`) may mean another file each time, and is none.

use crate::call_kind::CallKinds;
use iotrail_model::calls::Transfer;
use iotrail_model::canonical::is_object;
use iotrail_model::places::is_pseudo;
use iotrail_model::{EventBatch, FileId, FlagsId, Names, Nullable};
use iotrail_trail::{Columns, DistinctFile, EventLog, TrailError};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// For each file of a log, whether it is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileKinds(Vec<bool>);

impl FileKinds {
    pub(crate) fn new(log: &EventLog, threads: NonZeroUsize) -> Result<Self, TrailError> {
        let paths = &log.names().paths;
        let below = Below::new(paths);
        let named = |file: &DistinctFile| match file.holds_bytes() {
            Some(true) => Named::File,
            Some(false) => Named::Other,
            None if !is_path(&paths[file.path.index()]) => Named::Other,
            None if !file.numbered && is_pseudo(&*paths[file.path.index()]) => Named::Other,
            None => {
                let mut names = file.names.iter().map(|name| &*paths[name.path.index()]);
                let is_directory = |path: &str| below.has(path.trim_end_matches('/')) || ends_in_dots(path);
                if names.any(is_directory) { Named::PerhapsDirectory } else { Named::File }
            }
        };
        let named: Vec<Named> = log.distinct_files().iter().map(named).collect();
        let mut kinds = Self(named.iter().map(|named| *named == Named::File).collect());
        if named.contains(&Named::PerhapsDirectory) {
            for file in used_as_files(log, &named, threads)? {
                kinds.0[file.index()] = true;
            }
        }
        Ok(kinds)
    }

    /// The file if it is one.
    #[inline]
    pub(crate) fn file(&self, file: Nullable<FileId>) -> Option<FileId> {
        file.get().filter(|file| self.0.get(file.index()).copied().unwrap_or_default())
    }
}

/// What the kind and the names of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    File,
    Other,
    /// A path lies below one of its names; but names are given again, and not every path leads to something.
    PerhapsDirectory,
}

/// Those of the files that may be directories by their names which calls use as no directory can be.
fn used_as_files(
    log: &EventLog,
    named: &[Named],
    threads: NonZeroUsize,
) -> Result<BTreeSet<FileId>, TrailError> {
    let evidence = Evidence::new(log.names());
    let columns =
        Columns::CALL | Columns::FILE | Columns::FILE2 | Columns::SIZE | Columns::ERRNO | Columns::FLAGS;
    let found = log.scan(
        columns,
        threads,
        || (),
        |(), _, batch| {
            let files = (0..batch.len).flat_map(|row| evidence.of(batch, row));
            files
                .filter(|file| named.get(file.index()) == Some(&Named::PerhapsDirectory))
                .collect::<BTreeSet<FileId>>()
        },
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// Which calls say of a file that it is no directory.
struct Evidence {
    calls: CallKinds,
    /// By flags: whether no directory can be opened so.
    writes: Vec<bool>,
}

impl Evidence {
    fn new(names: &Names) -> Self {
        let writes = |flags: &Arc<str>| {
            let mut words = flags.split('|');
            words.any(|word| matches!(word, "O_WRONLY" | "O_RDWR" | "O_CREAT"))
        };
        Self { calls: CallKinds::new(names), writes: names.flags.iter().map(writes).collect() }
    }

    fn of(&self, batch: &EventBatch, row: usize) -> impl Iterator<Item = FileId> {
        let kind = self.calls.of_call(batch.call[row]);
        let moved = kind.transfer != Transfer::None && batch.size[row].get().is_some();
        let writes = |flags: FlagsId| self.writes.get(flags.index()).copied().unwrap_or_default();
        let opened = kind.opens && batch.flags[row].get().is_some_and(writes);
        let says = batch.errno[row].is_null() && (moved || opened);
        let second = batch.file2[row].get().filter(|_| moved);
        batch.file[row].get().into_iter().chain(second).filter(move |_| says)
    }
}

/// Which names other paths lie below. A name's directories are not looked at one by one: a path may have thousands of them.
struct Below<'a>(Vec<&'a str>);

impl<'a> Below<'a> {
    fn new(paths: &'a [Arc<str>]) -> Self {
        let mut sorted: Vec<&str> = paths.iter().map(|path| &**path).filter(|path| is_path(path)).collect();
        sorted.sort_unstable();
        Self(sorted)
    }

    /// Whether a path lies below `name`.
    fn has(&self, name: &str) -> bool {
        // All that begins alike stands together.
        let begin = format!("{name}/");
        let first = self.0.partition_point(|path| *path < begin.as_str());
        self.0.get(first).is_some_and(|path| path.starts_with(&begin))
    }
}

/// Whether a name is a path, relative if nothing better was known; pipes and sockets that nobody named are none.
fn is_path(name: &str) -> bool {
    name.starts_with('/') || !is_object(name)
}

/// Whether a path is that of a directory by its letters.
fn ends_in_dots(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Case, Event, FileFacts, FileKind, PathId};
    use iotrail_trail::memory::MemoryLog;

    #[test]
    fn what_is_of_unknown_kind_is_a_file_unless_something_lies_below_it() {
        let mut log = MemoryLog::new(vec![Case::default()]);
        for (path, kind) in [
            ("/a", None),
            ("/a/b", None),
            ("/a/b/c", Some(FileKind::File)),
            ("/a/x", None),
            ("/", None),
            ("/dev/tty", Some(FileKind::Char)),
            ("/dev/sda", Some(FileKind::Block)),
            ("/a/d", Some(FileKind::Directory)),
            ("pipe:[7]", None),
            ("pipe:[8]", Some(FileKind::Pipe)),
            ("/a/xy", None),
            ("relative", None),
            ("in/a", None),
            ("in", None),
            ("..", None),
            ("socket", None),
            ("TCP:[127.0.0.1:80]", None),
            ("12:30.log", None),
            ("/proc/self/fd/5", None),
        ] {
            if kind.is_some() {
                log.push_file(path.as_bytes(), &FileFacts { kind, ..FileFacts::default() });
            }
            let path = log.path(path);
            log.push(Event { path, ..Event::default() });
        }
        let log = log.build();
        let kinds = FileKinds::new(&log, NonZeroUsize::MIN).unwrap();
        let files: Vec<&str> = (0..log.distinct_files().len())
            .filter(|at| kinds.file(Nullable::some(FileId::from_index(*at))).is_some())
            .map(|at| &*log.names().paths[log.distinct_files()[at].path.index()])
            .collect();
        assert_eq!(files, ["/a/b/c", "/a/x", "/a/xy", "/dev/sda", "12:30.log", "in/a", "relative"]);
        assert_eq!(kinds.file(Nullable::NULL), None);
    }

    #[test]
    fn what_was_written_or_opened_for_writing_is_a_file_whatever_lies_below_its_names() {
        let mut log = MemoryLog::new(vec![Case::default()]);
        for (path, call, size, flags) in [
            ("/written", "write", Some(7), None),
            ("/written/below", "openat", None, None),
            ("/opened", "openat", None, Some("O_WRONLY|O_CREAT")),
            ("/opened/below", "openat", None, None),
            ("/looked", "openat", None, Some("O_RDONLY")),
            ("/looked/below", "openat", None, None),
        ] {
            let (path, call) = (log.path(path), log.call(call));
            let flags = flags.map_or(Nullable::NULL, |flags| log.flags(flags));
            log.push(Event { path, call, size: Nullable::from(size), flags, ..Event::default() });
        }
        let log = log.build();
        let kinds = FileKinds::new(&log, NonZeroUsize::MIN).unwrap();
        let is_file = |path: &str| {
            let at = log.names().paths.iter().position(|known| &**known == path).unwrap();
            kinds.file(Nullable::some(log.file_of(PathId::from_index(at)))).is_some()
        };
        let files: Vec<bool> = ["/written", "/opened", "/looked"].map(is_file).to_vec();
        assert_eq!(files, [true, true, false]);
    }
}
