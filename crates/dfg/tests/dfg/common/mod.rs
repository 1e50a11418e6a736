//! Small logs, and a second opinion on their graphs written for clearness alone.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test binary uses its part")]

use iotrail_dfg::result::{
    Dfg, DurationStats, END, Edge, EdgeInGroup, EventCounts, GapStats, Node, NodeInGroup, START, SizeStats,
    Span, Variant,
};
use iotrail_dfg::{ConcurrencyRule, Labels, Partial, Plan};
use iotrail_model::{CaseId, ErrnoId, Event, EventBatch, FileId, Nanos, Nullable, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified, GroupId};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// What a query made of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Mapped(u32),
    Unmapped,
    Unselected,
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub case: u32,
    pub part: u32,
    pub fate: Fate,
    pub start: i64,
    pub dur: Option<i64>,
    pub size: Option<i64>,
    pub file: Option<u32>,
    pub failed: bool,
}

impl Row {
    pub fn of(case: u32, activity: u32, start: i64, dur: i64) -> Self {
        let fate = Fate::Mapped(activity);
        Self { case, part: 0, fate, start, dur: Some(dur), size: None, file: None, failed: false }
    }

    pub fn sized(self, size: i64) -> Self {
        Self { size: Some(size), ..self }
    }

    pub fn key(&self) -> CaseKey {
        CaseKey::new(CaseId(self.case), self.part)
    }

    fn end(&self) -> Option<i64> {
        self.dur.map(|dur| self.start + dur)
    }
}

/// The case of an occurrence of a relation, and its gap.
type Occurrence = (CaseKey, Option<i64>);

/// Rows in the order of a log.
pub fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.case, row.start));
    rows
}

pub fn batch(rows: &[Row]) -> (EventBatch, Classified) {
    let mut batch = EventBatch::default();
    let mut classified = Classified::default();
    for row in rows {
        batch.push(&Event {
            case: CaseId(row.case),
            start: Timestamp(row.start),
            dur: row.dur.map(Nanos).into(),
            size: row.size.into(),
            file: row.file.map(FileId).into(),
            errno: if row.failed { Nullable::some(ErrnoId(0)) } else { Nullable::NULL },
            ..Event::default()
        });
        classified.activity.push(match row.fate {
            Fate::Mapped(activity) => ActivityId(activity),
            Fate::Unmapped => ActivityId::UNMAPPED,
            Fate::Unselected => ActivityId::UNSELECTED,
        });
        classified.key.push(row.key());
    }
    (batch, classified)
}

/// Cases with even numbers are in group `even`, odd ones in `odd`; every fifth is in none.
pub fn group(case: u32) -> Option<usize> {
    (case % 5 != 4).then_some(case as usize % 2)
}

pub fn groups() -> Vec<Arc<str>> {
    vec!["even".into(), "odd".into()]
}

pub fn plan() -> Arc<Plan> {
    Arc::new(Plan::grouped(64, 2, |case| group(case.0).map(|group| GroupId(group as u32))))
}

pub fn names(count: usize) -> Vec<Arc<str>> {
    // Not in the order of the numbers.
    (0..count).map(|number| format!("{}:{number}", ["read", "open", "write"][number % 3]).into()).collect()
}

pub fn partial(rows: &[Row], plan: &Arc<Plan>) -> Partial {
    let (batch, classified) = batch(rows);
    Partial::of(&batch, &classified, plan)
}

pub fn finish(partial: Partial, rule: ConcurrencyRule) -> Dfg {
    let (activities, groups) = (names(64), groups());
    let labels = Labels { activities: &activities, groups: &groups, case_name: &|key| key.to_string() };
    partial.finish(&labels, rule, ONE)
}

pub fn graph(rows: &[Row], rule: ConcurrencyRule) -> Dfg {
    finish(partial(rows, &plan()), rule)
}

