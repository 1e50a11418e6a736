//! What `iotrail compare` prints in a terminal: a table of what changed, one row for each activity or transition.
//!
//! The kind of a change is a word and what stands the test has a sign (`*`), so that nothing depends on colour.

use crate::hints::Hint;
use crate::table::{Align, Block, Style, Table};
use iotrail_dfg::comparison::Unit;
use iotrail_dfg::{Cause, ChangeKind, Comparison};
use iotrail_model::{text, units};

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
    for note in notes(comparison, limit, style) {
        out.push_str(&style.dim(&note));
        out.push('\n');
    }
    out
}

fn compared(comparison: &Comparison, style: Style) -> String {
    let mut block = Block::new();
    let sides =
        [("baseline", &comparison.a, comparison.runs_a), ("compared", &comparison.b, comparison.runs_b)];
    for (role, name, runs) in sides {
        let group = comparison.dfg.groups.iter().find(|group| group.name == *name);
        let figures = group.map(|group| {
            format!(
                ": {}, {}, {}, {}, {}",
                units::counted(runs, comparison.unit.name(), comparison.unit.plural()),
                units::counted(group.cases, "case", "cases"),
                units::counted(group.events, "event", "events"),
                units::duration_or_dash(group.duration_ns),
                units::bytes(group.bytes as f64)
            )
        });
        block.entry(role, format!("{name}{}", figures.unwrap_or_default()));
    }
    block.render(style)
}

fn changes(comparison: &Comparison, limit: usize, style: Style) -> String {
    let (a, b) = (text::shown(&comparison.a, 16), text::shown(&comparison.b, 16));
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
        .figures("p", Align::Right)
        .optional("also", Align::Left);
    for cause in comparison.causes().iter().take(limit) {
        table.row(row(cause));
    }
    table.render(style)
}

fn row(cause: &Cause<'_>) -> [String; 12] {
    let change = cause.change;
    let show = |value: f64| measured(&change.measure, value);
    let also = |other: &&iotrail_dfg::Change| match other.ratio {
        Some(ratio) => format!("{} {}", word(other.kind), units::ratio(ratio)),
        None => word(other.kind).to_owned(),
    };
    [
        if change.significant == Some(true) { "*" } else { " " }.to_owned(),
        word(change.kind).to_owned(),
        change.activity.to_string(),
        change.to.as_ref().map_or_else(String::new, |to| format!("→ {to}")),
        change.measure.trim_end_matches("_ns").to_owned(),
        show(change.value_a),
        show(change.value_b),
        signed(change.difference, show),
        units::or_dash(change.ratio, units::ratio),
        units::or_dash(change.time_at_stake_ns, |stake| signed(stake, units::duration)),
        units::or_dash(change.p_value, |p| if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }),
        cause.also.iter().map(also).collect::<Vec<_>>().join(", "),
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

fn notes(comparison: &Comparison, limit: usize, style: Style) -> Vec<String> {
    let mut notes = Vec::new();
    let causes = comparison.causes();
    let hidden = causes.get(limit..).unwrap_or_default();
    if !hidden.is_empty() {
        let stake: f64 = hidden.iter().filter_map(|cause| cause.change.time_at_stake_ns).map(f64::abs).sum();
        let number = units::counted(hidden.len() as u64, "more difference", "more differences");
        notes.push(format!("… {number} with {} at stake in all", units::duration(stake)));
    }
    if comparison.per_case {
        let (one, many) = (comparison.unit.name(), comparison.unit.plural());
        notes.push(format!("Values are per {one}, because the groups differ in their number of {many}."));
    }
    if comparison.is_mostly_exclusive() {
        let how = style.hints.of(Hint::MapPaths).map(|how| format!(" ({how})")).unwrap_or_default();
        notes.push(format!(
            "Most of this is in one group only: the groups use different paths. Map them to one name to see what became slower or faster{how}."
        ));
    }
    notes.push(about_chance(comparison));
    notes
}

/// What the test says, or what it would take.
fn about_chance(comparison: &Comparison) -> String {
    let (a, b) = (units::count(comparison.runs_a), units::count(comparison.runs_b));
    let needed = units::count(comparison.runs_needed);
    let units = comparison.unit.plural();
    let more = match comparison.unit {
        Unit::Run => format!("Record each variant at least {needed} times"),
        Unit::Rank => format!("Record at least {needed} ranks of each variant"),
    };
    if comparison.permutations == 0 {
        return format!(
            "Not tested, any of this may be chance: {a} against {b} {units} are too few. {more}."
        );
    }
    let test = format!(
        "permutation test over {a} against {b} {units}, up to {} divisions, corrected for the number of tests",
        units::count(comparison.permutations)
    );
    if comparison.changes.iter().any(|change| change.significant == Some(true)) {
        format!("* stands: chance rarely makes such a difference ({test}). Every other row may be chance.")
    } else if comparison.runs_a.min(comparison.runs_b) < comparison.runs_needed {
        format!(
            "Nothing stands, any of this may be chance ({test}). {more} to find a change of one activity."
        )
    } else {
        format!("Nothing stands, any of this may be chance ({test}).")
    }
}
