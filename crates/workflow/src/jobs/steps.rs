//! The calls that say how processes were started and what they did to names, in the order of time.

use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{ArgKind, Call, CallKind, CallSpec, NameEffect, OpenFlags, PerCall, Presence};
use iotrail_model::{CaseId, FileId, FlagsId, Layer, Nullable, OpenId, PathId, Pid, Timestamp};
use iotrail_trail::{Columns, EventLog, TrailError};

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
    /// Of a symbolic link itself (`O_PATH` and `O_NOFOLLOW`).
    pub(crate) of_link: bool,
    /// Without a name.
    pub(crate) nameless: bool,
}

impl OpenMode {
    fn of(flags: OpenFlags) -> Self {
        Self {
            read: flags.reads(),
            write: flags.writes(),
            create: flags.creates(),
            truncate: flags.truncates(),
            exclusive: flags.creates_new(),
            append: flags.appends(),
            directory: flags.directory() || flags.is_path(),
            cloexec: flags.close_on_exec(),
            of_link: flags.is_path() && !flags.follows(),
            nameless: flags.nameless(),
        }
    }
}

/// What a call did, as far as jobs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobAction {
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
    /// Gave it, or was to give it, to a file: it is not there, or the other name of that call is not, or the directory of one.
    Tried,
    /// Asked for a name in vain because of what is there, or perhaps on the way to it: it may not be used so, or is no directory, or one.
    Hindered,
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

impl JobAction {
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

    /// Whether it is about the name itself and not about what it leads to, if it is that of a symbolic link: of others the resolved
    /// name is known.
    pub(crate) const fn is_of_link(self) -> bool {
        match self {
            Self::Open(mode) => mode.of_link,
            Self::Look
            | Self::Stat
            | Self::Mode(_)
            | Self::Times
            | Self::Remove
            | Self::Rename
            | Self::Link
            | Self::Symlink => true,
            _ => false,
        }
    }

    /// What is left of it if it failed, and that told something of the name; `None` if nothing is.
    fn failed(self, presence: Presence, errno: &str) -> Option<Self> {
        match (presence, self) {
            (Presence::Missing, Self::Rename | Self::Link) => Some(Self::Tried),
            (Presence::Missing, action) if action.is_by_name() => Some(Self::Missing),
            // It found what is in the directory.
            (Presence::There, Self::RemoveDirectory) => Some(Self::List),
            (Presence::There, action) if action.is_by_name() => Some(Self::Look),
            // It is no link, or no program.
            (Presence::Unknown, Self::Look | Self::Exec) if matches!(errno, "EINVAL" | "ENOEXEC") => {
                Some(Self::Look)
            }
            (Presence::Unknown, action) if action.is_by_name() && matches!(errno, "EACCES" | "ENOTDIR") => {
                Some(Self::Hindered)
            }
            (_, Self::Read) if errno == "EISDIR" => Some(Self::Hindered),
            _ => None,
        }
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
    /// The case that numbers `open`.
    pub(crate) numbering: CaseId,
    pub(crate) start: Timestamp,
    pub(crate) seq: u64,
    /// When the last of the transfers began, or when the call ended.
    pub(crate) last: Timestamp,
    pub(crate) pid: Pid,
    pub(crate) action: JobAction,
    pub(crate) fd: Option<i32>,
    /// The open file description behind `fd`, where the log knows it.
    pub(crate) open: Nullable<OpenId>,
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
    /// The name by which an open reached `path`, if symbolic links lead there.
    pub(crate) via: Nullable<FlagsId>,
    /// Whether nothing had the name that a rename gave.
    pub(crate) is_new: bool,
    /// Whether a rename gave each of two files the name of the other.
    pub(crate) exchanges: bool,
}

#[cfg(test)]
impl Step {
    /// A step of which only the action is known.
    pub(crate) fn of(action: JobAction) -> Self {
        let (path, file) = (Nullable::NULL, Nullable::NULL);
        Self {
            case: CaseId::default(),
            numbering: CaseId::default(),
            start: Timestamp(0),
            seq: 0,
            last: Timestamp(0),
            pid: Pid::default(),
            action,
            fd: None,
            open: Nullable::NULL,
            path,
            path2: path,
            ret: None,
            bytes: 0,
            end: None,
            file,
            file2: file,
            via: Nullable::NULL,
            is_new: false,
            exchanges: false,
        }
    }
}

/// What a call did by its kind, `None` if it does not matter.
fn action(spec: &CallSpec) -> Option<JobAction> {
    let on_name = spec.name_effect() == NameEffect::Uses;
    Some(match spec.kind {
        CallKind::Exec => JobAction::Exec,
        CallKind::Spawn | CallKind::Vfork => JobAction::Fork,
        CallKind::Pipe | CallKind::SocketPair => JobAction::Pipe { cloexec: false },
        CallKind::Open | CallKind::Create => JobAction::Open(OpenMode::default()),
        CallKind::Duplicate | CallKind::Control => JobAction::Dup { cloexec: false },
        CallKind::Close if !spec.is_direct() => JobAction::Close,
        CallKind::ChangeMode | CallKind::ChangeOwner | CallKind::SetAttribute => JobAction::Mode(None),
        CallKind::SetTimes => JobAction::Times,
        CallKind::Umask => JobAction::Umask(0),
        CallKind::Truncate | CallKind::Allocate => JobAction::Change,
        CallKind::Unlink => JobAction::Remove,
        CallKind::RemoveDirectory => JobAction::RemoveDirectory,
        CallKind::Rename => JobAction::Rename,
        CallKind::Link => JobAction::Link,
        CallKind::Symlink => JobAction::Symlink,
        CallKind::MakeDirectory => JobAction::MakeDirectory(None),
        CallKind::MakeNode => JobAction::Fifo,
        CallKind::Accept if !spec.is_direct() => JobAction::Accept,
        CallKind::Kill => JobAction::Kill,
        CallKind::Seek => JobAction::Seek,
        // A descriptor tells nothing about a name.
        CallKind::Stat if on_name => JobAction::Stat,
        CallKind::Access | CallKind::ReadLink | CallKind::GetAttribute if on_name => JobAction::Look,
        CallKind::ChangeDirectory if spec.has(ArgKind::Path) => JobAction::Look,
        CallKind::List => JobAction::List,
        CallKind::Read | CallKind::Map => JobAction::Read,
        CallKind::Write => JobAction::Write,
        CallKind::Copy => JobAction::Copy,
        _ => return None,
    })
}

/// What the steps want to know of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    action: Option<JobAction>,
    kind: CallKind,
    /// Whether its descriptor is a place among the files of a ring.
    direct: bool,
    spec: Option<&'static CallSpec>,
}

