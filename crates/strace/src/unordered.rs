//! What time stamps leave open: which of two threads that share descriptors came first.
//!
//! Without time stamps, or within a unit of coarse ones, the order of calls in two files of a `strace -ff` is known only where
//! one thread made the other. Nor is that of calls which overlap in time: the kernel looks up what a descriptor stands for at
//! some moment between their begins and ends. If a thread may have opened or closed a descriptor before or after another one
//! uses it, nobody can say which file that call is about. Only a look at all files of threads that share descriptors tells, so
//! those are read twice; others are not. Without durations (`-T`) a call is taken to be over when it begins.

use crate::births::{for_each_maker, made};
use crate::overlaps::{Overlaps, Span};
use crate::parser::{Parser, ParserSetup};
use crate::shares::shares_table;
use hashbrown::HashMap;
use iotrail_import::{Context, Limits, PlannedFile, TraceReader};
use iotrail_model::calls::{self, DescriptorEffect};
use iotrail_model::raw::{Arg, RawCall, RawItem, Return};
use iotrail_model::{Clock, Dictionaries, Nanos, Tid, Timestamp};

/// The unit of durations, in ns.
const LEAST: i64 = 1000;

/// When something happened: which call of which thread it was, and its times if they can be compared.
#[derive(Clone, Copy, Debug)]
struct Moment {
    thread: usize,
    call: u64,
    time: Option<Span>,
}

/// A thread that shares descriptors with others.
#[derive(Debug, Default)]
struct Thread {
    /// Those it shares them with have the same number.
    table: usize,
    /// The call that made it, if that is in a file of the set.
    made: Option<Moment>,
    /// How many of its calls went by.
    calls: u64,
}

/// The calls of a thread that opened or closed a descriptor, in their order.
#[derive(Debug)]
struct Changes {
    thread: usize,
    moments: Vec<Moment>,
}

/// The descriptors of a call of which nobody can say what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Uncertain {
    /// Those that it uses.
    pub(crate) used: Vec<i32>,
    /// Those that it uses or made whose names strace may have looked up before or after another thread changed them.
    pub(crate) nameless: Vec<i32>,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Unordered {
    by_tid: HashMap<Tid, usize>,
    threads: Vec<Thread>,
    /// The unit of time stamps.
    unit: Nanos,
    /// By table and descriptor.
    changes: HashMap<(usize, i32), Vec<Changes>>,
    /// The same, where time stamps tell the order of single calls.
    overlaps: HashMap<(usize, i32), Overlaps>,
}

impl Unordered {
    /// Of the files of a set.
    pub(crate) fn new(files: &[PlannedFile], context: Context<'_>) -> Self {
        let Some((unit, is_fine)) = unit(files, context) else { return Self::default() };
        let tables = tables(files, context);
        let mut all = Self { unit, ..Self::default() };
        let shared: Vec<&PlannedFile> =
            files.iter().filter(|file| file.tid.is_some_and(|tid| tables.contains_key(&tid))).collect();
        for (thread, file) in shared.iter().enumerate() {
            all.by_tid.extend(file.tid.map(|tid| (tid, thread)));
            let table = file.tid.and_then(|tid| tables.get(&tid)).copied().unwrap_or_default();
            all.threads.push(Thread { table, ..Thread::default() });
        }
        for (thread, file) in shared.iter().enumerate() {
            all.scan(thread, file, context);
        }
        all.threads.iter_mut().for_each(|thread| thread.calls = 0);
        if is_fine {
            all.overlaps = all.changes.drain().map(|(key, changes)| (key, overlaps(changes))).collect();
        }
        all
    }

