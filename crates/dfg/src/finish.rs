//! From sums to the result: names instead of numbers, means and quantiles instead of sums, everything sorted.

use crate::by_group::ByGroup;
use crate::concurrency::{ConcurrencyRule, max_concurrency};
use crate::edges::{EdgeSums, EdgeTotals, Edges};
use crate::partial::Partial;
use crate::quantile::{self, Quantiles};
use crate::result::{
    Dfg, DurationStats, END, Edge, EdgeInGroup, GapStats, Group, MAX_VARIANT_CASES, Node, NodeInGroup, START,
    SizeStats, Span, Variant,
};
use crate::totals::{NodeSums, NodeTotals, Totals};
use crate::variant::{TraceId, VariantCases, Variants};
use crate::vertex::Vertex;
use iotrail_kernel::pool;
use iotrail_model::Note;
use iotrail_query::CaseKey;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The name of the format of a [`Dfg`] as JSON.
pub const DFG_FORMAT: &str = "iotrail-dfg/1";

/// The names behind the numbers of a partial result.
pub struct Labels<'a> {
    /// By activity.
    pub activities: &'a [Arc<str>],
    /// By group.
    pub groups: &'a [Arc<str>],
    /// The name of a case.
    pub case_name: &'a (dyn Fn(CaseKey) -> String + Sync),
}

impl Partial {
    /// The graph. What it does not say about the log and the query (sources, mapping, coverage, ...) is left empty.
    #[must_use]
    pub fn finish(self, labels: &Labels<'_>, rule: ConcurrencyRule, threads: NonZeroUsize) -> Dfg {
        finish(self.close(), labels, rule, threads)
    }
}

pub(crate) fn finish(
    mut totals: Totals,
    labels: &Labels<'_>,
    rule: ConcurrencyRule,
    threads: NonZeroUsize,
) -> Dfg {
    let concurrency = all_max_concurrency(&totals.nodes, rule, threads);
    let mut all = NodeSums::default();
    (0..totals.nodes.len()).flat_map(|activity| totals.node_sums(activity)).for_each(|sums| all.merge(sums));
    let mut coverage = iotrail_model::Coverage::default();
    let groups = groups(&totals, labels);
    // Sums make room for what becomes of them.
    let activities = std::mem::take(&mut totals.nodes);
    let nodes = nodes(&totals, activities, &concurrency, all.known_duration(), labels);
    let edges = edges(std::mem::take(&mut totals.edges), labels);
    let (variants, scattered) = variants(totals.variants, labels);
    for case in scattered {
        coverage.note(Note::CaseScattered { case: case.to_string() });
    }
    Dfg {
        format: DFG_FORMAT.to_owned(),
        max_concurrency_rule: rule.name().to_owned(),
        events: totals.events,
        cases: totals.cases.iter().sum(),
        cases_without_trace: totals.cases_without_trace,
        span: Span { start_ns: totals.span.map(|span| span.0), end_ns: totals.span.map(|span| span.1) },
        duration_ns: all.known_duration(),
        bytes: all.bytes,
        groups,
        variants,
        nodes,
        edges,
        quantile_exact_limit: quantile::EXACT_LIMIT as u64,
        quantile_relative_error: quantile::RELATIVE_ERROR,
        coverage,
        ..Dfg::default()
    }
}

fn all_max_concurrency(
    nodes: &[NodeTotals],
    rule: ConcurrencyRule,
    threads: NonZeroUsize,
) -> Vec<Option<u64>> {
    let nothing = |_| Ok::<_, Infallible>(());
    let Ok(results) = pool::run(
        threads,
        nodes.len(),
        nothing,
        || (),
        |(), at, ()| Ok(nodes.get(at).and_then(|node| max_concurrency(&node.intervals, rule))),
    );
    results
}

