//! Which paths are files, in the sense of profiles (Dun et al., section 6.3): what holds data under a name.
//!
//! Regular files and block devices are files; directories, pipes, sockets, terminals and other character devices, and
//! anonymous inodes are not. Of a path that was only looked at a trail does not know the kind. It is a directory if another
//! path lies below it, else a file if it is a path at all.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::{FileKind, FileRow, Nullable, PathId};

/// For each path of a log, whether it is a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileKinds(Vec<bool>);

impl FileKinds {
    pub(crate) fn new(files: &[FileRow]) -> Self {
        let mut directories: HashSet<&str, RandomState> = HashSet::default();
        for mut path in files.iter().map(|file| &*file.path).filter(|path| path.starts_with('/')) {
            while let Some((directory, _)) = path.rsplit_once('/') {
                if !directories.insert(directory) {
                    break;
                }
                path = directory;
            }
        }
        let is_file = |file: &FileRow| match file.kind.as_deref() {
            Some(kind) => [FileKind::File, FileKind::Block].iter().any(|known| known.name() == kind),
            None => file.path.starts_with('/') && !directories.contains(file.path.trim_end_matches('/')),
        };
        Self(files.iter().map(is_file).collect())
    }

    /// The path if it is a file.
    #[inline]
    pub(crate) fn file(&self, path: Nullable<PathId>) -> Option<PathId> {
        path.get().filter(|path| self.0.get(path.index()).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_unknown_kind_is_a_file_unless_something_lies_below_it() {
        let rows = [
            ("/a", None),
            ("/a/b", None),
            ("/a/b/c", Some("file")),
            ("/a/x", None),
            ("/", None),
            ("/dev/tty", Some("char")),
            ("/dev/sda", Some("block")),
            ("/a/d", Some("directory")),
            ("pipe:[7]", None),
            ("pipe:[8]", Some("pipe")),
            ("/a/xy", None),
        ];
        let rows: Vec<FileRow> = rows
            .into_iter()
            .map(|(path, kind)| FileRow {
                path: path.to_owned(),
                kind: kind.map(str::to_owned),
                ..FileRow::default()
            })
            .collect();
        let kinds = FileKinds::new(&rows);
        let files: Vec<&str> = (0..rows.len())
            .filter(|at| kinds.file(Nullable::some(PathId::from_index(*at))).is_some())
            .map(|at| &*rows[at].path)
            .collect();
        assert_eq!(files, ["/a/b/c", "/a/x", "/dev/sda", "/a/xy"]);
        assert_eq!(kinds.file(Nullable::NULL), None);
    }
}
