//! The page stays small whatever the log holds: many activities, cases, long distinct file names, scattered times.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use iotrail_model::{Case, CaseId, Event, Nanos, Nullable, Pid, Tid, Timestamp};
use iotrail_query::{Query, QuerySpec};
use iotrail_report::{Limits, MAX_PAGE_BYTES, ReportOptions, page_data, report};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;

/// 40,000 events in 50 cases on 60 directories, a file of its own for every third event.
fn crowded() -> EventLog {
    let mut log = MemoryLog::new((0..50).map(|id| Case { id: CaseId(id), ..Case::default() }).collect());
    let mut state = 1_u64;
    for number in 0..40_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        let case = (number / 800) as u32;
        let name = format!("{}{:08}", "a-long-name-of-an-output-file-".repeat(4), number / 3);
        let path = log.path(&format!("/scratch/d{}/{name}", random % 60));
        let call = log.call(if random & 1 == 0 { "read" } else { "write" });
        log.push(Event {
            case: CaseId(case),
            seq: number,
            pid: Pid(case + 1),
            tid: Tid(case + 1),
            call,
            path,
            start: Timestamp((number % 800) as i64 * 1_000_003 + (random % 999) as i64),
            dur: Nullable::some(Nanos((random % 1_000_000) as i64)),
            size: Nullable::some((random % 100_000) as i64),
            ..Event::default()
        });
    }
    log.build()
}

#[test]
fn a_page_that_would_be_too_large_loses_detail_until_it_fits() {
    let log = crowded();
    let query = Query::new(QuerySpec::default(), &log).unwrap();
    let limits = Limits { bars: 40_000, ..Limits::default() };
    let options = ReportOptions { limits, ..ReportOptions::default() };
    let unlimited = serde_json::to_string(&page_data(&log, &query, &options).unwrap()).unwrap();
    assert!(unlimited.len() > MAX_PAGE_BYTES, "{} bytes test nothing", unlimited.len());
    let page = report(&log, &query, &options).unwrap();
    assert!(page.len() <= MAX_PAGE_BYTES, "{} bytes", page.len());
    assert!(page.len() > MAX_PAGE_BYTES / 2, "{} bytes: more was taken than needed", page.len());
}
