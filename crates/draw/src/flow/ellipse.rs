//! Ends of routes on ellipses: layouts know boxes only.

use crate::layout::{Point, Rect, Route};

/// Makes a route that ends at the border of `rect` end at the border of the ellipse in it: straight on if that meets it,
/// else towards its middle.
pub(super) fn extend(route: &mut Route, rect: Rect) {
    let (from, end) = (route.before_end(), route.end());
    let (rx, ry) = (rect.width / 2.0, rect.height / 2.0);
    if rx <= 0.0 || ry <= 0.0 {
        return;
    }
    // In the coordinates in which the ellipse is the unit circle.
    let middle = rect.middle();
    let unit = |point: Point| Point::new((point.x - middle.x) / rx, (point.y - middle.y) / ry);
    let (start, ahead) = (unit(end), unit(end.towards(from, -1.0)));
    let straight = meets(start, Point::new(ahead.x - start.x, ahead.y - start.y));
    let centred = || meets(start, Point::new(-start.x, -start.y));
    if let Some(point) = straight.or_else(centred) {
        let goal = Point::new(middle.x + point.x * rx, middle.y + point.y * ry);
        route.curves.push([end.towards(goal, 1.0 / 3.0), end.towards(goal, 2.0 / 3.0), goal]);
    }
}

/// Where a ray from outside the unit circle first meets it.
fn meets(start: Point, towards: Point) -> Option<Point> {
    let a = towards.x * towards.x + towards.y * towards.y;
    let b = start.x * towards.x + start.y * towards.y;
    let c = start.x * start.x + start.y * start.y - 1.0;
    let root = b * b - a * c;
    if a <= 0.0 || root < 0.0 || c <= 0.0 {
        return None;
    }
    let share = (-b - root.sqrt()) / a;
    (share > 0.0).then(|| Point::new(start.x + share * towards.x, start.y + share * towards.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_to_the_corner_of_a_box_ends_on_the_ellipse_in_it() {
        let rect = Rect { x: 0.0, y: 0.0, width: 100.0, height: 40.0 };
        for (from, to) in
            [((50.0, -50.0), (50.0, 0.0)), ((-20.0, -30.0), (2.0, 0.0)), ((90.0, 200.0), (95.0, 40.0))]
        {
            let (from, to) = (Point::new(from.0, from.1), Point::new(to.0, to.1));
            let mut route =
                Route { start: from, curves: vec![[from.towards(to, 0.3), from.towards(to, 0.6), to]] };
            extend(&mut route, rect);
            let end = route.end();
            let on = ((end.x - 50.0) / 50.0).powi(2) + ((end.y - 20.0) / 20.0).powi(2);
            assert!((on - 1.0).abs() < 1e-9 || end == to && on <= 1.0 + 1e-9, "{end:?} {on}");
        }
    }
}
