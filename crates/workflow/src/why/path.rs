//! The walk back from the last end: which thread is on the path when.

use crate::waits::gather::is_nameless;
use crate::waits::ranks::NamedWait;
use crate::waits::{Act, Cause, Ended, LineId, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::PathId;
use iotrail_query::{ProcessId, ProcessTable};

/// A time on the path. Legs cover the run from first to last moment without a hole or an overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    pub(super) line: LineId,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) what: What,
}

/// Whose time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The thread's own: its calls, and what lies between them.
    Own,
    /// From the call that ended a wait to the end of that wait.
    HandOver(Ended),
    /// Before the first call of a thread that nobody recorded made.
    Start,
}

/// A wait with a known cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    pub(super) line: LineId,
    pub(super) start: i64,
    pub(super) cause: Cause,
    pub(super) channel: Option<PathId>,
}

/// The path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// First and last moment.
    pub(super) span: (i64, i64),
    /// In no order.
    pub(super) legs: Vec<Leg>,
    /// The waits that the walk left to their causes.
    pub(super) awaited: Vec<Awaited>,
}

/// What a wait was for, if that has a name.
pub(super) fn channel_of(act: Act) -> Option<PathId> {
    let channel = match act {
        Act::Read { channel, .. } | Act::Write(channel) | Act::Accept(channel) | Act::Open(channel) => {
            Some(channel)
        }
        Act::Lock(path) => Some(path),
        _ => None,
    };
    channel.filter(|channel| !is_nameless(*channel))
}

/// Walks back through the threads of the processes that `is_in` names.
pub(super) fn walk(
    waits: &Waits,
    processes: &ProcessTable,
    is_in: &impl Fn(ProcessId) -> bool,
) -> Option<Path> {
    let lines = || waits.lines().filter(|line| is_in(waits.process(*line)));
    let first = lines().map(|line| begin_of(waits, processes, line)).min()?;
    let mut ends: Vec<(i64, LineId)> = lines().map(|line| (end_of(waits, line), line)).collect();
    ends.sort_unstable();
    let (last, line) = ends
        .iter()
        .copied()
        .max_by_key(|(end, line)| (*end, waits.span(*line).1, std::cmp::Reverse(*line)))?;
    let line = waits.ending_line(waits.process(line)).unwrap_or(line);
    let last = last.max(first);
    let mut walk = Walk {
        waits,
        is_in,
        path: Path { span: (first, last), ..Path::default() },
        ends,
        left: HashSet::default(),
        at_once: HashSet::default(),
    };
    walk.back(line, last);
    Some(walk.path)
}

fn begin_of(waits: &Waits, processes: &ProcessTable, line: LineId) -> i64 {
    let (first, _) = waits.span(line);
    processes.get(waits.process(line)).start.map_or(first, |start| start.0.min(first))
}

fn end_of(waits: &Waits, line: LineId) -> i64 {
    let (_, last) = waits.span(line);
    waits.last_seen(waits.process(line)).map_or(last, |end| end.max(last))
}

struct Walk<'a, F> {
    waits: &'a Waits,
    is_in: &'a F,
    path: Path,
    /// When each thread ended, sorted.
    ends: Vec<(i64, LineId)>,
    /// Threads that the walk left by their birth, once each, so that wrong times cannot lead in a circle.
    left: HashSet<LineId, RandomState>,
    /// Waits, by their beginning, that ended at the moment at which the walk met them, by something at that moment: each is followed
    /// once, because several may end each other.
    at_once: HashSet<(LineId, i64, i64), RandomState>,
}

impl<F: Fn(ProcessId) -> bool> Walk<'_, F> {
    fn back(&mut self, mut line: LineId, mut at: i64) {
        while let Some(next) = self.before(line, at) {
            (line, at) = next;
        }
    }

    /// Takes the time of a thread back from `at`; answers where the walk goes on.
    fn before(&mut self, line: LineId, at: i64) -> Option<(LineId, i64)> {
        if let Some((end, awaited)) = self.last_wait(line, at) {
            let cause = awaited.cause;
            if cause.at == at {
                self.at_once.insert((line, awaited.start, at));
            }
            self.leg(line, end, at, What::Own);
            self.leg(line, cause.at, end, What::HandOver(cause.what));
            self.path.awaited.push(awaited);
            return Some((cause.line, cause.at));
        }
        let maker = self.waits.maker(line).filter(|(maker, _)| (self.is_in)(self.waits.process(*maker)));
        if let Some((maker, born)) = maker.filter(|_| self.left.insert(line)) {
            let born = born.clamp(self.path.span.0, at);
            self.leg(line, born, at, What::Own);
            return Some((maker, born));
        }
        let (first, begun) = (self.path.span.0, self.waits.span(line).0);
        let begun = begun.clamp(first, at);
        self.leg(line, begun, at, What::Own);
        let ended = self.ended_before(begun).filter(|_| self.left.insert(line));
        self.leg(line, ended.map_or(first, |(_, end)| end), begun, What::Start);
        ended
    }

    /// The last wait of a thread that began before `at` and has a cause on which the walk can go on, and when it ended. A wait for
    /// another rank or for a file stands for all that lies in it, and so does a call that begins or ends MPI.
    fn last_wait(&self, line: LineId, at: i64) -> Option<(i64, Awaited)> {
        let named = self.waits.named_waits(line);
        let begun = named[..named.partition_point(|wait| wait.start < at)].iter().rev();
        let is_new = |start: i64, cause: &Cause| cause.at < at || !self.at_once.contains(&(line, start, at));
        let leads_on =
            |wait: &NamedWait| self.follows(&wait.cause, wait.end.min(at)) && is_new(wait.start, &wait.cause);
        let named = begun.copied().find(leads_on);
        for number in (0..self.waits.before(line, at)).rev() {
            let Some((start, end, act)) = self.waits.wait(line, number) else { continue };
            if named.is_some_and(|named| start < named.start) {
                break;
            }
            if self.waits.is_part(line, start, end) {
                continue;
            }
            let end = end.min(at);
            let leads_on = |cause: &Cause| self.follows(cause, end) && is_new(start, cause);
            let cause = self.waits.cause(line, number, at).filter(leads_on);
            if let Some(cause) = cause {
                return Some((end, Awaited { line, start, cause, channel: channel_of(act) }));
            }
        }
        let NamedWait { start, end, cause, path } = named?;
        Some((end.min(at), Awaited { line, start, cause, channel: path }))
    }

    /// The thread that ended last before `at`, if it is not one that the walk left.
    fn ended_before(&self, at: i64) -> Option<(LineId, i64)> {
        let after = self.ends.partition_point(|(end, _)| *end <= at);
        let (end, line) = *self.ends.get(after.checked_sub(1)?)?;
        let line = self.waits.ending_line(self.waits.process(line)).unwrap_or(line);
        Some((line, end)).filter(|(line, end)| *end > self.path.span.0 && !self.left.contains(line))
    }

    fn follows(&self, cause: &Cause, end: i64) -> bool {
        cause.at > self.path.span.0 && cause.at <= end && (self.is_in)(self.waits.process(cause.line))
    }

    fn leg(&mut self, line: LineId, from: i64, to: i64, what: What) {
        if from < to {
            self.path.legs.push(Leg { line, from, to, what });
        }
    }
}
