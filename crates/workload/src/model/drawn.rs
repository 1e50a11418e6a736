//! A path that is drawn: sessions of each file alone, merged by position, with calls that name files between them.
//!
//! Draws are independent. They are keyed by seed, rank, file, number of the file and session, so that more ranks change no draw
//! of the others.
//!
//! Source: PIONEER, algorithm 1 and section V-D.

use super::synthesis::{Done, Synthesis};
use super::{
    Action, FileKind, Mode, Model, NameCall, PathBarrier, RequestKind, Sharing, Statistics, Synthetic,
    TooMuch, Totals, synthesise,
};
use crate::merge::merge;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

/// The whole of a path, in the unit of [`PathBarrier::at`].
pub(super) const WHOLE: u64 = 1_000_000;
/// Steps of all ranks that are counted at most.
const MOST: u64 = 1 << 31;
/// What keys draws that are of no session.
const OF_NO_SESSION: u64 = u64::MAX;

/// Values that are drawn by weight.
struct Sampler<T> {
    values: Vec<T>,
    cumulated: Vec<u64>,
}

impl<T: Copy> Sampler<T> {
    fn of(weights: impl Iterator<Item = (T, u64)>) -> Self {
        let (mut values, mut cumulated, mut sum) = (Vec::new(), Vec::new(), 0_u64);
        for (value, weight) in weights.filter(|(_, weight)| *weight > 0) {
            sum = sum.saturating_add(weight);
            values.push(value);
            cumulated.push(sum);
        }
        Self { values, cumulated }
    }

    fn of_map<K: Copy + Into<T>>(weights: &BTreeMap<K, u64>) -> Self {
        Self::of(weights.iter().map(|(value, weight)| ((*value).into(), *weight)))
    }

    /// NULL if there is no value.
    fn draw(&self, random: &mut Random) -> Option<T> {
        match &self.values[..] {
            [] => None,
            [value] => Some(*value),
            values => {
                let place = random.below(self.cumulated.last().copied().unwrap_or(1) as usize) as u64;
                values.get(self.cumulated.partition_point(|behind| *behind <= place)).copied()
            }
        }
    }
}

/// What is drawn of [`Statistics`].
struct Samplers {
    files: Sampler<u64>,
    sessions: Sampler<u64>,
    depth: Sampler<u64>,
    first_gap: Sampler<u64>,
    session_gap: Sampler<i64>,
    request_gap: Sampler<u64>,
    /// With what is requested if a file is opened so.
    modes: Sampler<usize>,
    of_modes: Vec<(Mode, Sampler<RequestKind>)>,
    sizes: [Sampler<u64>; 2],
    offsets: [Sampler<u64>; 2],
    pairs: [u64; 2],
    file_size: u64,
    slack: Sampler<u64>,
    duration: u64,
}

impl Samplers {
    fn of(statistics: &Statistics) -> Self {
        let possible = |mode: Mode, kind: RequestKind| match kind {
            RequestKind::Read => mode.read,
            RequestKind::Write | RequestKind::Truncate => mode.write,
            _ => true,
        };
        let of_mode = |mode: &Mode| {
            let requests = statistics.requests.iter().filter(|(kind, _)| possible(*mode, **kind));
            (*mode, Sampler::of(requests.map(|(kind, weight)| (*kind, *weight))))
        };
        let both = [RequestKind::Read, RequestKind::Write];
        Self {
            files: Sampler::of_map(&statistics.files),
            sessions: Sampler::of_map(&statistics.sessions),
            depth: Sampler::of_map(&statistics.depth),
            first_gap: Sampler::of_map(&statistics.first_gap),
            session_gap: Sampler::of_map(&statistics.session_gap),
            request_gap: Sampler::of_map(&statistics.request_gap),
            modes: Sampler::of(statistics.modes.values().copied().enumerate()),
            of_modes: statistics.modes.keys().map(of_mode).collect(),
            sizes: both.map(|kind| Sampler::of_map(statistics.sizes_of(kind))),
            offsets: both.map(|kind| Sampler::of_map(statistics.offsets_of(kind))),
            pairs: statistics.pairs,
            file_size: statistics.file_size,
            slack: Sampler::of_map(&statistics.slack),
            duration: statistics.duration,
        }
    }