fn groups(totals: &Totals, labels: &Labels<'_>) -> Vec<Group> {
    let group = |(number, name): (usize, &Arc<str>)| {
        let slot = number + 1;
        let mut sums = NodeSums::default();
        (0..totals.nodes.len())
            .filter_map(|activity| totals.node_sums(activity).get(slot))
            .for_each(|node| sums.merge(node));
        let cases = totals.cases.get(slot).copied().unwrap_or(0);
        Group {
            name: name.to_string(),
            cases,
            events: sums.count,
            duration_ns: sums.known_duration(),
            bytes: sums.bytes,
        }
    };
    labels.groups.iter().enumerate().map(group).collect()
}

fn nodes(
    totals: &Totals,
    activities: Vec<NodeTotals>,
    concurrency: &[Option<u64>],
    all_ns: Option<u64>,
    labels: &Labels<'_>,
) -> Vec<Node> {
    let mut list: Vec<Node> = LastFirst(activities)
        .filter_map(|(number, node)| {
            let figures =
                figures(labels.activities.get(number)?, &node, totals.node_sums(number), all_ns, labels);
            Some(Node { max_concurrency: concurrency[number], ..figures })
        })
        .filter(|node| node.count > 0)
        .collect();
    let heaviest = |node: &Node| std::cmp::Reverse((node.duration_ns, node.count));
    list.sort_unstable_by(|a, b| heaviest(a).cmp(&heaviest(b)).then_with(|| a.activity.cmp(&b.activity)));
    list
}

fn figures(
    activity: &Arc<str>,
    totals: &NodeTotals,
    groups: &[NodeSums],
    all_ns: Option<u64>,
    labels: &Labels<'_>,
) -> Node {
    let mut sums = NodeSums::default();
    groups.iter().for_each(|group| sums.merge(group));
    let [p50, p95, p99] = totals.durations.percentiles([50, 95, 99]);
    let [size_p50, size_p95] = totals.sizes.percentiles([50, 95]);
    let (longest, largest) = (totals.longest, totals.largest);
    Node {
        activity: Arc::clone(activity),
        count: sums.count,
        cases: sums.cases,
        failures: sums.failures,
        files: totals.files.len(),
        duration_ns: sums.known_duration(),
        wait_ns: sums.known_duration().map(|_| sums.waiting),
        request_ns: sums.known_duration().map(|_| sums.requests),
        relative_duration: sums.known_duration().zip(all_ns).map(share),
        bytes: sums.bytes,
        data_rate: sums.rate.mean(),
        max_concurrency: None,
        duration: DurationStats {
            mean: mean(sums.duration as f64, &totals.durations),
            p50: p50.min(longest),
            p95: p95.min(longest),
            p99: p99.min(longest),
            max: longest,
        },
        size: SizeStats {
            mean: mean(sums.bytes as f64, &totals.sizes),
            p50: size_p50.min(largest),
            p95: size_p95.min(largest),
            max: largest,
        },
        duration_histogram: totals.durations.powers_of_two(),
        size_histogram: totals.sizes.powers_of_two(),
        groups: by_group(labels, groups, |sums| (sums.count > 0).then(|| node_in_group(sums))),
    }
}

fn node_in_group(sums: &NodeSums) -> NodeInGroup {
    NodeInGroup {
        count: sums.count,
        cases: sums.cases,
        failures: sums.failures,
        duration_ns: sums.known_duration(),
        bytes: sums.bytes,
        data_rate: sums.rate.mean(),
    }
}

/// Of no time everything is nothing.
fn share((part, whole): (u64, u64)) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn mean(sum: f64, values: &Quantiles) -> Option<f64> {
    (values.count() > 0).then(|| sum / values.count() as f64)
}

/// The values of a list with their places, the last one first. Its memory shrinks as they go.
struct LastFirst<T>(Vec<T>);

impl<T> Iterator for LastFirst<T> {
    type Item = (usize, T);

    fn next(&mut self) -> Option<(usize, T)> {
        const STEP: usize = 1 << 14;
        let value = self.0.pop()?;
        if self.0.len().is_multiple_of(STEP) {
            self.0.shrink_to_fit();
        }
        Some((self.0.len(), value))
    }
}

