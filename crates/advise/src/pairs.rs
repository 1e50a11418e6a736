//! Pairs: two consecutive accesses of the same direction through one description, and whether they could be one, after the article.
//!
//! | repeated | call between | result |
//! |---|---|---|
//! | any | none | 1 |
//! | any | one whose effect is not known | 3 |
//! | read | a write to bytes of the pair | 0 |
//! | write | a read of or write to bytes of the pair | 0 |
//! | any | others only | 2 |
//!
//! The bytes of a pair are all from its first to its last one. As the article has it ([`Rules::Article`]), any write at all and a seek into
//! these bytes keep two writes apart, too.

use crate::access::Kind;
use crate::file::{Ask, Looking, Takes};
use crate::near::Near;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Serialize;

/// Whose table decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// What does not change a result does not matter.
    #[default]
    Corrected,
    /// The article's.
    Article,
}

/// The article's categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// 0: not possible.
    Impossible = 0,
    /// 1: nothing is in between.
    Easy = 1,
    /// 2: possible although calls are in between.
    Possible = 2,
    /// 3: not known.
    Unknown = 3,
}

/// Why a pair is of its category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing is in between.
    NothingBetween,
    /// What is in between does not touch the bytes, or only reads what is read.
    NothingInTheWay,
    /// A write touches the bytes.
    Write,
    /// A read touches bytes that are written.
    Read,
    /// A seek goes to bytes that are written (the article's table).
    Seek,
    /// The effect of a call is not known.
    UnknownEffect,
}

/// Two consecutive accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index of the first.
    pub first: u32,
    /// Index of the second.
    pub second: u32,
    /// What became of it.
    pub category: Category,
    /// Which condition the pair meets, or why it fails.
    pub reason: Reason,
    /// The access that decided.
    pub by: Option<u32>,
}

/// All pairs of a file, sorted by their second access.
pub(crate) fn pairs(looking: &Looking<'_>, rules: Rules) -> Vec<Pair> {
    let near = Near::of(looking);
    let (mut found, mut far) = (Vec::new(), Vec::new());
    for two in Two::all(looking) {
        let between = near.between(looking, rules, two);
        if between.is_none() {
            far.push((found.len(), two));
        }
        found.push(pair(looking, two, &between.unwrap_or_default()));
    }
    let asked: Vec<Two> = far.iter().map(|(_, two)| *two).collect();
    for ((index, two), between) in far.into_iter().zip(Between::of(looking, rules, &asked)) {
        found[index] = pair(looking, two, &between);
    }
    found
}

/// What became of two accesses.
fn pair(looking: &Looking<'_>, Two { first, second }: Two, between: &Between) -> Pair {
    let writing = looking.access(first).kind == Kind::Write;
    let stops = if writing {
        [(between.any_write, Reason::Write), (between.reads, Reason::Read), (between.seeks, Reason::Seek)]
    } else {
        [(between.writes, Reason::Write), (None, Reason::Read), (None, Reason::Seek)]
    };
    let stop = stops.into_iter().find_map(|(at, reason)| Some((at?, reason)));
    let not_known = if writing { between.unknown } else { between.unknown_writes };
    let begun = |at: u32| looking.access(at).start;
    let (category, reason, by) = match (stop, not_known) {
        // The first of them decides.
        (Some((at, _)), Some(other)) if begun(other) < begun(at) => {
            (Category::Unknown, Reason::UnknownEffect, Some(other))
        }
        (Some((at, reason)), _) => (Category::Impossible, reason, Some(at)),
        (None, Some(at)) => (Category::Unknown, Reason::UnknownEffect, Some(at)),
        (None, None) => match between.any {
            Some(at) => (Category::Possible, Reason::NothingInTheWay, Some(at)),
            None => (Category::Easy, Reason::NothingBetween, None),
        },
    };
    Pair { first, second, category, reason, by }
}

/// Two consecutive accesses that could be a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Two {
    pub(crate) first: u32,
    pub(crate) second: u32,
}

impl Two {
    fn all<'a>(looking: &'a Looking<'_>) -> impl Iterator<Item = Self> + 'a {
        let mut last: HashMap<_, u32, RandomState> = HashMap::default();
        looking.file.accesses.iter().enumerate().filter_map(move |(index, access)| {
            if !access.is_transfer() {
                return None;
            }
            let first = last.insert(access.description, index as u32)?;
            let before = looking.access(first);
            let is_pair = before.kind == access.kind
                && before.mergeable
                && access.mergeable
                && before.pid == access.pid
                && before.end <= access.start;
            is_pair.then_some(Self { first, second: index as u32 })
        })
    }

    /// All bytes from its first to its last one.
    pub(crate) fn bytes(self, looking: &Looking<'_>) -> (u64, u64) {
        let [a, b] = [self.first, self.second].map(|at| looking.access(at));
        (a.low.min(b.low), a.high.max(b.high))
    }

    /// The same with those that readers see changing.
    pub(crate) fn visible(self, looking: &Looking<'_>) -> (u64, u64) {
        let (low, high) = self.bytes(looking);
        let from = looking.visible(self.first).0.min(looking.visible(self.second).0);
        (low.min(from), high)
    }
}

