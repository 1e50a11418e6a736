//! Sizes and edges of graphs that were drawn of recordings.

use iotrail_layout::{Direction, Edge, Graph, Node, RankLimit, Separation};
use serde::Deserialize;

/// A graph in a file.
#[derive(Deserialize)]
pub(crate) struct Fixture {
    sideways: bool,
    framed: bool,
    /// Width, height.
    nodes: Vec<(f64, f64)>,
    /// From, to, weight, width and height of the label.
    edges: Vec<(usize, usize, u32, f64, f64)>,
}

impl Fixture {
    /// As the library takes it.
    pub(crate) fn graph(&self) -> Graph {
        let node = |(index, (width, height)): (usize, &(f64, f64))| {
            let limit = match index {
                0 if self.framed => RankLimit::First,
                1 if self.framed => RankLimit::Last,
                _ => RankLimit::Free,
            };
            Node { width: *width, height: *height, limit }
        };
        let edges = self.edges.iter().map(|(from, to, weight, width, height)| Edge {
            weight: *weight,
            label: (*width, *height),
            ..Edge::new(*from, *to)
        });
        Graph {
            nodes: self.nodes.iter().enumerate().map(node).collect(),
            edges: edges.collect(),
            direction: if self.sideways { Direction::Right } else { Direction::Down },
            separation: Separation::default(),
        }
    }
}

/// The graphs of a folder, by name.
pub(crate) fn all(folder: &str) -> Vec<(String, Fixture)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    };
    paths.iter().map(read).collect()
}
