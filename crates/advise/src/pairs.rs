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
use serde::Serialize;
use std::collections::HashMap;

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
    /// Why.
    pub reason: Reason,
    /// The access that decided.
    pub by: Option<u32>,
}

/// All pairs of a file, sorted by their second access.
pub(crate) fn pairs(looking: &Looking<'_>, rules: Rules) -> Vec<Pair> {
    let asks = Asks::of(looking);
    let mut found = Vec::with_capacity(asks.pairs.len());
    let latest = |takes: Takes, asks: &[Ask]| looking.before(takes, asks);
    let any = latest(Takes::Everything, &asks.of_all);
    let unknown_writes = latest(Takes::UnknownWrites, &asks.of_all);
    let unknown = latest(Takes::Unknown, &asks.of_all);
    let reads = latest(Takes::Reads, if rules == Rules::Article { &asks.of_all } else { &asks.visible });
    let (writes, any_write, seeks) = match rules {
        Rules::Article => {
            let [writes, any, seeks] =
                [Takes::Writes, Takes::AnyWrite, Takes::Seeks].map(|takes| latest(takes, &asks.of_all));
            (writes, any, seeks)
        }
        Rules::Corrected => {
            let [writes, others] =
                [Takes::VisibleWrites, Takes::Writes].map(|takes| latest(takes, &asks.of_all));
            (writes, others, vec![None; asks.of_all.len()])
        }
    };
    for (place, (first, second)) in asks.pairs.iter().enumerate() {
        let (first, second) = (*first, *second);
        let begin = looking.access(first).start;
        // What ended before the first began is not between.
        let between = |found: &[Option<u32>]| found[place].filter(|at| looking.time(*at).1 >= begin);
        let writing = looking.access(first).kind == Kind::Write;
        let stops = if writing {
            [
                (between(&any_write), Reason::Write),
                (between(&reads), Reason::Read),
                (between(&seeks), Reason::Seek),
            ]
        } else {
            [(between(&writes), Reason::Write), (None, Reason::Read), (None, Reason::Seek)]
        };
        let stop = stops.into_iter().find_map(|(at, reason)| Some((at?, reason)));
        let not_known = between(if writing { &unknown } else { &unknown_writes });
        let begun = |at: u32| looking.access(at).start;
        let (category, reason, by) = match (stop, not_known) {
            // The first of them decides.
            (Some((at, _)), Some(other)) if begun(other) < begun(at) => {
                (Category::Unknown, Reason::UnknownEffect, Some(other))
            }
            (Some((at, reason)), _) => (Category::Impossible, reason, Some(at)),
            (None, Some(at)) => (Category::Unknown, Reason::UnknownEffect, Some(at)),
            (None, None) => match between(&any) {
                Some(at) => (Category::Possible, Reason::NothingInTheWay, Some(at)),
                None => (Category::Easy, Reason::NothingBetween, None),
            },
        };
        found.push(Pair { first, second, category, reason, by });
    }
    found
}

struct Asks {
    pairs: Vec<(u32, u32)>,
    of_all: Vec<Ask>,
    /// The same with the bytes that readers see changing.
    visible: Vec<Ask>,
}

impl Asks {
    fn of(looking: &Looking<'_>) -> Self {
        let (mut pairs, mut of_all, mut visible) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: HashMap<_, u32> = HashMap::new();
        for (at, access) in looking.file.accesses.iter().enumerate() {
            if !access.is_transfer() {
                continue;
            }
            let Some(first) = last.insert(access.description, at as u32) else { continue };
            let before = looking.access(first);
            if before.kind == access.kind
                && before.mergeable
                && access.mergeable
                && before.pid == access.pid
                && before.end <= access.start
            {
                let (low, high) = (before.low.min(access.low), before.high.max(access.high));
                let ask = Ask { by: at as u32, low, high, moment: access.end };
                of_all.push(ask);
                let from = looking.visible(first).0.min(looking.visible(at as u32).0);
                visible.push(Ask { low: low.min(from), ..ask });
                pairs.push((first, at as u32));
            }
        }
        Self { pairs, of_all, visible }
    }
}
