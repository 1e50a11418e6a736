//! What people see in a terminal.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

#[path = "../../../draw/tests/draw/graphs/mod.rs"]
mod graphs;

use iotrail_dfg::{ActivityChange, Chance, ChangeKind, Comparison, Pair};
use iotrail_terminal::compare_summary::{Changes, compare_summary};
use iotrail_terminal::compare_verdict::{about_chance, verdict_line};
use iotrail_terminal::dfg_summary::{Limits, summary};
use iotrail_terminal::table::{Align, Block, Style, Table, bar, fit, wrap};
use iotrail_workflow::change::{ElapsedCause, ElapsedChange, Figure, FigureChange, Verdict};
use iotrail_workflow::why::result::PieceKind;

fn pair(a: f64, b: f64) -> Pair {
    Pair { a: Some(a), b: Some(b) }
}

fn activity(name: &str, count: Pair, duration_ns: Pair, bytes: Pair, p: Option<f64>) -> ActivityChange {
    let io = |count: Option<f64>, mean: Option<f64>| Some(count? * mean?);
    let (io_a_ns, io_b_ns) = (io(count.a, duration_ns.a), io(count.b, duration_ns.b));
    let row = ActivityChange {
        activity: name.into(),
        cause: ChangeKind::New,
        io_a_ns,
        io_b_ns,
        difference_ns: io_a_ns.zip(io_b_ns).map(|(a, b)| b - a),
        count,
        duration_ns,
        bytes,
        gap_ns: pair(10.0, 35.0),
        p_value: p,
        q_value: p,
        significant: p.map(|p| p <= 0.05),
    };
    row.with_cause()
}

fn activities() -> Vec<ActivityChange> {
    vec![
        activity("read:/etc/nsswitch.conf", pair(0.0, 3.0), pair(0.0, 132e3), Pair::default(), Some(0.0004)),
        activity("read:/usr/lib", pair(9.0, 9.0), pair(369e3, 800e3), pair(50.0, 50.0), Some(0.1)),
        activity("read:/a\u{1b}[31m", pair(10.0, 3010.0), pair(100.0, 90.0), pair(5.0, 5.0), None),
        activity("write:/dev/pts", pair(4.0, 4.0), pair(500.0, 560.0), pair(50.0, 201.0), Some(0.02)),
        activity("close:/x", pair(4.0, 0.0), Pair { a: None, b: Some(1.0) }, Pair::default(), None),
    ]
}

fn verdict(figures: &[(Figure, f64, f64)]) -> Verdict {
    let change = |(figure, a, b): &(Figure, f64, f64)| FigureChange {
        figure: *figure,
        a: Some(*a),
        b: Some(*b),
        difference: Some(b - a),
        ratio: (*a > 0.0).then(|| b / a),
        range_a: Some((a * 0.9, a * 1.1)),
        range_b: Some((b * 0.9, b * 1.1)),
    };
    Verdict { runs_a: 8, runs_b: 8, figures: figures.iter().map(change).collect() }
}

fn faster() -> Verdict {
    verdict(&[
        (Figure::Elapsed, 800e6, 482e6),
        (Figure::Calls, 9_366.0, 4_000.0),
        (Figure::Processes, 50.0, 10.0),
        (Figure::Bytes, 1e6, 1e6),
        (Figure::Read, 4e5, 4e5),
        (Figure::Written, 6e5, 6e5),
    ])
}

fn elapsed() -> ElapsedChange {
    let cause = |(a_ns, b_ns, kind, path): (i64, i64, PieceKind, Option<&str>)| ElapsedCause {
        difference_ns: b_ns - a_ns,
        a_ns,
        b_ns,
        kind,
        program: "ls\u{1b}[2J".to_owned(),
        path: path.map(str::to_owned),
        calls_a: 100.0,
        calls_b: 40.0,
        ..ElapsedCause::default()
    };
    let causes = [
        (500_000_000, 100_000_000, PieceKind::Sync, Some("./x.db")),
        (0, 90_000_000, PieceKind::Sleep, None),
        (10_000_000, 2_000_000, PieceKind::Data, Some("/etc/passwd")),
    ];
    ElapsedChange {
        a_ns: 800_000_000,
        b_ns: 482_000_000,
        difference_ns: -318_000_000,
        slowest_rank: false,
        causes: causes.into_iter().map(cause).collect(),
    }
}

