//! Network simplex: integer positions under minimal distances, with the least weighted sum of distances.
//!
//! Ranks and coordinates within ranks are both this problem (Gansner, Koutsofios, North, Vo, "A Technique for Drawing
//! Directed Graphs", 1993, sections 2.3 and 4.2). The cut value of a tree edge is the flow that it carries when every
//! vertex supplies the difference of the weights that leave and enter it. A pivot touches the smaller side of the cut only.

use std::collections::BTreeSet;

/// `position[to] - position[from]` is at least `min`, and costs `weight` for each unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) min: i64,
    pub(crate) weight: i64,
}

/// Improves `positions`, which must satisfy all `constraints`; these connect all positions and form no cycle. Ends at
/// the optimum, or after `work` looks at constraints.
pub(crate) fn minimise(positions: &mut [i64], constraints: &[Constraint], work: usize) {
    optimised(positions, constraints, work);
}

/// As [`minimise`]; what may be on either side at the same cost is then put in the middle.
pub(crate) fn minimise_and_centre(positions: &mut [i64], constraints: &[Constraint], work: usize) {
    if let Some((mut tree, incident)) = optimised(positions, constraints, work) {
        tree.centre(positions, constraints, &incident);
    }
}

/// The tree at the end; none if there is nothing to do.
fn optimised(
    positions: &mut [i64],
    constraints: &[Constraint],
    mut work: usize,
) -> Option<(TightTree, Incidence)> {
    if positions.len() < 2 {
        return None;
    }
    let incident = Incidence::of(positions.len(), constraints);
    let mut tree = TightTree::of(positions, constraints, &incident);
    while work > 0
        && let Some(leaving) = tree.leaving()
    {
        let spent = tree.pivot(positions, constraints, &incident, leaving);
        work = work.saturating_sub(spent);
    }
    Some((tree, incident))
}

/// The constraints of each position, one after the other.
struct Incidence {
    starts: Vec<usize>,
    constraints: Vec<usize>,
}

