//! Measures the classifier: nanoseconds per event for the common case, with a selection, and with rules.

use iotrail_model::{CallId, Case, CaseId, EventBatch, Names, Nullable, PathId, Pid, Timestamp};
use iotrail_query::{Classified, Facts, Query, QuerySpec, SelectSpec};
use std::time::Instant;

const ROWS: u32 = 1 << 17;
const BATCHES: u32 = 80;

#[allow(clippy::print_stdout, reason = "a measurement is its output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for paths in [100, 10_000, 1_000_000] {
        let calls = ["read", "write", "openat", "close", "fstat", "lseek", "mmap", "brk"];
        let names = Names {
            calls: calls.iter().map(|&call| call.into()).collect(),
            paths: (0..paths).map(|n| format!("/scratch/run{}/out.{n}.dat", n % 50).into()).collect(),
            ..Names::default()
        };
        let cases = [Case::default()];
        let facts = Facts { cases: &cases, names: &names, trails: &[], processes: &[], span: None };
        let batch = batch(paths, calls.len() as u32);
        let select =
            SelectSpec { path: vec!["*1.dat".into()], not_call: vec!["brk".into()], ..SelectSpec::default() };
        for (what, select) in [("everything", SelectSpec::default()), ("selection", select)] {
            let query = Query::over(QuerySpec { select, ..QuerySpec::default() }, &facts)?;
            let (mut worker, mut out) = (query.worker(), Classified::default());
            worker.classify(&batch, &mut out);
            let start = Instant::now();
            for _ in 0..BATCHES {
                worker.classify(&batch, &mut out);
            }
            let nanos = start.elapsed().as_nanos() as f64 / f64::from(ROWS * BATCHES);
            println!("{paths:>8} paths, {what}: {nanos:.2} ns per event");
        }
    }
    Ok(())
}

fn batch(paths: u32, calls: u32) -> EventBatch {
    let mut state = 1_u32;
    let mut batch = EventBatch { len: ROWS as usize, ..EventBatch::default() };
    for row in 0..ROWS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        batch.case.push(CaseId(0));
        batch.pid.push(Pid(1));
        batch.call.push(CallId((state >> 8) % calls));
        batch.path.push(Nullable::some(PathId((state >> 11) % paths)));
        batch.path2.push(Nullable::NULL);
        batch.start.push(Timestamp(i64::from(row)));
    }
    batch
}
