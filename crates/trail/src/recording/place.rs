//! The place of a trail is taken whole: a new trail is made beside it under a hidden name and moved there at once, and an
//! old one goes only when the new one is there. Under the lock.

use crate::error::TrailError;
use crate::private::narrow;
use crate::recording::lock::beside;
use crate::recording::run::RECORDING;
use crate::recording::unfinished::boot_id;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A new trail that is not at its place yet; dropped there, it is removed.
#[derive(Debug)]
pub(crate) struct Aside {
    target: PathBuf,
    directory: PathBuf,
    is_placed: bool,
}

impl Aside {
    /// Makes an empty trail beside `target`. What recorders left there that were killed in this state is removed.
    pub(crate) fn create(target: &Path) -> Result<Self, TrailError> {
        sweep(target);
        let directory = beside(target, &format!("{}{}", prefix(), std::process::id()));
        fs::create_dir_all(&directory)
            .and_then(|()| narrow(&directory, target))
            .map_err(TrailError::io("create", target))?;
        let aside = Self { target: target.to_owned(), directory, is_placed: false };
        let recording = aside.directory.join(RECORDING);
        fs::create_dir(&recording).map_err(TrailError::io("create", &recording))?;
        Ok(aside)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// Leaves the trail where it is; answers where that is.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.is_placed = true;
        self.directory.clone()
    }

    /// Moves the trail to its place. What is there goes behind the hidden name and is to be removed from there.
    pub(crate) fn place(mut self) -> Result<Replaced, TrailError> {
        let replaced = exchange(&self.directory, &self.target)
            .map_err(TrailError::io("rename to", &self.target))?
            .then(|| self.directory.clone());
        self.is_placed = true;
        Ok(Replaced(replaced))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_placed {
            // The next recording tries again.
            let _ = remove(&self.directory);
        }
    }
}

/// The old trail, if there was one. It stays until it is removed.
#[derive(Debug, Default)]
pub(crate) struct Replaced(Option<PathBuf>);

impl Replaced {
    /// Removes the old trail; it is tried again if it could not be.
    pub(crate) fn remove(&mut self) {
        if let Some(directory) = self.0.take()
            && fs::remove_dir_all(&directory).is_err()
            && directory.symlink_metadata().is_ok()
        {
            self.0 = Some(directory);
        }
    }

    /// Brings the old trail back to its place; answers whether there was one.
    pub(crate) fn bring_back(&mut self, target: &Path) -> Result<bool, TrailError> {
        let Some(old) = self.0.take() else { return Ok(false) };
        let is_there = exchange(&old, target).map_err(TrailError::io("rename to", target))?;
        if is_there {
            fs::remove_dir_all(&old).map_err(TrailError::io("remove", &old))?;
        }
        Ok(true)
    }
}

/// Moves `from` to `to`. What is at `to` is at `from` afterwards; answers whether there was anything but an empty
/// directory.
fn exchange(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::rename(from, to) {
        Ok(()) => return Ok(false),
        Err(error) if to.symlink_metadata().is_err() => return Err(error),
        Err(_) => {}
    }
    match renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => exchange_in_three(from, to).map(|()| true),
        Err(error) => Err(error.into()),
    }
}

/// Where the file system cannot exchange two names: one after the other.
fn exchange_in_three(from: &Path, to: &Path) -> io::Result<()> {
    let between = from.with_extension("old");
    fs::rename(to, &between)?;
    if let Err(error) = fs::rename(from, to) {
        // If even this fails, the old trail has the hidden name.
        let _ = fs::rename(&between, to);
        return Err(error);
    }
    fs::rename(&between, from)
}

/// Removes a directory, one open file at a time: there may be no more.
fn remove(directory: &Path) -> io::Result<()> {
    // An entry keeps its directory open.
    let path = |entry: io::Result<fs::DirEntry>| {
        entry.and_then(|entry| Ok((entry.path(), entry.file_type()?.is_dir())))
    };
    for (path, is_directory) in fs::read_dir(directory)?.map(path).collect::<io::Result<Vec<_>>>()? {
        if is_directory { remove(&path)? } else { fs::remove_file(&path)? }
    }
    fs::remove_dir(directory)
}

/// Before the number of the process in hidden names: the run of the kernel, so that the number can be looked up.
fn prefix() -> String {
    let boot = boot_id().unwrap_or_default();
    format!(".new-{}-", boot.split('-').next().unwrap_or_default())
}

/// Removes new trails that were never moved to their place, because their recorders were killed. Old trails stay.
fn sweep(target: &Path) {
    let beginning = beside(target, &prefix());
    let (Some(directory), Some(beginning)) = (target.parent(), beginning.file_name()) else { return };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.as_encoded_bytes().strip_prefix(beginning.as_encoded_bytes());
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse::<u32>().ok());
        let is_gone = |pid: u32| !Path::new("/proc").join(pid.to_string()).exists();
        let is_own = number == Some(std::process::id());
        if number.is_some_and(|pid| is_own || is_gone(pid)) && is_new(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a trail holds nothing that was recorded.
fn is_new(trail: &Path) -> bool {
    let is_empty =
        super::unfinished::unfinished(trail).is_ok_and(|found| found.iter().all(|one| one.events == 0));
    is_empty && trail.join(crate::meta::META_FILE).symlink_metadata().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_place_is_taken_at_once_and_given_back() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.trail");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("old"), "x").unwrap();
        let aside = Aside::create(&target).unwrap();
        assert_eq!(names(&target), ["old"]);
        let mut replaced = aside.place().unwrap();
        assert_eq!(names(&target), ["recording"]);
        assert!(replaced.bring_back(&target).unwrap());
        assert_eq!(
            (names(&target), names(directory.path())),
            (vec!["old".to_owned()], vec!["t.trail".to_owned()])
        );
        let mut replaced = Aside::create(&target).unwrap().place().unwrap();
        replaced.remove();
        assert_eq!(
            (names(&target), names(directory.path())),
            (vec!["recording".to_owned()], vec!["t.trail".to_owned()])
        );
    }

    #[test]
    fn names_are_exchanged_without_help_of_the_file_system() {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (directory.path().join("a"), directory.path().join("b"));
        for path in [&a, &b] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(path.file_name().unwrap()), "x").unwrap();
        }
        exchange_in_three(&a, &b).unwrap();
        assert_eq!((names(&a), names(&b)), (vec!["b".to_owned()], vec!["a".to_owned()]));
        assert_eq!(names(directory.path()), ["a", "b"]);
    }

    #[test]
    fn what_was_never_placed_goes_and_an_old_trail_stays() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.trail");
        // No process has this number.
        let left = |number: u32| beside(&target, &format!("{}{number}", prefix()));
        fs::create_dir_all(left(4_194_305).join(RECORDING)).unwrap();
        fs::create_dir_all(left(4_194_306).join(RECORDING)).unwrap();
        fs::write(left(4_194_306).join(crate::meta::META_FILE), "{}").unwrap();
        drop(Aside::create(&target).unwrap());
        assert_eq!(names(directory.path()), [left(4_194_306).file_name().unwrap().to_str().unwrap()]);
    }
}