    /// Of the call of `item`, which comes next from the thread of `file`.
    pub(crate) fn uncertain(&mut self, file: &PlannedFile, item: &RawItem<'_>) -> Uncertain {
        let (RawItem::Call(call) | RawItem::Entered(call)) = item else { return Uncertain::default() };
        let Some(thread) = file.tid.and_then(|tid| self.by_tid.get(&tid)).copied() else {
            return Uncertain::default();
        };
        let now = self.now(thread, file, call);
        if matches!(item, RawItem::Call(_)) {
            self.threads[thread].calls += 1;
        }
        let mut used: Vec<i32> = match copies_table(call) {
            true => self.of_table(self.threads[thread].table),
            false => used(call).collect(),
        };
        used.sort_unstable();
        used.dedup();
        used.retain(|fd| self.is_uncertain(now, *fd));
        let overlapped = used.iter().copied().filter(|fd| self.changes_during(now, *fd).next().is_some());
        // What an open is given was closed by somebody, while a copy has the name of what it was made of.
        let tolerated =
            usize::from(matches!(effect(call), DescriptorEffect::Opens | DescriptorEffect::Makes));
        let others = |fd: i32| {
            let overlaps = self.overlaps.get(&(self.threads[thread].table, fd));
            let found = overlaps.zip(now.time);
            found.into_iter().flat_map(|(overlaps, now)| overlaps.during(overlaps.until_named(now)))
        };
        let is_replaced = |fd: i32| others(fd).any(|change| change.replaces);
        let made = changed(call).into_iter();
        let is_unordered = |fd: i32| self.overlaps.is_empty() && self.is_uncertain(now, fd);
        let made = made.filter(|fd| others(*fd).count() > tolerated || is_replaced(*fd) || is_unordered(*fd));
        Uncertain { nameless: overlapped.chain(made).collect(), used }
    }

    /// How other threads may have changed a descriptor while a call was made, as far as time stamps tell.
    fn changes_during(&self, now: Moment, fd: i32) -> impl Iterator<Item = &Span> {
        let overlaps = self.overlaps.get(&(self.threads[now.thread].table, fd));
        overlaps.zip(now.time).into_iter().flat_map(|(overlaps, now)| overlaps.during(now))
    }

    fn now(&self, thread: usize, file: &PlannedFile, call: &RawCall<'_>) -> Moment {
        // Start and duration are cut off at their units.
        let lasts = call.dur.map_or(Nanos(0), |dur| Nanos(dur.0.saturating_add(self.unit.0 + LEAST - 1)));
        let end = Timestamp(call.start.0.saturating_add(lasts.0));
        let replaces = effect(call) == DescriptorEffect::Shares;
        let span = Span { thread, begin: call.start, end, named: end, replaces };
        Moment { thread, call: self.threads[thread].calls, time: file.first.map(|_| span) }
    }

    /// The descriptors of a table that are opened or closed.
    fn of_table(&self, table: usize) -> Vec<i32> {
        let keys = self.changes.keys().chain(self.overlaps.keys());
        keys.filter(|(of, _)| *of == table).map(|(_, fd)| *fd).collect()
    }

    fn scan(&mut self, thread: usize, file: &PlannedFile, context: Context<'_>) {
        let mut last = None;
        let mut made_last = Vec::new();
        parse(file, context, |item| match item {
            RawItem::Call(call) => {
                let now = self.now(thread, file, call);
                last = now.time;
                made_last.drain(..).for_each(|fd| self.is_named(thread, fd, call.start));
                made_last.extend(changed(call));
                changed(call).into_iter().for_each(|fd| self.change(now, fd));
                if let Some(child) = made(item).and_then(|(child, _)| self.by_tid.get(&child)) {
                    self.threads[*child].made = Some(now);
                }
                self.threads[thread].calls += 1;
            }
            RawItem::Received { fd, .. } => {
                let time = last.filter(|_| file.first.is_some());
                self.change(Moment { thread, call: self.threads[thread].calls, time }, *fd);
            }
            _ => {}
        });
    }

    /// A thread called again after its last change of a descriptor.
    fn is_named(&mut self, thread: usize, fd: i32, by: Timestamp) {
        let changes = self.changes.get_mut(&(self.threads[thread].table, fd)).and_then(|all| all.last_mut());
        if let Some(span) = changes.and_then(|of_thread| of_thread.moments.last_mut()?.time.as_mut()) {
            span.named = by;
        }
    }

