//! The directory in which programs are executed: everything that is made is named in a manifest before it is made, everything that is
//! removed is named there.
//!
//! The directory is held by one descriptor. Files are opened beneath it without following symbolic links, so that whoever changes names
//! meanwhile cannot lead the engine elsewhere.

use crate::content::{Checked, FileContent};
use crate::outcome::Outcome;
use crate::plan::{Plan, directories, is_simple};
use crate::program::ScratchFile;
use rustix::fs::{Access, Advice, AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the manifest.
pub const MANIFEST: &str = ".iotrail-scratch";

/// First line of a manifest.
const HEADER: &str = "iotrail scratch files 1";

/// Space that must be left: so many bytes, and a twentieth of what is needed.
const RESERVE: u64 = 16 << 20;

/// Inodes that must be left: so many, and a twentieth of what is needed.
const INODE_RESERVE: u64 = 16;

/// Bytes that are written at a time when files are filled.
const BLOCK: usize = 1 << 20;

/// Why a directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Something lies in it.
    #[error(
        "{path}: not empty (it holds {entry:?}); scratch files need a directory of their own: name an empty one, or one to be made"
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// A name in it.
        entry: String,
    },
    /// Another process uses it.
    #[error("{0}: another process uses it for scratch files; name another directory, or wait")]
    InUse(PathBuf),
    /// Something that the manifest names could not be removed.
    #[error("{0}: not everything that {MANIFEST} in it names could be removed; remove the rest by hand")]
    Left(PathBuf),
    /// Its manifest is none of ours.
    #[error("{0}: {MANIFEST} in it is not a manifest of scratch files; nothing was removed")]
    NoManifest(PathBuf),
    /// It has no room.
    #[error(
        "{path}: {needed} bytes are needed for scratch files and to leave a reserve, {free} bytes are free; name a directory with more room"
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// Bytes needed, with the reserve.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Its file system has no room for so many names.
    #[error(
        "{path}: {needed} files and directories are needed with a reserve, the file system has room for {free} more; name a directory on another one"
    )]
    NoInodes {
        /// The directory.
        path: PathBuf,
        /// Files and directories needed, with the reserve.
        needed: u64,
        /// So many the file system has room for.
        free: u64,
    },
    /// Its room was used by others meanwhile.
    #[error("{0}: no room was left during the measurement; name a directory with more room")]
    Full(PathBuf),
    /// The system refuses.
    #[error("{path}: cannot {what}: {source}")]
    Io {
        /// The directory.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// What is done about the page cache before each execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// The kernel is asked to drop what it holds of the files (`POSIX_FADV_DONTNEED`); file systems in memory keep it.
    Cold,
    /// The files stay as they were written.
    Warm,
}

/// A directory for the files of a plan; they are removed when this value is dropped.
#[derive(Debug)]
pub struct Sandbox {
    path: PathBuf,
    directory: OwnedFd,
    /// Locked as long as the directory is in use.
    manifest: File,
    contents: Contents,
    kept: bool,
}

/// What a manifest says.
#[derive(Debug, Default)]
struct Contents {
    /// Whether the directory was made with it.
    made: bool,
    /// Names of files, and of directories with a slash at their ends.
    names: Vec<String>,
}

impl Contents {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let made = match (lines.next()?, lines.next()?) {
            (HEADER, "directory made") => true,
            (HEADER, "directory found") => false,
            _ => return None,
        };
        let names: Vec<String> = lines.map(str::to_owned).collect();
        names
            .iter()
            .all(|name| is_simple(name.strip_suffix('/').unwrap_or(name)))
            .then_some(Self { made, names })
    }

    fn text(&self) -> String {
        let directory = if self.made { "made" } else { "found" };
        let mut text = format!("{HEADER}\ndirectory {directory}\n");
        for name in &self.names {
            text.push_str(name);
            text.push('\n');
        }
        text
    }
}

