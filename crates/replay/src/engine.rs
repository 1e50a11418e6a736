//! The execution: one thread for each stream, which begin together.

use crate::content::FileContent;
use crate::meeting::{Event, Meeting, Meetings};
use crate::outcome::{OperationKind, Outcome};
use crate::pacing::{Pacing, sleep_exactly, sleep_until};
use crate::plan::{DIRECT_BLOCK, Plan};
use crate::program::{Action, Expected, Interface, OpenMode, OpenNumber, Operation, Stream};
use crate::sandbox::{Sandbox, noise};
use rustix::fs::{FlockOperation, OFlags, RawDir, SeekFrom, flock};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// What becomes of the time between operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Think {
    /// It is left out.
    Dropped,
    /// It is multiplied by this, which is not negative: 1 keeps it.
    Scaled(f64),
    /// It is kept, and the processor is busy meanwhile.
    Busy,
    /// It is no time between operations, but that from the common begin of the streams to the one at which the operation begins, if the one
    /// before has ended.
    Due,
}

/// Bytes of the entries that one call reads of a directory, as those of the C library do.
const ENTRIES: usize = 32 << 10;

/// How long a lock is waited for.
pub const LONGEST_LOCK: Duration = Duration::from_secs(60);
/// How long who waits for a lock sleeps before the second look, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The longest sleep without a look at `cancel`.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// Executes a plan whose files were [prepared](Sandbox::prepare): all streams begin together. Setting `cancel` ends it before the next
/// operation of each.
///
/// What an operation returns is compared and counted, it ends nothing.
#[must_use]
pub fn execute(plan: &Plan, sandbox: &Sandbox, think: Think, cancel: &AtomicBool) -> Outcome {
    execute_beside(plan, sandbox, think, cancel, &Alone)
}

/// What goes on beside the calls of an execution.
pub trait Companion: Sync {
    /// Does what the engine does not know: [`Action::Other`].
    ///
    /// # Errors
    /// The number of an error.
    fn other(&self, stream: usize, number: usize) -> Result<u64, i32>;

    /// Hears of a call of a stream that was made, and what it returned: a number, or that of an error.
    fn made(&self, stream: usize, operation: &Operation, result: Result<u64, i32>);

    /// Whether it has calls of MPI-IO; else the engine makes system calls in place of them.
    fn has_mpi_io(&self) -> bool {
        false
    }

    /// Makes an operation on a file of [`Interface::MpiIo`] or [`Interface::Collective`] by calls of MPI-IO, with the bytes that it moves. What moves bytes says
    /// where. Answers how many bytes it moved.
    ///
    /// # Errors
    /// The number of an error.
    fn mpi_io(&self, _stream: usize, _action: Action, _bytes: &mut [u8]) -> Result<u64, i32> {
        Err(Errno::NOSYS.raw_os_error())
    }
}

struct Alone;

impl Companion for Alone {
    fn other(&self, _: usize, _: usize) -> Result<u64, i32> {
        Err(Errno::NOSYS.raw_os_error())
    }

    fn made(&self, _: usize, _: &Operation, _: Result<u64, i32>) {}
}

