//! What is kept, left out, lost: all of it is counted.

use crate::recorder::support::{Collected, Stage, run, run_into, scene, shell};
use iotrail_record::{CallSet, End};
use std::num::NonZeroU64;

#[test]
fn a_full_disk_loses_events_and_not_the_program() {
    let stage = Stage::new();
    let plan = scene(&stage, &["reads"]);
    let (outcome, collected) = run_into(&plan, Collected { capacity: Some(100), ..Collected::default() });
    assert_eq!(outcome.end, End::Exited(0));
    let recording = outcome.coverage.recording.unwrap();
    assert_eq!(collected.events.len(), 100);
    assert!(recording.lost["the disk is full"] >= 900, "{:?}", recording.lost);
    assert_eq!(recording.lost(), outcome.coverage.lost);
}

#[test]
fn limits_are_kept_and_counted() {
    let stage = Stage::new();
    let mut plan = scene(&stage, &["reads"]);
    plan.calls = CallSet::parse("read").unwrap();
    let (whole, all) = run(&plan);
    let (events, reads) = (all.events.len() as u64, all.calls("read").len() as u64);
    assert!((1000..1100).contains(&reads), "{reads}");
    assert!(all.calls("openat").is_empty(), "it is followed and not wanted");
    assert!(all.calls("read").iter().all(|row| row.path.is_some()), "what names files is followed");
    assert_eq!(whole.coverage.recording.unwrap().events, events);

    plan.limits.max_events = Some(10);
    let (outcome, collected) = run(&plan);
    let recording = outcome.coverage.recording.unwrap();
    assert_eq!((collected.events.len(), recording.events), (10, 10));
    assert_eq!(recording.left_out["limit of events"], events - 10);

    plan.limits.max_events = None;
    plan.limits.sample = NonZeroU64::new(10);
    let (outcome, collected) = run(&plan);
    let kept = collected.calls("read").len() as u64;
    assert!((60..150).contains(&kept), "{kept} of {reads}");
    assert_eq!(outcome.coverage.recording.unwrap().left_out["sample"], reads - kept);

    plan.limits.sample = None;
    plan.limits.max_size = Some(300);
    let (_, collected) = run(&plan);
    assert_eq!(collected.events.len(), 10);
}

#[test]
fn a_process_moved_what_its_calls_moved_that_were_asked_for() {
    let moved = |calls: &str, line: &str| {
        let mut plan = shell(line);
        plan.calls = CallSet::parse(calls).unwrap();
        let (_, collected) = run(&plan);
        collected.processes.iter().map(|process| process.bytes_written).sum::<i64>()
    };
    // `writev` is followed for the positions, and not wanted.
    let line = "python3 -B -c 'import os; os.writev(1, [b\"678\", b\"9\"])'";
    assert_eq!(moved("write,writev", line) - moved("write", line), 4);
}
