//! The calls that say how processes were started and what they did to names, in the order of time.

use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{Transfer, dictionary, spec};
use iotrail_model::{CallId, CaseId, FileId, Layer, Names, Nullable, OpenId, PathId, Pid, Timestamp};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::sync::Arc;

/// What an open asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenMode {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) truncate: bool,
    pub(crate) exclusive: bool,
    pub(crate) append: bool,
    pub(crate) directory: bool,
    pub(crate) cloexec: bool,
    /// Without a name.
    pub(crate) nameless: bool,
}

impl OpenMode {
    fn parse(call: &str, flags: &str) -> Self {
        let has = |word: &str| flags.split('|').any(|flag| flag == word);
        let creat = call == "creat";
        Self {
            read: !creat && !has("O_WRONLY"),
            write: creat || has("O_WRONLY") || has("O_RDWR"),
            create: creat || has("O_CREAT"),
            truncate: creat || has("O_TRUNC"),
            exclusive: has("O_CREAT") && has("O_EXCL"),
            append: has("O_APPEND"),
            directory: has("O_DIRECTORY") || has("O_PATH"),
            cloexec: has("O_CLOEXEC"),
            nameless: has("O_TMPFILE"),
        }
    }
}

/// What a call did, as far as jobs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Exec,
    Fork,
    Pipe {
        /// Whether an exec closes both ends.
        cloexec: bool,
    },
    Open(OpenMode),
    Dup {
        /// Whether an exec closes the new descriptor.
        cloexec: bool,
    },
    /// An exec closes the descriptor from now on.
    CloseOnExec,
    Close,
    /// Moved the position of an open file.
    Seek,
    /// Asked something about the name.
    Look,
    /// Asked all that is known about the file, its times among it.
    Stat,
    /// Asked for a name that is not there.
    Missing,
    /// Made a named pipe.
    Fifo,
    /// Sent a signal.
    Kill,
    /// Got a connection.
    Accept,
    Read,
    Write,
    /// From `path` to `path2`.
    Copy,
    /// Changed its length.
    Change,
    /// Changed who may do what with it, or its attributes; with the permissions if they are all that changed.
    Mode(Option<u32>),
    /// Set its times.
    Times,
    /// What nobody may do with new files from now on.
    Umask(u32),
    Remove,
    RemoveDirectory,
    /// `path` is `path2` from now on.
    Rename,
    /// `path2` is another name of `path`.
    Link,
    Symlink,
    /// With the permissions that were asked for, if they are known.
    MakeDirectory(Option<u32>),
    List,
}

impl Deed {
    /// Whether it is about a name, which may be that of nothing.
    const fn is_by_name(self) -> bool {
        matches!(
            self,
            Self::Open(_)
                | Self::Look
                | Self::Stat
                | Self::Exec
                | Self::Change
                | Self::Mode(_)
                | Self::Times
                | Self::Fifo
                | Self::Remove
                | Self::RemoveDirectory
                | Self::MakeDirectory(_)
                | Self::Rename
                | Self::Link
                | Self::Symlink
        )
    }
}

/// Permissions as calls have them, `0x1ed`.
fn permissions(flags: &str) -> Option<u32> {
    u32::from_str_radix(flags.strip_prefix("0x").unwrap_or(flags), 16).ok()
}

/// A call that matters for jobs. Transfers of one process to one file within a row group are one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) case: CaseId,
    pub(crate) start: Timestamp,
    pub(crate) seq: u64,
    /// When the last of the transfers began, or when the call ended.
    pub(crate) last: Timestamp,
    pub(crate) pid: Pid,
    pub(crate) deed: Deed,
    pub(crate) fd: Option<i32>,
    pub(crate) path: Nullable<PathId>,
    pub(crate) path2: Nullable<PathId>,
    pub(crate) ret: Option<i64>,
    pub(crate) bytes: u64,
    /// Of writes the offset behind the last byte, if it is known of all of them.
    pub(crate) end: Option<i64>,
    /// The file behind `path`.
    pub(crate) file: Nullable<FileId>,
    /// The file behind `path2`.
    pub(crate) file2: Nullable<FileId>,
}

#[cfg(test)]
impl Step {
    /// A step of which only the deed is known.
    pub(crate) fn of(deed: Deed) -> Self {
        let (path, file) = (Nullable::NULL, Nullable::NULL);
        Self {
            case: CaseId::default(),
            start: Timestamp(0),
            seq: 0,
            last: Timestamp(0),
            pid: Pid::default(),
            deed,
            fd: None,
            path,
            path2: path,
            ret: None,
            bytes: 0,
            end: None,
            file,
            file2: file,
        }
    }
}

