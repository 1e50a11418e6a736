//! Sessions of ranks, and the kinds of them that a model has.

use crate::names::Kinds;
use iotrail_model::Nullable;
use iotrail_model::calls::{CallKind, CallSpec, Forces, LockRequest, OpenFlags, named};
use iotrail_workload::{
    FileIndex, FileKind, Mode, ModelSession, NameCall, Request, RequestKind, SessionLayer, locks_fit,
    repeats_after, takes_locks,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is the same in all executions of a session of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Shape {
    /// Class of the file: files of one class have shapes in common, private ones with those of one form of name.
    pub(crate) class: usize,
    /// A call that names a file is no session, and has nothing else.
    pub(crate) call: Option<NameCall>,
    /// Read, write, create, truncate, append.
    pub(crate) mode: [bool; 5],
    pub(crate) layer: SessionLayer,
    pub(crate) requests: BTreeMap<RequestKind, u64>,
    pub(crate) sizes: BTreeMap<RequestKind, BTreeMap<u64, u64>>,
    /// The same in order, of those of which there are few runs but not one.
    pub(crate) runs: BTreeMap<RequestKind, Vec<(u64, u64)>>,
    /// Runs of requests in their order, if they are few and requests are not spread evenly.
    pub(crate) order: Vec<(RequestKind, u64)>,
}

impl Shape {
    pub(crate) fn mode(&self) -> Mode {
        let [read, write, create, truncate, append] = self.mode;
        Mode { read, write, create, truncate, append }
    }

    /// Lets ranks make calls alone that they make together.
    pub(crate) fn make_alone(&mut self) {
        self.layer = self.layer.min(SessionLayer::MpiIo);
    }

    /// Whether it is known which transfer has which size.
    pub(crate) fn has_sizes_in_order(&self) -> bool {
        self.sizes.iter().all(|(kind, sizes)| sizes.len() == 1 || self.runs.contains_key(kind))
    }

    /// Bytes that are asked for.
    pub(crate) fn bytes(&self) -> u64 {
        let all = self.sizes.values().flatten();
        all.map(|(size, count)| size.saturating_mul(*count)).fold(0, u64::saturating_add)
    }
}

/// A transfer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) kind: RequestKind,
    pub(crate) offset: Nullable<u64>,
    pub(crate) size: u64,
}

/// A session of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    /// Index of its first request among those of the rank, and of its last one.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) file: usize,
    /// Kind of the file.
    pub(crate) kind: usize,
    /// The file whose name it gives this one.
    pub(crate) to: Option<usize>,
    pub(crate) shape: Shape,
    pub(crate) transfers: Box<[Transfer]>,
    /// The length that its truncates give the file; NULL if they give it several, or none.
    pub(crate) length: Nullable<u64>,
    /// Where its open, its requests and its close are among the requests of the rank; an open that was not seen is where the next one is, a
    /// close behind all.
    pub(crate) positions: Box<[u32]>,
    /// The requests between its open and its close, in order.
    pub(crate) kinds: Box<[RequestKind]>,
    /// Whether its open was seen.
    pub(crate) opened: bool,
    /// Slack before its requests, in ns; NULL before the first one of the rank.
    pub(crate) slack: Box<[Nullable<u64>]>,
    /// Sum of the times that its requests took, in ns, and their number.
    pub(crate) took: (u64, u64),
    /// When its first request began, and when its last one ended (where that was not seen, began), in ns.
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Execution {
    /// Before which requests of the rank all ranks wait for each other, because they make them together.
    pub(crate) fn meetings(&self) -> impl Iterator<Item = usize> {
        let is_together = self.shape.layer == SessionLayer::Collective;
        let last = self.positions.len().saturating_sub(1);
        let met = move |at: &usize| match at.checked_sub(1).and_then(|at| self.kinds.get(at)) {
            Some(kind) if *at < last => kind.may_be_collective(),
            _ => true,
        };
        let places = (0..self.positions.len()).filter(move |at| is_together && met(at));
        places.map(|at| self.positions[at] as usize)
    }
}

/// Sessions of a rank, and what of its requests is in none of them.
#[derive(Debug, Default)]
pub(crate) struct RankSessions {
    /// In the order of their first requests; calls that name a file are among them.
    pub(crate) executions: Vec<Execution>,
    /// Requests that a model has no word for, by name of the call.
    pub(crate) other: BTreeMap<String, u64>,
    /// Requests that take or release locks, not in turn or in a longer order than a model keeps.
    pub(crate) locks_left_out: u64,
}

