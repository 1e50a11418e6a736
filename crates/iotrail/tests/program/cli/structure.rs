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
    let later = [&whole[..8], &5_u32.to_le_bytes()[..], &whole[12..]].concat();
    dir.write("later.structure", later);
    for (name, expected) in [
        ("cut.structure", "index, byte"),
        ("foreign.structure", "not a structure"),
        ("later.structure", "version 5 of the format, expected 3 or 4: a later iotrail reads it"),
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
        dir.run([
            "compress",
            "-q",
            "run.trail",
            "-o",
            "run.structure",
            "--force",
            "--time-precision",
            precision,
        ])
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

/// A program that reads and writes blocks of sizes that differ.
fn uneven_copies() -> Dir {
    let mut trace =
        "7  10:00:00.000100 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3</data/in> <0.000010>\n".to_owned();
    for block in 0..200_u32 {
        let micros = 400 + block * 100;
        let size = 4000 + block * 7919 % 193;
        trace.push_str(&format!(
            "7  10:00:00.{micros:06} read(3</data/in>, \"x\"..., {size}) = {size} <0.000020>\n7  10:00:00.{:06} write(1</dev/null>, \"x\"..., {size}) = {size} <0.000030>\n",
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
fn a_lower_precision_is_smaller_marked_and_has_the_same_totals() {
    let dir = uneven_copies();
    let size = |name: &str| dir.read(name).len();
    dir.run(["compress", "-q", "run.trail", "-o", "run.structure"]).succeeds();
    dir.run(["compress", "-q", "run.trail", "-o", "small.structure", "--precision", "80"]).succeeds();
    dir.run(["structure", "-q", "run.structure", "--precision", "80", "-o", "later.structure"]).succeeds();
    assert_eq!(dir.read("later.structure"), dir.read("small.structure"));
    assert!(size("small.structure") < size("run.structure"));
    let text = dir.run(["structure", "small.structure"]).succeeds().text();
    insta::assert_snapshot!(text);
    let outline = dir.json(["structure", "small.structure", "--json"]);
    assert_eq!(outline["precision"], 80);
    assert!(dir.run(["info", "small.structure"]).succeeds().text().contains("within 20 %"));
    let info = |trail| dir.json(["info", trail, "--json"]);
    dir.run(["expand", "small.structure", "-o", "one.trail", "--seed", "1"]).succeeds();
    dir.run(["expand", "small.structure", "-o", "again.trail", "--seed", "1"]).succeeds();
    dir.run(["expand", "small.structure", "-o", "other.trail", "--seed", "2"]).succeeds();
    let events = |trail| dir.run(["events", trail, "--csv"]).succeeds().text();
    assert_eq!(events("one.trail"), events("again.trail"));
    assert_ne!(events("one.trail"), events("other.trail"));
    for key in ["bytes", "events", "calls"] {
        assert_eq!(info("one.trail")[key], info("run.trail")[key], "{key}");
    }
    dir.run(["check", "small.structure", "one.trail"]).succeeds();
    let error = dir.run(["structure", "small.structure", "--precision", "60", "-o", "x.structure"]).fails();
    assert!(error.contains("80 %"), "{error}");
}

#[test]
fn a_recording_can_be_a_structure_at_once() {
    let dir = Dir::new();
    let program = "for i in 1 2 3 4 5 6 7 8; do echo $i > file-$i; done";
    dir.run(["record", "-o", "run.structure", "--precision", "90", "--", "sh", "-c", program]).succeeds();
    assert_eq!(
        dir.names().iter().filter(|name| name.starts_with("run")).collect::<Vec<_>>(),
        ["run.structure"]
    );
    let outline = dir.run(["structure", "run.structure"]).succeeds().text();
    assert!(outline.contains("file-* (8 names)"), "{outline}");
    let error = dir.run(["record", "-o", "run.structure", "--", "true"]).ends_with(125).messages();
    assert!(error.contains("--force"), "{error}");
    let error =
        dir.run(["record", "-o", "run.trail", "--precision", "90", "--", "true"]).ends_with(125).messages();
    assert!(error.contains("-o NAME.structure"), "{error}");
}

#[test]
fn a_recorder_that_is_killed_leaves_what_recover_makes_a_structure_of() {
    let dir = Dir::with_killed_recorder("run.structure");
    assert!(!dir.path("run.structure").exists());
    dir.run(["recover", "run.structure", "--time-precision", "100"]).succeeds();
    assert!(!dir.path("run.structure.trail").exists());
    let outline = dir.run(["structure", "run.structure"]).succeeds().text();
    assert!(outline.contains("file-* (8 names)"), "{outline}");
}
