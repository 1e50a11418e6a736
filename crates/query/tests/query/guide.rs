//! Every example of the guide's page is run.

use crate::activities;
use crate::log::{Log, case};
use iotrail_query::{Query, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;

const PAGE: &str = include_str!("../../../../docs/mapping.md");

/// The contents of all code blocks in `language`.
fn blocks(language: &str) -> Vec<String> {
    let parts = PAGE.split("```").skip(1).step_by(2);
    parts.filter_map(|block| block.strip_prefix(&format!("{language}\n"))).map(str::to_owned).collect()
}

#[test]
fn examples_of_mappings_are_true() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    let [text] = &blocks("toml")[..] else { panic!("the page has one rules file") };
    std::fs::write(rules.path(), text).unwrap();
    let mut examples = 0;
    for line in blocks("text").iter().flat_map(|block| block.lines()) {
        let (event, expected) = line.split_once("  →  ").unwrap();
        let words: Vec<&str> = event.split_whitespace().collect();
        let mut log = Log::new(vec![case(0, "a/host1/0")]);
        log.event(0, words[1], words.get(2).copied().unwrap_or_default());
        let map = if words[0] == "rules" { rules.path().to_str().unwrap() } else { words[0] };
        let spec = QuerySpec { map: Some(map.to_owned()), ..QuerySpec::default() };
        let found = activities(spec, &log.build()).remove(0).replace("unmapped", "(not mapped)");
        assert_eq!(found, expected, "{line}");
        examples += 1;
    }
    assert!(examples > 15);
}

#[test]
fn examples_of_commands_are_understood() {
    let mut log = Log::new(vec![case(0, "a/host1/0"), case(1, "sb/n2/48"), case(2, "l/n2/49")]);
    for id in [0, 1, 2] {
        log.event(id, "read", "/p/scratch/project/x.dat");
    }
    let log = log.build();
    let commands = blocks("sh").concat();
    for line in commands.lines() {
        let query = Query::new(spec(line), &log).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(query.groups().len() <= 3 && query.warnings().is_empty(), "{line}: {:?}", query.warnings());
        assert_eq!(activities_of(&query, &log), log.rows() as usize);
    }
    assert!(commands.lines().count() > 10);
}

fn activities_of(query: &Query, log: &EventLog) -> usize {
    crate::classify(query, log).len()
}

/// The words of `iotrail dfg run.trail …`.
fn spec(line: &str) -> QuerySpec {
    let mut words = split(line.strip_prefix("iotrail dfg run.trail ").unwrap()).into_iter().peekable();
    let mut spec = QuerySpec::default();
    while let Some(option) = words.next() {
        let SelectSpec { layer, call, not_call, path, not_path, case, not_case, pid, not_pid, .. } =
            &mut spec.select;
        let list = match option.as_str() {
            "--layer" => layer,
            "--call" => call,
            "--not-call" => not_call,
            "--path" => path,
            "--not-path" => not_path,
            "--case" => case,
            "--not-case" => not_case,
            "--pid" => pid,
            "--not-pid" => not_pid,
            "--var" => &mut spec.variables,
            "--no-failed" => {
                spec.select.failed = Some(false);
                continue;
            }
            _ => {
                let one = match option.as_str() {
                    "--map" => &mut spec.map,
                    "--by" => &mut spec.group_by,
                    "--since" => &mut spec.select.since,
                    "--until" => &mut spec.select.until,
                    "--min-size" => &mut spec.select.min_size,
                    "--max-size" => &mut spec.select.max_size,
                    other => panic!("{other} in {line}"),
                };
                *one = words.next();
                continue;
            }
        };
        list.push(words.next().unwrap());
    }
    spec
}

/// Words as a shell splits them, with single quotes only.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match (character, words.last_mut()) {
            ('\'', _) => quoted = !quoted,
            (' ', Some(_)) if !quoted => words.push(String::new()),
            (_, Some(word)) => word.push(character),
            (_, None) => unreachable!(),
        }
    }
    words
}