/// The sessions of a rank, some of whose requests give a file the name of another one.
pub(crate) fn sessions(
    requests: &[Request],
    renames: &BTreeMap<usize, FileIndex>,
    kinds: &Kinds,
) -> RankSessions {
    let mut found = RankSessions::default();
    let mut open: HashMap<u64, usize> = HashMap::new();
    let mut listed: HashSet<u64> = HashSet::new();
    let mut building: Vec<Building> = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        let what = kinds.kinds[kinds.of_file[request.file.0 as usize]].what;
        let to = renames.get(&at).map(|to| to.0 as usize);
        let is_whole = |call: &NameCall| *call != NameCall::Link || to.is_some();
        if let Some(call) = name_call(request, what).filter(is_whole) {
            // The entries of a directory are read until there are no more: all of that is one call.
            if call != NameCall::List || request.open.get().is_none_or(|open| listed.insert(open)) {
                building.push(Building { to, ..Building::of_call(at, request, call) });
            }
            continue;
        }
        let description =
            request.open.get().filter(|_| request.kind() != CallKind::Map && what == FileKind::File);
        let Some(description) = description else {
            *found.other.entry(request.form.name.to_string()).or_default() += 1;
            continue;
        };
        let number = *open.entry(description).or_insert_with(|| {
            building.push(Building::new(at, request));
            building.len() - 1
        });
        if !building[number].add(at, request) {
            *found.other.entry(request.form.name.to_string()).or_default() += 1;
        }
        if request.kind() == CallKind::Close {
            open.remove(&description);
        }
    }
    for building in building.iter_mut().filter(|building| !building.has_fitting_locks()) {
        found.locks_left_out += building.leave_locks_out();
    }
    found.executions = building.into_iter().filter_map(|building| building.finish(kinds)).collect();
    found
}

/// The word of a model for a request that is in no session.
fn name_call(request: &Request, what: FileKind) -> Option<NameCall> {
    let call = match request.kind() {
        CallKind::List => NameCall::List,
        _ if !request.open.is_null() && what == FileKind::File => return None,
        CallKind::Open | CallKind::Create => NameCall::Open,
        CallKind::Stat | CallKind::Access | CallKind::ReadLink => NameCall::Stat,
        CallKind::Unlink if what == FileKind::Directory => NameCall::RemoveDirectory,
        CallKind::Unlink => NameCall::Unlink,
        CallKind::Rename => NameCall::Rename,
        CallKind::Link => NameCall::Link,
        CallKind::MakeDirectory => NameCall::MakeDirectory,
        CallKind::RemoveDirectory => NameCall::RemoveDirectory,
        _ => return None,
    };
    call.takes(what).then_some(call)
}

/// Where a request is among those of its rank, of which there are less than fit memory.
fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A session while it is read.
struct Building {
    first: usize,
    last: usize,
    file: usize,
    call: Option<NameCall>,
    to: Option<usize>,
    mode: Option<OpenFlags>,
    requests: BTreeMap<RequestKind, u64>,
    kinds: Vec<RequestKind>,
    transfers: Vec<Transfer>,
    /// That its truncates give the file.
    lengths: BTreeSet<u64>,
    /// Where its requests are, without open and close.
    positions: Vec<u32>,
    opened: bool,
    closed: bool,
    /// Whether any of its requests is a call of MPI-IO, and whether all that may be are made by all ranks together.
    of_mpi: bool,
    all_together: bool,
    slack: Vec<Nullable<u64>>,
    took: (u64, u64),
    start: i64,
    end: i64,
}

impl Building {
    fn new(at: usize, request: &Request) -> Self {
        let opened = request.kind().opens_file();
        let flags = request.form.mode.as_deref().map(|flags| OpenFlags::parse(flags.as_bytes()));
        let made = (request.kind() == CallKind::Create).then_some(OpenFlags::CREAT);
        Self {
            first: at,
            last: at,
            file: request.file.0 as usize,
            call: None,
            to: None,
            mode: flags.or(made).filter(|_| opened),
            requests: BTreeMap::new(),
            kinds: Vec::new(),
            transfers: Vec::new(),
            lengths: BTreeSet::new(),
            positions: Vec::new(),
            opened,
            closed: false,
            of_mpi: false,
            all_together: true,
            slack: Vec::new(),
            took: (0, 0),
            start: request.start,
            end: request.end.get().unwrap_or(request.start),
        }
    }

    fn of_call(at: usize, request: &Request, call: NameCall) -> Self {
        let mut building = Self { call: Some(call), ..Self::new(at, request) };
        building.time(at, request);
        building.positions.push(position(at));
        building
    }

    fn time(&mut self, at: usize, request: &Request) {
        let together = request.form.layer == SessionLayer::Collective;
        self.of_mpi |= request.form.layer != SessionLayer::System;
        self.all_together &= together || request.kind() == CallKind::Stat;
        (self.last, self.end) = (at, request.end.get().unwrap_or(request.start));
        self.slack.push(request.slack_ns.get().and_then(|ns| u64::try_from(ns).ok()).into());
        if let Some(end) = request.end.get() {
            let took = end.saturating_sub(request.start).max(0) as u64;
            self.took = (self.took.0.saturating_add(took), self.took.1 + 1);
        }
    }

