//! CPU seconds that dense and large random graphs take: `cargo run --release --example speed`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails should stop")]

use iotrail_layout::{Edge, Graph, Node, layout};

fn main() {
    for (nodes, edges, labels) in
        [(76, 1312, false), (76, 1312, true), (1000, 3000, false), (1000, 3000, true), (3000, 10_000, true)]
    {
        let graph = random(nodes, edges, labels);
        let begin = cpu_seconds();
        let found = layout(&graph);
        let seconds = cpu_seconds() - begin;
        let outcome = found.map_or_else(
            |error| error.to_string(),
            |found| format!("{:.0} x {:.0} points", found.width, found.height),
        );
        println!("{nodes} nodes, {edges} edges, labels: {labels}: {seconds:.2} s, {outcome}");
    }
}

/// Of this process so far.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn random(nodes: usize, edges: usize, labels: bool) -> Graph {
    let mut seed = 42_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let label = if labels { (30.0, 12.0) } else { (0.0, 0.0) };
    Graph {
        nodes: vec![Node { width: 120.0, height: 40.0, ..Node::default() }; nodes],
        edges: (0..edges).map(|_| Edge { label, ..Edge::new(next(nodes), next(nodes)) }).collect(),
        ..Graph::default()
    }
}
