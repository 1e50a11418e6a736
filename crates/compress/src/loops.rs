//! The loops of a structure as a profile: iterations, calls, bytes, time, how even it is among threads, the slowest iterations.

use crate::error::CompressError;
use crate::events::{Events, Expanded};
use iotrail_structure::{ItemId, Repeats};
use iotrail_structure_file::Document;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Slowest iterations that are kept of a loop.
const SLOWEST: usize = 8;
/// Calls by which a loop is told.
const TOLD: usize = 4;
/// Version of [`Loops`].
const FORMAT: u32 = 1;

/// The loops of a structure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Loops {
    /// Version of the document.
    pub format: u32,
    /// The trails that the structure is of.
    pub trails: Vec<String>,
    /// Whether times are as recorded; else they are drawn from distributions, and iterations have no times of their own.
    pub exact_times: bool,
    /// Time of all threads, each from its first call to its last, in ns.
    pub threads_ns: i64,
    /// The loops, those with most time first.
    pub loops: Vec<LoopRow>,
}

/// A loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoopRow {
    /// Its number in the structure.
    pub item: u32,
    /// The loop that it is in; NULL of none.
    pub outer: Option<u32>,
    /// Number of loops that it is in.
    pub depth: u32,
    /// The first calls in it, by name.
    pub calls_in_it: Vec<String>,
    /// How often it was begun.
    pub executions: u64,
    /// Iterations in all.
    pub iterations: u64,
    /// Calls in it, also those inside of others.
    pub calls: u64,
    /// Bytes that its calls moved, without those inside of others.
    pub bytes: i64,
    /// From the begin of its first call to the end of its last, of all executions on all threads, in ns.
    pub time_ns: i64,
    /// Its part of the time of all threads.
    pub share: f64,
    /// Time in its calls, without those inside of others, in ns.
    pub in_calls_ns: i64,
    /// How its time is distributed over the threads that execute it.
    pub threads: Spread,
    /// The slowest iterations; empty where times are drawn.
    pub slowest: Vec<Iteration>,
}

/// Times of threads, in ns: nearest-rank quantiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many threads.
    pub count: u64,
    /// The smallest time.
    pub min_ns: i64,
    /// A quarter of the threads have no more.
    pub p25_ns: i64,
    /// Half of them have no more.
    pub median_ns: i64,
    /// Three quarters have no more.
    pub p75_ns: i64,
    /// The largest time.
    pub max_ns: i64,
    /// The thread that has it, the first of several.
    pub max_thread: u32,
    /// The rank of that thread, or the number of its process.
    pub max_rank: u32,
    /// The largest by the mean, less 1.
    pub imbalance: f64,
}

/// One iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Iteration {
    /// Its number in the loop and, before that, in the loops around, from 0.
    pub iteration: Vec<u32>,
    /// The thread.
    pub thread: u32,
    /// Its rank, or the number of its process.
    pub rank: u32,
    /// When its first call began, in ns since 1970-01-01 UTC.
    pub start_ns: i64,
    /// Until the next iteration begins; of the last one until its last call ends.
    pub time_ns: i64,
}

impl Loops {
    /// The loops of a structure.
    ///
    /// # Errors
    /// The structure contradicts itself.
    pub fn of(document: &Document) -> Result<Self, CompressError> {
        let chains = Chains::of(document);
        let mut profile = Profile::new(document, &chains);
        let mut events = Events::new(document, 0);
        for line in 0..document.lines.len() as u32 {
            profile.begin(line);
            events.line(line, &mut |expanded| {
                profile.add(&expanded);
                Ok(())
            })?;
            profile.end();
        }
        Ok(profile.finish())
    }
}

/// The items around each item, from the outermost to itself.
struct Chains(Vec<Vec<ItemId>>);

impl Chains {
    fn of(document: &Document) -> Self {
        let mut chains = Self(vec![Vec::new(); document.structure.items().len()]);
        chains.note(document, document.structure.root(), &[]);
        chains
    }

    fn note(&mut self, document: &Document, body: &[ItemId], around: &[ItemId]) {
        for &item in body {
            let chain = [around, &[item]].concat();
            let (Repeats::Loop(inner) | Repeats::Event { children: inner, .. }) =
                &document.structure.items()[item.0 as usize].what;
            self.note(document, inner, &chain);
            self.0[item.0 as usize] = chain;
        }
    }
}