impl Row {
    fn of(call: Call<'_>) -> Self {
        let Some(spec) = call.spec else { return Self::default() };
        Self { action: action(spec), kind: spec.kind, direct: spec.is_direct(), spec: Some(spec) }
    }
}

/// All steps of a log, sorted by case, time and order of recording.
pub(crate) fn read(log: &EventLog) -> Result<Vec<Step>, TrailError> {
    let names = log.names();
    let calls = PerCall::new(&names.calls, Row::of);
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
        | Columns::OPEN2
        | Columns::VIA;
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
            let Row { action: Some(mut action), kind, direct, spec } = calls.of(batch.call[row]) else {
                continue;
            };
            let flags = names.flags(batch.flags[row]).unwrap_or_default();
            if let Some(errno) = names.errno(batch.errno[row]) {
                let Some(spec) = spec else { continue };
                let removes = action == JobAction::Remove && flags.contains("AT_REMOVEDIR");
                let tried = if removes { JobAction::RemoveDirectory } else { action };
                match tried.failed(spec.presence(|| flags, errno.as_bytes()), errno) {
                    Some(left) if !batch.path[row].is_null() => action = left,
                    _ => continue,
                }
            }
            match &mut action {
                JobAction::Open(mode) => {
                    let asked = match kind {
                        CallKind::Create => OpenFlags::CREAT,
                        _ => OpenFlags::parse(flags.as_bytes()),
                    };
                    *mode = OpenMode::of(asked);
                }
                JobAction::Dup { .. } if kind == CallKind::Control && flags == "F_SETFD" => {
                    action = JobAction::CloseOnExec;
                }
                JobAction::Dup { .. } if kind == CallKind::Control && !flags.starts_with("F_DUPFD") => {
                    continue;
                }
                JobAction::Dup { cloexec } => *cloexec = flags.contains("CLOEXEC"),
                JobAction::Kill if matches!(flags, "" | "0") => continue,
                JobAction::Fifo if !flags.contains("S_IFIFO") => continue,
                JobAction::Look | JobAction::Stat if batch.path[row].is_null() => continue,
                JobAction::Umask(mask) => match permissions(flags) {
                    Some(known) => *mask = known,
                    None => continue,
                },
                JobAction::Mode(mode) if kind == CallKind::ChangeMode => *mode = permissions(flags),
                JobAction::MakeDirectory(mode) => *mode = permissions(flags),
                JobAction::Pipe { cloexec } => *cloexec = flags.contains("CLOEXEC"),
                // Asking for the position changes nothing.
                JobAction::Seek if batch.offset[row].get() == batch.ret[row].get() => continue,
                JobAction::Remove if flags.contains("AT_REMOVEDIR") => action = JobAction::RemoveDirectory,
                JobAction::Fork if flags.contains("CLONE_THREAD") => continue,
                JobAction::Read if kind == CallKind::Map && batch.path[row].is_null() => continue,
                JobAction::Read
                    if kind == CallKind::Map
                        && flags.contains("PROT_WRITE")
                        && flags.contains("MAP_SHARED") =>
                {
                    action = JobAction::Write;
                }
                _ => {}
            }
            // A descriptor goes by the name under which it was opened: that is what redirections and commands know.
            let mut path = batch.path[row];
            let numbering = log.numbering(batch.case[row]);
            if let JobAction::Open(_) = action {
                opened.extend(batch.open[row].get().map(|open| ((numbering, open), path)));
            } else if !matches!(action, JobAction::Rename | JobAction::Link) {
                path = under(&opened, numbering, batch.open[row], path);
            }
            // The name that it would have given was taken.
            let gives = matches!(kind, CallKind::Rename | CallKind::Link);
            let taken = action == JobAction::Look && gives && !batch.path2[row].is_null();
            if taken {
                path = batch.path2[row];
            }
            let path2 = match action {
                JobAction::Look | JobAction::Tried => Nullable::NULL,
                JobAction::Copy => under(&opened, numbering, batch.open2[row], batch.path2[row]),
                _ => batch.path2[row],
            };
            let start = batch.start[row];
            let dur = batch.dur[row].get().map_or(0, |dur| dur.0);
            let step = Step {
                case: batch.case[row],
                numbering,
                start,
                seq: batch.seq[row],
                last: Timestamp(start.0.saturating_add(dur)),
                pid: batch.pid[row],
                action,
                // A slot of a ring is no descriptor.
                fd: batch.fd[row].get().filter(|_| !direct),
                open: batch.open[row],
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
                via: if matches!(action, JobAction::Open(_)) { batch.via[row] } else { Nullable::NULL },
                is_new: action == JobAction::Rename && flags.contains("RENAME_NOREPLACE"),
                exchanges: action == JobAction::Rename && flags.contains("RENAME_EXCHANGE"),
            };
            let occupied = action == JobAction::Look && matches!(kind, CallKind::Link | CallKind::Symlink);
            steps.extend(occupied.then_some(Step { action: JobAction::Hindered, ..step }));
            // What it would have given that name was looked up first.
            let source = Step { path: batch.path[row], file: batch.file[row], ..step };
            steps.extend(taken.then_some(source));
            let tried = action == JobAction::Tried && !batch.path2[row].is_null();
            steps.extend(tried.then(|| Step { path: batch.path2[row], file: batch.file2[row], ..step }));
            // It found what is in the directory.
            let is_full = taken && matches!(names.errno(batch.errno[row]), Some("ENOTEMPTY"));
            let step = if is_full { Step { action: JobAction::List, ..step } } else { step };
            let action = step.action;
            let kind = match action {
                JobAction::Read => 0_u8,
                JobAction::Write => 1,
                JobAction::Copy => 2,
                JobAction::Look => 3,
                JobAction::Missing => 4,
                JobAction::Seek => 5,
                JobAction::Stat => 6,
                _ => {
                    // What comes after is another sequence of transfers: the name, or the descriptor, may mean another
                    // file then.
                    if matches!(action, JobAction::Rename | JobAction::Remove) {
                        joined.clear();
                    } else {
                        *epochs.entry((step.case, step.pid)).or_default() += 1;
                    }
                    steps.push(step);
                    continue;
                }
            };
            let epoch = epochs.get(&(step.case, step.pid)).copied().unwrap_or_default();
            let key = (
                step.case,
                step.pid,
                kind,
                (step.fd, step.open),
                [step.path, step.path2],
                [step.file, step.file2],
                epoch,
            );
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
    for step in steps.iter().filter(|step| matches!(step.action, JobAction::Pipe { .. })) {
        let end = |path: Nullable<PathId>| channels.of_path(path.get()?);
        if let Some((one, other)) = end(step.path).zip(end(step.path2)) {
            channels.join(one, other);
        }
    }
    channels
}