/// The deeds of a log's calls by number, `None` for those that do not matter.
fn deeds(names: &Names) -> Vec<Option<Deed>> {
    let table = dictionary();
    let deed = |name: &Arc<str>| {
        Some(match name.strip_prefix("io_uring_").unwrap_or(name) {
            "execve" | "execveat" => Deed::Exec,
            "fork" | "vfork" | "clone" | "clone2" | "clone3" => Deed::Fork,
            "pipe" | "pipe2" | "socketpair" => Deed::Pipe { cloexec: false },
            "open" | "openat" | "openat2" | "creat" | "openat_direct" | "openat2_direct" => {
                Deed::Open(OpenMode::default())
            }
            "dup" | "dup2" | "dup3" | "fcntl" | "fcntl64" => Deed::Dup { cloexec: false },
            "close" => Deed::Close,
            "chmod" | "fchmod" | "fchmodat" | "fchmodat2" | "chown" | "fchown" | "lchown" | "fchownat"
            | "chown32" | "fchown32" | "lchown32" | "setxattr" | "lsetxattr" | "fsetxattr" | "setxattrat"
            | "removexattr" | "lremovexattr" | "fremovexattr" | "removexattrat" => Deed::Mode(None),
            "utime" | "utimes" | "futimesat" | "utimensat" | "utimensat_time64" => Deed::Times,
            "umask" => Deed::Umask(0),
            "truncate" | "ftruncate" | "truncate64" | "ftruncate64" | "fallocate" => Deed::Change,
            "unlink" | "unlinkat" => Deed::Remove,
            "rmdir" => Deed::RemoveDirectory,
            "rename" | "renameat" | "renameat2" => Deed::Rename,
            "link" | "linkat" => Deed::Link,
            "symlink" | "symlinkat" => Deed::Symlink,
            "mkdir" | "mkdirat" => Deed::MakeDirectory(None),
            "mknod" | "mknodat" => Deed::Fifo,
            "accept" | "accept4" => Deed::Accept,
            "kill" => Deed::Kill,
            "lseek" | "_llseek" => Deed::Seek,
            "stat" | "stat64" | "lstat" | "lstat64" | "newfstatat" | "fstatat64" | "statx" => Deed::Stat,
            "access" | "faccessat" | "faccessat2" | "readlink" | "readlinkat" | "getxattr" | "lgetxattr"
            | "chdir" => Deed::Look,
            "getdents" | "getdents64" => Deed::List,
            "mmap" | "mmap2" => Deed::Read,
            _ => match spec(CallId(table.find(name.as_bytes())?))?.transfer {
                Transfer::Read => Deed::Read,
                Transfer::Write => Deed::Write,
                Transfer::Copy => Deed::Copy,
                Transfer::None => return None,
            },
        })
    };
    names.calls.iter().map(deed).collect()
}