/// The graph of `rows`, step by step from the definitions.
pub fn reference(rows: &[Row], rule: ConcurrencyRule) -> Dfg {
    let names = names(64);
    let name = |activity: u32| names[activity as usize].clone();
    let selected: Vec<&Row> = rows.iter().filter(|row| row.fate != Fate::Unselected).collect();
    let mapped: Vec<(&Row, u32)> = selected
        .iter()
        .filter_map(|row| match row.fate {
            Fate::Mapped(activity) => Some((*row, activity)),
            _ => None,
        })
        .collect();
    let unmapped = selected.iter().filter(|row| !matches!(row.fate, Fate::Mapped(_)));
    let unmapped: Vec<&&Row> = unmapped.collect();
    let keys: BTreeSet<CaseKey> = selected.iter().map(|row| row.key()).collect();
    let mut traces: BTreeMap<CaseKey, Vec<(&Row, u32)>> = BTreeMap::new();
    mapped.iter().for_each(|event| traces.entry(event.0.key()).or_default().push(*event));
    let all_ns: i64 = mapped.iter().filter_map(|(row, _)| row.dur).sum();

    let mut variants: BTreeMap<Vec<Arc<str>>, Vec<String>> = BTreeMap::new();
    let mut pairs: BTreeMap<(Arc<str>, Arc<str>), Vec<Occurrence>> = BTreeMap::new();
    for (key, trace) in &traces {
        let mut steps: Vec<Arc<str>> = vec![START.into()];
        steps.extend(trace.iter().map(|(_, activity)| name(*activity)));
        steps.push(END.into());
        for (index, pair) in steps.windows(2).enumerate() {
            let follower = trace.get(index).map(|(row, _)| row.start);
            let before = index.checked_sub(1).and_then(|index| trace[index].0.end());
            let gap = follower.zip(before).map(|(start, end)| start - end);
            pairs.entry((pair[0].clone(), pair[1].clone())).or_default().push((*key, gap));
        }
        variants.entry(steps).or_default().push(key.to_string());
    }
    let mut variants: Vec<Variant> = variants
        .into_iter()
        .map(|(trace, mut cases)| {
            cases.sort();
            Variant {
                count: cases.len() as u64,
                cases,
                length: trace.len() as u64 - 2,
                trace,
                truncated: false,
            }
        })
        .collect();
    variants.sort_by_key(|variant| std::cmp::Reverse(variant.count));

    let activities: BTreeSet<u32> = mapped.iter().map(|(_, activity)| *activity).collect();
    let mut nodes: Vec<Node> = activities
        .into_iter()
        .map(|activity| {
            let events: Vec<&Row> =
                mapped.iter().filter(|(_, a)| *a == activity).map(|(row, _)| *row).collect();
            reference_node(name(activity), &events, all_ns, rule)
        })
        .collect();
    nodes.sort_by(|a, b| (b.duration_ns, b.count, &a.activity).cmp(&(a.duration_ns, a.count, &b.activity)));

    let mut edges: Vec<Edge> = pairs.into_iter().map(|(ends, seen)| reference_edge(ends, &seen)).collect();
    edges.sort_by(|a, b| (b.count, &a.from, &a.to).cmp(&(a.count, &b.from, &b.to)));

    let group_rows = groups().into_iter().enumerate().map(|(number, name)| {
        let of = |case: u32| group(case) == Some(number);
        iotrail_dfg::result::Group {
            name: name.to_string(),
            cases: traces.keys().filter(|key| of(key.case().0)).count() as u64,
            events: mapped.iter().filter(|(row, _)| of(row.case)).count() as u64,
            duration_ns: known_time(mapped.iter().filter(|(row, _)| of(row.case)).map(|(row, _)| *row)),
            bytes: mapped.iter().filter(|(row, _)| of(row.case)).filter_map(|(row, _)| row.size).sum::<i64>()
                as u64,
        }
    });
    Dfg {
        format: "iotrail-dfg/1".into(),
        max_concurrency_rule: rule.name().into(),
        events: EventCounts {
            total: selected.len() as u64,
            mapped: mapped.len() as u64,
            unmapped: (selected.len() - mapped.len()) as u64,
            unmapped_ns: unmapped
                .iter()
                .filter_map(|row| row.dur)
                .map(|dur| dur as u64)
                .reduce(|sum, dur| sum + dur),
        },
        cases: traces.len() as u64,
        cases_without_trace: (keys.len() - traces.len()) as u64,
        span: Span {
            start_ns: mapped.iter().map(|(row, _)| row.start).min(),
            end_ns: mapped.iter().map(|(row, _)| row.end().unwrap_or(row.start)).max(),
        },
        duration_ns: known_time(mapped.iter().map(|(row, _)| *row)),
        bytes: nodes.iter().map(|node| node.bytes).sum(),
        groups: group_rows.collect(),
        variants,
        nodes,
        edges,
        quantile_exact_limit: 16_384,
        quantile_relative_error: 1.0 / 256.0,
        ..Dfg::default()
    }
}

