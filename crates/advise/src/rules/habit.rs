//! What rules see of a call, and what they find.

use super::beside::Beside;
use crate::result::Example;
use iotrail_model::calls::mpi::Together;
use iotrail_model::calls::{CallKind, Class, LockRequest, OpenFlags, Transfer};
use iotrail_model::{CaseId, FileId, Names, OpenId, PathId, Pid, Tid};
use iotrail_query::process_group::executable;
use iotrail_query::{ProcessEntry, ProcessId, ProcessTable};
use iotrail_workflow::why::PathTimes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What rules know of a log beside its calls.
pub(crate) struct Context<'a> {
    pub(crate) names: &'a Names,
    pub(crate) process_table: &'a ProcessTable,
    pub(crate) path: &'a PathTimes,
    /// Who uses files from other cases.
    pub(crate) beside: &'a Beside,
}

impl Context<'_> {
    /// The text of a path.
    pub(crate) fn text(&self, path: Option<PathId>) -> Arc<str> {
        let text = path.and_then(|path| self.names.paths.get(path.index()));
        text.cloned().unwrap_or_else(|| Arc::from("?"))
    }

    /// What a process is called.
    pub(crate) fn program(&self, process: ProcessId) -> &str {
        executable(self.process_table.last_image(process)).unwrap_or("?")
    }

    /// How much CPU time a process took outside of the kernel, in ns, if that is known of all of its images.
    pub(crate) fn computed(&self, process: ProcessId) -> Option<u64> {
        let user = self.process_table.images(process).iter().map(|image| Some(image.usage.user?.0));
        u64::try_from(user.sum::<Option<i64>>()?).ok()
    }

    /// How long a process lived, and how much of that explains the elapsed time, if its begin and end are known.
    pub(crate) fn lived(&self, process: ProcessId) -> Option<Saved> {
        let ProcessEntry { start: Some(start), end: Some(end), .. } = self.process_table.get(process) else {
            return None;
        };
        let time = u64::try_from(end.0.saturating_sub(start.0)).ok()?;
        Some(Saved {
            calls: 1,
            timed: 1,
            time: Some(time),
            on_path: self.path.of_process(process, (start.0, end.0)),
        })
    }
}

/// Whether a path is one of the system's own, whose files are what they are.
pub(crate) fn is_of_system(path: &str) -> bool {
    ["/usr/", "/lib", "/etc/", "/opt/", "/bin/", "/sbin/"].iter().any(|system| path.starts_with(system))
}

/// A call, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Seen {
    pub(crate) case: CaseId,
    pub(crate) pid: Pid,
    /// How many programs the process executed before.
    pub(crate) image: u32,
    pub(crate) tid: Tid,
    /// The process from birth to death, if it is known.
    pub(crate) process: Option<ProcessId>,
    pub(crate) seq: u64,
    pub(crate) start: i64,
    /// How long it took, in ns.
    pub(crate) time: Option<u64>,
    /// How much of that its thread spends on it: of requests in flight at the same time each moment counts once.
    pub(crate) spent: Option<u64>,
    /// How much of that explains the elapsed time, in ns.
    pub(crate) on_path: u64,
    /// Whether it is a request that the kernel serves beside the thread.
    pub(crate) is_request: bool,
    pub(crate) kind: CallKind,
    /// What its time counts as; NULL if that is not known.
    pub(crate) class: Option<Class>,
    pub(crate) transfer: Transfer,
    pub(crate) result: Outcome,
    pub(crate) path: Option<PathId>,
    /// The directory of that path, if it has an id.
    pub(crate) parent: Option<PathId>,
    /// Of regular files and block devices.
    pub(crate) file: Option<FileId>,
    /// Whether the path is a pipe.
    pub(crate) is_pipe: bool,
    pub(crate) open: Option<OpenId>,
    /// The case that numbers it.
    pub(crate) numbering: CaseId,
    pub(crate) offset: Option<u64>,
    pub(crate) size: Option<u64>,
    pub(crate) ret: Option<i64>,
    /// How it opens a file.
    pub(crate) opened: OpenFlags,
    /// What it asks of a lock.
    pub(crate) lock: Option<LockRequest>,
    /// Whether its bytes are on storage before it returns.
    pub(crate) syncs: bool,
    /// Whether it maps its file so that others see what is stored there.
    pub(crate) shares: bool,
    /// Whether that may store anything there, as far as it is known.
    pub(crate) may_store: bool,
    /// Whether its bytes go to the end of the file, wherever that is.
    pub(crate) appends: bool,
    /// Whether its path is none that programs read while they start.
    pub(crate) is_own: bool,
    /// Whether its path is the system's own.
    pub(crate) is_of_system: bool,
    /// Whether it seeks to a position that it states.
    pub(crate) seeks_from_begin: bool,
    /// Of calls of MPI-IO that stand above those that move the data: what they are to transfers of all ranks.
    pub(crate) together: Together,
    /// Whether its process makes it in a transfer of all ranks, be it by a thread of the library.
    pub(crate) is_for_all: bool,
    /// Whether it is of the layer in which each byte counts once.
    pub(crate) is_counted: bool,
    /// Time that recording takes behind each call, in ns: the thread computes that much less.
    pub(crate) behind: u64,
    /// Whether the user asked about it.
    pub(crate) selected: bool,
}

