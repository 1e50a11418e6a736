//! The model of a workload: what is written in a model file.

mod drawn;
mod error;
mod knobs;
mod layer;
mod names;
mod offsets;
mod place_run;
mod progress;
mod quantity;
mod ratio;
mod read;
mod read_offsets;
mod read_statistics;
mod statistics;
mod synthesis;
mod together;
mod totals;
mod write;
mod write_statistics;

pub use error::ModelError;
pub use knobs::{Knob, KnobError, Knobs, ShareKnob};
pub use layer::SessionLayer;
pub(crate) use offsets::shifted;
pub use offsets::{DrawnPlaces, OffsetLaw, Stride};
pub use place_run::PlaceRun;
pub use progress::Stuck;
pub use ratio::{Ratio, common_divisor};
pub use statistics::Statistics;
pub use synthesis::{Action, Synthetic, synthesise};
pub use together::Apart;
pub use totals::{TooMuch, Totals};

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// Version of model files that is read and written.
pub const VERSION: i64 = 1;

/// What the ranks of a program do to files, at any number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// How many ranks the recording had; NULL if it was made by hand.
    pub ranks: Option<u32>,
    /// Whether the transfers of shared files are those of so many ranks, dealt to the ranks of a run; else each rank makes its own.
    pub strong: bool,
    /// Sets of ranks.
    pub groups: Vec<RankGroup>,
    /// Files.
    pub files: Vec<ModelFile>,
    /// What all ranks do, in order.
    pub steps: Vec<ProgramStep>,
    /// In place of steps: the order is drawn (algorithm 1), and this is where ranks wait for each other in it.
    pub path: Option<Vec<PathBarrier>>,
}

/// Where the ranks of a group wait for each other in a path that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathBarrier {
    /// Index of the group.
    pub group: usize,
    /// After how much of the path of a rank, in millionths, with how often.
    pub at: BTreeMap<u64, u64>,
}

/// Whether any step is such a one, in loops, too.
fn any_step(steps: &[ProgramStep], wanted: &dyn Fn(&ProgramStep) -> bool) -> bool {
    steps.iter().any(|step| match step {
        ProgramStep::Repeat(_, steps) => any_step(steps, wanted),
        step => wanted(step),
    })
}

/// Ranks of a run for which nobody says how many.
const RANKS: u32 = 4;

impl Model {
    /// How many ranks a run has: as many as are wanted, else as the recording had.
    #[must_use]
    pub fn ranks_of_run(&self, wanted: Option<u32>) -> u32 {
        wanted.or(self.ranks).unwrap_or(RANKS)
    }

    /// Whether ranks wait for sessions of others.
    #[must_use]
    pub fn has_waits(&self) -> bool {
        any_step(&self.steps, &|step| matches!(step, ProgramStep::After { .. }))
    }

    /// Whether sessions take locks.
    #[must_use]
    pub fn has_locks(&self) -> bool {
        self.sessions().any(ModelSession::has_locks)
    }

    /// Whether places are drawn of which more is known than how likely they are: in which part of a file a rank is, or that it reads what it wrote.
    #[must_use]
    pub fn has_kept_draws(&self) -> bool {
        let mut laws = self.sessions().flat_map(ModelSession::laws);
        laws.any(|law| matches!(law, OffsetLaw::Drawn { rank, written, .. } if *rank > 0 || *written))
    }

