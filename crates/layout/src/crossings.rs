//! How many links between two ranks cross.
//!
//! Counted with an accumulator tree over the lower rank (Barth, Mutzel, Jünger, "Simple and Efficient Bilayer Cross Counting",
//! 2004): links in the order of their upper ends cross those before them whose lower ends are further right.

use crate::layers::Layers;

/// Crossings of all links.
pub(crate) fn count(layers: &Layers, position: &[u32]) -> u64 {
    (1..layers.ranks.len()).map(|rank| between(layers, position, rank)).sum()
}

/// Crossings between a rank and the one above it.
fn between(layers: &Layers, position: &[u32], rank: usize) -> u64 {
    let mut lower = Vec::new();
    let mut crossings = 0;
    let mut tree = Accumulator::new(layers.ranks[rank].len());
    for item in &layers.ranks[rank - 1] {
        lower.clear();
        lower.extend(layers.below[*item].iter().map(|below| position[*below] as usize));
        crossings += lower.iter().map(|position| tree.above(*position)).sum::<u64>();
        lower.iter().for_each(|position| tree.add(*position));
    }
    crossings
}

/// Counts of positions and sums of ranges of them (a Fenwick tree).
struct Accumulator {
    sums: Vec<u64>,
    total: u64,
}

impl Accumulator {
    fn new(count: usize) -> Self {
        Self { sums: vec![0; count + 1], total: 0 }
    }

    fn add(&mut self, position: usize) {
        let mut index = position + 1;
        while index < self.sums.len() {
            self.sums[index] += 1;
            index += index & index.wrapping_neg();
        }
        self.total += 1;
    }

    /// How many positions beyond this one were added.
    fn above(&self, position: usize) -> u64 {
        let mut index = position + 1;
        let mut up_to = 0;
        while index > 0 {
            up_to += self.sums[index];
            index &= index - 1;
        }
        self.total - up_to
    }
}

/// Crossings of the links of two neighbours in a rank with the links at ascending positions `first` and `second`.
pub(crate) fn of_pair(first: &[u32], second: &[u32]) -> u64 {
    let mut crossings = 0;
    let mut index = 0;
    for position in first {
        while index < second.len() && second[index] < *position {
            index += 1;
        }
        crossings += index as u64;
    }
    crossings
}
