//! Help, manual pages, completions.

use crate::cli::util::Dir;

/// In the order of the first screen.
const COMMANDS: [&str; 32] = [
    "record",
    "import",
    "why",
    "files",
    "sessions",
    "advise",
    "report",
    "dfg",
    "stats",
    "workflow",
    "structure",
    "loops",
    "matrix",
    "tree",
    "processes",
    "events",
    "compare",
    "characterize",
    "workload",
    "generate",
    "validate",
    "replay",
    "compress",
    "expand",
    "export",
    "sql",
    "redact",
    "info",
    "check",
    "recover",
    "completions",
    "man",
];

#[test]
fn the_first_screen_lists_every_command_in_its_group_and_is_short() {
    let dir = Dir::new();
    let text = dir.run(["--help"]).succeeds().text();
    let lines = text.lines().skip_while(|line| *line != "Record:").take_while(|line| *line != "Options:");
    let commands = lines.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    assert_eq!(commands.collect::<Vec<_>>(), COMMANDS);
    insta::assert_snapshot!(dir.run(["-h"]).succeeds().text());
}

#[test]
fn options_stand_under_their_headings() {
    let dir = Dir::new();
    for command in COMMANDS {
        let text = dir.run([command, "-h"]).succeeds().text();
        let (own, global) = text.split_once("\nGlobal options:\n").unwrap_or_else(|| panic!("{text}"));
        assert!(global.contains("--color") && global.contains("--version"), "{global}");
        let headings = own.lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
        let first_group = headings.clone().position(|line| !["Arguments:", "Options:"].contains(&line));
        let options = headings.clone().position(|line| line == "Options:");
        assert!(first_group.is_none() || options < first_group, "{text}");
        for option in ["-o, --output", "      --json", "      --top "] {
            let Some((before, _)) = own.split_once(option) else { continue };
            let heading = before.lines().rfind(|line| line.ends_with(':') && !line.starts_with(' '));
            assert_eq!(heading, Some("Options:"), "{command} {option}");
        }
    }
}

