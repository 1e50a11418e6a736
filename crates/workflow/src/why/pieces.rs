//! From time by thread, image, call and path to the pieces that people see.

use super::account::{Amount, EndedBy, Images, Kind, Use};
use super::amounts::OfRun;
use super::fold::{Heap, Heaps, fold};
use super::result::{Owner, Piece, PieceKind};
use crate::waits::{Ended, LineId, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CallId, Case, FileRow, Names, PathId, Process};
use iotrail_query::ProcessId;
use std::collections::{BTreeMap, BTreeSet};

/// Files of which each takes less than this share of the elapsed time are joined.
pub(crate) const LEAST_SHARE: i64 = 50;

/// What precedes the number of a process whose program has no known name.
pub(crate) const UNNAMED: &str = "the program of process ";

/// What pieces are named by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming<'a> {
    pub(super) waits: &'a Waits,
    pub(super) images: &'a Images<'a>,
    pub(super) names: &'a Names,
    pub(super) cases: &'a [Case],
    pub(super) files: &'a [FileRow],
}

impl Naming<'_> {
    /// The name of a program: of its executable, else of its command line, else the number of the first process that ran it.
    pub(super) fn program(&self, image: u32) -> String {
        program(self.images.program_image(image))
    }

    /// The program that a thread executed at that time.
    pub(super) fn program_of(&self, line: LineId, at: i64) -> String {
        self.program(self.images.at(self.waits.process(line), at))
    }

    /// The rank whose program a thread executed at that time.
    pub(super) fn rank_of(&self, line: LineId, at: i64) -> Option<&str> {
        self.rank(self.images.at(self.waits.process(line), at))
    }

    /// The rank whose program it is.
    pub(super) fn rank(&self, image: u32) -> Option<&str> {
        self.case(image)?.name.rid.as_deref()
    }

    /// The case whose program it is.
    pub(super) fn case(&self, image: u32) -> Option<&Case> {
        self.cases.get(self.images.get(image).0.case.index())
    }

    /// What a path is called: a pipe or socket without accidental numbers.
    pub(super) fn awaited(&self, path: PathId) -> String {
        let exact = &self.names.paths[path.index()];
        match self.files.get(path.index()) {
            Some(row) if !exact.starts_with('/') => row.canonical.to_string(),
            _ => exact.to_string(),
        }
    }

    fn owner(&self, line: LineId, image: Option<u32>) -> Owner {
        let process = image.map(|image| self.images.get(image).0);
        let case = image.and_then(|image| self.case(image));
        Owner {
            pid: process.map_or(0, |process| process.pid.0),
            tid: self.waits.tid(line).0,
            host: case.and_then(|case| case.name.host.clone()),
        }
    }
}

fn program(process: &Process) -> String {
    let base = |text: &str| text.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
    let command = || process.cmdline.as_deref()?.split('\0').next().and_then(base);
    process
        .exe
        .as_deref()
        .and_then(base)
        .or_else(command)
        .unwrap_or_else(|| format!("{UNNAMED}{}", process.pid))
}