/// A program that a process executes: who executes another one starts anew.
pub(crate) type Image = (CaseId, Pid, u32);

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    #[default]
    Done,
    /// There is no such name.
    Missing,
    Failed,
}

impl Seen {
    /// The open file description that it uses, whatever case it is of.
    pub(crate) fn description(&self) -> Option<(CaseId, OpenId)> {
        self.open.map(|open| (self.numbering, open))
    }

    /// The process, and which of its programs.
    pub(crate) fn process(&self) -> Image {
        (self.case, self.pid, self.image)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.result == Outcome::Done
    }

    /// When it was over, as far as that is known.
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add_unsigned(self.time.unwrap_or_default())
    }

    /// The bytes that it moved.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        let (low, size) = self.offset.zip(self.size)?;
        Some((low, low.saturating_add(size)))
    }

    /// Whether it may change bytes of its file.
    pub(crate) fn changes(&self) -> bool {
        self.opened.truncates()
            || self.shares && self.may_store
            || matches!(self.transfer, Transfer::Write | Transfer::Copy)
            || matches!(self.kind, CallKind::Truncate | CallKind::Allocate | CallKind::DeviceControl)
    }

    /// What is kept of it if a habit begins with it.
    pub(crate) fn first(&self) -> First {
        First {
            case: self.case,
            pid: self.pid,
            image: self.image,
            tid: self.tid,
            process: self.process,
            seq: self.seq,
            start: self.start,
            path: self.path,
            offset: self.offset.unwrap_or_default(),
            bytes: self.size.unwrap_or_default(),
        }
    }
}

/// The first call of a habit. Rules keep one for each process and file, so it holds no more than is shown.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct First {
    pub(crate) case: CaseId,
    pub(crate) pid: Pid,
    image: u32,
    pub(crate) tid: Tid,
    pub(crate) process: Option<ProcessId>,
    pub(crate) seq: u64,
    pub(crate) start: i64,
    pub(crate) path: Option<PathId>,
    offset: u64,
    bytes: u64,
}

impl First {
    /// The process, and which of its programs.
    pub(crate) fn process(&self) -> Image {
        (self.case, self.pid, self.image)
    }

    pub(crate) fn example(&self, case: String, calls: u64) -> Example {
        Example {
            case,
            pid: self.pid.0,
            tid: self.tid.0,
            first: self.seq,
            last: self.seq,
            start_ns: self.start,
            calls,
            offset: self.offset,
            bytes: self.bytes,
        }
    }
}

/// Calls that need not be, and their time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    pub(crate) calls: u64,
    /// The calls whose durations `time` is the sum of: tracing made each of them longer.
    pub(crate) timed: u64,
    /// NULL if a duration is not known.
    pub(crate) time: Option<u64>,
    /// How much of the time explains the elapsed time.
    pub(crate) on_path: u64,
}

impl Default for Saved {
    fn default() -> Self {
        Self { calls: 0, timed: 0, time: Some(0), on_path: 0 }
    }
}

impl Saved {
    pub(crate) fn add(&mut self, call: &Seen) {
        let timed = u64::from(!call.is_request);
        self.join(Self { calls: 1, timed, time: call.spent, on_path: call.on_path });
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.timed += other.timed;
        self.time = self.time.zip(other.time).map(|(sum, time)| sum.saturating_add(time));
        self.on_path = self.on_path.saturating_add(other.on_path);
    }

    /// So many in a hundred of these calls.
    pub(crate) fn percent(self, percent: u64) -> Self {
        self.fraction(percent, 100)
    }

