//! The crates are built as `ARCHITECTURE.md` says.

#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that may hold `unsafe`.
const UNSAFE: [&str; 4] = ["kernel", "mpi", "mpi-run", "ptrace"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the directories below `crates`.
fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("crates");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.filter(|name| root().join("crates").join(name).join("Cargo.toml").exists()).collect()
}

/// Rows of the table of parts: crate and floor.
fn floors() -> BTreeMap<String, u32> {
    let page = read("ARCHITECTURE.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | `crates/"));
    rows.filter_map(|(floor, rest)| Some((rest.split_once('`')?.0.to_owned(), floor.parse().ok()?))).collect()
}

/// The crates of this workspace that the program parts of `name` use.
fn uses(name: &str) -> Vec<String> {
    let manifest = read(format!("crates/{name}/Cargo.toml"));
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
    let lines = dependencies.lines().take_while(|line| !line.starts_with('['));
    let own = lines.filter_map(|line| line.strip_prefix("iotrail-"));
    own.map(|rest| rest.split(['.', ' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_crate_has_a_floor_and_uses_lower_ones_only() {
    let floors = floors();
    let mut names = crates();
    names.sort();
    assert_eq!(floors.keys().cloned().collect::<Vec<_>>(), names, "the rows of ARCHITECTURE.md");
    let arrows: Vec<_> =
        names.iter().flat_map(|from| uses(from).into_iter().map(move |to| (from, to))).collect();
    assert!(arrows.len() > names.len(), "{arrows:?}");
    let wrong: Vec<_> = arrows.iter().filter(|(from, to)| floors[*from] <= floors[to]).collect();
    assert!(wrong.is_empty(), "arrows that do not point down: {wrong:?}");
}

#[test]
fn unsafe_code_is_where_the_page_says() {
    let allowing: Vec<_> = crates()
        .into_iter()
        .filter(|name| !read(format!("crates/{name}/Cargo.toml")).contains("[lints]\nworkspace = true"))
        .collect();
    assert!(allowing.iter().all(|name| UNSAFE.contains(&name.as_str())), "{allowing:?}");
    assert!(read("Cargo.toml").contains("unsafe_code = \"forbid\""));
}

/// What reads trails shall be buildable where nothing can be traced.
#[test]
fn whoever_reads_trails_links_no_tracer() {
    let mut reached = vec!["dfg".to_owned(), "report".to_owned(), "sql".to_owned(), "strace".to_owned()];
    let mut next = 0;
    while let Some(name) = reached.get(next).cloned() {
        reached.extend(uses(&name).into_iter().filter(|name| !reached.contains(name)).collect::<Vec<_>>());
        next += 1;
    }
    assert!(reached.contains(&"spool".to_owned()), "{reached:?}");
    assert!(
        !reached.iter().any(|name| ["ptrace", "record", "decode"].contains(&name.as_str())),
        "{reached:?}"
    );
}

/// The modules of a crate that import each other, by way of others or not. A directory is a module with all that is in it.
fn circles(source: &str) -> Vec<String> {
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting = vec![(root().join(source), None::<String>)];
    while let Some((directory, module)) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            let module = module.clone().unwrap_or(name);
            if path.is_dir() {
                waiting.push((path, Some(module)));
            } else if module != "lib" {
                let text = fs::read_to_string(&path).expect("a source");
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                modules.entry(module).or_default().extend(code.map(|line| format!("{line}\n")));
            }
        }
    }
    let used = |name: &str| -> Vec<&String> {
        let after = modules[name].split("crate::").skip(1);
        let words = after.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        words
            .filter_map(|word| modules.get_key_value(word?))
            .map(|(other, _)| other)
            .filter(|other| *other != name)
            .collect()
    };
    let reaches_itself = |name: &String| {
        let mut reached = used(name);
        let mut next = 0;
        while let Some(other) = reached.get(next).copied() {
            let more: Vec<_> = used(other).into_iter().filter(|more| !reached.contains(more)).collect();
            reached.extend(more);
            next += 1;
        }
        reached.contains(&name)
    };
    assert!(modules.len() > 20, "{source}: {modules:?}");
    modules.keys().filter(|name| reaches_itself(name)).cloned().collect()
}

#[test]
fn files_of_resolver_and_recorder_import_in_one_direction() {
    for source in ["crates/resolve/src", "crates/record/src"] {
        assert_eq!(circles(source), Vec::<String>::new(), "{source}");
    }
}

/// Options of other programs, and what only looks like a command.
const NOT_OURS: [&str; 6] =
    ["darshan-dxt-parser", "--control-port", "iotrail redact 1", "--ignored", "--exact", "--nocapture"];

/// Where programs of others are written and recorded command lines are read, which have options of their own.
const OF_OTHERS: [&str; 2] = ["crates/export/src", "crates/workflow/src/jobs"];

/// The string literals of a line of code that is no comment.
fn literals(line: &str) -> Vec<&str> {
    let code = line.trim_start();
    if code.starts_with("//") { Vec::new() } else { code.split('"').skip(1).step_by(2).collect() }
}

/// Whether a text speaks of an option or a command of the command line.
fn speaks_of_the_command_line(text: &str, commands: &[String]) -> bool {
    let is_option = |word: &str| {
        let word = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    let is_command = |rest: &str| {
        let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        commands.contains(&word)
    };
    text.split_whitespace().any(is_option) || text.split("iotrail ").skip(1).any(is_command)
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn libraries_do_not_speak_of_the_command_line() {
    let floors = floors();
    let commands = fs::read_dir(root().join("crates/iotrail/src/commands")).expect("commands");
    let commands: Vec<String> = commands
        .map(|entry| {
            entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    let mut files = Vec::new();
    for (name, floor) in &floors {
        if *floor < floors["console"] {
            sources(&root().join("crates").join(name).join("src"), &mut files);
        }
    }
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).expect("below").to_string_lossy().into_owned();
        if name.contains("/tests") || OF_OTHERS.iter().any(|directory| name.starts_with(directory)) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let texts = code
            .lines()
            .enumerate()
            .flat_map(|(line, text)| literals(text).into_iter().map(move |text| (line, text)));
        let texts = texts.filter(|(_, text)| !NOT_OURS.iter().any(|other| text.contains(other)));
        let ours = texts.filter(|(_, text)| speaks_of_the_command_line(text, &commands));
        wrong.extend(ours.map(|(line, text)| format!("{name}:{}: {text}", line + 1)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(speaks_of_the_command_line("choose with --layer", &commands));
    assert!(speaks_of_the_command_line("`iotrail recover X`", &commands));
}
