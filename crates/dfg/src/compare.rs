//! What changed between two groups of runs, by time at stake.
//!
//! The paper compares by colour (section IV-C): exclusive to one group, exclusive to the other, or both. Most of what people
//! look for is in "both", so every activity and every relation that both have is compared by count, mean time and mean
//! size too, in figures of a run. The difference of the time spent in an activity is divided between its causes without a rest:
//! with counts c and means m, c'm' - cm = (c' - c)(m + m')/2 + (m' - m)(c + c')/2; the first part is at stake for `more` and
//! `fewer`, the second for `slower` and `faster` (and for `larger` and `smaller`, which show in the time of each event). For
//! relations the time is the gap.

use crate::accumulate::Accumulator;
use crate::activity_change::{ActivityChange, Pair};
use crate::comparison::{COMPARISON_FORMAT, Chance, Change, ChangeKind, Comparison, Unit};
use crate::error::DfgError;
use crate::finish::Labels;
use crate::open_cases::{ClosedCases, OpenCases};
use crate::options::DfgOptions;
use crate::plan::Plan;
use crate::result::{Dfg, END, START};
use crate::runs::{CaseFacts, Holders, Run, runs, unit};
use crate::significance::{self, Hypothesis, LEVEL, Tested};
use crate::summation::Summation;
use crate::synthesize;
use crate::vertex::{Relation, Vertex};
use iotrail_model::{CaseId, Pid};
use iotrail_query::{GroupId, Pass, Query, Rows, runs_of_cases, scan};
use iotrail_trail::{Columns, EventLog};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// How many activities are tested at most, and which share of all time or of all events makes one worth a test. What is
/// tested must not depend on the groups, or the p-values would not mean what they say.
const TESTED_ACTIVITIES: (usize, f64) = (200, 0.001);
/// The same of transitions, by gaps and occurrences.
const TESTED_TRANSITIONS: (usize, f64) = (100, 0.01);
/// Shares of the level that the elapsed time, the activities and the transitions have, with and without an elapsed time. Four runs
/// against four reach 2/70, which the share of the elapsed time allows.
const SHARES: [[f64; 3]; 2] = [[0.0, 0.8, 0.2], [0.6, 0.32, 0.08]];

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
    let contrast = Contrast::new(log, query, a, b, *options)?;
    Ok(scan(log, Some(query), options.threads, &contrast)?)
}

/// The pass that makes a [`Comparison`].
#[derive(Debug)]
pub struct Contrast<'a> {
    sums: Summation,
    log: &'a EventLog,
    query: &'a Query,
    groups: [GroupId; 2],
    names: [String; 2],
    holders: Holders<'a>,
    /// By case, whether no process is known of it.
    without_process: Vec<bool>,
    /// By case, the elapsed time of the processes of which it is the first case.
    elapsed: Vec<Option<i64>>,
    options: DfgOptions,
}

impl<'a> Contrast<'a> {
    /// Of group `b` with group `a`, the baseline.
    ///
    /// # Errors
    /// If a group does not exist, both are the same, or the table of processes cannot be read.
    pub fn new(
        log: &'a EventLog,
        query: &'a Query,
        a: &str,
        b: &str,
        options: DfgOptions,
    ) -> Result<Self, DfgError> {
        let groups = [find(query, a)?, find(query, b)?];
        if groups[0] == groups[1] {
            return Err(DfgError::SameGroup(a.to_owned()));
        }
        let plan = Plan::comparing(log.cases().len(), groups, |case| query.group(case));
        let (sums, names) = (Summation::new(log, plan), [a.to_owned(), b.to_owned()]);
        let holders = Holders::new(log)?;
        let without_process = holders.without_process();
        let elapsed = Vec::new();
        Ok(Self { sums, log, query, groups, names, holders, without_process, elapsed, options })
    }

    /// Tests the elapsed times as well: by case, that of the processes of which it is the first case.
    #[must_use]
    pub fn with_elapsed(self, elapsed: Vec<Option<i64>>) -> Self {
        Self { elapsed, ..self }
    }

