//! What to change: what `iotrail advise` finds, for the page.

use crate::data::{Bounded, NameId};
use crate::name_table::NameTable;
use crate::options::ReportOptions;
use iotrail_advise::{Advice, Item, Proof, Severity};
use serde::Serialize;

/// A piece of advice, in sentences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageAdvice {
    /// Name of the rule.
    pub rule: &'static str,
    /// What was found.
    pub title: NameId,
    /// By how much the elapsed time may shrink, ns; NULL if that is not known.
    pub at_stake_ns: Option<u64>,
    /// That, as a share of the elapsed time.
    pub share: Option<f64>,
    /// By that share.
    pub severity: Severity,
    /// Whether the answer names it.
    pub foremost: bool,
    /// What to change.
    pub fix: String,
    /// What is taken for granted, of habits.
    pub assumes: Option<&'static str>,
    /// Calls less, and the time that they take wherever that is, ns.
    pub saved_calls: u64,
    /// See `saved_calls`.
    pub saved_ns: Option<u64>,
    /// What an experiment said: how many times as fast the advised calls were, the least and the most of a run, the number of runs,
    /// the state of the page cache.
    pub measured: Option<(f64, f64, f64, u64, String)>,
    /// The process of a call to look at, and the number of that call in its case.
    pub example: (u32, u64),
}

/// What the page says of advice, most at stake first.
pub(crate) fn page_advice(
    advice: &Advice,
    options: &ReportOptions,
    names: &mut NameTable,
) -> Bounded<PageAdvice> {
    let limits = &options.limits;
    let (items, foremost) = (advice.items(), advice.foremost().count());
    let list = items.iter().take(limits.advice).enumerate();
    let list = list.map(|(index, item)| PageAdvice {
        rule: item.rule(),
        title: names.id(&item.title()),
        at_stake_ns: item.at_stake_ns(),
        share: item.share(),
        severity: item.severity(),
        foremost: index < foremost,
        fix: item.fix().to_owned(),
        assumes: match item {
            Item::Finding(_) => None,
            Item::Habit(habit) => Some(habit.assumes),
        },
        saved_calls: item.saved_calls(),
        saved_ns: item.saved_ns(),
        measured: measured(&options.proofs, *item),
        example: (item.example().pid, item.example().first),
    });
    Bounded { list: list.collect(), more: items.len().saturating_sub(limits.advice) as u64 }
}

fn measured(proofs: &[Proof], item: Item<'_>) -> Option<(f64, f64, f64, u64, String)> {
    let proof = proofs.iter().find(|proof| proof.is_of(item))?;
    let measured = proof.measured.as_ref()?;
    Some((measured.ratio, measured.ratio_min, measured.ratio_max, measured.runs, measured.cache.clone()))
}
