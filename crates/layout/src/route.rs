//! Boxes, labels and lines from ranks and the positions in them.

use crate::Layout;
use crate::curve::{Gate, through};
use crate::geometry::{Point, Rect, Route};
use crate::graph::{Direction, Graph};
use crate::layers::{Kind, Layers};
use crate::ports::ports;
use crate::self_loop;

/// The layout of a connected graph, its upper left corner at (0, 0).
pub(crate) fn layout(graph: &Graph, turned: &[bool], layers: &Layers, positions: &[f64]) -> Layout {
    let levels = Levels::of(graph, layers, positions);
    let nodes: Vec<Rect> = (0..graph.nodes.len())
        .map(|node| {
            let middle = Point::new(positions[node], levels.middle(layers.items[node].rank));
            let size = &graph.nodes[node];
            Rect::around(middle, graph.direction.breadth_and_depth((size.width, size.height)))
        })
        .collect();
    let mut layout = Layout {
        routes: vec![Route::default(); graph.edges.len()],
        labels: vec![None; graph.edges.len()],
        nodes,
        ..Layout::default()
    };
    Router { graph, layers, positions, levels }.chains(turned, &mut layout);
    add_loops(graph, &mut layout);
    if graph.direction == Direction::Right {
        layout.transpose();
    }
    layout.move_to_origin();
    layout
}

fn add_loops(graph: &Graph, layout: &mut Layout) {
    let mut loops = vec![Vec::new(); graph.nodes.len()];
    for (index, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.is_loop()) {
        loops[edge.from].push(index);
    }
    for (node, edges) in loops.iter().enumerate() {
        for drawn in self_loop::loops(graph, edges, layout.nodes[node]) {
            layout.routes[drawn.edge] = drawn.route;
            layout.labels[drawn.edge] = drawn.label;
        }
    }
}

/// From where to where each rank reaches.
struct Levels(Vec<(f64, f64)>);

/// Ranks are so far apart that lines between them descend by this share of how far they lead to the side, in the mean...
const DESCENT: f64 = 0.15;
/// ...but at most by so many times the separation.
const WIDEST: f64 = 2.0;

impl Levels {
    fn of(graph: &Graph, layers: &Layers, positions: &[f64]) -> Self {
        let least = graph.separation.ranks / graph.rank_step() as f64;
        let most = graph.separation.ranks * WIDEST;
        let mut top = 0.0;
        let levels = layers.ranks.iter().map(|rank| {
            let depth = rank.iter().map(|item| layers.items[*item].depth).fold(0.0, f64::max);
            let level = (top, top + depth);
            let gap = (mean_shift(layers, positions, rank) * DESCENT).min(most).max(least);
            top += depth + gap;
            level
        });
        Self(levels.collect())
    }

    fn middle(&self, rank: usize) -> f64 {
        f64::midpoint(self.0[rank].0, self.0[rank].1)
    }
}

/// How far links lead to the side between a rank and the next, in the mean.
fn mean_shift(layers: &Layers, positions: &[f64], rank: &[usize]) -> f64 {
    let shift = |upper: &usize, lower: &usize| {
        let (above, below) = (&layers.items[*upper], &layers.items[*lower]);
        let (first, second) = (positions[*upper], positions[*lower]);
        (second - below.before - first - above.before)
            .max(first - above.before - second - below.before)
            .max(0.0)
    };
    let shifts =
        rank.iter().flat_map(|upper| layers.below[*upper].iter().map(move |lower| shift(upper, lower)));
    let (sum, count) = shifts.fold((0.0, 0_u32), |(sum, count), shift| (sum + shift, count + 1));
    sum / f64::from(count.max(1))
}

struct Router<'a> {
    graph: &'a Graph,
    layers: &'a Layers,
    positions: &'a [f64],
    levels: Levels,
}

