//! Layouts: nothing overlaps, nothing is lost, the same input gives the same places.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotrail_draw::layout::{Rect, layout};
use iotrail_draw::{Dfg, Direction, Picture, View};
use std::time::{Duration, Instant};

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
    let drawn = layout(dfg, &picture, view, view.direction.unwrap_or(Direction::Down)).unwrap();
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
    for direction in [Direction::Down, Direction::Right] {
        let view = View { direction: Some(direction), ..View::default() };
        check(&crate::graphs::paper(), &view);
        check(&crate::graphs::hostile(), &view);
        check(&crate::graphs::random(76, 136, 7, false), &view);
        check(&crate::graphs::random(76, 1312, 9, false), &view);
        check(&Dfg::default(), &view);
    }
}

#[test]
fn the_start_is_on_top_and_the_end_at_the_bottom() {
    let (dfg, view) = (crate::graphs::paper(), View::default());
    let drawn = layout(&dfg, &Picture::select(&dfg, &view), &view, Direction::Down).unwrap();
    assert!(drawn.nodes.iter().all(|node| node.y > drawn.start.y && node.y < drawn.end.y));
}

#[test]
fn a_dense_graph_is_drawn_in_time_and_says_what_it_hides() {
    let dfg = crate::graphs::random(76, 1312, 9, false);
    let begin = Instant::now();
    let svg = crate::svg(&dfg);
    // A second on an idle machine; the limit leaves room for a loaded one.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let svg = String::from_utf8(svg).unwrap();
    let small = View::default().room(&dfg);
    assert!((20..50).contains(&small), "{small}");
    assert!(
        svg.contains(&format!("hidden: {} activities (", dfg.nodes.len() + 1 - small)),
        "{}",
        &svg[..2000]
    );
    assert!(svg.contains("transitions ("));
}