/// The pieces of one run, largest first; their sum is that of `amounts`. Files of less than `least` are joined.
pub(super) fn pieces(amounts: &OfRun, least: i64, naming: &Naming<'_>) -> Vec<Piece> {
    let mut programs: BTreeMap<u32, String> = BTreeMap::new();
    let mut image_of: BTreeMap<LineId, u32> = BTreeMap::new();
    let mut off_cpu = off_cpu(amounts, naming.images);
    let mut heaps: BTreeMap<(PieceKind, String), Heaps> = BTreeMap::new();
    for (key, amount) in amounts.iter() {
        let program = programs.entry(key.image).or_insert_with(|| naming.program(key.image)).clone();
        image_of.entry(key.line).or_insert(key.image);
        let mut add = |kind: PieceKind, name: Option<String>, amount: Amount| {
            let files = heaps.entry((kind, program.clone())).or_default();
            files.entry((name, false)).or_default().add(key.call, key.line, amount);
        };
        match key.used {
            Use::Compute => {
                let known = off_cpu.get_mut(&key.image);
                let off = known.as_ref().map_or(0, |off| amount.time.min(**off));
                let kind = if known.is_some() { PieceKind::Computing } else { PieceKind::BetweenCalls };
                known.into_iter().for_each(|left| *left -= off);
                for (kind, time) in [(kind, amount.time - off), (PieceKind::OffCpu, off)] {
                    if time > 0 {
                        add(kind, None, Amount { time, calls: 0 });
                    }
                }
            }
            Use::Call(kind) => {
                let path = key.path.map(|path| naming.awaited(path));
                add(piece_kind(kind), path, amount);
            }
            Use::HandOver(ended) => add(PieceKind::HandOver, Some(what_ended(ended).to_owned()), amount),
            Use::Start => add(PieceKind::Start, None, amount),
            Use::Tracing => add(PieceKind::Tracing, None, amount),
        }
    }
    let folded = heaps.into_iter().flat_map(|((kind, program), heaps)| {
        let heaps = if kind == PieceKind::HandOver { heaps } else { fold(heaps, least) };
        heaps.into_iter().map(move |((path, _), heap)| (kind, program.clone(), path, heap))
    });
    let piece = |(kind, program, path, heap): (PieceKind, String, Option<String>, Heap)| {
        let largest = heap.lines.iter().max_by_key(|(line, time)| (**time, std::cmp::Reverse(**line)));
        let line = largest.map(|(line, _)| *line).unwrap_or_default();
        let (call, only_call, call_count) = heaviest(&heap, naming.names);
        Piece {
            time_ns: heap.amount.time,
            kind,
            program,
            call,
            only_call,
            call_count,
            path,
            files: (heap.joined > 0).then_some(heap.joined),
            calls: heap.amount.calls,
            owner: naming.owner(line, image_of.get(&line).copied()),
            threads: heap.lines.len() as u64,
            processes: processes(heap.lines.keys().map(|line| naming.waits.process(*line))),
        }
    };
    let mut pieces: Vec<Piece> = folded.map(piece).filter(|piece| piece.time_ns > 0).collect();
    pieces.sort_by(|one, other| {
        (other.time_ns, one.kind, &one.program, &one.path).cmp(&(
            one.time_ns,
            other.kind,
            &other.program,
            &other.path,
        ))
    });
    pieces
}

/// The call that most time is of, whether it is nine tenths of it, and how often it was made.
fn heaviest(heap: &Heap, names: &Names) -> (Option<String>, bool, u64) {
    let by_time = |(call, amount): &(&Option<CallId>, &Amount)| (amount.time, std::cmp::Reverse(**call));
    let Some((Some(call), amount)) = heap.calls.iter().max_by_key(by_time) else { return (None, false, 0) };
    let nearly_all = amount.time.saturating_mul(10) >= heap.amount.time.saturating_mul(9);
    (Some(names.call(*call).to_owned()), nearly_all, amount.calls)
}

/// Of each image whose CPU time is known, how much of its computing on the path must have been off the CPU.
fn off_cpu(amounts: &OfRun, images: &Images<'_>) -> HashMap<u32, i64, RandomState> {
    let mut computed: HashMap<u32, i64, RandomState> = HashMap::default();
    for (key, amount) in amounts.iter().filter(|(key, _)| key.used == Use::Compute) {
        *computed.entry(key.image).or_default() += amount.time;
    }
    let off = computed.into_iter().filter_map(|(image, time)| {
        let usage = &images.get(image).0.usage;
        let used = usage.user?.0.saturating_add(usage.system?.0);
        Some((image, time.saturating_sub(used.max(0)).max(0)))
    });
    off.collect()
}

const fn piece_kind(kind: Kind) -> PieceKind {
    match kind {
        Kind::Data => PieceKind::Data,
        Kind::Sync => PieceKind::Sync,
        Kind::Metadata => PieceKind::Metadata,
        Kind::Memory => PieceKind::Memory,
        Kind::Process => PieceKind::Process,
        Kind::Sleep => PieceKind::Sleep,
        Kind::Transfer => PieceKind::Transfer,
        Kind::Waiting => PieceKind::Waiting,
        Kind::Mpi => PieceKind::Mpi,
        Kind::Other => PieceKind::Other,
    }
}

/// What a hand-over was of.
fn what_ended(ended: EndedBy) -> &'static str {
    match ended.ended() {
        Ended::Child => "end of a child",
        Ended::Executed => "exec of a child",
        Ended::Data => "data",
        Ended::EndOfData => "end of data",
        Ended::Room => "room for data",
        Ended::Unlocked => "lock",
        Ended::OtherEnd => "other end of a FIFO",
        Ended::Connected => "connection",
        Ended::Woken => "futex",
        Ended::Called => "collective call",
        Ended::Made => "file",
        Ended::Killed => "signal",
    }
}

/// How many processes have a thread among these.
pub(super) fn processes(lines: impl Iterator<Item = ProcessId>) -> u64 {
    lines.collect::<BTreeSet<_>>().len() as u64
}
