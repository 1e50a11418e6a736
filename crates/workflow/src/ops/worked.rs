//! Examples worked by hand.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::samples::{Builder, shell};
use crate::ops::{
    Aggregation, Expression, Reason, Weight, Window, aggregate, bottlenecks, clusters, critical_executed,
    critical_static, degrees, find, phase, select, window,
};
use crate::waits::Act;
use crate::waits::locks::LockStep;
use iotrail_model::PathId;
use iotrail_query::ProcessId;

fn keys(graph: &Graph) -> Vec<&str> {
    graph.vertices.iter().map(|vertex| &*vertex.label).collect()
}

/// (label or gap, from, to, why, after) of each step.
fn steps(graph: &Graph) -> Vec<(&str, i64, i64, Reason, &str)> {
    let name = |vertex: Option<VertexId>| vertex.map_or("-", |vertex| &*graph.vertex(vertex).label);
    let executed = critical_executed(graph).unwrap();
    executed
        .steps
        .iter()
        .map(|step| (name(step.vertex), step.from.0, step.to.0, step.why, name(step.after)))
        .collect()
}

#[test]
fn a_shell_that_waits_for_its_children_owns_only_the_time_between() {
    let graph = shell();
    assert_eq!(
        steps(&graph),
        [
            ("sh", 0, 1, Reason::Began, "-"),
            ("a", 1, 4, Reason::Forked, "sh"),
            ("sh", 4, 5, Reason::ChildEnded, "a"),
            ("b", 5, 9, Reason::Forked, "sh"),
            ("sh", 9, 10, Reason::ChildEnded, "b"),
        ]
    );
}

/// Recordings may leave out calls that wait for children.
#[test]
fn without_calls_that_wait_a_parent_is_taken_to_wait_for_each_child() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 10);
    let (early, late) = (builder.process("early", 1, 4), builder.process("late", 5, 9));
    builder.fork(shell, early, 1);
    builder.fork(shell, late, 5);
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [
            ("sh", 0, 1, Reason::Began, "-"),
            ("early", 1, 4, Reason::Forked, "sh"),
            ("sh", 4, 5, Reason::ChildEnded, "early"),
            ("late", 5, 9, Reason::Forked, "sh"),
            ("sh", 9, 10, Reason::ChildEnded, "late"),
        ]
    );
}

#[test]
fn a_parent_of_which_no_call_is_known_is_taken_to_wait_too() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", -1, -1);
    let (early, late) = (builder.process("early", 1, 4), builder.process("late", 5, 9));
    builder.child(shell, early);
    builder.child(shell, late);
    let graph = builder.graph();
    let names: Vec<_> = steps(&graph).iter().map(|step| step.0).collect();
    assert_eq!(names, ["early", "sh", "late"]);
}

#[test]
fn between_jobs_that_nobody_started_there_is_a_gap() {
    let mut builder = Builder::default();
    let a = builder.process("a", 0, 4);
    let file = builder.file("/x");
    let b = builder.process("b", 7, 9);
    builder.write(a, file, 3);
    builder.read(file, b, 8);
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [
            ("a", 0, 3, Reason::Began, "-"),
            ("-", 3, 7, Reason::DataWritten, "a"),
            ("b", 7, 9, Reason::DataWritten, "a"),
        ]
    );
}

/// A shell makes `sort | uniq`: uniq waits from 3 to 7 for data that sort writes at 6, then to 8 for the end of them, which
/// the exit of sort at 7 brings.
#[test]
fn the_reader_of_a_pipe_waits_for_its_writer() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 10);
    let (sort, uniq) = (builder.process("sort", 1, 8), builder.process("uniq", 2, 9));
    let pipe = PathId(7);
    builder.fork(shell, sort, 1);
    builder.fork(shell, uniq, 2);
    builder.act(sort, Act::Write(pipe), (6, 7));
    builder.act(uniq, Act::Read { channel: pipe, ended: false }, (3, 7));
    builder.act(uniq, Act::Read { channel: pipe, ended: true }, (7, 9));
    builder.awaits(shell, sort, (3, 8));
    builder.awaits(shell, uniq, (8, 10));
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [
            ("sh", 0, 1, Reason::Began, "-"),
            ("sort", 1, 8, Reason::Forked, "sh"),
            ("uniq", 8, 9, Reason::DataEnded, "sort"),
            ("sh", 9, 10, Reason::ChildEnded, "uniq"),
        ]
    );
}

