//! What people see in a terminal.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

#[path = "../../../draw/tests/draw/graphs/mod.rs"]
mod graphs;

use iotrail_dfg::{Change, ChangeKind, Comparison};
use iotrail_terminal::compare_summary::compare_summary;
use iotrail_terminal::dfg_summary::{Limits, summary};
use iotrail_terminal::table::{Align, Block, Style, Table, bar, fit, wrap};

fn change(
    kind: ChangeKind,
    name: (&str, Option<&str>),
    measure: &'static str,
    values: (f64, f64),
    stake: f64,
    p: Option<f64>,
) -> Change {
    Change {
        kind,
        activity: name.0.into(),
        to: name.1.map(Into::into),
        measure: measure.into(),
        value_a: values.0,
        value_b: values.1,
        difference: values.1 - values.0,
        ratio: (values.0 != 0.0).then(|| values.1 / values.0),
        time_at_stake_ns: Some(stake),
        p_value: p,
        q_value: p,
        significant: p.map(|p| p <= 0.05),
    }
}

fn comparison() -> Comparison {
    let changes = vec![
        change(
            ChangeKind::New,
            ("read:/etc/nsswitch.conf", None),
            "duration_ns",
            (0.0, 396e3),
            396e3,
            Some(0.0004),
        ),
        change(ChangeKind::Slower, ("read:/usr/lib", None), "duration_ns", (369e3, 485e3), 116e3, Some(0.1)),
        change(
            ChangeKind::Gone,
            ("read:/etc/locale.alias", Some("write:/dev/pts")),
            "count",
            (3.0, 0.0),
            -2e3,
            None,
        ),
        change(ChangeKind::Larger, ("write:/dev/pts", None), "bytes", (50.0, 201.0), 0.0, Some(0.02)),
        change(
            ChangeKind::Fewer,
            ("read:/a\u{1b}[31m", Some("read:/b")),
            "count",
            (4.5, 4.0),
            -10.0,
            Some(0.8),
        ),
    ];
    Comparison {
        format: "iotrail-compare/1".to_owned(),
        a: "ls".to_owned(),
        b: "ls -l".to_owned(),
        per_case: true,
        unit: iotrail_dfg::comparison::Unit::Run,
        runs_a: 8,
        runs_b: 8,
        runs_needed: 6,
        permutations: 2000,
        changes,
        dfg: graphs::paper(),
    }
}

#[test]
fn the_summary_of_the_paper() {
    insta::assert_snapshot!(summary(&graphs::paper(), Limits::default(), Style::default()));
}

#[test]
fn the_summary_of_a_large_graph_says_what_it_hides() {
    let limits = Limits { activities: 3, transitions: 2, variants: 1 };
    insta::assert_snapshot!(summary(
        &graphs::random(76, 136, 7, false),
        limits,
        Style { colour: false, width: 80, ..Style::default() }
    ));
}

#[test]
fn the_summary_of_nothing_says_so() {
    insta::assert_snapshot!(summary(&iotrail_dfg::Dfg::default(), Limits::default(), Style::default()));
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    for colour in [false, true] {
        let text =
            summary(&graphs::hostile(), Limits::default(), Style { colour, width: 100, ..Style::default() });
        let bare = text.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert!(!bare.contains(|c: char| c.is_control() && c != '\n'), "{bare:?}");
        assert!(!bare.contains(['\u{202e}', '\u{200b}', '\u{2066}']));
    }
}

#[test]
fn the_comparison_reads_without_colour() {
    let text = compare_summary(&comparison(), 4, Style { colour: false, width: 130, ..Style::default() });
    assert!(!text.contains('\x1b'));
    insta::assert_snapshot!(text);
}

#[test]
fn a_comparison_without_changes_says_so() {
    let text = compare_summary(&Comparison { changes: Vec::new(), ..comparison() }, 10, Style::default());
    assert!(text.contains("Nothing: both groups have the same"), "{text}");
}

#[test]
fn tables_fit_the_terminal_by_cutting_names_in_the_middle() {
    let mut table = Table::new().names("path").figures("count", Align::Right);
    table.row(["/scratch/project/simulation/run_000017/output.dat", "1,234"]);
    table.row(["/中文/数据/文件", "5"]);
    insta::assert_snapshot!(table.render(Style { colour: false, width: 30, ..Style::default() }), @r"
    path                     count
    /scratch…017/output.dat  1,234
    /中文/数据/文件              5
    ");
    for width in 20..60 {
        let text = table.render(Style { colour: false, width, ..Style::default() });
        assert!(
            text.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= width.max(19)),
            "{width}\n{text}"
        );
    }
}

#[test]
fn blocks_wrap_values_beside_their_keys() {
    let mut block = Block::new();
    block.entry("events", "12");
    block.entry("selection", "call read or write and path below /scratch");
    assert_eq!(
        block.render(Style { colour: false, width: 40, ..Style::default() }),
        "events     12\nselection  call read or write and path\n           below /scratch\n"
    );
}

#[test]
fn bars_and_cuts() {
    assert_eq!(bar(0.0, 4), "    ");
    assert_eq!(bar(0.001, 4), "▏   ");
    assert_eq!(bar(0.5, 4), "██  ");
    assert_eq!(bar(1.0, 4), "████");
    assert_eq!(fit("abcdefghij", 6), "ab…hij");
    assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
}
