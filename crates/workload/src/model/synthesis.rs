//! What one rank does, request for request.
//!
//! Draws are stratified: of m draws a value with weight c of N is drawn ⌊mc/N⌋ times or once more, by the largest remainder, so
//! counts do not depend on chance. Their order is that of a generator keyed by seed, rank, file, session and occurrence:
//! more ranks change nothing that the others do.
//!
//! Source: PIONEER, algorithm 1, whose draws are independent.

use super::drawn::WHOLE;
use super::offsets::Placer;
use super::{
    FileKind, MessageHalf, Mode, Model, ModelFile, ModelSession, NameCall, OffsetLaw, ProgramStep, Ratio,
    RequestKind, Sharing,
};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;

/// What is done to a file, or for synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The file of that index is opened.
    Open {
        /// Index of the file.
        file: usize,
        /// Which of the files of that name, from 0.
        number: u64,
        /// How.
        mode: Mode,
    },
    /// A transfer at an offset, of so many bytes.
    Transfer {
        /// Read or write.
        kind: RequestKind,
        /// In bytes.
        offset: u64,
        /// In bytes.
        size: u64,
    },
    /// Another request through the descriptor.
    Request(RequestKind),
    /// The file is closed.
    Close,
    /// A call that names a file.
    Call {
        /// Which.
        call: NameCall,
        /// Index of the file.
        file: usize,
        /// Which of the files of that name, from 0.
        number: u64,
        /// The file whose name it gets, if it renames it to one, and which of that name.
        to: Option<(usize, u64)>,
    },
    /// The ranks of the group of that index wait for each other.
    Barrier(usize),
    /// Nothing, when its slack is over.
    Pause,
    /// Waits until another rank has closed an execution of a session.
    After {
        /// The other rank.
        rank: u32,
        /// Index of the file.
        file: usize,
        /// Index of the session.
        session: usize,
        /// Which of the executions of that rank, from 0.
        execution: u64,
    },
    /// Half of a message.
    Message {
        /// Which half.
        half: MessageHalf,
        /// The other rank.
        rank: u32,
        /// Which of the messages that this rank gives that one, or gets from it, from 0.
        number: u64,
    },
}

impl Action {
    /// Whether it is no request: it is about other ranks, or takes time alone.
    #[must_use]
    pub const fn is_no_request(&self) -> bool {
        matches!(self, Self::Pause | Self::Barrier(_) | Self::After { .. } | Self::Message { .. })
    }
}

/// A step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// What is done.
    pub action: Action,
    /// Time before it, in ns.
    pub slack: u64,
    /// How long it takes on average, in ns; 0 if that is unknown.
    pub duration: u64,
    /// Indices of file and session; NULL for what is in none. What is drawn has the number of the drawn session.
    pub of: Option<(usize, usize)>,
    /// The open file description, among those that the rank has open at one time.
    pub open: u32,
}

/// Hands the steps of a rank of so many over, in order, until `each` breaks. Offsets beyond 64 bits are those of 64 bits.
pub fn synthesise<B>(
    model: &Model,
    (rank, ranks): (u32, u32),
    seed: u64,
    each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
) -> ControlFlow<B> {
    // Where all ranks make a call together they wait for each other before it.
    let each = &mut |step: Synthetic| {
        let Some(group) = model.meets_at(&step) else { return each(step) };
        each(Synthetic { action: Action::Barrier(group), duration: 0, of: None, open: 0, ..step })?;
        each(Synthetic { slack: 0, ..step })
    };
    let mut done = Done { follows: model.has_waits(), ..Done::default() };
    let synthesis = Synthesis { model, rank, ranks, seed };
    if let Some(barriers) = &model.path {
        return synthesis.drawn(barriers).into_iter().try_for_each(each);
    }
    synthesis.steps(&model.steps, &mut done, each)?;
    done.running.into_values().try_for_each(|running| running.queue.into_iter().try_for_each(&mut *each))
}

