//! Models of workloads: characterised, changed, generated.

use crate::cli::util::Dir;

/// Ranks that write a file each, then a shared one in turns; one of them a log.
pub(crate) fn traces(dir: &Dir, ranks: u32) {
    for rank in 0..ranks {
        let mut text = String::new();
        let mut clock = 100 * rank;
        let mut call = |line: &str| {
            clock += 1_000;
            text.push_str(&format!("{} 10:00:00.{clock:06} {line} <0.000010>\n", 50 + rank));
        };
        call("execve(\"/data/app\", [\"app\"], 0x7ff /* 1 var */) = 0");
        // That the trace holds all calls.
        call("brk(NULL) = 0x5581");
        call("openat(AT_FDCWD, \"/usr/lib/libc.so.6\", O_RDONLY) = 3</usr/lib/libc.so.6>");
        call("read(3</usr/lib/libc.so.6>, \"x\"..., 832) = 832");
        call("close(3</usr/lib/libc.so.6>) = 0");
        for step in 0..3 {
            call(&format!(
                "openat(AT_FDCWD, \"/data/ckpt.{rank}\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</data/ckpt.{rank}>"
            ));
            for _ in 0..4 {
                call(&format!("write(3</data/ckpt.{rank}>, \"x\"..., 4096) = 4096"));
            }
            call(&format!("write(3</data/ckpt.{rank}>, \"x\"..., 100) = 100"));
            call(&format!("fsync(3</data/ckpt.{rank}>) = 0"));
            call(&format!("close(3</data/ckpt.{rank}>) = 0"));
            call("openat(AT_FDCWD, \"/data/shared\", O_RDWR|O_CREAT, 0666) = 3</data/shared>");
            for turn in 0..2 {
                let offset = 512 * (step * 2 * ranks + turn * ranks + rank);
                call(&format!("pwrite64(3</data/shared>, \"x\"..., 512, {offset}) = 512"));
            }
            call("close(3</data/shared>) = 0");
            if rank == 0 {
                call("openat(AT_FDCWD, \"/data/log\", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3</data/log>");
                call("write(3</data/log>, \"x\"..., 20) = 20");
                call("close(3</data/log>) = 0");
            }
        }
        dir.write(format!("app_host_{rank}.st"), text);
    }
    let names: Vec<String> = (0..ranks).map(|rank| format!("app_host_{rank}.st")).collect();
    let words = ["import", "-q", "-o", "app.trail"].map(str::to_owned);
    dir.run(words.into_iter().chain(names)).succeeds();
}

#[test]
fn a_regular_program_is_modelled_exactly_and_scales_by_its_laws() {
    let dir = Dir::new();
    traces(&dir, 4);
    let found = dir.json(["characterize", "app.trail", "--json", "--names", "keep", "-q", "-o", "m.toml"]);
    assert_eq!(found["ranks"], 4);
    assert_eq!(found["fit"]["exact_transfers"], 4 * 3 * 7 + 3);
    assert_eq!(found["fit"]["bytes_written"], serde_json::json!([210_156, 210_156]));
    assert_eq!(found["groups"].as_array().map(Vec::len), Some(2), "the root and the others");
    let model = String::from_utf8(dir.read("m.toml")).expect("UTF-8");
    assert!(model.contains("step = \"512 B * ranks\", again = \"1 KiB * ranks\""), "{model}");
    assert!(model.contains("size = [\"4 * 4 KiB\", \"100 B\"]"), "{model}");
    assert!(model.contains("{ repeat = 3, steps = ["), "{model}");
    assert!(model.len() < 16 << 10);
    let eight = dir.json(["workload", "m.toml", "--ranks", "8", "--json"]);
    assert_eq!(eight["bytes_written"], 8 * 3 * (4 * 4096 + 100 + 2 * 512) + 3 * 20);
    assert_eq!((&eight["files"], &eight["fsyncs"]), (&10.into(), &24.into()));
}

