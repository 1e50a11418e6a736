//! What is written on nodes and edges.
//!
//! A node says `Load: rd (b)` and `DR: mc × dr` (Sankaran et al., equations 10 and 17) in human units. Names come from
//! traces: they are shown with control characters visible and their middle left out when they are long.

use crate::font::{self, Weight};
use crate::view::{ColourBy, EdgeMeasure, View};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Edge, Node, NodeInGroup};
use iotrail_model::{text, units};

/// Longest path shown on a node, characters.
pub const MAX_PATH: usize = 38;
const NAME_SIZE: f64 = 13.0;
const FIGURE_SIZE: f64 = 11.0;
/// Size of the labels of edges.
pub const EDGE_SIZE: f64 = 10.5;
const LEADING: f64 = 1.28;
const PADDING: (f64, f64) = (11.0, 8.0);

/// One line of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it says, safe to show.
    pub text: String,
    /// Size in points.
    pub size: f64,
    /// Weight of the font.
    pub weight: Weight,
}

impl Line {
    fn new(text: String, size: f64, weight: Weight) -> Self {
        Self { text, size, weight }
    }

    /// Width of the line in points.
    #[must_use]
    pub fn width(&self) -> f64 {
        font::width(&self.text, self.size, self.weight)
    }

    /// From its top to the top of the next.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.size * LEADING
    }
}

/// The lines of a node, from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLabel {
    /// Lines of the label, from top to bottom.
    pub lines: Vec<Line>,
}

impl NodeLabel {
    /// Call, path, load, data rate, count; and each group's share when groups are what colours mean.
    #[must_use]
    pub fn of(node: &Node, dfg: &Dfg, view: &View) -> Self {
        let (call, path) = split(&node.activity);
        let mut lines = vec![Line::new(text::shown(call, MAX_PATH), NAME_SIZE, Weight::Bold)];
        lines.extend(
            path.map(|path| Line::new(text::shown(path, MAX_PATH), NAME_SIZE - 1.0, Weight::Regular)),
        );
        let figures = [Some(load(node)), data_rate(node), Some(occurrence(node))];
        let groups = if view.shows_groups(dfg) { group_lines(node, dfg) } else { Vec::new() };
        let small = figures.into_iter().flatten().chain(groups);
        lines.extend(small.map(|text| Line::new(text, FIGURE_SIZE, Weight::Regular)));
        Self { lines }
    }

    /// Width and height of a box that holds the lines.
    #[must_use]
    pub fn size(&self) -> (f64, f64) {
        let width = self.lines.iter().map(Line::width).fold(0.0, f64::max);
        let height: f64 = self.lines.iter().map(Line::height).sum();
        ((width + 2.0 * PADDING.0).ceil(), (height + 2.0 * PADDING.1).ceil())
    }

    /// Distance from the top of the box to the first line.
    #[must_use]
    pub fn top(&self) -> f64 {
        PADDING.1
    }
}

/// `read` and `/usr/lib` of `read:/usr/lib`; all of a name that does not look like this.
#[must_use]
pub fn split(activity: &str) -> (&str, Option<&str>) {
    match activity.split_once(':') {
        Some((call, path)) if !path.is_empty() && is_word(call) => (call, Some(path)),
        _ => (activity, None),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "_+/".contains(character))
}

/// `Load: 12.3 % (1.50 GB)`
#[must_use]
pub fn load(node: &Node) -> String {
    let share = units::or_dash(node.relative_duration, units::percent);
    let moves_bytes = node.bytes > 0 || node.size.max.is_some();
    if moves_bytes {
        format!("Load: {share} ({})", units::bytes(node.bytes as f64))
    } else {
        format!("Load: {share}")
    }
}

/// `DR: 3 × 2.50 GB/s`, if there is a data rate.
#[must_use]
pub fn data_rate(node: &Node) -> Option<String> {
    let at_once = units::or_dash(node.max_concurrency, units::count);
    node.data_rate.map(|rate| format!("DR: {at_once} × {}", units::rate(rate)))
}

fn occurrence(node: &Node) -> String {
    let failed =
        if node.failures > 0 { format!(", {} failed", units::count(node.failures)) } else { String::new() };
    // Of several activities drawn as one it is not known.
    let known = Some(node.cases).filter(|cases| *cases > 0);
    let cases =
        known.map_or_else(String::new, |cases| format!(" in {}", units::counted(cases, "case", "cases")));
    format!("{} ×{cases}{failed}", units::count(node.count))
}

/// Longest name of a group on a node or edge, characters.
pub const MAX_GROUP: usize = 16;