    /// The slot of the plan of a case that is compared.
    fn slot(&self, case: CaseId) -> Option<usize> {
        let group = self.query.group(case).filter(|_| self.query.may_select_case(case))?;
        self.groups.iter().position(|chosen| *chosen == group).map(|place| place + 1)
    }

    /// How many runs each group has.
    fn whole_runs(&self, whole: &[u32]) -> Sizes {
        let cases =
            self.log.cases().iter().filter_map(|case| Some((self.slot(case.id)?, whole[case.id.index()])));
        let runs: BTreeSet<(usize, u32)> = cases.collect();
        let of = |slot: usize| runs.iter().filter(|(own, _)| *own == slot).count() as u64;
        Sizes { a: of(1), b: of(2) }
    }
}

/// What a worker sums up for a comparison.
#[derive(Clone, Debug)]
pub struct ContrastSums {
    accumulator: Accumulator,
    /// Of cases without a process, the number of that of their threads; the lowest, if there are several.
    threads: BTreeMap<CaseId, Pid>,
}

impl ContrastSums {
    fn note(&mut self, case: CaseId, pid: Option<Pid>) {
        let Some(pid) = pid else { return };
        self.threads.entry(case).and_modify(|known| *known = (*known).min(pid)).or_insert(pid);
    }
}

impl Pass for Contrast<'_> {
    type Sums = ContrastSums;
    type Boundary = OpenCases;
    type Closed = ClosedCases;
    type Output = Comparison;

    fn columns(&self) -> Columns {
        self.sums.columns() | Columns::PID
    }

    fn sums(&self) -> ContrastSums {
        ContrastSums { accumulator: self.sums.sums(), threads: BTreeMap::new() }
    }

    fn closed(&self) -> ClosedCases {
        self.sums.closed()
    }

    fn add(&self, sums: &mut ContrastSums, rows: &Rows<'_>) -> OpenCases {
        let mut row = 0;
        for piece in rows.batch.case.chunk_by(|one, other| one == other) {
            if self.without_process.get(piece[0].index()) == Some(&true) {
                let pids = &rows.batch.pid[row..row + piece.len()];
                sums.note(piece[0], pids.iter().copied().min());
            }
            row += piece.len();
        }
        self.sums.add(&mut sums.accumulator, rows)
    }

    fn merge(&self, sums: &mut ContrastSums, other: ContrastSums) {
        self.sums.merge(&mut sums.accumulator, other.accumulator);
        other.threads.into_iter().for_each(|(case, pid)| sums.note(case, Some(pid)));
    }

    fn close(&self, closed: &mut ClosedCases, open_cases: OpenCases) {
        self.sums.close(closed, open_cases);
    }

    fn finish(&self, sums: ContrastSums, closed: ClosedCases) -> Comparison {
        let mut totals = self.sums.finish(sums.accumulator, closed);
        let whole = runs_of_cases(self.log, self.query);
        let unit_of_case = self.holders.units(&sums.threads, &whole);
        let facts = CaseFacts { unit: &unit_of_case, elapsed: &self.elapsed };
        let members = self.log.cases().iter().filter_map(|case| Some((case.id, self.slot(case.id)?)));
        let runs = runs(std::mem::take(&mut totals.summed_cases), members, facts);
        let unit = unit(self.log, &unit_of_case, |case| self.slot(case).is_some());
        let dfg = synthesize::graph(self.log, self.query, totals, &self.names, &self.options);
        comparison(runs, (unit, self.whole_runs(&whole)), dfg, &self.query.activities())
    }
}

fn find(query: &Query, name: &str) -> Result<GroupId, DfgError> {
    let index = query.groups().iter().position(|group| group == name);
    index
        .map(|index| GroupId(index as u32))
        .ok_or_else(|| DfgError::UnknownGroup { name: name.to_owned(), known: query.groups().to_vec() })
}

