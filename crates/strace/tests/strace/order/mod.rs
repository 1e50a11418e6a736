//! Random process trees, printed as strace would print them: what was imported is what happened.
//!
//! `IOTRAIL_TRIALS=5000 cargo nextest run -p iotrail-strace -E 'test(order::)'` tries more of them; a failure names its seed.

#![cfg(test)]

mod print;
mod world;

use self::print::{Printed, Stamps, Style};
use self::world::{Kind, Random, Truth, World};
use crate::common::Dir;
use iotrail_import::{ImportOptions, ImportSummary};
use iotrail_trail::{Columns, EventLog};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const TRIALS: u64 = 40;

fn trials() -> u64 {
    std::env::var("IOTRAIL_TRIALS").ok().and_then(|number| number.parse().ok()).unwrap_or(TRIALS)
}

/// Number, parent, exit status and signal of a process.
type Ended = (u32, Option<u32>, Option<i32>, Option<String>);

/// What came out of a trail, to be held against the truth.
#[derive(Debug, PartialEq, Eq)]
struct Imported {
    processes: Vec<Ended>,
    /// What each thread did, in order.
    threads: BTreeMap<u32, Vec<String>>,
}

fn of_log(log: &EventLog) -> Imported {
    let rows = log.processes().expect("processes");
    for row in &rows {
        assert!(row.start.zip(row.end).is_none_or(|(start, end)| start <= end), "{row:?}");
    }
    // An exec replaces an image and ends it, without a code or a signal.
    let is_last =
        |row: &&iotrail_model::Process| row.end.is_none() || row.exit_code.is_some() || row.signal.is_some();
    let mut processes: Vec<_> = rows
        .iter()
        .filter(is_last)
        .map(|row| (row.pid.0, row.ppid.map(|pid| pid.0), row.exit_code, row.signal.clone()))
        .collect();
    processes.sort();
    let mut threads: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (tid, what) in in_order(log) {
        threads.entry(tid).or_default().push(what);
    }
    Imported { processes, threads }
}

/// `tid what` of all rows in the order of the log.
fn in_order(log: &EventLog) -> Vec<(u32, String)> {
    let mut rows = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL).expect("rows");
        for event in (0..batch.len).map(|row| batch.event(row)) {
            let call = log.names().call(event.call);
            let what = match call {
                "openat" => log.names().path(event.path).unwrap_or("?"),
                other => other,
            };
            rows.push((event.tid.0, what.to_owned()));
        }
    }
    rows
}

fn of_truth(truth: &Truth, style: Style) -> Imported {
    let mut processes: Vec<_> = truth
        .processes
        .iter()
        .filter(|process| process.seen)
        .map(|process| {
            let signal = process.signal.filter(|_| !style.quiet).map(str::to_owned);
            (process.pid, process.ppid, process.code, signal)
        })
        .collect();
    processes.sort();
    let mut threads: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (tid, what) in &truth.calls {
        threads.entry(*tid).or_default().push(what.clone());
    }
    Imported { processes, threads }
}

fn import(printed: &Printed, threads: usize) -> (Dir, ImportSummary, EventLog) {
    let dir = Dir::new();
    for (name, text) in &printed.files {
        dir.write(name, text);
    }
    let options = ImportOptions { threads: NonZeroUsize::new(threads), ..ImportOptions::default() };
    let (summary, log) = dir.import(&[dir.root()], &options);
    (dir, summary, log)
}