fn reference_node(activity: Arc<str>, events: &[&Row], all_ns: i64, rule: ConcurrencyRule) -> Node {
    let durations: Vec<i64> = events.iter().filter_map(|row| row.dur).collect();
    let sizes: Vec<i64> = events.iter().filter_map(|row| row.size).collect();
    let total: i64 = durations.iter().sum();
    let bytes: i64 = sizes.iter().sum();
    let in_group = |number: usize| {
        let events: Vec<&Row> =
            events.iter().filter(|row| group(row.case) == Some(number)).copied().collect();
        let figures = NodeInGroup {
            count: events.len() as u64,
            cases: distinct(events.iter().map(|row| row.key())),
            failures: events.iter().filter(|row| row.failed).count() as u64,
            duration_ns: known_time(events.iter().copied()),
            bytes: events.iter().filter_map(|row| row.size).sum::<i64>() as u64,
            data_rate: reference_rate(&events),
        };
        (!events.is_empty()).then(|| (groups()[number].clone(), figures))
    };
    Node {
        activity,
        count: events.len() as u64,
        cases: distinct(events.iter().map(|row| row.key())),
        failures: events.iter().filter(|row| row.failed).count() as u64,
        files: distinct(events.iter().filter_map(|row| row.file)),
        duration_ns: known_time(events.iter().copied()),
        wait_ns: known_time(events.iter().copied()).map(|_| 0),
        request_ns: known_time(events.iter().copied()).map(|_| 0),
        relative_duration: (!durations.is_empty())
            .then(|| if all_ns == 0 { 0.0 } else { total as f64 / all_ns as f64 }),
        bytes: bytes as u64,
        data_rate: reference_rate(events),
        max_concurrency: reference_concurrency(events, rule),
        duration: DurationStats {
            mean: mean(&durations),
            p50: rank(&durations, 50),
            p95: rank(&durations, 95),
            p99: rank(&durations, 99),
            max: rank(&durations, 100),
        },
        size: SizeStats {
            mean: mean(&sizes),
            p50: rank(&sizes, 50),
            p95: rank(&sizes, 95),
            max: rank(&sizes, 100),
        },
        duration_histogram: powers(&durations),
        size_histogram: powers(&sizes),
        groups: [0, 1].into_iter().filter_map(in_group).collect(),
    }
}

/// Nothing took no time; of events without durations it is unknown.
fn known_time<'a>(events: impl Iterator<Item = &'a Row>) -> Option<u64> {
    let durations: Vec<Option<i64>> = events.map(|row| row.dur).collect();
    let known = durations.is_empty() || durations.iter().any(Option::is_some);
    known.then(|| durations.iter().flatten().sum::<i64>() as u64)
}