impl Sandbox {
    /// Takes a directory, which is made if it is not there, for the files of a plan: what an execution that was killed left in it is
    /// removed, and the room is checked. No file of the plan is made yet.
    ///
    /// # Errors
    /// If anything else lies in it, it is in use, or has no room.
    pub fn new(path: &Path, plan: &Plan) -> Result<Self, SandboxError> {
        Self::clean(path)?;
        let made = match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(failed(path, "make the directory", error)),
        };
        let directory = open_directory(path)?;
        let checked = is_empty(path, &directory).and_then(|()| has_room(path, &directory, plan));
        if let Err(error) = checked {
            if made {
                // It is ours and empty; if it stays, the next use takes it.
                let _ = rustix::fs::rmdir(path);
            }
            return Err(error);
        }
        let listed = |file: &ScratchFile| format!("{}{}", file.name, if file.directory { "/" } else { "" });
        let names = plan.program().files.iter().map(listed).collect();
        let contents = Contents { made, names };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let manifest =
            beneath(&directory, MANIFEST, flags).map_err(|error| failed(path, "write a manifest", error))?;
        let mut manifest = File::from(manifest);
        lock(path, &manifest)?;
        let written = manifest.write_all(contents.text().as_bytes());
        let sandbox = Self { path: path.to_owned(), directory, manifest, contents, kept: false };
        written.map_err(|source| sandbox.error("write a manifest", source))?;
        if plan.is_direct() {
            let opened = sandbox.open(MANIFEST, OFlags::RDONLY | OFlags::DIRECT);
            opened.map_err(|error| sandbox.error("open files in it with O_DIRECT", error.into()))?;
        }
        Ok(sandbox)
    }

    /// Whether a directory could be taken for the files of a plan: nothing is made, changed or removed.
    ///
    /// # Errors
    /// As [`Sandbox::new`]; what an execution that was killed left in it is no error.
    pub fn check_place(path: &Path, plan: &Plan) -> Result<(), SandboxError> {
        match open_directory(path) {
            Ok(directory) => {
                if let Err(Errno::NOENT) = beneath(&directory, MANIFEST, OFlags::PATH) {
                    is_empty(path, &directory)?;
                }
                has_room(path, &directory, plan)
            }
            Err(SandboxError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                has_room(path, &open_directory(parent.unwrap_or(Path::new(".")))?, plan)
            }
            Err(error) => Err(error),
        }
    }

    /// Uses a directory that another process has taken and prepared, and in the end cleans.
    ///
    /// # Errors
    /// If it is not there, or nobody has.
    pub fn join(path: &Path) -> Result<Self, SandboxError> {
        let directory = open_directory(path)?;
        let manifest = beneath(&directory, MANIFEST, OFlags::RDONLY | OFlags::NONBLOCK)
            .map_err(|error| failed(path, "open the manifest", error))?;
        let (manifest, contents) = (File::from(manifest), Contents::default());
        Ok(Self { path: path.to_owned(), directory, manifest, contents, kept: true })
    }

    /// Removes what an execution that was killed left in a directory. False if nothing did.
    ///
    /// # Errors
    /// If it is in use, or the manifest is not one.
    pub fn clean(path: &Path) -> Result<bool, SandboxError> {
        if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(false);
        }
        let directory = open_directory(path)?;
        // What is no regular file may block who opens or reads it.
        let mut manifest = match beneath(&directory, MANIFEST, OFlags::RDWR | OFlags::NONBLOCK) {
            Ok(manifest) => File::from(manifest),
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(failed(path, "open the manifest", error)),
        };
        if !manifest.metadata().is_ok_and(|found| found.is_file()) {
            return Err(SandboxError::NoManifest(path.to_owned()));
        }
        lock(path, &manifest)?;
        let mut text = String::new();
        let read = (&mut manifest).take(1 << 26).read_to_string(&mut text);
        // A process that was killed before it wrote the manifest has made nothing else.
        let contents = match read {
            Ok(0) => Contents::default(),
            Ok(_) => Contents::parse(&text).ok_or_else(|| SandboxError::NoManifest(path.to_owned()))?,
            Err(_) => return Err(SandboxError::NoManifest(path.to_owned())),
        };
        drop(Self { path: path.to_owned(), directory, manifest, contents, kept: false });
        match path.join(MANIFEST).symlink_metadata() {
            Ok(_) => Err(SandboxError::Left(path.to_owned())),
            Err(_) => Ok(true),
        }
    }

    /// Makes the files of the plan as they are before its execution: `again` leaves those alone that it does not modify. Their bytes are
    /// not compressible, on storage, and in the page cache or not.
    ///
    /// # Errors
    /// If a file cannot be written; [`SandboxError::Cancelled`] as soon as `cancel` is set.
    pub fn prepare(
        &self,
        plan: &Plan,
        cache: Cache,
        again: bool,
        cancel: &AtomicBool,
    ) -> Result<(), SandboxError> {
        self.prepare_directories(&plan.program().files)?;
        for (index, file) in plan.program().files.iter().enumerate() {
            if file.directory {
                continue;
            }
            if !again || plan.modifies(index) {
                self.make(file, plan.content(index), cancel)?;
            }
            if cache == Cache::Cold && file.size.is_some() {
                let opened = self.open(&file.name, OFlags::RDONLY);
                let dropped = opened
                    .and_then(|file| rustix::fs::fadvise(&file, 0, None::<NonZeroU64>, Advice::DontNeed));
                dropped.map_err(|error| self.error("drop a file from the page cache", error.into()))?;
            }
        }
        Ok(())
    }

    /// Compares what the files hold after an execution with what was written; answers nothing if the plan has no contents to check.
    ///
    /// # Errors
    /// If a file cannot be read; [`SandboxError::Cancelled`] as soon as `cancel` is set.
    pub fn check(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        cancel: &AtomicBool,
    ) -> Result<Checked, SandboxError> {
        let mut checked = outcome.checked;
        for (index, file) in plan.program().files.iter().enumerate() {
            let Some(content) = plan.content(index).filter(|_| !file.directory) else { continue };
            let opened = match self.open(&file.name, OFlags::RDONLY) {
                Ok(opened) => File::from(opened),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(self.error("read a scratch file", error.into())),
            };
            let (found, zeros) = self.check_file(opened, content, cancel)?;
            checked.merge(found);
            if plan.is_placed(index) {
                let written = outcome.written.bytes(index, file.size.unwrap_or_default());
                checked.missing += written.saturating_sub(found.bytes - zeros);
            }
        }
        Ok(checked)
    }

    /// What is found in a file, and how many of its bytes are 0.
    fn check_file(
        &self,
        mut file: File,
        content: FileContent,
        cancel: &AtomicBool,
    ) -> Result<(Checked, u64), SandboxError> {
        let (mut checked, mut block, mut zeros) = (Checked::default(), vec![0; BLOCK], 0);
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(SandboxError::Cancelled);
            }
            let len = file.read(&mut block).map_err(|source| self.error("read a scratch file", source))?;
            if len == 0 {
                break;
            }
            let (wrong, zero) = content.compare(checked.bytes, &block[..len]);
            checked.bytes += len as u64;
            checked.wrong += wrong;
            zeros += zero;
        }
        Ok((checked, zeros))
    }

    /// Whether its file system is in memory, where files are in the page cache whatever is asked.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        const TMPFS: i64 = 0x0102_1994;
        const RAMFS: i64 = 0x8584_58f6;
        rustix::fs::fstatfs(&self.directory).is_ok_and(|found| [TMPFS, RAMFS].contains(&found.f_type))
    }

    /// Leaves the files where they are when this value is dropped; [`Sandbox::clean`] removes them.
    pub fn keep(&mut self) {
        self.kept = true;
    }

    /// Opens a file beneath the directory.
    pub(crate) fn open(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        beneath(&self.directory, name, flags)
    }

    /// Looks at a file beneath the directory.
    pub(crate) fn stat(&self, name: &str) -> rustix::io::Result<()> {
        let (parent, last) = parent(&self.directory, name)?;
        let wanted = rustix::fs::StatxFlags::BASIC_STATS;
        rustix::fs::statx(&parent, last, AtFlags::SYMLINK_NOFOLLOW, wanted).map(|_| ())
    }

    /// Removes the name of a file.
    pub(crate) fn unlink(&self, name: &str) -> rustix::io::Result<()> {
        removed(&self.directory, name, AtFlags::empty())
    }

    /// Gives a file another name beneath the directory.
    pub(crate) fn rename(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        let ((from, last), (to, other)) = (parent(&self.directory, from)?, parent(&self.directory, to)?);
        rustix::fs::renameat(&from, last, &to, other)
    }

    /// Gives a file one more name beneath the directory.
    pub(crate) fn link(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        let ((from, last), (to, other)) = (parent(&self.directory, from)?, parent(&self.directory, to)?);
        rustix::fs::linkat(&from, last, &to, other, AtFlags::empty())
    }

    /// Makes a symbolic link that leads nowhere.
    pub(crate) fn symlink(&self, name: &str) -> rustix::io::Result<()> {
        let (parent, last) = parent(&self.directory, name)?;
        rustix::fs::symlinkat("nowhere", parent, last)
    }

    /// Makes a directory.
    pub(crate) fn make_directory(&self, name: &str) -> rustix::io::Result<()> {
        beneath_made(&self.directory, name)
    }

    /// Removes a directory.
    pub(crate) fn remove_directory(&self, name: &str) -> rustix::io::Result<()> {
        removed(&self.directory, name, AtFlags::REMOVEDIR)
    }

    /// Reads all entries of a directory; their number.
    pub(crate) fn list(&self, name: &str) -> rustix::io::Result<u64> {
        let mut entries = Dir::new(self.open(name, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
        entries.try_fold(0, |count, entry| entry.map(|_| count + 1))
    }

    /// Makes the directories that are there before an execution, the outermost first: those on the way to files, too, unless the program
    /// makes them. The others are removed with what earlier executions left in them.
    fn prepare_directories(&self, files: &[ScratchFile]) -> Result<(), SandboxError> {
        let absent: BTreeSet<&str> = files
            .iter()
            .filter(|file| file.directory && file.size.is_none())
            .map(|file| file.name.as_str())
            .collect();
        let is_absent =
            |name: &str| absent.contains(name) || directories(name).any(|outer| absent.contains(outer));
        let mut present = BTreeSet::new();
        for file in files {
            present.extend(directories(&file.name));
            present.extend(file.directory.then_some(file.name.as_str()));
        }
        for file in files.iter().filter(|file| !file.directory && is_absent(&file.name)) {
            match self.unlink(&file.name) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(self.error("remove a scratch file", error.into())),
            }
        }
        for name in present.iter().rev().filter(|name| is_absent(name)) {
            match self.remove_directory(name) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(self.error("remove a directory", error.into())),
            }
        }
        for name in present.iter().filter(|name| !is_absent(name)) {
            match self.make_directory(name) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.error("make a directory", error.into())),
            }
        }
        Ok(())
    }

    /// Asks whether a file may be used.
    pub(crate) fn access(&self, name: &str) -> rustix::io::Result<()> {
        let (parent, last) = parent(&self.directory, name)?;
        rustix::fs::accessat(parent, last, Access::EXISTS, AtFlags::empty())
    }

    fn make(
        &self,
        file: &ScratchFile,
        content: Option<FileContent>,
        cancel: &AtomicBool,
    ) -> Result<(), SandboxError> {
        let writing = |source: io::Error| self.error("write a scratch file", source);
        match removed(&self.directory, &file.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Its name, or one that it is below, is something else beforehand.
            Err(Errno::NOTDIR | Errno::ISDIR) if file.size.is_none() => {}
            Err(error) => return Err(self.error("remove a scratch file", error.into())),
        }
        let Some(size) = file.size else { return Ok(()) };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut target = File::from(self.open(&file.name, flags).map_err(|error| writing(error.into()))?);
        let mut block = noise(BLOCK.min(usize::try_from(size).unwrap_or(BLOCK)));
        let mut left = size;
        while left > 0 {
            if cancel.load(Ordering::Relaxed) {
                return Err(SandboxError::Cancelled);
            }
            let next = left.min(block.len() as u64);
            if let Some(content) = content {
                content.fill(size - left, &mut block);
            }
            target.write_all(&block[..next as usize]).map_err(writing)?;
            left -= next;
        }
        target.sync_data().map_err(writing)
    }

    fn error(&self, what: &'static str, source: io::Error) -> SandboxError {
        SandboxError::Io { path: self.path.clone(), what, source }
    }
}