#[test]
fn without_names_no_word_of_a_path_is_in_a_model() {
    let dir = Dir::new();
    traces(&dir, 3);
    let text = dir.run(["characterize", "app.trail", "-o", "-"]).succeeds().text();
    for word in ["ckpt", "data", "log\"", "app_", "host"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(text.contains("name = \"private-1.%r\"") && text.contains("name = \"root-"), "{text}");
}

#[test]
fn what_is_generated_is_what_the_model_comes_to() {
    let dir = Dir::new();
    traces(&dir, 3);
    dir.run(["characterize", "app.trail", "-q", "--names", "keep", "-o", "m.toml"]).succeeds();
    let done =
        dir.json(["generate", "m.toml", "--dir", "scratch", "--ranks", "5", "--asap", "--keep", "--json"]);
    assert_eq!((&done["failed"], &done["files"]), (&0.into(), &7.into()));
    let size = |name: &str| dir.read(format!("scratch/{name}")).len();
    assert_eq!((size("ckpt.4"), size("shared"), size("log")), (4 * 4096 + 100, 3 * 2 * 5 * 512, 60));
    dir.run(["generate", "--clean", "--dir", "scratch"]).succeeds();
    assert!(!dir.path("scratch").exists());
    dir.write("mine/file", "mine");
    let refused = dir.run(["generate", "m.toml", "--dir", "mine"]).fails();
    assert!(refused.contains("not empty (it holds \"file\")"), "{refused}");
    assert_eq!(dir.read("mine/file"), b"mine");
    let refused = dir.run(["generate", "m.toml", "--dir", "new", "--max-bytes", "10kB"]).fails();
    assert!(refused.contains("more than --max-bytes 10000") && !dir.path("new").exists(), "{refused}");
    dir.run(["generate", "m.toml", "--dir", "new", "--dry-run"]).succeeds();
    assert!(!dir.path("new").exists());
}

#[test]
fn a_wrong_model_is_refused_with_its_place() {
    let dir = Dir::new();
    dir.run(["workload", "-q", "--template", "checkpoint", "-o", "m.toml"]).succeeds();
    let text = String::from_utf8(dir.read("m.toml")).expect("UTF-8");
    dir.write("bad.toml", text.replace("fsync = 1", "fsink = 1"));
    insta::assert_snapshot!(dir.run(["workload", "bad.toml"]).fails());
    dir.write("later.toml", text.replace("iotrail_workload = 1", "iotrail_workload = 2"));
    insta::assert_snapshot!(dir.run(["generate", "later.toml", "--dir", "new"]).fails());
    insta::assert_snapshot!(dir.run(["workload", "m.toml", "--scale", "colour=2"]).fails());
    insta::assert_snapshot!(dir.run(["workload", "m.toml"]).succeeds().text());
}

#[test]
fn nothing_on_files_of_the_program_is_an_error() {
    let dir = Dir::with_trace("7 10:00:00.000100 read(3</etc/passwd>, \"\"..., 10) = 10 <0.000010>\n");
    let said = dir.run(["characterize", "t.trail"]).fails();
    assert!(
        said.contains("no call on a file of the program's own is selected: 1 call on files of the system"),
        "{said}"
    );
}

#[test]
fn a_dry_run_as_a_trail_gives_the_model_back_and_a_clone_is_equal_to_it() {
    let dir = Dir::new();
    traces(&dir, 4);
    dir.run(["characterize", "app.trail", "-q", "--names", "keep", "-o", "m.toml"]).succeeds();
    let plan =
        ["generate", "m.toml", "-q", "--dir", "scratch", "--ranks", "4", "--dry-run", "-o", "plan.trail"];
    dir.run(plan).succeeds();
    assert!(!dir.path("scratch").exists());
    let again = dir.json([
        "characterize",
        "plan.trail",
        "app.trail",
        "-q",
        "--names",
        "keep",
        "-o",
        "p.toml",
        "--json",
    ]);
    assert_eq!(again["confirmations"][0]["exact_transfers"], 4 * 3 * 7 + 3);
    let without_times = |name: &str| -> Vec<String> {
        let text = String::from_utf8(dir.read(name)).expect("UTF-8");
        let timed = |line: &&str| line.contains("slack =") || line.contains("duration =");
        text.lines().filter(|line| !timed(line)).map(str::to_owned).collect()
    };
    assert_eq!(without_times("p.toml"), without_times("m.toml"));
    let validate = ["validate", "m.toml", "-q", "--dir", "scratch", "--runs", "2", "--json", "--against"];
    let found = dir.json(validate.into_iter().chain(["plan.trail", "plan.trail"]));
    let timed = |name: &str| name.contains("(ns)");
    for figure in found["figures"].as_array().expect("figures") {
        let name = figure["name"].as_str().expect("a name");
        assert!(timed(name) || figure["verdict"] == "equal", "{figure}");
    }
    assert!(found["figures"].as_array().is_some_and(|figures| figures.len() > 20), "{found}");
    let failed =
        ["validate", "m.toml", "--dir", "scratch", "--runs", "1", "--fail-on", "differs", "--against"];
    let failed = dir.run(failed.into_iter().chain(["plan.trail", "plan.trail"]));
    assert_eq!(failed.status.code(), Some(1));
    let single = dir.run(["validate", "m.toml", "--dir", "scratch", "--against", "plan.trail"]).fails();
    assert!(single.contains("at least 2 runs of the program") && !single.contains("run 1"), "{single}");
    assert!(!dir.path("scratch").exists());
    let matrix = dir.run(["matrix", "plan.trail"]).succeeds().text();
    assert_eq!(matrix, "0 messages with 0 B between 0 pairs of 0 ranks\n");
}

#[test]
fn contents_are_checked_and_strong_scaling_deals_the_transfers_of_shared_files() {
    let dir = Dir::new();
    traces(&dir, 4);
    dir.run(["characterize", "app.trail", "-q", "--names", "keep", "-o", "m.toml"]).succeeds();
    let done = |words: &[&str]| {
        let common = ["generate", "m.toml", "-q", "--dir", "scratch", "--asap", "--json", "--verify"];
        dir.json(common.into_iter().chain(words.iter().copied()))
    };
    let weak = done(&["--ranks", "8"]);
    assert_eq!(
        (&weak["wrong_bytes"], &weak["missing_bytes"], &weak["failed"]),
        (&0.into(), &0.into(), &0.into())
    );
    let shared = 3 * 2 * 512;
    let private = 3 * (4 * 4096 + 100);
    assert_eq!(weak["bytes_written"], 8 * (private + shared) + 60);
    let strong = done(&["--ranks", "8", "--strong"]);
    assert_eq!(strong["bytes_written"], 8 * private + 4 * shared + 60);
    assert_eq!(strong["missing_bytes"], 0);
    let fewer = done(&["--ranks", "3", "--strong", "--scale", "size=2"]);
    assert_eq!(fewer["bytes_written"], 2 * (3 * private + 4 * shared + 60));
}

#[test]
fn levels_are_compared_with_the_recording_and_a_drawn_path_is_generated() {
    let dir = Dir::new();
    traces(&dir, 4);
    let found = dir.json(["characterize", "app.trail", "--json", "-q", "-o", "program.toml"]);
    let levels = found["levels"].as_array().expect("levels");
    let words = |key: &str| levels.iter().map(|level| level[key].clone()).collect::<Vec<_>>();
    assert_eq!(words("level"), ["paper", "joint", "program"]);
    assert_eq!(words("chosen"), [false, false, true], "{levels:?}");
    assert_eq!(words("within"), [false, false, true], "{levels:?}");
    assert_eq!(levels[2]["model_bytes"], dir.read("program.toml").len());
    let paper =
        dir.json(["characterize", "app.trail", "--json", "-q", "--level", "paper", "-o", "paper.toml"]);
    assert_eq!(paper["levels"][0]["chosen"], true);
    let model = String::from_utf8(dir.read("paper.toml")).expect("UTF-8");
    assert!(model.contains("[[file.statistics]]") && !model.contains("[program]"), "{model}");
    for word in ["ckpt", "data", "app_", "host"] {
        assert!(!model.contains(word), "{word}: {model}");
    }
    let done =
        dir.json(["generate", "paper.toml", "--dir", "new", "--ranks", "6", "--asap", "--verify", "--json"]);
    assert_eq!(
        (&done["failed"], &done["wrong_bytes"], &done["sessions"]),
        (&0.into(), &0.into(), &39.into())
    );
    let plan = ["generate", "paper.toml", "-q", "--dir", "new", "--dry-run", "-o", "plan.trail"];
    dir.run(plan).succeeds();
    let again = dir.json(["characterize", "plan.trail", "-q", "--level", "paper", "--json"]);
    for figure in ["sessions", "writes", "bytes_written", "syncs"] {
        assert_eq!(again["fit"][figure][0], paper["fit"][figure][1], "{figure} of the path that was drawn");
    }
    let strong = dir.run(["generate", "paper.toml", "--dir", "new", "--strong"]).fails();
    assert!(strong.contains("--strong needs a model with [program]"), "{strong}");
    let program = dir.run(["export", "c", "paper.toml"]).fails();
    assert!(program.contains("without [program]"), "{program}");
}

/// Ranks that do nothing but write a file of their own: distributions say all of it.
#[test]
fn the_first_level_that_is_near_enough_is_taken() {
    let dir = Dir::new();
    for rank in 0..4 {
        let mut text = String::new();
        for call in 0..12 {
            let file = format!("3</data/out.{rank}>");
            let line = match call {
                0 => "brk(NULL) = 0x5581".to_owned(),
                1 => format!("openat(AT_FDCWD, \"/data/out.{rank}\", O_WRONLY|O_CREAT, 0666) = {file}"),
                11 => format!("close({file}) = 0"),
                _ => format!("write({file}, \"x\"..., 4096) = 4096"),
            };
            text.push_str(&format!("{} 10:00:00.0{call:02}000 {line} <0.000010>\n", 50 + rank));
        }
        dir.write(format!("app_host_{rank}.st"), text);
    }
    let words = ["import", "-q", "-o", "app.trail"].map(str::to_owned);
    dir.run(words.into_iter().chain((0..4).map(|rank| format!("app_host_{rank}.st")))).succeeds();
    let found = dir.json(["characterize", "app.trail", "--json", "-q", "-o", "m.toml"]);
    assert_eq!(found["levels"][0]["chosen"], true, "{}", found["levels"]);
    assert_eq!(found["fit"]["exact_transfers"], 36);
    let text = dir.run(["characterize", "app.trail", "-q"]).succeeds().text();
    assert!(text.contains("near enough, this model"), "{text}");
    let kept = dir.json(["characterize", "app.trail", "--json", "-q", "--names", "keep"]);
    assert_eq!(kept["levels"][2]["chosen"], false, "joint keeps names, too");
    assert_eq!(kept["levels"][1]["chosen"], true);
}

#[test]
fn several_models_run_at_the_same_time_each_in_a_directory_of_its_own() {
    let dir = Dir::new();
    dir.run(["workload", "-q", "--template", "checkpoint", "-o", "a.toml"]).succeeds();
    dir.run(["workload", "-q", "--template", "log", "-o", "b.toml"]).succeeds();
    let alone = |model: &str, ranks: &str| {
        dir.json(["generate", model, "--dir", "new", "--ranks", ranks, "--dry-run", "--json"])
    };
    let (a, b) = (alone("a.toml", "2"), alone("b.toml", "3"));
    let words = [
        "a.toml:2",
        "b.toml:3@+100ms",
        "--dir",
        "mix",
        "--asap",
        "--scale",
        "size=0.125",
        "--verify",
        "--keep",
    ];
    let mix = dir.json(["generate"].into_iter().chain(words).chain(["--json"]));
    assert_eq!((&mix["failed"], &mix["ranks"]), (&0.into(), &5.into()));
    for (at, own) in [a, b].iter().enumerate() {
        assert_eq!(mix["models"][at]["requests"], own["requests"]);
        assert_eq!(mix["models"][at]["sessions"], own["sessions"]);
    }
    assert_eq!((&mix["models"][0]["label"], &mix["models"][1]["label"]), (&"a".into(), &"b".into()));
    assert!(mix["elapsed_ns"].as_u64().is_some_and(|ns| ns >= 100_000_000), "{mix}");
    assert!(dir.path("mix/a/checkpoint.1").exists() && dir.path("mix/b").is_dir());
    dir.run(["generate", "--clean", "--dir", "mix"]).succeeds();
    assert!(!dir.path("mix").exists());
    let refused = dir.run(["generate", "a.toml:0", "--dir", "mix"]).refuses();
    assert!(refused.contains("expected FILE, FILE:RANKS, FILE:RANKS@+TIME"), "{refused}");
    let both = dir.run(["generate", "b.toml", "b.toml:1#3", "--dir", "mix", "--asap"]).succeeds().text();
    assert!(both.contains("b-2\n") && both.contains("calls in"), "{both}");
}

#[test]
fn knobs_change_what_is_generated() {
    let dir = Dir::new();
    dir.run(["workload", "-q", "--template", "checkpoint", "-o", "m.toml"]).succeeds();
    let words = [
        "generate", "m.toml", "--dir", "new", "--ranks", "2", "--asap", "--json", "--cache", "cold",
        "--scale",
    ];
    let of = |scale: &str| dir.json(words.into_iter().chain([scale]));
    let (plain, reads) = (of("size=0.0625"), of("size=0.0625,reads=0.5"));
    assert_eq!(plain["requests"], reads["requests"]);
    assert_eq!(reads["failed"], 0);
    assert_eq!(reads["bytes_read"], reads["bytes_written"]);
    let files = of("size=0.0625,files=2");
    assert_eq!(files["files"].as_u64(), plain["files"].as_u64().map(|files| 2 * files));
    let shared = of("size=0.0625,sharing=shared");
    assert_eq!((&shared["files"], &shared["failed"]), (&1.into(), &0.into()));
    assert_eq!(shared["bytes_written"], plain["bytes_written"]);
}

/// Ranks that pass a token in a file: each reads what the one before wrote, and writes it for the next.
#[test]
fn waits_for_what_other_ranks_wrote_are_found_and_kept() {
    let dir = Dir::new();
    let (ranks, rounds) = (4, 3);
    for rank in 0..ranks {
        let mut text = format!("{} 10:00:00.000100 brk(NULL) = 0x5581 <0.000010>\n", 50 + rank);
        for round in 0..rounds {
            let turn = 1 + round * ranks + rank;
            let mut clock = turn * 10_000;
            let mut call = |line: &str| {
                clock += 100;
                text.push_str(&format!("{} 10:00:00.{clock:06} {line} <0.000010>\n", 50 + rank));
            };
            call("openat(AT_FDCWD, \"/data/token\", O_RDWR|O_CREAT, 0666) = 3</data/token>");
            call("pread64(3</data/token>, \"x\"..., 8, 0) = 8");
            call("pwrite64(3</data/token>, \"x\"..., 8, 0) = 8");
            call("close(3</data/token>) = 0");
        }
        dir.write(format!("app_host_{rank}.st"), text);
    }
    let words = ["import", "-q", "-o", "app.trail"].map(str::to_owned);
    dir.run(words.into_iter().chain((0..ranks).map(|rank| format!("app_host_{rank}.st")))).succeeds();
    let found = dir.json(["characterize", "app.trail", "--json", "-q", "--level", "program", "-o", "m.toml"]);
    let wait = &found["tokens"]["after"][0];
    assert_eq!(
        (&wait["of"], &wait["kept"]),
        (&"-1, counted round".into(), &true.into()),
        "{}",
        found["tokens"]
    );
    assert_eq!((&wait["after"], &wait["before"]), (&"shared-1/update-1".into(), &"shared-1/update-1".into()));
    assert_eq!(wait["seen"], ranks * rounds - 1);
    let model = String::from_utf8(dir.read("m.toml")).expect("UTF-8");
    assert!(model.contains("around = -1"), "{model}");
    dir.run(["generate", "m.toml", "-q", "--dir", "new", "--ranks", "6", "--asap", "-o", "clone.trail"])
        .succeeds();
    let events = dir
        .run(["events", "clone.trail", "-q", "--csv", "--path", "**/new/**", "--call", "pwrite64"])
        .succeeds()
        .text();
    let mut lines = events.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).expect("a column");
    let (tid, start) = (column("tid"), column("start"));
    let mut writes: Vec<(String, String)> = lines
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|cells| (cells[start].clone(), cells[tid].clone()))
        .collect();
    writes.sort();
    let order: Vec<&str> = writes.iter().map(|(_, tid)| tid.as_str()).collect();
    assert_eq!(order.len(), 6 * 3, "{events}");
    assert_eq!(order[..6], order[6..12], "six ranks take turns: {order:?}");
    assert_eq!(order[..6], order[12..], "{order:?}");
    let text = dir.run(["characterize", "app.trail", "-q"]).succeeds().text();
    assert!(text.contains("11 sessions read or opened what another rank"), "{text}");
}

