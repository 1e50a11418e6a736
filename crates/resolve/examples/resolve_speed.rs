//! Measures the resolver alone: `cargo run --release -p iotrail-resolve --example resolve_speed`.

use iotrail_model::raw::{Arg, RawCall, RawItem, Return, Target};
use iotrail_model::{CallId, CaseId, Dictionaries, Event, Nanos, Process, Tid, Timestamp};
use iotrail_resolve::{Resolver, Sink};
use std::io::Write;

const CALLS: u32 = 20_000_000;

#[derive(Default)]
struct Sum(u64);

impl Sink for Sum {
    fn event(&mut self, event: &Event, _: &Dictionaries) {
        self.0 = self.0.wrapping_add(event.offset.get().unwrap_or(0) as u64 ^ u64::from(event.path.raw().0));
    }

    fn process(&mut self, _: Process) {}
}

fn call<'a>(name: u32, number: u32, args: &'a [Arg<'a>], ret: Return<'a>) -> RawItem<'a> {
    let (start, dur) = (Timestamp(i64::from(number) * 1000), Some(Nanos(500)));
    RawItem::Call(RawCall { tid: Tid(100 + number % 2), call: CallId(name), start, dur, ret, args })
}

fn measure(title: &str, open: u32, item: impl Fn(u32, &mut dyn FnMut(RawItem<'_>))) -> std::io::Result<()> {
    let (mut resolver, mut names, mut sum) = (Resolver::new(), Dictionaries::default(), Sum::default());
    for tid in 0..2 {
        let path = Arg::Path { bytes: b"/scratch/data/file", complete: true };
        let args = [Arg::Cwd(None), path, Arg::Symbols(b"O_RDWR")];
        resolver.item(CaseId(0), &call(open, tid, &args, Return::Value(3, None)), &mut names, &mut sum);
    }
    let started = cpu_nanos()?;
    for number in 2..CALLS {
        item(number, &mut |item| resolver.item(CaseId(0), &item, &mut names, &mut sum));
    }
    let nanos = (cpu_nanos()? - started) / f64::from(CALLS);
    writeln!(std::io::stdout(), "{title}: {nanos:.1} ns of CPU per call (check {})", sum.0)
}

/// User time of this process; the kernel counts in hundredths of a second.
fn cpu_nanos() -> std::io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = fields.split(' ').nth(11).and_then(|ticks| ticks.parse::<u32>().ok());
    Ok(f64::from(ticks.unwrap_or_default()) * 1e7)
}

fn main() -> std::io::Result<()> {
    let names = Dictionaries::default();
    let [read, open, close] =
        [b"read".as_slice(), b"openat", b"close"].map(|name| names.calls.find(name).unwrap_or_default());
    measure("read of a known descriptor, two processes in turns", open, |number, show| {
        let args = [Arg::Fd(3, None), Arg::Opaque, Arg::Int(4096)];
        show(call(read, number, &args, Return::Value(4096, None)));
    })?;
    measure("the same with a hint", open, |number, show| {
        let target = Some(Target { name: b"/scratch/data/file", deleted: false });
        let args = [Arg::Fd(3, target), Arg::Opaque, Arg::Int(4096)];
        show(call(read, number, &args, Return::Value(4096, None)));
    })?;
    measure("open and close in turns", open, |number, show| {
        let path = Arg::Path { bytes: b"/scratch/data/other", complete: true };
        let args = [Arg::Cwd(None), path, Arg::Symbols(b"O_RDONLY|O_CLOEXEC")];
        match number / 2 % 2 {
            0 => show(call(open, number, &args, Return::Value(4, None))),
            _ => show(call(close, number, &[Arg::Fd(4, None)], Return::Value(0, None))),
        }
    })
}
