//! Two profiles phase by phase as CSV.

use iotrail_model::csv::{self, Table};
use iotrail_stats::compare::{Measured, Phase, PhaseComparison, Side};

/// All figures, one a row, with a header line.
#[must_use]
pub fn compare_phases_csv(comparisons: &[PhaseComparison]) -> String {
    let mut table = Table::new([
        "a",
        "b",
        "group",
        "only",
        "measure",
        "layer",
        "value_a",
        "value_b",
        "difference",
        "ratio",
    ]);
    for comparison in comparisons {
        for phase in comparison.phases.iter().chain([&comparison.total]) {
            phase.measures.iter().for_each(|measured| table.line(csv_row(comparison, phase, measured)));
        }
    }
    table.finish()
}

fn csv_row(comparison: &PhaseComparison, phase: &Phase, measured: &Measured) -> [String; 10] {
    let only = phase.only.map(|side| if side == Side::A { "a" } else { "b" });
    [
        csv::text(&comparison.a),
        csv::text(&comparison.b),
        csv::text(&phase.group),
        csv::text_or_null(only),
        measured.measure.name().to_owned(),
        measured.layer.name().to_owned(),
        csv::number(measured.a),
        csv::number(measured.b),
        csv::number(measured.difference),
        csv::number(measured.ratio),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_stats::Profile;
    use iotrail_stats::compare::Measure;
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
    fn csv_holds_every_figure() {
        let csv = compare_phases_csv(&[compared()]);
        assert_eq!(csv.lines().count(), 1 + 4 * Measure::ALL.len());
        assert!(csv.contains("before,after,sort,,bytes_read,system call,5000,2500,-2500,0.5\n"), "{csv}");
        assert!(csv.contains("before,after,\"uniq,x\",b,calls,system call,,3,,\n"), "{csv}");
    }
}
