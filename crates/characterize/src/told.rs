//! What calls tell of the order of ranks: messages of MPI, begun and completed, and bytes that pass through pipes.

use iotrail_model::calls::{CallKind, PerCall, mpi};
use iotrail_model::requests::{Request, Requests};
use iotrail_model::{CallId, EventBatch, FileId, FlagsId, Layer, Names, Nullable, Tid};
use iotrail_mpi_abi::RequestUse;
use std::collections::HashMap;

/// What a call of MPI does to messages and requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    message: Option<mpi::Way>,
    role: mpi::Role,
    /// Whether it is a collective call that orders ranks in a way that is not modelled.
    collective: bool,
    requests: RequestUse,
}

impl Use {
    pub(crate) fn of_calls(names: &Names) -> PerCall<Self> {
        PerCall::new(&names.calls, |call| Self {
            message: is_half(call.name).then(|| mpi::way(call.name)),
            role: mpi::role(call.name),
            collective: is_collective(call.name),
            requests: RequestUse::of(call.name),
        })
    }
}

/// Whether the call of that name gives or gets a message, and does not only look whether one is there.
fn is_half(name: &str) -> bool {
    const LOOK: [&str; 3] = ["MPI_Probe", "MPI_Iprobe", "MPI_Improbe"];
    mpi::is_message(name) && !LOOK.contains(&name)
}

fn is_collective(name: &str) -> bool {
    mpi::role(name) == mpi::Role::Other && (mpi::exchanges(name) || name == "MPI_Ibarrier")
}

/// A call that orders ranks, or could.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    /// Of MPI.
    Mpi { comm: Nullable<i32>, peer: Nullable<i32>, tag: Nullable<i32>, args: Nullable<FlagsId> },
    /// The end of the process of this number was noticed.
    Child(u32),
    /// So many bytes went into a pipe, or out of it.
    Pipe { pipe: FileId, bytes: i64, into: bool },
}

impl Told {
    /// What a row tells; `is_pipe` is whether a file is one.
    pub(crate) fn of_row(
        batch: &EventBatch,
        at: usize,
        (uses, kinds): (&PerCall<Use>, &PerCall<CallKind>),
        is_pipe: impl Fn(FileId) -> bool,
    ) -> Option<Self> {
        if !batch.errno[at].is_null() {
            return None;
        }
        match batch.layer[at] {
            Layer::Mpi | Layer::Mpiio => {
                let of = uses.of(batch.call[at]);
                let rooted = matches!(of.role, mpi::Role::FromRoot | mpi::Role::ToRoot);
                let tells =
                    of.message.is_some() || rooted || of.collective || of.requests != RequestUse::None;
                tells.then(|| Self::Mpi {
                    comm: batch.comm[at],
                    peer: batch.peer[at],
                    tag: batch.tag[at],
                    args: batch.args[at],
                })
            }
            Layer::Syscall => {
                let into = match kinds.of(batch.call[at]) {
                    CallKind::Read => false,
                    CallKind::Write => true,
                    CallKind::WaitChild => {
                        let child = batch.ret[at].get().and_then(|pid| u32::try_from(pid).ok());
                        return child.filter(|pid| *pid > 0).map(Self::Child);
                    }
                    _ => return None,
                };
                let pipe = batch.file[at].get().filter(|file| is_pipe(*file))?;
                let bytes = batch.size[at].get().filter(|bytes| *bytes > 0)?;
                Some(Self::Pipe { pipe, bytes, into })
            }
            Layer::Posix | Layer::Libc => None,
        }
    }
}

/// When a rank does something: after so many calls about files, and barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// Calls about files before it, or requests.
    pub(crate) position: usize,
    pub(crate) barriers: usize,
    /// In ns: when what is given is given at the earliest, what is got is there at the latest.
    pub(crate) time: i64,
}

/// A message that a rank gives or gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half {
    pub(crate) peer: u32,
    /// NULL is any.
    pub(crate) tag: Option<i32>,
    pub(crate) moment: Moment,
}

/// Bytes that a rank puts into a pipe, or takes out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piped {
    pub(crate) pipe: FileId,
    pub(crate) bytes: i64,
    pub(crate) moment: Moment,
}

/// A collective call of all ranks that has a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rooted {
    pub(crate) root: u32,
    /// Whether the root gives, and all others get.
    pub(crate) from_root: bool,
    pub(crate) begins: Moment,
    pub(crate) ends: Moment,
}