impl Drop for Sandbox {
    /// Removes what the manifest names, then the manifest, then the directory if it was made. What fails is tried again by the next use:
    /// the manifest goes last.
    fn drop(&mut self) {
        let listed: BTreeSet<&str> = self.contents.names.iter().map(String::as_str).collect();
        let gone = |name: &str| {
            let Some(directory) = name.strip_suffix('/') else {
                return matches!(self.unlink(name), Ok(()) | Err(Errno::NOENT | Errno::NOTDIR));
            };
            match self.remove_directory(directory) {
                Ok(()) | Err(Errno::NOENT) => true,
                // It is a file, which is removed next if it is ours; or what it is in is one.
                Err(Errno::NOTDIR) => listed.contains(directory) || self.stat(directory).is_err(),
                Err(_) => false,
            }
        };
        if self.kept {
            let _ = rustix::fs::flock(&self.manifest, FlockOperation::Unlock);
            return;
        }
        let names = &self.contents.names;
        let bare = |name: &'_ String| name.trim_end_matches('/').len();
        let mut made: BTreeSet<String> = names
            .iter()
            .flat_map(|name| directories(&name[..bare(name)]))
            .map(|name| format!("{name}/"))
            .collect();
        made.extend(names.iter().cloned());
        // What lies in a directory goes before it. A directory on the way in which others put files stays.
        let left: BTreeSet<&String> = made.iter().rev().filter(|name| !gone(name)).collect();
        let left = names.iter().filter(|name| left.contains(name)).count();
        if left == 0 && gone(MANIFEST) && self.contents.made {
            // A directory in which others put files stays.
            let _ = rustix::fs::rmdir(&self.path);
        }
        // Closing it would unlock it too.
        let _ = rustix::fs::flock(&self.manifest, FlockOperation::Unlock);
    }
}

