//! The execution: one thread for each stream, which begin together.

use crate::meeting::{Event, Meeting, Meetings};
use crate::outcome::Outcome;
use crate::plan::{DIRECT_BLOCK, Plan};
use crate::program::{Action, Expected, OpenMode, OpenNumber, Operation, Stream};
use crate::sandbox::{Sandbox, noise};
use rustix::fs::{OFlags, SeekFrom};
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
}

/// The longest sleep without a look at `cancel`.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// Executes a plan whose files were [prepared](Sandbox::prepare): all streams begin together. Setting `cancel` ends it before the next
/// operation of each.
///
/// What an operation returns is compared and counted, it ends nothing.
#[must_use]
pub fn execute(plan: &Plan, sandbox: &Sandbox, think: Think, cancel: &AtomicBool) -> Outcome {
    let program = plan.program();
    let begin = Barrier::new(program.streams.len());
    let meetings = Meetings {
        groups: program.groups.iter().map(|members| Meeting::of(members.len())).collect(),
        events: (0..program.events).map(|_| Event::default()).collect(),
    };
    let run = |stream: &Stream| {
        let mut running = Running::new(plan, sandbox, stream, &meetings);
        begin.wait();
        running.all(stream, think, cancel)
    };
    let mut outcome = Outcome::default();
    thread::scope(|scope| {
        let threads: Vec<_> = program.streams.iter().map(|stream| scope.spawn(|| run(stream))).collect();
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
    open: HashMap<OpenNumber, Arc<OwnedFd>>,
    buffer: Aligned,
    meetings: &'a Meetings,
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
    fn new(plan: &'a Plan, sandbox: &'a Sandbox, stream: &Stream, meetings: &'a Meetings) -> Self {
        let most = stream.iter().map(|operation| operation.action.bytes()).max().unwrap_or_default();
        Self {
            plan,
            sandbox,
            open: HashMap::new(),
            buffer: Aligned::new(usize::try_from(most).unwrap_or_default()),
            meetings,
        }
    }

    fn all(&mut self, stream: &Stream, think: Think, cancel: &AtomicBool) -> Outcome {
        let mut outcome = Outcome::default();
        let begin = Instant::now();
        // The end of an operation is the begin of the next: one reading of the clock for each.
        let mut before = begin;
        for operation in stream {
            if cancel.load(Ordering::Relaxed) {
                outcome.cancelled = true;
                break;
            }
            if let Think::Scaled(factor) = think
                && operation.think_ns > 0
            {
                sleep_until(before, operation.think_ns, factor, cancel);
                before = Instant::now();
            }
            if !operation.action.is_call() {
                self.meet(operation.action, cancel);
                before = Instant::now();
                continue;
            }
            let result = self.step(operation);
            let now = Instant::now();
            outcome.times.add(now.duration_since(before));
            outcome.differences += u64::from(!is_expected(operation, result));
            outcome.is_full |= matches!(result, Err(Errno::NOSPC | Errno::DQUOT));
            before = now;
        }
        outcome.elapsed = before.duration_since(begin);
        outcome
    }

    /// What is between streams.
    fn meet(&mut self, action: Action, cancel: &AtomicBool) {
        match action {
            Action::Barrier(group) => self.meetings.wait_for_group(group, cancel),
            Action::Signal(event) => self.meetings.set(event, None),
            Action::Share { open, event } => self.meetings.set(event, self.open.get(&open).cloned()),
            Action::Await(event) => drop(self.meetings.wait_for_event(event, cancel)),
            Action::Inherit { open, event } => {
                if let Some(file) = self.meetings.wait_for_event(event, cancel) {
                    self.open.insert(open, file);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, operation: &Operation) -> Result<u64, Errno> {
        let name = |file: usize| {
            self.plan.program().files.get(file).map(|file| file.name.as_str()).ok_or(Errno::NOENT)
        };
        match operation.action {
            Action::Open { file, open, mode } => {
                let descriptor = self.sandbox.open(name(file)?, flags(mode))?;
                if !matches!(operation.expected, Expected::Error(_)) {
                    self.open.insert(open, Arc::new(descriptor));
                }
                Ok(0)
            }
            // What is between streams is no call.
            Action::Barrier(_)
            | Action::Signal(_)
            | Action::Await(_)
            | Action::Share { .. }
            | Action::Inherit { .. } => Ok(0),
            Action::Stat(file) => self.sandbox.stat(name(file)?).map(|()| 0),
            Action::Close(open) => self.open.remove(&open).map(|_| 0).ok_or(Errno::BADF),
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
        }
    }

    fn file(&self, open: OpenNumber) -> Result<BorrowedFd<'_>, Errno> {
        self.open.get(&open).map(|file| file.as_fd()).ok_or(Errno::BADF)
    }
}

/// The descriptor of a description, and so many bytes of the buffer.
fn parts<'a>(
    open: &'a HashMap<OpenNumber, Arc<OwnedFd>>,
    buffer: &'a mut Aligned,
    number: OpenNumber,
    bytes: u64,
) -> Result<(BorrowedFd<'a>, &'a mut [u8]), Errno> {
    let file = open.get(&number).ok_or(Errno::BADF)?;
    let bytes = usize::try_from(bytes).map_err(|_| Errno::INVAL)?;
    Ok((file.as_fd(), buffer.first(bytes).ok_or(Errno::INVAL)?))
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
    ];
    rest.into_iter().filter(|(set, _)| *set).fold(access, |all, (_, flag)| all | flag)
}

fn is_expected(operation: &Operation, result: Result<u64, Errno>) -> bool {
    match (operation.expected, result) {
        (Expected::Success, result) => result.is_ok(),
        (Expected::Bytes(expected), Ok(bytes)) => expected == bytes,
        (Expected::Error(expected), Err(error)) => expected == error.raw_os_error(),
        _ => false,
    }
}

fn sleep_until(from: Instant, think_ns: u64, factor: f64, cancel: &AtomicBool) {
    let wanted = Duration::try_from_secs_f64(think_ns as f64 * factor / 1e9).unwrap_or_default();
    while !cancel.load(Ordering::Relaxed)
        && let Some(left) = wanted.checked_sub(from.elapsed()).filter(|left| !left.is_zero())
    {
        thread::sleep(left.min(NAP));
    }
}
