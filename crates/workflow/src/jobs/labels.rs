//! Which file each name is, while files are renamed, linked and removed.
//!
//! A trail calls the file behind a descriptor as it was called when it was opened. Names that come and go are followed here, so
//! that what is done through a descriptor is done to the name that the file has then, or to none.

use super::programs::name;
use super::steps::{JobAction, Step};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{FileId, Names, Nullable, PathId};
use iotrail_trail::DistinctFile;
use std::sync::Arc;

/// What a file is called at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// As when it was opened, as far as is known.
    Same,
    /// It was renamed, or lost this one of its names.
    Other(PathId),
    /// It has no name.
    Nothing,
}

/// Numbers that mean the file of another one. A file that was there before the recording and lost all names that were known has
/// another number as soon as it is seen under one more: it is the same inode, made at the same time.
pub(crate) fn same_files(files: &[DistinctFile], origin: i64) -> HashMap<FileId, FileId, RandomState> {
    let mut first: HashMap<_, FileId, RandomState> = HashMap::default();
    let mut same = HashMap::default();
    for (number, file) in files.iter().enumerate().filter(|(_, file)| file.numbered) {
        let birth = file.birth.filter(|birth| *birth > 0 && *birth < origin);
        let (Some(device), Some(inode), Some(birth)) = (file.device, file.inode, birth) else { continue };
        let id = FileId(number as u32);
        let known = *first.entry((device, inode, birth)).or_insert(id);
        if known != id {
            same.insert(id, known);
        }
    }
    same
}

/// Names and files.
pub(crate) struct Labels<'a> {
    names: &'a Names,
    /// Which files have a number; the others are known by a name only.
    numbered: Vec<bool>,
    /// Numbers that turned out to be those of other files.
    same: HashMap<FileId, FileId, RandomState>,
    files: HashMap<PathId, FileId, RandomState>,
    /// The names of each file that was seen under one.
    labels: HashMap<FileId, Vec<PathId>, RandomState>,
    /// Numbers of names; empty as long as nobody asked.
    numbers: HashMap<Arc<str>, PathId, RandomState>,
}

impl<'a> Labels<'a> {
    /// Goes through the steps to learn which numbers mean one file, beside those in `same`: a name that was only looked at, or
    /// linked, has a number of its own until somebody opens it.
    pub(crate) fn new(
        names: &'a Names,
        numbered: Vec<bool>,
        same: HashMap<FileId, FileId, RandomState>,
        steps: &[Step],
    ) -> Self {
        let mut labels = Self {
            names,
            numbered,
            same,
            files: HashMap::default(),
            labels: HashMap::default(),
            numbers: HashMap::default(),
        };
        steps.iter().for_each(|step| labels.follow(step));
        labels.files.clear();
        labels.labels.clear();
        labels
    }

    /// The file behind a name; where nobody numbered it, that of the name as calls changed it.
    pub(crate) fn known(&self, file: Nullable<FileId>, path: PathId) -> Option<FileId> {
        let mut file = file.get()?;
        if !self.is_numbered(file) {
            return Some(self.file(path).unwrap_or(file));
        }
        while let Some(same) = self.same.get(&file) {
            file = *same;
        }
        Some(file)
    }

    fn is_numbered(&self, file: FileId) -> bool {
        self.numbered.get(file.index()).copied().unwrap_or_default()
    }

    /// What a step says of names.
    pub(crate) fn follow(&mut self, step: &Step) {
        let Some(path) = step.path.get() else { return };
        let Some(file) = self.known(step.file, path) else { return };
        let by_name = step.fd.is_none() || matches!(step.action, JobAction::Open(_));
        match step.action {
            _ if !by_name => {}
            JobAction::Missing | JobAction::Tried | JobAction::Hindered => {}
            JobAction::Open(mode) if mode.nameless => drop(self.labels.entry(file).or_default()),
            JobAction::Open(mode) if mode.exclusive => self.renew(path, file),
            JobAction::Symlink | JobAction::Fifo | JobAction::MakeDirectory(_) => self.renew(path, file),
            JobAction::Remove | JobAction::RemoveDirectory => self.take(path),
            JobAction::Rename => {
                self.see(path, file);
                step.path2.get().into_iter().for_each(|target| self.rename(path, target));
            }
            JobAction::Link => {
                if !self.is_nameless(file) {
                    self.see(path, file);
                }
                let file = self.root(file);
                step.path2.get().into_iter().for_each(|target| self.renew(target, file));
            }
            _ => self.see(path, file),
        }
    }