    /// `some` of each `all` of these calls; `all` is not 0.
    pub(crate) fn fraction(self, some: u64, all: u64) -> Self {
        let part = |number: u64| (u128::from(number) * u128::from(some) / u128::from(all)) as u64;
        Self {
            calls: part(self.calls),
            timed: part(self.timed),
            time: self.time.map(part),
            on_path: part(self.on_path),
        }
    }

    /// The time without what tracing added to each call.
    pub(crate) fn time(&self, tracing: u64) -> Option<u64> {
        self.time.map(|time| time.saturating_sub(tracing.saturating_mul(self.timed)))
    }

    /// The part of that which explains the elapsed time.
    pub(crate) fn at_stake(&self, tracing: u64) -> Option<u64> {
        Some(part_of(self.time(tracing)?, self.on_path, self.time?))
    }
}

/// Of a number the part that `some` is of `all`.
pub(crate) fn part_of(number: u64, some: u64, all: u64) -> u64 {
    (u128::from(number) * u128::from(some.min(all)) / u128::from(all.max(1))) as u64
}

/// Calls of a habit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) first: First,
    /// All of them.
    pub(crate) calls: u64,
    /// Those that need not be.
    pub(crate) saved: Saved,
    /// What the rule counts beside calls.
    pub(crate) amount: u64,
}

impl Tally {
    /// Of a habit that begins with this call.
    pub(crate) fn new(first: First) -> Self {
        Self { first, calls: 0, saved: Saved::default(), amount: 0 }
    }

    /// Calls of the same habit, which come behind these.
    pub(crate) fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.saved.join(other.saved);
        self.amount = self.amount.saturating_add(other.amount);
    }

    /// One more, which need not be.
    pub(crate) fn waste(&mut self, call: &Seen) {
        self.calls += 1;
        self.saved.add(call);
    }
}

/// A habit of one process.
#[derive(Clone, Debug)]
pub(crate) struct ProcessHabit {
    pub(crate) rule: &'static str,
    /// The file or directory.
    pub(crate) file: Arc<str>,
    pub(crate) tally: Tally,
    /// Where most of the calls are, the most first.
    pub(crate) places: Vec<(Arc<str>, u64)>,
    pub(crate) fix: &'static str,
    pub(crate) assumes: &'static str,
}

/// Numbers of things by path, as a place that most of them lie below and the directories with most.
#[derive(Default)]
pub(crate) struct Directories(BTreeMap<Arc<str>, u64>);

impl Directories {
    pub(crate) fn add(&mut self, directory: &str, number: u64) {
        *self.0.entry(directory.into()).or_default() += number;
    }

    /// The deepest directory below which more than half of them lie.
    pub(crate) fn common(&self) -> Arc<str> {
        let all: u64 = self.0.values().sum();
        let mut below = BTreeMap::<&str, u64>::new();
        for (directory, number) in &self.0 {
            let mut place: &str = directory;
            loop {
                *below.entry(place).or_default() += number;
                match place.rsplit_once('/') {
                    Some((parent, _)) => place = parent,
                    None => break,
                }
            }
        }
        let most = below.into_iter().filter(|(_, number)| *number * 2 > all);
        let deepest = most.max_by_key(|(place, _)| place.len()).map_or("", |(place, _)| place);
        if deepest.is_empty() { "/".into() } else { deepest.into() }
    }

    /// Those with most, the most first.
    pub(crate) fn most(self) -> Vec<(Arc<str>, u64)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        all.truncate(PLACES);
        all
    }
}

/// How many places a finding names.
pub(crate) const PLACES: usize = 3;

/// Directory and name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_lie_below_is_named_and_no_more() {
        let common = |rows: &[(&str, u64)]| {
            let mut directories = Directories::default();
            rows.iter().for_each(|(directory, number)| directories.add(directory, *number));
            directories.common().to_string()
        };
        assert_eq!(common(&[("/a/b", 2), ("/a/c", 2), ("/d", 1)]), "/a");
        assert_eq!(common(&[("/a/b", 9), ("/a/c", 2)]), "/a/b");
        assert_eq!(common(&[("/a", 1), ("/b", 1)]), "/");
        assert_eq!(common(&[]), "/");
    }

    #[test]
    fn at_stake_is_the_part_on_the_path_without_tracing() {
        let saved = Saved { calls: 10, timed: 10, time: Some(1_000), on_path: 500 };
        assert_eq!(saved.at_stake(20), Some(400));
        assert_eq!(Saved { calls: 0, ..saved }.at_stake(20), Some(400));
        assert_eq!(Saved { time: None, ..saved }.at_stake(20), None);
        assert_eq!(Saved { on_path: 0, ..saved }.at_stake(20), Some(0));
    }
}
