//! Groups of processes, on a small workflow: make runs two jobs, one of them with a child.

use iotrail_model::{Case, CaseName, Pid, Process, Timestamp};
use iotrail_query::{NO_GROUP, ProcessGroupBy, ProcessGroups, ProcessRules, ProcessTable};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;

fn image(pid: u32, ppid: u32, start: i64, command: &str, env: &[&str]) -> Process {
    let words: Vec<&str> = command.split(' ').collect();
    Process {
        pid: Pid(pid),
        ppid: Some(Pid(ppid)),
        start: Some(Timestamp(start)),
        exe: words[0].starts_with('/').then(|| words[0].to_owned()),
        cmdline: Some(format!("{}\0", words.join("\0"))),
        env: env.iter().map(|&entry| entry.to_owned()).collect(),
        ..Process::default()
    }
}

fn workflow() -> (EventLog, ProcessTable) {
    let name = CaseName { cid: Some("run".into()), host: Some("n1".into()), rid: None };
    let mut log = MemoryLog::new(vec![Case { name, ..Case::default() }]);
    let end = |image: Process, at| Process { end: Some(Timestamp(at)), ..image };
    for process in [
        image(1, 0, 0, "/usr/bin/make -j2", &["USER=ann"]),
        end(image(2, 1, 10, "/bin/sh -c fit", &[]), 20),
        image(2, 1, 20, "/opt/mDiffFit -p raw a 7", &["JOB=a", "USER=bob"]),
        image(3, 1, 15, "/opt/mAdd -p corr", &["JOB=b"]),
        image(4, 2, 30, "/opt/mDiff x", &[]),
        image(5, 1, 40, "unknown", &["JOB="]),
    ] {
        log.push_process(process);
    }
    let log = log.build();
    let processes = ProcessTable::new(log.processes().unwrap());
    (log, processes)
}

/// The group of each process, by number.
fn divide(by: &ProcessGroupBy) -> Vec<(u32, String)> {
    let (log, processes) = workflow();
    let groups: ProcessGroups = by.divide(&log, &processes);
    assert_eq!(groups.of_process.len(), processes.all().len());
    let mut found: Vec<(u32, String)> = processes
        .all()
        .iter()
        .zip(&groups.of_process)
        .map(|(process, group)| (process.pid.0, groups.name(*group).to_owned()))
        .collect();
    found.sort();
    found
}

fn by(word: &str) -> Vec<String> {
    divide(&ProcessGroupBy::parse(word).unwrap()).into_iter().map(|(_, group)| group).collect()
}

fn by_rules(text: &str) -> Vec<String> {
    let rules = ProcessRules::parse("my.toml", text).unwrap();
    divide(&ProcessGroupBy::Rules(rules)).into_iter().map(|(_, group)| group).collect()
}

#[test]
fn a_process_is_what_it_executed_last() {
    assert_eq!(by("exe"), ["make", "mDiffFit", "mAdd", "mDiff", "unknown"]);
}

#[test]
fn the_children_of_a_job_belong_to_it() {
    assert_eq!(by("job"), ["make", "mDiffFit", "mAdd", "mDiffFit", "unknown"]);
}

#[test]
fn the_attributes_of_a_case_group_its_processes() {
    assert_eq!(by("host"), ["n1"; 5]);
    assert_eq!(by("cid"), ["run"; 5]);
    assert_eq!(by("rank"), [NO_GROUP; 5]);
}

#[test]
fn a_variable_comes_from_the_nearest_ancestor_that_has_it() {
    assert_eq!(by("user"), ["ann", "bob", "ann", "bob", "ann"]);
    assert_eq!(by("env:JOB"), [NO_GROUP, "a", "b", "a", NO_GROUP]);
    assert_eq!(by("env:JO"), [NO_GROUP; 5]);
}

#[test]
fn an_expression_names_the_group_by_its_first_capture_or_all_it_matched() {
    assert_eq!(by("cmd~ -p (\\S+)"), [NO_GROUP, "raw", "corr", NO_GROUP, NO_GROUP]);
    assert_eq!(by("cmd~m[A-Z][a-z]+"), [NO_GROUP, "mDiff", "mAdd", "mDiff", NO_GROUP]);
}

#[test]
fn groups_are_numbered_in_the_order_in_which_they_start() {
    let (log, processes) = workflow();
    let groups = ProcessGroupBy::Exe.divide(&log, &processes);
    assert_eq!(groups.names, ["make", "mDiffFit", "mAdd", "mDiff", "unknown"]);
}

#[test]
fn the_first_rule_that_fits_decides() {
    let text = r#"
preset = "dir2"
[[process]]
exe = "make$"
drop = true
[[process]]
cmd = '-p (?<what>\S+)( a)?'
env = "^JOB=(.)"
host = "^n"
group = "${what}${2}/${env.1} on ${host} by ${rid} $$5 $x ${exe}"
[[process]]
exe = "/opt/(?<name>.)"
group = "${1}${name}${exe.name}"
[[rule]]
activity = "x"
"#;
    let seen = by_rules(text);
    assert_eq!(
        seen,
        [NO_GROUP, "raw a/a on n1 by ? $5 $x mDiffFit", "corr/b on n1 by ? $5 $x mAdd", "mmm", NO_GROUP]
    );
}

#[test]
fn wrong_words_and_rules_are_refused_with_the_place_and_what_is_allowed() {
    let words = ["", "exec", "env:", "env:A=B", "cmd~(", "cmd~\\w{900}{900}"];
    let mut messages: Vec<String> =
        words.iter().map(|word| ProcessGroupBy::parse(word).unwrap_err().to_string()).collect();
    for text in [
        "preset = 'dir2'",
        "[[process]]\nexe = 'a'",
        "[[process]]\nexe = '('\ngroup = 'a'",
        "[[process]]\nexe = 'a'\ngroup = 'a'\ndrop = true",
        "[[process]]\nexe = 'a'\ngroup = ''",
        "[[process]]\nexe = 'a'\ngroup = '${1}'",
        "[[process]]\nexe = 'a'\ngroup = '${cmd.0}'",
        "[[process]]\ngroup = '${x}'",
        "[[process]]\ngroup = '${x'",
        "[[process]]\nexec = 'a'\ngroup = 'a'",
    ] {
        messages.push(ProcessRules::parse("my.toml", text).unwrap_err().to_string());
    }
    insta::assert_snapshot!(messages.join("\n"));
}

proptest::proptest! {
    #[test]
    fn no_word_panics(word in "[a-z:~=(\\\\$é ]{0,16}") {
        let _ = ProcessGroupBy::parse(&word);
    }

    #[test]
    fn no_name_of_a_group_panics(name in "[${}.a-e0-9é]{0,20}") {
        let _ = ProcessRules::parse("f", &format!("[[process]]\nexe = '(a)(?<b>c)'\ngroup = '''{name}'''"));
    }
}