fn group_lines(node: &Node, dfg: &Dfg) -> Vec<String> {
    let present: Vec<_> =
        dfg.groups.iter().filter_map(|group| Some((group, node.groups.get(&group.name)?))).collect();
    if let [(only, _)] = present.as_slice() {
        return vec![format!("only {}", text::shown(&only.name, MAX_GROUP))];
    }
    let mut lines: Vec<String> = (present.iter())
        .map(|(group, figures)| {
            let time = units::duration_or_dash(figures.duration_ns);
            format!("{}: {time}, {} ×", text::shown(&group.name, MAX_GROUP), units::count(figures.count))
        })
        .collect();
    if let [(_, a), (_, b)] = present.as_slice()
        && let (Some(a), Some(b)) = (a.duration_ns.filter(|nanos| *nanos > 0), b.duration_ns)
    {
        lines.push(format!("time {}", units::ratio(b as f64 / a as f64)));
    }
    lines
}

/// What is written on an edge.
#[must_use]
pub fn edge_label(edge: &Edge, measure: EdgeMeasure) -> String {
    match measure {
        EdgeMeasure::Count => units::count(edge.count),
        EdgeMeasure::Cases => units::or_dash(Some(edge.cases).filter(|cases| *cases > 0), units::count),
        EdgeMeasure::Gap => edge.gap_ns.p50.map_or_else(|| "–".to_owned(), |gap| units::duration(gap as f64)),
    }
}

/// Width and height of an edge's label with the gap it needs around it.
#[must_use]
pub fn edge_label_size(label: &str) -> (f64, f64) {
    (font::width(label, EDGE_SIZE, Weight::Regular) + 6.0, EDGE_SIZE + 4.0)
}

/// Everything about an activity, for tooltips: whole name, exact figures.
#[must_use]
pub fn node_title(node: &Node, dfg: &Dfg) -> String {
    let mut lines = vec![text::shown(&node.activity, usize::MAX)];
    let optional =
        |value: Option<i64>| value.map_or_else(|| "–".to_owned(), |nanos| units::duration(nanos as f64));
    lines.push(format!(
        "{} in {}, {} failed",
        units::counted(node.count, "event", "events"),
        units::counted(node.cases, "case", "cases"),
        units::count(node.failures)
    ));
    lines.push(format!(
        "time: {} ({})",
        units::duration_or_dash(node.duration_ns),
        units::or_dash(node.relative_duration, units::percent)
    ));
    let quantiles =
        [node.duration.p50, node.duration.p95, node.duration.p99, node.duration.max].map(optional);
    lines.push(format!(
        "duration p50 {}, p95 {}, p99 {}, max {}",
        quantiles[0], quantiles[1], quantiles[2], quantiles[3]
    ));
    lines.push(format!(
        "{}, {}, at most {} at once",
        units::counted(node.bytes, "byte", "bytes"),
        units::counted(node.files, "file", "files"),
        units::or_dash(node.max_concurrency, |most| most.to_string())
    ));
    for group in &dfg.groups {
        let figures = node.groups.get(&group.name).copied().unwrap_or(NodeInGroup::ABSENT);
        let (name, time) = (text::printable(&group.name), units::duration_or_dash(figures.duration_ns));
        let events = units::counted(figures.count, "event", "events");
        lines.push(format!("{name}: {events}, {time}, {}", units::counted(figures.bytes, "byte", "bytes")));
    }
    lines.join("\n")
}

fn taken(count: u64, cases: u64) -> String {
    format!("{} in {}", units::counted(count, "time", "times"), units::counted(cases, "case", "cases"))
}

/// Everything about a transition, for tooltips.
#[must_use]
pub fn edge_title(edge: &Edge, dfg: &Dfg) -> String {
    let mut lines = vec![format!("{} → {}", text::printable(&edge.from), text::printable(&edge.to))];
    lines.push(taken(edge.count, edge.cases));
    if let (Some(p50), Some(p95)) = (edge.gap_ns.p50, edge.gap_ns.p95) {
        lines.push(format!("gap p50 {}, p95 {}", units::duration(p50 as f64), units::duration(p95 as f64)));
    }
    for group in &dfg.groups {
        let figures = edge.groups.get(&group.name).copied().unwrap_or_default();
        lines.push(format!("{}: {}", text::printable(&group.name), taken(figures.count, figures.cases)));
    }
    lines.join("\n")
}

impl View {
    /// Whether colours mean groups in a picture of `dfg`.
    #[must_use]
    pub fn shows_groups(&self, dfg: &Dfg) -> bool {
        self.colour_by == ColourBy::Groups && !dfg.groups.is_empty()
    }
}
