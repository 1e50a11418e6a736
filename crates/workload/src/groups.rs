//! Groups of streams that behave alike.
//!
//! Source: PIONEER, sections III-A (reuse distance) and V-B. Limits: total variation of the mixes and the statistic of
//! Kolmogorov and Smirnov of the reuse distances; complete linkage.

use crate::distribution::Distribution;
use crate::mix::total_variation;
use std::collections::BTreeMap;

/// Largest total variation between streams of a group.
const MAX_VARIATION: f64 = 0.05;

/// Largest difference of their distributions of reuse distances.
const MAX_REUSE_DIFFERENCE: f64 = 0.1;

/// An operation is compared from so many distances on.
const MIN_DISTANCES: u64 = 8;

/// What tells streams apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour<K, O> {
    /// How often each kind of request occurs.
    pub mix: BTreeMap<K, u64>,
    /// Of each operation the number of requests between successive ones.
    pub reuse: BTreeMap<O, Distribution>,
}

impl<K: Ord, O: Ord> Behaviour<K, O> {
    /// That of a stream, of whose requests `kind` and `operation` are given.
    pub fn of(requests: impl IntoIterator<Item = (K, O)>) -> Self
    where
        O: Clone,
    {
        let mut mix = BTreeMap::new();
        let mut reuse: BTreeMap<O, Distribution> = BTreeMap::new();
        let mut last: BTreeMap<O, i64> = BTreeMap::new();
        for (at, (kind, operation)) in (0..).zip(requests) {
            *mix.entry(kind).or_default() += 1;
            if let Some(before) = last.insert(operation.clone(), at) {
                reuse.entry(operation).or_default().add(at - before - 1);
            }
        }
        Self { mix, reuse }
    }

    /// Total variation of the mixes; infinite if the two cannot be of one group.
    fn distance(&self, other: &Self) -> f64 {
        let variation = total_variation(&self.mix, &other.mix);
        if variation <= MAX_VARIATION && self.reuses_like(other) { variation } else { f64::INFINITY }
    }

    fn reuses_like(&self, other: &Self) -> bool {
        self.reuse.iter().all(|(operation, distances)| {
            let Some(others) = other.reuse.get(operation) else { return true };
            distances.total() < MIN_DISTANCES
                || others.total() < MIN_DISTANCES
                || distances
                    .kolmogorov_smirnov(others)
                    .is_none_or(|difference| difference <= MAX_REUSE_DIFFERENCE)
        })
    }
}

/// Streams that behave alike, as indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ascending.
    pub members: Vec<usize>,
    /// The medoid: the member with the smallest sum of distances to the others, the first of equal ones.
    pub representative: usize,
}

/// Groups of streams by complete linkage, ordered by their first members. Takes time and memory in the square of the
/// number of distinct behaviours.
#[must_use]
pub fn groups<K: Ord, O: Ord>(streams: &[Behaviour<K, O>]) -> Vec<Group> {
    let alike = equal(streams);
    let of = |one: usize| &streams[alike[one][0]];
    let distances: Vec<Vec<f64>> = (0..alike.len())
        .map(|one| (0..alike.len()).map(|other| of(one).distance(of(other))).collect())
        .collect();
    let group = |behaviours: &Vec<usize>| {
        let mut members: Vec<usize> = behaviours.iter().flat_map(|&one| alike[one].iter().copied()).collect();
        members.sort_unstable();
        Group { members, representative: alike[medoid(behaviours, &alike, &distances)][0] }
    };
    let mut groups: Vec<Group> = Clusters::new(&distances).link().iter().map(group).collect();
    groups.sort_by_key(|group| group.members[0]);
    groups
}

/// Streams with equal behaviour, in the order of their first ones.
fn equal<K: Ord, O: Ord>(streams: &[Behaviour<K, O>]) -> Vec<Vec<usize>> {
    let mut alike: Vec<Vec<usize>> = Vec::new();
    for (at, stream) in streams.iter().enumerate() {
        match alike.iter_mut().find(|members| streams[members[0]] == *stream) {
            Some(members) => members.push(at),
            None => alike.push(vec![at]),
        }
    }
    alike
}

fn medoid(behaviours: &[usize], alike: &[Vec<usize>], distances: &[Vec<f64>]) -> usize {
    let sum = |one: usize| {
        behaviours.iter().map(|&other| distances[one][other] * alike[other].len() as f64).sum::<f64>()
    };
    behaviours.iter().copied().min_by(|&one, &other| sum(one).total_cmp(&sum(other))).unwrap_or_default()
}

/// Agglomeration by chains of nearest neighbours, which finds the clusters of complete linkage in quadratic time.
struct Clusters {
    members: Vec<Vec<usize>>,
    /// Between clusters: the largest between their members.
    distances: Vec<Vec<f64>>,
}

impl Clusters {
    fn new(distances: &[Vec<f64>]) -> Self {
        Self { members: (0..distances.len()).map(|one| vec![one]).collect(), distances: distances.to_vec() }
    }

    fn link(mut self) -> Vec<Vec<usize>> {
        let mut open: Vec<usize> = (0..self.members.len()).collect();
        let mut finished = Vec::new();
        let mut chain: Vec<usize> = Vec::new();
        while let Some(&first) = open.first() {
            let top = *chain.last().unwrap_or(&first);
            if chain.is_empty() {
                chain.push(first);
            }
            let before = chain.len().checked_sub(2).map(|at| chain[at]);
            match self.nearest(top, before, &open) {
                None => {
                    finished.push(std::mem::take(&mut self.members[top]));
                    open.retain(|&one| one != top);
                    chain.clear();
                }
                Some(nearest) if Some(nearest) == before => {
                    chain.truncate(chain.len() - 2);
                    let (kept, gone) = (nearest.min(top), nearest.max(top));
                    self.join(kept, gone);
                    open.retain(|&one| one != gone);
                }
                Some(nearest) => chain.push(nearest),
            }
        }
        finished
    }

    /// The nearest open cluster that may be joined; of equally near ones the one before in the chain, so that chains
    /// end.
    fn nearest(&self, top: usize, before: Option<usize>, open: &[usize]) -> Option<usize> {
        let others = before.into_iter().chain(open.iter().copied()).filter(|&other| other != top);
        others
            .filter(|&other| self.distances[top][other].is_finite())
            .min_by(|&one, &other| self.distances[top][one].total_cmp(&self.distances[top][other]))
    }

    fn join(&mut self, kept: usize, gone: usize) {
        for other in 0..self.members.len() {
            let distance = self.distances[kept][other].max(self.distances[gone][other]);
            self.distances[kept][other] = distance;
            self.distances[other][kept] = distance;
        }
        let joined = std::mem::take(&mut self.members[gone]);
        self.members[kept].extend(joined);
        self.members[kept].sort_unstable();
    }
}
