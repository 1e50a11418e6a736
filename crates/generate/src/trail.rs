//! A program as the trail that a recording of it would be, with planned times.

use crate::returned::returned;
use crate::{Planned, schedule};
use iotrail_model::calls::dictionary;
use iotrail_model::raw::{Arg, RawCall, RawItem, Return};
use iotrail_model::{
    CallId, Case, CaseId, CaseName, Clock, Coverage, Dictionaries, Event, FileFacts, FileId, FileKind, Layer,
    NamedFile, Nanos, PathId, Pid, Process, Resolution, Tid, Timestamp,
};
use iotrail_replay::{Action, Expected, OpenMode, OpenNumber, Operation};
use iotrail_resolve::{Resolver, Sink};
use iotrail_trail::{Capture, CreateOptions, PartWriter, Totals, TrailError, TrailWriter};
use std::path::Path;

/// Begin of all times: 2000-01-01 UTC. Nothing was done then.
const BEGIN: i64 = 946_684_800_000_000_000;
/// The process of rank 0.
const FIRST_PID: u32 = 1000;
/// The descriptor of the first open file.
const FIRST_FD: i32 = 3;
/// That of directories whose entries are read.
const DIRECTORY_FD: i32 = i32::MAX - 1;

/// Writes what a program would do, at the times that follow from its pauses and the durations of its operations; each stream is a rank. Files
/// lie in `directory`.
///
/// # Errors
/// If the trail cannot be written.
pub fn write_trail(
    planned: &Planned,
    directory: &Path,
    target: &Path,
    options: CreateOptions,
) -> Result<Totals, TrailError> {
    let writer = TrailWriter::create(target, options)?;
    let mut names = Dictionaries { calls: dictionary(), ..Dictionaries::default() };
    let mut rows = Rows { part: writer.part()?, error: None };
    let mut cases = Vec::new();
    let starts = schedule(planned);
    for (rank, (starts, moved)) in starts.iter().zip(returned(planned, &starts)).enumerate() {
        let case = CaseId(rank as u32);
        rows.part.numbering(case, FileId(names.files));
        let mut told = Told {
            planned,
            directory: directory.to_string_lossy().into_owned(),
            tid: Tid(FIRST_PID + case.0),
            case,
            resolver: Resolver::new(),
            names: &mut names,
            rows: &mut rows,
        };
        told.stream(rank, starts, &moved);
        cases.push(of_rank(case));
    }
    if let Some(error) = rows.error {
        return Err(error);
    }
    let summary = rows.part.finish(&names)?;
    let capture = Capture { source: SOURCE.to_owned(), ..Capture::default() };
    writer.finish(&cases, vec![summary], capture, &Coverage::default())
}

const SOURCE: &str = "plan of a model";

fn of_rank(id: CaseId) -> Case {
    Case {
        id,
        name: CaseName { cid: Some("model".to_owned()), host: None, rid: Some(id.0.to_string()) },
        label: None,
        clock: Clock::Utc,
        source: SOURCE.to_owned(),
        interleaved: false,
        resolution: Resolution::default(),
        numbered_with: None,
    }
}

/// Takes events; the first error is kept.
struct Rows {
    part: PartWriter,
    error: Option<TrailError>,
}

impl Sink for Rows {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        self.error = self.error.take().or_else(|| self.part.push(event, names).err());
    }

    fn process(&mut self, process: Process) {
        self.error = self.error.take().or_else(|| self.part.push_process(&process).err());
    }

    fn file(&mut self, path: PathId, file: &NamedFile, names: &Dictionaries) {
        let written = self.part.push_file(names.paths.get(path.0), *file);
        self.error = self.error.take().or(written.err());
    }
}

/// A stream while its calls are told.
struct Told<'a> {
    planned: &'a Planned,
    directory: String,
    tid: Tid,
    case: CaseId,
    resolver: Resolver,
    names: &'a mut Dictionaries,
    rows: &'a mut Rows,
}

