//! The data of a page from what a report is about.

mod behind;
mod changes;
mod edges;
mod nodes;
mod timelines;
mod variants;
mod whole;

use crate::advice::page_advice;
use crate::answer::answer;
use crate::data::{FORMAT, MoreEdges, MoreNodes, PageData, RecordingWords};
use crate::drill::page_drill;
use crate::name_table::NameTable;
use crate::positions::Positions;
use crate::stops::page_stops;
use crate::subject::Subject;
use iotrail_draw::Picture;

/// The data of the page.
pub(crate) fn assemble(subject: &Subject<'_>, shown: &Picture, positions: &Positions) -> PageData {
    let mut names = NameTable::default();
    let dfg = subject.dfg;
    let hidden_nodes = (0..dfg.nodes.len()).filter(|node| shown.nodes.binary_search(node).is_err());
    let nothing = MoreNodes { duration_ns: dfg.duration_ns.map(|_| 0), ..MoreNodes::default() };
    let nodes_more = hidden_nodes.fold(nothing, |more, node| {
        let node = &dfg.nodes[node];
        MoreNodes {
            nodes: more.nodes + 1,
            events: more.events + node.count,
            duration_ns: more.duration_ns.map(|sum| sum.saturating_add(node.duration_ns.unwrap_or(0))),
        }
    });
    let hidden_edges = (0..dfg.edges.len()).filter(|edge| shown.edges.binary_search(edge).is_err());
    let edges_more = hidden_edges.fold(MoreEdges::default(), |more, edge| MoreEdges {
        edges: more.edges + 1,
        count: more.count + dfg.edges[edge].count,
    });
    PageData {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        command: subject.options.command.clone(),
        title: subject.options.title.clone().unwrap_or_else(|| dfg.sources.join(", ")),
        verdict: subject.options.verdict.clone(),
        mapping: dfg.mapping.clone(),
        case_by: dfg.case_by.clone(),
        selection: dfg.selection.clone(),
        concurrency_rule: dfg.max_concurrency_rule.clone(),
        quantile_exact_limit: dfg.quantile_exact_limit,
        quantile_relative_error: dfg.quantile_relative_error,
        clock: whole::clock(subject.log.cases()),
        origin: subject.origin().to_rfc3339(),
        span_ns: subject.span_ns(),
        resolution_ns: dfg.resolution.known(),
        totals: whole::totals(subject),
        why: answer(subject.why, subject.origin().0, &subject.options.limits, &mut names),
        advice: page_advice(subject.advice, subject.options, &mut names),
        drill: page_drill(subject, &mut names),
        hosts: whole::hosts(subject, &mut names),
        commands: whole::commands(subject, &mut names),
        groups: dfg.groups.clone(),
        nodes: nodes::nodes(subject, shown, &mut names),
        nodes_more,
        edges: edges::edges(dfg, shown),
        edges_more,
        stops: page_stops(dfg, shown, positions, &subject.options.limits, &mut names),
        variants: variants::variants(subject, &mut names),
        timeline: timelines::timelines(subject, shown, &mut names),
        comparison: subject.comparison.map(|comparison| changes::changes(subject, comparison, &mut names)),
        calls: whole::calls(subject, &mut names),
        files: subject.files.page(subject.origin().0, &subject.options.limits, &mut names),
        slices: subject.sliced.map(|sliced| sliced.page(subject, shown, &mut names)),
        cases: whole::cases(subject, &mut names),
        likeness: subject.options.likeness.clone(),
        structured: subject.options.structured.clone(),
        workflow: subject.workflow.page(subject.log, subject.origin(), subject.options, &mut names),
        coverage: dfg.coverage.clone(),
        recording: dfg.coverage.recording.as_ref().map(RecordingWords::from),
        names: names.into_names(),
    }
}

/// One digit after the point is enough for a mean of whole numbers.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
