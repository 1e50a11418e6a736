//! The calls of MPI of a rank, made beside those of the engine.

use crate::mpi_calls::{MpiCall, Wanted};
use crate::mpi_io::Used;
use crate::tally::Listener;
use iotrail_mpi_run::{Communicator, File, FileMode, Mpi, MpiError, Request, SendMode, Transfer};
use iotrail_replay::{Action, Companion, Operation, ScratchFile};
use iotrail_stats::messages::communicators::{SELF, WORLD};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a call waits for a request that may be another one than the recorded call waited for.
const GRACE: Duration = Duration::from_secs(1);

/// How long a call waits for the requests that the recorded call waited for: their partners may have been left out.
const LONGEST: Duration = Duration::from_secs(30);

/// How long it waits for the oldest one before any will do.
const OLDEST: Duration = Duration::from_millis(10);

/// Numbers of errors (`asm-generic/errno-base.h`).
const EIO: i32 = 5;

/// What a stream has going on.
#[derive(Debug, Default)]
struct State {
    /// With the calls that began them, the oldest first.
    requests: VecDeque<(usize, Request)>,
    /// Communicators that the program has freed. Libraries may look at one until no request is left that was begun on it.
    freed: Vec<Communicator>,
    /// Open files by name, the last one opened last.
    files: HashMap<usize, Vec<File>>,
    /// Files that the engine uses by calls of MPI-IO.
    used: Used,
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug)]
enum Waits {
    /// The call of a number.
    Call(usize),
    /// A call of MPI-IO on a file of the engine.
    File(Action),
    /// The end of what it began.
    End,
}

/// A rank at work.
#[derive(Debug)]
pub struct Rank<'a> {
    mpi: &'a Mpi,
    calls: &'a [MpiCall],
    /// Calls that began what is waited for.
    waited: &'a [u32],
    /// Where files are.
    directory: PathBuf,
    names: &'a [ScratchFile],
    listener: &'a Listener<'a>,
    streams: Vec<Mutex<State>>,
    /// Communicators by their numbers.
    communicators: Mutex<HashMap<i32, Communicator>>,
    /// What is waited for, and since when.
    current: Mutex<Option<(Instant, Waits)>>,
    made: AtomicU64,
    failed: AtomicU64,
    unfinished: AtomicU64,
    first_error: Mutex<Option<MpiError>>,
}

/// What became of the calls of MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MpiFigures {
    /// Calls that were made.
    pub made: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Waits that went on before their requests were over, because those were perhaps others than the recorded ones.
    pub unfinished: u64,
    /// Why the first one failed.
    pub first_error: Option<String>,
}

impl<'a> Rank<'a> {
    /// Makes these calls in a directory; beside them those that began what [`MpiCall::WaitFor`] waits for.
    #[must_use]
    pub fn new(
        mpi: &'a Mpi,
        (calls, waited): (&'a [MpiCall], &'a [u32]),
        directory: PathBuf,
        names: &'a [ScratchFile],
        listener: &'a Listener<'a>,
        streams: usize,
    ) -> Self {
        Self {
            mpi,
            calls,
            waited,
            directory,
            names,
            listener,
            streams: (0..streams).map(|_| Mutex::default()).collect(),
            communicators: Mutex::new([(WORLD, mpi.world()), (SELF, mpi.own())].into()),
            current: Mutex::default(),
            made: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            unfinished: AtomicU64::new(0),
            first_error: Mutex::default(),
        }
    }

    /// What became of the calls.
    #[must_use]
    pub fn figures(&self) -> MpiFigures {
        let error = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
        MpiFigures {
            made: self.made.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            unfinished: self.unfinished.load(Ordering::Relaxed),
            first_error: error.as_ref().map(MpiError::to_string),
        }
    }

    /// What the rank has waited for since so long, if it has.
    #[must_use]
    pub fn stuck(&self, limit: Duration) -> Option<String> {
        let (since, waits) = (*self.current.lock().unwrap_or_else(PoisonError::into_inner))?;
        let within = match waits {
            Waits::Call(number) => format!("in {}", words(*self.calls.get(number)?)),
            Waits::File(action) => format!("in a call of MPI-IO on a file ({action:?})"),
            Waits::End => "for the end of what it began".to_owned(),
        };
        (since.elapsed() >= limit).then(|| format!("rank {} waits {within}", self.mpi.rank()))
    }

