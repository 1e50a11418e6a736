//! From a model of a workload to a program that the engine of replay executes: a stream for each rank.
//!
//! Source: PIONEER, sections V-D and V-E; definitions: docs/workload.md.

mod lock_order;
mod mix;
mod of_rank;
mod returned;
mod schedule;
mod trail;

pub use lock_order::with_lock_order;
pub use mix::{Component, MixError, mixed};
pub use of_rank::{Meet, of_rank};
pub use schedule::schedule;
pub use trail::write_trail;

use iotrail_replay::{
    Action, Expected, Interface, OpenMode, OpenNumber, Operation, Program, ScratchFile, Stream,
};
use iotrail_workload::{
    Action as Step, Apart, FileKind, MessageHalf, Mode, Model, NameCall, RequestKind, SessionLayer, Sharing,
    Stuck, Synthetic, TooMuch, synthesise,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

/// Most operations of all ranks: 56 bytes of memory each.
pub const MAX_OPERATIONS: u64 = 20_000_000;
/// Most files.
pub const MAX_FILES: u64 = 1_000_000;
/// Most ranks: each is a thread.
pub const MAX_RANKS: u32 = 4096;

/// Why a model is not generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Its totals do not fit.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    /// Ranks would wait for each other for ever.
    #[error(
        "ranks wait for each other for ever: {0}; change the order of steps, or take a message or a wait out"
    )]
    Stuck(Stuck),
    /// Ranks would not make the same calls together.
    #[error(
        "{0}; let all ranks do the same sessions of layer = \"collective\" in one order, with equal numbers of requests; where transfers are dealt to the ranks (strong scaling), choose ranks that divide them"
    )]
    Apart(Apart),
    /// Transfers of a session that takes locks are dealt to ranks.
    #[error(
        "session `{0}` takes locks, and strong scaling would deal its requests to the ranks in another order; use weak scaling"
    )]
    Locks(String),
    /// A lock would be waited for whose turn comes later.
    #[error(
        "in the order of the plan rank {0} waits for the lock of `{1}` for ever; let ranks take locks in any order"
    )]
    LockOrder(u32, String),
    /// It is larger than what is held in memory.
    #[error("{2} ranks need {0} {1}, at most {3} are generated; choose fewer ranks or a smaller model")]
    TooMany(u64, &'static str, u32, u64),
}

/// A program, and how long its operations took when they were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The program.
    pub program: Program,
    /// Of each operation of each stream, in ns; 0 where it is not known.
    pub durations: Vec<Vec<u64>>,
}

/// The program of so many ranks.
///
/// # Errors
/// If it is too large.
pub fn planned(model: &Model, ranks: u32, seed: u64) -> Result<Planned, GenerateError> {
    let totals = model.totals_of(ranks, seed)?;
    let requests = totals.requests.values().copied().fold(totals.calls, u64::saturating_add);
    let barriers = totals.barriers.saturating_mul(u64::from(ranks));
    let meetings = [barriers, totals.messages_sent, totals.messages_received, totals.waits];
    let others = meetings.into_iter().fold(0, u64::saturating_add);
    let operations = requests.saturating_add(totals.sessions.saturating_mul(2)).saturating_add(others);
    for (number, what, most) in [
        (u64::from(ranks), "threads", u64::from(MAX_RANKS)),
        (operations, "operations", MAX_OPERATIONS),
        (totals.files, "files", MAX_FILES),
    ] {
        if number > most {
            return Err(GenerateError::TooMany(number, what, ranks, most));
        }
    }
    if let Some(session) = model.dealt_with_locks() {
        return Err(GenerateError::Locks(session.to_owned()));
    }
    if model.has_collective()
        && let Some(apart) = model.apart(ranks, seed)
    {
        return Err(GenerateError::Apart(apart));
    }
    if (model.has_waits() || model.has_messages() || model.has_locks())
        && let Some(stuck) = model.stuck(ranks, seed)
    {
        return Err(GenerateError::Stuck(stuck));
    }
    let groups = model
        .groups
        .iter()
        .map(|group| (0..ranks).filter(|rank| group.contains(*rank)).map(|rank| rank as usize).collect());
    let mut files = Files { model, numbers: HashMap::new(), files: Vec::new() };
    let awaited = Awaited::of(model, ranks, seed);
    let (mut streams, durations): (Vec<Stream>, Vec<Vec<u64>>) =
        (0..ranks).map(|rank| RankProgram::of(model, (rank, ranks), seed, (&mut files, &awaited))).unzip();
    if model.has_collective() {
        set_lengths_together(&mut streams);
    }
    Ok(Planned {
        program: Program { streams, groups: groups.collect(), files: files.files, events: awaited.events },
        durations,
    })
}