fn reference_edge((from, to): (Arc<str>, Arc<str>), seen: &[Occurrence]) -> Edge {
    let gaps: Vec<i64> = seen.iter().filter_map(|(_, gap)| *gap).collect();
    let in_group = |number: usize| {
        let seen: Vec<_> = seen.iter().filter(|(key, _)| group(key.case().0) == Some(number)).collect();
        let figures = EdgeInGroup {
            count: seen.len() as u64,
            cases: distinct(seen.iter().map(|(key, _)| *key)),
            gap_sum_ns: seen
                .iter()
                .any(|(_, gap)| gap.is_some())
                .then(|| seen.iter().filter_map(|(_, gap)| *gap).sum()),
        };
        (!seen.is_empty()).then(|| (groups()[number].clone(), figures))
    };
    Edge {
        from,
        to,
        count: seen.len() as u64,
        cases: distinct(seen.iter().map(|(key, _)| *key)),
        gap_ns: GapStats {
            mean: mean(&gaps),
            p50: rank(&gaps, 50),
            p95: rank(&gaps, 95),
            sum: (!gaps.is_empty()).then(|| gaps.iter().sum()),
        },
        groups: [0, 1].into_iter().filter_map(in_group).collect(),
    }
}

fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> u64 {
    values.collect::<BTreeSet<T>>().len() as u64
}

fn mean(values: &[i64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<i64>() as f64 / values.len() as f64)
}

fn rank(values: &[i64], percentage: usize) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(((values.len() * percentage).div_ceil(100)).max(1) - 1).copied()
}

fn powers(values: &[i64]) -> Vec<iotrail_dfg::result::Bin> {
    let bounds = (0..40).map(|power| (if power == 0 { 0 } else { 1_u64 << (power - 1) }, 1_u64 << power));
    bounds
        .map(|(from, to)| {
            let count = values.iter().filter(|&&value| (from..to).contains(&(value as u64))).count() as u64;
            iotrail_dfg::result::Bin { from, to, count }
        })
        .filter(|bin| bin.count > 0)
        .collect()
}

fn reference_rate(events: &[&Row]) -> Option<f64> {
    let rates = events.iter().filter_map(|row| match (row.size, row.dur) {
        (Some(size), Some(dur)) if dur > 0 => Some(size as f64 * 1e9 / dur as f64),
        _ => None,
    });
    let rates: Vec<f64> = rates.collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

fn reference_concurrency(events: &[&Row], rule: ConcurrencyRule) -> Option<u64> {
    let mut intervals: Vec<(i64, i64)> = events
        .iter()
        .filter_map(|row| Some((row.start, row.end()?)))
        .filter(|(start, end)| end > start)
        .collect();
    intervals.sort_unstable();
    let count = |(number, &(start, _)): (usize, &(i64, i64))| match rule {
        ConcurrencyRule::Exact => intervals.iter().filter(|(from, to)| *from <= start && start < *to).count(),
        ConcurrencyRule::Paper => {
            intervals[number..].iter().take_while(|(later, _)| *later < intervals[number].1).count()
        }
    };
    intervals.iter().enumerate().map(count).max().map(|most| most as u64)
}

/// Compares everything exactly but data rates, which a reference in floating point can only approximate.
pub fn assert_same(graph: &Dfg, reference: &Dfg) {
    let strip = |dfg: &Dfg| {
        let mut dfg = dfg.clone();
        for node in &mut dfg.nodes {
            node.data_rate = None;
            let without = |figures: &NodeInGroup| NodeInGroup { data_rate: None, ..*figures };
            node.groups =
                node.groups.iter().map(|(name, figures)| (Arc::clone(name), without(figures))).collect();
        }
        dfg
    };
    assert_eq!(strip(graph), strip(reference));
    for (mine, theirs) in graph.nodes.iter().zip(&reference.nodes) {
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-6 + 1e-12 * b,
            (a, b) => a == b,
        };
        assert!(close(mine.data_rate, theirs.data_rate), "{mine:?} {theirs:?}");
        for (group, known) in mine.groups.values().zip(theirs.groups.values()) {
            assert!(close(group.data_rate, known.data_rate), "{mine:?} {theirs:?}");
        }
    }
}