/// What is summed up of a loop.
#[derive(Clone, Default)]
struct Sums {
    calls_in_it: Vec<u32>,
    executions: u64,
    iterations: u64,
    calls: u64,
    bytes: i64,
    in_calls: i64,
    /// By thread, of those that execute it.
    times: Vec<(u32, i64)>,
    slowest: BTreeSet<Slow>,
}

/// An iteration by its time, then the latest first.
type Slow = (i64, Reverse<(u32, Vec<u32>)>, i64);

/// A loop that a thread is in.
#[derive(Clone, Copy)]
struct Entered {
    start: i64,
    iteration_start: i64,
    /// The latest end of its calls.
    end: i64,
}

struct Profile<'a> {
    document: &'a Document,
    chains: &'a Chains,
    sums: Vec<Sums>,
    line: u32,
    /// Items and iterations of the event before, with what is known of those that are loops.
    path: Vec<(ItemId, u32, Option<Entered>)>,
    /// First start and last end of the thread.
    span: Option<(i64, i64)>,
    threads: i64,
}

impl<'a> Profile<'a> {
    fn new(document: &'a Document, chains: &'a Chains) -> Self {
        let sums = vec![Sums::default(); document.structure.items().len()];
        Self { document, chains, sums, line: 0, path: Vec::new(), span: None, threads: 0 }
    }

    fn begin(&mut self, line: u32) {
        self.line = line;
        self.span = None;
    }

    fn add(&mut self, expanded: &Expanded<'_>) {
        let event = &expanded.event;
        let start = event.start.0;
        let duration = event.dur.get().map_or(0, |span| span.0);
        let end = start.saturating_add(duration);
        self.span = Some(self.span.map_or((start, end), |(first, last)| (first, last.max(end))));
        let chains = self.chains;
        let chain = &chains.0[expanded.item.0 as usize];
        self.go_to(chain, expanded.indices, start);
        let key = match &self.document.structure.items()[expanded.item.0 as usize].what {
            Repeats::Event { key, .. } => Some(key.0),
            Repeats::Loop(_) => None,
        };
        let mut is_outermost = true;
        for (item, _, entered) in self.path.iter_mut().rev().skip(1) {
            let Some(entered) = entered else {
                is_outermost = false;
                continue;
            };
            entered.end = entered.end.max(end);
            let sums = &mut self.sums[item.0 as usize];
            sums.calls += 1;
            if is_outermost {
                sums.bytes = sums.bytes.saturating_add(event.size.get().unwrap_or(0));
                sums.in_calls = sums.in_calls.saturating_add(duration);
                let told = sums.calls_in_it.len() < TOLD;
                sums.calls_in_it.extend(key.filter(|key| told && !sums.calls_in_it.contains(key)));
            }
        }
    }

    /// Leaves the loops and iterations that are not around an event, and enters those that are.
    fn go_to(&mut self, chain: &[ItemId], indices: &[u32], start: i64) {
        let now = || chain.iter().copied().zip(indices.iter().copied());
        let same = self.path.iter().zip(now()).take_while(|((item, index, _), now)| (*item, *index) == *now);
        let mut kept = same.count();
        let next_iteration = match (self.path.get(kept), now().nth(kept)) {
            (Some((last, _, Some(_))), Some((item, index))) if *last == item && index > 0 => Some(index),
            _ => None,
        };
        self.leave(kept + usize::from(next_iteration.is_some()));
        if let Some(index) = next_iteration {
            self.end_iteration(kept, start);
            if let Some((_, iteration, Some(entered))) = self.path.get_mut(kept) {
                (*iteration, entered.iteration_start) = (index, start);
            }
            kept += 1;
        }
        for (item, index) in now().skip(kept) {
            let is_loop = matches!(self.document.structure.items()[item.0 as usize].what, Repeats::Loop(_));
            if is_loop {
                self.sums[item.0 as usize].executions += 1;
            }
            let entered = is_loop.then_some(Entered { start, iteration_start: start, end: start });
            self.path.push((item, index, entered));
        }
    }

    /// Ends the loops behind the first `kept` items of the path.
    fn leave(&mut self, kept: usize) {
        while self.path.len() > kept {
            let place = self.path.len() - 1;
            if let (item, _, Some(entered)) = self.path[place] {
                self.end_iteration(place, entered.end);
                let time = entered.end - entered.start;
                let times = &mut self.sums[item.0 as usize].times;
                match times.last_mut().filter(|(line, _)| *line == self.line) {
                    Some((_, sum)) => *sum = sum.saturating_add(time),
                    None => times.push((self.line, time)),
                }
            }
            self.path.pop();
        }
    }

