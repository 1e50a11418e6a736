//! Models beside programs, the files that their clones make, and models in the formats of other programs.

use crate::cli::util::Dir;
use crate::cli::workload::traces;
use serde_json::Value;

/// With a recording of four ranks and a model of it.
fn with_model() -> Dir {
    let dir = Dir::new();
    traces(&dir, 4);
    dir.run(["characterize", "app.trail", "-q", "--names", "keep", "-o", "m.toml"]).succeeds();
    dir
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
}

#[test]
fn the_page_shows_the_program_beside_the_clone_of_a_model() {
    let dir = with_model();
    let page = dir.json(["report", "app.trail", "--workload", "m.toml", "-q", "--json"]);
    let found = &page["likeness"];
    assert_eq!((&found["format"], &found["clone_source"]), (&"iotrail-likeness/1".into(), &"planned".into()));
    assert_eq!((&found["program"]["ranks"], &found["clone"]["ranks"]), (&4.into(), &4.into()));
    let figures = found["figures"].as_array().expect("figures");
    assert!(figures.len() > 20 && figures.iter().all(|figure| figure["noise"].is_null()));
    for figure in
        figures.iter().filter(|figure| !figure["name"].as_str().unwrap_or_default().contains("(ns)"))
    {
        assert_eq!(figure["verdict"], "equal", "{figure}");
    }
    let paths = |side: &str| found[side]["paths"].as_array().expect("paths").clone();
    assert_eq!(paths("program").len(), 2, "the root and the others");
    for (program, clone) in paths("program").iter().zip(paths("clone")) {
        assert_eq!(program["requests"], clone["requests"]);
    }
    let series = &found["over_time"];
    let sum = |side: &str| numbers(&series["bytes"][side]).iter().sum::<f64>();
    assert_eq!((sum("program"), sum("clone")), (210_156.0, 210_156.0));
    for one in found["distributions"].as_array().expect("distributions") {
        for side in ["low", "high", "program", "clone"] {
            let shares = numbers(&one["shares"][side]);
            assert!(
                shares.is_sorted() && shares.last() == Some(&1.0),
                "{} {} {side}",
                one["class"],
                one["name"]
            );
        }
    }
    assert_eq!(dir.json(["report", "app.trail", "-q", "--json"])["likeness"], Value::Null);
}

#[test]
fn repetitions_are_the_noise_and_recordings_of_the_clone_take_the_place_of_its_plan() {
    let dir = with_model();
    dir.shell("cp -r app.trail again.trail").succeeds();
    dir.run(["generate", "m.toml", "-q", "--dir", "scratch", "--asap", "-o", "clone.trail"]).succeeds();
    let words = [
        "report",
        "app.trail",
        "again.trail",
        "--workload",
        "m.toml",
        "--clone",
        "clone.trail",
        "-q",
        "--json",
    ];
    let page = dir.json(words);
    let found = &page["likeness"];
    assert_eq!((&found["program"]["runs"], &found["clone_source"]), (&2.into(), &"recorded".into()));
    assert!(found["figures"].as_array().expect("figures").iter().all(|figure| figure["noise"] == 0.0));
    assert_eq!(found["over_time"]["noise"], 0.0);
    assert_eq!(found["over_time"]["bytes"]["low"], found["over_time"]["bytes"]["high"]);
    let without = dir.run(["report", "app.trail", "--clone", "clone.trail"]);
    assert!(without.messages().contains("--workload <MODEL>"), "{}", without.messages());
}