/// The comparison of the two groups of `dfg`, given the sums of each unit and the numbers of runs.
pub(crate) fn comparison(
    runs: Vec<Run>,
    (unit, whole): (Unit, Sizes),
    dfg: Dfg,
    activities: &[Arc<str>],
) -> Comparison {
    let observed: Vec<bool> = runs.iter().map(|run| run.slot == 2).collect();
    let second = observed.iter().filter(|second| **second).count() as u64;
    let units = Sizes { a: observed.len() as u64 - second, b: second };
    // Runs of different numbers of ranks are compared rank by rank.
    let of_runs = unit == Unit::Run || units.a * whole.b == units.b * whole.a;
    let (per, sizes) = if of_runs { (Unit::Run, whole) } else { (unit, units) };
    let labels = Labels { activities, groups: &[], case_name: &|key| key.to_string() };
    // Ranks wait for one another: their elapsed times are no sample of that of the run.
    let elapsed = elapsed_hypothesis(&runs).filter(|_| unit == Unit::Run);
    let elements = elements(runs);
    let tested = Tests::of(&elements, elapsed, &observed);
    let gaps = gaps_before(&elements, &observed);
    let mut changes = Vec::new();
    let mut changed = Vec::new();
    for (element, sums) in of_each(&elements) {
        let (a, b) = sides(sums, &observed);
        let chance = tested.results.get(&element);
        changes.extend(differences(element, (a, b), sizes, &labels).into_iter().map(|change| Change {
            p_value: chance.map(|chance| chance.p_value),
            q_value: chance.map(|chance| chance.q_value),
            significant: chance.map(|chance| chance.significant),
            ..change
        }));
        if let Element::Activity(activity) = element {
            let name = labels.vertex(Vertex::activity(activity), START);
            let gaps = gaps.get(&activity).copied().unwrap_or_default();
            changed.push(activity_change(name, (a, b), gaps, sizes, chance));
        }
    }
    changed.retain(ActivityChange::differs);
    changed.sort_by(by_io_time);
    // Activities before transitions, whose gaps other work may fill.
    let places: HashMap<Arc<str>, usize> =
        changed.iter().enumerate().map(|(index, row)| (Arc::clone(&row.activity), index)).collect();
    let place = |change: &Change| match change.to {
        None => places.get(&change.activity).copied().unwrap_or(places.len()),
        Some(_) => usize::MAX,
    };
    changes.sort_unstable_by(|one, other| place(one).cmp(&place(other)).then_with(|| one.order(other)));
    let name = |place: usize| dfg.groups.get(place).map_or_else(String::new, |group| group.name.clone());
    Comparison {
        format: COMPARISON_FORMAT.to_owned(),
        a: name(0),
        b: name(1),
        per,
        unit,
        runs_a: units.a,
        runs_b: units.b,
        runs_needed: tested.runs_needed,
        permutations: tested.permutations,
        elapsed_chance: tested.elapsed,
        activities: changed,
        changes,
        dfg,
    }
}

/// What chance makes of each element, and of the elapsed time.
struct Tests {
    results: BTreeMap<Element, Chance>,
    elapsed: Option<Chance>,
    permutations: u64,
    /// How many runs it takes to find a change of one activity.
    runs_needed: u64,
}

impl Tests {
    fn of(elements: &Elements, elapsed: Option<Hypothesis>, observed: &[bool]) -> Self {
        let [of_elapsed, of_activities, of_transitions] = SHARES[usize::from(elapsed.is_some())];
        let mut tests = Self { results: BTreeMap::new(), elapsed: None, permutations: 0, runs_needed: 0 };
        let elapsed: Vec<Hypothesis> = elapsed.into_iter().collect();
        tests.elapsed = tests.family(elements, &[], elapsed, observed, of_elapsed).first().copied();
        let activities = worth_a_test(elements, true, TESTED_ACTIVITIES);
        tests.family(elements, &activities, Vec::new(), observed, of_activities);
        let transitions = worth_a_test(elements, false, TESTED_TRANSITIONS);
        tests.family(elements, &transitions, Vec::new(), observed, of_transitions);
        let hypotheses = activities.len().max(1) as f64 / of_activities;
        tests.runs_needed = significance::runs_needed(hypotheses.ceil() as usize);
        tests
    }