    fn end_iteration(&mut self, place: usize, end: i64) {
        let (item, _, Some(entered)) = self.path[place] else { return };
        let sums = &mut self.sums[item.0 as usize];
        sums.iterations += 1;
        if !self.document.about.has_every_time() {
            return;
        }
        let time = end - entered.iteration_start;
        if sums.slowest.len() == SLOWEST && sums.slowest.first().is_some_and(|fastest| fastest.0 >= time) {
            return;
        }
        let loops = self.path[..=place].iter().filter(|(.., entered)| entered.is_some());
        let iteration = loops.map(|(_, index, _)| *index).collect();
        sums.slowest.insert((time, Reverse((self.line, iteration)), entered.iteration_start));
        if sums.slowest.len() > SLOWEST {
            sums.slowest.pop_first();
        }
    }

    /// Ends the thread.
    fn end(&mut self) {
        self.leave(0);
        let time = self.span.map_or(0, |(first, last)| last - first);
        self.threads = self.threads.saturating_add(time);
    }

    fn finish(self) -> Loops {
        let Self { document, chains, sums, threads, .. } = self;
        let rows = (0..).zip(sums).filter(|(_, sums)| sums.iterations > 0);
        let mut loops: Vec<LoopRow> =
            rows.map(|(item, sums)| row(document, &chains.0[item as usize], item, sums, threads)).collect();
        loops.sort_by_key(|row| (Reverse(row.time_ns), row.item));
        Loops {
            format: FORMAT,
            trails: document.about.trails.clone(),
            exact_times: document.about.has_every_time(),
            threads_ns: threads,
            loops,
        }
    }
}

fn row(document: &Document, chain: &[ItemId], item: u32, sums: Sums, threads: i64) -> LoopRow {
    let is_loop =
        |item: &&ItemId| matches!(document.structure.items()[item.0 as usize].what, Repeats::Loop(_));
    let around = || chain.iter().filter(is_loop).filter(|outer| outer.0 != item);
    let name = |key: &u32| document.names.call(document.keys[*key as usize].call).to_owned();
    let time_ns = sums.times.iter().map(|(_, time)| *time).fold(0, i64::saturating_add);
    let rank = |line: u32| document.lines[line as usize].rank;
    let slow = |(time_ns, Reverse((thread, iteration)), start_ns): Slow| Iteration {
        iteration,
        thread,
        rank: rank(thread),
        start_ns,
        time_ns,
    };
    LoopRow {
        item,
        outer: around().next_back().map(|outer| outer.0),
        depth: around().count() as u32,
        calls_in_it: sums.calls_in_it.iter().map(name).collect(),
        executions: sums.executions,
        iterations: sums.iterations,
        calls: sums.calls,
        bytes: sums.bytes,
        time_ns,
        share: if threads == 0 { 0.0 } else { time_ns as f64 / threads as f64 },
        in_calls_ns: sums.in_calls,
        threads: spread(&sums.times, rank),
        slowest: sums.slowest.into_iter().rev().map(slow).collect(),
    }
}

/// The distribution of the times of threads.
fn spread(times: &[(u32, i64)], rank: impl Fn(u32) -> u32) -> Spread {
    let mut sorted: Vec<i64> = times.iter().map(|(_, time)| *time).collect();
    sorted.sort_unstable();
    let Some(&(max_thread, max_ns)) = times.iter().max_by_key(|&&(line, time)| (time, Reverse(line))) else {
        return Spread::default();
    };
    let quantile = |quarters: usize| sorted[(sorted.len() * quarters).div_ceil(4).max(1) - 1];
    let mean = sorted.iter().map(|time| *time as f64).sum::<f64>() / sorted.len() as f64;
    Spread {
        count: sorted.len() as u64,
        min_ns: sorted[0],
        p25_ns: quantile(1),
        median_ns: quantile(2),
        p75_ns: quantile(3),
        max_ns,
        max_thread,
        max_rank: rank(max_thread),
        imbalance: if mean > 0.0 { max_ns as f64 / mean - 1.0 } else { 0.0 },
    }
}