#[test]
fn limits_are_kept_before_anything_is_made() {
    let dir = with_model();
    let refused = |words: &[&str]| {
        let common = ["generate", "m.toml", "--dir", "scratch", "--ranks", "8"];
        let said = dir.run(common.into_iter().chain(words.iter().copied())).fails();
        assert!(!dir.path("scratch").exists(), "{said}");
        said
    };
    assert!(refused(&["--max-bytes", "10kB"]).contains("more than --max-bytes 10000"));
    assert!(refused(&["--max-files", "9"]).contains("up to 10 files and directories are needed"));
    assert!(refused(&["--max-ranks", "7"]).contains("8 ranks are more than --max-ranks 7"));
    assert!(refused(&["--dry-run", "--max-files", "9"]).contains("--max-files 9"));
    let both = dir.run(["generate", "m.toml", "--dir", "scratch", "--dry-run", "--keep"]);
    assert!(both.messages().contains("cannot be used with"), "{}", both.messages());
    dir.write("mine/file", "mine");
    let occupied = dir.run(["generate", "m.toml", "--dir", "mine", "--dry-run"]).fails();
    assert!(occupied.contains("not empty (it holds \"file\")"), "{occupied}");
    dir.run(["generate", "m.toml", "--dir", "scratch", "--ranks", "8", "--max-files", "10"]).succeeds();
}

#[test]
fn the_files_of_generate_and_replay_have_the_same_options() {
    let dir = Dir::new();
    let options = |command: &str| {
        let text = dir.run([command, "--help"]).succeeds().text();
        let (_, rest) = text.split_once("Files that are made:").expect("the options");
        rest.split("\n\n\n").next().unwrap_or_default().split("Global options:").next().map(str::to_owned)
    };
    let text = options("generate").expect("text");
    assert_eq!(Some(&text), options("replay").as_ref());
    for option in ["--dir", "--dry-run", "--keep", "--clean", "--max-bytes", "--max-files"] {
        assert!(text.contains(option), "{option}: {text}");
    }
}

#[test]
fn models_are_written_for_other_programs_with_what_is_lost() {
    let dir = with_model();
    let said = dir.run(["export", "fio-iolog", "m.toml", "-o", "app.fio"]).succeeds();
    assert!(
        said.messages().contains("lost: calls that name files")
            || said.messages().contains("lost: ranks do not wait")
    );
    let log = String::from_utf8(dir.read("app.rank-3.iolog")).expect("UTF-8");
    assert!(log.starts_with("fio version 3 iolog\n0 ckpt.3 add\n0 shared add\n"), "{log}");
    assert_eq!(log.matches(" write ").count(), 3 * 7);
    assert_eq!(dir.names().iter().filter(|name| name.ends_with(".iolog")).count(), 4);
    dir.run(["characterize", "app.trail", "-q", "--level", "paper", "-o", "drawn.toml"]).succeeds();
    dir.run(["export", "fio-iolog", "drawn.toml", "-q", "-o", "drawn.fio"]).succeeds();
    let drawn = String::from_utf8(dir.read("drawn.rank-3.iolog")).expect("UTF-8");
    assert!(
        drawn.matches(" write ").count() > 3 * 6,
        "an order that is drawn has its requests, too: {drawn}"
    );
    assert!(dir.run(["export", "fio", "drawn.toml"]).fails().contains("--level program"));
    for format in ["fio", "fio-iolog"] {
        let strict = dir.run(["export", format, "m.toml", "--strict", "-o", "no.fio"]).fails();
        assert!(strict.contains("this would lose") && !dir.path("no.fio").exists(), "{strict}");
    }
    let refused = dir.run(["export", "ior", "m.toml"]).fails();
    assert!(refused.contains("it uses 3 kinds of files (ckpt.%r, shared, log), and IOR one"), "{refused}");
    dir.run(["workload", "-q", "--template", "shared-strided", "-o", "s.toml"]).succeeds();
    let lines = dir.run(["export", "ior", "s.toml", "--ranks", "4", "-q"]).succeeds().text();
    assert!(
        lines.ends_with("mpirun -n 4 ior -a POSIX -b 65536 -t 65536 -s 64 -w -r -k -i 1 -o shared\n"),
        "{lines}"
    );
}

/// A line of a trace of one process.
fn line(at: u32, text: &str) -> String {
    format!("7 10:00:00.{:06} {text} <0.000010>\n", at * 1000)
}

