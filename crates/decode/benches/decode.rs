//! What decoding costs per call: entry, exit, and the view that the resolver gets.

use criterion::{Criterion, Throughput};
use iotrail_decode::Decoder;
use iotrail_decode::{Abi, Memory, Registers, Returned};
use iotrail_model::{Dictionaries, Tid, Timestamp};
use std::hint::black_box;

/// Memory that holds a path everywhere.
struct Paths;

impl Memory for Paths {
    fn read(&self, _: u64, buffer: &mut [u8]) -> usize {
        const PATH: &[u8] = b"/usr/lib/x86_64-linux-gnu/libc.so.6\0";
        let length = buffer.len().min(PATH.len());
        buffer[..length].copy_from_slice(&PATH[..length]);
        length
    }
}

const CALLS: [(&str, u64, [u64; 6]); 4] = [
    ("read", 0, [3, 0x7000_0000, 4096, 0, 0, 0]),
    ("pread64", 17, [3, 0x7000_0000, 4096, 1 << 40, 0, 0]),
    ("openat", 257, [-100_i64 as u64, 0x7000_0000, 0x8_0000, 0, 0, 0]),
    ("close", 3, [3, 0, 0, 0, 0, 0]),
];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Elements(1));
    for (name, number, args) in CALLS {
        let registers = Registers { abi: Abi::X86_64, number, args };
        let (mut decoder, mut names) = (Decoder::new(), Dictionaries::default());
        group.bench_function(format!("{name}, entry and exit"), |bencher| {
            bencher.iter(|| {
                let mut entry = decoder.entry(black_box(&registers), &Paths);
                entry.exit(Returned::Value(3), &Paths);
                black_box(&entry);
                decoder.recycle(entry);
            });
        });
        group.bench_function(format!("{name}, entry, exit and view"), |bencher| {
            bencher.iter(|| {
                let mut entry = decoder.entry(black_box(&registers), &Paths);
                entry.exit(Returned::Value(3), &Paths);
                black_box(entry.view(&mut names).returned(Tid(1), Timestamp::default(), None));
                decoder.recycle(entry);
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