    /// The number that stands for all numbers of the file.
    pub(crate) fn root(&self, file: FileId) -> FileId {
        std::iter::successors(Some(file), |file| self.same.get(file).copied()).last().unwrap_or(file)
    }

    /// The name is that file from now on.
    fn renew(&mut self, path: PathId, file: FileId) {
        if self.file(path) != Some(file) {
            self.take(path);
            self.see(path, file);
        }
    }

    /// The name is that file, as a call says, and so was it as long as no call changed it.
    fn see(&mut self, path: PathId, file: FileId) {
        match self.files.insert(path, file) {
            Some(known) if known == file => return,
            Some(known) if self.is_numbered(known) && self.is_numbered(file) => self.unite(known, file),
            _ => {}
        }
        let labels = self.labels.entry(file).or_default();
        if !labels.contains(&path) {
            labels.push(path);
        }
    }

    /// Both numbers are one file: that of the second.
    fn unite(&mut self, first: FileId, second: FileId) {
        let (first, second) = (self.root(first), self.root(second));
        if first == second {
            return;
        }
        self.same.insert(first, second);
        for path in self.labels.remove(&first).unwrap_or_default() {
            self.files.insert(path, second);
            let labels = self.labels.entry(second).or_default();
            if !labels.contains(&path) {
                labels.push(path);
            }
        }
    }

    /// Whether the file is known and has no name.
    pub(crate) fn is_nameless(&self, file: FileId) -> bool {
        self.labels.get(&file).is_some_and(Vec::is_empty)
    }

    /// One of the names of a file.
    pub(crate) fn a_name(&self, file: FileId) -> Option<PathId> {
        self.labels.get(&file)?.last().copied()
    }

    pub(crate) fn file(&self, path: PathId) -> Option<FileId> {
        self.files.get(&path).copied()
    }

    /// The name and all others of its file.
    pub(crate) fn with_others(&self, path: PathId) -> Vec<PathId> {
        let labels = self.file(path).and_then(|file| self.labels.get(&file));
        labels.filter(|labels| labels.contains(&path)).cloned().unwrap_or_else(|| vec![path])
    }

    /// The name is gone.
    fn take(&mut self, path: PathId) {
        if let Some(file) = self.files.remove(&path)
            && let Some(labels) = self.labels.get_mut(&file)
        {
            labels.retain(|label| *label != path);
        }
    }

    /// The file, or all files below the directory, are called otherwise from now on.
    fn rename(&mut self, from: PathId, to: PathId) {
        self.rename_one(from, Some(to));
        let [old, new] = [from, to].map(|path| name(self.names, path).clone());
        let below: Vec<PathId> =
            self.files.keys().copied().filter(|path| self.below(*path, &old).is_some()).collect();
        for path in below {
            let target = self.below(path, &old).map(|rest| format!("{new}{rest}"));
            let target = target.and_then(|target| self.number(&target));
            self.rename_one(path, target);
        }
    }