#[test]
fn a_copy_of_a_descriptor_that_is_closed_ends_no_session_and_neither_does_an_end_without_close_differ() {
    let calls = [
        "execve(\"/bin/sh\", [\"sh\", \"x\"], 0x7ff /* 1 var */) = 0",
        // That the trace holds all calls.
        "brk(NULL) = 0x5581",
        "openat(AT_FDCWD, \"/data/x\", O_RDONLY) = 3</data/x>",
        "fcntl(3</data/x>, F_DUPFD, 10) = 10</data/x>",
        "close(3</data/x>) = 0",
        "read(10</data/x>, \"a\"..., 100) = 100",
        "read(10</data/x>, \"a\"..., 100) = 20",
    ];
    let text: String = (1..).zip(calls).map(|(at, call)| line(at, call)).collect();
    let dir = Dir::with_trace(text);
    let found = dir.json(["characterize", "t.trail", "-q", "--level", "program", "--json", "-o", "m.toml"]);
    assert_eq!(found["fit"]["sessions"], serde_json::json!([1, 1]), "{found}");
    let model = String::from_utf8(dir.read("m.toml")).expect("UTF-8");
    assert!(model.contains("requests = { read = 2 }"), "{model}");
    assert_eq!(model.matches("[[file.session]]").count(), 1, "{model}");
    let page = dir.json(["report", "t.trail", "--workload", "m.toml", "-q", "--json"]);
    for figure in page["likeness"]["figures"].as_array().expect("figures") {
        let timed = figure["name"].as_str().unwrap_or_default().contains("(ns)");
        assert!(timed || figure["verdict"] == "equal", "{figure}");
    }
}

#[test]
fn bad_input_is_told_with_what_to_do() {
    let dir = Dir::with_trace("7 10:00:00.000100 +++ exited with 0 +++\n");
    let empty = dir.run(["characterize", "t.trail"]).fails();
    assert!(empty.contains("there is no call on files at all"), "{empty}");
    let write = line(1, "openat(AT_FDCWD, \"/data/x\", O_WRONLY|O_CREAT, 0666) = 3</data/x>")
        + &line(2, "write(3</data/x>, \"a\"..., 10) = 10")
        + &line(3, "read(9, \"a\"..., 10) = 10")
        + "7 10:00:00.004000 fsync(3</data/x>) = 0 <unfinished ...>\n";
    let dir = Dir::with_trace(write);
    let said = dir.run(["characterize", "t.trail", "-o", "m.toml"]).succeeds();
    let said = format!("{}{}", said.text(), said.messages());
    assert!(said.contains("1 call on files whose names are not known"), "{said}");
    let unplaced: String = (1..4).map(|at| line(at, "write(3</data/y>, \"a\"..., 10) = 10")).collect();
    let dir = Dir::with_trace(unplaced);
    let said = dir.run(["characterize", "t.trail", "-o", "m.toml"]).succeeds().text();
    assert!(
        said.contains("3 transfers whose offset the recording does not have: they follow each other"),
        "{said}"
    );
    let trail = dir.run(["generate", "t.trail", "--dir", "x"]).fails();
    assert!(trail.contains("`iotrail characterize t.trail -o model.toml` makes one of a trail"), "{trail}");
    dir.write("binary.toml", b"iotrail_workload = 1\n\xff");
    let binary = dir.run(["workload", "binary.toml"]).fails();
    assert!(binary.contains("byte 22 is not text; name a file as"), "{binary}");
    dir.run(["workload", "-q", "--template", "checkpoint", "-o", "t.toml"]).succeeds();
    let text = String::from_utf8(dir.read("t.toml")).expect("UTF-8");
    dir.write("huge.toml", text.replace("repeat = 5", "repeat = 1000000000000"));
    let huge = dir.run(["generate", "huge.toml", "--dir", "x"]).fails();
    assert!(huge.contains("use fewer ranks, repetitions or bytes"), "{huge}");
    let many = dir.run(["generate", "t.toml", "--dir", "x", "--ranks", "1000000000"]).fails();
    assert!(many.contains("1000000000 ranks need 1000000000 threads, at most 4096 are generated"), "{many}");
    assert!(!dir.path("x").exists());
}