/// [Executes](execute) a plan together with somebody who knows what the engine does not.
#[must_use]
pub fn execute_beside(
    plan: &Plan,
    sandbox: &Sandbox,
    think: Think,
    cancel: &AtomicBool,
    companion: &dyn Companion,
) -> Outcome {
    let program = plan.program();
    let begin = Barrier::new(program.streams.len());
    let meetings = Meetings {
        groups: program.groups.iter().map(|members| Meeting::of(members.len())).collect(),
        events: (0..program.events).map(|_| Event::default()).collect(),
    };
    let run = |number: usize, stream: &Stream| {
        let mut running = Running::new((plan, sandbox), (number, stream), &meetings, think, companion);
        begin.wait();
        running.all(stream, cancel)
    };
    let mut outcome = Outcome::default();
    thread::scope(|scope| {
        let run = &run;
        let streams = program.streams.iter().enumerate();
        let threads: Vec<_> =
            streams.map(|(number, stream)| scope.spawn(move || run(number, stream))).collect();
        for thread in threads {
            match thread.join() {
                Ok(part) => outcome.merge(&part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    outcome
}

struct Running<'a> {
    plan: &'a Plan,
    sandbox: &'a Sandbox,
    open: HashMap<OpenNumber, Arc<Opened>>,
    /// Where descriptions stand, if contents are checked.
    cursors: HashMap<OpenNumber, u64>,
    buffer: Aligned,
    meetings: &'a Meetings,
    pacing: Pacing,
    companion: &'a dyn Companion,
    /// Number of the stream.
    number: usize,
    has_mpi_io: bool,
}

/// An open file.
pub(crate) struct Opened {
    file: usize,
    /// NULL where calls of MPI-IO are made on it.
    descriptor: Option<OwnedFd>,
}

/// A buffer that begins at a block, as `O_DIRECT` needs it.
struct Aligned {
    bytes: Vec<u8>,
    begin: usize,
}

impl Aligned {
    fn new(bytes: usize) -> Self {
        let bytes = noise(bytes.saturating_add(DIRECT_BLOCK as usize));
        let begin = bytes.as_ptr().align_offset(DIRECT_BLOCK as usize);
        Self { bytes, begin }
    }

    fn first(&mut self, bytes: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(self.begin..)?.get_mut(..bytes)
    }
}

impl<'a> Running<'a> {
    fn new(
        (plan, sandbox): (&'a Plan, &'a Sandbox),
        (number, stream): (usize, &Stream),
        meetings: &'a Meetings,
        think: Think,
        companion: &'a dyn Companion,
    ) -> Self {
        let most = stream.iter().map(|operation| operation.action.bytes()).max().unwrap_or_default();
        Self {
            plan,
            sandbox,
            open: HashMap::new(),
            cursors: HashMap::new(),
            buffer: Aligned::new(usize::try_from(most).unwrap_or_default()),
            meetings,
            pacing: Pacing::new(think),
            companion,
            number,
            has_mpi_io: companion.has_mpi_io(),
        }
    }

    fn all(&mut self, stream: &Stream, cancel: &AtomicBool) -> Outcome {
        let (number, companion) = (self.number, self.companion);
        let mut outcome = Outcome::default();
        sleep_exactly();
        let begin = Instant::now();
        // The end of an operation is the begin of the next: one reading of the clock for each.
        let mut before = begin;
        for operation in stream {
            if cancel.load(Ordering::Relaxed) {
                outcome.cancelled = true;
                break;
            }
            before = self.pacing.wait((begin, before), operation.think_ns, &mut outcome, cancel);
            if !operation.action.is_call() {
                let met = match operation.action {
                    Action::Meet(other) => {
                        companion.other(number, other).map(|_| ()).map_err(Errno::from_raw_os_error)
                    }
                    action => self.meet(action, begin, cancel),
                };
                if let Err(error) = met {
                    outcome.judge(operation, Err(error));
                }
                before = Instant::now();
                continue;
            }
            let place = self.place(operation.action);
            if let Some((content, offset)) = place.filter(|_| operation.action.writes()) {
                self.fill(content, offset, operation.action.bytes());
                before = Instant::now();
            }
            let result = match operation.action {
                Action::Other(other) => companion.other(number, other).map_err(Errno::from_raw_os_error),
                _ => self.step(operation, cancel),
            };
            let now = Instant::now();
            outcome.add(OperationKind::of(operation.action), now.duration_since(before));
            outcome.judge(operation, result);
            companion.made(number, operation, result.map_err(Errno::raw_os_error));
            before = now;
            if self.plan.has_content() {
                self.follow(operation.action, place, result, &mut outcome);
                before = Instant::now();
            }
        }
        outcome.elapsed = before.duration_since(begin);
        outcome
    }

    /// What is between streams, and at begin and end of processes.
    fn meet(&mut self, action: Action, begin: Instant, cancel: &AtomicBool) -> Result<(), Errno> {
        match action {
            Action::Barrier(group) => self.meetings.wait_for_group(group, cancel),
            Action::NotBefore(ns) => sleep_until(begin + Duration::from_nanos(ns), cancel),
            Action::Signal(event) => self.meetings.set(event, None),
            Action::Share { open, event } => self.meetings.set(event, self.open.get(&open).cloned()),
            Action::Await(event) => drop(self.meetings.wait_for_event(event, cancel)),
            Action::Inherit { open, event } => {
                if let Some(file) = self.meetings.wait_for_event(event, cancel) {
                    self.open.insert(open, file);
                }
            }
            Action::Attach { file, open, mode } => {
                let file_name = self.plan.program().files.get(file).map(|file| &*file.name);
                let descriptor = Some(self.sandbox.open(file_name.ok_or(Errno::NOENT)?, flags(mode))?);
                self.open.insert(open, Arc::new(Opened { file, descriptor }));
            }
            Action::Leave(open) => drop(self.open.remove(&open)),
            Action::Adopt { open, copy } => {
                let opened = self.open.get(&open).cloned().ok_or(Errno::BADF)?;
                self.open.insert(copy, opened);
            }
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self, operation: &Operation, cancel: &AtomicBool) -> Result<u64, Errno> {
        if self.has_mpi_io
            && let Some(open) = operation.action.uses()
            && self.open.get(&open).is_some_and(|opened| opened.descriptor.is_none())
        {
            return self.with_mpi_io(operation.action, open);
        }
        let name = |file: usize| {
            self.plan.program().files.get(file).map(|file| file.name.as_str()).ok_or(Errno::NOENT)
        };
        match operation.action {
            Action::Open { file, open, mode } => {
                let descriptor = if self.has_mpi_io && mode.interface != Interface::System {
                    self.open_with_mpi_io(operation.action, name(file)?)?;
                    None
                } else {
                    Some(self.sandbox.open(name(file)?, flags(mode))?)
                };
                if !matches!(operation.expected, Expected::Error(_)) {
                    self.open.insert(open, Arc::new(Opened { file, descriptor }));
                }
                Ok(0)
            }
            // What is between streams, or at the ends of processes, is no call; what others know they do.
            Action::Other(_)
            | Action::Attach { .. }
            | Action::Leave(_)
            | Action::Adopt { .. }
            | Action::Barrier(_)
            | Action::NotBefore(_)
            | Action::Meet(_)
            | Action::Signal(_)
            | Action::Await(_)
            | Action::Share { .. }
            | Action::Inherit { .. } => Ok(0),
            Action::Stat(file) => self.sandbox.stat(name(file)?).map(|()| 0),
            Action::Access(file) => self.sandbox.access(name(file)?).map(|()| 0),
            Action::ListOpen(open) => self.list(open),
            Action::Duplicate { open, copy } => {
                let file = self.open.get(&open).ok_or(Errno::BADF)?.file;
                let descriptor = Some(rustix::io::fcntl_dupfd_cloexec(self.file(open)?, 0)?);
                self.open.insert(copy, Arc::new(Opened { file, descriptor }));
                Ok(0)
            }
            Action::StatOpen(open) => rustix::fs::fstat(self.file(open)?).map(|_| 0),
            Action::Unlink(file) => self.sandbox.unlink(name(file)?).map(|()| 0),
            Action::Rename(from, to) => self.sandbox.rename(name(from)?, name(to)?).map(|()| 0),
            Action::Link(from, to) => self.sandbox.link(name(from)?, name(to)?).map(|()| 0),
            Action::Symlink(file) => self.sandbox.symlink(name(file)?).map(|()| 0),
            Action::TruncateNamed(file, size) => {
                let opened = self.sandbox.open(name(file)?, OFlags::WRONLY)?;
                rustix::fs::ftruncate(opened, size).map(|()| 0)
            }
            Action::MakeDirectory(file) => self.sandbox.make_directory(name(file)?).map(|()| 0),
            Action::RemoveDirectory(file) => self.sandbox.remove_directory(name(file)?).map(|()| 0),
            Action::List(file) => self.sandbox.list(name(file)?),
            Action::Close(open) => {
                self.cursors.remove(&open);
                self.open.remove(&open).map(|_| 0).ok_or(Errno::BADF)
            }
            Action::Read(open, bytes) => {
                let (file, buffer) = parts(&self.open, &mut self.buffer, open, bytes)?;
                rustix::io::read(file, buffer).map(|bytes| bytes as u64)
            }
            Action::ReadAt(open, offset, bytes) => {
                let (file, buffer) = parts(&self.open, &mut self.buffer, open, bytes)?;
                rustix::io::pread(file, buffer, offset).map(|bytes| bytes as u64)
            }
            Action::Write(open, bytes) => {
                let (file, buffer) = parts(&self.open, &mut self.buffer, open, bytes)?;
                rustix::io::write(file, buffer).map(|bytes| bytes as u64)
            }
            Action::WriteAt(open, offset, bytes) => {
                let (file, buffer) = parts(&self.open, &mut self.buffer, open, bytes)?;
                rustix::io::pwrite(file, buffer, offset).map(|bytes| bytes as u64)
            }
            Action::ReadVector(open, offset, buffers) => {
                let (file, mut rest) = parts(&self.open, &mut self.buffer, open, buffers.bytes)?;
                let lengths = lengths(rest.len(), buffers.count);
                let part = |length| rest.split_off_mut(..length).map(IoSliceMut::new);
                let mut vector: Vec<_> = lengths.filter_map(part).collect();
                let moved = match offset {
                    None => rustix::io::readv(file, &mut vector),
                    Some(offset) => rustix::io::preadv(file, &mut vector, offset),
                };
                moved.map(|bytes| bytes as u64)
            }
            Action::WriteVector(open, offset, buffers) => {
                let (file, buffer) = parts(&self.open, &mut self.buffer, open, buffers.bytes)?;
                let mut rest = &*buffer;
                let part = |length| rest.split_off(..length).map(IoSlice::new);
                let vector: Vec<_> = lengths(buffer.len(), buffers.count).filter_map(part).collect();
                let moved = match offset {
                    None => rustix::io::writev(file, &vector),
                    Some(offset) => rustix::io::pwritev(file, &vector, offset),
                };
                moved.map(|bytes| bytes as u64)
            }
            Action::Seek(open, to) => rustix::fs::seek(self.file(open)?, SeekFrom::Start(to)),
            Action::Sync(open) => rustix::fs::fsync(self.file(open)?).map(|()| 0),
            Action::SyncData(open) => rustix::fs::fdatasync(self.file(open)?).map(|()| 0),
            Action::Truncate(open, size) => rustix::fs::ftruncate(self.file(open)?, size).map(|()| 0),
            Action::Lock { open, shared } => self.lock(open, shared, cancel),
            Action::Unlock(open) => flock(self.file(open)?, FlockOperation::Unlock).map(|()| 0),
        }
    }

    /// Takes a lock of a file. Who waits asks again and again, so that nobody waits for ever.
    fn lock(&self, open: OpenNumber, shared: bool, cancel: &AtomicBool) -> Result<u64, Errno> {
        let file = self.file(open)?;
        let wanted = match shared {
            true => FlockOperation::NonBlockingLockShared,
            false => FlockOperation::NonBlockingLockExclusive,
        };
        let (begin, mut pause) = (Instant::now(), SHORTEST_PAUSE);
        loop {
            match flock(file, wanted) {
                Err(Errno::AGAIN) if cancel.load(Ordering::Relaxed) || begin.elapsed() > LONGEST_LOCK => {
                    // Whoever has it does not go on either.
                    cancel.store(true, Ordering::Relaxed);
                    return Err(Errno::DEADLK);
                }
                Err(Errno::AGAIN) => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                result => return result.map(|()| 0),
            }
        }
    }

    /// Opens a file by MPI-IO, which would follow links: there must be none.
    fn open_with_mpi_io(&self, action: Action, name: &str) -> Result<(), Errno> {
        match self.sandbox.open(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(_) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let opened = self.companion.mpi_io(self.number, action, &mut []);
        opened.map(|_| ()).map_err(Errno::from_raw_os_error)
    }

    fn with_mpi_io(&mut self, action: Action, open: OpenNumber) -> Result<u64, Errno> {
        let bytes = usize::try_from(action.bytes()).map_err(|_| Errno::INVAL)?;
        let bytes = self.buffer.first(bytes).ok_or(Errno::INVAL)?;
        let result = self.companion.mpi_io(self.number, action, bytes);
        if let Action::Close(_) = action {
            self.open.remove(&open);
        }
        result.map_err(Errno::from_raw_os_error)
    }

    /// Reads entries of a directory by one call; whether there were any.
    fn list(&self, open: OpenNumber) -> Result<u64, Errno> {
        let mut entries = Vec::with_capacity(ENTRIES);
        let mut directory = RawDir::new(self.file(open)?, entries.spare_capacity_mut());
        directory.next().transpose().map(|entry| u64::from(entry.is_some()))
    }

    fn file(&self, open: OpenNumber) -> Result<BorrowedFd<'_>, Errno> {
        self.open.get(&open).and_then(|opened| opened.descriptor.as_ref()).map(AsFd::as_fd).ok_or(Errno::BADF)
    }

    /// The content of the file of a transfer, and where the transfer begins; NULL if contents are not checked.
    fn place(&self, action: Action) -> Option<(FileContent, u64)> {
        let open = action.uses().filter(|_| action.bytes() > 0)?;
        let content = self.plan.content(self.open.get(&open)?.file)?;
        let offset = action.offset().or_else(|| self.cursors.get(&open).copied());
        Some((content, offset.unwrap_or_default()))
    }

    fn fill(&mut self, content: FileContent, offset: u64, bytes: u64) {
        if let Some(buffer) = usize::try_from(bytes).ok().and_then(|bytes| self.buffer.first(bytes)) {
            content.fill(offset, buffer);
        }
    }

    /// Compares what was read, notes what was written, and where descriptions stand.
    fn follow(
        &mut self,
        action: Action,
        place: Option<(FileContent, u64)>,
        result: Result<u64, Errno>,
        outcome: &mut Outcome,
    ) {
        let (Some(open), Ok(result)) = (action.uses(), result) else { return };
        if let Action::Seek(_, to) = action {
            self.cursors.insert(open, to);
        }
        let Some((content, offset)) = place else { return };
        if action.offset().is_none() {
            self.cursors.insert(open, offset.saturating_add(result));
        }
        if let Some(opened) = self.open.get(&open).filter(|_| action.writes()) {
            outcome.written.add(opened.file, offset, offset.saturating_add(result));
        } else if let Some(read) = usize::try_from(result).ok().and_then(|bytes| self.buffer.first(bytes)) {
            let (wrong, _) = content.compare(offset, read);
            outcome.checked.bytes += result;
            outcome.checked.wrong += wrong;
        }
    }
}

/// The descriptor of a description, and so many bytes of the buffer.
fn parts<'a>(
    open: &'a HashMap<OpenNumber, Arc<Opened>>,
    buffer: &'a mut Aligned,
    number: OpenNumber,
    bytes: u64,
) -> Result<(BorrowedFd<'a>, &'a mut [u8]), Errno> {
    let opened = open.get(&number).ok_or(Errno::BADF)?;
    let bytes = usize::try_from(bytes).map_err(|_| Errno::INVAL)?;
    let descriptor = opened.descriptor.as_ref().ok_or(Errno::BADF)?;
    Ok((descriptor.as_fd(), buffer.first(bytes).ok_or(Errno::INVAL)?))
}

/// Lengths of so many buffers, which differ by a byte at most.
fn lengths(bytes: usize, count: u32) -> impl Iterator<Item = usize> {
    let count = count as usize;
    (0..count).map(move |index| bytes / count + usize::from(index < bytes % count))
}

fn flags(mode: OpenMode) -> OFlags {
    let access = match (mode.read, mode.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    let rest = [
        (mode.create, OFlags::CREATE),
        (mode.exclusive, OFlags::EXCL),
        (mode.truncate, OFlags::TRUNC),
        (mode.append, OFlags::APPEND),
        (mode.sync, OFlags::DSYNC),
        (mode.direct, OFlags::DIRECT),
        (mode.directory, OFlags::DIRECTORY),
    ];
    rest.into_iter().filter(|(set, _)| *set).fold(access, |all, (_, flag)| all | flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Checked, Content};
    use crate::program::{Program, ScratchFile};
    use crate::sandbox::Cache;
    use std::collections::BTreeMap;

    const OPEN: OpenNumber = OpenNumber(0);

    fn stream(think_ns: u64, actions: &[Action]) -> Stream {
        let operation =
            |action: &Action| Operation { think_ns, action: *action, expected: Expected::Success };
        actions.iter().map(operation).collect()
    }

    fn executed(program: Program, think: Think, spoil: impl Fn(&std::path::Path)) -> (Outcome, Checked) {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("files");
        let plan = Plan::new(program).unwrap().with_content(Content { seed: 5 });
        let sandbox = Sandbox::new(&directory, &plan).unwrap();
        let go = AtomicBool::new(false);
        sandbox.prepare(&plan, Cache::Warm, false, &go).unwrap();
        let outcome = execute(&plan, &sandbox, think, &go);
        spoil(&directory);
        let checked = sandbox.check(&plan, &outcome, &go).unwrap();
        (outcome, checked)
    }

    /// Two streams write and read the same places, one appends, at the same time.
    fn concurrent() -> Program {
        let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
        let writes = |begin: u64| {
            let mut actions = vec![Action::Open { file: 0, open: OPEN, mode }];
            for number in 0..50 {
                actions.push(Action::WriteAt(OPEN, begin + number * 100, 150));
                actions.push(Action::ReadAt(OPEN, number * 90, 333));
            }
            actions.extend([Action::Seek(OPEN, 7), Action::Write(OPEN, 20), Action::Read(OPEN, 40)]);
            actions.push(Action::Close(OPEN));
            let open = Action::Open { file: 1, open: OPEN, mode: OpenMode { append: true, ..mode } };
            actions.extend([
                open,
                Action::Write(OPEN, 1000),
                Action::ReadAt(OPEN, 0, 10),
                Action::Close(OPEN),
            ]);
            stream(0, &actions)
        };
        let file = |name: &str, size| ScratchFile { name: name.to_owned(), size, directory: false };
        Program {
            files: vec![file("a", Some(3000)), file("b", None), file("c", Some(10))],
            streams: vec![writes(0), writes(51)],
            ..Program::default()
        }
    }

    #[test]
    fn contents_hold_under_concurrent_overwrites_and_a_changed_or_lost_byte_is_found() {
        let (outcome, checked) = executed(concurrent(), Think::Dropped, |_| {});
        assert_eq!((outcome.differences, outcome.checked.wrong), (0, 0));
        assert!(checked.is_right() && checked.bytes > outcome.checked.bytes + 2000, "{checked:?}");
        assert_eq!(outcome.moved, [outcome.checked.bytes, 2 * (50 * 150 + 20 + 1000)]);
        let change = |name: &'static str, byte: Option<u8>| {
            move |directory: &std::path::Path| {
                let mut bytes = std::fs::read(directory.join(name)).unwrap();
                bytes[5] = byte.unwrap_or(bytes[5] ^ 2);
                std::fs::write(directory.join(name), bytes).unwrap();
            }
        };
        for name in ["a", "b", "c"] {
            let (_, checked) = executed(concurrent(), Think::Dropped, change(name, None));
            assert_eq!((checked.wrong, checked.missing), (1, 0), "{name}");
        }
        let (_, checked) = executed(concurrent(), Think::Dropped, change("a", Some(0)));
        assert_eq!((checked.wrong, checked.missing), (0, 1));
    }

    fn stats(think_ns: u64, count: usize) -> Program {
        let files = vec![ScratchFile { name: "a".to_owned(), size: Some(1), directory: false }];
        Program {
            files,
            streams: vec![stream(think_ns, &vec![Action::Stat(0); count])],
            ..Program::default()
        }
    }

    #[test]
    fn pauses_do_not_drift_and_starts_are_kept() {
        for think in [Think::Scaled(1.0), Think::Busy] {
            let (outcome, _) = executed(stats(200_000, 100), think, |_| {});
            let [wanted, waited] = outcome.slack_ns;
            assert_eq!((wanted, outcome.lateness.operations()), (20_000_000, 100));
            // However late single ones are: the sum is off by the last one's lateness at most.
            let latest = outcome.lateness.counts.iter().rposition(|count| *count > 0).unwrap();
            assert!(waited >= wanted && waited - wanted < 2 << latest, "{think:?}: {waited}");
        }
        let mut due = stats(0, 3);
        for (number, operation) in (1..).zip(&mut due.streams[0]) {
            operation.think_ns = number * 5_000_000;
        }
        let (outcome, _) = executed(due, Think::Due, |_| {});
        assert!(outcome.elapsed >= Duration::from_millis(15));
    }

    #[test]
    fn a_stream_begins_late_also_without_time_between_operations() {
        let mut program = stats(0, 2);
        let late = Operation { action: Action::NotBefore(30_000_000), ..program.streams[0][0] };
        program.streams[0].insert(0, late);
        let (outcome, _) = executed(program, Think::Dropped, |_| {});
        assert!(outcome.elapsed >= Duration::from_millis(30), "{:?}", outcome.elapsed);
        assert_eq!(outcome.times.operations(), 2);
    }

    #[test]
    fn errors_are_those_expected_or_counted_by_number() {
        let mut program = stats(0, 2);
        program.files[0].size = None;
        program.streams[0][0].expected = Expected::Error(Errno::NOENT.raw_os_error());
        let (outcome, _) = executed(program, Think::Dropped, |_| {});
        assert_eq!((outcome.expected_errors, outcome.differences), (1, 1));
        assert_eq!(outcome.errors, [(Errno::NOENT.raw_os_error(), 1)].into());
        assert_eq!(outcome.by_kind[OperationKind::Metadata as usize].operations(), 2);
    }

    /// Notes what it does in place of system calls.
    #[derive(Default)]
    struct Noting(std::sync::Mutex<Vec<(Action, usize)>>);

    impl Companion for Noting {
        fn other(&self, _: usize, _: usize) -> Result<u64, i32> {
            Ok(0)
        }

        fn made(&self, _: usize, _: &Operation, _: Result<u64, i32>) {}

        fn has_mpi_io(&self) -> bool {
            true
        }

        fn mpi_io(&self, _: usize, action: Action, bytes: &mut [u8]) -> Result<u64, i32> {
            self.0.lock().unwrap().push((action, bytes.len()));
            Ok(bytes.len() as u64)
        }
    }

    #[test]
    fn files_of_mpi_io_are_used_by_a_companion_that_has_it_and_never_through_links() {
        let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
        let actions = |interface| {
            let mode = OpenMode { interface, ..mode };
            vec![
                Action::Open { file: 0, open: OPEN, mode },
                Action::WriteAt(OPEN, 8, 100),
                Action::Sync(OPEN),
                Action::Close(OPEN),
            ]
        };
        let program = |interface| Program {
            files: vec![ScratchFile { name: "a".to_owned(), size: None, directory: false }],
            streams: vec![stream(0, &actions(interface))],
            ..Program::default()
        };
        let run = |interface, companion: &dyn Companion, link: bool| {
            let parent = tempfile::tempdir().unwrap();
            let plan = Plan::new(program(interface)).unwrap();
            let sandbox = Sandbox::new(&parent.path().join("files"), &plan).unwrap();
            let go = AtomicBool::new(false);
            sandbox.prepare(&plan, Cache::Warm, false, &go).unwrap();
            let file = parent.path().join("files/a");
            if link {
                std::os::unix::fs::symlink(parent.path().join("elsewhere"), &file).unwrap();
            }
            let outcome = execute_beside(&plan, &sandbox, Think::Dropped, &go, companion);
            (outcome, file.exists())
        };
        for interface in [Interface::MpiIo, Interface::Collective] {
            let noting = Noting::default();
            let (outcome, exists) = run(interface, &noting, false);
            assert_eq!((outcome.differences, exists), (0, false));
            let noted: Vec<(Action, usize)> = std::mem::take(&mut *noting.0.lock().unwrap());
            let lengths = [0, 100, 0, 0];
            assert_eq!(noted, actions(interface).into_iter().zip(lengths).collect::<Vec<_>>());
            // Without one they are files as all others.
            let (outcome, exists) = run(interface, &Alone, false);
            assert_eq!((outcome.differences, exists), (0, true));
            let (outcome, _) = run(interface, &noting, true);
            assert_eq!(outcome.errors.get(&Errno::LOOP.raw_os_error()), Some(&1), "{:?}", outcome.errors);
            assert!(noting.0.lock().unwrap().is_empty());
        }
        let noting = Noting::default();
        assert!(run(Interface::System, &noting, false).1 && noting.0.lock().unwrap().is_empty());
    }

    #[test]
    fn names_and_directories_are_made_listed_changed_and_removed() {
        let file = |name: &str, size, directory| ScratchFile { name: name.to_owned(), size, directory };
        let mode = OpenMode { write: true, create: true, ..OpenMode::default() };
        let actions = [
            Action::List(2),
            Action::MakeDirectory(3),
            Action::List(3),
            Action::RemoveDirectory(3),
            Action::Open { file: 0, open: OPEN, mode },
            Action::Write(OPEN, 100),
            Action::StatOpen(OPEN),
            Action::Close(OPEN),
            Action::Rename(0, 1),
            Action::Stat(1),
            Action::Unlink(4),
            Action::MakeDirectory(5),
        ];
        let files = vec![
            file("a", None, false),
            file("sub/b", None, false),
            file("there", Some(0), true),
            file("new", None, true),
            file("old", Some(10), false),
            file("left", None, true),
        ];
        let program = Program { files, streams: vec![stream(0, &actions)], ..Program::default() };
        let (outcome, checked) = executed(program, Think::Dropped, |directory| {
            let mut names: Vec<_> =
                std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, [".iotrail-scratch", "left", "sub", "there"]);
            assert_eq!(std::fs::metadata(directory.join("sub/b")).unwrap().len(), 100);
        });
        assert_eq!((outcome.differences, outcome.errors), (0, BTreeMap::new()));
        assert!(checked.is_right() && checked.bytes == 100, "{checked:?}");
    }
}
