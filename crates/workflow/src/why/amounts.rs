//! Time and calls by run, use, call and path, and in each of these by thread and image.
//!
//! A path through many processes has as many of the latter as it has calls: they are kept in lists, a third of what a table takes.

use super::account::{Amount, Key, Use};
use crate::waits::LineId;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CallId, PathId};
use std::collections::BTreeMap;

/// The amounts of all runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts(HashMap<Subject, Shares, RandomState>);

/// What time was used for, whoever used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Subject {
    run: u32,
    used: Use,
    call: Option<CallId>,
    path: Option<PathId>,
}

/// The amounts of a subject.
#[derive(Clone, Debug, Default)]
struct Shares {
    list: Vec<Share>,
    /// So many of the first ones are of different threads and images.
    distinct: usize,
}

/// The amount of a thread in an image.
#[derive(Clone, Copy, Debug)]
struct Share {
    line: LineId,
    image: u32,
    amount: Amount,
}

/// The amounts of one run, in the order of uses, calls, paths, threads and images.
#[derive(Clone, Debug, Default)]
pub(super) struct OfRun(Vec<(Subject, Shares)>);

impl Amounts {
    pub(super) fn add(&mut self, run: u32, key: Key, amount: Amount) {
        let subject = Subject { run, used: key.used, call: key.call, path: key.path };
        let share = Share { line: key.line, image: key.image, amount };
        self.0.entry(subject).or_default().add(share);
    }

    pub(super) fn into_runs(self) -> BTreeMap<u32, OfRun> {
        let mut runs: BTreeMap<u32, OfRun> = BTreeMap::new();
        for (subject, mut shares) in self.0 {
            shares.join();
            runs.entry(subject.run).or_default().0.push((subject, shares));
        }
        runs.values_mut().for_each(|run| run.0.sort_unstable_by_key(|(subject, _)| *subject));
        runs
    }

    #[cfg(test)]
    pub(super) fn time(&self) -> i64 {
        self.0.values().flat_map(|shares| &shares.list).map(|share| share.amount.time).sum()
    }
}

impl OfRun {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, Amount)> {
        self.0.iter().flat_map(|(subject, shares)| {
            let Subject { used, call, path, .. } = *subject;
            let key = move |share: &Share| Key { used, line: share.line, image: share.image, call, path };
            shares.list.iter().map(move |share| (key(share), share.amount))
        })
    }
}

impl Shares {
    fn add(&mut self, share: Share) {
        match self.list.last_mut() {
            Some(last) if (last.line, last.image) == (share.line, share.image) => {
                last.amount.add(share.amount)
            }
            _ => self.list.push(share),
        }
        if self.list.len() > 2 * self.distinct.max(16) {
            self.join();
        }
    }

    /// Joins the shares of each thread and image.
    fn join(&mut self) {
        self.list.sort_unstable_by_key(|share| (share.line, share.image));
        self.list.dedup_by(|next, kept| {
            let same = (next.line, next.image) == (kept.line, kept.image);
            if same {
                kept.amount.add(next.amount);
            }
            same
        });
        self.distinct = self.list.len();
    }
}
