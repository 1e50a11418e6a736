//! Which files of a log are files in the sense of profiles (Dun et al., section 6.3): what holds data under a name.
//!
//! Regular files and block devices are files; directories, pipes, sockets, terminals and other character devices, and
//! anonymous inodes are not. Of what was only looked at a trail does not know the kind. It is a directory if another
//! path lies below one of its names, else a file if it has a path at all, be it a relative one.

use iotrail_model::canonical::is_object;
use iotrail_model::{FileId, FileKind, Nullable};
use iotrail_trail::{DistinctFile, EventLog};
use std::sync::Arc;

/// For each file of a log, whether it is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileKinds(Vec<bool>);

impl FileKinds {
    pub(crate) fn new(log: &EventLog) -> Self {
        let paths = &log.names().paths;
        let below = Below::new(paths);
        let is_file = |file: &DistinctFile| match file.kind.as_deref() {
            Some(kind) => [FileKind::File, FileKind::Block].iter().any(|known| known.name() == kind),
            None => {
                let mut names = file.names.iter().map(|name| &*paths[name.path.index()]);
                let is_directory = |path: &str| below.has(path.trim_end_matches('/')) || ends_in_dots(path);
                is_path(&paths[file.path.index()]) && !names.any(is_directory)
            }
        };
        Self(log.distinct_files().iter().map(is_file).collect())
    }

    /// The file if it is one.
    #[inline]
    pub(crate) fn file(&self, file: Nullable<FileId>) -> Option<FileId> {
        file.get().filter(|file| self.0.get(file.index()).copied().unwrap_or_default())
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
    use iotrail_model::{Case, Event, FileFacts};
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
        ] {
            if kind.is_some() {
                log.push_file(path.as_bytes(), &FileFacts { kind, ..FileFacts::default() });
            }
            let path = log.path(path);
            log.push(Event { path, ..Event::default() });
        }
        let log = log.build();
        let kinds = FileKinds::new(&log);
        let files: Vec<&str> = (0..log.distinct_files().len())
            .filter(|at| kinds.file(Nullable::some(FileId::from_index(*at))).is_some())
            .map(|at| &*log.names().paths[log.distinct_files()[at].path.index()])
            .collect();
        assert_eq!(files, ["/a/b/c", "/a/x", "/dev/sda", "/a/xy", "relative", "in/a", "12:30.log"]);
        assert_eq!(kinds.file(Nullable::NULL), None);
    }
}