type Opened = HashMap<(CaseId, OpenId), Nullable<PathId>, RandomState>;

/// The name under which a descriptor was opened that `case` numbers; what is known of its path otherwise.
fn under(opened: &Opened, case: CaseId, open: Nullable<OpenId>, path: Nullable<PathId>) -> Nullable<PathId> {
    open.get().and_then(|open| opened.get(&(case, open))).copied().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::TABLE;

    #[test]
    fn what_every_call_is_to_jobs() {
        let rows = TABLE.iter().filter_map(|spec| Some((spec.name, action(spec)?)));
        let rows = rows.map(|(name, action)| match action {
            JobAction::Open(_) => format!("{name}: Open"),
            action => format!("{name}: {action:?}"),
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn what_an_open_asks_for_is_in_its_flags() {
        let mode = |flags: &str| OpenMode::of(OpenFlags::parse(flags.as_bytes()));
        assert_eq!(
            mode("O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC"),
            OpenMode { write: true, create: true, truncate: true, cloexec: true, ..OpenMode::default() }
        );
        assert_eq!(mode("O_RDONLY"), OpenMode { read: true, ..OpenMode::default() });
        assert!(OpenMode::of(OpenFlags::CREAT).truncate);
        assert_eq!(mode("0x241 /* O_WRONLY|O_CREAT|O_TRUNC */"), mode("O_WRONLY|O_CREAT|O_TRUNC"));
    }
}