/// The program of so many ranks.
///
/// # Errors
/// If it is too large.
pub fn program(model: &Model, ranks: u32, seed: u64) -> Result<Program, GenerateError> {
    planned(model, ranks, seed).map(|planned| planned.program)
}

/// Lets ranks that set the length of a file together set it to one: where the transfers of all of them ended.
fn set_lengths_together(streams: &mut [Stream]) {
    let mut lengths: Vec<u64> = Vec::new();
    for stream in &mut *streams {
        for (at, length) in lengths_set_together(stream).enumerate() {
            match lengths.get_mut(at) {
                Some(all) => *all = (*all).max(*length),
                None => lengths.push(*length),
            }
        }
    }
    for stream in streams {
        lengths_set_together(stream).zip(&lengths).for_each(|(length, all)| *length = *all);
    }
}

fn lengths_set_together(stream: &mut Stream) -> impl Iterator<Item = &mut u64> {
    let mut together: HashSet<OpenNumber> = HashSet::new();
    stream.iter_mut().filter_map(move |operation| match &mut operation.action {
        Action::Open { open, mode, .. } => {
            match mode.interface {
                Interface::Collective => together.insert(*open),
                _ => together.remove(open),
            };
            None
        }
        Action::Truncate(open, length) => together.contains(open).then_some(length),
        _ => None,
    })
}

/// What ranks wait for, with the numbers of the events that it is.
#[derive(Default)]
struct Awaited {
    /// Ends of executions of sessions: rank, file, session and number.
    sessions: BTreeMap<(u32, usize, usize, u64), usize>,
    /// Messages, by who gives and who gets them: the event of the first one, and how many are both given and waited for.
    messages: HashMap<(u32, u32), (usize, u64)>,
    events: usize,
}

impl Awaited {
    fn of(model: &Model, ranks: u32, seed: u64) -> Self {
        let mut awaited = Self::default();
        // How many messages each rank gives each other one, and how many that waits for.
        let mut halves: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
        for rank in (0..ranks).filter(|_| model.has_waits() || model.has_messages()) {
            let ended = synthesise(model, (rank, ranks), seed, &mut |step| {
                match step.action {
                    Step::After { rank, file, session, execution } => {
                        awaited.sessions.insert((rank, file, session, execution), 0);
                    }
                    Step::Message { half: MessageHalf::Send, rank: to, .. } => {
                        halves.entry((rank, to)).or_default()[0] += 1;
                    }
                    Step::Message { half: MessageHalf::Receive, rank: from, .. } => {
                        halves.entry((from, rank)).or_default()[1] += 1;
                    }
                    _ => {}
                }
                ControlFlow::<()>::Continue(())
            });
            debug_assert_eq!(ended, ControlFlow::Continue(()));
        }
        awaited.sessions.values_mut().enumerate().for_each(|(number, event)| *event = number);
        awaited.events = awaited.sessions.len();
        for (pair, [given, got]) in halves {
            awaited.messages.insert(pair, (awaited.events, given.min(got)));
            awaited.events += given.min(got) as usize;
        }
        awaited
    }

    /// The event of a message; NULL if it is not both given and waited for.
    fn message(&self, giver: u32, getter: u32, number: u64) -> Option<usize> {
        let (first, both) = self.messages.get(&(giver, getter))?;
        (number < *both).then_some(first + number as usize)
    }
}

/// The files of a program, in the order of their first uses.
struct Files<'a> {
    model: &'a Model,
    numbers: HashMap<(usize, Option<u32>, u64, bool), usize>,
    files: Vec<ScratchFile>,
}

