//! Points, rectangles and routes, in points, y downwards.

/// A place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Rightwards.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Point {
    /// The point at these coordinates.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The point that much further.
    #[must_use]
    pub fn moved(self, by: Self) -> Self {
        Self::new(self.x + by.x, self.y + by.y)
    }

    /// The point at `share` of the way to `other`.
    #[must_use]
    pub fn towards(self, other: Self, share: f64) -> Self {
        Self::new(self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share)
    }

    /// To another point in a straight line.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// A rectangle by its top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left side.
    pub x: f64,
    /// Upper side.
    pub y: f64,
    /// Extent.
    pub width: f64,
    /// Extent.
    pub height: f64,
}

impl Rect {
    /// The rectangle of an extent around its middle.
    #[must_use]
    pub fn around(middle: Point, (width, height): (f64, f64)) -> Self {
        Self { x: middle.x - width / 2.0, y: middle.y - height / 2.0, width, height }
    }

    /// Its middle.
    #[must_use]
    pub fn middle(&self) -> Point {
        Point::new(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Whether the two share more than a border.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    /// The rectangle that much further.
    #[must_use]
    pub fn moved(self, by: Point) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y, ..self }
    }

    /// Larger by `by` on each side.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        Self { x: self.x - by, y: self.y - by, width: self.width + 2.0 * by, height: self.height + 2.0 * by }
    }

    /// The smallest rectangle that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }
}

/// How far the control points of a quarter of a circle are on their way to the corner.
const QUARTER: f64 = 0.552_284_75;

/// A smooth line: cubic Bézier curves one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// Where it begins.
    pub start: Point,
    /// Two control points and the end of each curve.
    pub curves: Vec<[Point; 3]>,
}

impl Route {
    /// The border of `rect` with round corners, clockwise.
    #[must_use]
    pub fn round_box(rect: Rect, radius: f64) -> Self {
        let radius = radius.min(rect.width / 2.0).min(rect.height / 2.0);
        let (left, top, right, bottom) = (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height);
        let corners =
            [(right, top), (right, bottom), (left, bottom), (left, top)].map(|(x, y)| Point::new(x, y));
        let start = Point::new(left + radius, top);
        let mut curves = Vec::with_capacity(8);
        let mut here = start;
        for (index, corner) in corners.into_iter().enumerate() {
            let before = corners[(index + 3) % 4];
            let after = corners[(index + 1) % 4];
            let step = |towards: Point| {
                let distance = corner.distance(towards);
                corner.towards(towards, if distance > 0.0 { radius / distance } else { 0.0 })
            };
            let (enter, leave) = (step(before), step(after));
            curves.push([here.towards(enter, 1.0 / 3.0), here.towards(enter, 2.0 / 3.0), enter]);
            curves.push([enter.towards(corner, QUARTER), leave.towards(corner, QUARTER), leave]);
            here = leave;
        }
        Self { start, curves }
    }

    /// The ellipse that fills `rect`.
    #[must_use]
    pub fn ellipse(rect: Rect) -> Self {
        let Point { x, y } = rect.middle();
        let (rx, ry) = (rect.width / 2.0, rect.height / 2.0);
        let start = Point::new(x, y - ry);
        let quarter = |(ax, ay): (f64, f64), (bx, by): (f64, f64)| {
            let point = |dx: f64, dy: f64| Point::new(x + dx * rx, y + dy * ry);
            [
                point(ax + QUARTER * bx, ay + QUARTER * by),
                point(bx + QUARTER * ax, by + QUARTER * ay),
                point(bx, by),
            ]
        };
        let turns = [(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
        Self { start, curves: turns.windows(2).map(|turn| quarter(turn[0], turn[1])).collect() }
    }

    /// The same line the other way round.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        let end = self.end();
        let starts: Vec<Point> =
            std::iter::once(self.start).chain(self.curves.iter().map(|curve| curve[2])).collect();
        self.curves =
            self.curves.iter().zip(&starts).rev().map(|([a, b, _], start)| [*b, *a, *start]).collect();
        self.start = end;
        self
    }

    /// Where it ends.
    #[must_use]
    pub fn end(&self) -> Point {
        self.curves.last().map_or(self.start, |curve| curve[2])
    }

    /// The last control point that is not the end: the arrow points away from it.
    #[must_use]
    pub fn before_end(&self) -> Point {
        let end = self.end();
        let controls = self.curves.iter().rev().flat_map(|curve| [curve[1], curve[0]]);
        controls.chain([self.start]).find(|point| point.distance(end) > 0.5).unwrap_or(self.start)
    }

    /// Without its last `by` points of length, which the arrow head covers.
    #[must_use]
    pub fn shortened(&self, by: f64) -> Self {
        let mut route = self.clone();
        let (from, tip) = (self.before_end(), self.end());
        let distance = from.distance(tip);
        if let Some(last) = route.curves.last_mut()
            && distance > 0.0
        {
            // May reach back beyond `from`: the head covers that, too.
            last[2] = tip.towards(from, by / distance);
        }
        route
    }

    /// The point at `share` of the curves.
    #[must_use]
    pub fn at(&self, share: f64) -> Point {
        let Some(last) = self.curves.len().checked_sub(1) else { return self.start };
        let place = share.clamp(0.0, 1.0) * self.curves.len() as f64;
        let index = (place as usize).min(last);
        let from = if index == 0 { self.start } else { self.curves[index - 1][2] };
        Self::on_curve(from, &self.curves[index], place - index as f64)
    }

    /// The point at `share` of one curve that begins at `start`.
    pub(crate) fn on_curve(start: Point, [a, b, end]: &[Point; 3], share: f64) -> Point {
        let (ab, bc, cd) = (start.towards(*a, share), a.towards(*b, share), b.towards(*end, share));
        ab.towards(bc, share).towards(bc.towards(cd, share), share)
    }

    /// A rectangle that holds it.
    #[must_use]
    pub fn bounds(&self) -> Rect {
        let points = self.curves.iter().flatten().copied();
        let dot = |point: Point| Rect { x: point.x, y: point.y, width: 0.0, height: 0.0 };
        points.map(dot).fold(dot(self.start), Rect::union)
    }

    /// Each of its points elsewhere.
    #[must_use]
    pub fn mapped(&self, to: impl Fn(Point) -> Point) -> Self {
        let curves = self.curves.iter().map(|curve| curve.map(&to)).collect();
        Self { start: to(self.start), curves }
    }

    /// The same line elsewhere.
    #[must_use]
    pub fn moved(&self, by: Point) -> Self {
        self.mapped(|point| point.moved(by))
    }
}
