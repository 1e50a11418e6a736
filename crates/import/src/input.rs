//! What a user names as input, and the trace files behind it.
//!
//! A directory stands for all regular files in it and its sub-directories, in natural order. Left out with a warning are hidden
//! files, links to directories (which may form circles) and what is no file; trails without. A file that is reached twice is
//! imported once.

use crate::error::{InputFailure, Warning, WarningKind};
use crate::intake::Remarks;
use crate::{naming, natural};
use iotrail_model::Tid;
use iotrail_model::text::path_to_text;
use std::collections::{BTreeMap, HashSet};
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
pub(crate) struct TraceFiles {
    pub(crate) files: Vec<TraceFile>,
    pub(crate) remarks: Remarks,
    seen: HashSet<(u64, u64)>,
    /// What was left out of directories.
    left_out: BTreeMap<LeftOut, Vec<String>>,
}

/// Why something in a directory is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOut {
    Hidden,
    LinkToDirectory,
    Special,
}

impl LeftOut {
    const fn found(self) -> &'static str {
        match self {
            Self::Hidden => "hidden files and directories are left out of a directory",
            Self::LinkToDirectory => "links to directories are not followed",
            Self::Special => "neither a file nor a directory",
        }
    }
}

/// Finds the trace files behind `inputs`, in the order of the inputs.
pub(crate) fn find(inputs: &[Input]) -> TraceFiles {
    let mut found = TraceFiles::default();
    for input in inputs {
        match input {
            Input::Path(path) => found.add(path),
            Input::Stdin => found.add_stdin(),
        }
    }
    found.warn_of_left_out();
    found
}

fn text(path: &Path) -> String {
    path_to_text(path.as_os_str().as_bytes()).into_owned()
}

impl TraceFiles {
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
        let found = |found: &Self| {
            let left_out: usize = found.left_out.values().map(Vec::len).sum();
            (found.files.len(), found.remarks.failures.len(), found.remarks.warnings.len(), left_out)
        };
        let before = found(self);
        self.walk(directory);
        if before == found(self) {
            self.warn(WarningKind::EmptyDirectory, &text(directory), "no files in this directory", "");
        }
    }

    fn leave_out(&mut self, why: LeftOut, path: &Path) {
        self.left_out.entry(why).or_default().push(text(path));
    }

    /// One warning for each reason. What was named beside its directory is not left out.
    fn warn_of_left_out(&mut self) {
        let named: HashSet<&str> =
            self.files.iter().filter(|file| file.named).map(|file| file.name.as_str()).collect();
        let mut warnings = Vec::new();
        for (why, mut files) in std::mem::take(&mut self.left_out) {
            files.retain(|file| !named.contains(file.as_str()));
            let more = files.len().saturating_sub(1) as u64;
            let Some(file) = files.into_iter().next() else { continue };
            let advice = if more == 0 { "name it to import it" } else { "name them to import them" };
            let (found, advice) = (why.found().to_owned(), advice.to_owned());
            warnings.push(Warning { kind: WarningKind::LeftOut, file, more, found, advice });
        }
        self.remarks.warnings.extend(warnings);
    }

    fn walk(&mut self, directory: &Path) {
        let mut entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.fail("list", directory, &error),
        };
        entries.sort_by(|a, b| natural::compare(a.file_name().as_bytes(), b.file_name().as_bytes()));
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(_) if entry.file_name().as_bytes().starts_with(b".") => {
                    self.leave_out(LeftOut::Hidden, &path);
                }
                Ok(kind) if kind.is_dir() => {
                    if !is_trail(&path) {
                        self.walk(&path);
                    }
                }
                Ok(kind) if kind.is_file() || kind.is_symlink() => match fs::metadata(&path) {
                    Ok(meta) if meta.is_file() => self.add_file(&path, &meta, false),
                    Ok(meta) if meta.is_dir() => self.leave_out(LeftOut::LinkToDirectory, &path),
                    Ok(_) => self.leave_out(LeftOut::Special, &path),
                    Err(error) => self.fail("open", &path, &error),
                },
                Ok(_) => self.leave_out(LeftOut::Special, &path),
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

/// Whether a directory is a trail, finished or not.
fn is_trail(directory: &Path) -> bool {
    directory.join("trail.json").is_file() || directory.join("recording/run.json").is_file()
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
        for name in ["r10.st", "r2.st", ".hidden", "sub/r1.st", "old.trail/trail.json", ".git/config"] {
            touch(dir.path().join(name));
        }
        std::os::unix::fs::symlink("..", dir.path().join("sub/circle")).expect("a link");
        std::os::unix::fs::symlink("r2.st", dir.path().join("latest")).expect("a link");
        std::os::unix::fs::symlink("gone", dir.path().join("sub/broken")).expect("a link");
        let found = find(&[Input::Path(dir.path().into())]);
        let relative = |name: &String| name[text(dir.path()).len() + 1..].to_owned();
        let names: Vec<String> = found.files.iter().map(|file| relative(&file.name)).collect();
        assert_eq!(names, ["latest", "r10.st", "sub/r1.st"]);
        let warned = found.remarks.warnings.iter();
        let warned: Vec<_> = warned.map(|one| (one.kind, relative(&one.file), one.more)).collect();
        let expected = [
            (WarningKind::Duplicate, "r2.st", 0),
            (WarningKind::LeftOut, ".git", 1),
            (WarningKind::LeftOut, "sub/circle", 0),
        ];
        assert_eq!(warned, expected.map(|(kind, name, more)| (kind, name.to_owned(), more)));
        let [failure] = &found.remarks.failures[..] else { panic!("{:?}", found.remarks.failures) };
        assert_eq!(
            (relative(&failure.file).as_str(), failure.reason.as_str()),
            ("sub/broken", "No such file or directory")
        );
    }

    #[test]
    fn a_directory_of_hidden_files_is_not_said_to_be_empty() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in [".tr.1", ".tr.2", ".tr.3"] {
            touch(dir.path().join(name));
        }
        let found = find(&[Input::Path(dir.path().into())]);
        let [warning] = &found.remarks.warnings[..] else { panic!("{:?}", found.remarks.warnings) };
        assert_eq!((warning.kind, warning.more), (WarningKind::LeftOut, 2));
        let shown = warning.to_string();
        assert!(shown.contains(".tr.1 and 2 more: hidden files") && shown.contains("name them"), "{shown}");
        let named = [dir.path().into(), dir.path().join(".tr.1"), dir.path().join(".tr.3")].map(Input::Path);
        let found = find(&named);
        assert_eq!((found.files.len(), found.remarks.warnings.len()), (2, 1));
        assert!(found.remarks.warnings[0].file.ends_with(".tr.2"), "{:?}", found.remarks.warnings);
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