    /// False for a request that a model has no word for.
    fn add(&mut self, at: usize, request: &Request) -> bool {
        let kind = match request.kind() {
            CallKind::Read => RequestKind::Read,
            CallKind::Write => RequestKind::Write,
            CallKind::Lock | CallKind::Control => {
                let Some(kind) = lock(request) else { return false };
                kind
            }
            CallKind::Stat => RequestKind::Stat,
            CallKind::Truncate => {
                self.lengths.extend(request.offset.get().and_then(|length| u64::try_from(length).ok()));
                RequestKind::Truncate
            }
            CallKind::Sync if request.form.layer != SessionLayer::System => RequestKind::Fsync,
            CallKind::Sync => match named(&request.form.name).and_then(CallSpec::forces) {
                Some(Forces::File) => RequestKind::Fsync,
                Some(Forces::Data) => RequestKind::Fdatasync,
                _ => return false,
            },
            kind => {
                let is_end = kind.opens_file() || kind == CallKind::Close;
                self.closed |= kind == CallKind::Close;
                if is_end {
                    self.time(at, request);
                }
                return is_end;
            }
        };
        if kind.is_transfer() {
            let size = request.size.get().and_then(|size| u64::try_from(size).ok());
            let Some(size) = size else { return false };
            let offset = request.offset.get().and_then(|offset| u64::try_from(offset).ok()).into();
            self.transfers.push(Transfer { kind, offset, size });
        }
        self.time(at, request);
        self.positions.push(position(at));
        self.kinds.push(kind);
        *self.requests.entry(kind).or_default() += 1;
        true
    }

    /// Whether its locks are taken and released in turn, in an order that a model keeps.
    fn has_fitting_locks(&self) -> bool {
        let kept = || ModelSession::order_of(&self.kinds).len() <= LONGEST_OF_LOCKS;
        !takes_locks(&self.requests) || locks_fit(self.kinds.iter().copied()) && kept()
    }

    /// Answers how many requests these were.
    fn leave_locks_out(&mut self) -> u64 {
        let before = self.kinds.len();
        let kept: Vec<bool> = self.kinds.iter().map(|kind| !kind.is_of_lock()).collect();
        let mut places = kept.iter();
        self.positions.retain(|_| places.next().copied().unwrap_or(true));
        // The time before the open is in front of theirs.
        let mut places = std::iter::repeat_n(&true, usize::from(self.opened)).chain(&kept);
        self.slack.retain(|_| places.next().copied().unwrap_or(true));
        self.kinds.retain(|kind| !kind.is_of_lock());
        self.requests.retain(|kind, _| !kind.is_of_lock());
        (before - self.kinds.len()) as u64
    }

    /// NULL if nothing was done that a model has.
    fn finish(self, kinds: &Kinds) -> Option<Execution> {
        let positions = match self.call {
            Some(_) => self.positions,
            None if self.requests.is_empty() && !self.opened => return None,
            None => {
                let last = if self.closed { position(self.last) } else { u32::MAX };
                [&[position(self.first)][..], &self.positions, &[last]].concat()
            }
        };
        let has = |kind| self.requests.contains_key(&kind);
        let (reads, writes) = (has(RequestKind::Read), has(RequestKind::Write));
        let mode = match self.mode {
            Some(flags) => {
                let writes = writes || has(RequestKind::Truncate) || flags.writes() || flags.truncates();
                let appends = flags.appends() && writes;
                [reads || flags.reads(), writes, flags.creates(), flags.truncates(), appends]
            }
            None => [reads || !writes, writes, false, false, false],
        };
        let mut sizes: BTreeMap<RequestKind, BTreeMap<u64, u64>> = BTreeMap::new();
        for transfer in &self.transfers {
            *sizes.entry(transfer.kind).or_default().entry(transfer.size).or_default() += 1;
        }
        let runs = sizes.keys().filter_map(|kind| Some((*kind, runs(*kind, &self.transfers)?))).collect();
        let order = ModelSession::order_of(&self.kinds);
        let longest = if takes_locks(&self.requests) { LONGEST_OF_LOCKS } else { LONGEST_ORDER };
        let order = if order.len() > longest { Vec::new() } else { order };
        let kind = kinds.of_file[self.file];
        let class = kinds.kinds[kind].class;
        let mode = if self.call.is_some() { [false; 5] } else { mode };
        let is_whole = self.opened && self.closed;
        let layer = match (self.of_mpi && self.call.is_none(), self.all_together && is_whole) {
            (false, _) => SessionLayer::System,
            (true, false) => SessionLayer::MpiIo,
            (true, true) => SessionLayer::Collective,
        };
        let shape =
            Shape { class, call: self.call, mode, layer, requests: self.requests, sizes, runs, order };
        Some(Execution {
            first: self.first,
            last: self.last,
            file: self.file,
            kind,
            to: self.to,
            shape,
            transfers: self.transfers.into_boxed_slice(),
            length: self.lengths.first().copied().filter(|_| self.lengths.len() == 1).into(),
            positions: positions.into_boxed_slice(),
            kinds: self.kinds.into_boxed_slice(),
            opened: self.opened,
            slack: self.slack.into_boxed_slice(),
            took: self.took,
            start: self.start,
            end: self.end,
        })
    }
}

