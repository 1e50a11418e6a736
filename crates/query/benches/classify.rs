//! What giving an event its activity and case costs, for everything and for a selection: decisions are made once per
//! name, so that the number of paths must not matter as long as their table fits a cache.

use criterion::{BenchmarkId, Criterion, Throughput};
use iotrail_model::{CallId, Case, CaseId, EventBatch, Names, Nullable, PathId, Pid, Timestamp};
use iotrail_query::{Classified, Facts, Query, QueryError, QuerySpec, SelectSpec};

const CALLS: [&str; 8] = ["read", "write", "openat", "close", "fstat", "lseek", "mmap", "brk"];
const ROWS: u32 = 1 << 17;

fn main() -> Result<(), QueryError> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("classify");
    group.throughput(Throughput::Elements(u64::from(ROWS)));
    let select =
        SelectSpec { path: vec!["*1.dat".into()], not_call: vec!["brk".into()], ..SelectSpec::default() };
    for paths in [100, 10_000, 1_000_000] {
        let names = Names {
            calls: CALLS.iter().map(|&call| call.into()).collect(),
            paths: (0..paths).map(|n| format!("/scratch/run{}/out.{n}.dat", n % 50).into()).collect(),
            ..Names::default()
        };
        let cases = [Case::default()];
        let facts =
            Facts { cases: &cases, names: &names, trails: &[], processes: &[], layers: &[], spans: &[] };
        let batch = batch(paths);
        for (what, select) in [("everything", SelectSpec::default()), ("selection", select.clone())] {
            let query = Query::over(QuerySpec { select, ..QuerySpec::default() }, &facts)?;
            let (mut worker, mut out) = (query.worker(), Classified::default());
            group.bench_function(BenchmarkId::new(what, format!("{paths} paths")), |bencher| {
                bencher.iter(|| worker.classify(&batch, &mut out));
            });
        }
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// Events of any call on any path.
fn batch(paths: u32) -> EventBatch {
    let mut state = 1_u32;
    let mut batch = EventBatch { len: ROWS as usize, ..EventBatch::default() };
    for row in 0..ROWS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        batch.case.push(CaseId(0));
        batch.pid.push(Pid(1));
        batch.call.push(CallId((state >> 8) % CALLS.len() as u32));
        batch.path.push(Nullable::some(PathId((state >> 11) % paths)));
        batch.path2.push(Nullable::NULL);
        batch.start.push(Timestamp(i64::from(row)));
    }
    batch
}