/// The consumer is slow at the end only: what it waited for is the producer's, although the last write came late.
#[test]
fn each_wait_is_walked_through_and_not_only_the_last_write() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 113);
    let (producer, consumer) = (builder.process("produce", 1, 104), builder.process("consume", 1, 112));
    let pipe = PathId(7);
    builder.fork(shell, producer, 1);
    builder.fork(shell, consumer, 1);
    builder.act(producer, Act::Write(pipe), (100, 101));
    builder.act(producer, Act::Write(pipe), (102, 103));
    builder.act(consumer, Act::Read { channel: pipe, ended: false }, (2, 101));
    builder.act(consumer, Act::Read { channel: pipe, ended: false }, (106, 107));
    builder.act(consumer, Act::Read { channel: pipe, ended: true }, (111, 112));
    builder.awaits(shell, consumer, (2, 113));
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [
            ("sh", 0, 1, Reason::Began, "-"),
            ("produce", 1, 100, Reason::Forked, "sh"),
            ("consume", 100, 112, Reason::DataWritten, "produce"),
            ("sh", 112, 113, Reason::ChildEnded, "consume"),
        ]
    );
}

#[test]
fn who_opens_a_fifo_waits_for_who_opens_its_other_end() {
    let mut builder = Builder::default();
    let (late, early) = (builder.process("late", 0, 8), builder.process("early", 0, 10));
    builder.act(early, Act::Open(PathId(7)), (1, 6));
    builder.act(late, Act::Open(PathId(7)), (5, 6));
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [("late", 0, 5, Reason::Began, "-"), ("early", 5, 10, Reason::OtherEndOpened, "late")]
    );
}

#[test]
fn the_writer_of_a_full_pipe_waits_for_its_reader_and_a_lock_for_its_holder() {
    let mut builder = Builder::default();
    let (writer, reader) = (builder.process("write", 0, 20), builder.process("read", 0, 19));
    let (pipe, file) = (PathId(7), PathId(8));
    builder.act(writer, Act::Write(pipe), (2, 10));
    builder.act(reader, Act::Lock(file), (1, 2));
    builder.act(reader, Act::Read { channel: pipe, ended: false }, (9, 11));
    builder.lock(reader, file, LockStep::TakesForProcess, 1);
    builder.lock(reader, file, LockStep::Unlocks, 15);
    builder.act(writer, Act::Lock(file), (12, 16));
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [("read", 0, 15, Reason::Began, "-"), ("write", 15, 20, Reason::Unlocked, "read")]
    );
    let waits = &graph.waits;
    let line = waits.last_line(ProcessId(writer.0)).unwrap();
    let causes: Vec<_> = (0..2).map(|number| waits.cause(line, number, 20).map(|cause| cause.at)).collect();
    assert_eq!(causes, [Some(9), Some(15)]);
}

#[test]
fn an_unknown_end_is_the_last_sign() {
    let mut builder = Builder::default();
    let a = builder.process("a", 2, -1);
    let file = builder.file("/x");
    builder.write(a, file, 6);
    let graph = builder.graph();
    assert_eq!(steps(&graph), [("a", 2, 6, Reason::Began, "-")]);
    assert_eq!(critical_executed(&graph).unwrap().unknown_times, 1);
}

#[test]
fn children_that_begin_and_end_at_one_moment_do_not_stop_the_walk() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 9);
    let early = builder.process("early", 2, 4);
    let instant = builder.process("instant", 6, 6);
    builder.fork(shell, early, 2);
    builder.fork(shell, instant, 6);
    builder.awaits(shell, early, (3, 5));
    builder.awaits(shell, instant, (6, 7));
    let graph = builder.graph();
    assert_eq!(
        steps(&graph),
        [
            ("sh", 0, 2, Reason::Began, "-"),
            ("early", 2, 4, Reason::Forked, "sh"),
            ("sh", 4, 9, Reason::ChildEnded, "early"),
        ]
    );
}

/// Three processes that pipes join live for 10 each, all at the same time: no path can take longer than the run.
#[test]
fn processes_that_pipes_join_do_not_add_up() {
    let mut builder = Builder::default();
    let processes = ["sleep", "cat", "wc"].map(|name| builder.process(name, 0, 10));
    for (number, two) in processes.windows(2).enumerate() {
        let pipe = builder.file(&format!("pipe:[{number}]"));
        builder.edge(two[0], pipe, Relation::Write, 100, (1, 9));
        builder.edge(pipe, two[1], Relation::Read, 100, (1, 9));
    }
    let graph = builder.graph();
    assert_eq!(critical_static(&graph, Weight::Time).unwrap().total, 10);
}