/// All that a rank tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rank {
    pub(crate) given: Vec<Half>,
    pub(crate) got: Vec<Half>,
    pub(crate) into_pipes: Vec<Piped>,
    pub(crate) out_of_pipes: Vec<Piped>,
    /// Collective calls of all ranks that have a root.
    pub(crate) rooted: Vec<Rooted>,
    /// Messages of other communicators.
    pub(crate) elsewhere: u64,
    /// Messages that it gets from a rank that nobody recorded, with their tags; NULL is any.
    pub(crate) from_anybody: Vec<(Option<i32>, Moment)>,
    /// Collective calls whose order is not modelled.
    pub(crate) collective: u64,
}

impl Rank {
    /// The same with other positions, and other numbers of ranks: halves with ranks that have none are left out.
    pub(crate) fn mapped(
        mut self,
        position: impl Fn(usize) -> usize,
        rank: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let place = |moment: Moment| Moment { position: position(moment.position), ..moment };
        for halves in [&mut self.given, &mut self.got] {
            let mapped = halves.iter().filter_map(|half| {
                Some(Half { peer: rank(half.peer)?, moment: place(half.moment), ..*half })
            });
            *halves = mapped.collect();
        }
        let rooted = self.rooted.iter().filter_map(|call| {
            let root = rank(call.root)?;
            Some(Rooted { root, begins: place(call.begins), ends: place(call.ends), ..*call })
        });
        self.rooted = rooted.collect();
        self.from_anybody.iter_mut().for_each(|(_, moment)| *moment = place(*moment));
        for piped in self.into_pipes.iter_mut().chain(&mut self.out_of_pipes) {
            piped.moment = place(piped.moment);
        }
        self
    }
}

/// A message that a rank awaits: from whom, NULL if that is anybody, and its tag.
type Awaited = (Option<u32>, Option<i32>);

/// A call of MPI.
#[derive(Clone, Copy)]
struct MpiCall<'a> {
    uses: Use,
    requests: &'a [Request],
    partner: Option<u32>,
    from_any: bool,
    tag: Option<i32>,
    in_world: bool,
    begins: Moment,
    ends: Moment,
}

impl MpiCall<'_> {
    /// Which way a message goes; NULL is also one to nobody, and one that was looked for before and has no partner here.
    fn way(&self) -> Option<mpi::Way> {
        self.uses.message.filter(|_| self.in_world && (self.partner.is_some() || self.from_any))
    }

    /// The same with the partner, if that is known.
    fn known(&self) -> Option<(mpi::Way, u32)> {
        self.way().zip(self.partner)
    }

    /// What it gets; of an exchange only the one is known who is given something.
    fn awaits(&self) -> Option<Awaited> {
        match self.way()? {
            mpi::Way::To => None,
            mpi::Way::From => Some((self.partner, self.tag)),
            mpi::Way::Both => Some((None, None)),
        }
    }
}

/// What a rank tells, while its calls are gone through.
pub(crate) struct Listener<'a> {
    texts: &'a [Option<Requests<'a>>],
    uses: &'a PerCall<Use>,
    rank: Rank,
    /// Of each thread the requests that it began; those that get a message.
    begun: HashMap<Tid, Vec<Option<Awaited>>>,
    /// Persistent requests, by their numbers: which way, partner and tag.
    persistent: HashMap<u32, (mpi::Way, u32, Option<i32>)>,
}

/// What a call says of requests, by the number of its text.
pub(crate) fn texts(names: &Names) -> Vec<Option<Requests<'_>>> {
    names.flags.iter().map(|text| Requests::parse(text)).collect()
}

/// The communicator of all ranks.
const WORLD: i32 = 0;
/// Any rank, as a partner.
const ANY: i32 = -1;