    fn change(&mut self, now: Moment, fd: i32) {
        let of_descriptor = self.changes.entry((self.threads[now.thread].table, fd)).or_default();
        match of_descriptor.last_mut() {
            Some(changes) if changes.thread == now.thread => changes.moments.push(now),
            _ => of_descriptor.push(Changes { thread: now.thread, moments: vec![now] }),
        }
    }

    /// Whether another thread may or may not have changed a descriptor before, or two did so before, and nobody can say which
    /// was the last.
    fn is_uncertain(&self, now: Moment, fd: i32) -> bool {
        let key = (self.threads[now.thread].table, fd);
        if let Some((overlaps, now)) = self.overlaps.get(&key).zip(now.time) {
            return overlaps.is_uncertain(now);
        }
        let Some(changes) = self.changes.get(&key) else { return false };
        let mut lasts = Vec::with_capacity(changes.len());
        for Changes { moments, .. } in changes {
            let before = moments.partition_point(|change| self.is_before(*change, now));
            let after = moments[before..].partition_point(|change| !self.is_after(*change, now));
            if after > 0 {
                return true;
            }
            lasts.extend(before.checked_sub(1).map(|last| moments[last]));
        }
        let last = lasts.iter().copied().reduce(|a, b| if self.is_before(a, b) { b } else { a });
        last.is_some_and(|last| {
            lasts.iter().any(|other| other.thread != last.thread && !self.is_before(*other, last))
        })
    }

    /// Whether a change came before a call for certain.
    fn is_before(&self, change: Moment, mut then: Moment) -> bool {
        loop {
            if change.thread == then.thread {
                return change.call < then.call;
            }
            if change.time.zip(then.time).is_some_and(|(change, then)| change.end < then.begin) {
                return true;
            }
            match self.threads[then.thread].made {
                // A child has a number of its own and cannot have made itself, but a trace may say anything.
                Some(made) if made.thread != then.thread && self.descends(then.thread, change.thread) => {
                    then = made;
                }
                _ => return false,
            }
        }
    }

    /// Whether a change came with a call, or after it, for certain.
    fn is_after(&self, change: Moment, now: Moment) -> bool {
        match change.thread == now.thread {
            true => change.call >= now.call,
            false => self.is_before(now, change),
        }
    }

    /// Whether `ancestor` made a thread, or one that made it.
    fn descends(&self, mut thread: usize, ancestor: usize) -> bool {
        for _ in 0..self.threads.len() {
            match self.threads[thread].made {
                Some(made) if made.thread == ancestor => return true,
                Some(made) => thread = made.thread,
                None => return false,
            }
        }
        false
    }
}

/// Changes by their times; those without are of no use.
fn overlaps(changes: Vec<Changes>) -> Overlaps {
    let moments = changes.into_iter().flat_map(|changes| changes.moments);
    Overlaps::new(moments.filter_map(|moment| moment.time).collect())
}

/// The unit of time stamps, as far as the smallest file shows, and whether they tell the order of single calls. `None` if they tell the order of single calls, and nothing tells which
/// of these overlap.
fn unit(files: &[PlannedFile], context: Context<'_>) -> Option<(Nanos, bool)> {
    let timed = files.iter().filter(|file| file.first.is_some());
    let Some(file) = timed.min_by_key(|file| file.file.size()) else { return Some((Nanos(0), false)) };
    let mut has_durations = false;
    let parser = parse(file, context, |item| {
        has_durations |= matches!(item, RawItem::Call(call) if call.dur.is_some());
    });
    let is_fine = matches!(parser.clock(), Clock::Utc | Clock::TimeOfDay) && !parser.resolution().is_coarse();
    (!is_fine || has_durations).then(|| (parser.resolution().0, is_fine))
}