/// Of the foreign accesses that are not over when a pair begins, and begin before it is over, those that ended last: of all, and of
/// those that touch its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Between {
    pub(crate) any: Option<u32>,
    pub(crate) unknown: Option<u32>,
    pub(crate) unknown_writes: Option<u32>,
    pub(crate) reads: Option<u32>,
    /// In the way of reads.
    pub(crate) writes: Option<u32>,
    /// In the way of writes.
    pub(crate) any_write: Option<u32>,
    pub(crate) seeks: Option<u32>,
}

impl Between {
    /// Which accesses are in the way by these rules: of reads (visibly changing their bytes or not), writes of reads, writes of
    /// writes, and whether seeks are.
    pub(crate) fn takes(rules: Rules) -> (bool, Takes, Takes, bool) {
        match rules {
            Rules::Article => (false, Takes::Writes, Takes::AnyWrite, true),
            Rules::Corrected => (true, Takes::VisibleWrites, Takes::Writes, false),
        }
    }

    /// By sweeps over all accesses, whatever lies between.
    fn of(looking: &Looking<'_>, rules: Rules, pairs: &[Two]) -> Vec<Self> {
        if pairs.is_empty() {
            return Vec::new();
        }
        let (visible, writes_of_reads, writes_of_writes, seeks) = Self::takes(rules);
        let asks = |bytes: &dyn Fn(Two) -> (u64, u64)| -> Vec<Ask> {
            let ask = |two: &Two| {
                let (low, high) = bytes(*two);
                Ask { by: two.second, low, high, moment: looking.access(two.second).end }
            };
            pairs.iter().map(ask).collect()
        };
        let whole = asks(&|two| two.bytes(looking));
        let seen = if visible { asks(&|two| two.visible(looking)) } else { whole.clone() };
        let mut found = vec![Self::default(); pairs.len()];
        let mut put = |takes: Takes, asks: &[Ask], place: fn(&mut Self) -> &mut Option<u32>| {
            for ((between, two), at) in found.iter_mut().zip(pairs).zip(looking.before(takes, asks)) {
                // What ended before the first began is not between.
                let begin = looking.access(two.first).start;
                *place(between) = at.filter(|at| looking.time(*at).1 >= begin);
            }
        };
        put(Takes::Everything, &whole, |between| &mut between.any);
        put(Takes::Unknown, &whole, |between| &mut between.unknown);
        put(Takes::UnknownWrites, &whole, |between| &mut between.unknown_writes);
        put(Takes::Reads, &seen, |between| &mut between.reads);
        put(writes_of_reads, &whole, |between| &mut between.writes);
        put(writes_of_writes, &whole, |between| &mut between.any_write);
        if seeks {
            put(Takes::Seeks, &whole, |between| &mut between.seeks);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, Description, DescriptionId};
    use crate::file::FileAccesses;
    use iotrail_model::{CallId, CaseId, Pid, Tid};
    use proptest::prelude::*;

    fn access() -> impl Strategy<Value = Access> {
        (0_i64..60, 0_i64..12, 0_u64..40, 1_u64..9, 0_u32..4, 0_usize..12).prop_map(
            |(start, length, low, bytes, owner, kind)| {
                let kind = match kind {
                    0 => Kind::UnknownWrite,
                    1 => Kind::UnknownRead,
                    2 => Kind::Seek,
                    3..=7 => Kind::Read,
                    _ => Kind::Write,
                };
                let (low, high) = if kind.is_unknown() { (0, u64::MAX) } else { (low, low + bytes) };
                Access {
                    start,
                    end: start + length,
                    low,
                    high,
                    seq: 0,
                    description: if owner == 3 { DescriptionId::NONE } else { DescriptionId(owner) },
                    tid: Tid(owner),
                    pid: Pid(owner),
                    call: CallId(0),
                    kind,
                    mergeable: matches!(kind, Kind::Read | Kind::Write),
                    syncs: false,
                    timed: true,
                }
            },
        )
    }

    proptest! {
        /// What lies between is the same however it is looked for.
        #[test]
        fn what_is_near_is_what_sweeps_find(
            mut accesses in prop::collection::vec(access(), 0..40),
            appends in any::<[bool; 3]>(),
            skew in prop::sample::select(vec![0_i64, 0, 3]),
        ) {
            accesses.sort_by_key(|access| access.start);
            accesses.iter_mut().enumerate().for_each(|(at, access)| access.seq = at as u64);
            let file = FileAccesses { accesses, skew, ..FileAccesses::default() };
            let descriptions = appends.map(|appends| Description { case: CaseId(0), pid: Pid(0), appends, syncs: false });
            let looking = Looking::new(&file, &descriptions);
            let near = Near::of(&looking);
            let all: Vec<Two> = Two::all(&looking).collect();
            for rules in [Rules::Corrected, Rules::Article] {
                for (two, swept) in all.iter().zip(Between::of(&looking, rules, &all)) {
                    let found = near.between(&looking, rules, *two);
                    // Of several that ended at the same time either may be named.
                    let ends = |between: Between| {
                        let Between { any, unknown, unknown_writes, reads, writes, any_write, seeks } = between;
                        [any, unknown, unknown_writes, reads, writes, any_write, seeks]
                            .map(|at| at.map(|at| looking.time(at).1))
                    };
                    prop_assert_eq!(found.map(ends), Some(ends(swept)), "{:?} {:?}", two, rules);
                }
            }
        }
    }
}
