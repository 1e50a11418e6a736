//! How long it takes to find what could be fewer in one file that many write: `cargo run --release -p iotrail-advise --example merge_speed -- 10000000 64`.

use iotrail_advise::{Access, Description, DescriptionId, FileAccesses, Kind, ProcessEdges, Rules};
use iotrail_model::{CallId, CaseId, Pid, Tid};
use std::time::Instant;

/// Writers take turns over a file: each writes blocks at a stride, every hundredth access reads what its neighbour wrote.
fn accesses(number: u64, writers: u64) -> Vec<Access> {
    let access = |at: u64| {
        let (writer, block) = (at % writers, at / writers);
        let reads = at % 100 == 99;
        let low = 4096 * (block * writers + if reads { (writer + 1) % writers } else { writer });
        Access {
            start: at as i64 * 100,
            end: at as i64 * 100 + 60,
            low,
            high: low + 4096,
            seq: at,
            description: DescriptionId(writer as u32),
            tid: Tid(writer as u32),
            pid: Pid(writer as u32),
            call: CallId(0),
            kind: if reads { Kind::Read } else { Kind::Write },
            mergeable: true,
            syncs: false,
            timed: true,
        }
    };
    (0..number).map(access).collect()
}

#[allow(clippy::print_stdout, reason = "an example")]
fn main() {
    let mut words = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (number, writers) = (words.next().unwrap_or(1_000_000), words.next().unwrap_or(64));
    let file = FileAccesses { accesses: accesses(number, writers), ..FileAccesses::default() };
    let descriptions: Vec<Description> = (0..writers)
        .map(|pid| Description { case: CaseId(0), pid: Pid(pid as u32), appends: false, syncs: false })
        .collect();
    let begin = Instant::now();
    let pairs = file.pairs(&descriptions, Rules::Corrected);
    println!("{} pairs in {:.2?}", pairs.len(), begin.elapsed());
    let begin = Instant::now();
    let runs = file.runs(&descriptions, &ProcessEdges::default(), true).runs;
    println!("{} runs in {:.2?}", runs.len(), begin.elapsed());
}
