//! What an event costs on its way into the graph: no file, no mapping. Whole runs with their memory:
//! `examples/dfg_speed.rs`.

use criterion::{BatchSize, Criterion, Throughput};
use iotrail_dfg::{Accumulator, Plan};
use iotrail_model::{CaseId, Event, EventBatch, Nanos, Nullable, PathId, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified};
use std::sync::Arc;

const EVENTS: u64 = 131_072;
const ACTIVITIES: u64 = 76;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("accumulate");
    group.throughput(Throughput::Elements(EVENTS));
    for (what, cases) in [("one case", 1), ("30 cases one after the other", 30)] {
        let plan = Arc::new(Plan::ungrouped(cases));
        let (batch, classified) = log(cases as u64);
        group.bench_function(what, |bencher| {
            bencher.iter_batched(
                || Accumulator::new(Arc::clone(&plan)),
                |mut worker| {
                    let open_cases = worker.add(&batch, &classified);
                    (worker, open_cases)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    criterion.final_summary();
}

/// Half of the time the same activity again, else one of four followers; a third of the activities moves no bytes.
fn log(cases: u64) -> (EventBatch, Classified) {
    let (mut batch, mut classified) = (EventBatch::default(), Classified::default());
    let (mut state, mut activity, mut start) = (1_u64, 0, 0);
    for row in 0..EVENTS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 20;
        if bits % 2 == 0 {
            activity = (activity * 7 + bits / 2 % 4) % ACTIVITIES;
        }
        let dur = 500 + (bits / 8 % 30_000) as i64;
        start += dur + (bits / 64 % 20_000) as i64;
        let event = Event {
            case: CaseId::from_index((row * cases / EVENTS) as usize),
            start: Timestamp(start),
            dur: Nullable::some(Nanos(dur)),
            size: if activity % 3 == 0 { Nullable::NULL } else { Nullable::some((bits % 65_536) as i64) },
            path: Nullable::some(PathId((activity * 40 + bits % 8) as u32)),
            ..Event::default()
        };
        batch.push(&event);
        classified.activity.push(ActivityId(activity as u32));
        classified.key.push(CaseKey::new(event.case, 0));
    }
    (batch, classified)
}
