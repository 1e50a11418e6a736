//! Times both engines on graphs of several sizes: `cargo run --release -p iotrail-draw --example layout_times`.

#[path = "../tests/graphs/mod.rs"]
#[allow(dead_code)]
mod graphs;

use iotrail_draw::{EngineChoice, Picture, View, layout};
use std::io::Write;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{:>10} {:>10} {:>8} {:>10} {:>8} {:>8}",
        "activities", "drawn", "engine", "seconds", "width", "height"
    )?;
    for (activities, transitions, drawn) in
        [(40, 120, 120), (76, 136, 136), (76, 1312, 100), (76, 1312, 200), (76, 1312, 300), (300, 900, 900)]
    {
        let dfg = graphs::random(activities, transitions, 9, false);
        for engine in [EngineChoice::Dot, EngineChoice::Dugong] {
            let view = View { engine, max_nodes: activities, max_edges: drawn, ..View::default() };
            let picture = Picture::select(&dfg, &view);
            let begin = Instant::now();
            let result = layout(&dfg, &picture, &view);
            let seconds = begin.elapsed().as_secs_f64();
            let (width, height) = result.map_or((f64::NAN, f64::NAN), |layout| (layout.width, layout.height));
            let edges = picture.edges.len();
            writeln!(
                out,
                "{activities:>10} {edges:>10} {:>8} {seconds:>10.3} {width:>8.0} {height:>8.0}",
                engine.word()
            )?;
        }
    }
    Ok(())
}