    /// Tests a family at its share of the level: elements, and what else belongs to it.
    fn family(
        &mut self,
        elements: &Elements,
        family: &[Element],
        more: Vec<Hypothesis>,
        observed: &[bool],
        share: f64,
    ) -> Vec<Chance> {
        let of_element = |element: &Element| hypothesis(of(elements, *element), observed.len());
        let hypotheses: Vec<Hypothesis> = family.iter().map(of_element).chain(more).collect();
        let tested: Tested = significance::test(&hypotheses, observed).unwrap_or_default();
        self.permutations = self.permutations.max(tested.divisions);
        let adjusted = significance::adjusted(&tested.p_values);
        let chance = |(p_value, q_value): (&f64, f64)| {
            let q_value = (q_value / share).min(1.0);
            Chance { p_value: *p_value, q_value, significant: q_value <= LEVEL }
        };
        let chances: Vec<Chance> = tested.p_values.iter().zip(adjusted).map(chance).collect();
        self.results.extend(family.iter().copied().zip(chances.iter().copied()));
        chances
    }
}

/// The elapsed times of all units, if all are known.
fn elapsed_hypothesis(runs: &[Run]) -> Option<Hypothesis> {
    let times: Option<Vec<Option<f64>>> = runs.iter().map(|run| Some(Some(run.elapsed? as f64))).collect();
    let mut hypothesis = Hypothesis::default();
    hypothesis.figure(&times.filter(|times| !times.is_empty())?);
    Some(hypothesis)
}

/// What stands the test first, then by difference of I/O time, then by number of calls and name.
fn by_io_time(one: &ActivityChange, other: &ActivityChange) -> Ordering {
    let stands = |row: &ActivityChange| row.significant == Some(true);
    let time = |row: &ActivityChange| row.difference_ns.map_or(0.0, f64::abs);
    let calls = |row: &ActivityChange| row.count.difference().map_or(0.0, f64::abs);
    stands(other)
        .cmp(&stands(one))
        .then_with(|| time(other).total_cmp(&time(one)))
        .then_with(|| calls(other).total_cmp(&calls(one)))
        .then_with(|| one.activity.cmp(&other.activity))
}

/// The gaps before each activity on both sides: their sum and number.
fn gaps_before(elements: &Elements, observed: &[bool]) -> HashMap<u32, [Side; 2]> {
    let mut gaps: HashMap<u32, [Side; 2]> = HashMap::new();
    for (element, sum) in elements {
        let Element::Relation(relation) = element else { continue };
        let Some(activity) = relation.to.index() else { continue };
        gaps.entry(activity as u32).or_default()[usize::from(observed[sum.run as usize])].add(sum);
    }
    gaps
}

fn activity_change(
    activity: Arc<str>,
    (a, b): (Side, Side),
    gaps: [Side; 2],
    sizes: Sizes,
    chance: Option<&Chance>,
) -> ActivityChange {
    let io = |side: &Side, runs: u64| {
        (side.timed > 0 || side.count == 0).then(|| side.io as f64 / runs.max(1) as f64)
    };
    let (io_a_ns, io_b_ns) = (io(&a, sizes.a), io(&b, sizes.b));
    let count = |side: &Side, runs: u64| Some(side.count as f64 / runs.max(1) as f64);
    let change = ActivityChange {
        activity,
        cause: ChangeKind::New,
        io_a_ns,
        io_b_ns,
        difference_ns: io_a_ns.zip(io_b_ns).map(|(a, b)| b - a),
        count: Pair { a: count(&a, sizes.a), b: count(&b, sizes.b) },
        duration_ns: Pair { a: a.mean_time(), b: b.mean_time() },
        bytes: Pair { a: a.mean_size(), b: b.mean_size() },
        gap_ns: Pair { a: gaps[0].mean_time(), b: gaps[1].mean_time() },
        p_value: chance.map(|chance| chance.p_value),
        q_value: chance.map(|chance| chance.q_value),
        significant: chance.map(|chance| chance.significant),
    };
    change.with_cause()
}

/// An activity or a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Activity(u32),
    Relation(Relation),
}

/// An element within one run.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    run: u32,
    count: u64,
    /// Occurrences whose time is known, and the sum of their times.
    timed: u64,
    time: i128,
    /// The part of it that is I/O time.
    io: u64,
    /// Occurrences whose size is known, and the sum of their sizes.
    sized: u64,
    bytes: u64,
}

