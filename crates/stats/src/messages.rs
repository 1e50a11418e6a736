//! Who sent how much to whom: messages between the ranks of MPI programs, as a sparse matrix.
//!
//! Source: Scala-H-Trace, section 2.1: partners are the same for many ranks when they are told as differences.

pub mod communicators;
mod patterns;

use communicators::{Communicators, Creation, Makes, ProcessKey};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls;
use iotrail_model::{CallId, Case, CaseId, EventBatch, Layer, Names};
use iotrail_query::{Asks, Pass, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog, TrailError};
use serde::Serialize;
use std::num::NonZeroUsize;

pub use patterns::{PatternRow, patterns};

use communicators::WORLD;

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// How many.
    pub messages: u64,
    /// What they carried.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, other: Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// What one rank sent to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairRow {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// What it sent.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// What a rank sent and was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RankRow {
    /// Its number.
    pub rank: u32,
    /// What it sent.
    pub sent: Traffic,
    /// What it was sent, as the senders tell.
    pub received: Traffic,
    /// Ranks that it sent to or that sent to it.
    pub partners: u32,
}

/// What collective calls of one name gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CollectiveRow {
    /// The call.
    pub call: String,
    /// Ranks that called it.
    pub ranks: u64,
    /// Calls of all ranks.
    pub calls: u64,
    /// Bytes that the ranks gave, as far as calls tell.
    pub sent: u64,
    /// Bytes that the ranks got, as far as calls tell.
    pub received: u64,
    /// Calls that tell neither.
    pub unknown: u64,
}

/// The messages of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Messages {
    /// Version of the document.
    pub format: u32,
    /// Number of ranks.
    pub ranks: u32,
    /// Messages between known ranks.
    pub total: Traffic,
    /// By sender and receiver, in this order; only pairs with messages.
    pub pairs: Vec<PairRow>,
    /// By rank; only ranks with messages.
    pub by_rank: Vec<RankRow>,
    /// What the pairs have in common.
    pub patterns: Vec<PatternRow>,
    /// What collective calls gave, most bytes first.
    pub collectives: Vec<CollectiveRow>,
    /// Transfers into the memory of other ranks, whose numbers are those of a window.
    pub one_sided: Traffic,
    /// Messages in communicators of which it is not known who is in them.
    pub other_communicators: Traffic,
    /// Messages of processes without a rank.
    pub unknown_senders: Traffic,
}

/// Version of [`Messages`].
const FORMAT: u32 = 1;

/// The messages that `query` selects.
///
/// # Errors
/// If the log cannot be read.
pub fn messages(log: &EventLog, query: &Query, threads: NonZeroUsize) -> Result<Messages, TrailError> {
    scan(log, Some(query), threads, &Sending::of(log))
}

/// Calls of MPI that tell the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MessageCalls {
    /// The rank that made them.
    pub rank: Option<u32>,
    /// Their name.
    pub call: CallId,
    /// The communicator.
    pub comm: Option<i64>,
    /// The tag; of messages only.
    pub tag: Option<i64>,
    /// The partner or root.
    pub peer: Option<i64>,
    /// Bytes that each gave.
    pub sent: Option<i64>,
    /// Bytes that each got.
    pub received: Option<i64>,
    /// How many calls these are.
    pub times: u64,
}

/// The messages of calls that were counted already, none of which failed. `ranks` are those of all cases.
#[must_use]
pub fn messages_of(
    names: &Names,
    ranks: Vec<Option<u32>>,
    calls: impl IntoIterator<Item = MessageCalls>,
) -> Messages {
    let sending = Sending::new(ranks, names);
    let mut sums = Sums::default();
    calls.into_iter().for_each(|calls| sending.add_calls(&mut sums, &calls));
    sending.finish(sums, ())
}

/// The pass that makes them.
struct Sending<'a> {
    /// The rank of each case.
    ranks: Vec<Option<u32>>,
    /// What each call makes, by its number.
    makes: Vec<Option<Makes>>,
    names: &'a Names,
}

/// What a worker sums up.
#[derive(Default)]
struct Sums {
    pairs: HashMap<(u32, u32), Traffic, RandomState>,
    /// By call and rank.
    collectives: HashMap<(u32, Option<u32>), Given, RandomState>,
    one_sided: Traffic,
    /// What ranks sent in other communicators than `MPI_COMM_WORLD`: process, number of the communicator, rank in it.
    elsewhere: HashMap<(ProcessKey, i32, u32), Traffic, RandomState>,
    other_communicators: Traffic,
    communicators: Communicators,
    /// Processes that called MPI.
    processes: std::collections::HashMap<ProcessKey, u32>,
    unknown_senders: Traffic,
}

/// What collective calls of a rank gave.
#[derive(Clone, Copy, Default)]
struct Given {
    calls: u64,
    sent: u64,
    received: u64,
    unknown: u64,
}