    /// Whether ranks give each other messages.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        any_step(&self.steps, &|step| matches!(step, ProgramStep::Message { .. }))
    }

    /// Whether a session or a call makes the file of that index.
    #[must_use]
    pub fn makes(&self, file: usize) -> bool {
        let makes = |step: &ProgramStep| match step {
            ProgramStep::Call { call: NameCall::MakeDirectory, file: made, .. } => *made == file,
            ProgramStep::Call { to, .. } => *to == Some(file),
            _ => false,
        };
        let model = &self.files[file];
        model.sessions.iter().any(|session| session.mode.create)
            || model.statistics.iter().any(Statistics::makes)
            || any_step(&self.steps, &makes)
    }

    /// Whether so many ranks, more than the recording had, read more of a file through a session: the file that was there has grown with them.
    #[must_use]
    pub fn reads_grow(&self, file: usize, session: usize, ranks: u32) -> bool {
        let of = &self.files[file];
        self.ranks.is_some_and(|recorded| ranks > recorded)
            && !self.is_dealt(file)
            && of.class == Sharing::Shared
            && of.size > 0
            && of.sessions.get(session).is_some_and(|session| session.offset.grows())
    }

    /// By how many bytes a file that is there before grows with each rank more than the recording had, because that reads behind its end.
    #[must_use]
    pub fn growth(&self, file: usize) -> u64 {
        let Some(ranks) = self.ranks.filter(|ranks| *ranks < u32::MAX) else { return 0 };
        let grows = |session| self.reads_grow(file, session, ranks + 1);
        if !(0..self.files[file].sessions.len()).any(grows) {
            return 0;
        }
        let end_of = |ranks| {
            let mut end = 0;
            for rank in 0..ranks {
                let read = synthesise(self, (rank, ranks), 0, &mut |step| {
                    if let (Action::Transfer { kind: RequestKind::Read, offset, size }, Some((of, session))) =
                        (step.action, step.of)
                        && of == file
                        && grows(session)
                    {
                        end = end.max(offset.saturating_add(size));
                    }
                    ControlFlow::<()>::Continue(())
                });
                debug_assert!(read.is_continue());
            }
            end
        };
        end_of(ranks + 1).saturating_sub(end_of(ranks))
    }

    /// Whether the file of that index is there before the run. What gets its name by a link is not, whatever is read of it.
    #[must_use]
    pub fn is_there(&self, file: usize) -> bool {
        let links = |step: &ProgramStep| matches!(step, ProgramStep::Call { call: NameCall::Link, to, .. } if *to == Some(file));
        let model = &self.files[file];
        let needed = model.statistics.iter().any(|statistics| statistics.needs(model.kind));
        model.kind != FileKind::Absent
            && (model.size > 0
                || model.present
                || needed
                || !self.makes(file)
                || model.filled && !any_step(&self.steps, &links))
    }
}

/// Ranks that synchronise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankGroup {
    /// Its name.
    pub name: String,
    /// The first rank.
    pub first: u32,
    /// The last one; NULL for that of the run.
    pub last: Option<u32>,
}

impl RankGroup {
    /// Whether a rank is in it.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        rank >= self.first && self.last.is_none_or(|last| rank <= last)
    }

    /// How many of so many ranks are in it.
    #[must_use]
    pub fn size(&self, ranks: u32) -> u32 {
        let behind = self.last.map_or(ranks, |last| last.saturating_add(1).min(ranks));
        behind.saturating_sub(self.first)
    }
}

/// Who uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Rank 0 alone.
    Root,
    /// All ranks.
    Shared,
    /// Each rank its own one.
    Private,
}

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// It holds bytes.
    #[default]
    File,
    /// A directory; it is empty.
    Directory,
    /// Nothing: it is never there, and calls that name it fail for that.
    Absent,
}

/// A file, or one of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// Its name beneath the directory of a run; `%r` stands for the rank, `%i` for the number of the file, from 0.
    pub name: String,
    /// So many files of this name, that differ in `%i`: the k-th execution of a session is on file k modulo this.
    pub count: u64,
    /// Who uses it.
    pub class: Sharing,
    /// What it is.
    pub kind: FileKind,
    /// Bytes that it holds before the run; of several the most.
    pub size: u64,
    /// The same of each file in its turn, as runs of size and number, where they differ; behind the last one the first one comes again. Private files
    /// are counted rank by rank.
    pub lengths: Vec<(u64, u64)>,
    /// Whether it is there before the run though it holds nothing and a session or call makes it.
    pub present: bool,
    /// Time before calls that name it, in ns, in the order in which a rank makes them; behind the last one the first one comes again. None if there is
    /// no time.
    pub call_slack: Vec<u64>,
    /// How often steps of the program on it are done: its files are more or fewer than the program's.
    pub times: Ratio,
    /// The same of calls that name it and change no name.
    pub call_times: Ratio,
    /// Whether it holds all that is read of it before the run.
    pub filled: bool,
    /// What is done through one open.
    pub sessions: Vec<ModelSession>,
    /// What groups of ranks do, as distributions from which a path is drawn.
    pub statistics: Vec<Statistics>,
}

