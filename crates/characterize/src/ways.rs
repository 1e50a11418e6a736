//! Files of one form of name that a rank uses in different ways: a kind for each way, so that each session of a model finds files of its own.
//!
//! Of `log.1` and `log.2` one is renamed to the other; of `out.0`, `out.1`, `out.2`, … each third one is written in other blocks. In a model each
//! session takes the files of a kind in turn, which is right only if all of them are used alike.

use crate::names::Kinds;
use crate::sessions::{RankSessions, Shape};
use iotrail_workload::{Class, NamePart};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Of more ways none is a kind of its own: they are as many as files, and differ by chance.
const MOST: usize = 8;

/// What is done with a file, in order: numbers of shapes, and that it gets its name.
type Way = Vec<usize>;
const NAMED: usize = 0;

/// Of each rank the names of a kind, and the way of each.
type OfRanks = BTreeMap<usize, BTreeMap<usize, Way>>;

/// Lets files of one form of name be of as many kinds as there are ways to use them.
pub(crate) fn split(kinds: &mut Kinds, ranks: &mut [RankSessions]) {
    let mut of_names: HashMap<usize, usize> = HashMap::new();
    for (kind, of_ranks) in ways(kinds, ranks) {
        let distinct: Vec<Vec<&Way>> = of_ranks.values().map(distinct).collect();
        let most = distinct.iter().map(Vec::len).max().unwrap_or_default();
        if !(2..=MOST).contains(&most) {
            continue;
        }
        let first = kinds.kinds.len();
        kinds.kinds.extend(vec![kinds.kinds[kind].clone(); most - 1]);
        // Ranks that do the same in another order have the same kinds.
        let sets: BTreeSet<BTreeSet<&Way>> =
            distinct.iter().map(|ways| ways.iter().copied().collect()).collect();
        for (names, own) in of_ranks.values().zip(&distinct) {
            let ways = if sets.len() == 1 { &distinct[0] } else { own };
            for (name, way) in names {
                let number = ways.iter().position(|other| *other == way).unwrap_or_default();
                of_names.insert(*name, number.checked_sub(1).map_or(kind, |more| first + more));
            }
        }
    }
    for (kind, name) in kinds.of_file.iter_mut().zip(&kinds.named) {
        *kind = of_names.get(name).copied().unwrap_or(*kind);
    }
    for execution in ranks.iter_mut().flat_map(|rank| &mut rank.executions) {
        execution.kind = kinds.of_file[execution.file];
    }
}

/// Of each kind that several files of a rank may be of, what is done with each.
fn ways(kinds: &Kinds, ranks: &[RankSessions]) -> BTreeMap<usize, OfRanks> {
    let is_numbered = |kind: usize| {
        let classed = &kinds.kinds[kind].classed;
        classed.class == Class::Private && classed.name.contains(&NamePart::Number)
    };
    let mut shapes: HashMap<&Shape, usize> = HashMap::new();
    let mut ways: BTreeMap<usize, OfRanks> = BTreeMap::new();
    for (rank, sessions) in ranks.iter().enumerate() {
        for execution in &sessions.executions {
            let next = shapes.len() + 1;
            let shape = *shapes.entry(&execution.shape).or_insert(next);
            for (file, step) in [(Some(execution.file), shape), (execution.to, NAMED)] {
                let Some(file) = file.filter(|file| is_numbered(kinds.of_file[*file])) else { continue };
                let of_rank = ways.entry(kinds.of_file[file]).or_default().entry(rank).or_default();
                of_rank.entry(kinds.named[file]).or_default().push(step);
            }
        }
    }
    ways
}

/// In the order of the first file of each.
fn distinct(names: &BTreeMap<usize, Way>) -> Vec<&Way> {
    let mut found: Vec<&Way> = Vec::new();
    for way in names.values() {
        if found.len() <= MOST && !found.contains(&way) {
            found.push(way);
        }
    }
    found
}