impl<'a> Listener<'a> {
    pub(crate) fn new(texts: &'a [Option<Requests<'a>>], uses: &'a PerCall<Use>) -> Self {
        Self { texts, uses, rank: Rank::default(), begun: HashMap::new(), persistent: HashMap::new() }
    }

    pub(crate) fn into_rank(self) -> Rank {
        self.rank
    }

    /// Takes a call of a thread; `before` are calls about files and barriers before it. Answers whether the rank may have waited in it.
    pub(crate) fn tell(
        &mut self,
        told: Told,
        thread: (Tid, CallId),
        before: (usize, usize),
        (start, end): (i64, Nullable<i64>),
    ) -> bool {
        let moment = |time| Moment { position: before.0, barriers: before.1, time };
        let (begins, ends) = (moment(start), moment(end.get().unwrap_or(i64::MAX)));
        match told {
            Told::Mpi { comm, peer, tag, args } => {
                let (uses, texts) = (self.uses.of(thread.1), self.texts);
                let requests = args.get().and_then(|text| texts.get(text.index())?.as_ref());
                let call = MpiCall {
                    uses,
                    requests: requests.map_or(&[][..], |requests| &requests.list),
                    partner: peer.get().and_then(|peer| u32::try_from(peer).ok()),
                    from_any: peer.get() == Some(ANY),
                    tag: tag.get().filter(|tag| *tag >= 0),
                    in_world: comm.get().is_none_or(|comm| comm == WORLD),
                    begins,
                    ends,
                };
                self.tell_mpi(thread.0, call)
            }
            Told::Child(_) => true,
            Told::Pipe { pipe, bytes, into: true } => {
                self.rank.into_pipes.push(Piped { pipe, bytes, moment: begins });
                false
            }
            Told::Pipe { pipe, bytes, into: false } => {
                self.rank.out_of_pipes.push(Piped { pipe, bytes, moment: ends });
                true
            }
        }
    }

    fn tell_mpi(&mut self, tid: Tid, call: MpiCall<'_>) -> bool {
        self.rank.collective += u64::from(call.uses.collective);
        if let (Some(root), mpi::Role::FromRoot | mpi::Role::ToRoot) = (call.partner, call.uses.role) {
            let from_root = call.uses.role == mpi::Role::FromRoot;
            let rooted = Rooted { root, from_root, begins: call.begins, ends: call.ends };
            self.rank.elsewhere += u64::from(!call.in_world);
            self.rank.rooted.extend(call.in_world.then_some(rooted));
            return call.in_world;
        }
        self.rank.elsewhere += u64::from(call.uses.message.is_some() && !call.in_world);
        match call.uses.requests {
            RequestUse::MakesPersistent => {
                if let ([Request::Persistent(number)], Some((way, partner))) = (call.requests, call.known()) {
                    self.persistent.insert(*number, (way, partner, call.tag));
                }
                false
            }
            RequestUse::Starts => {
                for request in call.requests {
                    let Request::Persistent(number) = request else { continue };
                    if let Some((mpi::Way::To, peer, tag)) = self.persistent.get(number).copied() {
                        self.rank.given.push(Half { peer, tag, moment: call.begins });
                    }
                }
                false
            }
            RequestUse::Completes => {
                call.requests.iter().for_each(|request| self.complete(*request, tid, call.ends));
                true
            }
            RequestUse::Makes => {
                self.give(&call);
                self.begun.entry(tid).or_default().push(call.awaits());
                false
            }
            RequestUse::None | RequestUse::Frees | RequestUse::Names => {
                self.give(&call);
                let awaited = call.awaits();
                self.get(awaited, call.ends);
                awaited.is_some()
            }
        }
    }

    fn give(&mut self, call: &MpiCall<'_>) {
        if let Some((mpi::Way::To | mpi::Way::Both, peer)) = call.known() {
            self.rank.given.push(Half { peer, tag: call.tag, moment: call.begins });
        }
    }

    fn get(&mut self, awaited: Option<Awaited>, moment: Moment) {
        match awaited {
            Some((Some(peer), tag)) => self.rank.got.push(Half { peer, tag, moment }),
            Some((None, tag)) => self.rank.from_anybody.push((tag, moment)),
            None => {}
        }
    }

    fn complete(&mut self, request: Request, tid: Tid, ends: Moment) {
        let got = match request {
            Request::Age(age) => self.begun.get_mut(&tid).and_then(|begun| {
                let place = begun.len().checked_sub(age as usize + 1)?;
                begun.get_mut(place)?.take()
            }),
            Request::Persistent(number) => match self.persistent.get(&number) {
                Some((mpi::Way::From, peer, tag)) => Some((Some(*peer), *tag)),
                _ => None,
            },
            Request::Elsewhere => None,
        };
        self.get(got, ends);
    }
}