#[test]
fn the_heaviest_path_counts_no_time_twice_and_slack_is_what_others_could_add() {
    let graph = shell();
    let critical = critical_static(&graph, Weight::Time).unwrap();
    // sh works in 0-1, 4-5, 9-10; a in 1-4, b in 5-9. sh until it makes b at 5, then b: 2 + 4. Through a, whose last write is at 3
    // and read at 6: 1 + 2 + 3; as much. sh alone: 3.
    let path: Vec<&str> = critical.steps.iter().map(|step| &*graph.vertex(step.vertex).label).collect();
    assert_eq!((critical.total, path), (6, vec!["sh", "b"]));
    // What b wrote at 8 lies on a way of 5.
    assert_eq!(critical.slack, [0, 0, 0, 0, 1]);

    let mut builder = Builder::default();
    let root = builder.process("root", 0, 1);
    let long = builder.process("long", 1, 9);
    let short = builder.process("short", 1, 4);
    builder.fork(root, long, 1);
    builder.fork(root, short, 1);
    let graph = builder.graph();
    let critical = critical_static(&graph, Weight::Time).unwrap();
    assert_eq!((critical.total, critical.slack), (9, vec![0, 0, 5]));
}

#[test]
fn bytes_add_up_along_edges() {
    let graph = shell();
    let critical = critical_static(&graph, Weight::Bytes).unwrap();
    assert_eq!(critical.total, 300);
    assert_eq!(critical.steps.last().map(|step| &*graph.vertex(step.vertex).label), Some("y_2.dat"));
}

