//! `iotrail workflow`: operations in the order given, tables, forms.

use crate::cli::util::Dir;
use serde_json::Value;

/// A shell that runs two programs; the second reads what the first wrote.
const SHELL: &str = "\
7  10:00:00.000000 execve(\"/bin/sh\", [\"sh\", \"run.sh\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
7  10:00:00.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000010>
8  10:00:00.002000 execve(\"/opt/first\", [\"first\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
8  10:00:00.003000 openat(AT_FDCWD, \"/data/in_1.dat\", O_RDONLY) = 3</data/in_1.dat> <0.000010>
8  10:00:00.003100 read(3</data/in_1.dat>, \"\"..., 4096) = 1000 <0.000020>
8  10:00:00.004000 openat(AT_FDCWD, \"/data/out_1.dat\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</data/out_1.dat> <0.000010>
8  10:00:00.005000 write(4</data/out_1.dat>, \"\"..., 500) = 500 <0.000020>
8  10:00:00.006000 exit_group(0) = ?
8  10:00:00.006100 +++ exited with 0 +++
7  10:00:00.007000 clone(child_stack=NULL, flags=SIGCHLD) = 9 <0.000010>
9  10:00:00.008000 execve(\"/opt/second\", [\"second\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
9  10:00:00.009000 openat(AT_FDCWD, \"/data/out_1.dat\", O_RDONLY) = 3</data/out_1.dat> <0.000010>
9  10:00:00.009100 read(3</data/out_1.dat>, \"\"..., 4096) = 500 <0.000020>
9  10:00:00.010000 exit_group(0) = ?
9  10:00:00.010100 +++ exited with 0 +++
7  10:00:00.011000 exit_group(0) = ?
7  10:00:00.011100 +++ exited with 0 +++
";

fn json(dir: &Dir, words: &[&str]) -> Value {
    let ran = dir.run(["workflow", "t.trail", "--json"].iter().chain(words)).succeeds();
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

fn labels(graph: &Value) -> Vec<&str> {
    let vertices = graph["vertices"].as_array().expect("vertices");
    vertices.iter().map(|vertex| vertex["label"].as_str().expect("a label")).collect()
}

#[test]
fn operations_are_applied_in_the_order_in_which_they_are_written() {
    let dir = Dir::with_trace(SHELL);
    let whole = json(&dir, &[]);
    assert_eq!(whole["format"], 1);
    for label in ["first", "second", "in_1.dat", "out_1.dat"] {
        assert!(labels(&whole).contains(&label), "{label}");
    }
    let one = json(&dir, &["--phase", "first", "--aggregate", "file=ext"]);
    let other = json(&dir, &["--aggregate", "file=ext", "--phase", "first"]);
    let words = |graph: &Value| {
        let history = graph["history"].as_array().expect("sentences").iter();
        history.map(|text| text.as_str().expect("a text")[..5].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(words(&one), ["phase", "aggre"]);
    assert_eq!(words(&other), ["aggre", "phase"]);
    assert_eq!(labels(&json(&dir, &["--select", "kind=process", "--hide", "exe=sh"])), ["first", "second"]);
}

#[test]
fn the_steps_of_the_critical_path_sum_up_to_the_makespan() {
    let dir = Dir::with_trace(SHELL);
    let tables = json(&dir, &["--critical-path"]);
    let rows = tables[0]["rows"].as_array().expect("rows");
    let sum: i64 = rows.iter().map(|row| row["span_ns"].as_i64().expect("a number")).sum();
    let (first, last) = (&rows[0]["from_ns"], &rows[rows.len() - 1]["to_ns"]);
    assert_eq!(sum, last.as_i64().expect("a number") - first.as_i64().expect("a number"));
    let table = dir.run(["workflow", "t.trail", "--critical-path"]).succeeds();
    assert!(table.text().contains("Critical path as executed"), "{}", table.text());
}

#[test]
fn the_summary_the_picture_and_the_formats_exist() {
    let dir = Dir::with_trace(SHELL);
    let summary = dir.run(["workflow", "t.trail"]).succeeds();
    for part in ["Phases", "Critical path", "Clusters"] {
        assert!(summary.text().contains(part), "{}", summary.text());
    }
    dir.run(["workflow", "t.trail", "-q", "-o", "w.svg", "-o", "w.json", "-o", "w.dot"]).succeeds();
    assert!(dir.read("w.svg").starts_with(b"<svg"));
    assert!(dir.read("w.dot").starts_with(b"digraph"));
    let printed = dir.run(["workflow", "t.trail", "--json"]).succeeds().stdout;
    assert_eq!(printed, dir.read("w.json"));
    let csv = dir.run(["workflow", "t.trail", "--clusters", "--csv"]).succeeds();
    assert!(csv.text().starts_with("name,exe,processes"), "{}", csv.text());
}

#[test]
fn words_that_make_no_sense_are_named_with_their_place() {
    let dir = Dir::with_trace(SHELL);
    for (words, part) in [
        (["--select", "exe<3"], "at character 4"),
        (["--aggregate", "process=colour"], "process=exe|cmd|host"),
        (["--phase", "third"], "first, second"),
        (["--ancestors", "nothing"], "no vertex is meant"),
        (["--window", "1s"], "no `..`"),
        (["-o", "w.xyz"], "w.xyz"),
    ] {
        let ran = dir.run(["workflow", "t.trail"].into_iter().chain(words));
        assert!(ran.messages().starts_with("error: "), "{words:?}: {}", ran.messages());
        assert!(ran.messages().contains(part), "{words:?}: {}", ran.messages());
    }
}

#[test]
fn a_command_line_that_strace_cut_is_counted_and_never_executed() {
    let cut = SHELL.replace("[\"first\"]", "[\"first\", \"project_alpha/results_of_2026/tm\"...]");
    let dir = Dir::with_trace(&cut);
    let info = dir.run(["info", "t.trail"]).succeeds();
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains("1 (calls whose command line or path strace cut"), "{info}");
    assert!(!info.contains("complete:"), "{info}");
    for file in ["Makefile", "Snakefile", "w.dag"] {
        // The shell, whose command line is complete, runs it.
        let exported = dir.run(["workflow", "t.trail", "-o", file]).succeeds();
        assert!(
            exported.messages().contains("command line is not complete"),
            "{file}: {}",
            exported.messages()
        );
        assert!(!String::from_utf8_lossy(&dir.read(file)).contains("project_alpha"), "{file}");
    }
    let all_cut = cut.replace("[\"sh\", \"run.sh\"]", "[\"sh\", \"ru\"...]");
    assert_ne!(all_cut, cut);
    let dir = Dir::with_trace(&all_cut);
    for file in ["Makefile", "Snakefile", "w.dag"] {
        let refused = dir.run(["workflow", "t.trail", "-o", file]);
        assert!(!refused.status.success(), "{file}");
        assert!(
            refused.messages().contains("command line is not complete"),
            "{file}: {}",
            refused.messages()
        );
    }
}

#[test]
fn files_of_which_the_directory_is_not_known_are_not_left_out_of_what_is_run() {
    let relative = SHELL.replace("\"/data/out_1.dat\"", "\"out_1.dat\"").replace("</data/out_1.dat>", "");
    let dir = Dir::with_trace(&relative);
    for file in ["Makefile", "Snakefile", "w.dag"] {
        let refused = dir.run(["workflow", "t.trail", "-o", file]);
        assert!(!refused.status.success(), "{file}");
        assert!(
            refused.messages().contains("their directory is not in the trace: `out_1.dat`"),
            "{file}: {}",
            refused.messages()
        );
    }
    dir.run(["workflow", "t.trail", "-o", "w.dax"]).succeeds();
}

/// A parent and a child that begins after 1 ms; CHANNEL is what they do until the parent's last 10 ms.
fn messages(channel: &str) -> Dir {
    Dir::with_trace(format!(
        "\
7  10:00:00.000000 execve(\"/bin/talk\", [\"talk\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
7  10:00:00.000500 mknodat(AT_FDCWD</w>, \"f\", S_IFIFO|0666) = 0 <0.000010>
7  10:00:00.000600 socketpair(AF_UNIX, SOCK_STREAM, 0, [3<socket:[70]>, 4<socket:[71]>]) = 0 <0.000010>
7  10:00:00.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000010>
{channel}
8  10:00:00.091000 exit_group(0) = ?
8  10:00:00.091100 +++ exited with 0 +++
7  10:00:00.095000 wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 8 <0.000010>
7  10:00:00.100000 exit_group(0) = ?
7  10:00:00.100100 +++ exited with 0 +++
"
    ))
}

/// What of the critical path is the child's, in ms, and the notes.
fn of_child(dir: &Dir) -> (i64, String) {
    let tables = json(dir, &["--critical-path"]);
    let rows = tables[0]["rows"].as_array().expect("rows");
    let rows = rows.iter().filter(|row| row["key"] == "8");
    let span = rows.map(|row| row["span_ns"].as_i64().expect("a number")).sum::<i64>();
    (span / 1_000_000, tables[0]["notes"].to_string())
}

#[test]
fn imports_lead_through_sockets_and_fifos_of_which_the_trace_tells_both_ends() {
    let waits = |own: &str, other: &str| {
        messages(&format!(
            "\
7  10:00:00.002000 recvfrom({own},  <unfinished ...>
8  10:00:00.081000 sendto({other}, \"1\", 1, 0, NULL, 0) = 1 <0.000010>
7  10:00:00.081100 <... recvfrom resumed>\"1\", 5, 0, NULL, NULL) = 1 <0.079100>"
        ))
    };
    for (own, other) in [
        ("3<socket:[70]>", "4<socket:[71]>"),
        ("3<UNIX-STREAM:[70->71]>", "4<UNIX-STREAM:[71->70]>"),
        ("3<UNIX-STREAM:[80->81,\"us\"]>", "4<UNIX-STREAM:[81->80]>"),
        ("3<TCP:[127.0.0.1:80->127.0.0.1:9]>", "4<TCP:[127.0.0.1:9->127.0.0.1:80]>"),
        ("3<TCPv6:[[::ffff:127.0.0.1]:80->[::ffff:127.0.0.1]:9]>", "4<TCP:[127.0.0.1:9->127.0.0.1:80]>"),
    ] {
        assert_eq!(of_child(&waits(own, other)), (79, "[]".to_owned()), "{own}, {other}");
    }
    for (own, other) in
        [("9<socket:[80]>", "9<socket:[81]>"), ("9<TCP:[127.0.0.1:80->10.0.0.1:9]>", "4<socket:[81]>")]
    {
        let (span, notes) = of_child(&waits(own, other));
        assert_eq!(span, 0, "{own}");
        assert!(
            notes.contains("1 wait (79.1 ms in all) on sockets or pipes whose other end"),
            "{own}: {notes}"
        );
    }
    let accepting = messages(
        "\
7  10:00:00.002000 accept4(5<UNIX-STREAM:[90,\"us\"]>,  <unfinished ...>
8  10:00:00.081000 connect(4<UNIX-STREAM:[91]>, {sa_family=AF_UNIX, sun_path=\"us\"}, 5) = 0 <0.000033>
7  10:00:00.081100 <... accept4 resumed>{sa_family=AF_UNIX}, [110 => 2], 0) = 6<UNIX-STREAM:[92->91,\"us\"]> <0.079100>",
    );
    assert_eq!(of_child(&accepting), (79, "[]".to_owned()));
    let fifo = messages(
        "\
7  10:00:00.002000 openat(AT_FDCWD</w>, \"f\", O_RDONLY <unfinished ...>
8  10:00:00.041000 openat(AT_FDCWD</w>, \"f\", O_WRONLY <unfinished ...>
7  10:00:00.041100 <... openat resumed>) = 5</w/f> <0.039100>
8  10:00:00.041200 <... openat resumed>) = 5</w/f> <0.000200>
7  10:00:00.042000 read(5</w/f>,  <unfinished ...>
8  10:00:00.081000 write(5</w/f>, \"1\", 1) = 1 <0.000010>
7  10:00:00.081100 <... read resumed>\"1\", 5) = 1 <0.039100>",
    );
    assert_eq!(of_child(&fifo), (79, "[]".to_owned()));
    let files = fifo.run(["files", "t.trail", "--json"]).succeeds();
    let made = files.text().lines().find(|row| row.contains("\"/w/f\"")).expect("the FIFO").to_owned();
    assert!(made.contains("\"kind\":\"pipe\""), "{made}");
    let events = fifo.run(["events", "t.trail", "--json"]).succeeds();
    let moved =
        events.text().lines().filter(|row| row.contains("\"/w/f\"") && row.contains("\"size\":1")).count();
    let placed = events
        .text()
        .lines()
        .filter(|row| row.contains("\"/w/f\"") && !row.contains("\"offset\":null"))
        .count();
    assert_eq!((moved, placed), (2, 0), "a FIFO has no positions: {}", events.text());
}
