//! The engine that is always there: `dugong`, a layered layout in pure Rust (Sugiyama's method, network simplex ranks).
//!
//! Layers and the order in them are dugong's; which edges point upwards, and the places within layers, are found here.

use super::acyclic;
use super::geometry::{Point, Rect, Route};
use super::straighten::{Item, straighten};
use super::{Graph, LayoutEngine, Link, Placement};
use crate::error::DrawError;
use dugong::graphlib::{Graph as Dagre, GraphOptions};
use dugong::{EdgeLabel, GraphLabel, NodeLabel, RankDir, WorkControl, WorkError};
use std::collections::BTreeMap;

pub(super) struct BuiltIn;

type Layers = Dagre<NodeLabel, EdgeLabel, GraphLabel>;

impl LayoutEngine for BuiltIn {
    fn name(&self) -> &'static str {
        "dugong"
    }

    fn place(&self, graph: &Graph) -> Result<Placement, DrawError> {
        let turned = acyclic::turned(graph);
        let layers = laid_out(graph, &turned)?;
        let mut sketch = Sketch::of(graph, &layers, &turned)?;
        sketch.straighten();
        Ok(sketch.placement(&turned))
    }
}

/// Work after which the network simplex method is given up: on a few graphs it exchanges the same edges for ever.
const MOST_WORK: usize = 200_000_000;

/// What is left of an allowance of work.
struct Budget(usize);

impl WorkControl for Budget {
    fn charge(&mut self, units: usize) -> Result<(), WorkError> {
        self.0 = self.0.checked_sub(units).ok_or(WorkError::Interrupted)?;
        Ok(())
    }
}

/// The layers by network simplex; where that gives up, by methods that always end and make some edges longer.
fn laid_out(graph: &Graph, turned: &[bool]) -> Result<Layers, DrawError> {
    let by = |ranker: &str| {
        let mut layers = layers(graph, turned, ranker);
        dugong::layout_controlled(&mut layers, &mut Budget(MOST_WORK)).map(|()| layers)
    };
    let layers = by("network-simplex").or_else(|_| by("tight-tree")).or_else(|_| by("longest-path"));
    layers.map_err(|error| DrawError::BuiltIn(error.to_string()))
}

/// How far a loop reaches beyond its vertex.
const LOOP: f64 = 26.0;

/// A letter first, because dugong sorts names that look like numbers before all others.
fn name(vertex: usize) -> String {
    format!("v{vertex}")
}

fn layers(graph: &Graph, turned: &[bool], ranker: &str) -> Layers {
    let mut layers =
        Layers::new(GraphOptions { directed: true, multigraph: true, ..GraphOptions::default() });
    layers.set_graph(GraphLabel {
        rankdir: if graph.sideways { RankDir::LR } else { RankDir::TB },
        nodesep: 24.0,
        ranksep: 20.0,
        edgesep: 9.0,
        ranker: Some(ranker.to_owned()),
        ..GraphLabel::default()
    });
    let loops = loop_widths(graph);
    for (index, (width, height)) in graph.sizes.iter().enumerate() {
        // A loop is drawn at the right; the same room at the left keeps the box in the middle.
        let width = width + 2.0 * loops[index];
        layers.set_node(name(index), NodeLabel { width, height: *height, ..NodeLabel::default() });
    }
    for (index, link) in graph.edges.iter().enumerate().filter(|(_, link)| link.from != link.to) {
        let (width, height) = link.label;
        let label = EdgeLabel { width, height, weight: f64::from(link.weight), ..EdgeLabel::default() };
        let (from, to) = ends(link, turned[index]);
        layers.set_edge_named(name(from), name(to), Some(index.to_string()), Some(label));
    }
    for (from, to) in acyclic::framing(graph, turned) {
        // A weight of 0 would make a barycentre 0/0, which dugong's ordering does not survive.
        let label = EdgeLabel { weight: 0.001, ..EdgeLabel::default() };
        layers.set_edge_named(name(from), name(to), Some("frame".to_owned()), Some(label));
    }
    layers
}

