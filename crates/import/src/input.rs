//! What a user names as input, and the trace files behind it.
//!
//! A directory stands for all regular files in it and its sub-directories, in natural order. Left out are hidden files,
//! trails, and links to directories (which may form circles). A file that is reached twice is imported once.

use crate::error::{InputFailure, Warning, WarningKind};
use crate::intake::Remarks;
use crate::{naming, natural};
use iotrail_model::Tid;
use iotrail_model::text::path_to_text;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An input as named by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, a directory, or a pipe with a name.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

impl From<&OsStr> for Input {
    /// `-` is standard input.
    fn from(word: &OsStr) -> Self {
        if word == "-" { Self::Stdin } else { Self::Path(word.into()) }
    }
}

impl Input {
    /// The input as the user would name it, in the text form of paths.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Path(path) => text(path),
            Self::Stdin => "-".to_owned(),
        }
    }
}

/// Where the bytes of a trace file come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A regular file of this many bytes: it can be opened again.
    File(PathBuf, u64),
    /// A pipe or device: it can be read once.
    Pipe(PathBuf),
    /// Standard input.
    Stdin,
}

/// One trace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Where its bytes come from.
    pub origin: Origin,
    /// Its path in text form, as the user would name it.
    pub name: String,
    /// Whether the user named it, and not a directory that it lies in.
    pub named: bool,
}

impl TraceFile {
    /// The number that a name like `PREFIX.NUMBER` ends in: the thread of a file that `strace -ff` wrote.
    #[must_use]
    pub fn number_in_name(&self) -> Option<Tid> {
        let (_, number) = naming::split_number(naming::file_name(naming::without_compression(&self.name)))?;
        let plain = !number.starts_with('0');
        plain.then(|| number.parse().ok().map(Tid)).flatten()
    }

    /// Size as stored, if that is known before reading.
    #[must_use]
    pub const fn size(&self) -> Option<u64> {
        match &self.origin {
            Origin::File(_, size) => Some(*size),
            Origin::Pipe(_) | Origin::Stdin => None,
        }
    }
}

/// The trace files behind some inputs, and what was wrong with the others.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<TraceFile>,
    pub(crate) remarks: Remarks,
    seen: HashSet<(u64, u64)>,
}

/// Finds the trace files behind `inputs`, in the order of the inputs.
pub(crate) fn find(inputs: &[Input]) -> Found {
    let mut found = Found::default();
    for input in inputs {
        match input {
            Input::Path(path) => found.add(path),
            Input::Stdin => found.add_stdin(),
        }
    }
    found
}

fn text(path: &Path) -> String {
    path_to_text(path.as_os_str().as_bytes()).into_owned()
}