impl Incidence {
    fn of(count: usize, constraints: &[Constraint]) -> Self {
        let mut starts = vec![0; count + 1];
        for end in constraints.iter().flat_map(|constraint| [constraint.from, constraint.to]) {
            starts[end + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut list = vec![0; 2 * constraints.len()];
        for (index, constraint) in constraints.iter().enumerate() {
            for end in [constraint.from, constraint.to] {
                list[next[end]] = index;
                next[end] += 1;
            }
        }
        Self { starts, constraints: list }
    }

    fn of_vertex(&self, vertex: usize) -> &[usize] {
        &self.constraints[self.starts[vertex]..self.starts[vertex + 1]]
    }
}

fn slack(positions: &[i64], constraint: &Constraint) -> i64 {
    positions[constraint.to] - positions[constraint.from] - constraint.min
}

fn other_end(constraint: &Constraint, vertex: usize) -> usize {
    if constraint.from == vertex { constraint.to } else { constraint.from }
}

const NONE: usize = usize::MAX;
/// So many negative cut values are compared before the worst of them leaves.
const CANDIDATES: usize = 30;

/// A part of the tree while it is explored: what is found, and how much of that has been looked at.
struct Side {
    vertices: Vec<usize>,
    next: usize,
}

/// A spanning tree of constraints without slack.
struct TightTree {
    /// Constraints in the tree.
    edges: Vec<usize>,
    /// By constraint: its cut value; only those of tree edges are kept up to date.
    flow: Vec<i64>,
    /// By vertex: the tree edges at it.
    adjacent: Vec<Vec<usize>>,
    /// By vertex: the tree edge towards the root, or `NONE`.
    up: Vec<usize>,
    /// By constraint: its index in `edges`.
    index: Vec<usize>,
    /// Where the search for a leaving edge goes on.
    next: usize,
    /// By vertex: when it was last visited, and by whom.
    visited: Vec<u64>,
    clock: u64,
}

impl TightTree {
    fn of(positions: &mut [i64], constraints: &[Constraint], incident: &Incidence) -> Self {
        let edges = spanning_edges(positions, constraints, incident);
        let mut adjacent = vec![Vec::new(); positions.len()];
        let mut index = vec![NONE; constraints.len()];
        for (at, edge) in edges.iter().enumerate() {
            adjacent[constraints[*edge].from].push(*edge);
            adjacent[constraints[*edge].to].push(*edge);
            index[*edge] = at;
        }
        let mut tree = Self {
            edges,
            flow: vec![0; constraints.len()],
            adjacent,
            up: vec![NONE; positions.len()],
            index,
            next: 0,
            visited: vec![0; positions.len()],
            clock: 0,
        };
        tree.root(constraints);
        tree
    }

    /// Hangs the tree on vertex 0 and sums the supplies of subtrees.
    fn root(&mut self, constraints: &[Constraint]) {
        let mut supply = vec![0; self.up.len()];
        for constraint in constraints {
            supply[constraint.from] += constraint.weight;
            supply[constraint.to] -= constraint.weight;
        }
        let mut order = vec![0];
        let mut next = 0;
        while next < order.len() {
            let vertex = order[next];
            next += 1;
            for edge in &self.adjacent[vertex] {
                if self.up[vertex] != *edge {
                    let below = other_end(&constraints[*edge], vertex);
                    self.up[below] = *edge;
                    order.push(below);
                }
            }
        }
        for vertex in order.into_iter().skip(1).rev() {
            let edge = self.up[vertex];
            let constraint = &constraints[edge];
            self.flow[edge] = if constraint.from == vertex { supply[vertex] } else { -supply[vertex] };
            supply[other_end(constraint, vertex)] += supply[vertex];
        }
    }

    /// The worst of the next few tree edges whose shortening would cost less than it saves.
    fn leaving(&mut self) -> Option<usize> {
        let mut worst: Option<usize> = None;
        let mut found = 0;
        for _ in 0..self.edges.len() {
            self.next = if self.next + 1 < self.edges.len() { self.next + 1 } else { 0 };
            let edge = self.edges[self.next];
            if self.flow[edge] < 0 {
                if worst.is_none_or(|worst| self.flow[edge] < self.flow[worst]) {
                    worst = Some(edge);
                }
                found += 1;
                if found == CANDIDATES {
                    break;
                }
            }
        }
        worst
    }

    /// Replaces `leaving` by the constraint that becomes tight first, and says how much work that was.
    fn pivot(
        &mut self,
        positions: &mut [i64],
        constraints: &[Constraint],
        incident: &Incidence,
        leaving: usize,
    ) -> usize {
        let (side, has_head) = self.smaller_side(constraints, leaving);
        let mark = self.visited[side[0]];
        let (entering, mut work) = self.entering(positions, constraints, incident, &side, has_head);
        // A negative cut value is the weight of such constraints; without one the search ends.
        let Some((by, entering)) = entering else { return usize::MAX };
        if by != 0 {
            let by = if has_head { by } else { -by };
            side.iter().for_each(|vertex| positions[*vertex] += by);
        }
        work += self.exchange(constraints, leaving, entering);
        self.unlink(constraints, leaving);
        let inner = constraints[entering];
        let inner = if self.visited[inner.from] == mark { inner.from } else { inner.to };
        work.saturating_add(self.hang(constraints, inner, entering))
    }

    /// The constraint with the least slack against the direction of the one that leaves, and the work of finding it.
    fn entering(
        &self,
        positions: &[i64],
        constraints: &[Constraint],
        incident: &Incidence,
        side: &[usize],
        has_head: bool,
    ) -> (Option<(i64, usize)>, usize) {
        let mark = self.visited[side[0]];
        let mut work = side.len();
        let mut entering: Option<(i64, usize)> = None;
        for vertex in side {
            let edges = incident.of_vertex(*vertex);
            work += edges.len();
            for edge in edges {
                let Constraint { from, to, .. } = constraints[*edge];
                let (inner, outer) = if has_head { (from, to) } else { (to, from) };
                if inner == *vertex && self.visited[outer] != mark {
                    let slack = slack(positions, &constraints[*edge]);
                    if entering.is_none_or(|least| (slack, *edge) < least) {
                        entering = Some((slack, *edge));
                    }
                }
            }
        }
        (entering, work)
    }

    /// Where a part of the tree can move at no cost, moves it half of the way.
    fn centre(&mut self, positions: &mut [i64], constraints: &[Constraint], incident: &Incidence) {
        for edge in self.edges.clone() {
            if self.flow[edge] != 0 {
                continue;
            }
            let (side, has_head) = self.smaller_side(constraints, edge);
            if let (Some((slack, _)), _) = self.entering(positions, constraints, incident, &side, has_head) {
                let by = if has_head { slack / 2 } else { -(slack / 2) };
                side.iter().for_each(|vertex| positions[*vertex] += by);
            }
        }
    }

    fn unlink(&mut self, constraints: &[Constraint], leaving: usize) {
        for end in [constraints[leaving].from, constraints[leaving].to] {
            self.adjacent[end].retain(|edge| *edge != leaving);
            if self.up[end] == leaving {
                self.up[end] = NONE;
            }
        }
    }

    /// The vertices of the smaller part of the tree without `leaving`, marked as visited alike, and whether it has its head.
    fn smaller_side(&mut self, constraints: &[Constraint], leaving: usize) -> (Vec<usize>, bool) {
        self.clock += 2;
        let constraint = constraints[leaving];
        let mut sides = [constraint.from, constraint.to].map(|end| Side { vertices: vec![end], next: 0 });
        for (side, mark) in sides.iter().zip(self.clock..) {
            self.visited[side.vertices[0]] = mark;
        }
        loop {
            for (has_head, side) in [false, true].into_iter().zip(&mut sides) {
                let Some(&vertex) = side.vertices.get(side.next) else {
                    return (std::mem::take(&mut side.vertices), has_head);
                };
                side.next += 1;
                let mark = self.clock + u64::from(has_head);
                for edge in self.adjacent[vertex].iter().filter(|edge| **edge != leaving) {
                    let other = other_end(&constraints[*edge], vertex);
                    if self.visited[other] != mark {
                        self.visited[other] = mark;
                        side.vertices.push(other);
                    }
                }
            }
        }
    }

    /// Sends the flow of `leaving` round the cycle that `entering` closes.
    fn exchange(&mut self, constraints: &[Constraint], leaving: usize, entering: usize) -> usize {
        let amount = -self.flow[leaving];
        let (head, tail) = (constraints[entering].to, constraints[entering].from);
        let (down, up) = self.paths_to_common_ancestor(constraints, head, tail);
        // From the head up to the common ancestor, then down to the tail.
        for (vertex, forwards) in
            down.iter().map(|vertex| (*vertex, true)).chain(up.iter().map(|v| (*v, false)))
        {
            let edge = self.up[vertex];
            let along = (constraints[edge].from == vertex) == forwards;
            self.flow[edge] += if along { amount } else { -amount };
        }
        self.flow[entering] = amount;
        let at = self.index[leaving];
        self.edges[at] = entering;
        self.index[leaving] = NONE;
        self.index[entering] = at;
        down.len() + up.len()
    }

    fn paths_to_common_ancestor(
        &self,
        constraints: &[Constraint],
        first: usize,
        second: usize,
    ) -> (Vec<usize>, Vec<usize>) {
        let path = |from: usize| {
            let mut path = vec![from];
            let mut here = from;
            while self.up[here] != NONE {
                here = other_end(&constraints[self.up[here]], here);
                path.push(here);
            }
            path
        };
        let (mut first, mut second) = (path(first), path(second));
        while first.len() > 1 && second.len() > 1 && first[first.len() - 2] == second[second.len() - 2] {
            first.pop();
            second.pop();
        }
        // What is left ends with the common ancestor, whose own edge upwards is not on the way.
        first.pop();
        second.pop();
        (first, second)
    }

    /// Hangs the part of the tree that holds `vertex` on the other end of `entering`.
    fn hang(&mut self, constraints: &[Constraint], vertex: usize, entering: usize) -> usize {
        for end in [constraints[entering].from, constraints[entering].to] {
            self.adjacent[end].push(entering);
        }
        let (mut here, mut edge, mut work) = (vertex, entering, 1);
        loop {
            let old = std::mem::replace(&mut self.up[here], edge);
            if old == NONE {
                break;
            }
            here = other_end(&constraints[old], here);
            edge = old;
            work += 1;
        }
        work
    }
}

/// Moves positions together until constraints without slack connect them all, and gives a spanning tree of such.
fn spanning_edges(positions: &mut [i64], constraints: &[Constraint], incident: &Incidence) -> Vec<usize> {
    let count = positions.len();
    let mut part: Vec<usize> = (0..count).collect();
    let mut members: Vec<Vec<usize>> = (0..count).map(|vertex| vec![vertex]).collect();
    let mut edges = Vec::with_capacity(count - 1);
    let mut join =
        |part: &mut Vec<usize>, members: &mut Vec<Vec<usize>>, edge: usize| -> Option<(usize, usize)> {
            let (mut into, mut from) = (part[constraints[edge].from], part[constraints[edge].to]);
            if into == from {
                return None;
            }
            if members[into].len() < members[from].len() {
                std::mem::swap(&mut into, &mut from);
            }
            let moved = std::mem::take(&mut members[from]);
            moved.iter().for_each(|vertex| part[*vertex] = into);
            members[into].extend(moved);
            edges.push(edge);
            Some((into, from))
        };
    for (edge, constraint) in constraints.iter().enumerate() {
        if slack(positions, constraint) == 0 {
            join(&mut part, &mut members, edge);
        }
    }
    let mut queue: BTreeSet<(usize, usize)> = members
        .iter()
        .enumerate()
        .filter(|(_, list)| !list.is_empty())
        .map(|(at, list)| (list.len(), at))
        .collect();
    while queue.len() > 1
        && let Some((_, smallest)) = queue.pop_first()
    {
        let mut nearest: Option<(i64, usize)> = None;
        for vertex in &members[smallest] {
            for edge in incident.of_vertex(*vertex) {
                if part[other_end(&constraints[*edge], *vertex)] != smallest {
                    let slack = slack(positions, &constraints[*edge]);
                    if nearest.is_none_or(|least| (slack, *edge) < least) {
                        nearest = Some((slack, *edge));
                    }
                }
            }
        }
        // All positions are connected, so there is one.
        let Some((by, edge)) = nearest else { break };
        let by = if part[constraints[edge].from] == smallest { by } else { -by };
        members[smallest].iter().for_each(|vertex| positions[*vertex] += by);
        let size = |members: &Vec<Vec<usize>>, at: usize| (members[at].len(), at);
        let other = if part[constraints[edge].from] == smallest {
            part[constraints[edge].to]
        } else {
            part[constraints[edge].from]
        };
        queue.remove(&size(&members, other));
        if let Some((into, _)) = join(&mut part, &mut members, edge) {
            queue.insert(size(&members, into));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(from: usize, to: usize, min: i64, weight: i64) -> Constraint {
        Constraint { from, to, min, weight }
    }

    fn cost(positions: &[i64], constraints: &[Constraint]) -> i64 {
        constraints.iter().map(|c| c.weight * (positions[c.to] - positions[c.from])).sum()
    }

    #[test]
    fn a_vertex_goes_where_the_heavier_edge_pulls_it() {
        // 0 → 1 → 2 → 3 and 0 → 4 → 3: 4 may be on either of two positions.
        let constraints = [
            constraint(0, 1, 1, 1),
            constraint(1, 2, 1, 1),
            constraint(2, 3, 1, 1),
            constraint(0, 4, 1, 1),
            constraint(4, 3, 1, 5),
        ];
        let mut positions = vec![0, 1, 2, 3, 1];
        minimise(&mut positions, &constraints, 1000);
        assert_eq!(positions[4] - positions[0], 2);
    }

    #[test]
    fn nothing_better_is_found_by_trying_everything() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let count = 5;
            let mut constraints: Vec<Constraint> = (1..count)
                .map(|to| constraint(random(to as u64) as usize, to, random(3) as i64, random(4) as i64))
                .collect();
            for _ in 0..random(6) {
                let to = 1 + random(count as u64 - 1) as usize;
                let from = random(to as u64) as usize;
                constraints.push(constraint(from, to, random(3) as i64, random(4) as i64));
            }
            let mut positions = vec![0; count];
            for _ in 0..count {
                for c in &constraints {
                    positions[c.to] = positions[c.to].max(positions[c.from] + c.min);
                }
            }
            minimise(&mut positions, &constraints, 100_000);
            assert!(constraints.iter().all(|c| slack(&positions, c) >= 0));
            let mut best = i64::MAX;
            for code in 0..9_i64.pow(4) {
                let tried: Vec<i64> =
                    (0..5).map(|at| if at == 0 { 0 } else { (code / 9_i64.pow(at - 1)) % 9 }).collect();
                if constraints.iter().all(|c| slack(&tried, c) >= 0) {
                    best = best.min(cost(&tried, &constraints));
                }
            }
            assert_eq!(cost(&positions, &constraints), best, "{constraints:?}");
        }
    }
}