impl Files<'_> {
    /// The index of a file; of one that was renamed, that of its other name.
    fn number(&mut self, file: usize, rank: u32, number: u64, renamed: bool) -> usize {
        let model = &self.model.files[file];
        let owner = (model.class == Sharing::Private).then_some(rank);
        *self.numbers.entry((file, owner, number, renamed)).or_insert_with(|| {
            let is_there = self.model.is_there(file) && !renamed;
            self.files.push(ScratchFile {
                name: format!("{}{}", model.instance(rank, number), if renamed { ".renamed" } else { "" }),
                size: is_there.then(|| model.length(rank, number)),
                directory: model.kind == FileKind::Directory,
            });
            self.files.len() - 1
        })
    }
}

impl Files<'_> {
    /// Lets a file that is there hold so many bytes.
    fn fill(&mut self, file: usize, end: u64) {
        if let Some(size) = self.files.get_mut(file).and_then(|file| file.size.as_mut()) {
            *size = (*size).max(end);
        }
    }
}

/// What a rank does, while it is made.
struct RankProgram<'a, 'f> {
    model: &'a Model,
    rank: u32,
    ranks: u32,
    files: &'f mut Files<'a>,
    awaited: &'f Awaited,
    /// How often each session was closed.
    closed: HashMap<(usize, usize), u64>,
    open: HashMap<OpenNumber, Position>,
    /// Files that have their other names.
    renamed: HashSet<(usize, u64)>,
}

/// Whether a step gives the file of that index another name.
fn gives_name(step: &Synthetic, wanted: usize) -> bool {
    matches!(step.action, Step::Call { call: NameCall::Rename | NameCall::Link, file, .. } if file == wanted)
}

/// Where an open file stands.
#[derive(Clone, Copy, Default)]
struct Position {
    /// Index of the file.
    file: usize,
    cursor: u64,
    /// The end of the furthest transfer.
    end: u64,
    appends: bool,
    /// Whether it was read where it stands: who reads less than asked for stands elsewhere.
    was_read: bool,
    /// Whether calls of MPI-IO are made on it, which all say where.
    of_mpi: bool,
}