impl ModelFile {
    /// Time before the call number `before` of a rank that names it, in ns.
    #[must_use]
    pub fn slack_of_call(&self, before: u64) -> u64 {
        let at = before.checked_rem(self.call_slack.len() as u64);
        at.and_then(|at| self.call_slack.get(at as usize)).copied().unwrap_or_default()
    }

    /// The mean of the time before calls that name it, in ns.
    #[must_use]
    pub fn mean_call_slack(&self) -> u64 {
        let sum: u128 = self.call_slack.iter().map(|ns| u128::from(*ns)).sum();
        u64::try_from(sum / self.call_slack.len().max(1) as u128).unwrap_or(u64::MAX)
    }

    /// Bytes that the file of a rank and a number holds before the run.
    #[must_use]
    pub fn length(&self, rank: u32, number: u64) -> u64 {
        let all: u64 =
            self.lengths.iter().map(|(_, count)| count).fold(0, |sum, count| sum.saturating_add(*count));
        let before =
            if self.class == Sharing::Private { u64::from(rank).saturating_mul(self.count) } else { 0 };
        let Some(mut at) = before.saturating_add(number).checked_rem(all) else { return self.size };
        let own = self.lengths.iter().find(|(_, count)| {
            let is_own = at < *count;
            at = at.saturating_sub(*count);
            is_own
        });
        own.map_or(self.size, |(size, _)| *size)
    }

    /// The name of the file of a rank and a number.
    #[must_use]
    pub fn instance(&self, rank: u32, number: u64) -> String {
        self.name.replace("%r", &rank.to_string()).replace("%i", &number.to_string())
    }
}

/// What is done from an open to its close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSession {
    /// Its name, unique in the file.
    pub name: String,
    /// How the file is opened.
    pub mode: Mode,
    /// With whose calls it is done.
    pub layer: SessionLayer,
    /// Requests between open and close, spread evenly among each other; no count is 0.
    pub requests: BTreeMap<RequestKind, u64>,
    /// Bytes of transfers, with weights; not empty where there are transfers.
    pub sizes: BTreeMap<u64, u64>,
    /// Those of writes, where reads have other ones; else empty.
    pub write_sizes: BTreeMap<u64, u64>,
    /// The same in the order of the transfers, as runs of size and number, where it is not drawn; behind the last one the first one comes again.
    /// Where there are reads and writes, these are the sizes of reads.
    pub runs: Vec<(u64, u64)>,
    /// Those of writes, where these have others.
    pub write_runs: Vec<(u64, u64)>,
    /// Where transfers begin.
    pub offset: OffsetLaw,
    /// Millionths of the transfers that change their places with each other.
    pub random: u64,
    /// Where writes begin, if reads and writes follow laws of their own; then both are counted apart.
    pub write_offset: Option<OffsetLaw>,
    /// The length that its truncates give the file; NULL for that which it has.
    pub length: Option<Stride>,
    /// Runs of requests in their order, where they are not spread. It is done as often as the numbers of requests say, which are a multiple of
    /// its sums.
    pub order: Vec<(RequestKind, u64)>,
    /// Times before requests, in ns, with weights; none if there is no time.
    pub slack: BTreeMap<u64, u64>,
    /// How long a request takes on average, in ns: plans are made with it.
    pub duration: u64,
    /// As how many steps programs count it that do it in parts, where that is another number than that of its steps; else 0.
    pub counted: u64,
}

