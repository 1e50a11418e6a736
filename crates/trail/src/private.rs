//! Data that have no place of their own yet are for nobody but their owner, whatever the umask: what they are made of may be in
//! a private directory.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::{NamedTempFile, TempDir};

/// Permissions of a directory that only its owner may enter.
const OWNER: u32 = 0o700;
/// Permissions of a file that only its owner may read.
const OWNER_FILE: u32 = 0o600;
/// Locked as long as somebody uses the temporary directory that it is in.
const IN_USE: &str = "iotrail-in-use";
/// What the names of temporary directories begin with.
const PREFIX: &str = "iotrail-";

/// Makes a directory that only its owner may enter.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(OWNER).create(path)
}

/// Gives a directory of [`create_dir()`] the permissions of any that is made there; none that `replaced` does not have, which
/// is the directory whose place it takes.
pub(crate) fn open_up(directory: &Path, replaced: Option<&Path>) -> io::Result<()> {
    // The kernel tells what umask and access lists of the directory above leave.
    let sample = directory.join(".permissions");
    fs::create_dir(&sample)?;
    let usual = sample.metadata()?.permissions();
    fs::remove_dir(&sample)?;
    fs::set_permissions(directory, narrowed(&usual, replaced))
}

/// Takes from an empty directory the permissions that `replaced` does not have, whose place it takes.
pub(crate) fn narrow(directory: &Path, replaced: &Path) -> io::Result<()> {
    let usual = directory.metadata()?.permissions();
    fs::set_permissions(directory, narrowed(&usual, Some(replaced)))
}

fn narrowed(usual: &Permissions, replaced: Option<&Path>) -> Permissions {
    let old = replaced.and_then(|old| old.metadata().ok()).filter(fs::Metadata::is_dir);
    let kept = old.map_or(0o7777, |old| old.mode() | OWNER);
    Permissions::from_mode(usual.mode() & 0o7777 & kept)
}

/// Takes a file from everybody but its owner.
pub(crate) fn close_file(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(OWNER_FILE))
}

/// A file beside `target` under a temporary name, to be renamed to it. It has the permissions of the file whose place it will
/// take, else those of any new file.
///
/// # Errors
/// It cannot be made.
pub fn file_beside(target: &Path) -> io::Result<NamedTempFile> {
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replaced = target.metadata().ok().filter(fs::Metadata::is_file).map(|old| old.mode() & 0o777);
    // Opened here, as any output file is: errors do not tell the temporary name.
    let open = |path: &Path| {
        let mode = replaced.map_or(0o666, |_| OWNER_FILE);
        OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    };
    let file = tempfile::Builder::new().prefix(".iotrail-").make_in(directory, open)?;
    if let Some(mode) = replaced {
        file.as_file().set_permissions(Permissions::from_mode(mode | OWNER_FILE))?;
    }
    Ok(file)
}

/// A directory among the system's temporary ones that only its owner may enter, removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    directory: TempDir,
    _in_use: File,
}

impl Temporary {
    /// Makes one in `parent`, and removes there what killed programs of the same user left.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).permissions(Permissions::from_mode(OWNER));
        let directory = builder.tempdir_in(parent)?;
        let mut options = OpenOptions::new();
        let in_use =
            options.write(true).create_new(true).mode(OWNER_FILE).open(directory.path().join(IN_USE))?;
        in_use.lock()?;
        Ok(Self { directory, _in_use: in_use })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes the temporary directories in `parent` whose users are gone. What cannot be looked at stays.
fn sweep(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = || {
            let meta = entry.metadata().ok()?;
            let is_private = meta.is_dir() && meta.uid() == user && meta.mode() & 0o777 == OWNER;
            let in_use = File::open(entry.path().join(IN_USE)).ok().filter(|_| is_private)?;
            // One that is not locked yet is as good as new.
            let is_old = in_use.metadata().ok()?.modified().ok()?.elapsed().ok()?.as_secs() >= 60;
            (is_old && in_use.try_lock().is_ok()).then_some(())
        };
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && is_ours().is_some() {
            // The next one tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, CreateOptions, TrailWriter};
    use iotrail_model::Coverage;
    use std::time::{Duration, SystemTime};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_temporary_directory_is_for_its_owner_alone() {
        let parent = tempfile::tempdir().unwrap();
        let temporary = Temporary::create(parent.path()).unwrap();
        assert_eq!(mode(temporary.path()), 0o700);
        let path = temporary.path().to_owned();
        drop(temporary);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_program_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let old = |path: &Path| {
            let file = File::options().write(true).open(path.join(IN_USE)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(100)).unwrap();
        };
        let used = Temporary::create(parent.path()).unwrap();
        old(used.path());
        let left = parent.path().join("iotrail-left");
        let fresh = parent.path().join("iotrail-fresh");
        let foreign = parent.path().join("iotrail-results");
        for directory in [&left, &fresh, &foreign] {
            create_dir(directory).unwrap();
            fs::write(directory.join("events-0000.parquet"), "x").unwrap();
        }
        for directory in [&left, &fresh] {
            fs::write(directory.join(IN_USE), "").unwrap();
        }
        old(&left);
        let _new = Temporary::create(parent.path()).unwrap();
        assert_eq!([used.path(), &left, &fresh, &foreign].map(Path::exists), [true, false, true, true]);
    }

    #[test]
    fn a_file_keeps_the_permissions_of_the_one_that_it_replaces() {
        let directory = tempfile::tempdir().unwrap();
        let (new, old, usual) =
            (directory.path().join("new"), directory.path().join("old"), directory.path().join("usual"));
        fs::write(&usual, "").unwrap();
        fs::write(&old, "").unwrap();
        for permissions in [0o600, 0o640, 0o755] {
            fs::set_permissions(&old, Permissions::from_mode(permissions)).unwrap();
            file_beside(&old).unwrap().persist(&old).unwrap();
            assert_eq!(mode(&old), permissions);
        }
        file_beside(&new).unwrap().persist(&new).unwrap();
        assert_eq!(mode(&new), mode(&usual));
    }

    #[test]
    fn a_directory_is_opened_up_no_further_than_the_one_that_it_replaces() {
        let parent = tempfile::tempdir().unwrap();
        let (usual, old, new) =
            (parent.path().join("usual"), parent.path().join("old"), parent.path().join("new"));
        fs::create_dir(&usual).unwrap();
        create_dir(&old).unwrap();
        create_dir(&new).unwrap();
        open_up(&new, None).unwrap();
        assert_eq!(mode(&new), mode(&usual));
        open_up(&new, Some(&old)).unwrap();
        assert_eq!(mode(&new), 0o700);
    }

    #[test]
    fn a_trail_that_is_not_finished_is_for_its_owner_alone() {
        let parent = tempfile::tempdir().unwrap();
        let (usual, target) = (parent.path().join("usual"), parent.path().join("x.trail"));
        fs::create_dir(&usual).unwrap();
        let write = |overwrite| {
            let writer = TrailWriter::create(&target, CreateOptions { overwrite }).unwrap().not_durable();
            let names = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().path());
            let hidden: Vec<_> = names.filter(|path| path.to_string_lossy().contains(".partial-")).collect();
            assert_eq!(hidden.iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o700]);
            writer.finish(&[], Vec::new(), Capture::default(), &Coverage::default()).unwrap();
        };
        write(false);
        assert_eq!(mode(&target), mode(&usual));
        fs::set_permissions(&target, Permissions::from_mode(0o750)).unwrap();
        write(true);
        assert_eq!(mode(&target), 0o750 & mode(&usual));
    }
}
