//! Subtrees of the same shape: patterns of processing (Dun et al., section 5.2).
//!
//! Two subtrees have the same shape if their processes have the same label and the same number of children of each shape.
//! Children come before their parents when shapes are found, so that a shape is a label and numbers of known shapes.

use super::{Node, Shape, ShapeId};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::Arc;

/// Names of shapes are not longer; what is left out is an ellipsis.
const LONGEST_NAME: usize = 120;

/// What a shape is known by: the label of its root, and how many children of which shape that has.
type Look = (Arc<str>, Vec<(ShapeId, u32)>);

/// Gives each process the shape of its subtree, and answers all shapes, the largest first, then by name.
pub(super) fn shapes(nodes: &mut [Node]) -> Vec<Shape> {
    let mut known: HashMap<Look, ShapeId, RandomState> = HashMap::default();
    let mut shapes: Vec<Shape> = Vec::new();
    for index in (0..nodes.len()).rev() {
        let children = counted(nodes[index].children.iter().map(|child| nodes[child.index()].shape));
        let (label, size) = (Arc::clone(&nodes[index].label), nodes[index].size);
        let shape = *known.entry((label, children)).or_insert_with_key(|(label, children)| {
            let children = children.clone();
            shapes.push(Shape { name: Arc::clone(label), count: 0, size, children });
            ShapeId((shapes.len() - 1) as u32)
        });
        shapes[shape.0 as usize].count += 1;
        nodes[index].shape = shape;
    }
    name(&mut shapes);
    sort(nodes, shapes)
}

fn counted(shapes: impl Iterator<Item = ShapeId>) -> Vec<(ShapeId, u32)> {
    let mut shapes: Vec<ShapeId> = shapes.collect();
    shapes.sort_unstable();
    shapes.chunk_by(|one, other| one == other).map(|equal| (equal[0], equal.len() as u32)).collect()
}

/// Children stand before their parents in `shapes`.
fn name(shapes: &mut [Shape]) {
    for index in 0..shapes.len() {
        let mut children: Vec<(Arc<str>, u32)> = shapes[index]
            .children
            .iter()
            .map(|(shape, count)| (Arc::clone(&shapes[shape.0 as usize].name), *count))
            .collect();
        if children.is_empty() {
            continue;
        }
        children.sort();
        let words = children
            .iter()
            .map(|(name, count)| if *count == 1 { name.to_string() } else { format!("{count} x {name}") });
        let mut inside = String::new();
        for word in words {
            let separator = if inside.is_empty() { "" } else { ", " };
            if inside.chars().count() + word.chars().count() > LONGEST_NAME {
                inside.push_str(separator);
                inside.push('…');
                break;
            }
            inside.push_str(separator);
            inside.push_str(&word);
        }
        shapes[index].name = format!("{}({inside})", shapes[index].name).into();
    }
}

fn sort(nodes: &mut [Node], shapes: Vec<Shape>) -> Vec<Shape> {
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|one, other| {
        let key = |index: usize| (std::cmp::Reverse(shapes[index].size), &shapes[index].name);
        key(*one).cmp(&key(*other)).then(one.cmp(other))
    });
    let mut place = vec![ShapeId(0); shapes.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = ShapeId(new as u32);
    }
    nodes.iter_mut().for_each(|node| node.shape = place[node.shape.0 as usize]);
    let mut sorted: Vec<Option<Shape>> = vec![None; shapes.len()];
    for (old, mut shape) in shapes.into_iter().enumerate() {
        shape.children.iter_mut().for_each(|(child, _)| *child = place[child.0 as usize]);
        shape.children.sort_unstable();
        sorted[place[old].0 as usize] = Some(shape);
    }
    sorted.into_iter().flatten().collect()
}
