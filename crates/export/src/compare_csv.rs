//! A comparison as CSV: one long table of all its figures.

use iotrail_dfg::{ActivityChange, Comparison, Pair};
use iotrail_model::csv::{self, Table};
use iotrail_stats::compare::{Measured, Phase, PhaseComparison, Side};
use iotrail_workflow::change::{ElapsedCause, ElapsedChange, Verdict};

/// A comparison whose figures become rows.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The figures of runs: rows `verdict`.
    pub verdict: &'a Verdict,
    /// The elapsed time by cause: rows `elapsed`.
    pub elapsed: Option<&'a ElapsedChange>,
    /// The activities: rows `activity`.
    pub comparison: &'a Comparison,
    /// The profiles: rows `phase`.
    pub phases: Option<&'a PhaseComparison>,
}

const COLUMNS: [&str; 13] = [
    "a",
    "b",
    "part",
    "name",
    "program",
    "kind",
    "measure",
    "layer",
    "value_a",
    "value_b",
    "difference",
    "ratio",
    "p_value",
];

/// All figures, one a row, with a header line.
#[must_use]
pub fn compare_csv(all: &[Compared<'_>]) -> String {
    let mut table = Table::new(COLUMNS);
    for compared in all {
        let names = (&*compared.comparison.a, &*compared.comparison.b);
        let mut add = |row: Row<'_>| table.line(row.cells(names));
        compared.verdict.figures.iter().for_each(|change| {
            add(Row {
                part: "verdict",
                measure: change.figure.name(),
                values: Pair { a: change.a, b: change.b },
                p_value: compared
                    .comparison
                    .elapsed_chance
                    .map(|chance| chance.p_value)
                    .filter(|_| change.figure.name() == "elapsed"),
                ..Row::default()
            });
        });
        let causes = compared.elapsed.iter().flat_map(|elapsed| &elapsed.causes);
        causes.for_each(|cause| add(Row::of_cause(cause)));
        compared.comparison.activities.iter().flat_map(Row::of_activity).for_each(&mut add);
        let phases = compared.phases.iter().flat_map(|phases| phases.phases.iter().chain([&phases.total]));
        phases
            .flat_map(|phase| phase.measures.iter().map(move |measured| Row::of_phase(phase, measured)))
            .for_each(&mut add);
    }
    table.finish()
}

#[derive(Clone, Copy, Debug, Default)]
struct Row<'a> {
    part: &'static str,
    name: Option<&'a str>,
    program: Option<&'a str>,
    kind: Option<&'a str>,
    measure: &'static str,
    layer: Option<&'static str>,
    values: Pair,
    p_value: Option<f64>,
}

impl<'a> Row<'a> {
    fn of_cause(cause: &'a ElapsedCause) -> Self {
        Self {
            part: "elapsed",
            name: cause.path.as_deref(),
            program: Some(&cause.program),
            kind: Some(cause.kind.name()),
            measure: "elapsed_ns",
            values: Pair { a: Some(cause.a_ns as f64), b: Some(cause.b_ns as f64) },
            ..Self::default()
        }
    }

    fn of_activity(row: &'a ActivityChange) -> [Self; 5] {
        let io = Pair { a: row.io_a_ns, b: row.io_b_ns };
        let figures = [
            ("io_ns", io),
            ("count", row.count),
            ("duration_ns", row.duration_ns),
            ("bytes", row.bytes),
            ("gap_ns", row.gap_ns),
        ];
        figures.map(|(measure, values)| Self {
            part: "activity",
            name: Some(&row.activity),
            kind: Some(row.cause.name()),
            measure,
            values,
            p_value: row.p_value,
            ..Self::default()
        })
    }

    fn of_phase(phase: &'a Phase, measured: &Measured) -> Self {
        let value = |value: Option<u64>| value.map(|value| value as f64);
        Self {
            part: "phase",
            name: Some(&phase.group),
            kind: phase.only.map(|side| if side == Side::A { "only a" } else { "only b" }),
            measure: measured.measure.name(),
            layer: Some(measured.layer.name()),
            values: Pair { a: value(measured.a), b: value(measured.b) },
            ..Self::default()
        }
    }

    fn cells(&self, (a, b): (&str, &str)) -> [String; 13] {
        [
            csv::text(a),
            csv::text(b),
            self.part.to_owned(),
            csv::text_or_null(self.name),
            csv::text_or_null(self.program),
            csv::text_or_null(self.kind),
            self.measure.to_owned(),
            csv::text_or_null(self.layer),
            csv::number(self.values.a),
            csv::number(self.values.b),
            csv::number(self.values.difference()),
            csv::number(self.values.ratio()),
            csv::number(self.p_value),
        ]
    }
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
        let phases = compared();
        let cause = ElapsedCause { a_ns: 3, b_ns: 5, program: "x,y".to_owned(), ..ElapsedCause::default() };
        let elapsed = ElapsedChange { causes: vec![cause], ..ElapsedChange::default() };
        let comparison =
            Comparison { a: "before".to_owned(), b: "after".to_owned(), ..Comparison::default() };
        let compared = Compared {
            verdict: &Verdict::default(),
            elapsed: Some(&elapsed),
            comparison: &comparison,
            phases: Some(&phases),
        };
        let csv = compare_csv(&[compared]);
        assert_eq!(csv.lines().count(), 1 + 1 + 4 * Measure::ALL.len());
        assert!(csv.contains("before,after,elapsed,,\"x,y\",between calls,elapsed_ns,,3,5,2,"), "{csv}");
        assert!(
            csv.contains("before,after,phase,sort,,,bytes_read,system call,5000,2500,-2500,0.5,\n"),
            "{csv}"
        );
        assert!(csv.contains("before,after,phase,\"uniq,x\",,only b,calls,system call,,3,,,\n"), "{csv}");
    }
}