#[test]
fn a_cycle_has_no_heaviest_path_and_an_aggregate_none_as_executed() {
    let graph = aggregate(&shell(), &Aggregation::parse("process=host,file=all").unwrap());
    assert_eq!(keys(&graph), ["node1", "files"]);
    let messages = [
        critical_static(&graph, Weight::Time).unwrap_err().to_string(),
        critical_executed(&graph).unwrap_err().to_string(),
        graph.notes.join("\n"),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn phases_windows_and_words_for_vertices() {
    let graph = shell();
    assert_eq!(keys(&phase(&graph, "b").unwrap()), ["x_1.dat", "b", "y_2.dat"]);
    let within = |word: &str| window(&graph, word, Window::parse(word).unwrap());
    assert_eq!(keys(&within("+4ns..+6ns").unwrap()), ["sh", "a", "b"]);
    assert_eq!(keys(&within("60%..").unwrap()), ["sh", "x_1.dat", "b", "y_2.dat"]);
    let found = |word: &str| find(&graph, "ancestors", word).unwrap();
    assert_eq!(found("101"), [VertexId(1)]);
    assert_eq!(found("b"), [VertexId(3)]);
    assert_eq!(found("/data/*.dat"), [VertexId(2), VertexId(4)]);
    assert_eq!(found("exe=a | path~y_"), [VertexId(1), VertexId(4)]);
}

/// What a later part of a process reads of a version again is on the edge to the part that read it first.
#[test]
fn a_window_has_the_reads_in_it_whatever_part_they_are_of() {
    let mut builder = Builder::default();
    let (part, next) = (builder.process("p", 0, 4), builder.process("p2", 4, 20));
    let (early, script) = (builder.file("/early"), builder.file("/script"));
    builder.edge(part, next, Relation::Continue, 0, (4, 4));
    builder.edge(early, part, Relation::Read, 7, (1, 3));
    builder.edge(script, part, Relation::Read, 7, (2, 15));
    let graph = builder.graph();
    let within = |word: &str| window(&graph, word, Window::parse(word).unwrap());
    let found = within("+10ns..+12ns").unwrap();
    assert_eq!((keys(&found), found.edges.len()), (vec!["p", "p2", "script"], 1));
    assert_eq!(keys(&within("+16ns..").unwrap()), ["p2"]);
}

#[test]
fn expressions_choose_vertices() {
    let graph = shell();
    let chosen = |text: &str| {
        let graph = select(&graph, &Expression::parse("select", text).unwrap());
        keys(&graph).into_iter().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("kind=process", "sh a b"),
        ("kind=file & path~y", "y_2.dat"),
        ("exe=a | exe=/usr/bin/b", "a b"),
        ("exe=*/bin/a", ""),
        ("exe=/usr/*/a", "a"),
        ("!(kind=process)", "x_1.dat y_2.dat"),
        ("exe!=a", "sh b"),
        ("bytes>=200B", "x_1.dat b"),
        ("time>3ns & time<=4ns", "b"),
        ("degree=2", "sh a x_1.dat"),
        ("cmd='a -x 1'", "a"),
        ("phase=b & pid>100", "b"),
        ("cid=run & host=node1 & !exe=sh", "a b"),
    ] {
        assert_eq!(chosen(text), expected, "{text}");
    }
}

#[test]
fn errors_name_the_place_and_what_is_allowed() {
    let graph = shell();
    let expression = |text: &str| Expression::parse("select", text).unwrap_err().to_string();
    let mut messages: Vec<String> = [
        "",
        "exe",
        "exe=",
        "exe=a &",
        "(exe=a",
        "exe=a)",
        "colour=red",
        "exe<a",
        "bytes~1",
        "bytes>1K",
        "kind=job",
        "path~(",
        "exe='a",
        "env:=1",
        "time>3",
        "\u{1b}[31m",
    ]
    .map(expression)
    .into();
    messages.extend(
        ["exe", "process=exe,process=cmd", "process=colour", "rank=1"]
            .map(|word| Aggregation::parse(word).unwrap_err().to_string()),
    );
    messages.extend(["1s", "1s..x", "x..1s"].map(|word| Window::parse(word).unwrap_err().to_string()));
    messages.push(window(&graph, "50%..10%", Window::parse("50%..10%").unwrap()).unwrap_err().to_string());
    messages.push(phase(&graph, "mAdd").unwrap_err().to_string());
    messages.push(find(&graph, "ancestors", "x_").unwrap_err().to_string());
    messages.push(Weight::parse("heavy").unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn clusters_are_named_by_their_shape() {
    let mut builder = Builder::default();
    let table = builder.file("/w/fits.tbl");
    for (number, inputs) in [(1, 2), (2, 2), (3, 1)] {
        let inputs: Vec<VertexId> =
            (0..inputs).map(|i| builder.file(&format!("/w/p_{number}{i}.fits"))).collect();
        let process = builder.process("mDiffFit", number, number + 5);
        for input in inputs {
            builder.read(input, process, 3);
        }
        let output = builder.file(&format!("/w/d_{number}.fits"));
        builder.write(process, output, 4);
        builder.write(process, table, 4);
    }
    let clusters = clusters(&builder.graph());
    let names: Vec<&str> = clusters.iter().map(|cluster| &*cluster.name).collect();
    assert_eq!(names, ["2 x mDiffFit: 2 in, 2 out", "1 x mDiffFit: 1 in, 2 out"]);
    assert_eq!(clusters[0].writes, [("/w/d_*.fits".to_owned(), 1), ("/w/fits.tbl".to_owned(), 1)]);
}

#[test]
fn an_edge_far_below_its_kind_is_a_bottleneck() {
    let mut builder = Builder::default();
    let process = builder.process("cat", 0, 100);
    for (number, bytes) in [1000, 1100, 900, 1050, 980, 10].into_iter().enumerate() {
        let file = builder.file(&format!("/x{number}"));
        builder.edge(process, file, Relation::Write, bytes, (1, 2));
    }
    let graph = builder.graph();
    let found = bottlenecks(&graph);
    assert_eq!(found.edges.len(), 1);
    let slow = found.edges[0];
    // 10 bytes at the median of (980 + 1000) / 2 bytes in 10 ns would take 0.1 ns of the 10.
    assert_eq!((graph.edge(slow.edge).bytes(), slow.median_rate, slow.lost_ns), (10, 99e9, 9));
}

#[test]
fn degrees_betweenness_and_reach_of_a_chain() {
    let found = degrees(&shell());
    let rows: Vec<_> =
        found.rows.iter().map(|row| (row.incoming, row.outgoing, row.betweenness, row.reach)).collect();
    // sh -> a -> x -> b -> y and sh -> b: x lies between (a, b), (a, y); b between (sh, y), (a, y), (x, y).
    assert_eq!(
        rows,
        [
            (0, 2, 0.0, Some(4)),
            (1, 1, 1.0, Some(3)),
            (1, 1, 2.0, Some(2)),
            (2, 1, 3.0, Some(1)),
            (1, 0, 0.0, Some(0)),
        ]
    );
}

/// Measured, not asserted: run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
#[allow(clippy::print_stderr)]
fn time_of_the_critical_paths_of_a_large_graph() {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 4_000_000);
    let mut files: Vec<VertexId> = Vec::new();
    for number in 0..200_000_i64 {
        let process = builder.process("job", number * 20 + 1, number * 20 + 18);
        builder.fork(shell, process, number * 20 + 1);
        for back in [1, 2, 3] {
            if let Some(file) = files.len().checked_sub(back * 7) {
                builder.read(files[file], process, number * 20 + 3);
            }
        }
        let file = builder.file(&format!("/w/f_{number}"));
        builder.write(process, file, number * 20 + 15);
        files.push(file);
    }
    let graph = builder.graph();
    let begin = std::time::Instant::now();
    let heaviest = critical_static(&graph, Weight::Time).unwrap();
    let middle = std::time::Instant::now();
    let executed = critical_executed(&graph).unwrap();
    eprintln!(
        "{} vertices, {} edges: heaviest path ({} vertices) {:?}, as executed ({} steps) {:?}",
        graph.vertices.len(),
        graph.edges.len(),
        heaviest.steps.len(),
        middle - begin,
        executed.steps.len(),
        middle.elapsed()
    );
}