/// What a rank has done so far.
#[derive(Default)]
pub(super) struct Done {
    /// How often each session was begun.
    sessions: BTreeMap<(usize, usize), u64>,
    /// How often each call was made on the files of a name.
    calls: BTreeMap<(usize, NameCall), u64>,
    /// How often any call was.
    all_calls: BTreeMap<usize, u64>,
    /// How often files got the name of each.
    named: BTreeMap<usize, u64>,
    /// Which of the files of a name were made and not taken away.
    made: BTreeMap<usize, BTreeSet<u64>>,
    /// Sessions that are done in parts.
    running: BTreeMap<(usize, usize), Running>,
    /// Whether steps of other ranks are counted.
    follows: bool,
    /// Steps of sessions that were come by, whoever does them: as a whole, and in parts.
    passed: BTreeMap<(usize, usize, Option<usize>), [u64; 2]>,
    /// Messages given to and got from each rank.
    messages: HashMap<(MessageHalf, u32), u64>,
    /// How often steps were come by: of sessions, and of calls behind them.
    steps: BTreeMap<(usize, usize, Option<usize>), u64>,
}

impl Done {
    /// Counts steps that are come by so often, whoever does them.
    fn pass_by(&mut self, steps: &[ProgramStep], times: u64) {
        if !self.follows {
            return;
        }
        for step in steps {
            let (key, [whole, parts]) = match *step {
                ProgramStep::Repeat(more, ref steps) => {
                    self.pass_by(steps, times.saturating_mul(more));
                    continue;
                }
                ProgramStep::Session { file, session, ranks } => ((file, session, ranks), [times, 0]),
                ProgramStep::Part { file, session, ranks, steps } => {
                    ((file, session, ranks), [0, times.saturating_mul(steps)])
                }
                _ => continue,
            };
            let passed = self.passed.entry(key).or_default();
            *passed = [passed[0].saturating_add(whole), passed[1].saturating_add(parts)];
        }
    }

    /// Which of the files of a name, of which there are so many, others get the name of now.
    fn next_named(&mut self, file: usize, count: u64) -> u64 {
        let before = self.named.entry(file).or_insert(0);
        *before += 1;
        let number = (*before - 1) % count.max(1);
        self.make(file, number);
        number
    }

    fn make(&mut self, file: usize, number: u64) {
        self.made.entry(file).or_default().insert(number);
    }

    /// The file of a name that something is done to that needs it, for the `before`-th time: one that was made and not taken away, the last one
    /// where that is not the next one in turn.
    fn number(&self, file: usize, model: &ModelFile, before: u64) -> u64 {
        let number = before % model.count.max(1);
        let made = self.made.get(&file).filter(|made| !model.is_full() && !made.contains(&number));
        made.and_then(|made| made.last()).copied().unwrap_or(number)
    }

    /// How often the step that comes now is done.
    fn times(&mut self, ratio: Ratio, step: (usize, usize, Option<usize>)) -> u64 {
        if ratio == Ratio::ONE {
            return 1;
        }
        let before = self.steps.entry(step).or_insert(0);
        *before += 1;
        ratio.at(*before - 1)
    }
}

/// A session that is done in parts.
struct Running {
    queue: VecDeque<Synthetic>,
    /// Steps of it in all: as the program counts them, and as they are for this rank.
    steps: [u64; 2],
    /// Steps that were done, as the program counts them.
    done: u64,
}

impl Running {
    /// The next steps, as the program counts them.
    fn next(&mut self, steps: u64) -> impl Iterator<Item = Synthetic> {
        self.done = self.done.saturating_add(steps).min(self.steps[0]);
        let behind = u128::from(self.steps[1]) * u128::from(self.done) / u128::from(self.steps[0].max(1));
        let left = u128::from(self.steps[1]) - behind;
        let now = (self.queue.len() as u128).saturating_sub(left) as usize;
        self.queue.drain(..now)
    }
}

pub(super) struct Synthesis<'a> {
    pub(super) model: &'a Model,
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) seed: u64,
}

/// A transfer of a session.
#[derive(Clone, Copy)]
struct Transfer {
    kind: RequestKind,
    offset: u64,
    size: u64,
}

