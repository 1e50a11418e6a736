//! Small pieces of many files become pieces of the directories that they are in.

use super::account::Amount;
use crate::waits::LineId;
use iotrail_model::CallId;
use std::collections::BTreeMap;

/// What is known of a file, or of the files below a directory.
pub(crate) trait Pile: Default {
    /// What decides whether it has a row of its own.
    fn weight(&self) -> i64;

    /// How many files are joined; 0 if it is one file, or nothing with a name.
    fn joined(&self) -> u64;

    /// Adds a file of that name, or a directory.
    fn join(&mut self, other: Self, name: Option<String>);

    /// As a single file, the last one that was joined.
    fn single(self) -> (Option<String>, Self);
}

/// Time of calls on a file, or on the files below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heap {
    pub(super) amount: Amount,
    /// Files that are joined; 0 if it is one file, or nothing with a name.
    pub(super) joined: u64,
    /// The last file that was joined.
    last: Option<String>,
    pub(super) calls: BTreeMap<Option<CallId>, Amount>,
    pub(super) lines: BTreeMap<LineId, i64>,
}

impl Heap {
    pub(super) fn add(&mut self, call: Option<CallId>, line: LineId, amount: Amount) {
        self.amount.add(amount);
        self.calls.entry(call).or_default().add(amount);
        *self.lines.entry(line).or_default() += amount.time;
    }
}

impl Pile for Heap {
    fn weight(&self) -> i64 {
        self.amount.time
    }

    fn joined(&self) -> u64 {
        self.joined
    }

    fn single(self) -> (Option<String>, Self) {
        (self.last.clone(), Self { joined: 0, ..self })
    }

    fn join(&mut self, other: Self, name: Option<String>) {
        self.last = other.last.or(name);
        self.amount.add(other.amount);
        self.joined += other.joined.max(1);
        other.calls.into_iter().for_each(|(call, amount)| self.calls.entry(call).or_default().add(amount));
        other.lines.into_iter().for_each(|(line, time)| *self.lines.entry(line).or_default() += time);
    }
}

/// By name, files apart from directories that stand for what is below them.
pub(crate) type Piles<P> = BTreeMap<(Option<String>, bool), P>;

/// The same of calls.
pub(super) type Heaps = Piles<Heap>;

/// Moves what takes less than `least` up to its directory, the deepest first, until it weighs enough or has no name left.
pub(crate) fn fold<P: Pile>(mut heaps: Piles<P>, least: i64) -> Piles<P> {
    let deepest = heaps.keys().filter_map(|(name, _)| name.as_deref().map(depth)).max().unwrap_or(0);
    for level in (1..=deepest).rev() {
        let is_light = |(name, _): &(Option<String>, bool), heap: &P| {
            heap.weight() < least && name.as_deref().is_some_and(|name| depth(name) == level)
        };
        let light: Vec<_> =
            heaps.iter().filter(|(key, heap)| is_light(key, heap)).map(|(key, _)| key.clone()).collect();
        for key in light {
            let Some(heap) = heaps.remove(&key) else { continue };
            let above = key.0.as_deref().and_then(above).map(str::to_owned);
            heaps.entry((above, true)).or_default().join(heap, key.0);
        }
    }
    let (joined, whole): (Piles<P>, Piles<P>) = heaps.into_iter().partition(|(_, heap)| heap.joined() == 1);
    let named = joined.into_values().map(|heap| {
        let (name, heap) = heap.single();
        ((name, false), heap)
    });
    whole.into_iter().chain(named).collect()
}

/// The directory that a name is in, or the kind of what has no path: `pipe` of `pipe:[7]`.
fn above(name: &str) -> Option<&str> {
    let root = root(name);
    match root {
        0 if name == "." => None,
        0 => name.split_once(':').map(|(kind, _)| kind),
        _ => match name[root..].rfind('/') {
            Some(at) => Some(&name[..root + at]).filter(|above| above.len() > 1),
            None => Some(&name[..root - 1]).filter(|above| !above.is_empty()),
        },
    }
}

/// The length of what a path begins with: `/`, or `./` below the working directory.
fn root(name: &str) -> usize {
    ["/", "./"].into_iter().find(|root| name.starts_with(root)).map_or(0, str::len)
}

fn depth(name: &str) -> usize {
    match root(name) {
        0 => 1 + usize::from(name.contains(':')),
        root => root + name[root..].bytes().filter(|byte| *byte == b'/').count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(time: i64) -> Heap {
        let mut heap = Heap::default();
        heap.add(None, LineId::default(), Amount { time, calls: 1 });
        heap
    }

    fn folded(files: &[(&str, i64)], least: i64) -> Vec<(Option<String>, i64, u64)> {
        let heaps =
            files.iter().map(|(name, time)| ((Some((*name).to_owned()), false), heap(*time))).collect();
        let sorted =
            fold(heaps, least).into_iter().map(|((name, _), heap)| (name, heap.amount.time, heap.joined));
        sorted.collect()
    }

    #[test]
    fn what_weighs_little_moves_up_until_it_weighs_enough() {
        let files = [
            ("/usr/lib/a", 3),
            ("/usr/lib/b", 4),
            ("/usr/x", 1),
            ("/data/big", 90),
            ("pipe:[1]", 1),
            ("pipe:[2]", 1),
        ];
        let name = |text: &str| Some(text.to_owned());
        let folded = folded(&files, 5);
        assert!(folded.contains(&(name("/data/big"), 90, 0)));
        assert!(folded.contains(&(name("/usr/lib"), 7, 2)));
        assert!(folded.contains(&(None, 3, 3)), "{folded:?}");
    }

    #[test]
    fn a_file_that_is_joined_with_no_other_keeps_its_name() {
        assert_eq!(
            folded(&[("/usr/bin/x", 1), ("/a/b", 9)], 5).last().unwrap().0.as_deref(),
            Some("/usr/bin/x")
        );
    }

    #[test]
    fn what_is_below_the_working_directory_moves_up_to_it() {
        let files = [("./a/x", 1), ("./b", 1), ("./c/d/e", 9), ("/x", 1)];
        let folded = folded(&files, 2);
        assert!(folded.contains(&(Some(".".to_owned()), 2, 2)), "{folded:?}");
        assert!(folded.contains(&(Some("./c/d/e".to_owned()), 9, 0)), "{folded:?}");
    }

    #[test]
    fn nothing_is_lost() {
        let files = [("/a/b/c", 1), ("/a/b", 1), ("/a", 1), ("x", 1), ("//", 1), ("/", 1), ("", 1)];
        for least in 0..9 {
            assert_eq!(folded(&files, least).iter().map(|(_, time, _)| time).sum::<i64>(), 7, "{least}");
        }
    }
}