fn loop_widths(graph: &Graph) -> Vec<f64> {
    let mut widths = vec![0.0; graph.sizes.len()];
    for link in graph.edges.iter().filter(|link| link.from == link.to) {
        widths[link.from] = LOOP + link.label.0;
    }
    widths
}

fn ends(link: &Link, turned: bool) -> (usize, usize) {
    if turned { (link.to, link.from) } else { (link.from, link.to) }
}

/// A place by its layer: `depth` from the start on, `cross` within the layer.
#[derive(Clone, Copy)]
struct Place {
    depth: f64,
    cross: f64,
}

/// Vertices and bends of edges in their layers.
struct Sketch<'a> {
    graph: &'a Graph,
    items: Vec<Item>,
    /// Of each item.
    depths: Vec<f64>,
    /// For each edge that is no loop, its bends from top to bottom, and which of them is at its label.
    bends: Vec<(Vec<usize>, usize)>,
}

/// Distance of boxes, and of lines.
const NODE_GAP: f64 = 24.0;
const LINE_GAP: f64 = 12.0;

impl<'a> Sketch<'a> {
    fn of(graph: &'a Graph, layers: &Layers, turned: &[bool]) -> Result<Self, DrawError> {
        let mut sketch = Self { graph, items: Vec::new(), depths: Vec::new(), bends: Vec::new() };
        let loops = loop_widths(graph);
        for (index, (width, height)) in graph.sizes.iter().enumerate() {
            let node = layers.node(&name(index)).and_then(|node| Some((node.x?, node.y?)));
            let Some((x, y)) = node else {
                return Err(DrawError::BuiltIn(format!("vertex {index} has no place")));
            };
            let width = if graph.sideways { *height } else { width + 2.0 * loops[index] };
            sketch.add(sketch.place_of(x, y), width + NODE_GAP);
        }
        for (index, link) in graph.edges.iter().enumerate() {
            let bends = if link.from == link.to {
                (Vec::new(), 0)
            } else {
                sketch.bends_of(layers, index, turned[index])?
            };
            sketch.bends.push(bends);
        }
        Ok(sketch)
    }

    fn place_of(&self, x: f64, y: f64) -> Place {
        if self.graph.sideways { Place { depth: x, cross: y } } else { Place { depth: y, cross: x } }
    }

    fn point_of(&self, place: Place) -> Point {
        if self.graph.sideways {
            Point::new(place.depth, place.cross)
        } else {
            Point::new(place.cross, place.depth)
        }
    }

    fn add(&mut self, place: Place, width: f64) -> usize {
        self.items.push(Item { x: place.cross, width, pulls: Vec::new() });
        self.depths.push(place.depth);
        self.items.len() - 1
    }

    /// The bends of an edge; its first and last point lie on boxes and are found anew later.
    fn bends_of(
        &mut self,
        layers: &Layers,
        index: usize,
        turned: bool,
    ) -> Result<(Vec<usize>, usize), DrawError> {
        let link = self.graph.edges[index];
        let (from, to) = ends(&link, turned);
        let edge = layers.edge(&name(from), &name(to), Some(&index.to_string()));
        let inner =
            edge.and_then(|edge| Some((edge, edge.points.get(1..edge.points.len().checked_sub(1)?)?)));
        let Some((edge, inner)) = inner.filter(|(_, inner)| !inner.is_empty()) else {
            return Err(DrawError::BuiltIn(format!("edge {index} has no route")));
        };
        let places: Vec<Place> = inner.iter().map(|point| self.place_of(point.x, point.y)).collect();
        let label = edge.x.zip(edge.y).map_or(places[0], |(x, y)| self.place_of(x, y));
        let away = |place: &Place| (place.depth - label.depth).abs();
        let labelled =
            (0..places.len()).min_by(|a, b| away(&places[*a]).total_cmp(&away(&places[*b]))).unwrap_or(0);
        let label_width = if self.graph.sideways { link.label.1 } else { link.label.0 };
        let bends: Vec<usize> = (places.iter().enumerate())
            .map(|(place, at)| self.add(*at, LINE_GAP + if place == labelled { label_width } else { 0.0 }))
            .collect();
        self.pull(from, to, &bends, link.weight);
        Ok((bends, labelled))
    }

