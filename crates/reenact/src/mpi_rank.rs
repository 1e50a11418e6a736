//! What the ranks of a structure with MPI do again, from the end of `MPI_Init` to the begin of `MPI_Finalize`.

use crate::coordinated::{Inboxes, WorldRanks};
use crate::error::ReenactError;
use crate::mpi_calls::{Known, MpiCall, begins_request, known, part, started};
use crate::mpi_exchanges::{Exchange, Exchanges, Sent};
use crate::mpi_partners::{Act as Turn, Partners};
use crate::mpi_requests::{Begun, of_event, requests_of};
use crate::posix::{Posix, program};
use crate::reason::Reason;
use crate::recorded::{Act, Reading, Step, call_of};
use iotrail_compress::{Place, draws_bytes_of, draws_partners_of, each_placed_event};
use iotrail_model::requests::{Request, Requests};
use iotrail_model::{CaseId, Event, Layer};
use iotrail_mpi_run::SendMode;
use iotrail_replay::OpenMode;
use iotrail_stats::messages::communicators::{Communicators, Creation, Member, SELF, Split, WORLD};
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
    /// Calls that began what [`MpiCall::WaitFor`] waits for.
    pub waited: Vec<u32>,
    /// Bytes that buffers must hold.
    pub buffer_bytes: u64,
    /// Ranks of the recording.
    pub ranks: u32,
}

/// Whether calls on files are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCalls {
    /// They are.
    Made,
    /// They are not.
    LeftOut,
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

/// The communicators of all processes.
fn communicators(
    document: &Document,
    seed: u64,
    ranks: u32,
    are_exact: bool,
) -> Result<Communicators, ReenactError> {
    let names: Vec<Known> = document.names.calls.iter().map(|name| known(name)).collect();
    let (mut all, mut processes) = (Communicators::default(), HashMap::new());
    each_placed_event(document, seed, &mut |line, event, _| {
        if event.layer == Layer::Mpi || event.layer == Layer::Mpiio {
            let process = (event.case, event.pid);
            processes.insert(process, document.lines[line as usize].rank);
            if let (Known::Makes(how), None, true) =
                (names[event.call.index()], event.errno.get(), are_exact && !event.never_returned())
            {
                let (parent, peer, tag) = (event.comm.get(), event.peer.get(), event.tag.get());
                all.add(process, Creation::new(event.seq, parent, how, peer, tag));
            }
        }
        Ok(())
    })?;
    all.finish(ranks, &processes);
    Ok(all)
}

/// What is found while the events are read.
struct Gathering<'a> {
    document: &'a Document,
    reading: Reading<'a>,
    calls: Vec<MpiCall>,
    known: Vec<Known>,
    /// Whether each call begins a request.
    begins: Vec<bool>,
    /// What each text says of requests.
    texts: Vec<Option<Requests<'a>>>,
    begun: Begun,
    /// Lines within `MPI_Init` and `MPI_Finalize`.
    inside: HashSet<u32>,
    communicators: Communicators,
    world: WorldRanks,
    exchanges: Exchanges,
    /// Who waits for whom, where bytes do not tell whose message an exchange gets.
    partners: Option<Partners>,
    /// Files that ranks have open.
    open: HashSet<(CaseId, usize)>,
    refused: BTreeSet<String>,
    buffer_bytes: u64,
    /// What ranks are sent, where receives as recorded would not fit.
    inboxes: Option<Inboxes>,
    file_calls: FileCalls,
}

