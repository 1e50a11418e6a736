//! Calls that signals interrupt: each is one event, whatever the kernel does to finish it.

use crate::recorder::support::{Collected, Row, Stage, run, scene};
use iotrail_record::{End, Outcome};

fn play(name: &str) -> (Outcome, Collected) {
    let stage = Stage::new();
    let (outcome, collected) = run(&scene(&stage, &[name]));
    assert_eq!(outcome.end, End::Exited(0), "{name}");
    (outcome, collected)
}

/// Reads of one byte from the pipe.
fn reads(collected: &Collected) -> Vec<&Row> {
    let from_pipe = |row: &&Row| row.path.as_deref().is_some_and(|path| path.starts_with("pipe:"));
    collected.calls("read").into_iter().filter(from_pipe).collect()
}

#[test]
fn a_read_that_a_handler_interrupts_fails() {
    let (outcome, collected) = play("interrupted");
    let [read] = reads(&collected)[..] else { panic!("{:?}", reads(&collected)) };
    assert_eq!((read.ret, read.errno.as_deref()), (Some(-1), Some("EINTR")));
    assert!(read.dur.unwrap() > 500_000_000, "it took until the alarm");
    assert_eq!(outcome.coverage.interrupted, 0);
}

#[test]
fn a_read_that_is_restarted_is_one_read() {
    let (outcome, collected) = play("restarted");
    let [read] = reads(&collected)[..] else { panic!("{:?}", reads(&collected)) };
    assert_eq!((read.ret, read.errno.as_deref()), (Some(1), None));
    assert_eq!(outcome.coverage.interrupted, 1);
}

#[test]
fn a_read_that_goes_on_after_a_signal_without_a_handler_lasts_from_its_first_start() {
    let (outcome, collected) = play("ignored");
    let [read] = reads(&collected)[..] else { panic!("{:?}", reads(&collected)) };
    assert_eq!((read.ret, read.errno.as_deref()), (Some(1), None));
    assert!(read.dur.unwrap() > 500_000_000, "the wait before the signal counts: {:?}", read.dur);
    assert!(outcome.coverage.interrupted >= 1);
}

#[test]
fn a_read_that_the_program_tries_again_is_two_reads() {
    let (outcome, collected) = play("tries-again");
    let mut results: Vec<_> = reads(&collected).iter().map(|read| read.ret).collect();
    results.sort();
    assert_eq!(results, [Some(-1), Some(1)]);
    assert_eq!(outcome.coverage.interrupted, 0);
}

#[test]
fn a_poll_that_goes_on_after_a_stop_is_one_poll() {
    let (outcome, collected) = play("continued");
    let polls: Vec<_> = collected.events.iter().filter(|row| row.call == "poll").collect();
    let [poll] = polls[..] else { panic!("{polls:?}") };
    assert_eq!(poll.ret, Some(0));
    assert!(poll.dur.unwrap() >= 400_000_000, "from its entry to its timeout");
    assert!(collected.calls("restart_syscall").is_empty());
    assert!(outcome.coverage.interrupted >= 1, "what was entered twice is one event");
}