impl Router<'_> {
    fn chains(&self, turned: &[bool], layout: &mut Layout) {
        let room = self.free_room();
        let ports = ports(self.graph, self.layers, self.positions);
        for (edge, chain) in self.layers.chains.iter().enumerate() {
            let ([upper, ..], [.., lower]) = (chain.as_slice(), chain.as_slice()) else { continue };
            let (upper_box, lower_box) = (layout.nodes[*upper], layout.nodes[*lower]);
            let start = Point::new(ports[edge].0, upper_box.y + upper_box.height);
            let end = Point::new(ports[edge].1, lower_box.y);
            let gates = self.gates(chain, &room);
            let inner: Vec<Gate> =
                gates.into_iter().filter(|gate| gate.y > start.y + 0.01 && gate.y < end.y - 0.01).collect();
            let route = through(start, &inner, end);
            layout.routes[edge] = if turned[edge] { route.reversed() } else { route };
            layout.labels[edge] = self.layers.label_of(edge).map(|item| self.label(edge, item));
        }
    }

    fn label(&self, edge: usize, item: usize) -> Rect {
        let middle = Point::new(self.positions[item], self.levels.middle(self.layers.items[item].rank));
        Rect::around(middle, self.graph.direction.breadth_and_depth(self.graph.edges[edge].label))
    }

    /// Both sides of each rank, where the items of the chain have room, and the middles of labels.
    fn gates(&self, chain: &[usize], room: &[(f64, f64)]) -> Vec<Gate> {
        let mut gates = Vec::with_capacity(2 * chain.len());
        for item in chain {
            let (top, bottom) = self.levels.0[self.layers.items[*item].rank];
            let (low, high) = room[*item];
            gates.push(Gate { y: top, low, high });
            if self.layers.items[*item].kind == Kind::Label {
                gates.push(self.behind_label(*item));
            }
            gates.push(Gate { y: bottom, low, high });
        }
        gates
    }

    /// Lines pass well behind their labels.
    fn behind_label(&self, item: usize) -> Gate {
        let (position, reach) = (self.positions[item], self.layers.items[item].before / 2.0);
        let y = self.levels.middle(self.layers.items[item].rank);
        Gate { y, low: position - reach, high: position + reach }
    }

    /// By item, between which positions its lines keep away from its neighbours.
    fn free_room(&self) -> Vec<(f64, f64)> {
        let mut room = vec![(f64::NEG_INFINITY, f64::INFINITY); self.layers.items.len()];
        for rank in &self.layers.ranks {
            for pair in rank.windows(2) {
                let (high, low) = self.between(pair[0], pair[1]);
                room[pair[0]].1 = high;
                room[pair[1]].0 = low;
            }
        }
        room
    }

    /// Up to where the first and from where on the second of two neighbours has room.
    fn between(&self, first: usize, second: usize) -> (f64, f64) {
        let (left, right) = (&self.layers.items[first], &self.layers.items[second]);
        let (left_end, right_end) =
            (self.positions[first] + left.behind, self.positions[second] - right.before);
        let half = self.graph.separation.lines / 2.0;
        if left.kind == Kind::Bend && right.kind == Kind::Bend {
            let middle = f64::midpoint(left_end, right_end);
            return (middle, middle);
        }
        (right_end - half, left_end + half)
    }
}

impl Layout {
    fn transpose(&mut self) {
        let turn = |point: Point| Point::new(point.y, point.x);
        let turn_rect = |rect: Rect| Rect { x: rect.y, y: rect.x, width: rect.height, height: rect.width };
        self.nodes.iter_mut().for_each(|rect| *rect = turn_rect(*rect));
        self.labels.iter_mut().flatten().for_each(|rect| *rect = turn_rect(*rect));
        self.routes.iter_mut().for_each(|route| *route = route.mapped(turn));
    }

    /// Moves everything so that it begins at (0, 0), and finds its extent.
    fn move_to_origin(&mut self) {
        let rects = self.nodes.iter().chain(self.labels.iter().flatten()).copied();
        let all = rects.chain(self.routes.iter().map(Route::bounds)).reduce(Rect::union).unwrap_or_default();
        self.move_by(Point::new(-all.x, -all.y));
        (self.width, self.height) = (all.width, all.height);
    }

    pub(crate) fn move_by(&mut self, by: Point) {
        self.nodes.iter_mut().for_each(|rect| *rect = rect.moved(by));
        self.labels.iter_mut().flatten().for_each(|rect| *rect = rect.moved(by));
        self.routes.iter_mut().for_each(|route| *route = route.moved(by));
    }
}