    /// A transfer, or another request, after a transfer that ended at `end`.
    fn request(&self, kind: RequestKind, append: bool, end: &mut Option<u64>, random: &mut Random) -> Action {
        if !kind.is_transfer() {
            return Action::Request(kind);
        }
        let writes = usize::from(kind == RequestKind::Write);
        let mut size = self.sizes[writes].draw(random).unwrap_or_default();
        let [all, consecutive] = self.pairs;
        let follows = append || end.is_some() && all > 0 && (random.below(all as usize) as u64) < consecutive;
        let mut offset = match *end {
            Some(end) if follows => end,
            _ => self.offsets[writes].draw(random).unwrap_or(end.unwrap_or_default()),
        };
        if kind == RequestKind::Read && self.file_size > 0 {
            size = size.min(self.file_size);
            offset = offset.min(self.file_size - size);
        }
        *end = Some(offset.saturating_add(size));
        Action::Transfer { kind, offset, size }
    }
}

/// A path while it is drawn: what is wanted at which position, and calls between.
#[derive(Default)]
struct Wanted {
    /// Position, file and number of the file.
    places: Vec<(u64, (usize, u64))>,
    steps: Vec<Synthetic>,
    /// Description that the next session makes.
    next_open: u32,
    /// Calls that fill holes: class, call, number.
    calls: Vec<(usize, NameCall, u64)>,
    /// Files of each class that the rank has.
    numbers: BTreeMap<usize, BTreeSet<u64>>,
}

impl Wanted {
    fn reserve(&mut self, steps: usize) {
        self.places.reserve(steps);
        self.steps.reserve(steps);
    }

    fn push(&mut self, position: u64, number: u64, step: Synthetic) {
        let file = step.of.map_or(0, |(file, _)| file);
        self.places.push((position.max(1), (file, number)));
        self.steps.push(step);
    }
}

