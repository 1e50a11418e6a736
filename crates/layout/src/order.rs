//! The order of items within ranks: few crossings.
//!
//! Sweeps down and up put items at the median of their neighbours; after each, neighbours in a rank change places while that
//! removes crossings (Gansner et al., section 3). From several first orders the best of all orders seen is kept.

use crate::crossings::{count, of_pair};
use crate::layers::Layers;

/// Sweeps from one first order.
const SWEEPS: usize = 24;
/// So many sweeps without fewer crossings end a search.
const PATIENCE: usize = 6;
/// Looks at links that all searches together are worth.
const WORK: usize = 12_000_000;

/// Orders the items of each rank.
pub(crate) fn reduce_crossings(layers: &mut Layers) {
    let mut search = Search { position: vec![0; layers.items.len()], work: WORK };
    let mut best: Option<(u64, Vec<Vec<usize>>)> = None;
    for first in [First::DepthDown, First::BreadthDown, First::BreadthUp] {
        layers.ranks = first_order(layers, first);
        let found = search.improve(layers);
        if best.as_ref().is_none_or(|best| found.0 < best.0) {
            best = Some(found);
        }
        if search.work == 0 || best.as_ref().is_some_and(|best| best.0 == 0) {
            break;
        }
    }
    if let Some((_, ranks)) = best {
        layers.ranks = ranks;
    }
}

/// How items are visited for a first order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    DepthDown,
    BreadthDown,
    BreadthUp,
}

/// Each rank in the order in which its items are reached.
fn first_order(layers: &Layers, first: First) -> Vec<Vec<usize>> {
    let next = if first == First::BreadthUp { &layers.above } else { &layers.below };
    let is_source = if first == First::BreadthUp { &layers.below } else { &layers.above };
    let mut seen = vec![false; layers.items.len()];
    let mut ranks = vec![Vec::new(); layers.ranks.len()];
    for source in (0..layers.items.len()).filter(|item| is_source[*item].is_empty()) {
        let mut open = std::collections::VecDeque::from([source]);
        while let Some(item) = if first == First::DepthDown { open.pop_back() } else { open.pop_front() } {
            if std::mem::replace(&mut seen[item], true) {
                continue;
            }
            ranks[layers.items[item].rank].push(item);
            if first == First::DepthDown {
                open.extend(next[item].iter().rev());
            } else {
                open.extend(&next[item]);
            }
        }
    }
    ranks
}

struct Search {
    /// By item: its position in its rank.
    position: Vec<u32>,
    /// Looks that are left.
    work: usize,
}

impl Search {
    /// The fewest crossings found from the order that `layers` has, and their order.
    fn improve(&mut self, layers: &mut Layers) -> (u64, Vec<Vec<usize>>) {
        for rank in 0..layers.ranks.len() {
            self.number(layers, rank);
        }
        self.transpose(layers, false);
        let mut best = (count(layers, &self.position), layers.ranks.clone());
        let mut stale = 0;
        for sweep in 0..SWEEPS {
            if best.0 == 0 || stale == PATIENCE || self.work == 0 {
                break;
            }
            self.sweep(layers, sweep);
            self.transpose(layers, sweep % 4 < 2);
            let crossings = count(layers, &self.position);
            stale += 1;
            if crossings < best.0 {
                best = (crossings, layers.ranks.clone());
                stale = 0;
            }
        }
        best
    }

    fn number(&mut self, layers: &Layers, rank: usize) {
        for (position, item) in layers.ranks[rank].iter().enumerate() {
            self.position[*item] = position as u32;
        }
    }

    /// Every other sweep runs upwards, and every other pair of sweeps turns items with equal medians round.
    fn sweep(&mut self, layers: &mut Layers, sweep: usize) {
        let (down, turn) = (sweep.is_multiple_of(2), sweep % 4 >= 2);
        let last = layers.ranks.len() - 1;
        for step in 1..=last {
            let rank = if down { step } else { last - step };
            self.sort_by_medians(layers, rank, down, turn);
        }
    }

