use iotrail_model::Nullable;
use iotrail_model::calls::CallKind;
use iotrail_workload::{Call, CallForm, FileIndex, SessionLayer, requests};
use proptest::prelude::*;
use std::sync::Arc;

fn call(name: &str, kind: CallKind, open: Option<u64>) -> Call {
    Call {
        form: Arc::new(CallForm { name: Arc::from(name), kind, mode: None, layer: SessionLayer::System }),
        file: FileIndex(0),
        open: open.into(),
        offset: Nullable::NULL,
        size: Nullable::NULL,
        start: 0,
        end: Nullable::NULL,
        waited: 0,
    }
}

fn at(start: i64, end: i64, call: Call) -> Call {
    Call { start, end: Nullable::some(end), ..call }
}

fn names(calls: &[Call]) -> Vec<String> {
    requests(calls, 0).iter().map(|request| request.variant().to_string()).collect()
}

#[test]
fn a_seek_directly_before_a_transfer_is_a_part_of_it() {
    let (seek, read) = (call("lseek", CallKind::Seek, Some(1)), call("read", CallKind::Read, Some(1)));
    let other = call("read", CallKind::Read, Some(2));
    assert_eq!(names(&[seek.clone(), read.clone(), read.clone()]), ["read.s", "read"]);
    assert_eq!(names(&[seek.clone(), seek.clone(), read]), ["lseek", "read.s"]);
    assert_eq!(names(&[seek.clone(), other, seek]), ["lseek", "read", "lseek"]);
    let unknown = [call("lseek", CallKind::Seek, None), call("read", CallKind::Read, None)];
    assert_eq!(names(&unknown), ["lseek", "read"]);
}

#[test]
fn slack_is_what_waits_and_the_recorder_leave() {
    let read = || call("read", CallKind::Read, Some(1));
    let calls = [
        at(0, 10, read()),
        at(100, 110, Call { waited: 60, ..read() }),
        at(112, 120, read()),
        Call { start: 150, ..read() },
        at(200, 210, read()),
    ];
    let found: Vec<_> = requests(&calls, 5).iter().map(|request| request.slack()).collect();
    let slack = |at: usize| found[at].map(|slack| (slack.ns, slack.clamped));
    assert_eq!(
        [slack(0), slack(1), slack(2), slack(3), slack(4)],
        [None, Some((25, false)), Some((0, true)), Some((25, false)), None]
    );
}

proptest! {
    #[test]
    fn durations_and_slack_are_the_time_of_the_stream(gaps in prop::collection::vec((0_i64..50, 0_i64..50), 1..20)) {
        let mut now = 0;
        let mut calls = Vec::new();
        for &(before, duration) in &gaps {
            calls.push(at(now + before, now + before + duration, call("read", CallKind::Read, Some(1))));
            now += before + duration;
        }
        let slack: i64 = requests(&calls, 0).iter().filter_map(|request| request.slack()).map(|slack| slack.ns).sum();
        let durations: i64 = gaps.iter().map(|(_, duration)| duration).sum();
        prop_assert_eq!(durations + slack, now - calls[0].start);
    }
}
