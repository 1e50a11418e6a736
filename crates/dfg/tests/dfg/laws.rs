//! Laws of partial results, and the loop against a reference that follows the definitions literally.

use crate::common::{Fate, Row, assert_same, finish, graph, partial, plan, reference, sorted};
use iotrail_dfg::{ConcurrencyRule, Dfg, Partial};
use proptest::prelude::*;

fn rows(cases: std::ops::Range<u32>, count: usize) -> impl Strategy<Value = Vec<Row>> {
    let fate = prop_oneof![8 => (0_u32..6).prop_map(Fate::Mapped), 1 => Just(Fate::Unmapped), 1 => Just(Fate::Unselected)];
    let time = (0_i64..200, prop::option::weighted(0.9, 0_i64..40));
    let rest = (prop::option::of(0_i64..10_000), prop::option::of(0_u32..5), prop::bool::weighted(0.1));
    let row = (cases, 0_u32..3, fate, time, rest).prop_map(
        |(case, part, fate, (start, dur), (size, path, failed))| Row {
            case,
            part,
            fate,
            start,
            dur,
            size: size.filter(|_| !failed),
            file: path,
            failed,
        },
    );
    prop::collection::vec(row, 0..count).prop_map(sorted)
}

/// Merges neighbours in an order that `choices` decides, until one partial result is left.
fn merge_in_any_association(mut parts: Vec<Partial>, choices: &[prop::sample::Index]) -> Partial {
    let mut choices = choices.iter().cycle();
    while parts.len() > 1 {
        let at = choices.next().map_or(0, |choice| choice.index(parts.len() - 1));
        let next = parts.remove(at + 1);
        let merged = parts.remove(at).merge(next);
        parts.insert(at, merged);
    }
    parts.remove(0)
}

fn assert_flows_add_up(dfg: &Dfg) {
    for node in &dfg.nodes {
        let sum = |end: fn(&iotrail_dfg::result::Edge) -> &str| -> u64 {
            dfg.edges.iter().filter(|edge| *end(edge) == *node.activity).map(|edge| edge.count).sum()
        };
        assert_eq!(sum(|edge| &*edge.to), node.count, "into {}", node.activity);
        assert_eq!(sum(|edge| &*edge.from), node.count, "out of {}", node.activity);
    }
    let boundary = |is: fn(&iotrail_dfg::result::Edge) -> bool| -> u64 {
        dfg.edges.iter().filter(|edge| is(edge)).map(|edge| edge.count).sum()
    };
    assert_eq!(boundary(|edge| &*edge.from == "●"), dfg.cases);
    assert_eq!(boundary(|edge| &*edge.to == "■"), dfg.cases);
    assert_eq!(dfg.variants.iter().map(|variant| variant.count).sum::<u64>(), dfg.cases);
    let steps: u64 = dfg.variants.iter().map(|variant| variant.count * variant.length).sum();
    assert_eq!(steps, dfg.events.mapped);
    assert_eq!(dfg.events.mapped + dfg.events.unmapped, dfg.events.total);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_graph_is_what_the_definitions_say(rows in rows(0..7, 150), paper in any::<bool>()) {
        let rule = if paper { ConcurrencyRule::Paper } else { ConcurrencyRule::Exact };
        let graph = graph(&rows, rule);
        assert_same(&graph, &reference(&rows, rule));
        assert_flows_add_up(&graph);
    }

    #[test]
    fn any_split_merged_in_any_association_gives_the_same(
        rows in rows(0..5, 120),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let plan = plan();
        let pieces: Vec<Partial> = cuts.windows(2).map(|ends| partial(&rows[ends[0]..ends[1]], &plan)).collect();
        let merged = finish(merge_in_any_association(pieces, &choices), ConcurrencyRule::Exact);
        prop_assert_eq!(merged, graph(&rows, ConcurrencyRule::Exact));
    }

    #[test]
    fn logs_without_a_common_case_merge_in_any_order(a in rows(0..4, 60), b in rows(4..9, 60), c in rows(9..12, 60)) {
        let plan = plan();
        let [a, b, c] = [a, b, c].map(|rows| partial(&rows, &plan));
        let forward = a.clone().merge(b.clone()).merge(c.clone());
        let backward = c.merge(a).merge(b);
        prop_assert_eq!(finish(forward, ConcurrencyRule::Exact), finish(backward, ConcurrencyRule::Exact));
    }
}

#[test]
fn splits_give_the_same_beyond_the_limit_of_exact_quantiles() {
    let rows: Vec<Row> = (0..40_000)
        .map(|n: i64| Row::of(0, (n % 2) as u32, n * 50, (n * 7919) % 3001).sized(n % 4097))
        .collect();
    let plan = plan();
    let whole = graph(&rows, ConcurrencyRule::Exact);
    for cut in [1, 9_999, 20_000, 39_999] {
        let merged = partial(&rows[..cut], &plan).merge(partial(&rows[cut..], &plan));
        assert_eq!(finish(merged, ConcurrencyRule::Exact), whole);
    }
    assert_eq!(whole.variants.len(), 1);
    assert!(whole.variants[0].truncated);
    assert_eq!((whole.variants[0].length, whole.variants[0].trace.len()), (40_000, 10_001));
}

#[test]
fn a_case_in_two_places_is_said_to_be() {
    let rows = [Row::of(0, 0, 0, 1), Row::of(1, 0, 1, 1), Row::of(2, 0, 2, 1), Row::of(1, 0, 9, 1)];
    let plan = plan();
    let [a, b, c, d] = [0, 1, 2, 3].map(|row| partial(&rows[row..=row], &plan));
    let dfg = finish(a.merge(b).merge(c).merge(d), ConcurrencyRule::Exact);
    assert_eq!(dfg.coverage.notes.len(), 1);
    assert!(
        dfg.coverage.notes.sentences().next().unwrap().starts_with("case 1:0: its rows are not consecutive")
    );
}
