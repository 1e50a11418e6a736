//! Heads of arrows: each operation has its own (Dun et al., section 6.3.4).

use crate::furniture::arrow_head;
use crate::layout::{Point, Route};
use crate::palette;
use crate::scene::{Dash, Ink, Item, Outline, Shape, Stroke};
use iotrail_workflow::graph::Relation;

const LENGTH: f64 = 8.0;

/// The relations in the order of a legend, with what their heads look like in words.
pub(super) const LEGEND: [(Relation, &str); 7] = [
    (Relation::Create, "creates"),
    (Relation::Write, "writes"),
    (Relation::Read, "is read by"),
    (Relation::Map, "is mapped by"),
    (Relation::Next, "next version"),
    (Relation::Fork, "makes process"),
    (Relation::Continue, "goes on as"),
];

/// How the line of a relation is interrupted: dots between processes, dashes between versions of a file.
pub(super) fn dash(relation: Relation) -> Dash {
    match relation {
        Relation::Fork | Relation::Continue => Dash::Dotted,
        Relation::Next | Relation::Map => Dash::Dashed,
        Relation::Create | Relation::Write | Relation::Read => Dash::Solid,
    }
}

/// A line of `width` in `ink` along `route` with the head of `relation`.
pub(super) fn arrow(relation: Relation, route: &Route, ink: Ink, width: f64) -> Vec<Item> {
    let length = LENGTH + 1.2 * width;
    let (from, tip) = (route.before_end(), route.end());
    let line =
        Outline::Line(route.shortened(if relation == Relation::Read { 0.8 * width } else { length * 0.8 }));
    let stroke = Stroke { ink, width, dash: dash(relation) };
    let mut items = vec![Item::Shape(Shape { outline: line, fill: None, stroke: Some(stroke) })];
    items.extend(head(relation, from, tip, ink, length));
    items
}

fn head(relation: Relation, from: Point, tip: Point, ink: Ink, length: f64) -> Option<Item> {
    let corners = arrow_head(from, tip, length);
    let border = Stroke { ink, width: 1.2, dash: Dash::Solid };
    let shape = |outline, fill, stroke| Some(Item::Shape(Shape { outline, fill, stroke }));
    let [tip, left, right] = corners.as_slice() else { return None };
    match relation {
        Relation::Create => {
            let middle = left.towards(*right, 0.5);
            let back = tip.towards(middle, 1.7);
            let half = |corner: &Point| {
                let widest = middle.towards(*corner, 1.15);
                widest.moved(Point::new((back.x - middle.x) * 0.2, (back.y - middle.y) * 0.2))
            };
            shape(Outline::Polygon(vec![*tip, half(left), back, half(right)]), Some(ink), None)
        }
        Relation::Write | Relation::Fork => shape(Outline::Polygon(corners), Some(ink), None),
        Relation::Read => {
            let stroke = Stroke { width: length * 0.18, ..border };
            shape(Outline::Polyline(vec![*left, *tip, *right]), None, Some(stroke))
        }
        Relation::Map => {
            let radius = length * 0.32;
            let middle = tip.towards(left.towards(*right, 0.5), 0.4);
            shape(Outline::Circle { middle, radius }, Some(palette::PAGE), Some(border))
        }
        Relation::Next | Relation::Continue => {
            shape(Outline::Polygon(corners), Some(palette::PAGE), Some(border))
        }
    }
}