/// Numbers of runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    a: u64,
    b: u64,
}

/// The sums of each element that some run has, sorted by elements and runs: flat, because there may be millions.
type Elements = Vec<(Element, Sum)>;

fn elements(runs: Vec<Run>) -> Elements {
    let mut elements = Elements::new();
    for (number, run) in (0..).zip(runs) {
        elements.extend(run.sums.nodes.into_iter().map(|(activity, sum)| {
            let sum = Sum {
                run: number,
                count: sum.count,
                timed: sum.timed,
                time: sum.duration.into(),
                io: sum.io,
                sized: sum.sized,
                bytes: sum.bytes,
            };
            (Element::Activity(activity), sum)
        }));
        elements.extend(run.sums.edges.into_iter().map(|(relation, sum)| {
            let sum =
                Sum { run: number, count: sum.count, timed: sum.gaps, time: sum.gap_sum, ..Sum::default() };
            (Element::Relation(relation), sum)
        }));
    }
    elements.sort_unstable_by_key(|(element, sum)| (*element, sum.run));
    elements
}

/// Each element with its sums.
fn of_each(elements: &[(Element, Sum)]) -> impl Iterator<Item = (Element, &[(Element, Sum)])> {
    elements.chunk_by(|a, b| a.0 == b.0).map(|sums| (sums[0].0, sums))
}

fn of(elements: &[(Element, Sum)], element: Element) -> &[(Element, Sum)] {
    let from = elements.partition_point(|(other, _)| *other < element);
    let length = elements[from..].partition_point(|(other, _)| *other == element);
    &elements[from..from + length]
}

/// An element within one group.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    count: u64,
    timed: u64,
    time: i128,
    io: u64,
    sized: u64,
    bytes: u64,
}