/// What the ranks of a structure do again, or one of them.
///
/// # Errors
/// If it is damaged, too large, has calls that cannot be left out, or the engine refuses its calls.
pub fn mpi(
    document: &Document,
    seed: u64,
    rank: Option<u32>,
    file_calls: FileCalls,
) -> Result<MpiReplay, ReenactError> {
    let ranks = ranks(document).unwrap_or_default();
    let makes = |name: &str| matches!(known(name), Known::Makes(_));
    // Where it is drawn who is in communicators, their ranks are not known.
    let communicators = communicators(document, seed, ranks, !draws_partners_of(document, makes))?;
    let world = WorldRanks::of(document, &communicators);
    let inboxes = Inboxes::of(document, seed, (&communicators, &world))?;
    let mut gathering = Gathering {
        document,
        reading: Reading::new(document),
        calls: Vec::new(),
        known: document.names.calls.iter().map(|name| known(name)).collect(),
        begins: document.names.calls.iter().map(|name| begins_request(name)).collect(),
        texts: requests_of(&document.names.flags),
        begun: Begun::default(),
        inside: HashSet::new(),
        communicators,
        world,
        exchanges: Exchanges::default(),
        partners: draws_bytes_of(document, |name| known(name) == Known::Exchange).then(Partners::default),
        open: HashSet::new(),
        refused: BTreeSet::new(),
        buffer_bytes: LEAST_BUFFER,
        inboxes,
        file_calls,
    };
    each_placed_event(document, seed, &mut |line, event, place| {
        gathering.add(line, event, place);
        Ok(())
    })?;
    if !gathering.refused.is_empty() {
        return Err(ReenactError::Refused(gathering.refused.into_iter().collect::<Vec<_>>().join(", ")));
    }
    let exchanges = std::mem::take(&mut gathering.exchanges);
    match gathering.partners.take() {
        Some(partners) => partners.find(&exchanges.receives, &mut gathering.calls),
        None => exchanges.find(&mut gathering.calls),
    }
    let of_case: HashMap<CaseId, u32> = document.lines.iter().map(|line| (line.case, line.rank)).collect();
    let is_own = |step: &Step| rank.is_none_or(|rank| of_case.get(&step.call.place.0) == Some(&rank));
    let Gathering { reading, calls, begun, buffer_bytes, .. } = gathering;
    Ok(MpiReplay {
        posix: program(reading.finish(), is_own)?,
        calls,
        waited: begun.waited,
        buffer_bytes,
        ranks,
    })
}