/// The threads that share descriptors with others, with a number for each table.
fn tables(files: &[PlannedFile], context: Context<'_>) -> HashMap<Tid, usize> {
    let mut pairs = Vec::new();
    for_each_maker(files, context, |file, item| {
        if let (RawItem::Call(call), Some((child, _)), Some(parent)) = (item, made(item), files[file].tid)
            && calls::spec(call.call).is_some_and(|spec| shares_table(spec, call.args))
        {
            pairs.push((parent, child));
        }
    });
    let mut tables: HashMap<Tid, usize> = HashMap::new();
    for (number, (parent, child)) in pairs.into_iter().enumerate() {
        let known = [parent, child].map(|tid| tables.get(&tid).copied());
        let table = known.into_iter().flatten().min().unwrap_or(number);
        for joined in known.into_iter().flatten().filter(|joined| *joined != table) {
            tables.values_mut().filter(|of| **of == joined).for_each(|of| *of = table);
        }
        tables.extend([(parent, table), (child, table)]);
    }
    tables
}

/// Reads a file by itself.
fn parse(file: &PlannedFile, context: Context<'_>, mut take: impl FnMut(&RawItem<'_>)) -> Parser {
    let mut reader = TraceReader::new(&file.file, Limits::LARGE, &context.options.cancel);
    let setup = ParserSetup { default_tid: file.tid, date: file.date, ..ParserSetup::default() };
    let (mut parser, mut names) = (Parser::new(setup), Dictionaries::default());
    while !context.cancelled() && !reader.window.ended() {
        reader.fill();
        let ended = reader.window.ended();
        if ended || reader.window.has_new_line() {
            let text = reader.window.unread();
            let done = parser.parse(text, ended, &mut names, &mut |item, _| take(&item));
            reader.window.consume(done);
        }
    }
    parser
}

/// Whether a call gives a new process a copy of the table.
fn copies_table(call: &RawCall<'_>) -> bool {
    effect(call) == DescriptorEffect::Inherits
        && !calls::spec(call.call).is_some_and(|spec| shares_table(spec, call.args))
}

fn effect(call: &RawCall<'_>) -> DescriptorEffect {
    calls::spec(call.call).map_or(DescriptorEffect::None, calls::CallSpec::descriptor_effect)
}

/// The descriptors that a call is about.
fn used(call: &RawCall<'_>) -> impl Iterator<Item = i32> {
    let target = match (effect(call), call.ret) {
        (DescriptorEffect::Shares, Return::Value(target, _)) => i32::try_from(target).ok(),
        _ => None,
    };
    let used = call.args.iter().filter_map(|arg| match arg {
        Arg::Fd(fd @ 0.., _) => Some(*fd),
        _ => None,
    });
    used.filter(move |fd| Some(*fd) != target)
}

/// The descriptors that a call opened or closed.
fn changed(call: &RawCall<'_>) -> Vec<i32> {
    let Return::Value(value @ 0.., _) = call.ret else { return Vec::new() };
    let returned = || i32::try_from(value).into_iter().collect();
    match effect(call) {
        DescriptorEffect::Opens | DescriptorEffect::Shares => returned(),
        DescriptorEffect::Makes => {
            let pair = call.args.iter().find_map(|arg| match arg {
                Arg::FdPair(pair) => Some(pair.iter().map(|(fd, _)| *fd).collect()),
                _ => None,
            });
            pair.unwrap_or_else(returned)
        }
        DescriptorEffect::Controls if duplicates(call) => returned(),
        DescriptorEffect::Closes => used(call).take(1).collect(),
        _ => Vec::new(),
    }
}

/// Whether a fcntl makes a descriptor.
fn duplicates(call: &RawCall<'_>) -> bool {
    const F_DUPFD: i64 = 0;
    const F_DUPFD_CLOEXEC: i64 = 1030;
    match call.args.get(1) {
        Some(Arg::Symbols(text) | Arg::Text(text)) => text.starts_with(b"F_DUPFD"),
        Some(Arg::Int(command)) => matches!(*command, F_DUPFD | F_DUPFD_CLOEXEC),
        _ => false,
    }
}
