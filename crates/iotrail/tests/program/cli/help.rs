//! Help, manual pages, completions.

use crate::cli::util::Dir;

const COMMANDS: [&str; 21] = [
    "record",
    "import",
    "recover",
    "info",
    "check",
    "events",
    "processes",
    "files",
    "why",
    "advise",
    "dfg",
    "compare",
    "stats",
    "report",
    "export",
    "sql",
    "workflow",
    "redact",
    "tree",
    "completions",
    "man",
];

#[test]
fn the_help_lists_every_command() {
    let dir = Dir::new();
    let text = dir.run(["--help"]).succeeds().text();
    let listed: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert_eq!(listed, COMMANDS);
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
    }
    // The shells that are installed accept their script.
    let ran = dir.shell(
        "for shell in bash zsh fish; do command -v $shell >/dev/null || continue; \
         $IOTRAIL completions $shell > script && $shell -n script || exit 1; done",
    );
    assert_eq!(ran.succeeds().talk(), "");
}

#[test]
fn wrong_usage_ends_with_two_and_says_what_is_allowed() {
    let dir = Dir::new();
    let wrong: [&[&str]; 10] = [
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
    ];
    for words in wrong {
        let ran = dir.run(words).ends_with(2);
        assert_eq!(ran.text(), "", "{words:?}");
        assert!(ran.talk().contains("Usage:") || ran.talk().contains("--help"), "{words:?}: {}", ran.talk());
    }
    dir.run(["--version"]).succeeds();
}
