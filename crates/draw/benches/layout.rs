//! Seconds of layouts, which is what a reader of the page or the picture waits for.

#[path = "../tests/draw/graphs/mod.rs"]
#[allow(dead_code)]
mod graphs;

use criterion::{BenchmarkId, Criterion};
use iotrail_draw::{Direction, Picture, View, layout};

const ACTIVITIES: usize = 76;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("layout, 76 activities");
    group.sample_size(10);
    for (transitions, drawn) in [(136, 136), (1312, 300)] {
        let dfg = graphs::random(ACTIVITIES, transitions, 9, false);
        let view = View { max_nodes: Some(ACTIVITIES), max_edges: drawn, ..View::default() };
        let picture = Picture::select(&dfg, &view);
        let edges = picture.edges.len();
        assert!(layout(&dfg, &picture, &view, Direction::Down).is_ok(), "a failed layout would look fast");
        group.bench_function(BenchmarkId::from_parameter(format!("{edges} transitions")), |bencher| {
            bencher.iter(|| layout(&dfg, &picture, &view, Direction::Down));
        });
    }
    group.finish();
    criterion.final_summary();
}