    /// What follows the name of a directory in a path below it.
    fn below(&self, path: PathId, directory: &str) -> Option<&'a str> {
        name(self.names, path).strip_prefix(directory).filter(|rest| rest.starts_with('/'))
    }

    /// A name that no call mentions is none.
    fn rename_one(&mut self, from: PathId, to: Option<PathId>) {
        let file = self.file(from);
        if from != to.unwrap_or(from) {
            to.into_iter().for_each(|to| self.take(to));
        }
        self.take(from);
        if let (Some(file), Some(to)) = (file, to) {
            self.see(to, file);
        }
    }

    /// The number of a name, if a call mentions it.
    pub(crate) fn number(&mut self, name: &str) -> Option<PathId> {
        if self.numbers.is_empty() {
            let numbered = self.names.paths.iter().enumerate();
            self.numbers = numbered.map(|(index, name)| (name.clone(), PathId(index as u32))).collect();
        }
        self.numbers.get(name).copied()
    }

    /// What a file is called that was opened under that name.
    pub(crate) fn called(&self, path: PathId, file: FileId) -> Called {
        match self.labels.get(&file).filter(|_| self.is_numbered(file)) {
            Some(labels) if !labels.contains(&path) => {
                labels.last().copied().map_or(Called::Nothing, Called::Other)
            }
            _ => Called::Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels<'a>(names: &'a Names, steps: &[Step]) -> Labels<'a> {
        Labels::new(names, vec![true; 10], HashMap::default(), steps)
    }

    fn names(paths: &[&str]) -> Names {
        Names { paths: paths.iter().map(|path| Arc::from(*path)).collect(), ..Names::default() }
    }

    #[test]
    fn a_file_is_called_by_the_names_that_it_has() {
        let names = names(&["/a", "/b", "/d", "/d/x", "/e", "/e/x", "/d/y"]);
        let [a, b, d, dx, e, ex, dy] = [0, 1, 2, 3, 4, 5, 6].map(PathId);
        let mut labels = labels(&names, &[]);
        labels.see(a, FileId(1));
        assert_eq!((labels.called(a, FileId(1)), labels.called(b, FileId(9))), (Called::Same, Called::Same));
        labels.rename(a, b);
        assert_eq!(labels.called(a, FileId(1)), Called::Other(b));
        labels.see(a, FileId(1));
        labels.see(dx, FileId(2));
        labels.see(dy, FileId(3));
        labels.rename(d, e);
        assert_eq!((labels.called(dx, FileId(2)), labels.file(ex)), (Called::Other(ex), Some(FileId(2))));
        assert_eq!(labels.called(dy, FileId(3)), Called::Nothing);
        labels.rename(ex, a);
        assert_eq!(labels.called(a, FileId(1)), Called::Other(b));
        assert_eq!(labels.called(ex, FileId(2)), Called::Other(a));
        labels.take(b);
        assert_eq!(labels.called(b, FileId(1)), Called::Nothing);
    }

    #[test]
    fn a_file_of_before_that_lost_its_known_name_is_the_same_under_another() {
        let file = |inode: u64, birth: i64| DistinctFile {
            path: PathId(0),
            names: Vec::new(),
            numbered: true,
            kind: None,
            device: Some(1),
            inode: Some(inode),
            birth: Some(birth),
            size: None,
            ..DistinctFile::default()
        };
        let files = [file(7, 50), file(8, 50), file(7, 50), file(7, 150), file(7, 150)];
        let same: Vec<(FileId, FileId)> = same_files(&files, 100).into_iter().collect();
        assert_eq!(same, [(FileId(2), FileId(0))]);
    }

    #[test]
    fn a_name_that_nobody_changed_was_the_file_before() {
        let names = names(&["/a", "/b"]);
        let [a, b] = [0, 1].map(PathId);
        let step = |action, path: PathId, file: u32| Step {
            path: Nullable::some(path),
            file: Nullable::some(FileId(file)),
            ..Step::of(action)
        };
        let steps = [step(JobAction::Stat, a, 1), step(JobAction::Stat, b, 2), step(JobAction::Exec, b, 1)];
        let found = labels(&names, &steps);
        assert_eq!(found.known(Nullable::some(FileId(2)), b), found.known(Nullable::some(FileId(1)), a));
        let steps = [step(JobAction::Stat, b, 2), step(JobAction::Remove, b, 2), step(JobAction::Exec, b, 1)];
        let found = labels(&names, &steps);
        assert_ne!(found.known(Nullable::some(FileId(2)), b), found.known(Nullable::some(FileId(1)), b));
    }
}
