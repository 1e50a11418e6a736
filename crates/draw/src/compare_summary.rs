//! What `iotrail compare` says in a terminal: a table of what changed, largest time at stake first.
//!
//! The kind of a change is a word and noise is a sign (`~`), so that nothing depends on colour.

use crate::label;
use crate::table::{Align, Block, Style, Table};
use iotrail_dfg::{Change, ChangeKind, Comparison};
use iotrail_model::units;

/// The table of `comparison` with at most `limit` changes, ending in a line break.
#[must_use]
pub fn compare_summary(comparison: &Comparison, limit: usize, style: Style) -> String {
    let mut out = compared(comparison, style);
    out.push('\n');
    out.push_str(&style.bold("What changed"));
    out.push('\n');
    if comparison.changes.is_empty() {
        out.push_str(
            "Nothing: both groups have the same activities and transitions with the same figures.\n",
        );
        return out;
    }
    out.push_str(&changes(comparison, limit, style));
    for note in notes(comparison, limit) {
        out.push_str(&style.dim(&note));
        out.push('\n');
    }
    out
}

fn compared(comparison: &Comparison, style: Style) -> String {
    let mut block = Block::new();
    for (role, name) in [("baseline", &comparison.a), ("compared", &comparison.b)] {
        let group = comparison.dfg.groups.iter().find(|group| group.name == *name);
        let figures = group.map(|group| {
            let (cases, events) = (units::count(group.cases), units::count(group.events));
            format!(
                ": {cases} cases, {events} events, {}, {}",
                units::duration(group.duration_ns as f64),
                units::bytes(group.bytes as f64)
            )
        });
        block.entry(role, format!("{name}{}", figures.unwrap_or_default()));
    }
    block.render(style)
}

fn changes(comparison: &Comparison, limit: usize, style: Style) -> String {
    let (a, b) = (label::shown(&comparison.a, 16), label::shown(&comparison.b, 16));
    let mut table = Table::new()
        .figures("", Align::Left)
        .figures("change", Align::Left)
        .names("activity")
        .names("followed by")
        .figures("measure", Align::Left)
        .figures(&a, Align::Right)
        .figures(&b, Align::Right)
        .optional("difference", Align::Right)
        .figures("ratio", Align::Right)
        .figures("at stake", Align::Right)
        .figures("p", Align::Right);
    for change in comparison.changes.iter().take(limit) {
        table.row(row(change));
    }
    table.render(style)
}

fn row(change: &Change) -> [String; 11] {
    let show = |value: f64| measured(&change.measure, value);
    [
        if change.noise == Some(true) { "~" } else { " " }.to_owned(),
        word(change.kind).to_owned(),
        change.activity.clone(),
        change.to.as_ref().map_or_else(String::new, |to| format!("→ {to}")),
        change.measure.trim_end_matches("_ns").to_owned(),
        show(change.value_a),
        show(change.value_b),
        signed(change.difference, show),
        change.ratio.map_or_else(|| "–".to_owned(), label::ratio),
        signed(change.time_at_stake_ns, units::duration),
        change.p_value.map_or_else(
            || "–".to_owned(),
            |p| if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") },
        ),
    ]
}

pub(crate) fn signed(value: f64, show: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    if value == 0.0 { show(0.0) } else { format!("{sign}{}", show(value.abs())) }
}

fn measured(measure: &str, value: f64) -> String {
    match measure {
        "duration_ns" | "gap_ns" => units::duration(value),
        "bytes" => units::bytes(value),
        _ if value.fract() == 0.0 && value >= 0.0 => units::count(value as u64),
        _ => format!("{value:.2}"),
    }
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::New => "new",
        ChangeKind::Gone => "gone",
        ChangeKind::Slower => "slower",
        ChangeKind::Faster => "faster",
        ChangeKind::Larger => "larger",
        ChangeKind::Smaller => "smaller",
        ChangeKind::More => "more",
        ChangeKind::Fewer => "fewer",
    }
}

fn notes(comparison: &Comparison, limit: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden = comparison.changes.get(limit..).unwrap_or_default();
    if !hidden.is_empty() {
        let stake: f64 = hidden.iter().map(|change| change.time_at_stake_ns.abs()).sum();
        let number = units::count(hidden.len() as u64);
        let noun = if hidden.len() == 1 { "change" } else { "changes" };
        notes.push(format!("… {number} more {noun} with {} at stake in all", units::duration(stake)));
    }
    if comparison.per_case {
        notes.push("Values are per case, because the groups differ in their number of cases.".to_owned());
    }
    notes.push(about_noise(comparison));
    notes
}

fn about_noise(comparison: &Comparison) -> String {
    let number = units::count(comparison.permutations);
    if comparison.permutations == 0 {
        "No test for noise: the groups have too few cases.".to_owned()
    } else if comparison.changes.iter().any(|change| change.noise.is_some()) {
        format!(
            "~ noise explains the difference (permutation test over cases, {number} permutations, p > 0.05 corrected)."
        )
    } else {
        format!(
            "The test for noise cannot tell: {number} permutations of the cases allow no p below 0.05. Record more cases."
        )
    }
}
