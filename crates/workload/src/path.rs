//! The generic path: what the representatives of all groups do, once, with who does it.
//!
//! Source: PIONEER, sections IV-A and V-B; sequences are aligned by their longest common subsequence, E. W. Myers, An
//! O(ND) difference algorithm and its variations, 1986, section 4b (linear memory).

use std::collections::BTreeSet;

/// A step of a representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step<K> {
    /// A request of this kind, to a file of this class.
    Request(K),
    /// Synchronisation. It has no position.
    Sync(K),
}

/// A step of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathElement<K> {
    /// What is done.
    pub step: Step<K>,
    /// The groups that do it, as indices.
    pub groups: BTreeSet<usize>,
    /// The paper's *gsid*: position among the requests, from 1; NULL for synchronisation.
    pub position: Option<u64>,
}

/// Steps of all groups in one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<K>(Vec<PathElement<K>>);

impl<K> Path<K> {
    /// Its steps.
    #[must_use]
    pub fn elements(&self) -> &[PathElement<K>] {
        &self.0
    }

    /// Positions of the requests of a group, in order.
    pub fn positions(&self, group: usize) -> impl Iterator<Item = u64> {
        self.0
            .iter()
            .filter(move |element| element.groups.contains(&group))
            .filter_map(|element| element.position)
    }
}

/// Aligns the steps of representatives, each of one group, that of the root first. What one group alone does follows the
/// last step in common, earlier groups first. If all have the same synchronisation, nothing is aligned across it. Takes
/// time in the product of the steps and of what differs, and memory in the steps.
#[must_use]
pub fn path<K: Clone + Eq>(representatives: &[&[Step<K>]]) -> Path<K> {
    let mut elements: Vec<PathElement<K>> = Vec::new();
    for (group, steps) in representatives.iter().enumerate() {
        elements = if group == 0 {
            steps.iter().map(|step| alone(step, group)).collect()
        } else {
            join(elements, steps, group)
        };
    }
    let requests = elements.iter_mut().filter(|element| matches!(element.step, Step::Request(_)));
    for (position, element) in (1..).zip(requests) {
        element.position = Some(position);
    }
    Path(elements)
}

fn alone<K: Clone>(step: &Step<K>, group: usize) -> PathElement<K> {
    PathElement { step: step.clone(), groups: BTreeSet::from([group]), position: None }
}

fn join<K: Clone + Eq>(
    elements: Vec<PathElement<K>>,
    steps: &[Step<K>],
    group: usize,
) -> Vec<PathElement<K>> {
    let known: Vec<Step<K>> = elements.iter().map(|element| element.step.clone()).collect();
    let mut matches = Vec::new();
    for (one, other) in segments(&known, steps) {
        align(&known[one.clone()], &steps[other.clone()], one.start, other.start, &mut matches);
    }
    let mut joined = Vec::with_capacity(elements.len());
    let (mut elements, mut taken, mut next) = (elements.into_iter(), 0, 0);
    for (at, step) in matches.into_iter().chain([(known.len(), steps.len())]) {
        joined.extend(elements.by_ref().take(at - taken));
        joined.extend(steps[next..step].iter().map(|step| alone(step, group)));
        joined.extend(elements.next().map(|mut common| {
            common.groups.insert(group);
            common
        }));
        (taken, next) = (at + 1, step + 1);
    }
    joined
}

type Span = std::ops::Range<usize>;

/// What is aligned with what: the spans between the same synchronisation, or everything if it differs.
fn segments<K: Eq>(one: &[Step<K>], other: &[Step<K>]) -> Vec<(Span, Span)> {
    let (ends, other_ends) = (syncs(one), syncs(other));
    let same = ends.len() == other_ends.len()
        && ends.iter().zip(&other_ends).all(|(&at, &other_at)| one[at] == other[other_at]);
    if !same {
        return vec![(0..one.len(), 0..other.len())];
    }
    spans(&ends, one.len()).into_iter().zip(spans(&other_ends, other.len())).collect()
}

fn syncs<K>(steps: &[Step<K>]) -> Vec<usize> {
    (0..steps.len()).filter(|&at| matches!(steps[at], Step::Sync(_))).collect()
}