impl Synthesis<'_> {
    fn steps<B>(
        &self,
        steps: &[ProgramStep],
        done: &mut Done,
        each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for (at, step) in steps.iter().enumerate() {
            if done.follows {
                self.pass((step, &steps[at + 1..]), done, each)?;
            }
            match step {
                ProgramStep::Repeat(times, steps) if !self.acts(steps) => done.pass_by(steps, *times),
                ProgramStep::Repeat(times, steps) => {
                    (0..*times).try_for_each(|_| self.steps(steps, done, each))?;
                }
                ProgramStep::Session { file, session, ranks } if self.does(*file, *ranks) => {
                    if let Some(before) = done.running.remove(&(*file, *session)) {
                        before.queue.into_iter().try_for_each(&mut *each)?;
                    }
                    for _ in 0..done.times(self.model.files[*file].times, (*file, *session, *ranks)) {
                        let execution = self.execution(*file, *session, *ranks, done);
                        execution.into_iter().try_for_each(&mut *each)?;
                    }
                }
                ProgramStep::Part { file, session, ranks, steps } if self.does(*file, *ranks) => {
                    self.part((*file, *session, *ranks), *steps, done, each)?;
                }
                ProgramStep::Call { call, file, ranks, to } if self.does(*file, *ranks) => {
                    let model = &self.model.files[*file];
                    for _ in 0..done.times(model.times_of(*call), (*file, OF_CALLS - *call as usize, *ranks))
                    {
                        let calls = done.calls.entry((*file, *call)).or_insert(0);
                        *calls += 1;
                        let before = *calls - 1;
                        let number = if *call == NameCall::MakeDirectory {
                            let number = before % model.count.max(1);
                            done.make(*file, number);
                            number
                        } else {
                            done.number(*file, model, before)
                        };
                        if call.takes_name(to.is_some()) {
                            done.made.entry(*file).or_default().remove(&number);
                        }
                        let to = to.map(|to| (to, done.next_named(to, self.model.files[to].count)));
                        let action = Action::Call { call: *call, file: *file, number, to };
                        let all = done.all_calls.entry(*file).or_insert(0);
                        let slack = model.slack_of_call(*all);
                        *all += 1;
                        each(Synthetic { action, slack, duration: 0, of: None, open: 0 })?;
                    }
                }
                ProgramStep::Barrier(group) if self.model.groups[*group].contains(self.rank) => {
                    let action = Action::Barrier(*group);
                    each(Synthetic { action, slack: 0, duration: 0, of: None, open: 0 })?;
                }
                ProgramStep::Pause { ns, ranks } if self.is_of(*ranks) => {
                    each(Synthetic { action: Action::Pause, slack: *ns, duration: 0, of: None, open: 0 })?;
                }
                ProgramStep::Message { half, partner, ranks } if self.is_of(*ranks) => {
                    for rank in partner.ranks(&self.model.groups, self.rank, self.ranks) {
                        let before = done.messages.entry((*half, rank)).or_insert(0);
                        let action = Action::Message { half: *half, rank, number: *before };
                        *before += 1;
                        each(Synthetic { action, slack: 0, duration: 0, of: None, open: 0 })?;
                    }
                }
                ProgramStep::Session { .. }
                | ProgramStep::Part { .. }
                | ProgramStep::Call { .. }
                | ProgramStep::After { .. }
                | ProgramStep::Message { .. }
                | ProgramStep::Pause { .. }
                | ProgramStep::Barrier(_) => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// Counts a step, whoever does it, and waits for what others have done.
    fn pass<B>(
        &self,
        (step, behind): (&ProgramStep, &[ProgramStep]),
        done: &mut Done,
        each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match *step {
            ProgramStep::Session { .. } | ProgramStep::Part { .. } => {
                done.pass_by(std::slice::from_ref(step), 1);
            }
            ProgramStep::After { file, session, of, ranks } if self.is_of(ranks) => {
                let is_between = |step: &&ProgramStep| {
                    matches!(step, ProgramStep::After { .. } | ProgramStep::Pause { .. })
                };
                let turn = behind.iter().find(|step| !is_between(step));
                for rank in of.ranks(&self.model.groups, self.rank, self.ranks) {
                    let turn = turn.filter(|_| rank < self.rank);
                    let ended = self.ended((file, session), rank, turn, done);
                    if let Some(execution) = ended.checked_sub(1) {
                        let action = Action::After { rank, file, session, execution };
                        each(Synthetic { action, slack: 0, duration: 0, of: None, open: 0 })?;
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// How many executions of a session a rank has ended where this one is, and after the step whose turn it is, if that is such a one.
    fn ended(
        &self,
        (file, session): (usize, usize),
        rank: u32,
        turn: Option<&ProgramStep>,
        done: &Done,
    ) -> u64 {
        let model = &self.model.files[file];
        let counted = model.sessions[session].counted().max(1);
        let turn = match turn {
            Some(ProgramStep::Session { file: of_file, session: of_session, ranks })
                if (*of_file, *of_session) == (file, session) =>
            {
                Some(*ranks)
            }
            _ => None,
        };
        let mut passed: BTreeMap<Option<usize>, u64> = BTreeMap::new();
        for ((of_file, of_session, ranks), [whole, parts]) in &done.passed {
            if (*of_file, *of_session) == (file, session) {
                *passed.entry(*ranks).or_default() += whole + parts / counted;
            }
        }
        if let Some(ranks) = turn {
            *passed.entry(ranks).or_default() += 1;
        }
        let own = passed.into_iter().filter(|(ranks, _)| self.model.does(rank, file, *ranks));
        own.fold(0, |sum, (_, steps)| sum.saturating_add(model.times.of(steps).unwrap_or(u64::MAX)))
    }

    /// The next steps of a session, and of the one that follows if it is over.
    fn part<B>(
        &self,
        (file, session, ranks): (usize, usize, Option<usize>),
        mut steps: u64,
        done: &mut Done,
        each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        while steps > 0 {
            let mut running = match done.running.remove(&(file, session)) {
                Some(running) => running,
                None => {
                    // Of several executions all but the last one are done as a whole.
                    let times = done.times(self.model.files[file].times, (file, session, ranks));
                    for _ in 1..times {
                        self.execution(file, session, ranks, done).into_iter().try_for_each(&mut *each)?;
                    }
                    let last =
                        if times > 0 { self.execution(file, session, ranks, done) } else { Vec::new() };
                    let queue: VecDeque<Synthetic> = last.into();
                    let counted = self.model.files[file].sessions[session].counted();
                    Running { steps: [counted, queue.len() as u64], queue, done: 0 }
                }
            };
            let now = steps.min(running.steps[0] - running.done);
            steps -= now;
            running.next(now).try_for_each(&mut *each)?;
            if running.done < running.steps[0] {
                done.running.insert((file, session), running);
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether the rank does any of these steps; loops of others are not gone through.
    fn acts(&self, steps: &[ProgramStep]) -> bool {
        steps.iter().any(|step| match step {
            ProgramStep::Repeat(times, steps) => *times > 0 && self.acts(steps),
            ProgramStep::Session { file, ranks, .. }
            | ProgramStep::Part { file, ranks, .. }
            | ProgramStep::Call { file, ranks, .. } => self.does(*file, *ranks),
            ProgramStep::Barrier(group) => self.model.groups[*group].contains(self.rank),
            ProgramStep::Pause { ranks, .. } => self.is_of(*ranks),
            ProgramStep::Message { partner: of, ranks, .. } | ProgramStep::After { of, ranks, .. } => {
                self.is_of(*ranks) && of.count(&self.model.groups, self.rank, self.ranks) > 0
            }
        })
    }

    /// Whether the rank is in the group of that index; NULL is that of all.
    fn is_of(&self, group: Option<usize>) -> bool {
        group.is_none_or(|group| self.model.groups[group].contains(self.rank))
    }

    pub(super) fn does(&self, file: usize, ranks: Option<usize>) -> bool {
        self.model.does(self.rank, file, ranks)
    }

    /// All steps of the next execution of a session.
    pub(super) fn execution(
        &self,
        file: usize,
        number: usize,
        ranks: Option<usize>,
        done: &mut Done,
    ) -> Vec<Synthetic> {
        let occurrences = done.sessions.entry((file, number)).or_insert(0);
        let occurrence = *occurrences;
        *occurrences += 1;
        let model = &self.model.files[file];
        let session = &model.sessions[number];
        let count = model.count.max(1);
        let execution = occurrence / count;
        let of_name = if session.mode.create {
            let of_name = occurrence % count;
            done.make(file, of_name);
            of_name
        } else {
            done.number(file, model, occurrence)
        };
        let key = |rank: u32| [self.seed, u64::from(rank), file as u64, number as u64, occurrence];
        let base = self.model.ranks.filter(|_| self.model.is_dealt(file));
        let (transfers, others) = match base {
            None => {
                let own = transfers(session, (self.rank, self.ranks), execution, &key(self.rank));
                let order = ordered(session);
                return self.placed((session, of_name), (file, number), &own, order, &key(self.rank));
            }
            Some(base) => {
                let of = |rank: u32| transfers(session, (rank, base), execution, &key(rank));
                let members = (0..base).filter(|rank| self.model.does(*rank, file, ranks));
                let dealt = deal(session, &members.map(of).collect::<Vec<_>>());
                (self.own_of(&dealt, session, file, ranks), &session.requests)
            }
        };
        let mut requests: BTreeMap<RequestKind, u64> = others
            .iter()
            .filter(|(kind, _)| !kind.is_transfer())
            .map(|(kind, count)| (*kind, *count))
            .collect();
        for transfer in &transfers {
            *requests.entry(transfer.kind).or_default() += 1;
        }
        self.placed(
            (session, of_name),
            (file, number),
            &transfers,
            spread(&requests).collect(),
            &key(self.rank),
        )
    }

    /// What this rank gets of transfers that are dealt.
    fn own_of(
        &self,
        dealt: &[Transfer],
        session: &ModelSession,
        file: usize,
        ranks: Option<usize>,
    ) -> Vec<Transfer> {
        let members: Vec<u32> = (0..self.ranks).filter(|rank| self.model.does(*rank, file, ranks)).collect();
        let Some(own) = members.iter().position(|rank| *rank == self.rank) else { return Vec::new() };
        if session.offset.is_interleaved() {
            return dealt.iter().skip(own).step_by(members.len()).copied().collect();
        }
        let bound = |member: usize| (dealt.len() as u128 * member as u128 / members.len() as u128) as usize;
        dealt[bound(own)..bound(own + 1)].to_vec()
    }

    /// Open, requests and close of a session whose transfers are known, on the file of its name of that number.
    fn placed(
        &self,
        (session, of_name): (&ModelSession, u64),
        (file, number): (usize, usize),
        transfers: &[Transfer],
        requests: Vec<RequestKind>,
        key: &[u64; 5],
    ) -> Vec<Synthetic> {
        let mut actions = Vec::with_capacity(requests.len() + 2);
        actions.push(Action::Open { file, number: of_name, mode: session.mode });
        let mut left = transfers.iter();
        actions.extend(requests.into_iter().filter_map(|kind| match kind {
            kind if kind.is_transfer() => {
                let Transfer { kind, offset, size } = *left.next()?;
                Some(Action::Transfer { kind, offset, size })
            }
            kind => Some(Action::Request(kind)),
        }));
        actions.push(Action::Close);
        let slacks = systematic(&session.slack, actions.len(), &mut Random::of(&[key, &[1][..]].concat()));
        let step = |(action, slack)| Synthetic {
            action,
            slack,
            duration: session.duration,
            of: Some((file, number)),
            open: self.model.open_number(file, number),
        };
        actions.into_iter().zip(slacks).map(step).collect()
    }
}

/// Steps of calls are numbered from here down.
pub(super) const OF_CALLS: usize = usize::MAX;

impl ModelFile {
    /// Whether all files of the name are there before the run, whoever makes them.
    fn is_full(&self) -> bool {
        self.filled || self.size > 0 || self.present || self.kind == FileKind::Absent
    }

    /// How often steps of the program that make this call are done.
    pub(super) fn times_of(&self, call: NameCall) -> Ratio {
        if call.changes_names() {
            self.times
        } else {
            self.times.times(self.call_times).unwrap_or(self.times)
        }
    }
}

impl Model {
    /// Whether a rank does anything to files in a step.
    #[must_use]
    pub fn uses_files(&self, rank: u32, step: &ProgramStep) -> bool {
        match step {
            ProgramStep::Repeat(times, steps) => {
                *times > 0 && steps.iter().any(|step| self.uses_files(rank, step))
            }
            ProgramStep::Session { file, ranks, .. }
            | ProgramStep::Part { file, ranks, .. }
            | ProgramStep::Call { file, ranks, .. } => self.does(rank, *file, *ranks),
            ProgramStep::Barrier(_)
            | ProgramStep::Pause { .. }
            | ProgramStep::After { .. }
            | ProgramStep::Message { .. } => false,
        }
    }

    /// Whether a rank does what the ranks of a group, or all, do to a file.
    pub(super) fn does(&self, rank: u32, file: usize, ranks: Option<usize>) -> bool {
        (rank == 0 || self.files[file].class != Sharing::Root)
            && ranks.is_none_or(|group| self.groups[group].contains(rank))
    }

    /// The number of a session among those of all files.
    fn open_number(&self, file: usize, session: usize) -> u32 {
        self.files[..file].iter().map(|file| file.sessions.len() as u32).sum::<u32>() + session as u32
    }

    /// Whether the transfers of a file are those of the ranks of the recording, whatever the ranks of a run are.
    pub(super) fn is_dealt(&self, file: usize) -> bool {
        self.strong && self.ranks.is_some() && self.files[file].class == Sharing::Shared
    }
}

/// The draws of places have a key of their own, beside those of slack (1).
const OF_PLACES: u64 = 2;

/// The transfers of an execution of a session by a rank of so many, in order; the execution is that of its file, from 0.
fn transfers(
    session: &ModelSession,
    (rank, ranks): (u32, u32),
    execution: u64,
    key: &[u64; 5],
) -> Vec<Transfer> {
    let mut random = Random::of(key);
    let mut sizes: BTreeMap<RequestKind, Vec<u64>> = BTreeMap::new();
    for (&kind, &count) in session.requests.iter().filter(|(kind, _)| kind.is_transfer()) {
        let draws = stratified(session.sizes_of(kind), count).into_iter();
        let mut drawn: Vec<u64> = draws.flat_map(|(size, times)| (0..times).map(move |_| size)).collect();
        match session.runs_of(kind) {
            [] => random.shuffle(&mut drawn),
            runs => {
                drawn = in_order(runs, count).collect();
                drawn.reverse();
            }
        }
        sizes.insert(kind, drawn);
    }
    let count = |kind: RequestKind| session.requests.get(&kind).copied().unwrap_or_default();
    let (reads, writes) = (count(RequestKind::Read), count(RequestKind::Write));
    let of_law = |law, number, part| {
        Placer::new(law, number, (rank, ranks), execution, &[key, &[OF_PLACES + part][..]].concat())
    };
    let apart = session.write_offset.as_ref().filter(|_| writes > 0);
    let mut of_writes = apart.map(|law| of_law(law, writes, 1));
    let mut others = of_law(&session.offset, if apart.is_some() { reads } else { reads + writes }, 0);
    let drawn = ordered(session).into_iter().filter_map(|kind| Some((kind, sizes.get_mut(&kind)?.pop()?)));
    let mut written = 0;
    let place = |(kind, size)| {
        let own = of_writes.as_mut().filter(|_| kind == RequestKind::Write);
        let offset = own.unwrap_or(&mut others).place(size, written);
        if kind == RequestKind::Write {
            written = written.max(offset.saturating_add(size));
        }
        Transfer { kind, offset, size }
    };
    let mut placed = Vec::with_capacity((reads + writes) as usize);
    placed.extend(drawn.map(place));
    exchange(&mut placed, session.random, &mut random);
    placed
}

/// Lets a share of the reads, and of the writes, change their places with each other.
fn exchange(transfers: &mut [Transfer], share: u64, random: &mut Random) {
    for kind in [RequestKind::Read, RequestKind::Write].into_iter().filter(|_| share > 0) {
        let mut all: Vec<usize> = (0..transfers.len()).filter(|at| transfers[*at].kind == kind).collect();
        let count = (all.len() as u128 * u128::from(share) + u128::from(WHOLE / 2)) / u128::from(WHOLE);
        random.shuffle(&mut all);
        all.truncate(count as usize);
        let mut places: Vec<Transfer> = all.iter().map(|at| transfers[*at]).collect();
        random.shuffle(&mut places);
        all.into_iter().zip(places).for_each(|(at, place)| transfers[at] = place);
    }
}

/// So many sizes of runs, which are gone through again and again.
fn in_order(runs: &[(u64, u64)], count: u64) -> impl Iterator<Item = u64> {
    let sizes = runs.iter().cycle().flat_map(|(size, times)| (0..*times).map(move |_| *size));
    sizes.take(count as usize)
}

/// The requests of a session in their order.
fn ordered(session: &ModelSession) -> Vec<RequestKind> {
    if session.order.is_empty() {
        let mut spread: Vec<RequestKind> = spread(&session.requests).collect();
        let first = |wanted| spread.iter().position(|kind| *kind == wanted);
        if let (OffsetLaw::Drawn { written: true, .. }, Some(read), Some(write)) =
            (&session.offset, first(RequestKind::Read), first(RequestKind::Write))
            && read < write
        {
            spread.swap(read, write);
        }
        return spread;
    }
    let rounds = session.rounds().unwrap_or(1);
    let round = || session.order.iter().flat_map(|(kind, count)| (0..*count).map(|_| *kind));
    (0..rounds).flat_map(|_| round()).collect()
}

/// The transfers of all ranks in the order in which they are dealt: in that of the file, or of their turns if ranks take turns.
fn deal(session: &ModelSession, of_ranks: &[Vec<Transfer>]) -> Vec<Transfer> {
    if session.offset.is_interleaved() {
        let longest = of_ranks.iter().map(Vec::len).max().unwrap_or_default();
        return (0..longest)
            .flat_map(|turn| of_ranks.iter().filter_map(move |own| own.get(turn).copied()))
            .collect();
    }
    let mut all = of_ranks.concat();
    all.sort_by_key(|transfer| transfer.offset);
    all
}

/// So many values at equal distances of the cumulated weights, from a random begin, in random order: each value is drawn as often as its
/// weight says, or once more or less.
pub(super) fn systematic(weights: &BTreeMap<u64, u64>, draws: usize, random: &mut Random) -> Vec<u64> {
    let total: u128 = weights.values().map(|&weight| u128::from(weight)).sum();
    if total == 0 || weights.len() == 1 {
        return vec![weights.keys().next().copied().unwrap_or_default(); draws];
    }
    let begin = (u128::from(random.next()) * total) >> 64;
    let mut cumulated = weights.iter().scan(0_u128, |sum, (&value, &weight)| {
        *sum += u128::from(weight);
        Some((*sum, value))
    });
    let (mut behind, mut value) = cumulated.next().unwrap_or_default();
    let mut drawn: Vec<u64> = (0..draws as u128)
        .map(|draw| {
            let place = (begin + draw * total) / draws as u128;
            while place >= behind
                && let Some(next) = cumulated.next()
            {
                (behind, value) = next;
            }
            value
        })
        .collect();
    random.shuffle(&mut drawn);
    drawn
}

/// Requests spread evenly among each other: the j-th of n is at j/n, equal places in the order of kinds.
pub(super) fn spread(requests: &BTreeMap<RequestKind, u64>) -> impl Iterator<Item = RequestKind> {
    let mut left: Vec<(RequestKind, u64, u64)> =
        requests.iter().map(|(&kind, &all)| (kind, 1, all)).collect();
    std::iter::from_fn(move || {
        let place = |&(_, next, all): &(RequestKind, u64, u64)| (u128::from(next), u128::from(all));
        let open = left.iter_mut().filter(|(_, next, all)| next <= all);
        let first = open.min_by(|one, other| {
            let ((next, all), (other_next, other_all)) = (place(one), place(other));
            (next * other_all).cmp(&(other_next * all))
        })?;
        first.1 += 1;
        Some(first.0)
    })
}

/// How often each value is drawn in `draws` draws by weight. Equal remainders favour smaller values.
pub(super) fn stratified(weights: &BTreeMap<u64, u64>, draws: u64) -> Vec<(u64, u64)> {
    let total: u128 = weights.values().map(|&weight| u128::from(weight)).sum();
    if total == 0 {
        return Vec::new();
    }
    let parts = weights.iter().map(|(&value, &weight)| {
        let product = u128::from(weight) * u128::from(draws);
        (value, (product / total) as u64, product % total)
    });
    let mut parts: Vec<(u64, u64, u128)> = parts.collect();
    let missing = draws - parts.iter().map(|(_, count, _)| count).sum::<u64>();
    parts.sort_by_key(|&(value, _, remainder)| (std::cmp::Reverse(remainder), value));
    parts.iter_mut().take(missing as usize).for_each(|(_, count, _)| *count += 1);
    parts.sort_unstable();
    parts.into_iter().map(|(value, count, _)| (value, count)).collect()
}
