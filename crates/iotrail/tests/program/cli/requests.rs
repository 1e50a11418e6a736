//! Requests that the kernel serves beside the calls of their thread: work in flight, no time that a thread spends.

use crate::cli::util::Dir;
use serde_json::{Value, json};
use std::fmt::Write;

/// A thread leaves 30 reads of the same 64 KiB to the kernel at once, which end one after the other within 990 us; meanwhile it reads
/// for 400 us itself. It lives for 2 ms.
fn left_to_the_kernel() -> Dir {
    let at = |micros: u64| 1_700_000_000_000_000_000 + micros * 1_000;
    let ret = |number: u64| json!({ "value": { "value": number } });
    let call = |name: &str, micros: u64, dur: u64, result: u64, args: Value| {
        json!({
            "item": "call", "tid": 7, "call": name, "start": at(micros), "dur": dur * 1_000,
            "ret": ret(result), "args": args,
        })
    };
    let open = json!([{ "cwd": null }, { "path": { "path": "/data/f", "complete": true } },
        { "symbols": "O_RDWR|O_CREAT" }, { "int": 0 }]);
    let mut items = vec![
        json!({ "item": "found", "tid": 7, "pid": 7, "ppid": 1, "at": at(0) }),
        json!({ "item": "working_directory", "tid": 7, "path": "/data" }),
        call("openat", 100, 10, 3, open),
    ];
    let read = |offset: u64| json!([{ "fd": { "fd": 3 } }, "opaque", { "int": 65_536 }, { "int": offset }]);
    items.extend((1..=30).map(|request| call("aio_pread", 500, request * 33, 65_536, read(0))));
    items.push(call("pread64", 600, 400, 65_536, read(1 << 20)));
    items.push(json!({ "item": "exited", "tid": 7, "at": at(2_000), "status": 0 }));
    let lines = items.iter().fold(String::new(), |mut lines, item| {
        let _ = writeln!(lines, "{item}");
        lines
    });
    let dir = Dir::new();
    dir.write("aio.jsonl", lines);
    dir.run(["import", "-q", "--format", "raw", "-o", "t.trail", "aio.jsonl"]).succeeds();
    dir
}

#[test]
fn at_stake_is_no_more_than_the_time_in_which_any_of_them_was_in_flight() {
    let dir = left_to_the_kernel();
    let advice = dir.json(["advise", "t.trail", "--json"]);
    let habits = advice["habits"].as_array().expect("habits");
    let again = habits.iter().find(|habit| habit["rule"] == "read-again").expect("bytes read again");
    // The first one ends after 33 us, the last one after 990 us.
    assert_eq!((&again["saved_ns"], &again["at_stake_ns"]), (&957_000.into(), &957_000.into()));
}

#[test]
fn time_in_flight_is_no_time_of_the_thread() {
    let dir = left_to_the_kernel();
    // The thread opens the file in 10 us and reads for 400 us; the requests take 33 us, 66 us, ... 990 us.
    let (of_thread, in_flight) = (json!(410_000), json!(15_345_000));
    let file = dir.json(["files", "t.trail", "--json"]);
    assert_eq!((&file["io_ns"], &file["request_ns"]), (&of_thread, &in_flight));
    assert_eq!((&file["data_ns"], &file["reads"]), (&400_000.into(), &31.into()));

    let profile = dir.json(["stats", "t.trail", "--json"]);
    let total = &profile["total"];
    assert_eq!(
        (&total["call_ns"], &total["io_ns"], &total["request_ns"]),
        (&of_thread, &of_thread, &in_flight)
    );
    let rows = profile["class_calls"].as_array().expect("rows");
    let requests = rows.iter().filter(|row| row["request"] == true).map(|row| &row["call"]);
    assert_eq!(requests.collect::<Vec<_>>(), ["aio_pread"]);

    dir.run(["dfg", "t.trail", "-q", "-o", "g.json"]).succeeds();
    let graph: Value = serde_json::from_slice(&dir.read("g.json")).expect("JSON");
    let nodes = graph["nodes"].as_array().expect("nodes");
    let sum = |field: &str| nodes.iter().filter_map(|node| node[field].as_u64()).sum::<u64>();
    assert_eq!((sum("duration_ns"), sum("request_ns")), (15_755_000, 15_345_000));
    assert_eq!(graph["duration_ns"], 15_755_000, "shares are of all mapped events, as in the paper");
    let text = dir.run(["dfg", "t.trail"]).succeeds().text();
    assert!(text.contains("time in calls  410 us within 1.39 ms\nin flight      15.3 ms"), "{text}");
}