impl Synthesis<'_> {
    /// All steps of the rank.
    pub(super) fn drawn(&self, barriers: &[PathBarrier]) -> Vec<Synthetic> {
        let mut wanted = Wanted::default();
        let mut done = Done::default();
        for file in 0..self.model.files.len() {
            self.given(file, &mut done, &mut wanted);
            for statistics in &self.model.files[file].statistics {
                if self.does(file, statistics.ranks) {
                    self.draw_class(file, statistics, &mut wanted);
                }
            }
        }
        let holes: u64 = wanted.calls.iter().map(|(.., count)| count).sum();
        let merged = merge(&wanted.places, holes as usize);
        let filled = Filling::new(self, &wanted).fill(&merged);
        self.with_barriers(filled, barriers)
    }

    /// Sessions that are given: each once on each file, one after the other.
    fn given(&self, file: usize, done: &mut Done, wanted: &mut Wanted) {
        let model = &self.model.files[file];
        if model.sessions.is_empty() || !self.does(file, None) {
            return;
        }
        for number in 0..model.count.max(1) {
            wanted.numbers.entry(file).or_default().insert(number);
            let mut position = 0;
            for session in 0..model.sessions.len() {
                let open = wanted.next_open;
                wanted.next_open += 1;
                for step in self.execution(file, session, None, done) {
                    position += 1;
                    wanted.push(position, number, Synthetic { open, ..step });
                }
            }
        }
    }

    fn draw_class(&self, file: usize, statistics: &Statistics, wanted: &mut Wanted) {
        let samplers = Samplers::of(statistics);
        let key = |number, session| [self.seed, u64::from(self.rank), file as u64, number, session];
        let files = samplers.files.draw(&mut Random::of(&key(OF_NO_SESSION, OF_NO_SESSION))).unwrap_or(1);
        for number in 0..files.min(self.model.files[file].count.max(1)) {
            wanted.numbers.entry(file).or_default().insert(number);
            let mut random = Random::of(&key(number, OF_NO_SESSION));
            let sessions = samplers.sessions.draw(&mut random).unwrap_or_default();
            let mut position = 0_u64;
            for session in 0..sessions {
                let mut random = Random::of(&key(number, session));
                let begin = match session {
                    0 => samplers.first_gap.draw(&mut random).unwrap_or(1),
                    _ => position.saturating_add_signed(samplers.session_gap.draw(&mut random).unwrap_or(1)),
                };
                position = draw_session(&samplers, (file, number, session), begin, &mut random, wanted);
            }
        }
        let kept = |call: &NameCall| self.model.files[file].class != Sharing::Shared || !call.changes_names();
        let calls = statistics.calls.iter().filter(|(call, _)| kept(call));
        wanted.calls.extend(calls.map(|(call, count)| (file, *call, *count)));
    }

    /// The steps with barriers at their shares of the path; those of several groups are in one order for all ranks.
    fn with_barriers(&self, steps: Vec<Synthetic>, barriers: &[PathBarrier]) -> Vec<Synthetic> {
        let mut at: Vec<(u64, usize)> = Vec::new();
        for barrier in barriers {
            for (share, times) in &barrier.at {
                at.extend((0..*times).map(|_| (*share, barrier.group)));
            }
        }
        at.sort_unstable();
        at.retain(|(_, group)| self.model.groups[*group].contains(self.rank));
        let all = steps.len() as u128;
        let place =
            |share: u64| ((all * u128::from(share) + u128::from(WHOLE / 2)) / u128::from(WHOLE)) as usize;
        let mut out = Vec::with_capacity(steps.len() + at.len());
        let mut barriers = at.into_iter().peekable();
        let barrier =
            |group| Synthetic { action: Action::Barrier(group), slack: 0, duration: 0, of: None, open: 0 };
        for (number, step) in steps.into_iter().enumerate() {
            while let Some((_, group)) = barriers.next_if(|(share, _)| place(*share) <= number) {
                out.push(barrier(group));
            }
            out.push(step);
        }
        out.extend(barriers.map(|(_, group)| barrier(group)));
        out
    }
}

/// A session from its open at a position; answers the position of its close.
fn draw_session(
    samplers: &Samplers,
    (file, number, session): (usize, u64, u64),
    begin: u64,
    random: &mut Random,
    wanted: &mut Wanted,
) -> u64 {
    let open = wanted.next_open;
    wanted.next_open += 1;
    let mode = samplers.modes.draw(random).and_then(|at| samplers.of_modes.get(at));
    let Some((mode, requests)) = mode else { return begin };
    let depth = samplers.depth.draw(random).unwrap_or(1).max(1);
    wanted.reserve(depth.min(super::read::MAX_REQUESTS) as usize + 1);
    let mut position = begin.max(1);
    let (mut end, of) = (None, Some((file, session as usize)));
    let mut push = |position, action, random: &mut Random| {
        let slack = samplers.slack.draw(random).unwrap_or_default();
        wanted.push(position, number, Synthetic { action, slack, duration: samplers.duration, of, open });
    };
    push(position, Action::Open { file, number, mode: *mode }, random);
    for at in 1..=depth {
        position = position.saturating_add(samplers.request_gap.draw(random).unwrap_or(1).max(1));
        if at == depth {
            push(position, Action::Close, random);
        } else if let Some(kind) = requests.draw(random) {
            let action = samplers.request(kind, mode.append, &mut end, random);
            push(position, action, random);
        }
    }
    position
}

