//! Two profiles phase by phase, in a terminal.

use crate::compare_summary::signed;
use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::{text, units};
use iotrail_stats::compare::{Measure, Measured, Phase, PhaseComparison, Side};

/// What is shown of all groups together, however little differs.
const ALWAYS: [Measure; 5] =
    [Measure::Jobs, Measure::Calls, Measure::BytesRead, Measure::BytesWritten, Measure::CallNs];

/// The table of `comparison` with at most `limit` rows of groups, ending in a line break.
#[must_use]
pub fn compare_phases(comparison: &PhaseComparison, limit: usize, style: Style) -> String {
    let mut out = style.bold(&format!("Phases, by {}", text::shown(&comparison.by, 40)));
    out.push('\n');
    let mut table = Table::new()
        .names("group")
        .figures("figure", Align::Left)
        .figures(&text::shown(&comparison.a, 16), Align::Right)
        .figures(&text::shown(&comparison.b, 16), Align::Right)
        .optional("difference", Align::Right)
        .figures("ratio", Align::Right);
    let rows: Vec<[String; 6]> = comparison.phases.iter().flat_map(rows).collect();
    rows.iter().take(limit).for_each(|cells| table.row(cells.clone()));
    let total = &comparison.total;
    let always = total.measures.iter().filter(|found| ALWAYS.contains(&found.measure));
    always.for_each(|measured| table.row(row(&total.group, measured)));
    out.push_str(&table.render(style));
    for note in notes(comparison, rows.len().saturating_sub(limit), style) {
        out.push_str(&style.dim(&note));
        out.push('\n');
    }
    out
}

/// What differs in a group, or that one side does not have it.
fn rows(phase: &Phase) -> Vec<[String; 6]> {
    let group = text::shown(&phase.group, 40);
    match phase.only {
        None => {
            phase.measures.iter().filter(|found| found.is_notable()).map(|found| row(&group, found)).collect()
        }
        Some(_) => {
            let jobs = phase.measures.iter().filter(|found| found.measure == Measure::Jobs);
            jobs.map(|found| row(&group, found)).collect()
        }
    }
}

fn row(group: &str, measured: &Measured) -> [String; 6] {
    let show =
        |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |value| measured.measure.shown(value));
    let difference = |difference: i64| {
        signed(difference as f64, |magnitude| measured.measure.shown(magnitude.abs() as u64))
    };
    [
        group.to_owned(),
        measured.measure.words().to_owned(),
        show(measured.a),
        show(measured.b),
        measured.difference.map_or_else(|| "–".to_owned(), difference),
        measured.ratio.map_or_else(|| "–".to_owned(), units::ratio),
    ]
}

fn notes(comparison: &PhaseComparison, hidden: usize, style: Style) -> Vec<String> {
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("… {} more rows", units::count(hidden as u64)));
    }
    notes.push(
        "Shown are figures that differ by a tenth or more, and groups that one run alone has (–).".to_owned(),
    );
    if comparison.phases.iter().all(|phase| phase.only == Some(Side::A) || phase.only == Some(Side::B)) {
        let how = style.hints.of(Hint::CommonPhases).map(|how| format!(" {how}")).unwrap_or_default();
        notes.push(format!("No group is in both runs.{how}"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_stats::Profile;
    use iotrail_stats::compare::compare;
    use iotrail_stats::result::PhaseRow;

    fn profile(rows: &[(&str, u64, u64)]) -> Profile {
        let row = |(group, calls, bytes): &(&str, u64, u64)| PhaseRow {
            group: (*group).to_owned(),
            jobs: 1,
            calls: *calls,
            bytes_read: *bytes,
            ..PhaseRow::default()
        };
        let calls = rows.iter().map(|row| row.1).sum();
        let total = PhaseRow { jobs: rows.len() as u64, calls, ..PhaseRow::default() };
        Profile { by: "exe".to_owned(), phases: rows.iter().map(row).collect(), total, ..Profile::default() }
    }

    fn compared() -> PhaseComparison {
        let a = profile(&[("sort", 100, 5000), ("cut\u{1b}[2J", 10, 0)]);
        let b = profile(&[("sort", 105, 2500), ("uniq,x", 3, 9)]);
        compare(&a, &b, ("before", "after"))
    }

    #[test]
    fn the_table_shows_what_differs_and_hides_no_side() {
        let text = compare_phases(&compared(), 25, Style::default());
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let has = |line: &str| assert!(lines.iter().any(|found| found.starts_with(line)), "{line}: {text}");
        has("sort bytes read 5.00 kB 2.50 kB -2.50 kB");
        has("uniq,x jobs – 1 –");
        has("total calls 110 108 -2");
        assert!(!text.contains('\u{1b}') && !text.contains("sort  calls"), "{text}");
        let hidden = compare_phases(&compared(), 1, Style::default());
        assert!(hidden.contains("2 more rows") && !hidden.contains("uniq"), "{hidden}");
    }
}
