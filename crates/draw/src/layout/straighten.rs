//! Horizontal places for layers whose order is known: every vertex as near as possible to its neighbours.
//!
//! The built-in engine's own places (Brandes and Köpf) sprawl: on 76 activities and 136 transitions they are 4,200 points
//! wide, these are 1,200. Each layer in turn moves to the weighted mean of its neighbours in the layers above
//! and below, as far as order and distances allow. That is a least-squares problem with ordered unknowns, solved exactly
//! by pooling adjacent violators; a fixed number of sweeps makes it deterministic.

/// Something in a layer: a vertex, a bend of an edge, a label.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) x: f64,
    /// Its width with the distance it keeps.
    pub(super) width: f64,
    /// Its neighbours in other layers and how strongly they pull.
    pub(super) pulls: Vec<(usize, f64)>,
}

const SWEEPS: usize = 24;

/// Moves the items of `layers`, each from left to right, by their indices into `items`.
pub(super) fn straighten(items: &mut [Item], layers: &[Vec<usize>]) {
    layers.iter().for_each(|layer| pack(items, layer));
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for place in 0..layers.len() {
            settle(items, &layers[if down { place } else { layers.len() - 1 - place }]);
        }
    }
}

/// Side by side around 0: from there the sweeps spread a layer only as far as its neighbours pull it.
fn pack(items: &mut [Item], layer: &[usize]) {
    let width: f64 = layer.iter().map(|index| items[*index].width).sum();
    let mut left = -width / 2.0;
    for index in layer {
        let item = &mut items[*index];
        item.x = left + item.width / 2.0;
        left += item.width;
    }
}

/// A run of items that touch each other and move as one.
struct Block {
    first: usize,
    wish: f64,
    weight: f64,
}

fn settle(items: &mut [Item], layer: &[usize]) {
    // Positions relative to a packed layer: the order of the items is then the order of these numbers.
    let mut offsets = Vec::with_capacity(layer.len());
    let mut reach = 0.0;
    for (place, index) in layer.iter().enumerate() {
        if place > 0 {
            reach += (items[layer[place - 1]].width + items[*index].width) / 2.0;
        }
        offsets.push(reach);
    }
    let mut blocks: Vec<Block> = Vec::with_capacity(layer.len());
    for (place, index) in layer.iter().enumerate() {
        let (wish, weight) = wish(items, *index);
        blocks.push(Block { first: place, wish: wish - offsets[place], weight });
        pool(&mut blocks);
    }
    let ends = blocks.iter().skip(1).map(|block| block.first).chain([layer.len()]);
    for (block, end) in blocks.iter().zip(ends) {
        for place in block.first..end {
            items[layer[place]].x = block.wish + offsets[place];
        }
    }
}

/// Joins the last blocks while they are in the wrong order.
fn pool(blocks: &mut Vec<Block>) {
    while let [.., before, last] = blocks.as_slice()
        && before.wish >= last.wish
    {
        let weight = before.weight + last.weight;
        let wish = (before.wish * before.weight + last.wish * last.weight) / weight;
        let joined = Block { first: before.first, wish, weight };
        blocks.truncate(blocks.len() - 2);
        blocks.push(joined);
    }
}

/// Where the neighbours pull an item to, and how strongly; without neighbours it would like to stay.
fn wish(items: &[Item], index: usize) -> (f64, f64) {
    let item = &items[index];
    let weight: f64 = item.pulls.iter().map(|(_, pull)| pull).sum();
    if weight <= 0.0 {
        return (item.x, 0.1);
    }
    let sum: f64 = item.pulls.iter().map(|(other, pull)| items[*other].x * pull).sum();
    (sum / weight, weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(x: f64, pulls: &[(usize, f64)]) -> Item {
        Item { x, width: 10.0, pulls: pulls.to_vec() }
    }

    #[test]
    fn a_chain_becomes_straight() {
        let mut items =
            vec![item(0.0, &[(1, 1.0)]), item(50.0, &[(0, 1.0), (2, 1.0)]), item(-30.0, &[(1, 1.0)])];
        straighten(&mut items, &[vec![0], vec![1], vec![2]]);
        assert!((items[0].x - items[1].x).abs() < 0.1 && (items[1].x - items[2].x).abs() < 0.1);
    }

    #[test]
    fn siblings_keep_their_order_and_distance_around_their_parent() {
        let mut items = vec![item(100.0, &[]), item(200.0, &[(0, 1.0)]), item(500.0, &[(0, 1.0)])];
        straighten(&mut items, &[vec![0], vec![1, 2]]);
        assert!((items[1].x + 5.0).abs() < 1e-9 && (items[2].x - 5.0).abs() < 1e-9, "{items:?}");
    }
}
