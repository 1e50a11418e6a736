//! Moves the labels of edges until they overlap neither each other nor a node.
//!
//! Engines reserve room for labels, but not all of it and not always. Each label, in order, takes the first free place
//! out of: where the engine wants it, along its route from the middle outwards, and then rings around the middle that
//! grow until they leave the picture, where everything is free. So a place is always found. Nearby, a place through which no
//! other route runs is better.

use super::geometry::{Point, Rect};
use super::{Graph, Placement};
use std::collections::HashMap;

/// Distance kept between a label and everything else.
const GAP: f64 = 1.5;
const CELL: f64 = 64.0;
const STEPS: usize = 16;
/// So many free places are looked at for one that no route crosses.
const NEARBY: usize = 60;
/// Distance between points of a route.
const DENSITY: f64 = 5.0;

pub(super) fn keep_apart(graph: &Graph, placement: &Placement) -> Vec<Rect> {
    let mut taken = Taken::default();
    placement.vertices.iter().for_each(|rect| taken.add(*rect));
    let routes = Routes::new(placement);
    let mut labels = Vec::with_capacity(graph.edges.len());
    for (index, link) in graph.edges.iter().enumerate() {
        let rect = free_place(&taken, &routes, placement, index, link.label);
        taken.add(rect);
        labels.push(rect);
    }
    labels
}

fn free_place(taken: &Taken, routes: &Routes, placement: &Placement, index: usize, size: (f64, f64)) -> Rect {
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
    let mut free =
        places.map(|middle| Rect::around(middle, size)).filter(|rect| taken.is_free(rect.grown(GAP)));
    let first = free.next().unwrap_or_default();
    if size.0 <= 0.0 || !routes.cross(first, index) {
        return first;
    }
    free.take(NEARBY).find(|rect| !routes.cross(*rect, index)).unwrap_or(first)
}

/// Points on routes, each with the edge that it is of.
struct Routes(HashMap<(i64, i64), Vec<(usize, Point)>>);

impl Routes {
    fn new(placement: &Placement) -> Self {
        let mut points: HashMap<(i64, i64), Vec<(usize, Point)>> = HashMap::new();
        for (index, route) in placement.routes.iter().enumerate() {
            let bounds = route.bounds();
            let steps = ((bounds.width + bounds.height) / DENSITY).ceil().clamp(1.0, 2000.0);
            for step in 0..=steps as u32 {
                let point = route.at(f64::from(step) / steps);
                points.entry((cell(point.x), cell(point.y))).or_default().push((index, point));
            }
        }
        Self(points)
    }

    /// Whether the route of another edge than `own` runs through `rect`.
    fn cross(&self, rect: Rect, own: usize) -> bool {
        let inside = |point: &Point| {
            point.x >= rect.x
                && point.x <= rect.x + rect.width
                && point.y >= rect.y
                && point.y <= rect.y + rect.height
        };
        let mut points = cells(rect).filter_map(|cell| self.0.get(&cell)).flatten();
        points.any(|(edge, point)| *edge != own && inside(point))
    }
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

fn cell(place: f64) -> i64 {
    (place / CELL).floor() as i64
}

fn cells(rect: Rect) -> impl Iterator<Item = (i64, i64)> {
    let columns = cell(rect.x)..=cell(rect.x + rect.width);
    let rows = cell(rect.y)..=cell(rect.y + rect.height);
    columns.flat_map(move |column| rows.clone().map(move |row| (column, row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Link, Route};

    #[test]
    fn a_label_keeps_off_the_routes_of_other_edges() {
        let point = |x: f64, y: f64| Point::new(x, y);
        let routes = vec![
            Route::through(&[point(0.0, 0.0), point(0.0, 200.0)]),
            Route::through(&[point(-100.0, 95.0), point(100.0, 105.0)]),
        ];
        let link = |label| Link { from: 0, to: 1, label, weight: 1 };
        let graph = Graph {
            sizes: vec![(20.0, 20.0); 2],
            edges: vec![link((60.0, 14.0)), link((0.0, 0.0))],
            ..Graph::default()
        };
        let placement = Placement {
            vertices: vec![
                Rect::around(point(0.0, -10.0), (20.0, 20.0)),
                Rect::around(point(0.0, 210.0), (20.0, 20.0)),
            ],
            labels: vec![point(0.0, 100.0), point(0.0, 0.0)],
            routes,
        };
        let labels = keep_apart(&graph, &placement);
        let crossed = Routes::new(&placement).cross(labels[0], 0);
        assert!(!crossed && labels[0].middle().distance(point(0.0, 100.0)) < 60.0, "{labels:?}");
    }
}
