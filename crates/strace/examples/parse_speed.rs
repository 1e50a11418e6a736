//! How fast the parser is: reads each file named on the command line into memory, parses it a few times into nothing,
//! and prints megabytes per second of CPU time of the fastest pass (of elapsed time where the system tells no other).
//! The system counts in ticks of some milliseconds: use files of 50 MB or more.
//!
//! `cargo run --release -p iotrail-strace --example parse_speed -- FILE…`

#![allow(clippy::print_stdout, reason = "a benchmark talks to whoever runs it")]

use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_strace::parser::{Parser, ParserSetup};
use std::time::{Duration, Instant};

fn main() -> std::io::Result<()> {
    for file in std::env::args().skip(1) {
        let input = std::fs::read(&file)?;
        let (mut best, mut items, mut unparsed) = (Duration::MAX, 0_u64, 0);
        for _ in 0..3 {
            let (start, cpu) = (Instant::now(), cpu_time());
            (items, unparsed) = parse(&input);
            let spent = cpu_time().zip(cpu).map(|(end, start)| end - start);
            best = best.min(spent.unwrap_or_else(|| start.elapsed()));
        }
        let speed = input.len() as f64 / 1e6 / best.as_secs_f64();
        println!("{file}: {speed:.0} MB/s, {items} items, {unparsed} lines unparsed");
    }
    Ok(())
}

/// Time that this thread spent on a processor.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

fn parse(input: &[u8]) -> (u64, u64) {
    let mut parser = Parser::new(ParserSetup::default());
    let mut names = Dictionaries::default();
    let mut items = 0;
    parser.parse(input, true, &mut names, &mut |_: RawItem<'_>, _: &mut Dictionaries| items += 1);
    (items, parser.coverage().lines.unparsed)
}
