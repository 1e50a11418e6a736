//! What the ranks of a structure with MPI do again, from the end of `MPI_Init` to the begin of `MPI_Finalize`.

use crate::coordinated::Inboxes;
use crate::error::ReenactError;
use crate::mpi_calls::{Known, MpiCall, known, part};
use crate::posix::{Posix, program};
use crate::reason::Reason;
use crate::recorded::{Act, Reading, Step, call_of};
use iotrail_compress::{Place, each_placed_event};
use iotrail_model::{CaseId, Event, Layer};
use iotrail_mpi_run::SendMode;
use iotrail_replay::OpenMode;
use iotrail_structure_file::Document;
use iotrail_verify::{CallAction, Moved};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a rank does again.
#[derive(Debug)]
pub struct MpiReplay {
    /// Its calls on files, with the calls of MPI as what the engine does not know, by their indices in `calls`.
    pub posix: Posix,
    /// The calls of MPI of all ranks.
    pub calls: Vec<MpiCall>,
    /// Bytes that buffers must hold.
    pub buffer_bytes: u64,
    /// Ranks of the recording.
    pub ranks: u32,
}

/// Bytes of a tag, a rank and so on that must fit in any case.
const LEAST_BUFFER: u64 = 4096;

/// How many ranks were recorded with their calls of MPI; none if none was.
#[must_use]
pub fn ranks(document: &Document) -> Option<u32> {
    let is_mpi = |layer| matches!(layer, Layer::Mpi | Layer::Mpiio);
    let found = document.keys.iter().any(|key| is_mpi(key.layer));
    found.then(|| document.lines.iter().map(|line| line.rank).max().map_or(0, |rank| rank + 1))
}

/// A message that was sent.
struct Sent {
    start: i64,
    bytes: u64,
    /// Whether it was sent by an exchange.
    exchanged: bool,
    is_taken: bool,
}

/// Which message an exchange gets: the smallest of these.
type Order = (bool, bool, i64, (u32, i32, i32));

/// By sender, receiver and tag.
type Messages = HashMap<(u32, i32, i32), Vec<Sent>>;

/// What is found while the events are read.
struct Gathering<'a> {
    document: &'a Document,
    reading: Reading<'a>,
    ranks: u32,
    calls: Vec<MpiCall>,
    known: Vec<Known>,
    /// Lines within `MPI_Init` and `MPI_Finalize`.
    inside: HashSet<u32>,
    messages: Messages,
    /// Calls that exchange messages: rank, index of the call, bytes received.
    exchanges: Vec<(u32, usize, u64)>,
    /// Receives that name sender and tag, by both and the receiver.
    receives: HashMap<(u32, i32, i32), usize>,
    refused: BTreeSet<String>,
    buffer_bytes: u64,
    /// What ranks are sent, where receives as recorded would not fit.
    inboxes: Option<Inboxes>,
}

/// What the ranks of a structure do again, or one of them.
///
/// # Errors
/// If it is damaged, too large, has calls that cannot be left out, or the engine refuses its calls.
pub fn mpi(document: &Document, seed: u64, rank: Option<u32>) -> Result<MpiReplay, ReenactError> {
    let ranks = ranks(document).unwrap_or_default();
    let mut gathering = Gathering {
        document,
        reading: Reading::new(document),
        ranks,
        calls: Vec::new(),
        known: document.names.calls.iter().map(|name| known(name)).collect(),
        inside: HashSet::new(),
        messages: Messages::new(),
        exchanges: Vec::new(),
        receives: HashMap::new(),
        refused: BTreeSet::new(),
        buffer_bytes: LEAST_BUFFER,
        inboxes: Inboxes::of(document, seed)?,
    };
    each_placed_event(document, seed, &mut |line, event, place| {
        gathering.add(line, event, place);
        Ok(())
    })?;
    if !gathering.refused.is_empty() {
        return Err(ReenactError::Refused(gathering.refused.into_iter().collect::<Vec<_>>().join(", ")));
    }
    gathering.find_sources();
    let of_case: HashMap<CaseId, u32> = document.lines.iter().map(|line| (line.case, line.rank)).collect();
    let is_own = |step: &Step| rank.is_none_or(|rank| of_case.get(&step.call.place.0) == Some(&rank));
    let Gathering { reading, calls, buffer_bytes, .. } = gathering;
    Ok(MpiReplay { posix: program(reading.finish(), is_own)?, calls, buffer_bytes, ranks })
}

