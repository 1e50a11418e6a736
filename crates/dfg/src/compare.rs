//! What changed between two groups of cases, by time at stake.
//!
//! The paper compares by colour (section IV-C): exclusive to one group, exclusive to the other, or both. Most of what people
//! look for is in "both", so every activity and every relation that both have is compared by count, mean time and mean
//! size too. The difference of the time spent in an activity is divided between its causes without a rest: with
//! counts c and means m, c'm' - cm = (c' - c)(m + m')/2 + (m' - m)(c + c')/2; the first part is at stake for `more` and
//! `fewer`, the second for `slower` and `faster` (and for `larger` and `smaller`, which show in the time of each event). For
//! relations the time is the gap.

use crate::comparison::{COMPARISON_FORMAT, Change, ChangeKind, Comparison};
use crate::error::DfgError;
use crate::finish::Labels;
use crate::options::DfgOptions;
use crate::per_case::SummedCase;
use crate::plan::Plan;
use crate::result::{Dfg, END, START};
use crate::significance::{Divisions, Figure, LEVEL, Share, adjusted};
use crate::synthesize;
use crate::vertex::{Relation, Vertex};
use iotrail_query::{GroupId, Query};
use iotrail_trail::EventLog;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How many changes are tested, those with the largest time at stake.
pub const MAX_TESTED: usize = 1_000;

/// Compares group `b` with group `a`, the baseline. Cases of other groups are left out.
///
/// # Errors
/// If a group does not exist, both are the same, or the log cannot be read.
pub fn compare(
    log: &EventLog,
    query: &Query,
    a: &str,
    b: &str,
    options: &DfgOptions,
) -> Result<Comparison, DfgError> {
    let groups = [find(query, a)?, find(query, b)?];
    if groups[0] == groups[1] {
        return Err(DfgError::SameGroup(a.to_owned()));
    }
    let plan = Plan::comparing(log.cases().len(), groups, |case| query.group(case));
    let mut totals = synthesize::totals(log, query, plan, options)?;
    let cases = std::mem::take(&mut totals.summed_cases);
    let names = [a.to_owned(), b.to_owned()];
    let dfg = synthesize::graph(log, query, totals, &names, options);
    Ok(comparison(cases, dfg, &query.activities()))
}

fn find(query: &Query, name: &str) -> Result<GroupId, DfgError> {
    let place = query.groups().iter().position(|group| group == name);
    place
        .map(|place| GroupId(place as u32))
        .ok_or_else(|| DfgError::UnknownGroup { name: name.to_owned(), known: query.groups().to_vec() })
}

/// The comparison of the two groups of `dfg`, given the sums of each case.
pub(crate) fn comparison(mut cases: Vec<SummedCase>, dfg: Dfg, activities: &[String]) -> Comparison {
    cases.sort_unstable_by_key(|case| (case.slot, case.key));
    let observed: Vec<bool> = cases.iter().map(|case| case.slot == 2).collect();
    let second = observed.iter().filter(|second| **second).count() as u64;
    let sizes = Sizes { a: observed.len() as u64 - second, b: second };
    let labels = Labels { activities, groups: &[], case_name: &|key| key.to_string() };
    let mut found: Vec<Found> = elements(&cases)
        .iter()
        .flat_map(|(element, sums)| changes(*element, sums, &observed, sizes, &labels))
        .collect();
    found.sort_by(|x, y| x.change.order(&y.change));
    let permutations = test(&mut found, observed);
    let name = |place: usize| dfg.groups.get(place).map_or_else(String::new, |group| group.name.clone());
    Comparison {
        format: COMPARISON_FORMAT.to_owned(),
        a: name(0),
        b: name(1),
        per_case: sizes.a != sizes.b,
        permutations,
        changes: found.into_iter().map(|found| found.change).collect(),
        dfg,
    }
}

/// An activity or a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Activity(u32),
    Relation(Relation),
}

/// An element within one case.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    case: u32,
    count: u64,
    /// Occurrences whose time is known, and the sum of their times.
    timed: u64,
    time: i128,
    /// Occurrences whose size is known, and the sum of their sizes.
    sized: u64,
    bytes: u64,
}

/// Numbers of cases.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    a: u64,
    b: u64,
}

/// A change and what its test needs.
struct Found {
    change: Change,
    figure: Figure,
    shares: Vec<Share>,
}

fn elements(cases: &[SummedCase]) -> BTreeMap<Element, Vec<Sum>> {
    let mut elements: BTreeMap<Element, Vec<Sum>> = BTreeMap::new();
    for (case, summed) in cases.iter().enumerate() {
        let case = case as u32;
        for (&activity, sum) in &summed.sums.nodes {
            elements.entry(Element::Activity(activity)).or_default().push(Sum {
                case,
                count: sum.count,
                timed: sum.timed,
                time: sum.duration.into(),
                sized: sum.sized,
                bytes: sum.bytes,
            });
        }
        for (&relation, sum) in &summed.sums.edges {
            let sum = Sum { case, count: sum.count, timed: sum.gaps, time: sum.gap_sum, ..Sum::default() };
            elements.entry(Element::Relation(relation)).or_default().push(sum);
        }
    }
    elements
}

/// An element within one group.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    count: u64,
    timed: u64,
    time: i128,
    sized: u64,
    bytes: u64,
}

impl Side {
    fn add(&mut self, sum: &Sum) {
        self.count += sum.count;
        self.timed += sum.timed;
        self.time += sum.time;
        self.sized += sum.sized;
        self.bytes = self.bytes.saturating_add(sum.bytes);
    }

