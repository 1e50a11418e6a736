//! T(E) on flat lists of letters, as it is defined: slow, short, and with nothing in common with the program.

use std::collections::BTreeSet;
use std::fmt;

/// An item with a count for each execution of its body.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) counts: Vec<usize>,
    /// NULL: a loop.
    pub(super) key: Option<char>,
    pub(super) body: Vec<Node>,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let varies = self.counts.iter().any(|count| *count != self.counts[0]);
        let counts: Vec<String> = self.counts.iter().map(usize::to_string).collect();
        let body = self.body.iter().map(Node::to_string).collect::<Vec<_>>().join(", ");
        match (self.key, varies) {
            (Some(key), false) if self.counts[0] == 1 => write!(f, "{key}"),
            (Some(key), false) => write!(f, "{} x {key}", counts[0]),
            (Some(key), true) => write!(f, "({}) {key}", counts.join(",")),
            (None, false) => write!(f, "{} x [{body}]", counts[0]),
            (None, true) => write!(f, "({}) x [{body}]", counts.join(",")),
        }
    }
}

type Events = Vec<char>;

pub(super) fn tree(texts: &[&str]) -> Vec<Node> {
    t(&texts.iter().map(|text| text.chars().collect()).collect::<Vec<_>>())
}

fn t(e: &[Events]) -> Vec<Node> {
    let all: BTreeSet<char> = e.iter().flatten().copied().collect();
    if all.is_empty() {
        return vec![];
    }
    let runs = |x: &Events, key| x.chunk_by(|a, b| a == b).filter(|run| run[0] == key).count();
    let r: Vec<char> = all.iter().copied().filter(|&key| e.iter().any(|x| runs(x, key) > 1)).collect();
    let first = |key| {
        let place = |(index, x): (usize, &Events)| Some((index, x.iter().position(|&k| k == key)?));
        e.iter().enumerate().find_map(place)
    };
    let total = |key| e.iter().map(|x| runs(x, key)).sum::<usize>();
    let rank = |&key: &char| (key.is_uppercase(), usize::MAX - total(key), first(key));
    match r.into_iter().max_by_key(rank) {
        None => row(e),
        Some(s) => around(e, s, &all),
    }
}

fn row(e: &[Events]) -> Vec<Node> {
    let mut items: Vec<Node> = vec![];
    for (execution, x) in e.iter().enumerate() {
        let mut free = 0;
        for run in x.chunk_by(|a, b| a == b) {
            let found = (free..items.len()).find(|&index| items[index].key == Some(run[0]));
            let index = found.unwrap_or(free);
            if found.is_none() {
                items.insert(index, Node { counts: vec![0; e.len()], key: Some(run[0]), body: vec![] });
            }
            items[index].counts[execution] = run.len();
            free = index + 1;
        }
    }
    items
}

/// Keys whose events stand before each s and each event of another key: the union of all sets that do so.
fn head_keys(e: &[Events], s: char, all: &BTreeSet<char>) -> BTreeSet<char> {
    let others: Vec<char> = all.iter().copied().filter(|&key| key != s).collect();
    let stands = |set: &BTreeSet<char>| {
        e.iter().all(|x| x.iter().skip_while(|key| set.contains(key)).all(|key| !set.contains(key)))
    };
    let sets = (0..1_u32 << others.len()).map(|bits| {
        (0..others.len()).filter(|i| bits >> i & 1 == 1).map(|i| others[i]).collect::<BTreeSet<_>>()
    });
    sets.filter(stands).max_by_key(BTreeSet::len).unwrap_or_default()
}

fn reversed(e: &[Events]) -> Vec<Events> {
    e.iter().map(|x| x.iter().rev().copied().collect()).collect()
}

fn around(e: &[Events], s: char, all: &BTreeSet<char>) -> Vec<Node> {
    let h = head_keys(e, s, all);
    let only = |e: &[Events], keys: &BTreeSet<char>, inside: bool| -> Vec<Events> {
        e.iter().map(|x| x.iter().copied().filter(|key| keys.contains(key) == inside).collect()).collect()
    };
    let rest = only(e, &h, false);
    let tail_keys = head_keys(&reversed(&rest), s, &(all - &h));
    let middle = only(&rest, &tail_keys, false);
    let mut items = t(&only(e, &h, true));
    items.push(inner(&middle, s));
    items.extend(t(&only(&rest, &tail_keys, true)));
    items
}

fn inner(e: &[Events], s: char) -> Node {
    // z0 n1 z1 … nk zk of each execution.
    let mut zs: Vec<(Vec<Events>, Vec<usize>)> = vec![];
    for x in e {
        let (mut z, mut n) = (vec![vec![]], vec![]);
        for run in x.chunk_by(|a, b| a == b) {
            if run[0] == s {
                n.push(run.len());
                z.push(vec![]);
            } else {
                z.last_mut().expect("a part").extend(run);
            }
        }
        zs.push((z, n));
    }
    let f: BTreeSet<char> = zs.iter().flat_map(|(z, _)| z[0].clone()).collect();
    let l: BTreeSet<char> =
        zs.iter().filter(|(_, n)| !n.is_empty()).flat_map(|(z, n)| z[n.len()].clone()).collect();
    let cut = (!l.is_empty() && l.is_disjoint(&f)).then(|| iterations(&zs, Some(&l))).filter(|(all, _)| {
        let xs: BTreeSet<char> = all.iter().flat_map(|i| i.0.clone()).collect();
        all.iter().all(|i| i.2.iter().all(|key| !xs.contains(key)))
    });
    let (all, counts) = cut.unwrap_or_else(|| iterations(&zs, None));
    let mut body = t(&all.iter().map(|i| i.0.clone()).collect::<Vec<_>>());
    body.push(Node { counts: all.iter().map(|i| i.1).collect(), key: Some(s), body: vec![] });
    body.extend(t(&all.iter().map(|i| i.2.clone()).collect::<Vec<_>>()));
    Node { counts, key: None, body }
}

type Iteration = (Events, usize, Events);

fn iterations(zs: &[(Vec<Events>, Vec<usize>)], l: Option<&BTreeSet<char>>) -> (Vec<Iteration>, Vec<usize>) {
    let (mut all, mut counts) = (vec![], vec![]);
    for (z, n) in zs {
        let before = all.len();
        let mut x = z[0].clone();
        for (index, &n_s) in n.iter().enumerate() {
            let next = &z[index + 1];
            let at = match l {
                Some(_) if index + 1 == n.len() => next.len(),
                Some(l) => next.iter().rposition(|key| l.contains(key)).map_or(0, |at| at + 1),
                None => 0,
            };
            all.push((x, n_s, next[..at].to_vec()));
            x = next[at..].to_vec();
        }
        if !x.is_empty() {
            all.push((x, 0, vec![]));
        }
        counts.push(all.len() - before);
    }
    (all, counts)
}
