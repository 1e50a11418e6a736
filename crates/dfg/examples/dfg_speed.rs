//! How long an event costs in the loop: `cargo run --release -p iotrail-dfg --example dfg_speed [EVENTS]`.
//!
//! A log in memory (no Parquet, no mapping): 76 activities, 30 cases that run at the same time.

#![allow(clippy::print_stdout, reason = "an example's output")]

use iotrail_dfg::{Accumulator, ConcurrencyRule, Labels, Partial, Plan};
use iotrail_model::{CaseId, Event, EventBatch, Nanos, Nullable, PathId, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

const BATCH: usize = 131_072;
const ACTIVITIES: u64 = 76;
const CASES: usize = 30;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^ x >> 33
    }
}

fn main() {
    let events: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000_000);
    let plan = Arc::new(Plan::ungrouped(CASES));
    let mut worker = Accumulator::new(Arc::clone(&plan));
    let mut open_cases = Vec::new();
    let mut accumulating = Duration::ZERO;
    let mut random = Random(1);
    let (mut case, mut start, mut activity) = (0, 0_i64, 0_u64);
    let before = resident();
    for from in (0..events).step_by(BATCH) {
        let (mut batch, mut classified) = (EventBatch::default(), Classified::default());
        for row in from..(from + BATCH).min(events) {
            if row * CASES / events != case {
                (case, start) = (row * CASES / events, 0);
            }
            let bits = random.next();
            // Half of the time the same activity again, else mostly one of a few followers.
            activity = match bits % 16 {
                0..8 => activity,
                8..15 => (activity * 7 + bits / 16 % 4) % ACTIVITIES,
                _ => (activity + bits / 16 % 12) % ACTIVITIES,
            };
            let dur = 500 + (bits >> 20) % 30_000;
            start += dur as i64 + (bits >> 40) as i64 % 20_000;
            let event = Event {
                case: CaseId::from_index(case),
                start: Timestamp(start),
                dur: Nullable::some(Nanos(dur as i64)),
                size: if activity % 3 == 0 {
                    Nullable::NULL
                } else {
                    Nullable::some((bits >> 30) as i64 % 65_536)
                },
                path: Nullable::some(PathId((activity * 40 + bits % 8) as u32)),
                ..Event::default()
            };
            batch.push(&event);
            classified.activity.push(ActivityId(activity as u32));
            classified.key.push(CaseKey::new(event.case, 0));
        }
        let clock = cpu_time();
        open_cases.push(worker.add(&batch, &classified));
        accumulating += cpu_time() - clock;
    }
    let held = resident() - before;
    let names: Vec<Arc<str>> = (0..ACTIVITIES).map(|activity| format!("call:{activity}").into()).collect();
    let labels = Labels { activities: &names, groups: &[], case_name: &|key| key.to_string() };
    let clock = cpu_time();
    let whole = Partial::assemble([worker], open_cases, &plan);
    let dfg = whole.finish(&labels, ConcurrencyRule::Exact, NonZeroUsize::MIN);
    let finishing = cpu_time() - clock;
    let per_event = |time: Duration| time.as_nanos() as f64 / events as f64;
    println!("{events} events, {} edges, concurrency {:?}", dfg.edges.len(), dfg.nodes[0].max_concurrency);
    println!("CPU ns per event: loop {:.1}, finish {:.1}", per_event(accumulating), per_event(finishing));
    println!("memory held: {:.1} MB, peak of the process {:.1} MB", held as f64 / 1e6, peak() as f64 / 1e6);
}

/// CPU time of this thread: the wall clock measures the neighbours too.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

fn resident() -> u64 {
    status("VmRSS:")
}

fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}
