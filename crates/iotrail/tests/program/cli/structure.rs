//! Structures: a trail there and back, what people see of one, and what is not one.

use crate::cli::util::Dir;

/// A program that copies a file in blocks.
fn copies() -> Dir {
    let mut trace = "7  10:00:00.000100 execve(\"/usr/bin/cp\", [\"cp\"], 0x7ff /* 1 var */) = 0 <0.000100>\n\
        7  10:00:00.000200 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3</data/in> <0.000010>\n\
        7  10:00:00.000300 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT, 0666) = 4</data/out> <0.000010>\n"
        .to_owned();
    for block in 0..50 {
        let micros = 400 + block * 100;
        trace.push_str(&format!(
            "7  10:00:00.{:06} read(3</data/in>, \"x\"..., 4096) = 4096 <0.000020>\n7  10:00:00.{:06} write(4</data/out>, \"x\"..., 4096) = 4096 <0.000030>\n",
            micros,
            micros + 50
        ));
    }
    trace.push_str("7  10:00:01.000000 +++ exited with 0 +++\n");
    let dir = Dir::new();
    dir.write("cp_h_1.st", trace);
    dir.run(["import", "-q", "-o", "run.trail", "cp_h_1.st"]).succeeds();
    dir
}

#[test]
fn with_every_time_a_trail_comes_back_as_it_was() {
    let dir = copies();
    dir.run(["compress", "run.trail", "-o", "run.structure", "--time-precision", "100"]).succeeds();
    dir.run(["expand", "run.structure", "-o", "again.trail"]).succeeds();
    for table in ["events", "processes", "files"] {
        let of = |trail| dir.run([table, trail, "--csv"]).succeeds().text();
        assert_eq!(of("again.trail"), of("run.trail"), "{table}");
    }
    dir.run(["check", "again.trail", "run.structure"]).succeeds();
    let error = dir.run(["expand", "run.structure", "-o", "again.trail"]).fails();
    assert!(error.contains("exists already"), "{error}");
}

#[test]
fn a_copy_in_blocks_is_a_loop_of_a_read_and_a_write() {
    let dir = copies();
    dir.run(["compress", "-q", "run.trail", "-o", "run.structure"]).succeeds();
    let text = dir.run(["structure", "run.structure"]).succeeds().text();
    insta::assert_snapshot!(text);
    let json = dir.json(["structure", "run.structure", "--json"]);
    let looped = json["body"].as_array().and_then(|body| body.iter().find(|item| item["call"].is_null()));
    let looped = looped.expect("a loop");
    assert_eq!((&looped["count"]["sum"], looped["body"].as_array().map(Vec::len)), (&50.into(), Some(2)));
    assert_eq!(looped["body"][0]["call"]["bytes"], 50 * 4096);
    let number = looped["item"].to_string();
    let one = dir.run(["structure", "run.structure", "--loop", &number]).succeeds().text();
    assert!(one.contains("read") && !one.contains("openat"), "{one}");
    assert!(dir.run(["info", "run.structure"]).succeeds().text().contains("103 events"));
}

#[test]
fn what_is_no_structure_is_an_error_that_names_file_and_place() {
    let dir = copies();
    dir.run(["compress", "-q", "run.trail", "-o", "run.structure"]).succeeds();
    let whole = dir.read("run.structure");
    dir.write("cut.structure", &whole[..whole.len() - 9]);
    dir.write("foreign.structure", "PAR1 and more");
    let later = [&whole[..8], &3_u32.to_le_bytes()[..], &whole[12..]].concat();
    dir.write("later.structure", later);
    for (name, expected) in [
        ("cut.structure", "index, byte"),
        ("foreign.structure", "not a structure"),
        ("later.structure", "version 3"),
        ("none.structure", "cannot read"),
    ] {
        let error = dir.run(["structure", name]).fails();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    }
    assert!(dir.run(["check", "cut.structure"]).fails().contains("index, byte"));
    let error = dir.run(["structure", "run.structure", "--rank", "7"]).fails();
    assert!(error.contains("no rank 7"), "{error}");
}

#[test]
fn loops_are_profiled_with_their_slowest_iterations_where_times_are_exact() {
    let dir = copies();
    for (precision, exact) in [("100", true), ("95", false)] {
        dir.run(["compress", "-q", "run.trail", "-o", "run.structure", "--time-precision", precision])
            .succeeds();
        let json = dir.json(["loops", "run.structure", "--json"]);
        let row = &json["loops"][0];
        assert_eq!(
            (&json["exact_times"], &row["iterations"], &row["bytes"]),
            (&exact.into(), &50.into(), &409_600.into())
        );
        let text = dir.run(["loops", "run.structure"]).succeeds().text();
        assert_eq!(text.contains("Slowest iterations"), exact, "{text}");
        assert_eq!(text.contains("drawn from distributions"), !exact, "{text}");
        assert_eq!(row["slowest"].as_array().map(Vec::len), Some(if exact { 8 } else { 0 }));
    }
    let error = dir.run(["loops", "run.structure", "--loop", "4711"]).fails();
    assert!(error.contains("no loop 4711"), "{error}");
}