#[test]
fn one_option_has_one_meaning() {
    let dir = Dir::new();
    let help = |command: &str| dir.run([command, "-h"]).succeeds().text();
    let about = |option: &str| -> Vec<String> {
        let helps: Vec<String> =
            COMMANDS.iter().map(|command| help(command).replace("\n          ", "  ")).collect();
        let lines = helps.iter().flat_map(|text| text.lines());
        let mut texts: Vec<String> = lines
            .filter(|line| line.trim_start().starts_with('-'))
            .filter_map(|line| Some(line.split_once(&format!("{option} "))?.1.trim()))
            .map(|line| {
                line.split_whitespace()
                    .filter(|word| !word.starts_with('<'))
                    .take(4)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        texts.sort();
        texts.dedup();
        texts
    };
    assert_eq!(about("--by").len(), 1, "{:?}", about("--by"));
    assert_eq!(about("--max-size").len(), 1, "{:?}", about("--max-size"));
    assert!(about("--force").iter().all(|text| text.starts_with("Replace the ")), "{:?}", about("--force"));
}

#[test]
fn the_help_of_every_command_has_an_example_that_calls_it() {
    let dir = Dir::new();
    for command in COMMANDS {
        let text = dir.run([command, "--help"]).succeeds().text();
        let (_, after) = text.split_once("Example").unwrap_or_else(|| panic!("{command}: {text}"));
        assert!(after.contains(&format!("iotrail {command} ")), "{command}: {after}");
    }
}

#[test]
fn every_format_of_export_has_an_example_a_manual_page_and_a_line_in_the_guide() {
    let dir = Dir::new();
    dir.run(["man", "-o", "man"]).succeeds();
    let guide = include_str!("../../../../../docs/exports.md");
    for format in ["sqlite", "perfetto", "influx", "grafana", "c", "fio", "fio-iolog", "ior"] {
        let text = dir.run(["export", format, "--help"]).succeeds().text();
        let call = format!("iotrail export {format} ");
        assert!(text.contains("Examples:") && text.contains(&call), "{text}");
        assert!(guide.contains(&call), "{call}");
        let page = String::from_utf8(dir.read(format!("man/iotrail-export-{format}.1"))).expect("UTF-8");
        assert!(page.contains(&format!(".TH iotrail-export-{format} 1")), "{page}");
        let examples = text.lines().filter_map(|line| line.trim_start().strip_prefix("iotrail "));
        for example in examples.map(|line| line.split(" | ").next().unwrap_or_default()) {
            for option in example.split_whitespace().filter(|word| word.starts_with("--")) {
                assert!(text.matches(option).count() > 1, "{format}: {option}");
            }
        }
    }
}

#[test]
fn every_option_of_every_example_exists() {
    let dir = Dir::new();
    for command in COMMANDS {
        let text = dir.run([command, "--help"]).succeeds().text();
        let examples = text.lines().filter_map(|line| line.trim_start().strip_prefix("iotrail "));
        for example in examples.map(|line| line.split(" | ").next().unwrap_or_default()) {
            for option in example.split_whitespace().filter(|word| word.starts_with("--")) {
                assert!(text.matches(option).count() > 1, "{command}: {option}");
            }
        }
    }
}

/// A trace that answers what the examples ask for.
const RUN: &str = "\
7  10:00:00.000100 execve(\"/usr/bin/make\", [\"make\"], 0x7ff /* 1 var */) = 0 <0.000100>
7  10:00:00.000300 openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3</etc/passwd> <0.000010>
7  10:00:00.000400 read(3</etc/passwd>, \"root\"..., 4096) = 1000 <0.000020>
7  10:00:00.000500 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>
8  10:00:00.000700 execve(\"/usr/bin/mDiffFit\", [\"mDiffFit\", \"-p\", \"raw\"], 0x7ff /* 1 var */) = 0 <0.000100>
8  10:00:00.000900 openat(AT_FDCWD, \"/scratch/none\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000003>
8  10:00:00.001000 openat(AT_FDCWD, \"/scratch/in.fits\", O_RDONLY) = 3</scratch/in.fits> <0.000010>
8  10:00:00.001100 read(3</scratch/in.fits>, \"x\"..., 4096) = 4096 <0.000020>
8  10:00:00.001200 openat(AT_FDCWD, \"/data/mosaic.fits\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4</data/mosaic.fits> <0.000010>
8  10:00:00.001300 write(4</data/mosaic.fits>, \"x\"..., 2097152) = 2097152 <0.000200>
8  10:00:00.001600 +++ exited with 0 +++
7  10:00:00.001700 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8 <0.000020>
7  10:00:00.001800 +++ exited with 0 +++
";

/// Makes everything that the examples name: trails, traces, rules, and programs of other people that do nothing.
const STAGE: &str = "\
set -e
mkdir -p bin home/.local/share/bash-completion/completions old traces other
ln -s \"$IOTRAIL\" bin/iotrail
for name in jq man make sqlite3 iotrail-sql; do printf '#!/bin/sh\\ncat >/dev/null\\n' > bin/$name; done
printf '#!/bin/sh\\nshift 2; exec \"$@\"\\n' > bin/mpirun
printf '#!/bin/sh\\nls\\n' > app
printf '{\"item\":\"exited\",\"tid\":7,\"at\":1700000000000000000,\"status\":0}\\n' > calls.jsonl
printf '#!/bin/sh\\ncat calls.jsonl\\n' > bin/my-recorder
chmod +x bin/jq bin/man bin/make bin/sqlite3 bin/iotrail-sql bin/mpirun bin/my-recorder app
for name in a_host1_9042.st b_host1_9157.st before_h_1.st after_h_2.st traces/a_h_1.st old/run-1.txt; do cp run.st $name; done
gzip -c run.st > big.st.gz
for name in run before after main branch a b before-1 before-2 after-1 after-2; do bin/iotrail import -q -o $name.trail run.st; done
bin/iotrail compress -q run.trail -o run.structure
bin/iotrail import -q -o all.trail before_h_1.st after_h_2.st
printf '[[rule]]\\npath = \"/scratch/**\"\\nactivity = \"{call}\"\\n' > rules.toml
printf 'keep = [\"/scratch/**\"]\\n' > site.toml
echo 0123456789abcdef > key
echo 'SELECT 1' > question.sql
bin/iotrail workload -q --template checkpoint -o model.toml > /dev/null
";

#[test]
fn help_and_version_are_words_too() {
    let dir = Dir::new();
    let text = |words: &[&str]| dir.run(words).succeeds().text();
    assert_eq!(text(&["help"]), text(&["--help"]));
    assert_eq!(text(&["help", "why"]), text(&["why", "--help"]));
    assert_eq!(text(&["version"]), text(&["--version"]));
}

#[test]
fn every_example_of_the_help_runs() {
    let dir = Dir::new();
    dir.write("run.st", RUN);
    dir.shell(STAGE).succeeds();
    let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().expect("a process");
    let mut failed = Vec::new();
    for command in COMMANDS {
        let help = dir.run([command, "--help"]).succeeds().text();
        let examples = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for example in examples.filter(|line| line.contains(&format!("iotrail {command} "))) {
            let example = example.replace("4711", &sleeper.id().to_string());
            let attaches = example.contains(" -p ");
            let line = match attaches {
                true => format!("{{ sleep 0.5; kill -INT $!; }} & exec timeout -s INT 2 {}", example.trim()),
                // Without a statement it asks for one.
                false if command == "sql" => format!("echo 'SELECT 1' | {}", example.trim()),
                false => example.clone(),
            };
            let new = ["import", "record", "redact", "recover"].contains(&command);
            let target = example.split_once("-o ").and_then(|(_, rest)| rest.split_whitespace().next());
            if let Some(target) = target.filter(|name| new && name.ends_with(".trail")) {
                dir.shell(&format!("mv -f {target} kept.trail 2>/dev/null || true")).succeeds();
            }
            let ran = dir.shell(&format!("export HOME=$PWD/home PATH=$PWD/bin:$PATH; {line}"));
            if !(ran.status.success() || attaches && ran.status.code() == Some(124)) {
                failed.push(format!("{example}: {:?} {}", ran.status.code(), ran.messages()));
            }
            dir.shell("[ -e run.trail ] || mv kept.trail run.trail; rm -rf kept.trail").succeeds();
        }
    }
    sleeper.kill().and_then(|()| sleeper.wait()).expect("an end");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn there_is_a_manual_page_for_the_program_and_for_every_command() {
    let dir = Dir::new();
    let page = dir.run(["man"]).succeeds().text();
    assert!(page.contains(".TH iotrail 1"), "{page}");
    dir.run(["man", "-o", "share/man1"]).succeeds();
    for command in COMMANDS {
        let page = String::from_utf8(dir.read(format!("share/man1/iotrail-{command}.1"))).expect("UTF-8");
        assert!(page.contains(&format!(".TH iotrail-{command} 1")), "{page}");
        assert!(page.contains("Example"), "{command}");
    }
    assert_eq!(dir.read("share/man1/iotrail.1"), page.as_bytes());
}

#[test]
fn a_manual_that_cannot_be_written_is_an_error_that_names_the_place() {
    let dir = Dir::new();
    dir.write("file", "");
    insta::assert_snapshot!(dir.run(["man", "-o", "file/man1"]).fails());
}

#[test]
fn completions_for_each_shell_know_commands_and_options() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = dir.run(["completions", shell]).succeeds().text();
        for word in ["compare", "max-concurrency", "case-name"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let has_values = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(script.contains("sync-each-write"), has_values, "{shell} knows values of options");
    }
    // The shells that are installed accept their script.
    let ran = dir.shell(
        "for shell in bash zsh fish; do command -v $shell >/dev/null || continue; \
         $IOTRAIL completions $shell > script && $shell -n script || exit 1; done",
    );
    assert_eq!(ran.succeeds().messages(), "");
}

#[test]
fn wrong_usage_ends_with_two_and_says_what_is_allowed() {
    let dir = Dir::new();
    let wrong: [&[&str]; 13] = [
        &[],
        &["frobnicate"],
        &["info"],
        &["import", "x.st"],
        &["events", "x", "--json", "--csv"],
        &["dfg", "x", "--max-concurrency", "often"],
        &["dfg", "x", "--threads", "0"],
        &["import", "x", "-o", "y", "--date", "2026-02-30"],
        &["import", "x", "-o", "y", "--case-name", "{nobody}"],
        &["completions", "tcl"],
        &["workflow", "x", "--aggregate", "process"],
        &["stats", "x", "--table", "cals"],
        &["tree", "x", "-o", "x.xyz"],
    ];
    for words in wrong {
        let ran = dir.run(words).ends_with(2);
        assert_eq!(ran.text(), "", "{words:?}");
        let command = words.first().filter(|word| COMMANDS.contains(word)).map(|word| format!(" {word}"));
        let usage = format!("Usage: iotrail{}", command.unwrap_or_default());
        assert!(ran.messages().contains(&usage), "{words:?}: {}", ran.messages());
    }
    dir.run(["--version"]).succeeds();
}