    /// Notes what is waited for from now on.
    fn waits(&self, within: Option<Waits>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) =
            within.map(|waits| (Instant::now(), waits));
    }

    /// Waits until all requests are over that no recorded call waited for.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn finish(&self) -> Result<(), MpiError> {
        self.waits(Some(Waits::End));
        for state in &self.streams {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            self.wait(&mut state, Wanted::All, None)?;
            self.release(&mut state)?;
        }
        Ok(())
    }

    /// Frees communicators of which no request is left.
    fn release(&self, state: &mut State) -> Result<(), MpiError> {
        if state.requests.is_empty() {
            state.freed.drain(..).try_for_each(|comm| self.mpi.free(comm))?;
        }
        Ok(())
    }

    /// Counts a call that was made.
    fn counted(&self, made: Result<u64, MpiError>) -> Result<u64, i32> {
        self.waits(None);
        match made {
            Ok(moved) => {
                self.made.fetch_add(1, Ordering::Relaxed);
                Ok(moved)
            }
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                self.first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Err(EIO)
            }
        }
    }

    fn make(&self, state: &mut State, number: usize, call: MpiCall) -> Result<(), MpiError> {
        let mpi = self.mpi;
        match call {
            MpiCall::Send { comm, mode, begin: true, bytes, peer, tag, .. } => {
                let request = mpi.begin_send(self.communicator(comm)?, mode, bytes, peer, tag)?;
                state.requests.push_back((number, request));
            }
            MpiCall::Send { comm, mode, bytes, peer, tag, .. } => {
                mpi.send(self.communicator(comm)?, mode, bytes, peer, tag)?;
            }
            MpiCall::Receive { comm, begin: true, peer, tag } => {
                let request = mpi.begin_receive(self.communicator(comm)?, peer, tag)?;
                state.requests.push_back((number, request));
            }
            MpiCall::Receive { comm, peer, tag, .. } => mpi.receive(self.communicator(comm)?, peer, tag)?,
            MpiCall::Exchange { comm, bytes, to, from } => {
                let comm = self.communicator(comm)?;
                let receive = mpi.begin_receive(comm, from.0, from.1)?;
                let send = mpi.begin_send(comm, SendMode::Standard, bytes, to.0, to.1)?;
                // Alone, so that it waits for nothing else.
                let mut both =
                    State { requests: [(number, receive), (number, send)].into(), ..State::default() };
                self.wait(&mut both, Wanted::All, Some(GRACE))?;
                state.requests.append(&mut both.requests);
            }
            MpiCall::Probe { comm, peer, tag } => mpi.probe(self.communicator(comm)?, peer, tag)?,
            MpiCall::Collective { comm, call, begin: true, bytes, root } => {
                let request = mpi.begin_collective(self.communicator(comm)?, call, bytes, root)?;
                state.requests.push_back((number, request));
            }
            MpiCall::Collective { comm, call, bytes, root, .. } => {
                mpi.collective(self.communicator(comm)?, call, bytes, root)?;
            }
            MpiCall::Split { comm, color, key, number: made_as } => {
                if let Some(made) = mpi.split(self.communicator(comm)?, color, key)? {
                    self.known().insert(made_as, made);
                }
            }
            MpiCall::Free(comm) => {
                let known = self.known().remove(&comm);
                state.freed.push(known.ok_or(MpiError::Failed("MPI_Comm_free", -1))?);
            }
            MpiCall::Wait(wanted) => self.wait(state, wanted, Some(GRACE))?,
            MpiCall::WaitFor { first, count } => {
                let waited =
                    self.waited.get(first as usize..).and_then(|waited| waited.get(..count as usize));
                self.wait_for(state, waited.unwrap_or_default())?;
            }
            MpiCall::Test => self.progress(state, Wanted::All).map(|_| ())?,
            MpiCall::Open { comm, file: name } => {
                let path =
                    self.names.get(name).map(|file| self.directory.join(&file.name)).unwrap_or_default();
                let mode = FileMode { read: true, write: true, create: true };
                let opened = mpi.open(self.communicator(comm)?, &path, mode)?;
                state.files.entry(name).or_default().push(opened);
            }
            MpiCall::Close(name) => {
                if let Some(file) = state.files.get_mut(&name).and_then(Vec::pop) {
                    mpi.close(file)?;
                }
            }
            MpiCall::Sync(name) => self.file(state, name, |file| mpi.sync(file))?,
            MpiCall::Transfer { file, how, begin, offset, bytes } => {
                self.transfer(state, (number, file), how, (begin, offset, bytes))?;
            }
        }
        self.release(state)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<i32, Communicator>> {
        self.communicators.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The communicator of a number.
    fn communicator(&self, number: i32) -> Result<Communicator, MpiError> {
        self.known().get(&number).copied().ok_or(MpiError::Failed("MPI_Comm_split", -1))
    }

    fn transfer(
        &self,
        state: &mut State,
        (number, name): (usize, usize),
        how: Transfer,
        (begin, offset, bytes): (bool, Option<u64>, u64),
    ) -> Result<(), MpiError> {
        if !begin {
            return self.file(state, name, |file| self.mpi.transfer(file, how, offset, bytes));
        }
        let mut request = None;
        self.file(state, name, |file| {
            request = Some(self.mpi.begin_transfer(file, how.writes, offset.unwrap_or_default(), bytes)?);
            Ok(())
        })?;
        state.requests.extend(request.map(|request| (number, request)));
        Ok(())
    }

    fn file(
        &self,
        state: &State,
        name: usize,
        act: impl FnOnce(&File) -> Result<(), MpiError>,
    ) -> Result<(), MpiError> {
        match state.files.get(&name).and_then(|files| files.last()) {
            Some(file) => act(file),
            None => Err(MpiError::Failed("MPI_File_open", -1)),
        }
    }

    /// Asks whether requests are over, and forgets those that are: the oldest one, any, or all. Whether what was wanted came.
    fn progress(&self, state: &mut State, wanted: Wanted) -> Result<bool, MpiError> {
        let before = state.requests.len();
        for place in 0..before {
            let Some((call, mut request)) = state.requests.pop_front() else { break };
            let is_over = self.mpi.test(&mut request)?;
            if !is_over {
                state.requests.push_back((call, request));
            }
            if is_over && wanted != Wanted::All {
                // Back to their order.
                state.requests.rotate_right(place);
                return Ok(true);
            }
            if wanted == Wanted::One {
                state.requests.rotate_right(1);
                return Ok(false);
            }
        }
        Ok(state.requests.is_empty())
    }

    /// Waits for the requests that these calls began.
    fn wait_for(&self, state: &mut State, calls: &[u32]) -> Result<(), MpiError> {
        let mut wanted: Vec<usize> = calls.iter().map(|call| *call as usize).collect();
        wanted.sort_unstable();
        let begin = Instant::now();
        loop {
            let mut left = 0;
            let mut place = 0;
            while let Some((call, request)) = state.requests.get_mut(place) {
                if wanted.binary_search(call).is_err() {
                    place += 1;
                } else if self.mpi.test(request)? {
                    state.requests.remove(place);
                } else {
                    (place, left) = (place + 1, left + 1);
                }
            }
            if left == 0 {
                return Ok(());
            }
            let waited = begin.elapsed();
            if waited > LONGEST {
                self.unfinished.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            pause(waited);
        }
    }

    fn wait(&self, state: &mut State, wanted: Wanted, limit: Option<Duration>) -> Result<(), MpiError> {
        if state.requests.is_empty() {
            return Ok(());
        }
        let begin = Instant::now();
        while !self.progress(state, wanted)? {
            let waited = begin.elapsed();
            // It was perhaps another one than the oldest.
            if wanted == Wanted::One && waited > OLDEST && self.progress(state, Wanted::Any)? {
                return Ok(());
            }
            if limit.is_some_and(|limit| waited > limit) {
                self.unfinished.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            pause(waited);
        }
        Ok(())
    }
}

/// Lets others work, after the first moments.
fn pause(waited: Duration) {
    if waited > Duration::from_micros(50) {
        thread::sleep(Duration::from_micros(20));
    }
}

impl Companion for Rank<'_> {
    fn other(&self, stream: usize, number: usize) -> Result<u64, i32> {
        let (Some(call), Some(state)) = (self.calls.get(number), self.streams.get(stream)) else {
            return Err(EIO);
        };
        self.waits(Some(Waits::Call(number)));
        let made = self.make(&mut state.lock().unwrap_or_else(PoisonError::into_inner), number, *call);
        self.counted(made.map(|()| 0))
    }

    fn made(&self, stream: usize, operation: &Operation, result: Result<u64, i32>) {
        self.listener.made(stream, operation, result);
    }

    fn has_mpi_io(&self) -> bool {
        true
    }

    fn mpi_io(&self, stream: usize, action: Action, bytes: &mut [u8]) -> Result<u64, i32> {
        let state = self.streams.get(stream).ok_or(EIO)?;
        self.waits(Some(Waits::File(action)));
        let path = |file: usize| self.names.get(file).map(|file| self.directory.join(&file.name));
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        self.counted(state.used.make(self.mpi, (action, bytes), path))
    }
}

/// What a call waits for.
fn words(call: MpiCall) -> String {
    let who = |peer: i32| match peer {
        -1 => "any rank".to_owned(),
        -2 => "none".to_owned(),
        _ => format!("rank {peer}"),
    };
    match call {
        MpiCall::Send { peer, tag, .. } => format!("a send to {} with tag {tag}", who(peer)),
        MpiCall::Receive { peer, tag, .. } => format!("a receive from {} with tag {tag}", who(peer)),
        MpiCall::Exchange { to, from, .. } => {
            format!(
                "an exchange: to {} with tag {}, from {} with tag {}",
                who(to.0),
                to.1,
                who(from.0),
                from.1
            )
        }
        MpiCall::Probe { peer, tag, .. } => format!("a probe for {} with tag {tag}", who(peer)),
        MpiCall::Collective { call, .. } => format!("a collective call of all ranks ({call:?})"),
        MpiCall::Wait(_) | MpiCall::WaitFor { .. } | MpiCall::Test => "requests".to_owned(),
        MpiCall::Split { .. } => "a call that makes a communicator".to_owned(),
        MpiCall::Free(_) => "a call that frees a communicator".to_owned(),
        MpiCall::Open { .. } | MpiCall::Close(_) | MpiCall::Sync(_) | MpiCall::Transfer { .. } => {
            "a call on a file".to_owned()
        }
    }
}