/// The spans before, between and behind synchronisation, and it.
fn spans(syncs: &[usize], len: usize) -> Vec<Span> {
    let mut spans = Vec::with_capacity(2 * syncs.len() + 1);
    let mut start = 0;
    for &at in syncs {
        spans.extend([start..at, at..at + 1]);
        start = at + 1;
    }
    spans.push(start..len);
    spans
}

/// Adds the pairs of a longest common subsequence, as indices from these on, ascending.
fn align<T: Eq>(one: &[T], other: &[T], from: usize, other_from: usize, matches: &mut Vec<(usize, usize)>) {
    let before = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    matches.extend((0..before).map(|at| (from + at, other_from + at)));
    let (one, other) = (&one[before..], &other[before..]);
    let (from, other_from) = (from + before, other_from + before);
    let after = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let (inner, other_inner) = (one.len() - after, other.len() - after);
    if inner > 0 && other_inner > 0 {
        let (split, other_split) = middle(&one[..inner], &other[..other_inner]);
        if (split, other_split) != (0, 0) && (split, other_split) != (inner, other_inner) {
            align(&one[..split], &other[..other_split], from, other_from, matches);
            align(
                &one[split..inner],
                &other[other_split..other_inner],
                from + split,
                other_from + other_split,
                matches,
            );
        }
    }
    matches.extend((0..after).map(|at| (from + inner + at, other_from + other_inner + at)));
}

/// A point on a shortest edit path, about in its middle; neither sequence is empty, and they begin and end differently.
fn middle<T: Eq>(one: &[T], other: &[T]) -> (usize, usize) {
    let (n, m) = (one.len() as isize, other.len() as isize);
    let delta = n - m;
    let odd = delta % 2 != 0;
    let limit = (n + m + 1) / 2;
    let index = |diagonal: isize| (diagonal + limit + 1) as usize;
    let mut forward = vec![0_isize; 2 * limit as usize + 3];
    let mut backward = forward.clone();
    for edits in 0..=limit {
        for diagonal in (-edits..=edits).step_by(2) {
            let x = furthest(&forward, diagonal, edits, index);
            let x = x + common(one, other, x, x - diagonal);
            forward[index(diagonal)] = x;
            let mirrored = delta - diagonal;
            if odd && mirrored.abs() < edits && x + backward[index(mirrored)] >= n {
                return point(x, diagonal, n, m);
            }
        }
        for diagonal in (-edits..=edits).step_by(2) {
            let x = furthest(&backward, diagonal, edits, index);
            let x = x + common_back(one, other, x, x - diagonal);
            backward[index(diagonal)] = x;
            let mirrored = delta - diagonal;
            if !odd && mirrored.abs() <= edits && x + forward[index(mirrored)] >= n {
                return point(n - x, mirrored, n, m);
            }
        }
    }
    (0, 0)
}

/// Where a path of so many edits arrives on a diagonal before it follows what is common.
fn furthest(reached: &[isize], diagonal: isize, edits: isize, index: impl Fn(isize) -> usize) -> isize {
    let (above, below) = (reached[index(diagonal + 1)], reached[index(diagonal - 1)]);
    if diagonal == -edits || diagonal != edits && below < above { above } else { below + 1 }
}

fn common<T: Eq>(one: &[T], other: &[T], x: isize, y: isize) -> isize {
    let (Some(one), Some(other)) = (one.get(x as usize..), other.get(y as usize..)) else { return 0 };
    one.iter().zip(other).take_while(|(one, other)| one == other).count() as isize
}

fn common_back<T: Eq>(one: &[T], other: &[T], x: isize, y: isize) -> isize {
    let (n, m) = (one.len() as isize - x, other.len() as isize - y);
    if n < 0 || m < 0 {
        return 0;
    }
    let (one, other) = (&one[..n as usize], &other[..m as usize]);
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count() as isize
}

fn point(x: isize, diagonal: isize, n: isize, m: isize) -> (usize, usize) {
    (x.clamp(0, n) as usize, (x - diagonal).clamp(0, m) as usize)
}