impl ModelSession {
    /// Its open, its requests and its close.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.requests.values().fold(2, |sum, count| sum.saturating_add(*count))
    }

    /// Runs of requests in this order, up to where it repeats, or nothing if that is the one in which requests are spread evenly.
    #[must_use]
    pub fn order_of(kinds: &[RequestKind]) -> Vec<(RequestKind, u64)> {
        let mut requests = BTreeMap::new();
        kinds.iter().for_each(|kind| *requests.entry(*kind).or_default() += 1);
        if synthesis::spread(&requests).eq(kinds.iter().copied()) {
            return Vec::new();
        }
        let mut runs: Vec<(RequestKind, u64)> = Vec::new();
        for kind in &kinds[..period(kinds)] {
            match runs.last_mut() {
                Some((last, count)) if last == kind => *count += 1,
                _ => runs.push((*kind, 1)),
            }
        }
        runs
    }

    /// Whether any request takes a lock.
    #[must_use]
    pub fn has_locks(&self) -> bool {
        takes_locks(&self.requests)
    }

    /// How often the order is done; NULL if the requests are no multiple of it.
    #[must_use]
    pub fn rounds(&self) -> Option<u64> {
        rounds(&self.order, &self.requests)
    }

    /// The laws of its places: one, or those of reads and of writes.
    pub fn laws(&self) -> impl Iterator<Item = &OffsetLaw> {
        std::iter::once(&self.offset).chain(&self.write_offset)
    }

    /// The mean of the times before its requests, in ns.
    #[must_use]
    pub fn mean_slack(&self) -> u64 {
        let weights: u128 = self.slack.values().map(|weight| u128::from(*weight)).sum();
        let sum: u128 = self.slack.iter().map(|(time, weight)| u128::from(*time) * u128::from(*weight)).sum();
        u64::try_from(sum / weights.max(1)).unwrap_or(u64::MAX)
    }

    /// As how many steps programs count it that do it in parts.
    #[must_use]
    pub fn counted(&self) -> u64 {
        if self.counted > 0 { self.counted } else { self.steps() }
    }

    /// Sizes of transfers of that kind, with weights.
    #[must_use]
    pub fn sizes_of(&self, kind: RequestKind) -> &BTreeMap<u64, u64> {
        if kind == RequestKind::Write && !self.write_sizes.is_empty() {
            &self.write_sizes
        } else {
            &self.sizes
        }
    }

    /// Runs of sizes of transfers of that kind in their order; empty where that is drawn, or there is one size.
    #[must_use]
    pub fn runs_of(&self, kind: RequestKind) -> &[(u64, u64)] {
        if kind == RequestKind::Write && !self.write_sizes.is_empty() { &self.write_runs } else { &self.runs }
    }
}

/// Whether any of these requests is about a lock.
#[must_use]
pub fn takes_locks(requests: &BTreeMap<RequestKind, u64>) -> bool {
    requests.keys().any(|kind| kind.is_of_lock())
}

/// How often an order is done that has all of these requests; NULL if they are no multiple of it.
fn rounds(order: &[(RequestKind, u64)], requests: &BTreeMap<RequestKind, u64>) -> Option<u64> {
    let mut sums: BTreeMap<RequestKind, u64> = BTreeMap::new();
    for (kind, count) in order {
        let sum = sums.entry(*kind).or_default();
        *sum = sum.checked_add(*count)?;
    }
    let (kind, sum) = sums.first_key_value()?;
    let rounds = requests.get(kind)?.checked_div(*sum)?;
    let same = |(kind, sum): (&RequestKind, &u64)| requests.get(kind).copied() == sum.checked_mul(rounds);
    (sums.len() == requests.len() && rounds > 0 && sums.iter().all(same)).then_some(rounds)
}

/// Whether no lock is taken that is held, and none released that is not.
pub fn locks_fit(kinds: impl IntoIterator<Item = RequestKind>) -> bool {
    let mut held = false;
    kinds.into_iter().all(|kind| match kind {
        RequestKind::Lock | RequestKind::LockShared => !std::mem::replace(&mut held, true),
        RequestKind::Unlock => std::mem::take(&mut held),
        _ => true,
    })
}

/// The length of the shortest begin of which all is a repetition.
fn period(kinds: &[RequestKind]) -> usize {
    let shift = repeats_after(kinds);
    if kinds.len().is_multiple_of(shift.max(1)) { shift } else { kinds.len() }
}