    /// Items without neighbours stay where they are.
    fn sort_by_medians(&mut self, layers: &mut Layers, rank: usize, down: bool, turn: bool) {
        let neighbours = if down { &layers.above } else { &layers.below };
        let mut positions = Vec::new();
        let mut medians: Vec<(f64, usize)> = Vec::new();
        let mut slots = Vec::new();
        for (slot, item) in layers.ranks[rank].iter().enumerate() {
            self.positions_of(&neighbours[*item], &mut positions);
            if let Some(median) = median(&positions) {
                medians.push((median, *item));
                slots.push(slot);
            }
        }
        if turn {
            medians.reverse();
        }
        medians.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (slot, (_, item)) in slots.into_iter().zip(medians) {
            layers.ranks[rank][slot] = item;
        }
        self.number(layers, rank);
    }

    fn positions_of(&mut self, neighbours: &[usize], positions: &mut Vec<u32>) {
        positions.clear();
        positions.extend(neighbours.iter().map(|neighbour| self.position[*neighbour]));
        positions.sort_unstable();
        self.work = self.work.saturating_sub(neighbours.len() + 1);
    }

    /// Swaps neighbours while that removes crossings; with `equal` also where it does no harm, once.
    fn transpose(&mut self, layers: &mut Layers, equal: bool) {
        let mut is_open = vec![true; layers.ranks.len()];
        let mut equal = equal;
        while is_open.contains(&true) && self.work > 0 {
            for rank in 0..layers.ranks.len() {
                if std::mem::replace(&mut is_open[rank], false) && self.transpose_rank(layers, rank, equal) {
                    is_open[rank] = true;
                    is_open[rank.saturating_sub(1)] = true;
                    if let Some(next) = is_open.get_mut(rank + 1) {
                        *next = true;
                    }
                }
            }
            equal = false;
        }
    }

    /// Whether there are fewer crossings.
    fn transpose_rank(&mut self, layers: &mut Layers, rank: usize, equal: bool) -> bool {
        let links = Links::of(layers, rank, &self.position);
        self.work = self.work.saturating_sub(2 * links.positions.len());
        let mut order: Vec<usize> = (0..layers.ranks[rank].len()).collect();
        let mut is_better = false;
        for at in 1..order.len() {
            let ((above, below), (next_above, next_below)) =
                (links.of_item(order[at - 1]), links.of_item(order[at]));
            let now = of_pair(above, next_above) + of_pair(below, next_below);
            let then = of_pair(next_above, above) + of_pair(next_below, below);
            if then < now || (equal && then == now) {
                is_better |= then < now;
                order.swap(at - 1, at);
            }
        }
        let items = std::mem::take(&mut layers.ranks[rank]);
        layers.ranks[rank] = order.into_iter().map(|index| items[index]).collect();
        self.number(layers, rank);
        is_better
    }
}

/// The ascending positions of the neighbours of the items of a rank, above and below, one after the other.
struct Links {
    positions: Vec<u32>,
    /// Of each item where those above begin and where those below do; at last the end.
    starts: Vec<usize>,
}

impl Links {
    fn of(layers: &Layers, rank: usize, position: &[u32]) -> Self {
        let mut links = Self { positions: Vec::new(), starts: vec![0] };
        for item in &layers.ranks[rank] {
            for neighbours in [&layers.above[*item], &layers.below[*item]] {
                let start = links.positions.len();
                links.positions.extend(neighbours.iter().map(|neighbour| position[*neighbour]));
                links.positions[start..].sort_unstable();
                links.starts.push(links.positions.len());
            }
        }
        links
    }

    fn of_item(&self, index: usize) -> (&[u32], &[u32]) {
        let [above, below, end] = [0, 1, 2].map(|side| self.starts[2 * index + side]);
        (&self.positions[above..below], &self.positions[below..end])
    }
}

/// The median, between two positions nearer to the side where positions are dense.
fn median(positions: &[u32]) -> Option<f64> {
    let middle = positions.len() / 2;
    let at = |index: usize| f64::from(positions[index]);
    Some(match positions.len() {
        0 => return None,
        count if count % 2 == 1 => at(middle),
        2 => f64::midpoint(at(0), at(1)),
        count => {
            let (left, right) = (at(middle - 1) - at(0), at(count - 1) - at(middle));
            if left + right == 0.0 {
                f64::midpoint(at(middle - 1), at(middle))
            } else {
                at(middle - 1).mul_add(right, at(middle) * left) / (left + right)
            }
        }
    })
}