impl Gathering<'_> {
    fn add(&mut self, line: u32, event: &Event, place: &Place) {
        if matches!(event.layer, Layer::Mpi | Layer::Mpiio) {
            return self.add_mpi(line, event, place);
        }
        if !self.inside.contains(&line) {
            self.reading.leave_out(event, Reason::Outside);
        } else if event.parent.get().is_some() {
            self.reading.leave_out(event, Reason::Within);
        } else {
            self.reading.add(event);
        }
    }

    fn add_mpi(&mut self, line: u32, event: &Event, place: &Place) {
        let known = self.known[event.call.index()];
        if known == Known::Ends {
            self.receive(line, event, None);
        }
        match known {
            Known::Begins => {
                self.inside.insert(line);
                return;
            }
            Known::Ends => {
                self.inside.remove(&line);
                return;
            }
            Known::Local => return self.reading.leave_out(event, Reason::Local),
            Known::Other => return self.reading.leave_out(event, Reason::Unsupported),
            _ => {}
        }
        if event.comm.get().is_some_and(|comm| comm != 0) {
            return self.reading.leave_out(event, Reason::Communicator);
        }
        if event.errno.get().is_some() {
            return self.reading.leave_out(event, Reason::Failed);
        }
        if known == Known::Refused {
            self.refused.insert(self.document.names.call(event.call).to_owned());
            return;
        }
        let rank = self.document.lines[line as usize].rank;
        if self.inboxes.is_some() && self.coordinate(line, event, known, place) {
            return;
        }
        match self.call(rank, event, known) {
            Ok((call, action)) => self.push(event, call, action),
            Err(reason) => self.reading.leave_out(event, reason),
        }
    }

    /// Makes what a call about messages comes to where senders decide; whether it is such a call.
    fn coordinate(&mut self, line: u32, event: &Event, known: Known, place: &Place) -> bool {
        let rank = self.document.lines[line as usize].rank;
        match known {
            Known::Send(..) | Known::Exchange => {
                let bytes = event.sent.get().and_then(|sent| u64::try_from(sent).ok()).unwrap_or_default();
                match self.sends(rank, event, bytes) {
                    Ok(peer) => {
                        let (mode, tag) = (SendMode::Standard, event.tag.get().unwrap_or(-1));
                        let send = MpiCall::Send { mode, begin: true, buffered: false, bytes, peer, tag };
                        self.push(event, send, CallAction::Stat);
                    }
                    Err(reason) => self.reading.leave_out(event, reason),
                }
                if known == Known::Exchange {
                    self.receive(line, event, Some(place));
                }
            }
            Known::Receive(false) | Known::Probe | Known::Wait(_) => self.receive(line, event, Some(place)),
            Known::Receive(true) | Known::Test => {}
            _ => return false,
        }
        true
    }

    /// Receives what was sent from before a place, or all that is left, at the time of an event.
    fn receive(&mut self, line: u32, event: &Event, before: Option<&Place>) {
        let rank = self.document.lines[line as usize].rank;
        let messages = self.inboxes.as_mut().map(|inboxes| inboxes.take(rank, before)).unwrap_or_default();
        for (peer, tag) in messages {
            self.push(event, MpiCall::Receive { begin: false, peer, tag }, CallAction::Stat);
        }
    }

    fn call(&mut self, rank: u32, event: &Event, known: Known) -> Result<(MpiCall, CallAction), Reason> {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let (peer, tag) = (event.peer.get(), event.tag.get().unwrap_or(-1));
        let sent = number(event.sent.get()).unwrap_or_default();
        let call = match known {
            Known::Send(mode, begin) => {
                let peer = self.sends(rank, event, sent)?;
                MpiCall::Send { mode, begin, buffered: false, bytes: sent, peer, tag }
            }
            Known::Buffered => {
                let (mode, peer) = (SendMode::Standard, self.sends(rank, event, sent)?);
                MpiCall::Send { mode, begin: true, buffered: true, bytes: sent, peer, tag }
            }
            Known::Receive(begin) => {
                let peer = peer.ok_or(Reason::Unknown)?;
                if peer >= 0 && tag >= 0 {
                    *self.receives.entry((rank, peer, tag)).or_default() += 1;
                }
                MpiCall::Receive { begin, peer, tag }
            }
            Known::Exchange => {
                let to = (self.sends(rank, event, sent)?, tag);
                self.exchanges.push((
                    rank,
                    self.calls.len(),
                    number(event.received.get()).unwrap_or_default(),
                ));
                MpiCall::Exchange { bytes: sent, to, from: (-2, -1) }
            }
            Known::Probe => MpiCall::Probe { peer: peer.ok_or(Reason::Unknown)?, tag },
            Known::Collective(call, begin) => {
                let bytes = part(call, event, self.ranks.into());
                self.needs(bytes.saturating_mul(self.ranks.into()));
                MpiCall::Collective { call, begin, bytes, root: peer.unwrap_or_default() }
            }
            Known::Wait(wanted) => MpiCall::Wait(wanted),
            Known::Test => MpiCall::Test,
            _ => return self.of_file(event, known),
        };
        Ok((call, CallAction::Stat))
    }

    /// Notes a message; to whom.
    fn sends(&mut self, rank: u32, event: &Event, bytes: u64) -> Result<i32, Reason> {
        let peer = event.peer.get().ok_or(Reason::Unknown)?;
        self.needs(bytes);
        let exchanged = self.known[event.call.index()] == Known::Exchange;
        let sent = Sent { start: event.start.0, bytes, exchanged, is_taken: false };
        self.messages.entry((rank, peer, event.tag.get().unwrap_or_default())).or_default().push(sent);
        Ok(peer)
    }

    fn of_file(&mut self, event: &Event, known: Known) -> Result<(MpiCall, CallAction), Reason> {
        let file = self.reading.name(event.path.get().ok_or(Reason::Unknown)?)?;
        let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
        Ok(match known {
            Known::Open => (MpiCall::Open(file), CallAction::Open(mode)),
            Known::Sync => (MpiCall::Sync(file), CallAction::Sync),
            Known::Close => (MpiCall::Close(file), CallAction::Close),
            Known::Transfer(how, begin) => {
                let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
                let offset = number(event.offset.get());
                let bytes =
                    number(event.requested.get()).or(number(event.size.get())).ok_or(Reason::Unknown)?;
                let moved = number(event.size.get()).unwrap_or(bytes);
                self.needs(bytes);
                let action =
                    Moved { writes: how.writes, positioned: true, offset, asked: bytes, moved, buffers: 1 };
                (MpiCall::Transfer { file, how, begin, offset, bytes }, CallAction::Transfer(action))
            }
            _ => return Err(Reason::Unsupported),
        })
    }

    fn needs(&mut self, bytes: u64) {
        self.buffer_bytes = self.buffer_bytes.max(bytes);
    }

    fn push(&mut self, event: &Event, call: MpiCall, action: CallAction) {
        let name = match call {
            MpiCall::Open(file)
            | MpiCall::Sync(file)
            | MpiCall::Close(file)
            | MpiCall::Transfer { file, .. } => file,
            _ => self.reading.root(),
        };
        let step = call_of(event, name, None, action);
        self.reading.push(Step { call: step, act: Act::Other(self.calls.len()), name, error: None });
        self.calls.push(call);
    }

    /// From whom exchanges get their messages, which recordings do not tell: from who sent one that no receive names: by an exchange, of the recorded size, the
    /// first that was sent, as far as there is such.
    fn find_sources(&mut self) {
        for sent in self.messages.values_mut() {
            sent.sort_by_key(|sent| sent.start);
        }
        let mut free: HashMap<(u32, i32, i32), usize> = HashMap::new();
        for (&(from, to, tag), sent) in &self.messages {
            let named =
                u32::try_from(to).ok().and_then(|to| self.receives.get(&(to, from as i32, tag)).copied());
            free.insert((from, to, tag), sent.len().saturating_sub(named.unwrap_or_default()));
        }
        let mut exchanges = std::mem::take(&mut self.exchanges);
        exchanges.sort_unstable();
        for (rank, call, received) in exchanges {
            let mut best: Option<(Order, usize)> = None;
            for (&key, sent) in &self.messages {
                if key.1 != rank as i32 || free.get(&key).is_none_or(|free| *free == 0) {
                    continue;
                }
                let next = sent.iter().position(|sent| !sent.is_taken);
                let Some((place, next)) = next.map(|place| (place, &sent[place])) else { continue };
                let order = (!next.exchanged, next.bytes != received, next.start, key);
                if best.is_none_or(|(known, _)| order < known) {
                    best = Some((order, place));
                }
            }
            if let Some(((.., key), place)) = best
                && let Some(MpiCall::Exchange { from, .. }) = self.calls.get_mut(call)
            {
                *from = (key.0 as i32, key.2);
                if let Some(sent) = self.messages.get_mut(&key).and_then(|sent| sent.get_mut(place)) {
                    sent.is_taken = true;
                }
                free.entry(key).and_modify(|free| *free -= 1);
            }
        }
    }
}
