//! Moves the labels of edges until they overlap neither each other nor a node.
//!
//! Engines reserve room for labels, but not all of it and not always. Each label, in order, takes the first free place
//! out of: where the engine wants it, along its route from the middle outwards, and then rings around the middle that
//! grow until they leave the picture, where everything is free. So a place is always found.

use super::geometry::{Point, Rect};
use super::{Graph, Placement};
use std::collections::HashMap;

/// Distance kept between a label and everything else.
const GAP: f64 = 1.5;
const CELL: f64 = 64.0;
const STEPS: usize = 16;

pub(super) fn keep_apart(graph: &Graph, placement: &Placement) -> Vec<Rect> {
    let mut taken = Taken::default();
    placement.vertices.iter().for_each(|rect| taken.add(*rect));
    let mut labels = Vec::with_capacity(graph.edges.len());
    for (index, link) in graph.edges.iter().enumerate() {
        let rect = free_place(&taken, placement, index, link.label);
        taken.add(rect);
        labels.push(rect);
    }
    labels
}

fn free_place(taken: &Taken, placement: &Placement, index: usize, size: (f64, f64)) -> Rect {
    let route = &placement.routes[index];
    let wished = placement.labels[index];
    let along = (0..=STEPS).map(|step| {
        let offset = step.div_ceil(2) as f64 / STEPS as f64 * 0.8;
        route.at(if step % 2 == 0 { 0.5 + offset } else { 0.5 - offset })
    });
    let middle = route.at(0.5);
    let rings = (1..).flat_map(move |ring| {
        let radius = f64::from(ring) * 6.0;
        (0..12).map(move |hour| {
            let angle = f64::from(hour) * std::f64::consts::TAU / 12.0;
            Point::new(middle.x + radius * angle.cos(), middle.y + radius * angle.sin())
        })
    });
    let places = std::iter::once(wished).chain(along).chain(rings);
    let mut rects = places.map(|middle| Rect::around(middle, size));
    rects.find(|rect| taken.is_free(rect.grown(GAP))).unwrap_or_default()
}

/// Rectangles in a grid, so that asking costs little.
#[derive(Default)]
struct Taken {
    cells: HashMap<(i64, i64), Vec<Rect>>,
}

impl Taken {
    fn add(&mut self, rect: Rect) {
        for cell in cells(rect) {
            self.cells.entry(cell).or_default().push(rect);
        }
    }

    fn is_free(&self, rect: Rect) -> bool {
        !cells(rect).any(|cell| {
            self.cells.get(&cell).is_some_and(|rects| rects.iter().any(|other| other.overlaps(&rect)))
        })
    }
}

fn cells(rect: Rect) -> impl Iterator<Item = (i64, i64)> {
    let cell = |place: f64| (place / CELL).floor() as i64;
    let columns = cell(rect.x)..=cell(rect.x + rect.width);
    let rows = cell(rect.y)..=cell(rect.y + rect.height);
    columns.flat_map(move |column| rows.clone().map(move |row| (column, row)))
}
