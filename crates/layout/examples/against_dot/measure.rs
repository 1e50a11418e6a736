//! How good a layout is: crossings, length, bends, area.

use iotrail_layout::{Graph, Layout, Point, Rect, Route};

/// Figures of a layout; less is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Lines that cross.
    pub(crate) crossings: usize,
    /// Sum of all lines, points.
    pub(crate) length: f64,
    /// Turns of at least [`BEND`] one way.
    pub(crate) bends: usize,
    /// Square points.
    pub(crate) area: f64,
}

/// A smaller turn is no bend, radians.
const BEND: f64 = 0.2;
/// Distance of the points that a line is measured at.
const STEP: f64 = 4.0;
/// Lines that meet at a node may touch so far from it.
const MEETING: f64 = 24.0;

impl Figures {
    /// Of one layout.
    pub(crate) fn of(graph: &Graph, layout: &Layout) -> Self {
        let lines: Vec<Vec<Point>> = layout.routes.iter().map(points).collect();
        let all = extent(layout);
        Self {
            crossings: crossings(graph, &lines),
            length: lines.iter().map(|line| length(line)).sum(),
            bends: lines.iter().map(|line| bends(line)).sum(),
            area: all.width * all.height,
        }
    }

    /// Each figure over the other's, one more of counts so that none is nothing.
    pub(crate) fn over(&self, other: &Self) -> [f64; 4] {
        let counts = |ours: usize, theirs: usize| (ours as f64 + 1.0) / (theirs as f64 + 1.0);
        [
            counts(self.crossings, other.crossings),
            self.length / other.length,
            counts(self.bends, other.bends),
            self.area / other.area,
        ]
    }
}

/// What holds everything.
pub(crate) fn extent(layout: &Layout) -> Rect {
    let rects = layout.nodes.iter().chain(layout.labels.iter().flatten()).copied();
    let lines = layout.routes.iter().flat_map(points).map(|at| Rect::around(at, (0.0, 0.0)));
    rects.chain(lines).reduce(Rect::union).unwrap_or_default()
}

fn points(route: &Route) -> Vec<Point> {
    let mut points = vec![route.start];
    for curve in &route.curves {
        let start = points[points.len() - 1];
        let reach = start.distance(curve[0]) + curve[0].distance(curve[1]) + curve[1].distance(curve[2]);
        let steps = (reach / STEP).ceil().max(1.0);
        let single = Route { start, curves: vec![*curve] };
        points.extend((1..=steps as usize).map(|step| single.at(step as f64 / steps)));
    }
    points
}

fn length(line: &[Point]) -> f64 {
    line.windows(2).map(|ends| ends[0].distance(ends[1])).sum()
}

fn bends(line: &[Point]) -> usize {
    let directions: Vec<f64> = line
        .windows(2)
        .filter(|ends| ends[0].distance(ends[1]) > 1e-6)
        .map(|ends| (ends[1].y - ends[0].y).atan2(ends[1].x - ends[0].x))
        .collect();
    let (mut bends, mut turn) = (0, 0.0_f64);
    for pair in directions.windows(2) {
        let by = (pair[1] - pair[0] + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        if by * turn < 0.0 {
            bends += usize::from(turn.abs() >= BEND);
            turn = 0.0;
        }
        turn += by;
    }
    bends + usize::from(turn.abs() >= BEND)
}

fn crossings(graph: &Graph, lines: &[Vec<Point>]) -> usize {
    let boxes: Vec<Rect> = lines
        .iter()
        .map(|line| {
            line.iter()
                .map(|at| Rect::around(*at, (0.0, 0.0)))
                .reduce(Rect::union)
                .unwrap_or_default()
                .grown(0.1)
        })
        .collect();
    let mut crossings = 0;
    for first in 0..lines.len() {
        for second in first + 1..lines.len() {
            if boxes[first].overlaps(&boxes[second]) {
                let ends = |edge: usize| [graph.edges[edge].from, graph.edges[edge].to];
                let meet = ends(first).iter().any(|end| ends(second).contains(end));
                crossings += crossings_of(&lines[first], &lines[second], meet);
            }
        }
    }
    crossings
}

fn crossings_of(first: &[Point], second: &[Point], meet: bool) -> usize {
    let mut found: Vec<Point> = Vec::new();
    for a in first.windows(2) {
        let own = Rect::around(a[0], (0.0, 0.0)).union(Rect::around(a[1], (0.0, 0.0))).grown(0.01);
        for b in second.windows(2) {
            if b[0].x.max(b[1].x) < own.x
                || b[0].x.min(b[1].x) > own.x + own.width
                || b[0].y.max(b[1].y) < own.y
                || b[0].y.min(b[1].y) > own.y + own.height
            {
                continue;
            }
            let Some(at) = intersection([a[0], a[1]], [b[0], b[1]]) else { continue };
            let is_meeting = meet
                && [first, second].iter().any(|line| {
                    at.distance(line[0]) < MEETING || at.distance(line[line.len() - 1]) < MEETING
                });
            if !is_meeting && found.iter().all(|other| other.distance(at) > STEP / 2.0) {
                found.push(at);
            }
        }
    }
    found.len()
}

fn intersection([a, b]: [Point; 2], [c, d]: [Point; 2]) -> Option<Point> {
    let cross = |u: Point, v: Point| u.x * v.y - u.y * v.x;
    let minus = |u: Point, v: Point| Point::new(u.x - v.x, u.y - v.y);
    let (first, second) = (minus(b, a), minus(d, c));
    let area = cross(first, second);
    if area.abs() < 1e-9 {
        return None;
    }
    let (s, t) = (cross(minus(c, a), second) / area, cross(minus(c, a), first) / area);
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then(|| a.towards(b, s))
}
