//! Puts the layouts of components beside each other, in rows about as wide as all of them are high.

use crate::Layout;
use crate::component::Component;
use crate::geometry::{Point, Rect, Route};
use crate::graph::{Direction, Graph};

/// One layout of all parts.
pub(crate) fn packed(graph: &Graph, parts: Vec<(Component, Layout)>) -> Layout {
    let mut whole = Layout {
        nodes: vec![Rect::default(); graph.nodes.len()],
        routes: vec![Route::default(); graph.edges.len()],
        labels: vec![None; graph.edges.len()],
        ..Layout::default()
    };
    let gap = graph.separation.nodes;
    let extent = |layout: &Layout| graph.direction.breadth_and_depth((layout.width, layout.height));
    let area: f64 = parts.iter().map(|(_, layout)| (extent(layout).0 + gap) * (extent(layout).1 + gap)).sum();
    let widest = parts.iter().map(|(_, layout)| extent(layout).0).fold(area.sqrt(), f64::max);
    let (mut across, mut along, mut row_depth) = (0.0, 0.0, 0.0_f64);
    for (part, mut layout) in parts {
        let (breadth, depth) = extent(&layout);
        if across > 0.0 && across + breadth > widest {
            along += row_depth + gap;
            (across, row_depth) = (0.0, 0.0);
        }
        let corner = match graph.direction {
            Direction::Down => Point::new(across, along),
            Direction::Right => Point::new(along, across),
        };
        layout.move_by(corner);
        whole.width = whole.width.max(corner.x + layout.width);
        whole.height = whole.height.max(corner.y + layout.height);
        across += breadth + gap;
        row_depth = row_depth.max(depth);
        whole.take(&part, layout);
    }
    whole
}

impl Layout {
    fn take(&mut self, part: &Component, layout: Self) {
        for (node, rect) in part.nodes.iter().zip(layout.nodes) {
            self.nodes[*node] = rect;
        }
        for ((edge, route), label) in part.edges.iter().zip(layout.routes).zip(layout.labels) {
            self.routes[*edge] = route;
            self.labels[*edge] = label;
        }
    }
}