/// Files of a class in any order, of which one is taken at random.
#[derive(Default)]
struct Pool {
    numbers: Vec<u64>,
    at: HashMap<u64, usize>,
}

impl Pool {
    fn insert(&mut self, number: u64) {
        self.at.entry(number).or_insert_with(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        });
    }

    fn remove(&mut self, number: u64) {
        let Some(at) = self.at.remove(&number) else { return };
        self.numbers.swap_remove(at);
        if let Some(moved) = self.numbers.get(at) {
            self.at.insert(*moved, at);
        }
    }

    fn draw(&self, random: &mut Random) -> Option<u64> {
        let count = self.numbers.len();
        if count == 0 { None } else { self.numbers.get(random.below(count)).copied() }
    }
}

/// The files of a class while calls are placed between sessions.
#[derive(Default)]
struct Files {
    /// Those that are there.
    there: Pool,
    /// Those that are there and that no session uses from now on.
    finished: Pool,
    /// Directories that nobody made yet.
    missing: Pool,
}

/// What fills the holes of a path.
struct Filling<'a> {
    synthesis: &'a Synthesis<'a>,
    wanted: &'a Wanted,
    files: BTreeMap<usize, Files>,
    /// Steps of sessions that are left, of each file.
    left: HashMap<(usize, u64), u64>,
    slack: BTreeMap<usize, (Sampler<u64>, u64)>,
}

impl<'a> Filling<'a> {
    fn new(synthesis: &'a Synthesis<'a>, wanted: &'a Wanted) -> Self {
        let mut left: HashMap<(usize, u64), u64> = HashMap::new();
        for (_, place) in &wanted.places {
            *left.entry(*place).or_default() += 1;
        }
        let mut files: BTreeMap<usize, Files> = BTreeMap::new();
        for (file, numbers) in &wanted.numbers {
            let (model, of) = (&synthesis.model.files[*file], files.entry(*file).or_default());
            for number in numbers {
                let is_there = model.kind == FileKind::Absent || synthesis.model.is_there(*file);
                if is_there {
                    of.there.insert(*number);
                    if !left.contains_key(&(*file, *number)) {
                        of.finished.insert(*number);
                    }
                } else if model.kind == FileKind::Directory {
                    of.missing.insert(*number);
                }
            }
        }
        let slack = wanted.calls.iter().map(|(file, ..)| {
            let mut all = synthesis.model.files[*file].statistics.iter();
            let own = all.find(|statistics| synthesis.does(*file, statistics.ranks));
            let slack =
                own.map_or_else(|| Sampler::of(std::iter::empty()), |own| Sampler::of_map(&own.slack));
            (*file, (slack, own.map_or(0, |own| own.duration)))
        });
        let slack = slack.collect();
        Self { synthesis, wanted, files, left, slack }
    }

    /// The steps in order; a hole for which no call is possible is dropped.
    fn fill(mut self, merged: &[Option<usize>]) -> Vec<Synthetic> {
        let mut out = Vec::with_capacity(merged.len());
        for (position, step) in (1_u64..).zip(merged) {
            match step {
                Some(step) => {
                    self.passed(*step);
                    out.push(self.wanted.steps[*step]);
                }
                None => out.extend(self.call(position)),
            }
        }
        out
    }

    /// A step of a session is done.
    fn passed(&mut self, step: usize) {
        let (_, (file, number)) = self.wanted.places[step];
        let files = self.files.entry(file).or_default();
        if matches!(self.wanted.steps[step].action, Action::Open { .. }) {
            files.there.insert(number);
        }
        if let Some(left) = self.left.get_mut(&(file, number)) {
            *left -= 1;
            if *left == 0 {
                files.finished.insert(number);
            }
        }
    }

