//! One recorder at a time changes what all recorders of a trail share.
//!
//! The lock is a file beside the trail, so that it outlives a trail that is replaced. Where the file system knows
//! `flock`, a lock ends with its owner. Where it does not, the file itself is the lock: it is made by one owner and
//! removed by it, and an owner that was killed leaves it; then the error says which file to remove.

use crate::error::TrailError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a lock is waited for. Owners hold it for as long as writing `trail.json` takes.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// The lock of a trail; dropped, it is free.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The file whose existence or lock is the lock.
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Waits for the lock of the trail `target`.
    pub(crate) fn take(target: &Path) -> Result<Self, TrailError> {
        Self::wait_for(target, "", PATIENCE)?
            .ok_or_else(|| TrailError::Locked { path: beside(target, ".owner") })
    }

    /// Waits for the lock of those who finish what killed recorders left in `target`. They hold it longer than that of the
    /// trail, which others need meanwhile.
    pub(crate) fn take_recovery(target: &Path) -> Result<Self, TrailError> {
        Self::wait_for(target, ".recover", PATIENCE)?
            .ok_or_else(|| TrailError::BeingRecovered { path: target.to_owned() })
    }

    /// The lock of that kind; `None` if another still has it after `patience`.
    fn wait_for(target: &Path, kind: &str, patience: Duration) -> Result<Option<Self>, TrailError> {
        let path = beside(target, &format!("{kind}.lock"));
        let owner = beside(target, &format!("{kind}.owner"));
        let deadline = Instant::now() + patience;
        loop {
            let lock = try_take(&path, &owner).map_err(|error| match error.kind() {
                // Nothing can be made there, neither the lock nor what the user asked for.
                ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    TrailError::io("create", target)(error)
                }
                _ => TrailError::io("lock", &path)(error),
            })?;
            if lock.is_some() || Instant::now() > deadline {
                return Ok(lock);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Somebody else may have removed it already.
        let _ = fs::remove_file(&self.path);
    }
}

/// `.NAME` with an ending, beside the trail.
pub(crate) fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(ending);
    target.with_file_name(name)
}

/// The lock at `path`, or at `owner` where files cannot be locked; `None` if another has it.
fn try_take(path: &Path, owner: &Path) -> std::io::Result<Option<Lock>> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // The former owner may have removed the file between the opening and the locking.
        Ok(()) if is_still_at(&file, path) => Ok(Some(Lock { path: path.to_owned(), _file: file })),
        Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => {
            let _ = fs::remove_file(path);
            make(owner)
        }
        Err(error) => Err(error.into()),
    }
}

fn is_still_at(file: &File, path: &Path) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    file.metadata().ok().map(identity).is_some_and(|own| path.metadata().ok().map(identity) == Some(own))
}

/// Without `flock`: the file that only one owner can make.
fn make(path: &Path) -> std::io::Result<Option<Lock>> {
    match File::create_new(path) {
        Ok(mut file) => {
            writeln!(file, "{}", std::process::id())?;
            Ok(Some(Lock { path: path.to_owned(), _file: file }))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.trail");
        let path = beside(&target, ".lock");
        let owner = beside(&target, ".owner");
        let first = Lock::take(&target).unwrap();
        assert!(try_take(&path, &owner).unwrap().is_none());
        let recovery = Lock::take_recovery(&target).unwrap();
        assert!(Lock::wait_for(&target, ".recover", PAUSE).unwrap().is_none());
        drop((first, recovery));
        assert!(try_take(&path, &owner).unwrap().is_some());
        assert!(!path.exists(), "nothing is left behind");
    }

    #[test]
    fn where_files_cannot_be_locked_their_existence_is_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".t.trail.owner");
        let first = make(&path).unwrap().unwrap();
        assert!(make(&path).unwrap().is_none());
        drop(first);
        assert!(make(&path).unwrap().is_some());
    }

    #[test]
    fn eight_owners_in_turn_never_meet() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.trail");
        let count = directory.path().join("count");
        fs::write(&count, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let _lock = Lock::take(&target).unwrap();
                        let number: u32 = fs::read_to_string(&count).unwrap().parse().unwrap();
                        fs::write(&count, (number + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&count).unwrap(), "80");
    }
}