/// The length of the shortest begin that all repeats, the last time perhaps a part of it.
#[must_use]
pub fn repeats_after<T: PartialEq>(values: &[T]) -> usize {
    // How long the longest begin is that ends at each place and is shorter than that (Knuth, Morris and Pratt).
    let mut borders = vec![0_usize; values.len()];
    for at in 1..values.len() {
        let mut border = borders[at - 1];
        while border > 0 && values[border] != values[at] {
            border = borders[border - 1];
        }
        borders[at] = border + usize::from(values[border] == values[at]);
    }
    values.len() - borders.last().copied().unwrap_or_default()
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// It may be read.
    pub read: bool,
    /// It may be written.
    pub write: bool,
    /// It is made if it is not there.
    pub create: bool,
    /// It is emptied.
    pub truncate: bool,
    /// Writes go to its end.
    pub append: bool,
}

/// A request through a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// Takes a lock of the file that nobody else may have meanwhile; waits for it.
    Lock,
    /// Takes one that others may have, too.
    LockShared,
    /// Moves bytes into the process.
    Read,
    /// Moves bytes out of it.
    Write,
    /// Forces data and metadata to storage.
    Fsync,
    /// Forces data to storage.
    Fdatasync,
    /// Asks what the file is.
    Stat,
    /// Sets the length of the file, to where transfers so far ended or to its size before the run.
    Truncate,
    /// Releases the lock.
    Unlock,
}

/// All kinds of requests with their words.
const REQUESTS: [(&str, RequestKind); 9] = [
    ("lock", RequestKind::Lock),
    ("lock-shared", RequestKind::LockShared),
    ("read", RequestKind::Read),
    ("write", RequestKind::Write),
    ("fsync", RequestKind::Fsync),
    ("fdatasync", RequestKind::Fdatasync),
    ("stat", RequestKind::Stat),
    ("truncate", RequestKind::Truncate),
    ("unlock", RequestKind::Unlock),
];

impl RequestKind {
    /// The word for it in model files.
    #[must_use]
    pub fn word(self) -> &'static str {
        REQUESTS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// Whether it moves data.
    #[must_use]
    pub fn is_transfer(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether it takes or releases a lock.
    #[must_use]
    pub const fn is_of_lock(self) -> bool {
        matches!(self, Self::Lock | Self::LockShared | Self::Unlock)
    }
}

/// A call that names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameCall {
    /// An open that fails.
    Open,
    /// Asks what it is.
    Stat,
    /// Removes its name.
    Unlink,
    /// Gives it another name: that of another file, or one that the model calls the same.
    Rename,
    /// Gives it a further name: that of another file of the model.
    Link,
    /// Makes a directory.
    MakeDirectory,
    /// Removes a directory.
    RemoveDirectory,
    /// Opens a directory, reads its entries and closes it.
    List,
}

/// All calls that name a file with their words.
const CALLS: [(&str, NameCall); 8] = [
    ("open", NameCall::Open),
    ("stat", NameCall::Stat),
    ("unlink", NameCall::Unlink),
    ("rename", NameCall::Rename),
    ("link", NameCall::Link),
    ("mkdir", NameCall::MakeDirectory),
    ("rmdir", NameCall::RemoveDirectory),
    ("readdir", NameCall::List),
];