impl Side {
    fn add(&mut self, sum: &Sum) {
        self.count += sum.count;
        self.timed += sum.timed;
        self.time += sum.time;
        self.io = self.io.saturating_add(sum.io);
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

fn sides(sums: &[(Element, Sum)], observed: &[bool]) -> (Side, Side) {
    let (mut a, mut b) = (Side::default(), Side::default());
    for (_, sum) in sums {
        if observed[sum.run as usize] { b.add(sum) } else { a.add(sum) }
    }
    (a, b)
}

fn differences(element: Element, (a, b): (Side, Side), sizes: Sizes, labels: &Labels<'_>) -> Vec<Change> {
    let per_run = |count: u64, runs: u64| count as f64 / runs.max(1) as f64;
    let (count_a, count_b) = (per_run(a.timed, sizes.a), per_run(b.timed, sizes.b));
    let (mean_a, mean_b) = (a.mean_time(), b.mean_time());
    // Where one group has no such event, the other's mean is what its events would have taken.
    let known = (a.count == 0 || mean_a.is_some()) && (b.count == 0 || mean_b.is_some());
    let filled = mean_a.or(mean_b).zip(mean_b.or(mean_a)).filter(|_| known);
    let by_count = filled.map(|(a, b)| (count_b - count_a) * (a + b) / 2.0);
    let by_time = filled.map(|(a, b)| (b - a) * (count_a + count_b) / 2.0);

    let counts = (per_run(a.count, sizes.a), per_run(b.count, sizes.b));
    let count_kind = match (a.count, b.count) {
        (0, _) => ChangeKind::New,
        (_, 0) => ChangeKind::Gone,
        _ if counts.1 > counts.0 => ChangeKind::More,
        _ => ChangeKind::Fewer,
    };
    let mut found = vec![row(element, count_kind, "count", counts, by_count, labels)];
    if let (Some(mean_a), Some(mean_b)) = (mean_a, mean_b) {
        let kind = if mean_b > mean_a { ChangeKind::Slower } else { ChangeKind::Faster };
        let measure = if matches!(element, Element::Activity(_)) { "duration_ns" } else { "gap_ns" };
        found.push(row(element, kind, measure, (mean_a, mean_b), by_time, labels));
    }
    if let (Some(size_a), Some(size_b)) = (a.mean_size(), b.mean_size()) {
        let kind = if size_b > size_a { ChangeKind::Larger } else { ChangeKind::Smaller };
        found.push(row(element, kind, "bytes", (size_a, size_b), by_time, labels));
    }
    found.retain(|change| change.difference != 0.0);
    found
}

fn row(
    element: Element,
    kind: ChangeKind,
    measure: &'static str,
    (value_a, value_b): (f64, f64),
    time_at_stake_ns: Option<f64>,
    labels: &Labels<'_>,
) -> Change {
    let (activity, to) = match element {
        Element::Activity(activity) => (labels.vertex(Vertex::activity(activity), START), None),
        Element::Relation(relation) => {
            (labels.vertex(relation.from, START), Some(labels.vertex(relation.to, END)))
        }
    };
    Change {
        kind,
        activity,
        to,
        measure: Cow::Borrowed(measure),
        value_a,
        value_b,
        difference: value_b - value_a,
        ratio: (value_a != 0.0).then(|| value_b / value_a),
        time_at_stake_ns,
        p_value: None,
        q_value: None,
        significant: None,
    }
}

impl Change {
    /// What stands the test first; then by time at stake, what is only in one group, and by name.
    fn order(&self, other: &Self) -> Ordering {
        let class = |change: &Self| change.significant != Some(true);
        let stake = |change: &Self| change.time_at_stake_ns.map_or(0.0, f64::abs);
        let shared = |change: &Self| !matches!(change.kind, ChangeKind::New | ChangeKind::Gone);
        class(self)
            .cmp(&class(other))
            .then_with(|| stake(other).total_cmp(&stake(self)))
            .then_with(|| shared(self).cmp(&shared(other)))
            .then_with(|| {
                (&self.to, &self.activity, &self.measure).cmp(&(&other.to, &other.activity, &other.measure))
            })
    }
}

/// The activities, or the transitions, that hold enough of all time or of all occurrences, the most important first.
fn worth_a_test(elements: &[(Element, Sum)], activities: bool, (most, least): (usize, f64)) -> Vec<Element> {
    let weights: Vec<(Element, f64, f64)> = of_each(elements)
        .filter(|(element, _)| matches!(element, Element::Activity(_)) == activities)
        .map(|(element, sums)| {
            let time: i128 = sums.iter().map(|(_, sum)| sum.time.abs()).sum();
            let count: u64 = sums.iter().map(|(_, sum)| sum.count).sum();
            (element, time as f64, count as f64)
        })
        .collect();
    let all = weights.iter().fold((0.0, 0.0), |all, (_, time, count)| (all.0 + time, all.1 + count));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mut shares: Vec<(Element, f64)> = weights
        .into_iter()
        .map(|(element, time, count)| (element, share(time, all.0).max(share(count, all.1))))
        .filter(|(_, share)| *share >= least)
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares.into_iter().take(most).map(|(element, _)| element).collect()
}

/// How often, how long, how many bytes: in all and for each occurrence, which a run without any lacks.
fn hypothesis(sums: &[(Element, Sum)], runs: usize) -> Hypothesis {
    let mut hypothesis = Hypothesis::default();
    let in_each = |of: &dyn Fn(&Sum) -> f64, without: Option<f64>| {
        let mut values = vec![without; runs];
        sums.iter().for_each(|(_, sum)| values[sum.run as usize] = Some(of(sum)));
        values
    };
    hypothesis.figure(&in_each(&|sum| sum.count as f64, Some(0.0)));
    let mut in_all_and_each = |total: &dyn Fn(&Sum) -> f64, known: &dyn Fn(&Sum) -> u64| {
        if sums.iter().any(|(_, sum)| known(sum) == 0) {
            return; // In some runs this is unknown: what is known of the others compares recordings, not runs.
        }
        hypothesis.figure(&in_each(total, Some(0.0)));
        hypothesis.figure(&in_each(&|sum| total(sum) / known(sum) as f64, None));
    };
    in_all_and_each(&|sum| sum.time as f64, &|sum| sum.timed);
    in_all_and_each(&|sum| sum.bytes as f64, &|sum| sum.sized);
    hypothesis
}