impl Given {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        self.unknown += other.unknown;
    }
}

impl<'a> Sending<'a> {
    fn of(log: &'a EventLog) -> Self {
        let rank = |case: &Case| case.name.rid.as_deref()?.parse().ok();
        // The cases of other programs are processes.
        let has_ranks = log.layers().contains(&Layer::Mpi);
        let ranks = log.cases().iter().map(|case| rank(case).filter(|_| has_ranks)).collect();
        Self::new(ranks, log.names())
    }

    fn new(ranks: Vec<Option<u32>>, names: &'a Names) -> Self {
        let makes = names.calls.iter().map(|name| Makes::of(name)).collect();
        Self { ranks, makes, names }
    }

    fn add_row(&self, sums: &mut Sums, batch: &EventBatch, row: usize) {
        let case: CaseId = batch.case[row];
        let (rank, process) = (self.ranks.get(case.index()).copied().flatten(), (case, batch.pid[row]));
        if let Some(rank) = rank {
            sums.processes.insert(process, rank);
        }
        let (comm, peer, tag) = (batch.comm[row].get(), batch.peer[row].get(), batch.tag[row].get());
        if let Some(how) = self.makes.get(batch.call[row].index()).copied().flatten() {
            sums.communicators.add(process, Creation::new(batch.seq[row], comm, how, peer, tag));
            return;
        }
        let sent = batch.sent[row].get();
        if let (Some(comm), Some(_), Some(peer), Some(sent), Some(_)) = (comm, tag, peer, sent, rank)
            && comm != WORLD
        {
            if let (Ok(peer), Ok(bytes)) = (u32::try_from(peer), u64::try_from(sent)) {
                let place = sums.elsewhere.entry((process, comm, peer)).or_default();
                place.add(Traffic { messages: 1, bytes });
            }
            return;
        }
        let calls = MessageCalls {
            rank,
            call: batch.call[row],
            comm: comm.map(i64::from),
            tag: tag.map(i64::from),
            peer: peer.map(i64::from),
            sent,
            received: batch.received[row].get(),
            times: 1,
        };
        self.add_calls(sums, &calls);
    }

    fn add_calls(&self, sums: &mut Sums, calls: &MessageCalls) {
        let &MessageCalls { rank, call, comm, tag, peer, times, .. } = calls;
        let bytes = |value: Option<i64>| value.and_then(|bytes| u64::try_from(bytes).ok());
        let (sent, received) = (bytes(calls.sent), bytes(calls.received));
        let traffic = |bytes: u64| Traffic { messages: times, bytes: bytes.saturating_mul(times) };
        // Only messages have tags; of other calls with a communicator, those that move data are collective.
        match (comm, tag, peer, sent) {
            (Some(comm), Some(_), Some(peer), Some(bytes)) => {
                let Ok(peer) = u32::try_from(peer) else { return };
                let place = match rank {
                    None => &mut sums.unknown_senders,
                    Some(rank) if comm == i64::from(WORLD) => sums.pairs.entry((rank, peer)).or_default(),
                    Some(_) => &mut sums.other_communicators,
                };
                place.add(traffic(bytes));
            }
            (None, None, Some(peer), Some(bytes)) if peer >= 0 => sums.one_sided.add(traffic(bytes)),
            (Some(_), None, ..) if self.moves(calls) => {
                let unknown = if sent.is_none() && received.is_none() { times } else { 0 };
                let all = |bytes: Option<u64>| bytes.unwrap_or(0).saturating_mul(times);
                let given = Given { calls: times, sent: all(sent), received: all(received), unknown };
                sums.collectives.entry((call.0, rank)).or_default().add(given);
            }
            _ => (),
        }
    }

    /// Whether a call without a tag moves data of all ranks of its communicator.
    fn moves(&self, calls: &MessageCalls) -> bool {
        let is_known = calls.sent.is_some() || calls.received.is_some();
        is_known || calls::mpi::exchanges(self.names.call(calls.call))
    }
}

