//! The shortest way through gates, and the smooth curve along it.

use crate::geometry::{Point, Route};

/// A level that a line passes between two positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A smooth line downwards from `start` through `gates`, in their order, to `end`.
pub(crate) fn through(start: Point, gates: &[Gate], end: Point) -> Route {
    let corners = taut(start, gates, end);
    let tangents = tangents(&corners);
    let mut curves = Vec::with_capacity(corners.len() - 1);
    let mut gates = gates;
    for (ends, tangents) in corners.windows(2).zip(tangents.windows(2)) {
        let inside = gates.partition_point(|gate| gate.y <= ends[1].y);
        curves.push(fitted([ends[0], ends[1]], [tangents[0], tangents[1]], &gates[..inside]));
        gates = &gates[inside..];
    }
    Route { start, curves }
}

/// The corners of a taut string through the gates, with its ends.
fn taut(start: Point, gates: &[Gate], end: Point) -> Vec<Point> {
    let last = Gate { y: end.y, low: end.x, high: end.x };
    let gates: Vec<Gate> = gates.iter().copied().chain([last]).collect();
    let mut corners = vec![start];
    let (mut here, mut next) = (start, 0);
    while let Some((corner, after)) = corner_after(here, &gates, next) {
        corners.push(corner);
        (here, next) = (corner, after);
    }
    corners.push(end);
    corners
}

/// Where a straight line from `here` hits the side of a gate first, and the gate after that.
fn corner_after(here: Point, gates: &[Gate], next: usize) -> Option<(Point, usize)> {
    let (mut low, mut high) = ((f64::NEG_INFINITY, next), (f64::INFINITY, next));
    for (index, gate) in gates.iter().enumerate().skip(next) {
        let depth = gate.y - here.y;
        if depth <= 0.0 {
            continue;
        }
        let slopes = ((gate.low - here.x) / depth, (gate.high - here.x) / depth);
        if slopes.0 > high.0 {
            return Some((Point::new(gates[high.1].high, gates[high.1].y), high.1 + 1));
        }
        if slopes.1 < low.0 {
            return Some((Point::new(gates[low.1].low, gates[low.1].y), low.1 + 1));
        }
        if slopes.0 > low.0 {
            low = (slopes.0, index);
        }
        if slopes.1 < high.0 {
            high = (slopes.1, index);
        }
    }
    None
}

/// Unit directions at corners: those of an arc at its ends, else between those of both sides, nearer to that of the shorter side.
fn tangents(corners: &[Point]) -> Vec<Point> {
    let sides: Vec<(Point, f64)> = corners
        .windows(2)
        .map(|ends| {
            let length = ends[0].distance(ends[1]);
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            (Point::new((ends[1].x - ends[0].x) * scale, (ends[1].y - ends[0].y) * scale), length)
        })
        .collect();
    let inner = sides.windows(2).map(|pair| {
        let ((first, before), (second, after)) = (pair[0], pair[1]);
        let sum = Point::new(first.x * after + second.x * before, first.y * after + second.y * before);
        let length = sum.x.hypot(sum.y);
        if length > 0.0 { Point::new(sum.x / length, sum.y / length) } else { second }
    });
    let inner: Vec<Point> = inner.collect();
    let end = |side: Option<&(Point, f64)>, inner: Option<&Point>| {
        let side = side.map_or(Point::default(), |side| side.0);
        inner.map_or(side, |inner| mirrored(*inner, side))
    };
    let (first, last) = (end(sides.first(), inner.first()), end(sides.last(), inner.last()));
    std::iter::once(first).chain(inner).chain([last]).collect()
}

/// The direction that makes an arc with `direction` at the other end of a line along `side`, if that leads downwards.
fn mirrored(direction: Point, side: Point) -> Point {
    let along = 2.0 * (direction.x * side.x + direction.y * side.y);
    let mirrored = Point::new(along * side.x - direction.x, along * side.y - direction.y);
    if mirrored.y > 0.0 { mirrored } else { side }
}

/// Shares of a side that control points are away from its ends; the last one is that of a straight line.
const REACHES: [f64; 7] = [0.36, 0.28, 0.2, 0.12, 0.05, 0.02, 0.0];
/// So far a curve may leave a gate.
const TOLERANCE: f64 = 1.0;

/// The roundest curve between two corners that keeps to the gates.
fn fitted(ends: [Point; 2], tangents: [Point; 2], gates: &[Gate]) -> [Point; 3] {
    let length = ends[0].distance(ends[1]);
    let depth = ends[1].y - ends[0].y;
    let curve = |reach: f64| {
        // Control points beyond the middle level would make the curve turn back.
        let by = |tangent: Point| {
            if tangent.y > 0.0 { (length * reach).min(depth / 2.0 / tangent.y) } else { length * reach }
        };
        let (first, second) = (by(tangents[0]), by(tangents[1]));
        [
            Point::new(ends[0].x + tangents[0].x * first, ends[0].y + tangents[0].y * first),
            Point::new(ends[1].x - tangents[1].x * second, ends[1].y - tangents[1].y * second),
            ends[1],
        ]
    };
    let keeps = |curve: &[Point; 3]| {
        gates.iter().all(|gate| {
            let x = crossing(ends[0], curve, gate.y);
            x >= gate.low - TOLERANCE && x <= gate.high + TOLERANCE
        })
    };
    let curves = REACHES.map(curve);
    if tangents[0] == tangents[1] {
        return curves[0];
    }
    curves.into_iter().find(keeps).unwrap_or(curves[REACHES.len() - 1])
}

/// Where a curve that runs downwards passes the level `y`.
fn crossing(start: Point, curve: &[Point; 3], y: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        if Route::on_curve(start, curve, middle).y < y {
            low = middle;
        } else {
            high = middle;
        }
    }
    Route::on_curve(start, curve, low).x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_line_is_straight() {
        let gates = [Gate { y: 5.0, low: -10.0, high: 10.0 }];
        assert_eq!(taut(Point::new(0.0, 0.0), &gates, Point::new(4.0, 10.0)).len(), 2);
    }

    #[test]
    fn a_line_bends_at_the_sides_of_gates_only() {
        let gates = [
            Gate { y: 10.0, low: 20.0, high: 30.0 },
            Gate { y: 20.0, low: 20.0, high: 30.0 },
            Gate { y: 30.0, low: -30.0, high: 5.0 },
        ];
        let corners = taut(Point::new(0.0, 0.0), &gates, Point::new(0.0, 40.0));
        let expected = [(0.0, 0.0), (20.0, 10.0), (20.0, 20.0), (5.0, 30.0), (0.0, 40.0)];
        assert_eq!(corners, expected.map(|(x, y)| Point::new(x, y)));
    }
}