impl Gathering<'_> {
    fn add(&mut self, line: u32, event: &Event, place: &Place) {
        if matches!(event.layer, Layer::Mpi | Layer::Mpiio) {
            let before = self.calls.len();
            self.add_mpi(line, event, place);
            if self.begins[event.call.index()]
                && event.errno.is_null()
                && !event.never_returned()
                && self.inside.contains(&line)
            {
                self.begun.begins(line, self.last_call(before));
            }
            return;
        }
        if !self.inside.contains(&line) {
            self.reading.leave_out(event, Reason::Outside);
        } else if event.parent.get().is_some() {
            self.reading.leave_out(event, Reason::Within);
        } else if self.file_calls == FileCalls::LeftOut {
            self.reading.leave_out(event, Reason::Unwanted);
        } else {
            self.reading.add(event);
        }
    }

    /// The call that was added to so many.
    fn last_call(&self, before: usize) -> Option<u32> {
        let last = self.calls.len().checked_sub(1).filter(|last| *last >= before)?;
        u32::try_from(last).ok()
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
            _ if event.layer == Layer::Mpiio && self.file_calls == FileCalls::LeftOut => {
                return self.reading.leave_out(event, Reason::Unwanted);
            }
            Known::Local => return self.reading.leave_out(event, Reason::Local),
            Known::Other => return self.reading.leave_out(event, Reason::Unsupported),
            _ => {}
        }
        if event.never_returned() {
            return self.reading.leave_out(event, Reason::Unfinished);
        }
        let comm = event.comm.get().unwrap_or(WORLD);
        let Some(member) = self.communicators.member((event.case, event.pid), comm) else {
            return self.reading.leave_out(event, Reason::Communicator);
        };
        if event.errno.get().is_some() {
            return self.reading.leave_out(event, Reason::Failed);
        }
        let is_refused = match known {
            Known::Refused => true,
            Known::Prepares => !self.prepare(event),
            Known::Starts => !self.start(event),
            _ => false,
        };
        if is_refused {
            self.refused.insert(self.document.names.call(event.call).to_owned());
        }
        if matches!(known, Known::Refused | Known::Prepares | Known::Starts) {
            return;
        }
        if self.inboxes.is_some() && self.coordinate(member, line, event, (known, place)) {
            return;
        }
        if matches!(known, Known::Wait(_) | Known::Test)
            && let Some(call) = self.wait(line, event, known)
        {
            return self.push(event, call, CallAction::Stat);
        }
        match self.call((comm, member), event, known) {
            Ok((call, action)) => self.push(event, call, action),
            Err(reason) => self.reading.leave_out(event, reason),
        }
    }

    /// What waits for those requests that the recorded call completed, if it tells them; none of one that only asked.
    fn wait(&mut self, line: u32, event: &Event, known: Known) -> Option<MpiCall> {
        let list = &of_event(event, &self.texts)?.list;
        if list.is_empty() && known == Known::Test {
            return None;
        }
        let (first, count) = self.begun.wait_for(line, (event.case, event.pid), list)?;
        Some(MpiCall::WaitFor { first, count })
    }

    /// Notes a persistent request that is made; whether its starts can be made again.
    fn prepare(&mut self, event: &Event) -> bool {
        let made = of_event(event, &self.texts).and_then(|requests| match requests.list[..] {
            [Request::Persistent(number)] => Some((number, requests.bytes)),
            _ => None,
        });
        let Some((number, bytes)) = made else { return false };
        if started(self.document.names.call(event.call)).is_none() {
            return false;
        }
        let sent = bytes.and_then(|bytes| i64::try_from(bytes).ok());
        self.begun.prepares((event.case, event.pid), number, Event { sent: sent.into(), ..*event });
        self.reading.leave_out(event, Reason::Local);
        true
    }

    /// Begins what a call starts; whether all of that is known.
    fn start(&mut self, event: &Event) -> bool {
        let Some(list) = of_event(event, &self.texts).map(|requests| requests.list.clone()) else {
            return false;
        };
        // One that starts nothing has lost what it starts.
        if list.is_empty() && self.document.names.call(event.call) == "MPI_Start" {
            return false;
        }
        let process = (event.case, event.pid);
        for request in &list {
            let Request::Persistent(number) = *request else { return false };
            let Some(prepared) = self.begun.prepared(process, number) else { return false };
            let Some(known) = started(self.document.names.call(prepared.call)) else { return false };
            // Of several it is not told what each gets; of one that all make together not even what it gives.
            let (sent, received) = if list.len() == 1 {
                (event.sent, event.received)
            } else {
                (prepared.sent, prepared.received)
            };
            if list.len() > 1 && matches!(known, Known::Collective(..)) {
                return false;
            }
            let Event { comm, peer, tag, .. } = prepared;
            let own = Event { comm, peer, tag, sent, received, ..*event };
            let before = self.calls.len();
            let number_of = comm.get().unwrap_or(WORLD);
            let made = match self.communicators.member(process, number_of) {
                Some(member) => self.call((number_of, member), &own, known),
                None => Err(Reason::Communicator),
            };
            match made {
                Ok((call, action)) => self.push(&own, call, action),
                Err(reason) => self.reading.leave_out(event, reason),
            }
            self.begun.starts(process, number, self.last_call(before));
        }
        true
    }

    /// Makes what a call about messages comes to where senders decide; whether it is such a call.
    fn coordinate(
        &mut self,
        member: Member,
        line: u32,
        event: &Event,
        (known, place): (Known, &Place),
    ) -> bool {
        match known {
            Known::Send(..) | Known::Buffered | Known::Exchange => {
                let bytes = event.sent.get().and_then(|sent| u64::try_from(sent).ok()).unwrap_or_default();
                let buffered = known == Known::Buffered;
                match self.sends_over_world(member, event, bytes) {
                    Ok(peer) => {
                        let (comm, mode, tag) = (WORLD, SendMode::Standard, event.tag.get().unwrap_or(-1));
                        let send = MpiCall::Send { comm, mode, begin: true, buffered, bytes, peer, tag };
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
            self.push(event, MpiCall::Receive { comm: WORLD, begin: false, peer, tag }, CallAction::Stat);
        }
    }

    fn call(
        &mut self,
        (comm, member): (i32, Member),
        event: &Event,
        known: Known,
    ) -> Result<(MpiCall, CallAction), Reason> {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let (peer, tag) = (event.peer.get(), event.tag.get().unwrap_or(-1));
        let sent = number(event.sent.get()).unwrap_or_default();
        let call = match known {
            Known::Send(mode, begin) => {
                let peer = self.sends(member, event, sent)?;
                self.turn(event, || Turn::Send((member.group, member.rank, peer, tag)));
                MpiCall::Send { comm, mode, begin, buffered: false, bytes: sent, peer, tag }
            }
            Known::Buffered => {
                let (mode, peer) = (SendMode::Standard, self.sends(member, event, sent)?);
                self.turn(event, || Turn::Send((member.group, member.rank, peer, tag)));
                MpiCall::Send { comm, mode, begin: true, buffered: true, bytes: sent, peer, tag }
            }
            Known::Receive(begin) => {
                let peer = peer.ok_or(Reason::Unknown)?;
                if peer >= 0 && tag >= 0 {
                    let way = (member.group, peer as u32, member.rank as i32, tag);
                    *self.exchanges.receives.entry(way).or_default() += 1;
                    if !begin {
                        self.turn(event, || Turn::Receive(way));
                    }
                }
                MpiCall::Receive { comm, begin, peer, tag }
            }
            Known::Exchange => {
                let to = (self.sends(member, event, sent)?, tag);
                let received = number(event.received.get());
                let exchange =
                    Exchange { member: (member.group, member.rank), call: self.calls.len(), received, tag };
                self.exchanges.exchanges.push(exchange);
                let call = self.calls.len();
                self.turn(event, || Turn::Exchange((member.group, member.rank, to.0, tag), call));
                MpiCall::Exchange { comm, bytes: sent, to, from: (-2, -1) }
            }
            Known::Probe => MpiCall::Probe { comm, peer: peer.ok_or(Reason::Unknown)?, tag },
            Known::Collective(call, begin) => {
                let ranks = self.communicators.size(member).into();
                let bytes = part(call, event, ranks);
                if !begin {
                    self.turn(event, || Turn::Meet(member.group, ranks as u32));
                }
                self.needs(bytes.saturating_mul(ranks));
                MpiCall::Collective { comm, call, begin, bytes, root: peer.unwrap_or_default() }
            }
            Known::Wait(wanted) => MpiCall::Wait(wanted),
            Known::Test => MpiCall::Test,
            Known::Makes(_) => {
                let Split { color, key, number } =
                    self.communicators.split(event.case, event.seq).ok_or(Reason::Communicator)?;
                MpiCall::Split { comm, color, key, number }
            }
            Known::Frees if comm > SELF => MpiCall::Free(comm),
            Known::Frees => return Err(Reason::Unsupported),
            _ => return self.of_file(comm, event, known),
        };
        Ok((call, CallAction::Stat))
    }

    fn turn(&mut self, event: &Event, turn: impl FnOnce() -> Turn) {
        if let Some(partners) = &mut self.partners {
            partners.add((event.case, event.tid), turn());
        }
    }

    /// Notes a message that goes over the communicator of all ranks; to whom.
    fn sends_over_world(&mut self, member: Member, event: &Event, bytes: u64) -> Result<i32, Reason> {
        match self.sends(member, event, bytes)? {
            peer if peer < 0 => Ok(peer),
            peer => {
                let partner = self.world.partner(member, peer).ok_or(Reason::Communicator)?;
                Ok(partner as i32)
            }
        }
    }

    /// Notes a message; to whom.
    fn sends(&mut self, member: Member, event: &Event, bytes: u64) -> Result<i32, Reason> {
        let peer = event.peer.get().ok_or(Reason::Unknown)?;
        self.needs(bytes);
        let exchanged = self.known[event.call.index()] == Known::Exchange;
        let sent = Sent { start: event.start.0, bytes, exchanged };
        let way = (member.group, member.rank, peer, event.tag.get().unwrap_or_default());
        self.exchanges.sent.entry(way).or_default().push(sent);
        Ok(peer)
    }

    fn of_file(&mut self, comm: i32, event: &Event, known: Known) -> Result<(MpiCall, CallAction), Reason> {
        let file = self.reading.name(event.path.get().ok_or(Reason::Unknown)?)?;
        let is_open = match known {
            Known::Open => {
                self.open.insert((event.case, file));
                true
            }
            _ => self.open.contains(&(event.case, file)),
        };
        if !is_open {
            // What opened it was left out.
            return Err(Reason::Communicator);
        }
        let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
        Ok(match known {
            Known::Open => (MpiCall::Open { comm, file }, CallAction::Open(mode)),
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
            MpiCall::Open { file, .. }
            | MpiCall::Sync(file)
            | MpiCall::Close(file)
            | MpiCall::Transfer { file, .. } => file,
            _ => self.reading.root(),
        };
        let step = call_of(event, name, None, action);
        self.reading.push(Step { call: step, act: Act::Other(self.calls.len()), name, error: None });
        self.calls.push(call);
    }
}
