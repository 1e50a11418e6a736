//! Layouts: nothing overlaps, nothing is lost, the same input gives the same places.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

use iotrail_draw::layout::{Graph, Link, Rect, layout, place, place_labels};
use iotrail_draw::{Dfg, EngineChoice, Picture, View};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn dot_is_installed() -> bool {
    let found = std::process::Command::new("dot").arg("-V").output().is_ok();
    if !found {
        eprintln!("SKIPPED: Graphviz `dot` is not installed, so its layouts are not checked");
    }
    found
}

fn engines() -> Vec<EngineChoice> {
    let dot = dot_is_installed().then_some(EngineChoice::Dot);
    [EngineChoice::Dugong].into_iter().chain(dot).collect()
}

fn assert_apart(nodes: &[Rect], labels: &[Rect]) {
    for (index, label) in labels.iter().enumerate() {
        for other in &labels[index + 1..] {
            assert!(!label.overlaps(other), "labels overlap: {label:?} {other:?}");
        }
        for node in nodes {
            assert!(!label.overlaps(node), "a label lies on a node: {label:?} {node:?}");
        }
    }
    for (index, node) in nodes.iter().enumerate() {
        for other in &nodes[index + 1..] {
            assert!(!node.overlaps(other), "nodes overlap: {node:?} {other:?}");
        }
    }
}

fn check(dfg: &Dfg, view: &View) {
    let picture = Picture::select(dfg, view);
    let drawn = layout(dfg, &picture, view).unwrap();
    let nodes: Vec<Rect> = drawn.nodes.iter().copied().chain([drawn.start, drawn.end]).collect();
    let labels: Vec<Rect> = drawn.edges.iter().map(|edge| edge.label).collect();
    assert_eq!((drawn.nodes.len(), drawn.edges.len()), (picture.nodes.len(), picture.edges.len()));
    assert_apart(&nodes, &labels);
    let inside = |rect: &Rect| {
        rect.x >= -0.01
            && rect.y >= -0.01
            && rect.x + rect.width <= drawn.width + 0.01
            && rect.y + rect.height <= drawn.height + 0.01
    };
    assert!(nodes.iter().chain(&labels).all(inside), "everything is inside the picture");
}

#[test]
fn nothing_overlaps_in_the_pictures_of_the_gallery() {
    for engine in engines() {
        let view = View { engine, ..View::default() };
        check(&crate::graphs::paper(), &view);
        check(&crate::graphs::hostile(), &view);
        check(&crate::graphs::random(76, 136, 7, false), &view);
        check(&crate::graphs::random(76, 1312, 9, false), &view);
        check(&Dfg::default(), &view);
    }
}

#[test]
fn the_start_is_on_top_and_the_end_at_the_bottom() {
    for engine in engines() {
        let (dfg, view) = (crate::graphs::paper(), View { engine, ..View::default() });
        let drawn = layout(&dfg, &Picture::select(&dfg, &view), &view).unwrap();
        assert!(drawn.nodes.iter().all(|node| node.y > drawn.start.y && node.y < drawn.end.y), "{engine:?}");
    }
}

#[test]
fn routes_begin_and_end_at_their_nodes() {
    for engine in engines() {
        let (dfg, view) = (crate::graphs::paper(), View { engine, ..View::default() });
        let picture = Picture::select(&dfg, &view);
        let drawn = layout(&dfg, &picture, &view).unwrap();
        let rect_of = |name: &str| match name {
            "●" => drawn.start,
            "■" => drawn.end,
            _ => {
                drawn.nodes
                    [picture.nodes.iter().position(|index| *dfg.nodes[*index].activity == *name).unwrap()]
            }
        };
        for (index, edge) in picture.edges.iter().zip(&drawn.edges) {
            let (from, to) = (rect_of(&dfg.edges[*index].from), rect_of(&dfg.edges[*index].to));
            let near = |rect: Rect, point: iotrail_draw::layout::Point| {
                point.x > rect.x - 2.0
                    && point.x < rect.x + rect.width + 2.0
                    && point.y > rect.y - 2.0
                    && point.y < rect.y + rect.height + 2.0
            };
            assert!(near(from, edge.route.start), "{engine:?} {:?}", dfg.edges[*index].from);
            assert!(near(to, edge.route.end()), "{engine:?} {:?}", dfg.edges[*index].to);
        }
    }
}

#[test]
fn layouts_are_deterministic() {
    let dfg = crate::graphs::random(76, 300, 3, false);
    for engine in engines() {
        let view = View { engine, ..View::default() };
        let picture = Picture::select(&dfg, &view);
        assert_eq!(layout(&dfg, &picture, &view).unwrap(), layout(&dfg, &picture, &view).unwrap());
    }
}

#[test]
fn a_dense_graph_is_drawn_in_time_and_says_what_it_hides() {
    let dfg = crate::graphs::random(76, 1312, 9, false);
    let begin = Instant::now();
    let svg = crate::svg(&dfg);
    // A second on an idle machine; the limit leaves room for a loaded one.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("hidden: 27 activities ("), "{}", &svg[..2000]);
    assert!(svg.contains("transitions ("));
}

fn graph() -> impl Strategy<Value = Graph> {
    (2usize..25).prop_flat_map(|vertices| {
        let sizes = prop::collection::vec((20.0..220.0f64, 20.0..90.0f64), vertices);
        let ends = prop::collection::btree_set((0..vertices, 0..vertices), 0..60);
        (sizes, ends, prop::collection::vec((1u32..9, 8.0..60.0f64), 60), any::<bool>()).prop_map(
            |(sizes, ends, labels, sideways)| {
                let links = ends.into_iter().zip(labels);
                let edges = links.map(|((from, to), (weight, width))| Link {
                    from,
                    to,
                    label: (width, 14.0),
                    weight,
                });
                Graph { sizes, edges: edges.collect(), sideways, framed: true }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn labels_never_overlap_labels_or_nodes(graph in graph()) {
        let (_, placement) = place(&graph, EngineChoice::Dugong).unwrap();
        assert_apart(&placement.vertices, &place_labels(&graph, &placement));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn labels_never_overlap_in_graphviz_layouts_either(graph in graph()) {
        if dot_is_installed() {
            let (_, placement) = place(&graph, EngineChoice::Dot).unwrap();
            assert_apart(&placement.vertices, &place_labels(&graph, &placement));
        }
    }
}