/// Bytes without a pattern (xorshift64), the same each time.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut out = Vec::with_capacity(bytes + 8);
    while out.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(bytes);
    out
}

fn beneath(directory: impl AsFd, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    rustix::fs::openat2(directory, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, mode, resolve)
}

/// The directory that a name is in, opened without following symbolic links, and the last part of the name.
fn parent(directory: impl AsFd, name: &str) -> rustix::io::Result<(OwnedFd, &str)> {
    let (parent, last) = name.rsplit_once('/').unwrap_or((".", name));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    Ok((rustix::fs::openat2(directory, parent, flags, Mode::empty(), resolve)?, last))
}

fn removed(directory: impl AsFd, name: &str, flags: AtFlags) -> rustix::io::Result<()> {
    let (parent, last) = parent(directory, name)?;
    rustix::fs::unlinkat(parent, last, flags)
}

fn beneath_made(directory: impl AsFd, name: &str) -> rustix::io::Result<()> {
    let (parent, last) = parent(directory, name)?;
    rustix::fs::mkdirat(parent, last, Mode::RWXU)
}

fn failed(path: &Path, what: &'static str, error: Errno) -> SandboxError {
    SandboxError::Io { path: path.to_owned(), what, source: error.into() }
}

fn open_directory(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
        .map_err(|error| failed(path, "open the directory", error))
}