    fn mean_time(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.time as f64 / self.timed as f64)
    }

    fn mean_size(&self) -> Option<f64> {
        (self.sized > 0).then(|| self.bytes as f64 / self.sized as f64)
    }
}

fn changes(
    element: Element,
    sums: &[Sum],
    observed: &[bool],
    sizes: Sizes,
    labels: &Labels<'_>,
) -> Vec<Found> {
    let (mut a, mut b) = (Side::default(), Side::default());
    for sum in sums {
        if observed[sum.case as usize] { b.add(sum) } else { a.add(sum) }
    }
    // As many cases as the second group has, so that the time at stake is that group's.
    let scale = if sizes.a == sizes.b || sizes.a == 0 { 1.0 } else { sizes.b as f64 / sizes.a as f64 };
    let (count_a, count_b) = (a.timed as f64 * scale, b.timed as f64);
    let (mean_a, mean_b) = (a.mean_time(), b.mean_time());
    let either = |mean: Option<f64>, other: Option<f64>| mean.or(other).unwrap_or(0.0);
    let (filled_a, filled_b) = (either(mean_a, mean_b), either(mean_b, mean_a));
    let by_count = (count_b - count_a) * (filled_a + filled_b) / 2.0;
    let by_time = (filled_b - filled_a) * (count_a + count_b) / 2.0;

    let per_case = |count: u64, cases: u64| {
        if sizes.a == sizes.b { count as f64 } else { count as f64 / cases.max(1) as f64 }
    };
    let counts = (per_case(a.count, sizes.a), per_case(b.count, sizes.b));
    let count_kind = match (a.count, b.count) {
        (0, _) => ChangeKind::New,
        (_, 0) => ChangeKind::Gone,
        _ if counts.1 > counts.0 => ChangeKind::More,
        _ => ChangeKind::Fewer,
    };
    let count_shares = || shares(sums, |sum| (sum.count.into(), 0));
    let mut found =
        vec![row(element, count_kind, "count", counts, by_count, labels, (Figure::PerCase, count_shares()))];
    if let (Some(mean_a), Some(mean_b)) = (mean_a, mean_b) {
        let kind = if mean_b > mean_a { ChangeKind::Slower } else { ChangeKind::Faster };
        let measure = if matches!(element, Element::Activity(_)) { "duration_ns" } else { "gap_ns" };
        let shares = shares(sums, |sum| (sum.time, sum.timed));
        found.push(row(element, kind, measure, (mean_a, mean_b), by_time, labels, (Figure::Mean, shares)));
    }
    if let (Some(size_a), Some(size_b)) = (a.mean_size(), b.mean_size()) {
        let kind = if size_b > size_a { ChangeKind::Larger } else { ChangeKind::Smaller };
        let shares = shares(sums, |sum| (sum.bytes.into(), sum.sized));
        found.push(row(element, kind, "bytes", (size_a, size_b), by_time, labels, (Figure::Mean, shares)));
    }
    found.retain(|found| found.change.difference != 0.0);
    found
}

fn shares(sums: &[Sum], of: impl Fn(&Sum) -> (i128, u64)) -> Vec<Share> {
    let share = |sum: &Sum| {
        let (numerator, denominator) = of(sum);
        Share { case: sum.case, numerator, denominator }
    };
    sums.iter().map(share).collect()
}

fn row(
    element: Element,
    kind: ChangeKind,
    measure: &str,
    (value_a, value_b): (f64, f64),
    time_at_stake_ns: f64,
    labels: &Labels<'_>,
    (figure, shares): (Figure, Vec<Share>),
) -> Found {
    let (activity, to) = match element {
        Element::Activity(activity) => (labels.vertex(Vertex::activity(activity), START), None),
        Element::Relation(relation) => {
            (labels.vertex(relation.from, START), Some(labels.vertex(relation.to, END)))
        }
    };
    let change = Change {
        kind,
        activity,
        to,
        measure: measure.to_owned(),
        value_a,
        value_b,
        difference: value_b - value_a,
        ratio: (value_a != 0.0).then(|| value_b / value_a),
        time_at_stake_ns,
        p_value: None,
        noise: None,
    };
    Found { change, figure, shares }
}

impl Change {
    /// Largest time at stake first; then what is only in one group, activities before relations, by name.
    fn order(&self, other: &Self) -> Ordering {
        let stake = other.time_at_stake_ns.abs().total_cmp(&self.time_at_stake_ns.abs());
        let key = |change: &Self| {
            let exclusive = matches!(change.kind, ChangeKind::New | ChangeKind::Gone);
            (!exclusive, change.to.clone(), change.activity.clone(), change.measure.clone())
        };
        stake.then_with(|| key(self).cmp(&key(other)))
    }
}

/// Tests the first changes and answers how many divisions of the cases the p-values rest on.
fn test(found: &mut [Found], observed: Vec<bool>) -> u64 {
    let tested = found.len().min(MAX_TESTED);
    let found = &mut found[..tested];
    let divisions = Divisions::new(observed, found.iter().map(|found| found.shares.len() as u64).sum());
    let p_values: Option<Vec<f64>> =
        found.iter().map(|found| divisions.p_value(&found.shares, found.figure)).collect();
    let Some(p_values) = p_values else { return 0 };
    let can_tell = divisions.smallest_p() <= LEVEL;
    for ((found, p_value), adjusted) in found.iter_mut().zip(&p_values).zip(adjusted(&p_values)) {
        found.change.p_value = Some(*p_value);
        // Between the two, the groups are too small for so many tests, which is no sign of noise.
        found.change.noise = match (*p_value > LEVEL, adjusted > LEVEL) {
            _ if !can_tell => None,
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => None,
        };
    }
    divisions.count()
}