impl<'a, 'f> RankProgram<'a, 'f> {
    fn of(
        model: &'a Model,
        (rank, ranks): (u32, u32),
        seed: u64,
        (files, awaited): (&'f mut Files<'a>, &'f Awaited),
    ) -> (Stream, Vec<u64>) {
        let mut made = Self {
            model,
            rank,
            ranks,
            files,
            awaited,
            closed: HashMap::new(),
            open: HashMap::new(),
            renamed: HashSet::new(),
        };
        let (mut stream, mut durations) = (Stream::new(), Vec::new());
        // An end that others wait for, and the file: they find it by the name that it gets at once.
        let mut told: Option<(usize, usize)> = None;
        let signal =
            |event| Operation { think_ns: 0, action: Action::Signal(event), expected: Expected::Success };
        let ended = synthesise(model, (rank, ranks), seed, &mut |step| {
            if let Some((event, _)) = told.take_if(|(_, file)| !gives_name(&step, *file)) {
                stream.push(signal(event));
                durations.push(0);
            }
            let Some((action, expected)) = made.operation(step) else { return ControlFlow::Continue(()) };
            stream.push(Operation { think_ns: step.slack, action, expected });
            durations.push(step.duration);
            told = made.ended(&step).zip(step.of.map(|(file, _)| file)).or(told);
            ControlFlow::<()>::Continue(())
        });
        debug_assert_eq!(ended, ControlFlow::Continue(()));
        if let Some((event, _)) = told {
            stream.push(signal(event));
            durations.push(0);
        }
        (stream, durations)
    }

    /// The event of the end of an execution for which others wait.
    fn ended(&mut self, step: &Synthetic) -> Option<usize> {
        let (file, session) =
            step.of.filter(|_| step.action == Step::Close && !self.awaited.sessions.is_empty())?;
        let before = self.closed.entry((file, session)).or_insert(0);
        *before += 1;
        self.awaited.sessions.get(&(self.rank, file, session, *before - 1)).copied()
    }

    /// NULL for half a message whose other half there is not.
    fn operation(&mut self, Synthetic { action, of, open, .. }: Synthetic) -> Option<(Action, Expected)> {
        let (of_file, _) = of.unwrap_or_default();
        let open = OpenNumber(open);
        let action = match action {
            Step::Open { file, number, mode } => {
                let file = self.file(file, number);
                let interface = self.interface(of);
                let of_mpi = interface != Interface::System;
                let position = Position { file, appends: mode.append, of_mpi, ..Position::default() };
                self.open.insert(open, position);
                Action::Open { file, open, mode: OpenMode { interface, ..open_mode(mode) } }
            }
            Step::Transfer { kind, offset, size } => {
                let filled = self.model.files[of_file].filled
                    || of.is_some_and(|(file, session)| self.model.reads_grow(file, session, self.ranks));
                self.transfer(open, (kind, offset, size), filled)
            }
            Step::Request(RequestKind::Fdatasync) => Action::SyncData(open),
            Step::Request(RequestKind::Stat) => Action::StatOpen(open),
            Step::Request(RequestKind::Lock) => Action::Lock { open, shared: false },
            Step::Request(RequestKind::LockShared) => Action::Lock { open, shared: true },
            Step::Request(RequestKind::Unlock) => Action::Unlock(open),
            Step::Request(RequestKind::Truncate) => {
                let session = of.and_then(|(file, session)| self.model.files[file].sessions.get(session));
                let length = session.and_then(|session| session.length);
                let end = || self.open.get(&open).map_or(0, |position| position.end);
                let kept = || end().max(self.model.files[of_file].size);
                Action::Truncate(
                    open,
                    length.map_or_else(kept, |length| length.at(self.ranks).unsigned_abs()),
                )
            }
            Step::Request(RequestKind::Fsync | RequestKind::Read | RequestKind::Write) => Action::Sync(open),
            Step::Close => Action::Close(open),
            Step::Barrier(group) => Action::Barrier(group),
            // At once, when the time before it is over.
            Step::Pause => Action::NotBefore(0),
            Step::After { rank, file, session, execution } => Action::Await(
                self.awaited.sessions.get(&(rank, file, session, execution)).copied().unwrap_or_default(),
            ),
            Step::Message { half, rank, number } => self.message(half, rank, number)?,
            Step::Call { call, file, number, to } => return Some(self.call(call, (file, number), to)),
        };
        Some((action, Expected::Success))
    }

    /// With whose calls the files of a session are used.
    fn interface(&self, of: Option<(usize, usize)>) -> Interface {
        let session = of.and_then(|(file, session)| self.model.files.get(file)?.sessions.get(session));
        match session.map(|session| session.layer).unwrap_or_default() {
            SessionLayer::System => Interface::System,
            SessionLayer::MpiIo => Interface::MpiIo,
            SessionLayer::Collective => Interface::Collective,
        }
    }

    fn message(&self, half: MessageHalf, other: u32, number: u64) -> Option<Action> {
        match half {
            MessageHalf::Send => self.awaited.message(self.rank, other, number).map(Action::Signal),
            MessageHalf::Receive => self.awaited.message(other, self.rank, number).map(Action::Await),
        }
    }

    fn transfer(
        &mut self,
        open: OpenNumber,
        (kind, offset, size): (RequestKind, u64, u64),
        filled: bool,
    ) -> Action {
        let position = self.open.entry(open).or_default();
        let writes = kind == RequestKind::Write;
        // Ranks make one call of MPI-IO together, wherever each of them stands.
        let stands = offset == position.cursor && !(writes && position.was_read);
        let follows = !position.of_mpi && (stands || position.appends && writes);
        position.end = position.end.max(offset.saturating_add(size));
        if filled && kind == RequestKind::Read {
            self.files.fill(position.file, offset.saturating_add(size));
        }
        if follows {
            position.cursor = offset.saturating_add(size);
            position.was_read |= !writes;
        }
        match (kind, follows) {
            (RequestKind::Read, true) => Action::Read(open, size),
            (RequestKind::Read, false) => Action::ReadAt(open, offset, size),
            (_, true) => Action::Write(open, size),
            (_, false) => Action::WriteAt(open, offset, size),
        }
    }

    /// The index of a file by the name that it has now.
    fn file(&mut self, file: usize, number: u64) -> usize {
        let renamed = self.renamed.contains(&(file, number));
        self.files.number(file, self.rank, number, renamed)
    }

    fn call(
        &mut self,
        call: NameCall,
        (file, number): (usize, u64),
        to: Option<(usize, u64)>,
    ) -> (Action, Expected) {
        let before = self.file(file, number);
        let action = match call {
            NameCall::Open => {
                Action::Open { file: before, open: OpenNumber(u32::MAX), mode: open_mode(READ) }
            }
            NameCall::Stat => Action::Stat(before),
            NameCall::Unlink => Action::Unlink(before),
            NameCall::Rename => {
                let after = match to {
                    Some(named) => {
                        self.renamed.remove(&(file, number));
                        self.named_as(named)
                    }
                    None => self.rename(file, number),
                };
                Action::Rename(before, after)
            }
            NameCall::Link => {
                let after = to.map_or(before, |named| self.named_as(named));
                Action::Link(before, after)
            }
            NameCall::MakeDirectory => Action::MakeDirectory(before),
            NameCall::RemoveDirectory => Action::RemoveDirectory(before),
            NameCall::List => Action::List(before),
        };
        let is_absent = self.model.files[file].kind == FileKind::Absent;
        (action, if is_absent { Expected::Error(NOT_FOUND) } else { Expected::Success })
    }

    /// The file whose name another one gets.
    fn named_as(&mut self, (file, number): (usize, u64)) -> usize {
        self.renamed.remove(&(file, number));
        self.file(file, number)
    }

    /// The file by its other name, which it has from now on. Of a shared one the others would not know: it keeps its name.
    fn rename(&mut self, file: usize, number: u64) -> usize {
        let model = &self.model.files[file];
        let alone = model.class != Sharing::Shared && model.kind != FileKind::Absent;
        if alone && !self.renamed.remove(&(file, number)) {
            self.renamed.insert((file, number));
        }
        self.file(file, number)
    }
}

/// `ENOENT` of errno(3), the same on all architectures.
const NOT_FOUND: i32 = 2;

const READ: Mode = Mode { read: true, write: false, create: false, truncate: false, append: false };

fn open_mode(mode: Mode) -> OpenMode {
    OpenMode {
        read: mode.read,
        write: mode.write,
        create: mode.create,
        truncate: mode.truncate,
        append: mode.append,
        ..OpenMode::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_replay::{Cache, Plan, Sandbox, Think, execute};
    use iotrail_workload::TEMPLATES;
    use std::sync::atomic::AtomicBool;

    fn template(name: &str) -> Model {
        let (.., text) = TEMPLATES.iter().find(|(known, ..)| *known == name).unwrap();
        Model::parse(text).unwrap()
    }

    #[test]
    fn the_program_of_a_checkpoint_is_that_of_the_definitions() {
        let program = program(&template("checkpoint"), 4, 0).unwrap();
        assert_eq!((program.streams.len(), program.files.len(), program.groups.len()), (4, 4, 1));
        let names: Vec<&str> = program.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["checkpoint.0", "checkpoint.1", "checkpoint.2", "checkpoint.3"]);
        let kinds = |wanted: fn(&Action) -> bool| {
            program.streams.iter().flatten().filter(|operation| wanted(&operation.action)).count()
        };
        assert_eq!(kinds(|action| matches!(action, Action::Write(_, 1_048_576))), 4 * 5 * 16);
        assert_eq!(kinds(|action| matches!(action, Action::Barrier(0))), 4 * 5);
        assert_eq!(kinds(|action| matches!(action, Action::Sync(_))), 4 * 5);
    }

    #[test]
    fn every_template_is_executed_without_an_error() {
        let parent = tempfile::tempdir().unwrap();
        let go = AtomicBool::new(false);
        for (name, ..) in TEMPLATES {
            let plan = Plan::new(program(&template(name), 3, 1).unwrap()).unwrap();
            let sandbox = Sandbox::new(&parent.path().join(name), &plan).unwrap();
            sandbox.prepare(&plan, Cache::Warm, false, &go).unwrap();
            let outcome = execute(&plan, &sandbox, Think::Dropped, &go);
            assert_eq!(outcome.differences, 0, "{name}");
            drop(sandbox);
            assert!(!parent.path().join(name).exists(), "{name}");
        }
    }

    /// Each rank writes when the one before has written, round after round: no two are at it at a time.
    const RING: &str = r#"
iotrail_workload = 1
[[file]]
name = "token"
class = "shared"
  [[file.session]]
  name = "pass"
  mode = "rw create"
  requests = { write = 1 }
  size = "8 B"
  slack = "1 ms"
[program]
steps = [{ repeat = 4, steps = [{ after = "token/pass", around = -1 }, { session = "token/pass" }] }]
"#;

    #[test]
    fn ranks_take_turns_where_each_waits_for_the_one_before() {
        let planned = planned(&Model::parse(RING).unwrap(), 3, 0).unwrap();
        assert_eq!(planned.program.events, 3 * 4 - 1, "for the last execution of the last rank nobody waits");
        let starts = schedule(&planned);
        let mut turns: Vec<(u64, usize)> = Vec::new();
        for (rank, stream) in planned.program.streams.iter().enumerate() {
            assert_eq!(starts[rank].len(), stream.len(), "nothing waits for ever");
            let opens = stream.iter().zip(&starts[rank]);
            turns.extend(
                opens.filter(|(of, _)| matches!(of.action, Action::Open { .. })).map(|(_, at)| (*at, rank)),
            );
        }
        turns.sort_unstable();
        assert_eq!(turns.iter().map(|(_, rank)| *rank).collect::<Vec<_>>(), [0, 1, 2].repeat(4));
        let parent = tempfile::tempdir().unwrap();
        let go = AtomicBool::new(false);
        let plan = Plan::new(planned.program).unwrap();
        let sandbox = Sandbox::new(&parent.path().join("ring"), &plan).unwrap();
        sandbox.prepare(&plan, Cache::Warm, false, &go).unwrap();
        assert_eq!(execute(&plan, &sandbox, Think::Dropped, &go).differences, 0);
    }

    #[test]
    fn what_is_written_behind_a_read_says_where() {
        let text = r#"
iotrail_workload = 1
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "rw create"
  requests = { read = 1, write = 1 }
  size = "8 B"
  offset = { start = "0 B", step = "8 B" }
[program]
steps = [{ session = "f/s" }]
"#;
        // The file may be empty: then the read leaves its descriptor at the begin.
        let program = program(&Model::parse(text).unwrap(), 1, 0).unwrap();
        let actions: Vec<Action> = program.streams[0].iter().map(|operation| operation.action).collect();
        let open = OpenNumber(0);
        assert_eq!(actions[1..3], [Action::Read(open, 8), Action::WriteAt(open, 8, 8)]);
    }

    #[test]
    fn ranks_set_a_length_together_to_the_end_of_all() {
        let text = template("shared-collective").to_string();
        let text = text.replace("requests = { write = 16 }", "requests = { write = 16, truncate = 1 }");
        let program = program(&Model::parse(&text).unwrap(), 3, 0).unwrap();
        let lengths: Vec<u64> = program
            .streams
            .iter()
            .flatten()
            .filter_map(|operation| match operation.action {
                Action::Truncate(_, length) => Some(length),
                _ => None,
            })
            .collect();
        assert_eq!(lengths, [(3 * 16) << 20; 3]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let many = program(&template("checkpoint"), MAX_RANKS + 1, 0);
        assert_eq!(many, Err(GenerateError::TooMany(4097, "threads", 4097, 4096)));
        let long = template("log").to_string().replace("repeat = 500", "repeat = 1000000000");
        let long = program(&Model::parse(&long).unwrap(), 2, 0);
        assert!(matches!(long, Err(GenerateError::TooMany(_, "operations", 2, _))));
    }
}
