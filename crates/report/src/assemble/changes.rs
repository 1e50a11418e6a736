//! What changed between two groups.

use super::rounded;
use crate::data::PageComparison;
use crate::name_table::NameTable;
use crate::subject::Subject;
use iotrail_dfg::Comparison;
use iotrail_dfg::comparison::Unit;

pub(super) fn changes(
    subject: &Subject<'_>,
    comparison: &Comparison,
    names: &mut NameTable,
) -> PageComparison {
    let limit = subject.options.limits.table_rows;
    let thousandth = |value: f64| (value * 1000.0).round() / 1000.0;
    let causes = comparison.causes();
    let list = causes.iter().take(limit).map(|cause| {
        let change = cause.change;
        (
            change.kind,
            names.id(&change.activity),
            change.to.as_ref().map(|to| names.id(to)),
            change.measure.to_string(),
            thousandth(change.value_a),
            thousandth(change.value_b),
            thousandth(change.difference),
            change.ratio.map(thousandth),
            change.time_at_stake_ns.map(rounded),
            change.p_value,
            change.significant,
            cause.also.iter().map(|other| (other.kind, other.ratio.map(thousandth))).collect(),
        )
    });
    PageComparison {
        a: comparison.a.clone(),
        b: comparison.b.clone(),
        per_case: comparison.per == Unit::Rank,
        runs: (comparison.runs_a, comparison.runs_b, comparison.runs_needed),
        unit: comparison.unit.name(),
        exclusive: comparison.is_mostly_exclusive(),
        permutations: comparison.permutations,
        list: list.collect(),
        more: causes.len().saturating_sub(limit) as u64,
    }
}