fn lock(path: &Path, manifest: &File) -> Result<(), SandboxError> {
    match rustix::fs::flock(manifest, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(SandboxError::InUse(path.to_owned())),
        Err(error) => Err(failed(path, "lock the manifest", error)),
    }
}

fn is_empty(path: &Path, directory: &OwnedFd) -> Result<(), SandboxError> {
    let reading = |error| failed(path, "read the directory", error);
    for entry in Dir::read_from(directory).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            let entry = String::from_utf8_lossy(name).into_owned();
            return Err(SandboxError::NotEmpty { path: path.to_owned(), entry });
        }
    }
    Ok(())
}

fn has_room(path: &Path, directory: &OwnedFd, plan: &Plan) -> Result<(), SandboxError> {
    let system =
        rustix::fs::fstatvfs(directory).map_err(|error| failed(path, "ask for free space", error))?;
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let peak = plan.peak_bytes();
    let needed = peak.saturating_add(RESERVE).saturating_add(peak / 20);
    if free < needed {
        return Err(SandboxError::NoRoom { path: path.to_owned(), needed, free });
    }
    let names = plan.names();
    let (needed, free) = (names.saturating_add(INODE_RESERVE).saturating_add(names / 20), system.f_favail);
    // File systems without a number of their own say 0 of 0.
    if system.f_files > 0 && free < needed {
        return Err(SandboxError::NoInodes { path: path.to_owned(), needed, free });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Action, Buffers, Expected, OpenMode, OpenNumber, Operation, Program};
    use crate::{Think, execute};
    use std::fs;
    use std::time::Duration;

    const OPEN: OpenNumber = OpenNumber(7);
    static GO: AtomicBool = AtomicBool::new(false);

    fn operation(action: Action, expected: Expected) -> Operation {
        Operation { think_ns: 0, action, expected }
    }

    fn open(write: bool) -> Operation {
        let mode = OpenMode { read: true, write, ..OpenMode::default() };
        operation(Action::Open { file: 0, open: OPEN, mode }, Expected::Success)
    }

    fn plan(size: Option<u64>, streams: Vec<Vec<Operation>>) -> Plan {
        Plan::new(Program {
            files: vec![ScratchFile { name: "f0".to_owned(), size, directory: false }],
            streams,
            ..Program::default()
        })
        .unwrap()
    }

    #[test]
    fn streams_run_and_results_are_compared() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("scratch");
        let reader = vec![
            open(false),
            operation(Action::Read(OPEN, 60), Expected::Bytes(60)),
            operation(Action::Read(OPEN, 60), Expected::Bytes(40)),
            operation(Action::Seek(OPEN, 90), Expected::Success),
            operation(Action::Read(OPEN, 60), Expected::Bytes(10)),
            operation(Action::ReadAt(OPEN, 0, 60), Expected::Bytes(59)), // differs
            operation(Action::Write(OPEN, 1), Expected::Error(Errno::BADF.raw_os_error())),
            operation(Action::Write(OPEN, 1), Expected::Success), // differs
            operation(Action::Close(OPEN), Expected::Success),
            operation(Action::Stat(0), Expected::Success),
        ];
        let plan = plan(Some(100), vec![reader.clone(), reader]);
        let sandbox = Sandbox::new(&path, &plan).unwrap();
        for again in [false, true] {
            sandbox.prepare(&plan, Cache::Cold, again, &GO).unwrap();
            assert_eq!(fs::metadata(path.join("f0")).unwrap().len(), 100);
            let outcome = execute(&plan, &sandbox, Think::Dropped, &GO);
            assert_eq!((outcome.differences, outcome.times.operations()), (4, 20));
            assert!(!outcome.cancelled && outcome.elapsed > Duration::ZERO);
        }
        drop(sandbox);
        assert!(!path.exists());
    }

    #[test]
    fn what_shall_fail_opens_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let mode = OpenMode { write: true, create: true, exclusive: true, ..OpenMode::default() };
        let refused = |file, mode, error: Errno| {
            let action = Action::Open { file, open: OPEN, mode };
            operation(action, Expected::Error(error.raw_os_error()))
        };
        let read = OpenMode { read: true, ..OpenMode::default() };
        let stream = vec![
            refused(0, mode, Errno::EXIST),
            refused(1, read, Errno::NOENT),
            operation(Action::Stat(1), Expected::Error(Errno::NOENT.raw_os_error())),
            refused(0, read, Errno::NOENT), // differs
            open(true),
            operation(Action::Close(OPEN), Expected::Success),
        ];
        let file = |name: &str, size| ScratchFile { name: name.to_owned(), size, directory: false };
        let plan = Plan::new(Program {
            files: vec![file("f0", Some(1)), file("missing", None)],
            streams: vec![stream],
            ..Program::default()
        })
        .unwrap();
        let sandbox = Sandbox::new(&parent.path().join("s"), &plan).unwrap();
        sandbox.prepare(&plan, Cache::Cold, false, &GO).unwrap();
        assert_eq!(execute(&plan, &sandbox, Think::Dropped, &GO).differences, 1);
    }

    #[test]
    fn streams_share_descriptions_and_wait_for_events() {
        let parent = tempfile::tempdir().unwrap();
        let step = |action| operation(action, Expected::Success);
        let moves = |action, bytes| operation(action, Expected::Bytes(bytes));
        let own = OpenNumber(1);
        // The second writes behind what the first wrote, and the first reads all of it.
        let first = vec![
            open(true),
            moves(Action::Write(OPEN, 60), 60),
            step(Action::Share { open: OPEN, event: 0 }),
            step(Action::Await(1)),
            moves(Action::ReadAt(OPEN, 0, 1000), 100),
            step(Action::Close(OPEN)),
        ];
        let second = vec![
            step(Action::Inherit { open: own, event: 0 }),
            moves(Action::Write(own, 40), 40),
            step(Action::Close(own)),
            step(Action::Signal(1)),
        ];
        let plan = Plan::new(Program {
            files: vec![ScratchFile { name: "f0".to_owned(), size: Some(0), directory: false }],
            streams: vec![second, first],
            events: 2,
            ..Program::default()
        })
        .unwrap();
        let sandbox = Sandbox::new(&parent.path().join("s"), &plan).unwrap();
        for _ in 0..50 {
            sandbox.prepare(&plan, Cache::Warm, true, &GO).unwrap();
            let outcome = execute(&plan, &sandbox, Think::Dropped, &GO);
            assert_eq!((outcome.differences, outcome.times.operations()), (0, 6));
        }
        let cancelled = execute(&plan, &sandbox, Think::Dropped, &AtomicBool::new(true));
        assert!(cancelled.cancelled);
    }

    #[test]
    fn vectored_calls_move_all_their_buffers() {
        let parent = tempfile::tempdir().unwrap();
        let vector = |bytes, count| Buffers { bytes, count };
        let calls = vec![
            open(true),
            operation(Action::WriteVector(OPEN, None, vector(10, 4)), Expected::Bytes(10)),
            operation(Action::WriteVector(OPEN, Some(95), vector(1025, 1024)), Expected::Bytes(1025)),
            operation(Action::Seek(OPEN, 0), Expected::Success),
            operation(Action::ReadVector(OPEN, None, vector(2000, 3)), Expected::Bytes(1120)),
            operation(Action::ReadVector(OPEN, Some(1100), vector(60, 7)), Expected::Bytes(20)),
            operation(Action::ReadVector(OPEN, Some(0), vector(2, 5)), Expected::Bytes(2)),
        ];
        let plan = plan(Some(100), vec![calls]);
        assert_eq!(plan.peak_bytes(), 1120);
        let sandbox = Sandbox::new(&parent.path().join("s"), &plan).unwrap();
        sandbox.prepare(&plan, Cache::Warm, false, &GO).unwrap();
        assert_eq!(execute(&plan, &sandbox, Think::Dropped, &GO).differences, 0);
    }

    #[test]
    fn calls_past_the_page_cache_move_what_others_do() {
        let parent = tempfile::tempdir().unwrap();
        let mode = OpenMode { read: true, write: true, direct: true, ..OpenMode::default() };
        let vector = Buffers { bytes: 16384, count: 2 };
        let calls = vec![
            operation(Action::Open { file: 0, open: OPEN, mode }, Expected::Success),
            operation(Action::Read(OPEN, 8192), Expected::Bytes(8192)),
            operation(Action::Read(OPEN, 8192), Expected::Bytes(1808)),
            operation(Action::WriteAt(OPEN, 8192, 4096), Expected::Bytes(4096)),
            operation(Action::WriteVector(OPEN, Some(12288), vector), Expected::Bytes(16384)),
            operation(Action::ReadAt(OPEN, 4096, 65536), Expected::Bytes(24576)),
        ];
        let plan = plan(Some(10_000), vec![calls]);
        let sandbox = match Sandbox::new(&parent.path().join("s"), &plan) {
            Err(error) if error.to_string().contains("O_DIRECT") => {
                eprintln!("NOT TESTED: {error}");
                return;
            }
            sandbox => sandbox.unwrap(),
        };
        sandbox.prepare(&plan, Cache::Cold, false, &GO).unwrap();
        assert_eq!(execute(&plan, &sandbox, Think::Dropped, &GO).differences, 0);
    }

    #[test]
    fn time_to_think_is_kept_scaled_or_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let slow = Operation { think_ns: 40_000_000, ..open(false) };
        let plan = plan(Some(1), vec![vec![slow]]);
        let sandbox = Sandbox::new(&parent.path().join("s"), &plan).unwrap();
        sandbox.prepare(&plan, Cache::Warm, false, &GO).unwrap();
        let elapsed = |think| execute(&plan, &sandbox, think, &GO).elapsed;
        assert!(elapsed(Think::Scaled(1.0)) >= Duration::from_millis(40));
        assert!(elapsed(Think::Scaled(0.5)) >= Duration::from_millis(20));
        assert!(elapsed(Think::Dropped) < Duration::from_millis(40));
        let cancelled = execute(&plan, &sandbox, Think::Scaled(1e6), &AtomicBool::new(true));
        assert!(cancelled.cancelled && cancelled.times.operations() == 0);
    }

    #[test]
    fn a_directory_with_other_files_is_refused_and_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("mine"), "mine").unwrap();
        let error = Sandbox::new(parent.path(), &plan(None, Vec::new())).unwrap_err();
        assert!(error.to_string().contains("not empty (it holds \"mine\")"), "{error}");
        assert_eq!(fs::read(parent.path().join("mine")).unwrap(), b"mine");
    }

    #[test]
    fn only_files_of_the_manifest_are_removed_after_a_kill() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("s");
        let plan = plan(Some(10), Vec::new());
        let sandbox = Sandbox::new(&path, &plan).unwrap();
        sandbox.prepare(&plan, Cache::Cold, false, &GO).unwrap();
        assert!(matches!(Sandbox::clean(&path), Err(SandboxError::InUse(_))));
        // As after a kill: nothing is removed, the lock is gone.
        let _ = rustix::fs::flock(&sandbox.manifest, FlockOperation::Unlock);
        std::mem::forget(sandbox);
        fs::write(path.join("mine"), "mine").unwrap();
        assert!(Sandbox::clean(&path).unwrap());
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["mine"]);
        assert!(!Sandbox::clean(&path).unwrap());
    }

    #[test]
    fn a_manifest_that_names_what_lies_elsewhere_removes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("s");
        fs::create_dir(&path).unwrap();
        fs::write(parent.path().join("mine"), "mine").unwrap();
        for name in ["../mine", "/etc/hostname", "a/../../mine", ".."] {
            fs::write(path.join(MANIFEST), format!("{HEADER}\ndirectory found\n{name}\n")).unwrap();
            assert!(matches!(Sandbox::clean(&path), Err(SandboxError::NoManifest(_))), "{name}");
        }
        fs::remove_file(path.join(MANIFEST)).unwrap();
        std::os::unix::fs::symlink("../mine", path.join(MANIFEST)).unwrap();
        assert!(matches!(Sandbox::clean(&path), Err(SandboxError::Io { .. })));
        assert!(parent.path().join("mine").exists());
    }

    #[test]
    fn a_manifest_that_is_a_pipe_blocks_nobody() {
        let directory = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(
            CWD,
            directory.path().join(MANIFEST),
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(matches!(Sandbox::clean(directory.path()), Err(SandboxError::NoManifest(_))));
    }

    #[test]
    fn what_cannot_be_removed_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let text = Contents { made: false, names: vec!["f0".to_owned()] }.text();
        fs::write(directory.path().join(MANIFEST), text).unwrap();
        fs::create_dir(directory.path().join("f0")).unwrap();
        assert!(matches!(Sandbox::clean(directory.path()), Err(SandboxError::Left(_))));
        fs::remove_dir(directory.path().join("f0")).unwrap();
        assert!(Sandbox::clean(directory.path()).unwrap());
    }

    #[test]
    fn a_link_in_place_of_a_scratch_file_leads_nowhere() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("s");
        let mine = parent.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        let write = vec![open(true), operation(Action::Stat(0), Expected::Success)];
        let plan = plan(None, vec![write]);
        let sandbox = Sandbox::new(&path, &plan).unwrap();
        std::os::unix::fs::symlink(&mine, path.join("f0")).unwrap();
        assert_eq!(execute(&plan, &sandbox, Think::Dropped, &GO).differences, 1);
        drop(sandbox);
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }

    #[test]
    fn looking_at_a_place_changes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let small = plan(Some(10), Vec::new());
        let place = parent.path().join("s");
        Sandbox::check_place(&place, &small).unwrap();
        assert!(!place.exists());
        let huge = Sandbox::check_place(&place, &plan(Some(1 << 60), Vec::new())).unwrap_err();
        assert!(matches!(huge, SandboxError::NoRoom { .. }), "{huge}");
        fs::create_dir(&place).unwrap();
        Sandbox::check_place(&place, &small).unwrap();
        fs::write(place.join("mine"), "mine").unwrap();
        assert!(matches!(Sandbox::check_place(&place, &small), Err(SandboxError::NotEmpty { .. })));
        let nowhere = Sandbox::check_place(&parent.path().join("a/b"), &small).unwrap_err();
        assert!(nowhere.to_string().contains("No such file"), "{nowhere}");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    }

    #[test]
    fn a_link_on_the_way_to_a_file_or_in_place_of_a_directory_leads_nowhere() {
        let parent = tempfile::tempdir().unwrap();
        let (path, outside) = (parent.path().join("s"), parent.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        let file = |name: &str| ScratchFile { name: name.to_owned(), ..ScratchFile::default() };
        let write = vec![open(true), operation(Action::Unlink(0), Expected::Success)];
        let program = Program { files: vec![file("d/e/f0")], streams: vec![write], ..Program::default() };
        let plan = Plan::new(program).unwrap();
        let sandbox = Sandbox::new(&path, &plan).unwrap();
        sandbox.prepare(&plan, Cache::Warm, false, &GO).unwrap();
        fs::write(outside.join("f0"), "mine").unwrap();
        fs::remove_dir(path.join("d/e")).unwrap();
        std::os::unix::fs::symlink(&outside, path.join("d/e")).unwrap();
        assert_eq!(
            execute(&plan, &sandbox, Think::Dropped, &GO).differences,
            2,
            "neither opened nor removed"
        );
        assert!(sandbox.prepare(&plan, Cache::Warm, true, &GO).is_err());
        drop(sandbox);
        assert_eq!(fs::read(outside.join("f0")).unwrap(), b"mine");
    }

    #[test]
    fn a_plan_that_needs_more_than_there_is_makes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("s");
        let error = Sandbox::new(&path, &plan(Some(1 << 60), Vec::new())).unwrap_err();
        assert!(matches!(error, SandboxError::NoRoom { needed, .. } if needed > 1 << 60), "{error}");
        assert!(!path.exists());
    }
}