impl Pass for Sending<'_> {
    type Sums = Sums;
    type Boundary = ();
    type Closed = ();
    type Output = Messages;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::SEQ
            | Columns::PID
            | Columns::CALL
            | Columns::LAYER
            | Columns::ERRNO
            | Columns::COMM
            | Columns::PEER
            | Columns::TAG
            | Columns::SENT
            | Columns::RECEIVED
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, ..Asks::default() }
    }

    fn sums(&self) -> Sums {
        Sums::default()
    }

    fn closed(&self) {}

    fn add(&self, sums: &mut Sums, rows: &Rows<'_>) {
        let batch = rows.batch;
        let is_made = |row: &usize| {
            rows.selected[*row] && batch.layer[*row] == Layer::Mpi && batch.errno[*row].is_null()
        };
        (0..batch.len).filter(is_made).for_each(|row| self.add_row(sums, batch, row));
    }

    fn merge(&self, sums: &mut Sums, other: Sums) {
        other.pairs.into_iter().for_each(|(pair, traffic)| sums.pairs.entry(pair).or_default().add(traffic));
        for (key, given) in other.collectives {
            sums.collectives.entry(key).or_default().add(given);
        }
        sums.one_sided.add(other.one_sided);
        for (key, traffic) in other.elsewhere {
            sums.elsewhere.entry(key).or_default().add(traffic);
        }
        sums.other_communicators.add(other.other_communicators);
        sums.communicators.merge(other.communicators);
        sums.processes.extend(other.processes);
        sums.unknown_senders.add(other.unknown_senders);
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, mut sums: Sums, (): ()) -> Messages {
        let other_communicators = sums.resolve();
        let pair = |((from, to), traffic)| PairRow { from, to, traffic };
        let mut pairs: Vec<PairRow> = sums.pairs.into_iter().map(pair).collect();
        pairs.sort_unstable_by_key(|row| (row.from, row.to));
        let recorded = self.ranks.iter().flatten().copied();
        let last = recorded.chain(pairs.iter().map(|row| row.from.max(row.to))).max();
        let ranks = last.map_or(0, |last| last.saturating_add(1));
        let mut total = Traffic::default();
        pairs.iter().for_each(|row| total.add(row.traffic));
        Messages {
            format: FORMAT,
            ranks,
            total,
            by_rank: by_rank(&pairs),
            patterns: patterns(&pairs, ranks),
            pairs,
            collectives: self.collectives(sums.collectives),
            one_sided: sums.one_sided,
            other_communicators,
            unknown_senders: sums.unknown_senders,
        }
    }
}

impl Sums {
    /// Adds messages in other communicators to the pairs, by the ranks of `MPI_COMM_WORLD`; what is left.
    fn resolve(&mut self) -> Traffic {
        let mut left = self.other_communicators;
        if self.elsewhere.is_empty() {
            return left;
        }
        let ranks = self.processes.values().max().map_or(0, |last| last.saturating_add(1));
        self.communicators.finish(ranks, &self.processes);
        let world = |process: ProcessKey| self.processes.get(&process).copied();
        let who: HashMap<(u32, u32), u32, RandomState> = (self.communicators.members())
            .filter_map(|(process, _, member)| Some(((member.group, member.rank), world(process)?)))
            .collect();
        for ((process, comm, to), traffic) in std::mem::take(&mut self.elsewhere) {
            let member = self.communicators.member(process, comm);
            let to = member.and_then(|member| who.get(&(member.group, to))).copied();
            match (world(process), to) {
                (Some(from), Some(to)) => self.pairs.entry((from, to)).or_default().add(traffic),
                _ => left.add(traffic),
            }
        }
        left
    }
}

impl Sending<'_> {
    fn collectives(&self, given: HashMap<(u32, Option<u32>), Given, RandomState>) -> Vec<CollectiveRow> {
        let mut by_call: HashMap<u32, (u64, Given)> = HashMap::new();
        for ((call, _), of_rank) in given {
            let (ranks, sum) = by_call.entry(call).or_default();
            *ranks += 1;
            sum.add(of_rank);
        }
        let name = |call: u32| self.names.calls.get(call as usize).map(|name| name.to_string());
        let row = |(call, (ranks, Given { calls, sent, received, unknown }))| CollectiveRow {
            call: name(call).unwrap_or_default(),
            ranks,
            calls,
            sent,
            received,
            unknown,
        };
        let mut rows: Vec<CollectiveRow> = by_call.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let weight = |row: &CollectiveRow| row.sent.max(row.received);
            weight(b).cmp(&weight(a)).then_with(|| a.call.cmp(&b.call))
        });
        rows
    }
}

/// What each rank sent and was sent.
fn by_rank(pairs: &[PairRow]) -> Vec<RankRow> {
    let mut rows: HashMap<u32, RankRow, RandomState> = HashMap::default();
    let known: hashbrown::HashSet<(u32, u32), RandomState> =
        pairs.iter().map(|pair| (pair.from, pair.to)).collect();
    for &PairRow { from, to, traffic } in pairs {
        let sender = rows.entry(from).or_default();
        (sender.rank, sender.partners) = (from, sender.partners + 1);
        sender.sent.add(traffic);
        let receiver = rows.entry(to).or_default();
        receiver.rank = to;
        receiver.received.add(traffic);
        // Who answers counts once.
        receiver.partners += u32::from(!known.contains(&(to, from)));
    }
    let mut rows: Vec<RankRow> = rows.into_values().collect();
    rows.sort_unstable_by_key(|row| row.rank);
    rows
}

#[cfg(test)]
mod tests;
