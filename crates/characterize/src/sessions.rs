//! Sessions of ranks, and the kinds of them that a model has.

use crate::names::Kinds;
use crate::streams::RankStream;
use iotrail_model::calls::{CallKind, CallSpec, Forces, OpenFlags, named};
use iotrail_workload::{Mode, Request, RequestKind};
use std::collections::{BTreeMap, HashMap};

/// What is the same in all executions of a session of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Shape {
    /// Class of the file: files of one class have shapes in common, private ones with those of one form of name.
    pub(crate) class: usize,
    /// Read, write, create, truncate, append.
    pub(crate) mode: [bool; 5],
    pub(crate) requests: BTreeMap<RequestKind, u64>,
    pub(crate) sizes: BTreeMap<RequestKind, BTreeMap<u64, u64>>,
    /// The same in order, where all are reads or all are writes and there are few runs.
    pub(crate) runs: Vec<(u64, u64)>,
}

impl Shape {
    pub(crate) fn mode(&self) -> Mode {
        let [read, write, create, truncate, append] = self.mode;
        Mode { read, write, create, truncate, append }
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
    pub(crate) offset: Option<u64>,
    pub(crate) size: u64,
}

/// A session of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    /// Indices of its first and last request among those of the rank.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) file: usize,
    /// Kind of the file.
    pub(crate) kind: usize,
    pub(crate) shape: Shape,
    pub(crate) transfers: Vec<Transfer>,
    /// Sum of the slack before its requests, in ns, and their number.
    pub(crate) slack: (u64, u64),
}

/// Sessions of a rank, and what of its requests is in none of them.
#[derive(Debug, Default)]
pub(crate) struct RankSessions {
    /// In the order of their first requests.
    pub(crate) executions: Vec<Execution>,
    /// Requests that a model has no word for, by name of the call.
    pub(crate) other: BTreeMap<String, u64>,
    /// Sessions without a transfer or sync.
    pub(crate) empty: u64,
    /// Sessions that were open when others began or a barrier came.
    pub(crate) overlapping: u64,
}

/// The sessions of a rank.
pub(crate) fn sessions(stream: &RankStream, kinds: &Kinds) -> RankSessions {
    let mut found = RankSessions::default();
    let mut open: HashMap<u64, usize> = HashMap::new();
    let mut building: Vec<Building> = Vec::new();
    for (at, request) in stream.requests.iter().enumerate() {
        let Some(description) = request.open.filter(|_| !matches!(request.kind, CallKind::Map)) else {
            *found.other.entry(request.variant.operation.to_string()).or_default() += 1;
            continue;
        };
        let number = *open.entry(description).or_insert_with(|| {
            building.push(Building::new(at, request));
            building.len() - 1
        });
        if !building[number].add(at, request) {
            *found.other.entry(request.variant.operation.to_string()).or_default() += 1;
        }
        if request.kind == CallKind::Close {
            open.remove(&description);
        }
    }
    let all = building.len();
    found.executions = building.into_iter().filter_map(|building| building.finish(kinds)).collect();
    found.empty = (all - found.executions.len()) as u64;
    let mut behind = 0;
    let mut barriers = stream.barriers.iter().peekable();
    for execution in &found.executions {
        while barriers.next_if(|barrier| **barrier <= execution.first).is_some() {}
        let spans = barriers.peek().is_some_and(|barrier| **barrier <= execution.last);
        found.overlapping += u64::from(spans || execution.first < behind);
        behind = behind.max(execution.last);
    }
    found
}

/// A session while it is read.
struct Building {
    first: usize,
    last: usize,
    file: usize,
    mode: Option<OpenFlags>,
    requests: BTreeMap<RequestKind, u64>,
    transfers: Vec<Transfer>,
    slack: (u64, u64),
}

impl Building {
    fn new(at: usize, request: &Request) -> Self {
        let opens = request.kind.opens_file();
        let flags = request.mode.as_deref().map(|flags| OpenFlags::parse(flags.as_bytes()));
        let made = (request.kind == CallKind::Create).then_some(OpenFlags::CREAT);
        Self {
            first: at,
            last: at,
            file: request.file.0 as usize,
            mode: flags.or(made).filter(|_| opens),
            requests: BTreeMap::new(),
            transfers: Vec::new(),
            slack: (0, 0),
        }
    }

    /// False for a request that a model has no word for.
    fn add(&mut self, at: usize, request: &Request) -> bool {
        self.last = at;
        let slack = request.slack.map_or(0, |slack| slack.ns.max(0) as u64);
        self.slack = (self.slack.0.saturating_add(slack), self.slack.1 + 1);
        let kind = match request.kind {
            CallKind::Read => RequestKind::Read,
            CallKind::Write => RequestKind::Write,
            CallKind::Sync => match named(&request.variant.operation).and_then(CallSpec::forces) {
                Some(Forces::File) => RequestKind::Fsync,
                Some(Forces::Data) => RequestKind::Fdatasync,
                _ => return false,
            },
            kind => return kind.opens_file() || matches!(kind, CallKind::Close),
        };
        if kind.is_transfer() {
            let size = request.size.and_then(|size| u64::try_from(size).ok());
            let Some(size) = size else { return false };
            let offset = request.offset.and_then(|offset| u64::try_from(offset).ok());
            self.transfers.push(Transfer { kind, offset, size });
        }
        *self.requests.entry(kind).or_default() += 1;
        true
    }

    /// NULL if nothing was done that a model has.
    fn finish(self, kinds: &Kinds) -> Option<Execution> {
        if self.requests.is_empty() {
            return None;
        }
        let has = |kind| self.requests.contains_key(&kind);
        let (reads, writes) = (has(RequestKind::Read), has(RequestKind::Write));
        let mode = match self.mode {
            Some(flags) => {
                let writes = writes || flags.writes() || flags.truncates();
                let appends = flags.appends() && writes;
                [reads || flags.reads(), writes, flags.creates(), flags.truncates(), appends]
            }
            None => [reads || !writes, writes, false, false, false],
        };
        let mut sizes: BTreeMap<RequestKind, BTreeMap<u64, u64>> = BTreeMap::new();
        for transfer in &self.transfers {
            *sizes.entry(transfer.kind).or_default().entry(transfer.size).or_default() += 1;
        }
        let runs = if reads && writes { Vec::new() } else { runs(&self.transfers) };
        let kind = kinds.of_file[self.file];
        let class = kinds.kinds[kind].class;
        let shape = Shape { class, mode, requests: self.requests, sizes, runs };
        Some(Execution {
            first: self.first,
            last: self.last,
            file: self.file,
            kind,
            shape,
            transfers: self.transfers,
            slack: self.slack,
        })
    }
}

/// More runs than these are drawn.
const MOST_RUNS: usize = 16;

/// Runs of equal sizes, if there are few but not one.
fn runs(transfers: &[Transfer]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for transfer in transfers {
        match runs.last_mut() {
            Some((size, count)) if *size == transfer.size => *count += 1,
            _ => runs.push((transfer.size, 1)),
        }
    }
    if (2..=MOST_RUNS).contains(&runs.len()) { runs } else { Vec::new() }
}