fn try_one(seed: u64, kind: Kind, style: Style) {
    let mut random = Random::new(seed);
    let truth = World::run(&mut random, kind);
    let printed = print::print(&truth, style, &mut random);
    let (_dir, summary, log) = import(&printed, 1 + (seed % 2) as usize);
    let shown = || {
        let all: String = printed.files.iter().map(|(name, text)| format!("== {name}\n{text}")).collect();
        format!("seed {seed} {kind:?} {style:?}\n{all}")
    };
    let lines = &summary.coverage.lines;
    assert_eq!(lines.unparsed, 0, "{}", shown());
    assert_eq!(summary.coverage.incomplete, printed.incomplete, "{}", shown());
    let (mut imported, mut truth_of) = (of_log(&log), of_truth(&truth, style));
    if style.own_files && kind.threads {
        // Which of two files of one process comes first at the same time nobody knows.
        for calls in imported.threads.values_mut().chain(truth_of.threads.values_mut()) {
            calls.retain(|call| call != "execve");
        }
    }
    assert_eq!(imported.processes, truth_of.processes, "{}", shown());
    for (tid, calls) in &truth_of.threads {
        assert_eq!(imported.threads.get(tid), Some(calls), "thread {tid}, {}", shown());
    }
    assert_eq!(imported, truth_of, "{}", shown());
    if !style.own_files && kind.steps == 0 {
        // One clock and one file: the order is that of all threads together.
        let order: Vec<_> = truth.calls.clone();
        assert_eq!(in_order(&log), order, "{}", shown());
    }
    let steps = summary.coverage.notes.sentences().any(|note| note.contains("set back"));
    assert!(kind.steps > 0 || !steps, "a step that was none: {}", shown());
}

fn try_all(salt: u64, kind: impl Fn(&mut Random) -> Kind, style: impl Fn(&mut Random) -> Style) {
    for trial in 0..trials() {
        let seed = salt + trial;
        let mut random = Random::new(seed ^ 0x5bd1_e995);
        try_one(seed, kind(&mut random), style(&mut random));
    }
}

fn stamps(random: &mut Random) -> Stamps {
    [Stamps::Seconds, Stamps::Micros, Stamps::Utc, Stamps::Millis, Stamps::UtcSeconds][random.below(5)]
}

#[test]
fn one_file_with_all_threads() {
    try_all(
        1 << 32,
        |random| Kind { threads: random.one_in(2), reuse: random.one_in(2), ..Kind::default() },
        |random| Style { stamps: stamps(random), durations: random.one_in(2), ..Style::default() },
    );
}

#[test]
fn one_file_without_times_or_with_differences_only() {
    try_all(
        2 << 32,
        |random| Kind { threads: random.one_in(2), ..Kind::default() },
        |random| {
            let stamps = [Stamps::None, Stamps::Differences][random.below(2)];
            Style { stamps, durations: random.one_in(2), ..Style::default() }
        },
    );
}

#[test]
fn one_file_without_notices_of_ends() {
    try_all(
        3 << 32,
        |random| Kind { reuse: true, orderly: random.one_in(2), ..Kind::default() },
        |random| Style { stamps: stamps(random), quiet: true, ..Style::default() },
    );
}

#[test]
fn one_file_whose_clock_is_set_back() {
    try_all(
        4 << 32,
        |random| Kind { threads: random.one_in(2), steps: 1 + random.below(3), ..Kind::default() },
        |random| Style { stamps: stamps(random), durations: random.one_in(2), ..Style::default() },
    );
}

#[test]
fn a_file_for_each_thread() {
    try_all(
        5 << 32,
        |random| Kind { threads: random.one_in(2), wraps: random.one_in(3), ..Kind::default() },
        |random| Style {
            stamps: stamps(random),
            durations: random.one_in(2),
            own_files: true,
            quiet: random.one_in(4),
        },
    );
}

#[test]
fn a_file_for_each_thread_without_times_of_use() {
    try_all(
        6 << 32,
        |random| Kind { threads: random.one_in(2), wraps: random.one_in(2), ..Kind::default() },
        |random| Style {
            stamps: [Stamps::None, Stamps::Differences][random.below(2)],
            own_files: true,
            ..Style::default()
        },
    );
}

#[test]
fn a_file_for_each_thread_and_a_clock_that_is_set_back() {
    try_all(
        7 << 32,
        |random| Kind {
            threads: random.one_in(2),
            wraps: random.one_in(3),
            steps: 1 + random.below(3),
            ..Kind::default()
        },
        |random| Style {
            stamps: stamps(random),
            durations: random.one_in(2),
            own_files: true,
            ..Style::default()
        },
    );
}