/// The groups for which there is something to say; slot 0 holds the cases without a group.
fn by_group<S, T>(labels: &Labels<'_>, slots: &[S], figures: impl Fn(&S) -> Option<T>) -> ByGroup<T> {
    let groups = labels.groups.iter().zip(slots.iter().skip(1));
    groups.filter_map(|(name, sums)| Some((Arc::clone(name), figures(sums)?))).collect()
}

fn edges(mut edges: Edges, labels: &Labels<'_>) -> Vec<Edge> {
    let numbered = LastFirst(std::mem::take(&mut edges.list));
    let mut list: Vec<Edge> =
        numbered.map(|(number, totals)| edge(&totals, edges.sums(number), labels)).collect();
    list.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to))));
    list
}

fn edge(totals: &EdgeTotals, groups: &[EdgeSums], labels: &Labels<'_>) -> Edge {
    let mut sums = EdgeSums::default();
    groups.iter().for_each(|group| sums.merge(group));
    let [p50, p95] = totals.gaps.percentiles([50, 95]);
    let gap_ns = GapStats {
        mean: mean(sums.gap_sum as f64, &totals.gaps),
        p50,
        p95,
        sum: (totals.gaps.count() > 0).then(|| saturated(sums.gap_sum)),
    };
    Edge {
        from: labels.vertex(totals.relation.from, START),
        to: labels.vertex(totals.relation.to, END),
        count: sums.count,
        cases: sums.cases,
        gap_ns,
        groups: by_group(labels, groups, |sums| (sums.count > 0).then(|| edge_in_group(sums))),
    }
}

fn edge_in_group(sums: &EdgeSums) -> EdgeInGroup {
    let gap_sum_ns = (sums.gaps > 0).then(|| saturated(sums.gap_sum));
    EdgeInGroup { count: sums.count, cases: sums.cases, gap_sum_ns }
}

fn saturated(sum: i128) -> i64 {
    sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Labels<'_> {
    fn activity(&self, number: usize) -> Arc<str> {
        self.activities.get(number).cloned().unwrap_or_default()
    }

    pub(crate) fn vertex(&self, vertex: Vertex, boundary: &str) -> Arc<str> {
        vertex.index().map_or_else(|| boundary.into(), |number| self.activity(number))
    }
}

/// The variants, and the names of cases that occur more than once.
fn variants(variants: Variants, labels: &Labels<'_>) -> (Vec<Variant>, Vec<String>) {
    let (traces, cap) = variants.into_parts();
    let mut keys = Vec::new();
    let mut list: Vec<Variant> = traces
        .map(|(id, cases)| {
            keys.extend_from_slice(&cases.cases);
            variant(id, &cases, cap, labels)
        })
        .collect();
    list.sort_by(|a, b| {
        let order = b.count.cmp(&a.count).then_with(|| a.trace.cmp(&b.trace));
        order.then(a.length.cmp(&b.length)).then_with(|| a.cases.cmp(&b.cases))
    });
    keys.sort_unstable();
    let mut repeated: Vec<CaseKey> =
        keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    (list, repeated.into_iter().map(labels.case_name).collect())
}

fn variant(id: TraceId, cases: &VariantCases, cap: u64, labels: &Labels<'_>) -> Variant {
    let mut names: Vec<String> = cases.cases.iter().map(|&case| (labels.case_name)(case)).collect();
    names.sort_unstable();
    names.truncate(MAX_VARIANT_CASES);
    let truncated = id.length > cap;
    let steps = cases.steps.iter().map(|activity| labels.activity(activity as usize));
    let end = (!truncated).then(|| END.into());
    let trace = std::iter::once(START.into()).chain(steps).chain(end).collect();
    Variant { count: cases.cases.len() as u64, cases: names, trace, length: id.length, truncated }
}