impl Found {
    fn add(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() && path.join("trail.json").is_file() => {
                let reason =
                    "this is a trail, the result of an import; name the trace files it was made from";
                self.remarks.failures.push(InputFailure::new("import", &text(path), reason));
            }
            Ok(meta) if meta.is_dir() => self.add_directory(path),
            Ok(meta) => self.add_file(path, &meta, true),
            Err(error) => self.fail("open", path, &error),
        }
    }

    fn add_stdin(&mut self) {
        let again = self.files.iter().any(|file| file.origin == Origin::Stdin);
        if again {
            self.warn(WarningKind::Duplicate, "-", "standard input is named twice", "it is imported once");
        } else if io::IsTerminal::is_terminal(&io::stdin()) {
            let reason = "it is a terminal; pipe a trace into it";
            self.remarks.failures.push(InputFailure::new("read", "standard input", reason));
        } else {
            self.files.push(TraceFile { origin: Origin::Stdin, name: "stdin".to_owned(), named: true });
        }
    }

    fn add_directory(&mut self, directory: &Path) {
        let before = (self.files.len(), self.remarks.failures.len(), self.remarks.warnings.len());
        self.walk(directory);
        if before == (self.files.len(), self.remarks.failures.len(), self.remarks.warnings.len()) {
            self.warn(WarningKind::EmptyDirectory, &text(directory), "no files in this directory", "");
        }
    }

    fn walk(&mut self, directory: &Path) {
        let mut entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.fail("list", directory, &error),
        };
        entries.retain(|entry| !entry.file_name().as_bytes().starts_with(b"."));
        entries.sort_by(|a, b| natural::compare(a.file_name().as_bytes(), b.file_name().as_bytes()));
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if path.extension() != Some(OsStr::new("trail")) {
                        self.walk(&path);
                    }
                }
                Ok(kind) if kind.is_file() || kind.is_symlink() => match fs::metadata(&path) {
                    Ok(meta) if meta.is_file() => self.add_file(&path, &meta, false),
                    Ok(_) => {}
                    Err(error) => self.fail("open", &path, &error),
                },
                Ok(_) => {}
                Err(error) => self.fail("open", &path, &error),
            }
        }
    }

    fn add_file(&mut self, path: &Path, meta: &Metadata, named: bool) {
        let name = text(path);
        if !meta.is_file() {
            self.files.push(TraceFile { origin: Origin::Pipe(path.into()), name, named });
        } else if self.seen.insert((meta.dev(), meta.ino())) {
            self.files.push(TraceFile { origin: Origin::File(path.into(), meta.len()), name, named });
        } else {
            self.warn(WarningKind::Duplicate, &name, "the same file is named twice", "it is imported once");
        }
    }

    fn warn(&mut self, kind: WarningKind, file: &str, found: &str, advice: &str) {
        let (found, advice) = (found.to_owned(), advice.to_owned());
        self.remarks.warnings.push(Warning { kind, file: file.to_owned(), more: 0, found, advice });
    }

    fn fail(&mut self, action: &'static str, path: &Path, error: &io::Error) {
        self.remarks.failures.push(InputFailure::new(action, &text(path), reason(error)));
    }
}

/// What the system said, without the number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error").map_or(text.clone(), |at| text[..at].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: PathBuf) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, "x").expect("a file");
    }

    #[test]
    fn a_directory_is_its_visible_files_in_natural_order() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["r10.st", "r2.st", ".hidden", "sub/r1.st", "old.trail/events/0.parquet", ".git/config"] {
            touch(dir.path().join(name));
        }
        std::os::unix::fs::symlink("..", dir.path().join("sub/circle")).expect("a link");
        std::os::unix::fs::symlink("r2.st", dir.path().join("latest")).expect("a link");
        std::os::unix::fs::symlink("gone", dir.path().join("sub/broken")).expect("a link");
        let found = find(&[Input::Path(dir.path().into())]);
        let relative = |name: &String| name[text(dir.path()).len() + 1..].to_owned();
        let names: Vec<String> = found.files.iter().map(|file| relative(&file.name)).collect();
        assert_eq!(names, ["latest", "r10.st", "sub/r1.st"]);
        assert_eq!(found.remarks.warnings.len(), 1);
        assert_eq!(relative(&found.remarks.warnings[0].file), "r2.st");
        let [failure] = &found.remarks.failures[..] else { panic!("{:?}", found.remarks.failures) };
        assert_eq!(
            (relative(&failure.file).as_str(), failure.reason.as_str()),
            ("sub/broken", "No such file or directory")
        );
    }

    #[test]
    fn missing_files_empty_directories_and_trails_are_named() {
        let dir = tempfile::tempdir().expect("a directory");
        touch(dir.path().join("x.trail/trail.json"));
        fs::create_dir(dir.path().join("empty")).expect("a directory");
        let inputs = ["missing", "empty", "x.trail"].map(|name| Input::Path(dir.path().join(name)));
        let found = find(&inputs);
        assert_eq!(found.files, []);
        assert_eq!(
            found.remarks.failures.iter().map(|failure| failure.action).collect::<Vec<_>>(),
            ["open", "import"]
        );
        assert_eq!(found.remarks.warnings[0].kind, WarningKind::EmptyDirectory);
    }
}
