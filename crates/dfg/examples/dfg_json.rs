//! Writes a small graph and a comparison as JSON, to check them against the schemas and by other tools:
//! `cargo run -p iotrail-dfg --example dfg_json -- DIRECTORY [SEED]` writes `dfg.json`, `compare.json`, `events.csv`.

#![allow(clippy::print_stderr, reason = "an example's talk")]

use iotrail_dfg::{DfgOptions, compare, synthesize};
use iotrail_model::{Case, CaseId, CaseName, Event, Nanos, Nullable, Timestamp};
use iotrail_query::{Query, QuerySpec};
use iotrail_trail::memory::MemoryLog;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

const CALLS: [&str; 6] = ["read", "write", "openat", "close", "lseek", "fsync"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("say where to write to")?);
    let mut state: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let cases = (0..10).map(|id| Case {
        id: CaseId(id),
        name: CaseName {
            cid: Some(if id < 5 { "a" } else { "b" }.into()),
            host: None,
            rid: Some(id.to_string()),
        },
        ..Case::default()
    });
    let mut log = MemoryLog::new(cases.collect()).row_group_rows(300);
    let mut csv = String::from("case_id,call,start\n");
    for case in 0..10 {
        let mut start = 0;
        for seq in 0..1 + random(300) {
            start += random(3) as i64 * 1_000;
            let name = CALLS[random(CALLS.len() as u64) as usize];
            let event = Event {
                case: CaseId(case),
                seq,
                call: log.call(name),
                path: log.path("/data/file"),
                start: Timestamp(start),
                dur: if random(20) == 0 {
                    Nullable::NULL
                } else {
                    Nullable::some(Nanos(random(5_000) as i64))
                },
                size: if random(2) == 0 { Nullable::NULL } else { Nullable::some(random(70_000) as i64) },
                ..Event::default()
            };
            log.push(event);
            writeln!(csv, "{case},{name},{start}")?;
        }
    }
    let log = log.build();
    let spec = QuerySpec { map: Some("call".into()), group_by: Some("cid".into()), ..QuerySpec::default() };
    let query = Query::new(spec, &log)?;
    let options = DfgOptions::default();
    let write = |name: &str, text: String| std::fs::write(directory.join(name), text);
    write("dfg.json", serde_json::to_string_pretty(&synthesize(&log, &query, &options)?)?)?;
    write("compare.json", serde_json::to_string_pretty(&compare(&log, &query, "a", "b", &options)?)?)?;
    write("events.csv", csv)?;
    Ok(())
}