impl NameCall {
    /// The word for it in model files.
    #[must_use]
    pub fn word(self) -> &'static str {
        CALLS.iter().find(|(_, call)| *call == self).map_or("", |(word, _)| word)
    }

    /// Whether it takes away a name, of which another file may get it.
    #[must_use]
    pub const fn takes_name(self, given: bool) -> bool {
        matches!(self, Self::Unlink | Self::RemoveDirectory) || given && matches!(self, Self::Rename)
    }

    /// Whether a file of that kind may be called so.
    #[must_use]
    pub fn takes(self, kind: FileKind) -> bool {
        match self {
            Self::Stat | Self::Rename => true,
            Self::Open => kind == FileKind::Absent,
            Self::Unlink => kind != FileKind::Directory,
            Self::Link => kind == FileKind::File,
            Self::MakeDirectory => kind == FileKind::Directory,
            Self::RemoveDirectory | Self::List => kind != FileKind::File,
        }
    }
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramStep {
    /// The steps, so many times.
    Repeat(u64, Vec<ProgramStep>),
    /// The session of that index of the file of that index.
    Session {
        /// Index of the file.
        file: usize,
        /// Index of the session in the file.
        session: usize,
        /// Index of the group of ranks that does it; NULL for all that use the file.
        ranks: Option<usize>,
    },
    /// The next steps of a session: its open, its requests and its close are one each. Without one that is not over another begins, and at
    /// the end of the program all are ended.
    Part {
        /// Index of the file.
        file: usize,
        /// Index of the session in the file.
        session: usize,
        /// Index of the group of ranks that does it; NULL for all that use the file.
        ranks: Option<usize>,
        /// How many.
        steps: u64,
    },
    /// A call that names a file.
    Call {
        /// Which.
        call: NameCall,
        /// Index of the file.
        file: usize,
        /// Index of the group of ranks that makes it; NULL for all that use the file.
        ranks: Option<usize>,
        /// Index of the file whose name it gets, if it renames it to one.
        to: Option<usize>,
    },
    /// All ranks of the group of that index wait for each other.
    Barrier(usize),
    /// Time in which ranks do something else than requests: before their first one and after their last one.
    Pause {
        /// In ns.
        ns: u64,
        /// Index of the group of ranks; NULL for all.
        ranks: Option<usize>,
    },
    /// Waits until others have ended all executions of a session that come before in the program. Directly before that session ranks take
    /// turns: those before this one have done it once more.
    After {
        /// Index of the file.
        file: usize,
        /// Index of the session in the file.
        session: usize,
        /// Whose.
        of: Partner,
        /// Index of the group of ranks that waits; NULL for all.
        ranks: Option<usize>,
    },
    /// Half of a message: the rank gives one to each partner, or waits until each has given it one more.
    Message {
        /// Which half.
        half: MessageHalf,
        /// To whom, or from whom.
        partner: Partner,
        /// Index of the group of ranks that does it; NULL for all.
        ranks: Option<usize>,
    },
}

/// What a rank does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageHalf {
    /// Gives it, and waits for nobody.
    Send,
    /// Waits for it. One that nobody gives is not waited for.
    Receive,
}

impl MessageHalf {
    /// Both, by their words in a model file, with the word for the partner.
    pub(crate) const ALL: [(&str, &str, Self); 2] =
        [("send", "to", Self::Send), ("receive", "from", Self::Receive)];

    /// The word in a model file, and that for the partner.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        let known = Self::ALL.iter().find(|(.., half)| *half == self);
        known.map_or(("", ""), |(word, partner, _)| (word, partner))
    }
}

/// Other ranks, as one rank sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partner {
    /// The ranks of the group of that index, but not for itself.
    Group(usize),
    /// The rank that comes so much later, if there is one: -1 is the one before.
    Shift(i32),
    /// The same, counted round.
    Around(i32),
}

impl Partner {
    /// Which ranks these are among so many.
    pub(crate) fn ranks(self, groups: &[RankGroup], rank: u32, ranks: u32) -> impl Iterator<Item = u32> {
        self.range(groups, rank, ranks).filter(move |other| *other != rank)
    }

    /// How many these are.
    pub(crate) fn count(self, groups: &[RankGroup], rank: u32, ranks: u32) -> u32 {
        let range = self.range(groups, rank, ranks);
        range.end.saturating_sub(range.start) - u32::from(range.contains(&rank))
    }

    /// The same with the rank itself, if it is among them.
    fn range(self, groups: &[RankGroup], rank: u32, ranks: u32) -> Range<u32> {
        match self {
            Self::Group(group) => {
                let group = groups.get(group);
                group.map_or(0..0, |group| {
                    group.first..group.last.map_or(ranks, |last| last.saturating_add(1).min(ranks))
                })
            }
            Self::Shift(shift) => {
                let other = rank.checked_add_signed(shift).filter(|other| *other < ranks);
                other.map_or(0..0, |other| other..other + 1)
            }
            Self::Around(shift) => {
                let other = shifted(rank, shift, ranks);
                other..other + 1
            }
        }
    }
}
