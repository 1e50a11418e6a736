//! What goes wrong, and what the program says about it: file, place, what was found, what to do.

use crate::cli::util::{Dir, LS};
use std::fs;
use std::os::unix::fs::symlink;

/// What each command that reads a trail says about `trail`; all fail with exit status 1.
fn said_about(dir: &Dir, trail: &str) -> String {
    let mut said: Vec<String> = Vec::new();
    for command in ["info", "check", "events", "dfg", "compare", "report"] {
        let mut words = vec![command, trail];
        if command == "compare" {
            words.push(trail);
        }
        let ran = dir.run(words).ends_with(1);
        assert_eq!(ran.text(), "", "{command}");
        said.push(ran.messages());
    }
    said.dedup();
    said.join("")
}

#[test]
fn a_missing_trail_is_named() {
    insta::assert_snapshot!(said_about(&Dir::new(), "gone.trail"));
}

#[test]
fn a_file_in_place_of_a_trail_is_no_trail() {
    let dir = Dir::new();
    dir.write("t.trail", LS);
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_directory_of_something_else_is_no_trail() {
    let dir = Dir::new();
    dir.write("etc/hosts", "");
    insta::assert_snapshot!(said_about(&dir, "etc"));
}

#[test]
fn a_dangling_link_is_named() {
    let dir = Dir::new();
    symlink("nowhere", dir.path("link.trail")).expect("a link");
    insta::assert_snapshot!(said_about(&dir, "link.trail"));
}

#[test]
fn a_description_of_something_else_is_no_trail() {
    let dir = Dir::new();
    dir.write("t.trail/trail.json", r#"{"format": "recipe", "format_version": 1}"#);
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_description_that_is_no_json_is_told_by_line_and_column() {
    let dir = Dir::new();
    dir.write("t.trail/trail.json", "{\n  \"format\": oops\n}");
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_trail_of_the_future_asks_for_a_later_version() {
    let dir = Dir::with_trace(LS);
    let mut meta: serde_json::Value = serde_json::from_slice(&dir.read("t.trail/trail.json")).expect("JSON");
    meta["format_version"] = 99.into();
    meta["tool_version"] = "7.1.0".into();
    dir.write("t.trail/trail.json", meta.to_string());
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_missing_table_is_named() {
    let dir = Dir::with_trace(LS);
    fs::remove_file(dir.path("t.trail/events-0000.parquet")).expect("a table");
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_trail_cut_short_anywhere_is_an_error_that_names_the_file() {
    let dir = Dir::with_trace(LS);
    for entry in fs::read_dir(dir.path("t.trail")).expect("a trail") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let file = format!("t.trail/{name}");
        let whole = dir.read(&file);
        for length in [0, 1, 4, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
            dir.write(&file, &whole[..length]);
            // The tables of processes and files are read only by commands that need them.
            let check = dir.run(["check", "t.trail"]).ends_with(1);
            let said = format!("{}{}", check.text(), check.messages());
            assert!(said.contains(&name), "{name} cut to {length}: {said}");
            for command in ["info", "events", "dfg"] {
                let ran = dir.run([command, "t.trail"]);
                assert!([Some(0), Some(1)].contains(&ran.status.code()), "{command}, {name} cut to {length}");
                if ran.status.code() == Some(1) {
                    assert!(
                        ran.messages().contains(&name),
                        "{command}, {name} cut to {length}: {}",
                        ran.messages()
                    );
                }
            }
        }
        dir.write(&file, &whole);
        dir.run(["check", "t.trail"]).succeeds();
    }
}

#[test]
fn a_trail_with_any_byte_changed_never_makes_the_program_panic() {
    let dir = Dir::with_trace(LS);
    for name in ["trail.json", "cases.parquet", "events-0000.parquet"] {
        let file = format!("t.trail/{name}");
        let whole = dir.read(&file);
        for at in (0..whole.len()).step_by(whole.len() / 12) {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            dir.write(&file, &changed);
            for command in ["check", "events", "dfg"] {
                let code = dir.run([command, "t.trail"]).status.code();
                assert!([Some(0), Some(1)].contains(&code), "{command}, byte {at} of {name}: {code:?}");
            }
        }
        dir.write(&file, &whole);
    }
}

#[test]
fn a_foreign_parquet_file_is_no_part_of_a_trail() {
    let dir = Dir::with_trace(LS);
    fs::copy(dir.path("t.trail/cases.parquet"), dir.path("t.trail/events-0000.parquet")).expect("a copy");
    insta::assert_snapshot!(said_about(&dir, "t.trail"));
}

#[test]
fn a_half_written_trail_says_what_it_is() {
    let dir = Dir::with_trace(LS);
    fs::rename(dir.path("t.trail"), dir.path(".t.trail.partial-77")).expect("a rename");
    insta::assert_snapshot!(said_about(&dir, ".t.trail.partial-77"));
}

#[test]
fn a_trail_is_replaced_only_by_force() {
    let dir = Dir::with_trace(LS);
    let words = ["import", "-o", "t.trail", "a_h_1.st"];
    insta::assert_snapshot!(dir.run(words).fails());
    dir.run(words.into_iter().chain(["--force"])).succeeds();
    assert_eq!(dir.names(), ["a_h_1.st", "t.trail"]);
}

#[test]
fn what_is_no_trail_is_not_even_replaced_by_force() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    dir.write("home/letter", "dear");
    dir.write("file", "precious");
    let said: Vec<String> = ["home", "file", "a.st"]
        .map(|target| dir.run(["import", "--force", "-o", target, "a.st"]).fails())
        .into();
    insta::assert_snapshot!(said.join(""));
    assert_eq!(dir.read("home/letter"), b"dear");
    assert_eq!(dir.read("file"), b"precious");
}

#[test]
fn what_is_no_directory_is_told_to_be_none_by_who_records() {
    let dir = Dir::new();
    dir.write("file", "precious");
    dir.shell("mkfifo fifo; ln -s file link").succeeds();
    let targets = ["file", "fifo", "link", "/dev/null"];
    for words in targets.iter().flat_map(|target| [vec!["-o", *target], vec!["--force", "-o", *target]]) {
        let command = [vec!["record"], words, vec!["--", "true"]].concat();
        let said = dir.run(command).ends_with(125).messages();
        assert!(said.contains("it is not a directory; choose another name"), "{said}");
    }
    assert_eq!(dir.read("file"), b"precious");
}

#[test]
fn places_where_no_trail_can_be_are_named() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    let import = |target| dir.run(["import", "-o", target, "a.st"]);
    let mut said = ["gone/t.trail", "a.st/t.trail", ".."].map(|target| import(target).fails()).concat();
    said.push_str(&import("-").refuses());
    insta::assert_snapshot!(said);
    assert_eq!(dir.names(), ["a.st"]);
}

#[test]
fn inputs_without_strace_output_make_no_trail() {
    let dir = Dir::new();
    dir.write("letter.txt", "Dear reader,\n");
    dir.write("binary", [0_u8, 159, 146, 150].repeat(64));
    dir.write("x.bz2", "BZh91AY&SY");
    fs::create_dir(dir.path("empty")).expect("a directory");
    symlink("nowhere", dir.path("dangling.st")).expect("a link");
    let inputs = ["letter.txt", "binary", "x.bz2", "empty", "dangling.st", "gone.st", ""];
    let said: Vec<String> = inputs.map(|input| dir.run(["import", "-o", "t.trail", input]).fails()).into();
    insta::assert_snapshot!(said.join(""));
    assert!(!dir.path("t.trail").exists());
    assert!(!dir.names().iter().any(|name| name.contains("partial")), "{:?}", dir.names());
}

#[test]
fn a_trail_is_no_input() {
    let dir = Dir::with_trace(LS);
    insta::assert_snapshot!(dir.run(["import", "-o", "u.trail", "t.trail"]).fails());
}

#[test]
fn words_of_a_query_that_mean_nothing_are_explained() {
    let dir = Dir::with_trace(LS);
    let wrong: [&[&str]; 12] = [
        &["dfg", "t.trail", "--map", "dirr2"],
        &["dfg", "t.trail", "--map", "gone.toml"],
        &["events", "t.trail", "--path", "/a/[z"],
        &["events", "t.trail", "--call", "{read"],
        &["events", "t.trail", "--since", "yesterday"],
        &["events", "t.trail", "--until", "25:00"],
        &["events", "t.trail", "--pid", "7-x"],
        &["events", "t.trail", "--min-size", "4 apples"],
        &["dfg", "t.trail", "--by", "colour"],
        &["dfg", "t.trail", "--var", "SCRATCH"],
        &["compare", "t.trail"],
        &["compare", "t.trail", "t.trail", "--groups", "x,y"],
    ];
    let said: Vec<String> = wrong
        .iter()
        .map(|words| {
            // Which groups there are is told by the trails.
            let status = if words.contains(&"--groups") { 1 } else { 2 };
            let messages = dir.run(*words).ends_with(status).messages();
            let error = messages.lines().filter(|line| line.starts_with("error: ")).collect::<Vec<_>>();
            assert_eq!(error.len(), 1, "{words:?}: {messages}");
            format!("{}\n  {}\n", words.join(" "), error[0])
        })
        .collect();
    insta::assert_snapshot!(said.join(""));
}

#[test]
fn a_bad_rules_file_is_told_by_line_and_column() {
    let dir = Dir::with_trace(LS);
    let files = [
        "[[rule]\n",
        "[[rule]]\npath = '['\nactivity = 'x'\n",
        "[[rule]]\nactivty = 'x'\n",
        "\u{1b}[31m = 1\n",
    ];
    let said: Vec<String> = files
        .iter()
        .map(|text| {
            dir.write("rules.toml", text);
            dir.run(["dfg", "-q", "t.trail", "--map", "rules.toml"]).fails()
        })
        .collect();
    insta::assert_snapshot!(said.join(""));
}

#[test]
fn an_unknown_format_lists_those_that_exist() {
    let dir = Dir::with_trace(LS);
    let wrong: [&[&str]; 4] = [
        &["dfg", "-q", "t.trail", "-o", "g.xyz"],
        &["dfg", "-q", "t.trail", "-o", "g.svg", "-o", "g"],
        &["dfg", "-q", "t.trail", "--format", "gif"],
        &["compare", "-q", "t.trail", "t.trail", "-o", "g.xyz"],
    ];
    let said: Vec<String> = wrong.iter().map(|words| dir.run(*words).refuses()).collect();
    insta::assert_snapshot!(said.join(""));
    for words in [["tree", "t.trail", "-o", "t.xyz"], ["workflow", "t.trail", "-o", "w.xyz"]] {
        assert!(dir.run(words).refuses().contains(".png"), "{words:?}");
    }
    assert_eq!(dir.names(), ["a_h_1.st", "t.trail"], "nothing is written before all is known to be right");
}

#[test]
fn a_mistyped_command_is_told_the_one_that_was_meant() {
    let dir = Dir::new();
    for (word, meant) in [("dgf", "dfg"), ("fdg", "dfg"), ("slq", "sql"), ("evnts", "events")] {
        let said = dir.run([word]).refuses();
        assert!(said.contains(&format!("a similar subcommand exists: '{meant}'")), "{said}");
    }
    assert!(!dir.run(["xyzzy"]).refuses().contains("similar"));
}

#[test]
fn no_command_replaces_a_structure_or_its_own_input() {
    let dir = Dir::new();
    dir.write("ls.strace", LS);
    dir.run(["import", "ls.strace", "-o", "t.trail"]).ends_with(0);
    dir.run(["compress", "t.trail", "-o", "s.structure"]).ends_with(0);
    dir.run(["workload", "--template", "checkpoint", "-o", "m.toml"]).ends_with(0);
    let before = ["s.structure", "m.toml"].map(|name| fs::read(dir.path(name)).expect("a file"));
    symlink("t.trail/trail.json", dir.path("link.db")).expect("a link");
    symlink("m.toml", dir.path("m.rank-0.iolog")).expect("a link");
    dir.write("rules.toml", "");
    let commands: [&[&str]; 19] = [
        &["export", "fio-iolog", "m.toml", "-o", "m.fio"],
        &["report", "t.trail", "--workload", "m.toml", "-o", "m.toml"],
        &["dfg", "t.trail", "-m", "rules.toml", "-o", "./rules.toml"],
        &["stats", "t.trail", "--phases", "rules.toml", "-o", "t.trail/../rules.toml"],
        &["advise", "t.trail", "--baseline", "rules.toml", "-o", "rules.toml"],
        &["compare", "t.trail", "s.structure", "--config", "rules.toml", "-o", "rules.toml"],
        &["report", "s.structure", "-o", "s.structure"],
        &["workflow", "s.structure", "-o", "s.structure"],
        &["stats", "s.structure", "-o", "s.structure"],
        &["files", "t.trail", "-o", "s.structure"],
        &["events", "s.structure", "-o", "s.structure"],
        &["why", "s.structure", "-o", "s.structure"],
        &["export", "perfetto", "s.structure", "-o", "s.structure"],
        &["export", "influx", "s.structure", "-o", "s.structure"],
        &["export", "sqlite", "s.structure", "-o", "s.structure"],
        &["workload", "m.toml", "-o", "s.structure"],
        &["structure", "s.structure", "--precision", "50", "-o", "s.structure"],
        &["export", "c", "m.toml", "-o", "m.toml"],
        &["export", "fio", "m.toml", "-o", "m.toml"],
    ];
    for command in commands {
        let said = dir.run(command.iter().copied()).ends_with(1).messages();
        assert!(said.contains("would be lost"), "{command:?}: {said}");
    }
    for command in
        [["export", "sqlite", "t.trail", "-o", "link.db"], ["export", "grafana", "t.trail", "-o", "t.trail"]]
    {
        let said = dir.run(command).ends_with(1).messages();
        assert!(said.contains("lies in the trail"), "{command:?}: {said}");
    }
    assert!(!dir.path("t.trail/dashboards").exists());
    dir.run(["check", "t.trail"]).ends_with(0);
    let after = ["s.structure", "m.toml"].map(|name| fs::read(dir.path(name)).expect("a file"));
    assert!(after == before, "the inputs are as they were");
    let said = dir.run(["compress", "t.trail", "-o", "s.structure"]).ends_with(1).messages();
    assert!(said.contains("s.structure exists already; --force replaces it"), "{said}");
    dir.run(["compress", "t.trail", "-o", "s.structure", "--force"]).ends_with(0);
}

#[test]
fn no_command_writes_over_a_file_of_a_trail() {
    let dir = Dir::new();
    dir.write("ls.strace", LS);
    dir.run(["import", "ls.strace", "-o", "t.trail"]).ends_with(0);
    let before = fs::read(dir.path("t.trail/trail.json")).expect("a trail");
    let commands: [&[&str]; 7] = [
        &["export", "perfetto", "-o", "t.trail/trail.json", "t.trail"],
        &["export", "sqlite", "-o", "t.trail/events-0000.parquet", "t.trail"],
        &["report", "-o", "t.trail/trail.json", "t.trail"],
        &["redact", "--force", "-o", "t.trail", "t.trail"],
        &["redact", "-o", "t.trail/copy.trail", "t.trail"],
        &["dfg", "-o", "t.trail/dfg.svg", "t.trail"],
        &["import", "-o", "t.trail/more.trail", "ls.strace"],
    ];
    for command in commands {
        let said = dir.run(command.iter().copied()).ends_with(1).messages();
        assert!(said.contains("t.trail"), "{command:?}: {said}");
    }
    let said = dir.run(["record", "-o", "t.trail/more.trail", "--", "true"]).ends_with(125).messages();
    assert!(said.contains("lies in the trail"), "{said}");
    assert_eq!(fs::read(dir.path("t.trail/trail.json")).expect("a trail"), before);
    dir.run(["check", "t.trail"]).ends_with(0);
}

#[test]
fn near_names_are_suggested() {
    let dir = Dir::with_trace(LS);
    let wrong: [&[&str]; 5] = [
        &["info", "tt.trail"],
        &["info", "other.trail"],
        &["dfg", "t.trail", "--map", "dirr2"],
        &["events", "t.trail", "--call", "raed"],
        &["dfg", "t.trail", "--max-noes", "3"],
    ];
    let said: Vec<String> = wrong.iter().map(|words| dir.run(*words).messages()).collect();
    insta::assert_snapshot!(said.join(""));
}

#[test]
fn a_file_in_place_of_a_command_is_told_what_takes_it() {
    let dir = Dir::with_trace(LS);
    let wrong: [&[&str]; 4] = [&["t.trail"], &["a_h_1.st"], &["sleep", "2"], &["dfg", "a_h_1.st"]];
    let said: Vec<String> = wrong.iter().map(|words| dir.run(*words).messages()).collect();
    insta::assert_snapshot!(said.join("----\n"));
}

#[test]
fn an_empty_selection_fails_and_is_named() {
    let dir = Dir::with_trace(LS);
    for command in ["events", "files", "dfg", "stats", "workflow", "report", "compare", "advise"] {
        let mut words = vec![command, "-q", "t.trail"];
        words.extend((command == "compare").then_some("t.trail"));
        let said = dir.run(words.into_iter().chain(["--path", "/nowhere"])).ends_with(1).messages();
        assert!(said.contains("nothing to show for the selection (paths /nowhere)"), "{command}: {said}");
    }
    assert_eq!(dir.names(), ["a_h_1.st", "t.trail"]);
}

#[test]
fn a_report_without_a_name_replaces_nothing() {
    let dir = Dir::with_trace(LS);
    dir.write("t.html", "mine");
    dir.run(["report", "t.trail"]).succeeds();
    assert_eq!(dir.read("t.html"), b"mine");
    assert_eq!(dir.names(), ["a_h_1.st", "t-2.html", "t.html", "t.trail"]);
}

#[test]
fn a_trail_is_not_called_like_a_structure() {
    let dir = Dir::with_trace(LS);
    for words in [["redact", "t.trail"], ["import", "a_h_1.st"]] {
        let said = dir.run(words.into_iter().chain(["-o", "new.structure"])).ends_with(1).messages();
        assert!(said.contains("iotrail compress"), "{said}");
    }
    assert_eq!(dir.names(), ["a_h_1.st", "t.trail"]);
}