/// The example of section 2 of the definitions, as four ranks do it: figures of a rank, by class and group.
#[test]
fn the_figures_of_table_iii_are_those_of_the_example() {
    let dir = Dir::new();
    for rank in 0..4 {
        let mut text = format!("{} 10:00:00.000100 brk(NULL) = 0x5581 <0.000010>\n", 50 + rank);
        let (input, out) = ("3</data/in>", format!("4</data/out.{rank}>"));
        let mut calls = vec![
            format!("openat(AT_FDCWD, \"/data/in\", O_RDONLY) = {input}"),
            format!("read({input}, \"x\"..., 4096) = 4096"),
            format!("openat(AT_FDCWD, \"/data/out.{rank}\", O_WRONLY|O_CREAT, 0666) = {out}"),
            format!("write({out}, \"x\"..., 1000) = 1000"),
            "stat(\"/data/log\", {st_mode=S_IFREG|0644, st_size=7, ...}) = 0".to_owned(),
            format!("read({input}, \"x\"..., 4096) = 4096"),
            format!("write({out}, \"x\"..., 1000) = 1000"),
            format!("close({input}) = 0"),
            format!("lseek({out}, 4000, SEEK_SET) = 4000"),
            format!("write({out}, \"x\"..., 500) = 500"),
            format!("close({out}) = 0"),
            format!("openat(AT_FDCWD, \"/data/out.{rank}\", O_RDONLY) = {out}"),
            format!("read({out}, \"x\"..., 2000) = 2000"),
            format!("close({out}) = 0"),
        ];
        if rank > 0 {
            calls.remove(4);
        }
        for (at, call) in calls.iter().enumerate() {
            text.push_str(&format!("{} 10:00:00.{:06} {call} <0.000010>\n", 50 + rank, 1000 * (at + 1)));
        }
        dir.write(format!("app_host_{rank}.st"), text);
    }
    let words = ["import", "-q", "-o", "app.trail"].map(str::to_owned);
    dir.run(words.into_iter().chain((0..4).map(|rank| format!("app_host_{rank}.st")))).succeeds();
    let found = dir.json(["characterize", "app.trail", "--json", "-q"]);
    let groups = found["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 2, "the root, and the others");
    let of = |group: usize, class: &str| {
        let all = found["classes"].as_array().expect("classes");
        all.iter().find(|of| of["group"] == group && of["class"] == class).expect(class)
    };
    let mean = |of: &serde_json::Value, key: &str| of[key]["mean"].as_f64().expect("a mean");
    let (input, out) = (of(0, "shared"), of(0, "private"));
    assert_eq!((mean(input, "sessions"), mean(input, "first_gap"), mean(input, "depth")), (1.0, 1.0, 3.0));
    assert_eq!(mean(input, "request_gap"), 7.0 / 3.0);
    assert_eq!((&input["consecutive"], &input["file_size"]), (&1.0.into(), &8192.into()));
    assert_eq!(input["offsets"]["read"]["max"], 4096);
    assert_eq!((mean(out, "sessions"), mean(out, "first_gap"), mean(out, "session_gap")), (2.0, 3.0, 1.0));
    assert_eq!((mean(out, "depth"), mean(out, "request_gap")), (3.0, 9.0 / 6.0));
    assert_eq!((&out["consecutive"], &out["sequential"]), (&0.5.into(), &1.0.into()));
    assert_eq!(out["file_size"], 4500);
    assert_eq!(out["in_sessions"], serde_json::json!({ "read": 1, "write": 2, "write.s": 1 }));
    assert_eq!(of(0, "root")["outside"], serde_json::json!({ "stat": 1 }));
    let ratio = |group: usize| (groups[group]["data_requests"].clone(), groups[group]["requests"].clone());
    assert_eq!((ratio(0), ratio(1)), ((6.into(), 13.into()), (6.into(), 12.into())));
}
