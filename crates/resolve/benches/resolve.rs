//! What the resolver costs per call, parsing aside. Two processes call in turns, as they do in a trace of a parallel
//! program: a resolver that only remembers the last process would look fast without that.

use criterion::{Criterion, Throughput};
use iotrail_model::raw::{Arg, RawCall, RawItem, Return, Target};
use iotrail_model::{CallId, CaseId, Dictionaries, Event, Layer, Nanos, Process, Tid, Timestamp};
use iotrail_resolve::{Resolver, Sink};
use std::hint::black_box;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    reads(&mut criterion);
    opens(&mut criterion);
    criterion.final_summary();
}

fn reads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read of a known descriptor");
    group.throughput(Throughput::Elements(1));
    let hint = Target { name: b"/scratch/data/file", deleted: false };
    for (what, target) in [("without a hint", None), ("with a hint", Some(hint))] {
        group.bench_function(what, |bencher| {
            let mut replay = Replay::new();
            let read = replay.call_id("read");
            bencher.iter(|| {
                let args = [Arg::Fd(3, target), Arg::Opaque, Arg::Int(4096)];
                replay.next_process();
                replay.call(read, &args, 4096);
            });
        });
    }
    group.finish();
}

fn opens(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open and close");
    group.throughput(Throughput::Elements(2));
    group.bench_function("of the same path", |bencher| {
        let mut replay = Replay::new();
        let (open, close) = (replay.call_id("openat"), replay.call_id("close"));
        bencher.iter(|| {
            let path = Arg::Path { bytes: b"/scratch/data/other", complete: true };
            replay.next_process();
            replay.call(open, &[Arg::Cwd(None), path, Arg::Symbols(b"O_RDONLY|O_CLOEXEC")], 4);
            replay.call(close, &[Arg::Fd(4, None)], 0);
        });
    });
    group.finish();
}

/// Two processes, each with descriptor 3 open.
struct Replay {
    resolver: Resolver,
    names: Dictionaries,
    now: Timestamp,
    tid: u32,
}

impl Replay {
    fn new() -> Self {
        let (resolver, names) = (Resolver::new(), Dictionaries::default());
        let mut replay = Self { resolver, names, now: Timestamp(0), tid: 0 };
        let open = replay.call_id("openat");
        for _ in 0..2 {
            let path = Arg::Path { bytes: b"/scratch/data/file", complete: true };
            replay.next_process();
            replay.call(open, &[Arg::Cwd(None), path, Arg::Symbols(b"O_RDWR")], 3);
        }
        replay
    }

    fn call_id(&mut self, name: &str) -> CallId {
        CallId(self.names.calls.intern(name.as_bytes()))
    }

    fn next_process(&mut self) {
        self.tid ^= 1;
    }

    fn call(&mut self, call: CallId, args: &[Arg<'_>], ret: i64) {
        self.now.0 += 1000;
        let (tid, dur, ret) = (Tid(100 + self.tid), Some(Nanos(500)), Return::Value(ret, None));
        let item =
            RawItem::Call(RawCall { tid, layer: Layer::Syscall, call, start: self.now, dur, ret, args });
        self.resolver.item(CaseId(0), &item, &mut self.names, &mut Nowhere);
    }
}

struct Nowhere;

impl Sink for Nowhere {
    fn event(&mut self, event: &Event, _: &Dictionaries) {
        black_box(event);
    }

    fn process(&mut self, process: Process) {
        black_box(process);
    }
}