/// All steps of a log, sorted by case, time and order of recording.
pub(crate) fn read(log: &EventLog) -> Result<Vec<Step>, TrailError> {
    let names = log.names();
    let deeds = deeds(names);
    let columns = Columns::CASE
        | Columns::SEQ
        | Columns::PID
        | Columns::LAYER
        | Columns::CALL
        | Columns::START
        | Columns::DUR
        | Columns::FD
        | Columns::PATH
        | Columns::PATH2
        | Columns::OFFSET
        | Columns::SIZE
        | Columns::RET
        | Columns::ERRNO
        | Columns::FLAGS
        | Columns::FILE
        | Columns::FILE2
        | Columns::OPEN
        | Columns::OPEN2;
    let mut steps = Vec::new();
    let mut opened = HashMap::default();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, columns)?;
        let mut joined: HashMap<_, usize, RandomState> = HashMap::default();
        let mut epochs: HashMap<(CaseId, Pid), u32, RandomState> = HashMap::default();
        for row in 0..batch.len {
            if batch.layer[row] != Layer::Syscall {
                continue;
            }
            let Some(mut deed) = deeds.get(batch.call[row].index()).copied().flatten() else { continue };
            if let Some(errno) = names.errno(batch.errno[row]) {
                deed = match (errno, deed) {
                    ("ENOENT" | "ENOTDIR", deed) if deed.is_by_name() => Deed::Missing,
                    // It found what is in the directory.
                    ("EEXIST" | "ENOTEMPTY", Deed::Remove | Deed::RemoveDirectory) => Deed::List,
                    ("EEXIST" | "ENOTEMPTY", _) => Deed::Look,
                    ("EISDIR", deed) if deed.is_by_name() => Deed::Look,
                    _ => continue,
                };
                if batch.path[row].is_null() {
                    continue;
                }
            }
            let flags = names.flags(batch.flags[row]).unwrap_or_default();
            let name = names.call(batch.call[row]);
            match &mut deed {
                Deed::Open(mode) => *mode = OpenMode::parse(name, flags),
                Deed::Dup { .. } if name.starts_with("fcntl") && flags == "F_SETFD" => {
                    deed = Deed::CloseOnExec;
                }
                Deed::Dup { .. } if name.starts_with("fcntl") && !flags.starts_with("F_DUPFD") => continue,
                Deed::Dup { cloexec } => *cloexec = flags.contains("CLOEXEC"),
                Deed::Kill if matches!(flags, "" | "0") => continue,
                Deed::Fifo if !flags.contains("S_IFIFO") => continue,
                Deed::Look | Deed::Stat if batch.path[row].is_null() => continue,
                Deed::Umask(mask) => match permissions(flags) {
                    Some(known) => *mask = known,
                    None => continue,
                },
                Deed::Mode(mode) if name.contains("chmod") => *mode = permissions(flags),
                Deed::MakeDirectory(mode) => *mode = permissions(flags),
                Deed::Pipe { cloexec } => *cloexec = flags.contains("CLOEXEC"),
                // Asking for the position changes nothing.
                Deed::Seek if batch.offset[row].get() == batch.ret[row].get() => continue,
                Deed::Remove if flags.contains("AT_REMOVEDIR") => deed = Deed::RemoveDirectory,
                Deed::Fork if flags.contains("CLONE_THREAD") => continue,
                Deed::Read if name.starts_with("mmap") && batch.path[row].is_null() => continue,
                Deed::Read
                    if name.starts_with("mmap")
                        && flags.contains("PROT_WRITE")
                        && flags.contains("MAP_SHARED") =>
                {
                    deed = Deed::Write;
                }
                _ => {}
            }
            // A descriptor goes by the name under which it was opened: that is what redirections and commands know.
            let mut path = batch.path[row];
            if let Deed::Open(_) = deed {
                opened.extend(batch.open[row].get().map(|open| ((batch.case[row], open), path)));
            } else if !matches!(deed, Deed::Rename | Deed::Link) {
                path = under(&opened, batch.case[row], batch.open[row], path);
            }
            let taken = deed == Deed::Look && !batch.path2[row].is_null();
            if taken && matches!(deeds[batch.call[row].index()], Some(Deed::Rename | Deed::Link)) {
                // The name that it would have given was taken.
                path = batch.path2[row];
            }
            let path2 = match deed {
                _ if taken => Nullable::NULL,
                Deed::Copy => under(&opened, batch.case[row], batch.open2[row], batch.path2[row]),
                _ => batch.path2[row],
            };
            let start = batch.start[row];
            let dur = batch.dur[row].get().map_or(0, |dur| dur.0);
            let step = Step {
                case: batch.case[row],
                start,
                seq: batch.seq[row],
                last: Timestamp(start.0.saturating_add(dur)),
                pid: batch.pid[row],
                deed,
                // A slot of a ring is no descriptor.
                fd: batch.fd[row].get().filter(|_| !name.ends_with("_direct")),
                path,
                path2,
                ret: batch.ret[row].get(),
                end: batch.offset[row]
                    .get()
                    .zip(batch.size[row].get())
                    .map(|(at, size)| at.saturating_add(size)),
                bytes: batch.size[row].get().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
                file: if taken { batch.file2[row] } else { batch.file[row] },
                file2: batch.file2[row],
            };
            let kind = match deed {
                Deed::Read => 0_u8,
                Deed::Write => 1,
                Deed::Copy => 2,
                Deed::Look => 3,
                Deed::Missing => 4,
                Deed::Seek => 5,
                Deed::Stat => 6,
                _ => {
                    // What comes after is another sequence of transfers: the name, or the descriptor, may mean another
                    // file then.
                    if matches!(deed, Deed::Rename | Deed::Remove) {
                        joined.clear();
                    } else {
                        *epochs.entry((step.case, step.pid)).or_default() += 1;
                    }
                    steps.push(step);
                    continue;
                }
            };
            let epoch = epochs.get(&(step.case, step.pid)).copied().unwrap_or_default();
            let key =
                (step.case, step.pid, kind, step.fd, [step.path, step.path2], [step.file, step.file2], epoch);
            let at = *joined.entry(key).or_insert(steps.len());
            match steps.get_mut(at) {
                Some(first) => {
                    let first: &mut Step = first;
                    first.last = first.last.max(step.last);
                    first.end = first.end.zip(step.end).map(|(first, next)| first.max(next));
                    first.bytes = first.bytes.saturating_add(step.bytes);
                }
                None => steps.push(step),
            }
        }
    }
    steps.sort_by_key(|step| (step.case, step.start, step.seq));
    Ok(steps)
}

/// Which sockets are connected.
pub(crate) fn sockets(log: &EventLog, steps: &[Step]) -> Channels {
    let mut channels = Channels::of(log);
    for step in steps.iter().filter(|step| matches!(step.deed, Deed::Pipe { .. })) {
        let end = |path: Nullable<PathId>| channels.of_path(path.get()?);
        if let Some((one, other)) = end(step.path).zip(end(step.path2)) {
            channels.join(one, other);
        }
    }
    channels
}

type Opened = HashMap<(CaseId, OpenId), Nullable<PathId>, RandomState>;

/// The name under which a descriptor was opened; what is known of its path otherwise.
fn under(opened: &Opened, case: CaseId, open: Nullable<OpenId>, path: Nullable<PathId>) -> Nullable<PathId> {
    open.get().and_then(|open| opened.get(&(case, open))).copied().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_opens_are_whole_words() {
        let mode = OpenMode::parse("openat", "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC");
        assert_eq!(
            mode,
            OpenMode { write: true, create: true, truncate: true, cloexec: true, ..OpenMode::default() }
        );
        assert_eq!(OpenMode::parse("open", "O_RDONLY"), OpenMode { read: true, ..OpenMode::default() });
        assert!(OpenMode::parse("creat", "").truncate);
    }
}
