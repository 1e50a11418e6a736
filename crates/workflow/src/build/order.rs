//! An order of the vertices that every edge follows, kept while edges are added.
//!
//! Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (2006): an edge that agrees with the
//! order costs nothing; one that does not is followed forward and backward, no further than the places of its two ends, and
//! what was met is put in order again, unless it closes a cycle. Processes and files come about in the order of time, so that
//! almost every edge agrees. A search is given up when it becomes long: the caller then splits the vertex, which is always
//! allowed.

/// What became of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is there; the order holds.
    Added,
    /// It would close a cycle.
    Cycle,
    /// Whether it would could not be found out in reasonable time.
    GivenUp,
}

const NONE: u32 = u32::MAX;

/// Edges that one search looks at before it is given up.
const SEARCH_LIMIT: usize = 20_000;

/// Edges that all searches together look at; beyond that each may look at [`SHORT_SEARCH`].
const TOTAL_LIMIT: usize = 20_000_000;
const SHORT_SEARCH: usize = 200;

/// Vertices and edges in an order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The place of each vertex; places have gaps.
    place: Vec<i64>,
    /// Heads and links of the lists of edges that leave and that enter a vertex.
    leaving: Vec<u32>,
    entering: Vec<u32>,
    ends: Vec<[u32; 2]>,
    links: Vec<[u32; 2]>,
    met: Vec<u32>,
    search: u32,
    looked_at: usize,
    front: i64,
    back: i64,
}

/// Which way a search goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl Order {
    /// A new vertex behind all others, for what comes about now.
    pub(super) fn add_last(&mut self) -> u32 {
        self.back += 1;
        self.add(self.back)
    }

    /// A new vertex before all others, for what was there before.
    pub(super) fn add_first(&mut self) -> u32 {
        self.front -= 1;
        self.add(self.front)
    }

    fn add(&mut self, place: i64) -> u32 {
        self.place.push(place);
        self.leaving.push(NONE);
        self.entering.push(NONE);
        self.met.push(0);
        (self.place.len() - 1) as u32
    }

    /// Adds an edge if it closes no cycle.
    pub(super) fn add_edge(&mut self, from: u32, to: u32) -> Outcome {
        let outcome = if from == to { Outcome::Cycle } else { self.make_room(from, to) };
        if outcome == Outcome::Added {
            let edge = self.ends.len() as u32;
            self.ends.push([from, to]);
            self.links.push([self.leaving[from as usize], self.entering[to as usize]]);
            self.leaving[from as usize] = edge;
            self.entering[to as usize] = edge;
        }
        outcome
    }

    /// Changes the order so that `from` stands before `to`.
    fn make_room(&mut self, from: u32, to: u32) -> Outcome {
        let (first, last) = (self.place[to as usize], self.place[from as usize]);
        if last < first {
            return Outcome::Added;
        }
        let limit = if self.looked_at < TOTAL_LIMIT { SEARCH_LIMIT } else { SHORT_SEARCH };
        let Some(mut after) = self.reach(to, Direction::Forward, last, limit) else {
            return Outcome::GivenUp;
        };
        if after.contains(&from) {
            return Outcome::Cycle;
        }
        let Some(mut before) = self.reach(from, Direction::Backward, first, limit) else {
            return Outcome::GivenUp;
        };
        before.sort_unstable_by_key(|vertex| self.place[*vertex as usize]);
        after.sort_unstable_by_key(|vertex| self.place[*vertex as usize]);
        let vertices: Vec<u32> = before.into_iter().chain(after).collect();
        let mut path_files: Vec<i64> = vertices.iter().map(|vertex| self.place[*vertex as usize]).collect();
        path_files.sort_unstable();
        for (vertex, place) in vertices.into_iter().zip(path_files) {
            self.place[vertex as usize] = place;
        }
        Outcome::Added
    }

    /// The vertices that can be reached from `start` without passing the place `bound`; `None` if there are too many edges.
    fn reach(&mut self, start: u32, direction: Direction, bound: i64, limit: usize) -> Option<Vec<u32>> {
        self.search += 1;
        self.met[start as usize] = self.search;
        let (mut reached, mut next, mut looked_at) = (vec![start], 0, 0);
        let side = usize::from(direction == Direction::Backward);
        while let Some(&vertex) = reached.get(next) {
            next += 1;
            let heads = if direction == Direction::Forward { &self.leaving } else { &self.entering };
            let mut edge = heads[vertex as usize];
            while edge != NONE {
                looked_at += 1;
                let other = self.ends[edge as usize][1 - side];
                let place = self.place[other as usize];
                let within = if direction == Direction::Forward { place <= bound } else { place >= bound };
                if within && self.met[other as usize] != self.search {
                    self.met[other as usize] = self.search;
                    reached.push(other);
                }
                edge = self.links[edge as usize][side];
            }
            if looked_at > limit {
                self.looked_at += looked_at;
                return None;
            }
        }
        self.looked_at += looked_at;
        Some(reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reaches(edges: &[(u32, u32)], from: u32, to: u32, met: &mut Vec<u32>) -> bool {
        from == to
            || (!met.contains(&from) && {
                met.push(from);
                edges.iter().any(|&(a, b)| a == from && reaches(edges, b, to, met))
            })
    }

    #[test]
    fn what_was_there_before_stands_before_all_others() {
        let mut order = Order::default();
        let (process, file) = (order.add_last(), order.add_first());
        assert_eq!(order.add_edge(file, process), Outcome::Added);
        assert_eq!(order.add_edge(process, file), Outcome::Cycle);
        assert_eq!(order.add_edge(file, file), Outcome::Cycle);
        assert_eq!(order.looked_at, 1, "only the edge that does not agree is followed");
    }

    #[test]
    fn a_search_among_very_many_edges_is_given_up() {
        let mut order = Order::default();
        let hub = order.add_last();
        for _ in 0..=SEARCH_LIMIT {
            let leaf = order.add_last();
            assert_eq!(order.add_edge(hub, leaf), Outcome::Added);
        }
        let late = order.add_last();
        assert_eq!(order.add_edge(late, hub), Outcome::GivenUp);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn an_edge_is_refused_exactly_if_it_closes_a_cycle(
            edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..60),
            first in prop::collection::vec(any::<bool>(), 12),
        ) {
            let mut order = Order::default();
            for first in first {
                if first { order.add_first() } else { order.add_last() };
            }
            let mut added = Vec::new();
            for (from, to) in edges {
                let closes = reaches(&added, to, from, &mut Vec::new());
                let outcome = order.add_edge(from, to);
                prop_assert_eq!(outcome, if closes { Outcome::Cycle } else { Outcome::Added });
                if !closes {
                    added.push((from, to));
                }
                for &(from, to) in &added {
                    prop_assert!(order.place[from as usize] < order.place[to as usize]);
                }
            }
        }
    }
}