fn summary_of(verdict: &Verdict, comparison: &Comparison, limit: usize, width: usize) -> String {
    let changes = Changes { verdict, elapsed: Some(&elapsed()), comparison };
    compare_summary(&changes, limit, Style { colour: false, width, ..Style::default() })
}

fn comparison() -> Comparison {
    Comparison {
        format: "iotrail-compare/2".to_owned(),
        a: "ls".to_owned(),
        b: "ls -l".to_owned(),
        per: iotrail_dfg::comparison::Unit::Run,
        unit: iotrail_dfg::comparison::Unit::Run,
        runs_a: 8,
        runs_b: 8,
        runs_needed: 6,
        permutations: 2000,
        elapsed_chance: Some(Chance { p_value: 0.002, q_value: 0.003, significant: true }),
        activities: activities(),
        changes: Vec::new(),
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
    let text = summary_of(&faster(), &comparison(), 4, 130);
    assert!(!text.contains('\x1b'));
    insta::assert_snapshot!(text);
}

#[test]
fn the_verdict_is_one_sentence() {
    let alone = Comparison { elapsed_chance: None, a: "A".to_owned(), b: "B".to_owned(), ..comparison() };
    let one = |verdict: Verdict| Verdict { runs_a: 1, runs_b: 1, ..verdict };
    assert_eq!(
        verdict_line(&one(faster()), &alone),
        "B is 318 ms (40 %) faster: 482 instead of 800 ms; 5,366 fewer calls, 40 fewer processes; bytes equal."
    );
    let same = [(Figure::Elapsed, 20e6, 20.4e6), (Figure::Calls, 7.0, 7.0), (Figure::Bytes, 9.0, 9.0)];
    assert_eq!(
        verdict_line(&one(verdict(&same)), &alone),
        "No change: calls and bytes are equal, and B takes 20.4 instead of 20.0 ms (+2.0 %)."
    );
    let nearly =
        [(Figure::Elapsed, 2e7, 20_000_001.0), (Figure::Calls, 700.0, 701.0), (Figure::Bytes, 9.0, 10.0)];
    assert_eq!(
        verdict_line(&one(verdict(&nearly)), &alone),
        "No change: calls and bytes are nearly equal, and B takes 20.0 instead of 20.0 ms (+0.0 %)."
    );
    let more = [(Figure::Elapsed, 20e6, 20.4e6), (Figure::Calls, 7.0, 9.0), (Figure::Bytes, 9.0, 9.0)];
    assert_eq!(
        verdict_line(&one(verdict(&more)), &alone),
        "B takes about as long as A: 20.4 instead of 20.0 ms; 2 more calls; bytes equal."
    );
    let slower = [(Figure::Elapsed, 0.9e9, 1.8e9), (Figure::Calls, 7.0, 8.0), (Figure::Read, 0.0, 5e6)];
    assert_eq!(
        verdict_line(&one(verdict(&slower)), &alone),
        "B is 900 ms (100 %) slower: 1.80 s instead of 900 ms; 1 more call, 5.00 MB more read."
    );
    assert_eq!(
        verdict_line(&one(verdict(&[(Figure::Calls, 9.0, 8.0)])), &alone),
        "B against A, elapsed time unknown; 1 fewer call."
    );
    assert_eq!(
        verdict_line(&Verdict::default(), &Comparison::default()),
        "No change: nothing is known of either."
    );
}

#[test]
fn few_runs_claim_nothing_and_say_how_many_it_takes() {
    let few = Comparison { permutations: 0, runs_a: 3, runs_b: 3, elapsed_chance: None, ..comparison() };
    let said = about_chance(&Verdict { runs_a: 3, runs_b: 3, ..faster() }, &few);
    assert!(
        said.contains(
            "3 against 3 runs cannot tell a change from noise: record each side at least 4 times (6 "
        ),
        "{said}"
    );
}

#[test]
fn a_comparison_without_changes_says_so() {
    let nothing = Comparison { activities: Vec::new(), ..comparison() };
    let text = summary_of(&faster(), &nothing, 10, 100);
    assert!(text.contains("No activity differs"), "{text}");
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