    /// Bends pull each other the most, so that long edges are straight in their middle.
    fn pull(&mut self, from: usize, to: usize, bends: &[usize], weight: u32) {
        let weight = 1.0 + f64::from(weight) / 2.0;
        let chain: Vec<usize> = std::iter::once(from).chain(bends.iter().copied()).chain([to]).collect();
        let last = chain.len() - 2;
        for (place, pair) in chain.windows(2).enumerate() {
            let strength = if place == 0 || place == last { weight } else { 6.0 * weight };
            self.items[pair[0]].pulls.push((pair[1], strength));
            self.items[pair[1]].pulls.push((pair[0], strength));
        }
    }

    fn layers(&self) -> Vec<Vec<usize>> {
        let mut layers: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (index, depth) in self.depths.iter().enumerate() {
            layers.entry((depth * 8.0).round() as i64).or_default().push(index);
        }
        let mut layers: Vec<Vec<usize>> = layers.into_values().collect();
        for layer in &mut layers {
            layer.sort_by(|a, b| self.items[*a].x.total_cmp(&self.items[*b].x).then(a.cmp(b)));
        }
        layers
    }

    fn straighten(&mut self) {
        let layers = self.layers();
        straighten(&mut self.items, &layers);
    }

    fn placement(&self, turned: &[bool]) -> Placement {
        let place = |item: usize| Place { depth: self.depths[item], cross: self.items[item].x };
        let sizes = self.graph.sizes.iter().enumerate();
        let vertices: Vec<Rect> =
            sizes.map(|(index, size)| Rect::around(self.point_of(place(index)), *size)).collect();
        let halves = self.half_depths();
        let mut placement = Placement { vertices, ..Placement::default() };
        for (index, link) in self.graph.edges.iter().enumerate() {
            let (bends, labelled) = &self.bends[index];
            let (route, label) = if link.from == link.to {
                beside(placement.vertices[link.from], link)
            } else {
                let (from, to) = ends(link, turned[index]);
                let corridor = bends.iter().flat_map(|bend| {
                    let (middle, half) = (place(*bend), halves[*bend]);
                    // Along a layer of high boxes a line stays between them.
                    [-half, half].map(|by| Place { depth: middle.depth + by, ..middle })
                });
                let corridor: Vec<Place> = corridor.collect();
                let port = |vertex: usize, towards: Place, side: f64| {
                    let (width, height) = self.graph.sizes[vertex];
                    let (depth, cross) = if self.graph.sideways { (width, height) } else { (height, width) };
                    let (middle, reach) = (place(vertex), (cross / 2.0 - 8.0).max(0.0));
                    let cross = towards.cross.clamp(middle.cross - reach, middle.cross + reach);
                    Place { depth: middle.depth + side * depth / 2.0, cross }
                };
                let (first, last) = (corridor[0], corridor[corridor.len() - 1]);
                let ports = (port(from, first, 1.0), port(to, last, -1.0));
                let line = std::iter::once(ports.0).chain(corridor).chain([ports.1]);
                let points: Vec<Point> = line.map(|place| self.point_of(place)).collect();
                let route = Route::through(&points);
                let route = if turned[index] { route.reversed() } else { route };
                (route, self.point_of(place(bends[*labelled])))
            };
            placement.routes.push(route);
            placement.labels.push(label);
        }
        placement
    }

    /// Half the depth of the layer of each item.
    fn half_depths(&self) -> Vec<f64> {
        let mut halves = vec![0.0; self.items.len()];
        for layer in self.layers() {
            let depth = |item: &usize| {
                let size = self.graph.sizes.get(*item).copied().unwrap_or_default();
                if self.graph.sideways { size.0 } else { size.1 }
            };
            let half = layer.iter().map(depth).fold(0.0, f64::max) / 2.0;
            layer.iter().for_each(|item| halves[*item] = half);
        }
        halves
    }
}

fn beside(rect: Rect, link: &Link) -> (Route, Point) {
    let label = Point::new(rect.x + rect.width + LOOP + link.label.0 / 2.0 + 2.0, rect.middle().y);
    (Route::loop_beside(rect, LOOP), label)
}
