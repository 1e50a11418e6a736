//! What `iotrail dfg` says in a terminal: what was read, where the time went, what follows what, what is not shown.

use crate::hints::Hint;
use crate::table::{Align, Block, Style, Table, bar};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Node, Variant};
use iotrail_model::{text, units};

/// How much a summary shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Activities.
    pub activities: usize,
    /// Transitions.
    pub transitions: usize,
    /// Variants.
    pub variants: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { activities: 12, transitions: 8, variants: 5 }
    }
}

/// The summary of `dfg`, ending in a line break.
#[must_use]
pub fn summary(dfg: &Dfg, limits: Limits, style: Style) -> String {
    let sections = [
        read(dfg, style),
        activities(dfg, limits.activities, style),
        transitions(dfg, limits.transitions, style),
        variants(dfg, limits.variants, style),
        more_elsewhere(dfg, style),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn more_elsewhere(dfg: &Dfg, style: Style) -> String {
    if dfg.nodes.is_empty() {
        return String::new();
    }
    style.hint(Hint::WholeGraph)
}

fn read(dfg: &Dfg, style: Style) -> String {
    let mut block = Block::new();
    block.entry("event log", dfg.sources.join(", "));
    let events = &dfg.events;
    let time = events.unmapped_ns.map(|nanos| format!(" ({})", units::duration(nanos as f64)));
    let time = time.unwrap_or_default();
    let unmapped = match events.unmapped {
        0 => String::new(),
        1 => format!(", 1 of them{time} matches no activity and is not shown"),
        number => format!(", {} of them{time} match no activity and are not shown", units::count(number)),
    };
    block.entry("events", format!("{}{unmapped}", units::count(events.total)));
    if !dfg.selection.is_empty() {
        block.entry("selected", dfg.selection.clone());
    }
    let without = if dfg.cases_without_trace > 0 {
        format!(", {} more without an event of an activity", units::count(dfg.cases_without_trace))
    } else {
        String::new()
    };
    block.entry("cases", format!("{} (by {}){without}", units::count(dfg.cases), dfg.case_by));
    block.entry("activities", format!("{} (mapping {})", units::count(dfg.nodes.len() as u64), dfg.mapping));
    let requests = dfg.request_ns();
    let within = dfg.elapsed().map(|span| format!(" within {}", units::duration(span.0 as f64)));
    block.entry(
        "time in calls",
        match dfg.duration_ns {
            Some(nanos) => {
                let of_threads = nanos.saturating_sub(requests);
                format!("{}{}", units::duration(of_threads as f64), within.unwrap_or_default())
            }
            None if events.mapped == 0 => units::duration(0.0),
            None => "unknown: no call has a duration (strace -T records them)".to_owned(),
        },
    );
    if requests > 0 {
        let time = units::duration(requests as f64);
        block.entry(
            "in flight",
            format!("{time} in all of requests (io_uring, aio), beside the calls of their threads"),
        );
    }
    block.entry("bytes moved", units::bytes(dfg.bytes as f64));
    for group in &dfg.groups {
        let cases = units::counted(group.cases, "case", "cases");
        let events = units::counted(group.events, "event", "events");
        let (time, bytes) = (units::duration_or_dash(group.duration_ns), units::bytes(group.bytes as f64));
        block.entry(
            &format!("group {}", text::shown(&group.name, 24)),
            format!("{cases}, {events}, {time}, {bytes}"),
        );
    }
    block.render(style)
}

fn activities(dfg: &Dfg, limit: usize, style: Style) -> String {
    if dfg.nodes.is_empty() {
        let how = style.hints.of(Hint::ExplainMapping).map(|how| format!(" {how}")).unwrap_or_default();
        return format!("No event was mapped to an activity.{how}\n");
    }
    let mut sections = Vec::new();
    for (title, is_of_it, time) in SECTIONS {
        let mut nodes: Vec<&Node> = dfg.nodes.iter().filter(|node| is_of_it(node)).collect();
        if nodes.is_empty() {
            continue;
        }
        nodes.sort_by_key(|node| std::cmp::Reverse(time(node)));
        sections.push(activity_table((title, &nodes), &time, dfg, limit, style));
    }
    sections.join("\n")
}

/// A table of activities: its title, which of them are in it, and the time that counts there.
type Section = (&'static str, fn(&Node) -> bool, fn(&Node) -> Option<u64>);

const SECTIONS: [Section; 3] = [
    ("Activities by load", |node| !node.is_wait() && !node.is_request(), Node::working_ns),
    ("Waits", Node::is_wait, |node| node.wait_ns),
    ("Requests in flight", Node::is_request, |node| node.request_ns),
];

/// Activities with the share of each in the time that counts here.
fn activity_table(
    (title, nodes): (&str, &[&Node]),
    time: &dyn Fn(&Node) -> Option<u64>,
    dfg: &Dfg,
    limit: usize,
    style: Style,
) -> String {
    let all = nodes.iter().filter_map(|node| time(node)).fold(0, u64::saturating_add);
    let mut table = Table::new()
        .names("activity")
        .figures("load", Align::Right)
        .optional("", Align::Left)
        .figures("time", Align::Right)
        .figures("bytes", Align::Right)
        .figures("DR", Align::Right)
        .figures("count", Align::Right)
        .optional("p50", Align::Right)
        .optional("p95", Align::Right)
        .optional("cases", Align::Right);
    let failed = nodes.iter().take(limit).any(|node| node.failures > 0);
    if failed {
        table = table.figures("failed", Align::Right);
    }
    for node in nodes.iter().take(limit) {
        let load = time(node).map(|time| if all == 0 { 0.0 } else { time as f64 / all as f64 });
        let mut row = activity_row(node, time(node), load);
        if failed {
            row.push(units::count(node.failures));
        }
        table.row(row);
    }
    let rest = nodes.get(limit..).unwrap_or_default();
    let events = rest.iter().map(|node| node.count).fold(0, u64::saturating_add);
    let left = rest.iter().filter_map(|node| time(node)).fold(0, u64::saturating_add);
    let known = nodes.iter().any(|node| time(node).is_some());
    let more = more(
        rest.len(),
        "activity",
        "activities",
        &[(events, Some(dfg.events.mapped), "of events"), (left, known.then_some(all), "of time")],
    );
    format!(
        "{}\n{}{}",
        style.bold(title),
        table.render(style),
        more.map(|more| style.dim(&more) + "\n").unwrap_or_default()
    )
}

fn activity_row(node: &Node, time: Option<u64>, load: Option<f64>) -> Vec<String> {
    let quantile =
        |value: Option<i64>| value.map_or_else(|| "–".to_owned(), |nanos| units::duration(nanos as f64));
    let moves = node.bytes > 0 || node.size.max.is_some();
    vec![
        node.activity.to_string(),
        units::or_dash(load, units::percent),
        bar(load.unwrap_or(0.0), 8),
        units::duration_or_dash(time),
        if moves { units::bytes(node.bytes as f64) } else { "–".to_owned() },
        node.data_rate.map_or_else(
            || "–".to_owned(),
            |rate| format!("{} × {}", units::or_dash(node.max_concurrency, units::count), units::rate(rate)),
        ),
        units::count(node.count),
        quantile(node.duration.p50),
        quantile(node.duration.p95),
        units::count(node.cases),
    ]
}

/// `… 41 more activities: 3.1 % of events, 0.4 % of time`
fn more(hidden: usize, one: &str, many: &str, shares: &[(u64, Option<u64>, &str)]) -> Option<String> {
    let shares: Vec<String> = (shares.iter())
        .filter_map(|(part, whole, what)| {
            let whole = (*whole)?.max(1) as f64;
            Some(format!("{} {what}", units::percent(*part as f64 / whole)))
        })
        .collect();
    let noun = if hidden == 1 { one } else { many };
    (hidden > 0).then(|| format!("… {} more {noun}: {}", units::count(hidden as u64), shares.join(", ")))
}

fn transitions(dfg: &Dfg, limit: usize, style: Style) -> String {
    if dfg.edges.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .names("from")
        .names("to")
        .figures("count", Align::Right)
        .figures("cases", Align::Right)
        .optional("gap p50", Align::Right)
        .optional("gap p95", Align::Right);
    for edge in dfg.edges.iter().take(limit) {
        let gap =
            |value: Option<i64>| value.map_or_else(|| "–".to_owned(), |nanos| units::duration(nanos as f64));
        table.row([
            edge.from.to_string(),
            edge.to.to_string(),
            units::count(edge.count),
            units::count(edge.cases),
            gap(edge.gap_ns.p50),
            gap(edge.gap_ns.p95),
        ]);
    }
    let taken = dfg.edges.iter().map(|edge| edge.count).fold(0, u64::saturating_add);
    let rest = dfg.edges.iter().skip(limit).map(|edge| edge.count).fold(0, u64::saturating_add);
    let hidden = dfg.edges.len().saturating_sub(limit);
    let more = more(hidden, "transition", "transitions", &[(rest, Some(taken), "of all taken")]);
    let heading = style.bold("Most frequent transitions");
    format!(
        "{heading}\n{}{}",
        table.render(style),
        more.map(|more| style.dim(&more) + "\n").unwrap_or_default()
    )
}

fn variants(dfg: &Dfg, limit: usize, style: Style) -> String {
    if dfg.variants.is_empty() {
        return String::new();
    }
    let total = dfg.variants.iter().map(|variant| variant.count).fold(0, u64::saturating_add);
    let mut table = Table::new()
        .figures("cases", Align::Right)
        .figures("share", Align::Right)
        .figures("events", Align::Right)
        .names("trace");
    let mut covered = 0;
    for variant in dfg.variants.iter().take(limit) {
        covered += variant.count;
        table.row([
            units::count(variant.count),
            units::percent(variant.count as f64 / total.max(1) as f64),
            units::count(variant.length),
            trace(variant),
        ]);
    }
    let hidden = dfg.variants.len().saturating_sub(limit);
    let more = more(hidden, "variant", "variants", &[(total - covered, Some(total), "of cases")]);
    let heading = style.bold("Variants");
    format!(
        "{heading}\n{}{}",
        table.render(style),
        more.map(|more| style.dim(&more) + "\n").unwrap_or_default()
    )
}

/// How many steps of a trace are written at each of its ends.
const STEPS: usize = 30;

/// `● → read:/usr/lib ×3 → write:/dev/pts → ■`: repetitions counted, the middle of a long one left out.
fn trace(variant: &Variant) -> String {
    let mut steps: Vec<(&str, usize)> = Vec::new();
    for activity in &variant.trace {
        match steps.last_mut() {
            Some((last, times)) if **last == **activity => *times += 1,
            _ => steps.push((activity, 1)),
        }
    }
    let step = |(activity, times): &(&str, usize)| match times {
        1 => text::shown(activity, 40),
        _ => format!("{} ×{times}", text::shown(activity, 40)),
    };
    let mut words: Vec<String> = steps.iter().take(STEPS).map(step).collect();
    if steps.len() > 2 * STEPS {
        words.push("…".to_owned());
    }
    words.extend(steps.iter().skip(STEPS.max(steps.len().saturating_sub(STEPS))).map(step));
    if variant.truncated {
        words.push("…".to_owned());
    }
    words.join(" → ")
}