/// What a call asks of a lock of the whole file; locks of parts are taken for those.
fn lock(request: &Request) -> Option<RequestKind> {
    let flags = request.form.mode.as_deref()?;
    Some(match LockRequest::of(flags)? {
        LockRequest::Release => RequestKind::Unlock,
        LockRequest::Wait | LockRequest::Try if LockRequest::is_shared(flags) => RequestKind::LockShared,
        LockRequest::Wait | LockRequest::Try => RequestKind::Lock,
    })
}

/// Requests in more runs than these are spread.
const LONGEST_ORDER: usize = 64;
/// Locks of sessions that have more runs are left out.
const LONGEST_OF_LOCKS: usize = 1024;

/// More runs than these are drawn.
const MOST_RUNS: usize = 64;

/// Runs of equal sizes of transfers of a kind up to where they repeat, if there are few but not one.
fn runs(kind: RequestKind, transfers: &[Transfer]) -> Option<Vec<(u64, u64)>> {
    let own = transfers.iter().filter(|transfer| transfer.kind == kind);
    let sizes: Vec<u64> = own.map(|transfer| transfer.size).collect();
    let period = repeats_after(&sizes);
    let round = if 2 * period <= sizes.len() { period } else { sizes.len() };
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for next in &sizes[..round] {
        match runs.last_mut() {
            Some((size, count)) if size == next => *count += 1,
            _ => runs.push((*next, 1)),
        }
    }
    (2..=MOST_RUNS).contains(&runs.len()).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Nullable;
    use iotrail_workload::CallForm;
    use std::sync::Arc;

    fn request(name: &str, kind: CallKind, flags: Option<&str>, start: i64) -> Request {
        let form =
            CallForm { name: Arc::from(name), kind, mode: flags.map(Arc::from), layer: SessionLayer::System };
        Request {
            form: Arc::new(form),
            seek: false,
            clamped: false,
            file: FileIndex(0),
            open: Nullable::some(7),
            offset: Nullable::some(0),
            size: Nullable::some(8),
            slack_ns: Nullable::some(start),
            start,
            end: Nullable::some(start),
        }
    }

    /// A session that is opened, and then does this.
    fn building(calls: &[(&str, CallKind, Option<&str>)]) -> Building {
        let open = request("openat", CallKind::Open, Some("O_RDWR"), 0);
        let mut building = Building::new(0, &open);
        assert!(building.add(0, &open));
        for (at, (name, kind, flags)) in (1..).zip(calls) {
            assert!(building.add(at, &request(name, *kind, *flags, at as i64)), "{name}");
        }
        building
    }

    #[test]
    fn locks_that_are_taken_and_released_in_turn_are_requests() {
        use RequestKind::{Lock, LockShared, Unlock, Write};
        let locked = building(&[
            ("flock", CallKind::Lock, Some("LOCK_EX|LOCK_NB")),
            ("write", CallKind::Write, None),
            ("flock", CallKind::Lock, Some("LOCK_UN")),
            ("fcntl", CallKind::Control, Some("F_SETLKW|F_RDLCK")),
        ]);
        assert_eq!(locked.kinds, [Lock, Write, Unlock, LockShared]);
        assert!(locked.has_fitting_locks());
    }

    #[test]
    fn other_locks_are_left_out_and_the_time_before_them_with_them() {
        let mut upgraded = building(&[
            ("fcntl", CallKind::Control, Some("F_SETLK|F_RDLCK")),
            ("read", CallKind::Read, None),
            ("fcntl", CallKind::Control, Some("F_SETLK|F_WRLCK")),
            ("write", CallKind::Write, None),
        ]);
        assert!(!upgraded.has_fitting_locks());
        assert_eq!(upgraded.leave_locks_out(), 2);
        assert_eq!(upgraded.kinds, [RequestKind::Read, RequestKind::Write]);
        assert_eq!(
            (upgraded.positions, upgraded.slack),
            (vec![2, 4], vec![Nullable::some(0), Nullable::some(2), Nullable::some(4)])
        );
        assert_eq!(upgraded.requests.values().sum::<u64>(), 2);
    }
}