    /// A call by its weight, among those that are possible here, on one of its files.
    fn call(&mut self, position: u64) -> Option<Synthetic> {
        let synthesis = self.synthesis;
        let mut random = Random::of(&[synthesis.seed, u64::from(synthesis.rank), OF_NO_SESSION, position]);
        let possible =
            self.wanted.calls.iter().filter(|(file, call, _)| !self.pool(*file, *call).numbers.is_empty());
        let possible = Sampler::of(possible.map(|(file, call, count)| ((*file, *call), *count)));
        let (file, call) = possible.draw(&mut random)?;
        let number = self.pool(file, call).draw(&mut random)?;
        let is_absent = synthesis.model.files[file].kind == FileKind::Absent;
        let files = self.files.entry(file).or_default();
        match call {
            NameCall::Unlink | NameCall::RemoveDirectory | NameCall::Rename if !is_absent => {
                files.there.remove(number);
                files.finished.remove(number);
            }
            NameCall::MakeDirectory => {
                files.missing.remove(number);
                files.there.insert(number);
                files.finished.insert(number);
            }
            _ => {}
        }
        let (slack, duration) = self.slack.get(&file)?;
        let slack = slack.draw(&mut random).unwrap_or_default();
        Some(Synthetic {
            action: Action::Call { call, file, number, to: None },
            slack,
            duration: *duration,
            of: None,
            open: 0,
        })
    }

    fn pool(&self, file: usize, call: NameCall) -> &Pool {
        static NONE: std::sync::LazyLock<Pool> = std::sync::LazyLock::new(Pool::default);
        let Some(files) = self.files.get(&file) else { return &NONE };
        let is_absent = self.synthesis.model.files[file].kind == FileKind::Absent;
        match call {
            NameCall::MakeDirectory => &files.missing,
            NameCall::Unlink | NameCall::RemoveDirectory | NameCall::Rename if !is_absent => &files.finished,
            _ => &files.there,
        }
    }
}

impl NameCall {
    /// Whether it makes, removes or changes a name.
    #[must_use]
    pub const fn changes_names(self) -> bool {
        matches!(self, Self::Unlink | Self::Rename | Self::Link | Self::MakeDirectory | Self::RemoveDirectory)
    }
}

impl Model {
    /// What so many ranks do with a seed: counted, as the path is drawn.
    pub(super) fn drawn_totals(&self, ranks: u32, seed: u64) -> Result<Totals, TooMuch> {
        let mut totals = Totals::default();
        let mut files: BTreeSet<(usize, u64, u32)> = BTreeSet::new();
        let mut steps = 0;
        for rank in 0..ranks {
            let ended = synthesise(self, (rank, ranks), seed, &mut |step| {
                steps += 1;
                if let Action::Open { file, number, .. } | Action::Call { file, number, .. } = step.action
                    && self.files[file].kind != FileKind::Absent
                {
                    let private = self.files[file].class == Sharing::Private;
                    files.insert((file, number, if private { rank } else { 0 }));
                }
                totals.count(step.action);
                if steps > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if ended.is_break() {
                return Err(TooMuch(ranks));
            }
        }
        totals.files = files.len() as u64;
        let barriers = self.path.iter().flatten();
        totals.barriers =
            barriers.flat_map(|barrier| barrier.at.values()).fold(0, |sum, times| sum.saturating_add(*times));
        Ok(totals)
    }
}

impl Totals {
    fn count(&mut self, action: Action) {
        match action {
            Action::Open { .. } => self.sessions += 1,
            Action::Transfer { kind, size, .. } => {
                *self.requests.entry(kind).or_default() += 1;
                let reads = kind == RequestKind::Read;
                let bytes = if reads { &mut self.bytes_read } else { &mut self.bytes_written };
                *bytes = bytes.saturating_add(size);
            }
            Action::Request(kind) => *self.requests.entry(kind).or_default() += 1,
            Action::Call { .. } => self.calls += 1,
            Action::Close
            | Action::Pause
            | Action::Barrier(_)
            | Action::After { .. }
            | Action::Message { .. } => {}
        }
    }
}