impl Told<'_> {
    fn stream(&mut self, stream: usize, starts: &[u64], moved: &[u64]) {
        let pid = Pid(self.tid.0);
        self.item(&RawItem::Found { tid: self.tid, pid, ppid: None, at: Timestamp(BEGIN), table: None });
        let mut end = BEGIN;
        for (at, (start, moved)) in starts.iter().zip(moved).enumerate() {
            let operation = self.planned.program.streams[stream][at];
            let start = BEGIN.saturating_add_unsigned(*start);
            let duration = self.planned.durations[stream][at];
            if matches!(operation.action, Action::Barrier(_)) && start > end {
                // As a recording has it: the thread waits until the last one comes.
                let waited = (Timestamp(end), Nanos(start.saturating_sub(end)));
                self.call(
                    "futex",
                    waited,
                    Return::Value(0, None),
                    &[Arg::Opaque, Arg::Symbols(b"FUTEX_WAIT_PRIVATE")],
                );
            }
            self.operation(operation, *moved, (Timestamp(start), Nanos(duration as i64)));
            end = start.saturating_add_unsigned(duration);
        }
        self.item(&RawItem::Exited { tid: self.tid, at: Timestamp(end), status: 0 });
        self.resolver.finish(self.names, self.rows);
    }

    fn item(&mut self, item: &RawItem<'_>) {
        self.resolver.item(self.case, item, self.names, self.rows);
    }

    fn call(&mut self, name: &str, (start, dur): (Timestamp, Nanos), ret: Return<'_>, args: &[Arg<'_>]) {
        let call = CallId(self.names.calls.intern(name.as_bytes()));
        let call = RawCall { tid: self.tid, layer: Layer::Syscall, call, start, dur: Some(dur), ret, args };
        self.item(&RawItem::Call(call));
    }

    fn path(&self, file: usize) -> String {
        let name = self.planned.program.files.get(file).map_or("", |file| file.name.as_str());
        format!("{}/{name}", self.directory)
    }

    fn operation(&mut self, operation: Operation, moved: u64, time: (Timestamp, Nanos)) {
        let ret = match operation.expected {
            Expected::Error(_) => Return::Failed(b"ENOENT"),
            _ => Return::Value(0, None),
        };
        match operation.action {
            Action::Open { file, open, mode } => self.open(file, open, mode, (ret, time)),
            Action::Close(open) => self.call("close", time, ret, &[number(open)]),
            Action::Read(open, bytes) => self.transfer("read", open, (bytes, moved), None, time),
            Action::Write(open, bytes) => self.transfer("write", open, (bytes, moved), None, time),
            Action::ReadAt(open, offset, bytes) => {
                self.transfer("pread64", open, (bytes, moved), Some(offset), time)
            }
            Action::WriteAt(open, offset, bytes) => {
                self.transfer("pwrite64", open, (bytes, moved), Some(offset), time);
            }
            Action::Sync(open) => self.call("fsync", time, ret, &[number(open)]),
            Action::SyncData(open) => self.call("fdatasync", time, ret, &[number(open)]),
            Action::StatOpen(open) => self.call("fstat", time, ret, &[number(open), Arg::Opaque]),
            Action::Lock { open, shared } => {
                let how: &[u8] = if shared { b"LOCK_SH" } else { b"LOCK_EX" };
                self.call("flock", time, ret, &[number(open), Arg::Symbols(how)]);
            }
            Action::Unlock(open) => self.call("flock", time, ret, &[number(open), Arg::Symbols(b"LOCK_UN")]),
            Action::Truncate(open, size) => {
                self.call("ftruncate", time, ret, &[number(open), Arg::Int(size as i64)]);
            }
            Action::Stat(file) => self.named("stat", file, time, ret),
            Action::Unlink(file) => self.named("unlink", file, time, ret),
            Action::MakeDirectory(file) => self.named("mkdir", file, time, ret),
            Action::RemoveDirectory(file) => self.named("rmdir", file, time, ret),
            Action::Rename(from, to) => {
                let (from, to) = (self.path(from), self.path(to));
                self.call("rename", time, ret, &[complete(&from), complete(&to)]);
            }
            Action::Link(from, to) => {
                let (from, to) = (self.path(from), self.path(to));
                self.call("link", time, ret, &[complete(&from), complete(&to)]);
            }
            Action::List(file) => self.list(file, time),
            // The others are not made of models.
            _ => {}
        }
    }

    fn open(
        &mut self,
        file: usize,
        open: OpenNumber,
        mode: OpenMode,
        (ret, time): (Return<'_>, (Timestamp, Nanos)),
    ) {
        let (path, flags) = (self.path(file), flags(mode));
        let args = [Arg::Cwd(None), complete(&path), Arg::Symbols(flags.as_bytes()), Arg::Int(0o600)];
        if let Return::Failed(_) = ret {
            return self.call("openat", time, ret, &args);
        }
        let (tid, fd) = (self.tid, descriptor(open));
        self.item(&RawItem::FileInfo { tid, fd, facts: facts(file, FileKind::File) });
        self.call("openat", time, Return::Value(i64::from(fd), None), &args);
    }

    fn transfer(
        &mut self,
        call: &str,
        open: OpenNumber,
        (asked, moved): (u64, u64),
        offset: Option<u64>,
        time: (Timestamp, Nanos),
    ) {
        let place = offset.map_or(Arg::Opaque, |offset| Arg::Int(offset as i64));
        let args = [number(open), Arg::Opaque, Arg::Int(asked as i64), place];
        let args = if offset.is_some() { &args[..] } else { &args[..3] };
        self.call(call, time, Return::Value(moved as i64, None), args);
    }

    /// A directory is opened, read and closed.
    fn list(&mut self, file: usize, time: (Timestamp, Nanos)) {
        let path = self.path(file);
        let args = [Arg::Cwd(None), complete(&path), Arg::Symbols(b"O_RDONLY|O_DIRECTORY")];
        let facts = facts(file, FileKind::Directory);
        self.item(&RawItem::FileInfo { tid: self.tid, fd: DIRECTORY_FD, facts });
        let opened = Return::Value(i64::from(DIRECTORY_FD), None);
        self.call("openat", time, opened, &args);
        let ret = Return::Value(0, None);
        self.call("getdents64", time, ret, &[Arg::Fd(DIRECTORY_FD, None), Arg::Opaque]);
        self.call("close", time, ret, &[Arg::Fd(DIRECTORY_FD, None)]);
    }

    /// A call with one name.
    fn named(&mut self, call: &str, file: usize, time: (Timestamp, Nanos), ret: Return<'_>) {
        let path = self.path(file);
        self.call(call, time, ret, &[complete(&path), Arg::Opaque]);
    }
}

fn complete(path: &str) -> Arg<'_> {
    Arg::Path { bytes: path.as_bytes(), complete: true }
}

fn facts(file: usize, kind: FileKind) -> FileFacts {
    FileFacts { device: 1, inode: file as u64 + 1, size: None, kind: Some(kind), birth: None }
}

fn descriptor(open: OpenNumber) -> i32 {
    FIRST_FD.saturating_add(i32::try_from(open.0).unwrap_or(i32::MAX))
}

fn number(open: OpenNumber) -> Arg<'static> {
    Arg::Fd(descriptor(open), None)
}

fn flags(mode: OpenMode) -> String {
    let access = match (mode.read, mode.write) {
        (true, true) => "O_RDWR",
        (false, true) => "O_WRONLY",
        (_, false) => "O_RDONLY",
    };
    let rest = [(mode.create, "|O_CREAT"), (mode.truncate, "|O_TRUNC"), (mode.append, "|O_APPEND")];
    rest.iter().filter(|(set, _)| *set).fold(access.to_owned(), |all, (_, flag)| all + flag)
}
