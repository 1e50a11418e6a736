//! Advice on the command line.

use crate::cli::util::Dir;
use serde_json::Value;
use std::fmt::Write;

/// A program writes eight records of 100 bytes one after the other; another one reads the second of them before the sixth is written.
pub(super) fn trace() -> String {
    let mut text = "\
1 10:00:00.000000 execve(\"/usr/bin/log\", [\"log\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.000500 brk(NULL) = 0x5555 <0.000010>
1 10:00:00.000600 getpid() = 1 <0.000010>
1 10:00:00.000700 rt_sigaction(SIGINT, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>
1 10:00:00.001000 fork() = 2 <0.000200>
1 10:00:00.002000 openat(AT_FDCWD, \"/data/log\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</data/log> <0.000010>
"
    .to_owned();
    for record in 0..8 {
        let _ = writeln!(text, "1 10:00:00.01{record}000 write(3</data/log>, \"\"..., 100) = 100 <0.000050>");
        if record == 4 {
            text.push_str(
                "2 10:00:00.014500 openat(AT_FDCWD, \"/data/log\", O_RDONLY) = 3</data/log> <0.000010>\n\
                 2 10:00:00.014600 pread64(3</data/log>, \"\"..., 100, 100) = 100 <0.000010>\n",
            );
        }
    }
    text.push_str("1 10:00:00.030000 exit_group(0) = ?\n1 10:00:00.030100 +++ exited with 0 +++\n");
    text
}

#[test]
fn advice_says_what_could_be_fewer_and_what_is_in_the_way() {
    let dir = Dir::with_trace(trace());
    insta::assert_snapshot!(dir.run(["advise", "t.trail"]).succeeds().text());
}

#[test]
fn what_others_read_in_between_keeps_writes_apart() {
    let dir = Dir::with_trace(trace());
    let advice = |words: &[&str]| -> Value {
        let words: Vec<&str> = ["advise", "t.trail", "--json"].iter().chain(words).copied().collect();
        serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON")
    };
    let all = advice(&[]);
    let finding = &all["findings"][0];
    assert_eq!(
        (&finding["calls"], &finding["calls_after"], &finding["runs"]),
        (&8.into(), &2.into(), &2.into())
    );
    assert_eq!(finding["stops"], serde_json::json!({ "conflict": 1 }));
    assert_eq!(all["pairs"], serde_json::json!({ "impossible": 0, "easy": 6, "possible": 1, "unknown": 0 }));
    assert_eq!(finding["saved_ns"], 300_000);
    // Who is not advised is still in the way.
    let own = advice(&["--pid", "1"]);
    assert_eq!(own["findings"][0]["calls_after"], 2);
    assert_eq!(advice(&["--pid", "2"])["findings"], serde_json::json!([]));
}

#[test]
fn accesses_of_a_file_name_the_call_that_is_in_the_way() {
    let dir = Dir::with_trace(trace());
    insta::assert_snapshot!(dir.run(["advise", "t.trail", "--accesses", "/data/log"]).succeeds().text());
    let advice = dir.json(["advise", "t.trail", "--accesses", "/data/log", "--json"]);
    assert_eq!(advice["findings"][0]["calls"], 8);
    let [file] = advice["accesses"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        panic!("one file: {advice:#}")
    };
    let accesses = file["accesses"].as_array().expect("accesses");
    let stopped: Vec<&Value> =
        accesses.iter().filter(|access| access["stop"]["reason"] == "conflict").collect();
    let [last] = stopped.as_slice() else { panic!("one run that ends: {file:#}") };
    assert_eq!((&last["run"], &last["member"]), (&1.into(), &5.into()));
    let by = &last["stop"]["by"];
    assert_eq!(
        (&by["call"], &by["pid"], &by["offset"], &by["size"]),
        (&"pread64".into(), &2.into(), &100.into(), &100.into())
    );
    let place = last["stop"]["access"].as_u64().expect("it is in the list") as usize;
    for name in ["call", "pid", "seq", "start_ns", "offset", "size"] {
        assert_eq!(accesses[place][name], by[name], "{name}");
    }
    let few = dir.run(["advise", "t.trail", "--accesses", "/data/log", "--top", "3"]).succeeds().text();
    assert!(few.contains("7 more accesses"), "{few}");
    let error = dir.run(["advise", "t.trail", "--accesses", "/data/other"]).fails();
    assert!(error.contains("no call names this file"), "{error}");
}

#[test]
fn the_page_has_the_accesses_of_files_with_findings() {
    let dir = Dir::with_trace(trace());
    let page = dir.json(["report", "t.trail", "--json"]);
    let text = |number: &Value| &page["names"][number.as_u64().expect("a number") as usize];
    let files = page["drill"]["files"]["list"].as_array().expect("files");
    let [file] = files.as_slice() else { panic!("one file: {files:?}") };
    assert_eq!((text(&file["n"]), &file["at_stake_ns"]), (&"/data/log".into(), &300_000.into()));
    assert_eq!(
        (&file["pairs"], &file["findings"]),
        (&serde_json::json!([0, 6, 1, 0]), &serde_json::json!([1, 0]))
    );
    let shown = &file["x"];
    assert_eq!(shown["all"], serde_json::json!([10, 2]));
    let stop = &shown["stops"];
    assert_eq!(stop.as_array().map(Vec::len), Some(1), "{stop}");
    assert_eq!((&stop[0][0], text(&stop[0][1])), (&5.into(), &"somebody else uses the bytes".into()));
    assert_eq!((&stop[0][2], &stop[0][3]), (&6.into(), &Value::Null));
    let times: Vec<i64> = dir.json(["advise", "t.trail", "--accesses", "/data/log", "--json"])["accesses"][0]
        ["accesses"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|access| access["start_ns"].as_i64())
        .collect();
    let (mut at, mut end, mut bytes) = (times[0], 0, Vec::new());
    for (row, time) in shown["a"].as_array().into_iter().flatten().zip(&times) {
        at += row[0].as_i64().expect("a time");
        assert_eq!(at, *time);
        let (offset, size) = (end + row[2].as_i64().expect("an offset"), row[3].as_i64().expect("a size"));
        end = offset + size.max(0);
        bytes.push((offset, size));
    }
    let write = |record: i64| (record * 100, 100);
    let mut expected: Vec<_> = std::iter::once((0, -1)).chain((0..8).map(write)).collect();
    expected.insert(6, (100, 100));
    assert_eq!(bytes, expected);
}

/// Eight calls of process 1 on `/data/log`, one after the other, with these lines of process 1 or 2 behind the fourth.
fn around(call: &str, flags: &str, between: &[&str]) -> String {
    let mut text = format!(
        "\
1 10:00:00.000000 execve(\"/usr/bin/log\", [\"log\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.000500 brk(NULL) = 0x5555 <0.000010>
1 10:00:00.000600 getpid() = 1 <0.000010>
1 10:00:00.000650 openat(AT_FDCWD, \"/data/old\", O_RDONLY) = 6</data/old> <0.000010>
1 10:00:00.001000 fork() = 2 <0.000200>
1 10:00:00.002000 openat(AT_FDCWD, \"/data/log\", {flags}) = 3</data/log> <0.000010>
2 10:00:00.003000 openat(AT_FDCWD, \"/data/log\", O_RDWR) = 5</data/log> <0.000010>
2 10:00:00.004000 pread64(5</data/log>, \"\"..., 1, 999) = 1 <0.000010>
"
    );
    for record in 0..8 {
        let _ =
            writeln!(text, "1 10:00:00.01{record}000 {call}(3</data/log>, \"\"..., 100) = 100 <0.000050>");
        if record == 3 {
            between.iter().enumerate().for_each(|(index, line)| {
                let (pid, line) = line.split_at(2);
                let _ = writeln!(text, "{pid}10:00:00.0135{index}0 {line}");
            });
        }
    }
    text.push_str("1 10:00:00.030000 exit_group(0) = ?\n1 10:00:00.030100 +++ exited with 0 +++\n");
    text
}

/// How many calls would be left of the eight, with and without an order to keep, and why not fewer.
fn left(trace: String) -> (u64, u64, String, String) {
    let dir = Dir::with_trace(trace);
    let advice = |words: &[&str]| -> Value {
        let words: Vec<&str> =
            ["advise", "t.trail", "--json", "--pid", "1"].iter().chain(words).copied().collect();
        serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON")
    };
    let [ordered, any] = [&[][..], &["--any-order"]].map(advice);
    let of = |advice: &Value| {
        let finding = advice["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|finding| finding["file"] == "/data/log");
        finding.cloned()
    };
    let [ordered, any] = [of(&ordered), of(&any)];
    let number = |finding: &Option<Value>| {
        finding.as_ref().map_or(8, |finding| finding["calls_after"].as_u64().unwrap_or_default())
    };
    let words = ordered.as_ref().and_then(|finding| finding["stops"].as_object()).into_iter().flatten();
    let words: Vec<&str> = words.map(|(word, _)| word.as_str()).filter(|word| *word != "mixed").collect();
    let sure = ordered.as_ref().and_then(|finding| finding["confidence"].as_str()).unwrap_or("-");
    (number(&ordered), number(&any), words.join(" "), sure.to_owned())
}

/// Each call that may change bytes or lengths, or tells others that something is done, in the middle of eight reads or writes.
#[test]
fn what_is_in_the_way_of_merging() {
    let cases: &[(&str, &[&str])] = &[
        ("nothing", &[]),
        ("creat by itself", &["1 creat(\"/data/log\", 0644) = 9</data/log> <0.000010>"]),
        ("creat by another", &["2 creat(\"/data/log\", 0644) = 9</data/log> <0.000010>"]),
        (
            "open_by_handle_at",
            &[
                "2 open_by_handle_at(4</data>, {handle_bytes=8, handle_type=1, f_handle=0x0}, O_RDWR|O_TRUNC) = 9</data/log> <0.000010>",
            ],
        ),
        ("splice into", &["2 splice(7<pipe:[5]>, NULL, 5</data/log>, [350], 40, 0) = 40 <0.000010>"]),
        ("sendfile into", &["2 sendfile(5</data/log>, 6</data/old>, [0], 40) = 40 <0.000010>"]),
        ("sendfile to a socket", &["1 sendfile(8<socket:[9]>, 6</data/old>, [0], 40) = 40 <0.000010>"]),
        ("splice to a pipe", &["1 splice(6</data/old>, [0], 7<pipe:[5]>, NULL, 40, 0) = 40 <0.000010>"]),
        ("a message", &["1 write(7<pipe:[5]>, \"x\", 1) = 1 <0.000010>"]),
        ("the end of a pipe", &["1 close(7<pipe:[5]>) = 0 <0.000010>"]),
        ("a signal", &["1 tgkill(2, 2, SIGUSR1) = 0 <0.000010>"]),
        ("a clone into", &["2 ioctl(5</data/log>, BTRFS_IOC_CLONE or FICLONE, 6</data/old>) = 0 <0.000010>"]),
        (
            "a clone from",
            &["2 ioctl(9</data/copy>, BTRFS_IOC_CLONE or FICLONE, 5</data/log>) = 0 <0.000010>"],
        ),
        ("a question", &["2 ioctl(5</data/log>, FS_IOC_GETFLAGS, [FS_EXTENT_FL]) = 0 <0.000010>"]),
        (
            "punched",
            &["2 fallocate(5</data/log>, FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, 0, 4096) = 0 <0.000010>"],
        ),
        ("truncated elsewhere", &["2 ftruncate(5</data/log>, 5000) = 0 <0.000010>"]),
        ("truncated here", &["2 truncate(\"/data/log\", 450) = 0 <0.000010>"]),
        ("a write without an end", &["2 pwrite64(5</data/log>, \"\"..., 10, 600 <unfinished ...>"]),
        (
            "aio",
            &[
                "2 io_submit(0x7f, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5</data/log>, aio_buf=\"x\", aio_nbytes=10, aio_offset=600}]) = 1 <0.000010>",
            ],
        ),
        (
            "a ring",
            &[
                "2 io_uring_enter(7<anon_inode:[io_uring]>, 1, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 1 <0.000010>",
            ],
        ),
        ("another file renamed", &["1 rename(\"/data/done.new\", \"/data/done\") = 0 <0.000010>"]),
        ("a link", &["1 link(\"/data/old\", \"/data/done\") = 0 <0.000010>"]),
        ("a directory", &["1 mkdir(\"/data/done\", 0755) = 0 <0.000010>"]),
        (
            "a lock file",
            &["1 openat(AT_FDCWD, \"/data/lock\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 9</data/lock> <0.000010>"],
        ),
        (
            "a lock",
            &[
                "2 fcntl(5</data/log>, F_SETLK64, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000010>",
            ],
        ),
        ("synced", &["1 fdatasync(3</data/log>) = 0 <0.000010>"]),
        (
            "asked for its size",
            &["2 fstat(5</data/log>, {st_mode=S_IFREG|0644, st_size=400, ...}) = 0 <0.000010>"],
        ),
        ("the end looked for", &["2 lseek(5</data/log>, 0, SEEK_END) = 400 <0.000010>"]),
        ("a child's write", &["2 write(3</data/log>, \"\"..., 100) = 100 <0.000010>"]),
    ];
    let mut table =
        "between eight calls: writes left, in any order, why, confidence; the same of reads\n".to_owned();
    for (name, lines) in cases {
        let [writes, reads] = [("write", "O_WRONLY|O_CREAT, 0644"), ("read", "O_RDONLY")]
            .map(|(call, flags)| left(around(call, flags, lines)));
        let _ = writeln!(table, "{name}: {writes:?} {reads:?}");
    }
    for flags in
        ["O_WRONLY|O_CREAT|O_DSYNC, 0644", "O_WRONLY|O_CREAT|O_SYNC, 0644", "O_WRONLY|O_CREAT|O_DIRECT, 0644"]
    {
        let _ = writeln!(table, "{flags}: {:?}", left(around("write", flags, &[])));
    }
    insta::assert_snapshot!(table);
}

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/advise");

/// Programs with one habit each, the same work done without it, and real programs.
fn fixtures() -> Vec<String> {
    let entries = std::fs::read_dir(FIXTURES).expect("the fixtures").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_trace = |name: &String| name.ends_with(".strace") || name.ends_with(".structure");
    let mut names: Vec<String> =
        names.filter(is_trace).filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned())).collect();
    names.sort_unstable();
    names
}

/// The rules that fire on a fixture: that of its name; of the real ones those that are right.
fn expected(name: &str) -> Vec<&str> {
    match name {
        "real-sqlite" => vec!["sync-each-write", "unused-files"],
        "no-unused-files" => vec!["sync-each-write"],
        // Whoever begins MPI opens the list of hosts again and again.
        "needless-collective" => vec!["needless-collective", "reopen", "reopen"],
        "no-needless-collective" => vec!["reopen", "reopen"],
        _ if ["no-", "changed-", "real-"].iter().any(|prefix| name.starts_with(prefix)) => vec![],
        _ => vec![name],
    }
}

pub(super) fn fixture(name: &str) -> Dir {
    let structure = format!("{FIXTURES}/{name}.structure");
    if std::path::Path::new(&structure).exists() {
        let dir = Dir::new();
        dir.run(["expand", "-q", &structure, "-o", "t.trail"]).succeeds();
        return dir;
    }
    Dir::with_trace(std::fs::read_to_string(format!("{FIXTURES}/{name}.strace")).expect("a fixture"))
}

#[test]
fn every_rule_has_a_fixture_with_its_habit_and_one_without() {
    let list = Dir::new().run(["advise", "--explain", "list"]).succeeds().text();
    let fixtures = fixtures();
    for rule in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let without = ["no-", "changed-"].map(|prefix| format!("{prefix}{rule}"));
        let has = rule.starts_with("merge-")
            || fixtures.iter().any(|name| name == rule) && without.iter().any(|name| fixtures.contains(name));
        assert!(has, "{rule}");
    }
}

#[test]
fn a_rule_fires_where_its_habit_is_and_nowhere_else() {
    for name in fixtures() {
        let text = fixture(&name).run(["advise", "t.trail", "--json"]).succeeds().text();
        let advice: Value = serde_json::from_str(&text).expect("JSON");
        let mut habits: Vec<&str> = advice["habits"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|habit| habit["rule"].as_str())
            .collect();
        habits.sort_unstable();
        assert_eq!(habits, expected(&name), "{name}: {:#}", advice["habits"]);
    }
}

#[test]
fn habits_are_told_with_what_they_cost() {
    let lines = |name: &str| -> String {
        let text = fixture(name).run(["advise", "t.trail"]).succeeds().text();
        let block = text.split("\n\n").find(|block| block.contains("\nrule ")).unwrap_or_default().to_owned();
        format!("{name}\n{block}\n")
    };
    let told: String =
        fixtures().iter().filter(|name| expected(name) == [name.as_str()]).map(|name| lines(name)).collect();
    insta::assert_snapshot!(told);
}

#[test]
fn why_says_what_to_change_if_much_is_at_stake() {
    let dir = fixture("sync-each-write");
    let text = dir.run(["why", "t.trail"]).succeeds().text();
    let (answer, rest) = text.split_once("\n\n").expect("several sections");
    assert!(answer.contains("fdatasync of records"), "{text}");
    let change: Vec<&str> = rest.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(change[0], "What to change");
    assert!(change[1].starts_with("1. 158 ms (86.8 %): /tmp/iotrail-advise/records: 40 syncs"), "{text}");
    assert!(change.contains(&"more  iotrail advise --explain sync-each-write"), "{text}");

    let said = &dir.json(["why", "t.trail", "--json"])["trails"][0]["advice"];
    let advised = dir.json(["advise", "t.trail", "--json"]);
    let habit = &advised["habits"][0];
    assert_eq!((&said[0]["at_stake_ns"], &said[0]["share"]), (&habit["at_stake_ns"], &habit["share"]));
    assert_eq!(said.as_array().map(Vec::len), Some(1), "less than a hundredth is not said: {said}");

    let quiet = fixture("no-slow-start");
    assert!(!quiet.run(["why", "t.trail"]).succeeds().text().contains("What to change"));
    assert_eq!(quiet.json(["why", "t.trail", "--json"])["trails"][0]["advice"], serde_json::json!([]));
}

#[test]
fn rules_are_explained_and_severe_findings_fail() {
    let dir = fixture("sync-each-write");
    let page = dir.run(["advise", "--explain", "sync-each-write"]).succeeds().text();
    assert!(page.starts_with("# `sync-each-write`") && page.contains("## What to change"), "{page}");
    let list = dir.run(["advise", "--explain", "list"]).succeeds().text();
    assert_eq!(list.lines().count(), 37, "{list}");
    let unknown = dir.run(["advise", "--explain", "nothing"]).refuses();
    assert!(unknown.contains("sync-each-write"), "{unknown}");
    let advice: Value =
        serde_json::from_str(&dir.run(["advise", "t.trail", "--json"]).succeeds().text()).expect("JSON");
    assert_eq!(advice["habits"][0]["severity"], "high", "{:#}", advice["habits"]);
    dir.run(["advise", "t.trail", "--fail-on", "high"]).ends_with(1);
    fixture("no-reopen").run(["advise", "t.trail", "--path", "/nothing", "--fail-on", "low"]).fails();
}

#[test]
fn accepted_findings_are_hidden_and_counted_also_in_another_run() {
    let dir = fixture("sync-each-write");
    dir.run(["advise", "t.trail", "--write-baseline", "accepted.json"]).succeeds();
    let severe = ["advise", "t.trail", "--baseline", "accepted.json", "--fail-on", "high"];
    let text = dir.run(severe).succeeds().text();
    assert!(text.starts_with("Nothing new: "), "{text}");
    let advice = dir.json(["advise", "t.trail", "--baseline", "accepted.json", "--json"]);
    assert_eq!((&advice["habits"], &advice["findings"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(advice["accepted"].as_u64() > Some(0));

    // Another run: other times, processes and temporary names.
    let again = std::fs::read_to_string(format!("{FIXTURES}/sync-each-write.strace")).expect("a fixture");
    let again = Dir::with_trace(again.replace("1795", "1796"));
    again.write("accepted.json", dir.read("accepted.json"));
    again.run(severe).succeeds();
    again.write("accepted.json", r#"{"format":1,"accepted":[]}"#);
    again.run(severe).ends_with(1);
    again.write("accepted.json", "[]");
    assert!(again.run(severe).fails().contains("accepted.json"));
}

#[test]
fn sarif_names_rules_files_and_fingerprints() {
    let dir = fixture("sync-each-write");
    dir.run(["advise", "t.trail", "-o", "advice.sarif"]).succeeds();
    let log: Value = serde_json::from_slice(&dir.read("advice.sarif")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let at = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[at]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("a level")));
        assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("To do: ")));
        assert!(result["partialFingerprints"]["finding/v1"].is_string());
        let place = &result["locations"][0];
        let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str();
        assert!(uri.is_some_and(|uri| uri.starts_with("file:///")), "{place}");
    }
    let first = &run["results"][0];
    assert_eq!((&first["ruleId"], &first["level"]), (&"sync-each-write".into(), &"error".into()));
    let printed = dir.run(["advise", "t.trail", "--format", "sarif"]).succeeds().text();
    assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), log);
}

/// The text of a program with these calls, one each 10 ms from `10:00:00.01` on.
fn rank(pid: u32, name: &str, calls: &[String]) -> String {
    let mut text = format!(
        "{pid} 10:00:00.000000 execve(\"/usr/bin/{name}\", [\"{name}\"], 0x7ffd /* 3 vars */) = 0 <0.000100>\n\
         {pid} 10:00:00.000500 brk(NULL) = 0x5555 <0.000010>\n\
         {pid} 10:00:00.002000 openat(AT_FDCWD, \"/data/grid\", O_RDWR) = 3</data/grid> <0.000010>\n"
    );
    for (index, call) in calls.iter().enumerate() {
        let at = 10 * (index + 1);
        let _ = writeln!(text, "{pid} 10:00:{:02}.{:03}000 {call} <0.000500>", at / 1000, at % 1000);
    }
    let _ = writeln!(
        text,
        "{pid} 10:00:40.000000 exit_group(0) = ?\n{pid} 10:00:40.000100 +++ exited with 0 +++"
    );
    text
}

/// Rules that found something, in the advice on two traces: of two recorded cases.
fn habits_of_two(one: &str, two: &str) -> Vec<String> {
    let dir = Dir::new();
    dir.write("a_h_1.st", one);
    dir.write("b_h_2.st", two);
    dir.run(["import", "-q", "-o", "t.trail", "a_h_1.st", "b_h_2.st"]).succeeds();
    let text = dir.run(["advise", "t.trail", "--json"]).succeeds().text();
    let advice: Value = serde_json::from_str(&text).expect("JSON");
    let habits = advice["habits"].as_array().into_iter().flatten();
    habits.filter_map(|habit| habit["rule"].as_str().map(str::to_owned)).collect()
}

/// 40 times the same block is read; another case has it open and does nothing, or changes it between any two of these reads.
#[test]
fn what_another_case_changes_in_between_is_not_read_again_in_vain() {
    let read: Vec<String> =
        (0..40).map(|_| "pread64(3</data/grid>, \"\"..., 65536, 0) = 65536".to_owned()).collect();
    let write: Vec<String> =
        (0..40).map(|_| "pwrite64(3</data/grid>, \"\"..., 65536, 0) = 65536".to_owned()).collect();
    let has = |two: &[String], rule: &str| {
        habits_of_two(&rank(1, "reader", &read), &rank(2, "writer", two)).iter().any(|habit| habit == rule)
    };
    assert!(has(&[], "read-again"));
    assert!(!has(&write, "read-again"));
    // Nor is a block that others read overwritten unread.
    assert!(!has(&write, "overwrite"));
    let alone = habits_of_two(&rank(1, "idle", &[]), &rank(2, "writer", &write));
    assert!(alone.contains(&"overwrite".to_owned()), "{alone:?}");
}

/// Both ranks write blocks of their own and read them back.
#[test]
fn what_each_rank_reads_back_is_its_own_stake() {
    let calls = |low: u64| -> Vec<String> {
        let call = |name: &str, block: u64| {
            format!("{name}(3</data/grid>, \"\"..., 65536, {}) = 65536", low + block * 65536)
        };
        (0..20)
            .map(|block| call("pwrite64", block))
            .chain((0..20).map(|block| call("pread64", block)))
            .collect()
    };
    let dir = Dir::with_trace(rank(1, "solver", &calls(0)));
    let text = dir.run(["advise", "t.trail", "--json"]).succeeds().text();
    let advice: Value = serde_json::from_str(&text).expect("JSON");
    let habits = advice["habits"].as_array().into_iter().flatten();
    let own: Vec<&Value> = habits.filter(|habit| habit["rule"] == "read-own-writes").collect();
    assert_eq!(own.len(), 1);
    assert_eq!((&own[0]["saved_calls"], &own[0]["at_stake_ns"]), (&20.into(), &10_000_000.into()));
    // Whether the other one changed them in between is not known.
    let two = habits_of_two(&rank(1, "solver", &calls(0)), &rank(2, "solver", &calls(0)));
    assert!(!two.contains(&"read-own-writes".to_owned()), "{two:?}");
}

/// A shell opens the file of a redirection, which empties it, and another process writes.
#[test]
fn who_opens_a_file_for_another_program_does_not_share_it() {
    let mut text = "\
1 10:00:00.000000 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.000500 brk(NULL) = 0x5555 <0.000010>
1 10:00:00.001000 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 1</data/out> <0.000010>
1 10:00:00.002000 fork() = 2 <0.000200>
2 10:00:00.003000 execve(\"/usr/bin/dump\", [\"dump\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
"
    .to_owned();
    for record in 0..8 {
        let _ = writeln!(text, "2 10:00:00.01{record}000 write(1</data/out>, \"\"..., 100) = 100 <0.000050>");
    }
    text.push_str("2 10:00:00.030000 exit_group(0) = ?\n2 10:00:00.030100 +++ exited with 0 +++\n");
    text.push_str("1 10:00:00.031000 exit_group(0) = ?\n1 10:00:00.031100 +++ exited with 0 +++\n");
    let dir = Dir::with_trace(text);
    let advice: Value =
        serde_json::from_str(&dir.run(["advise", "t.trail", "--json"]).succeeds().text()).expect("JSON");
    let finding = &advice["findings"][0];
    assert_eq!((&finding["saved_calls"], &finding["confidence"]), (&7.into(), &"high".into()));
}

/// Twenty reads of so many bytes, one behind the other, and one of the rest.
fn reads_of(bytes: u64, rest: u64) -> Value {
    let call = |index: u64| {
        let moved = if index < 20 { bytes } else { rest };
        format!("pread64(3</data/grid>, \"\"..., {bytes}, {}) = {moved}", index * bytes)
    };
    let dir = Dir::with_trace(rank(1, "reader", &(0..=20).map(call).collect::<Vec<_>>()));
    dir.json(["advise", "t.trail", "--json"])["findings"].clone()
}

#[test]
fn calls_that_move_as_much_as_is_advised_are_left_alone() {
    assert_eq!(reads_of(1 << 20, 1 << 20), serde_json::json!([]));
    assert_eq!(reads_of(1 << 20, 1 << 19), serde_json::json!([]), "the last one moves the rest");
}

#[test]
fn a_run_that_is_longer_than_the_buffer_that_is_advised_leaves_a_call_for_each_of_these() {
    let finding = &reads_of(1 << 19, 1 << 18)[0];
    assert_eq!((&finding["calls_after"], &finding["saved_calls"]), (&11.into(), &10.into()));
    let finding = &reads_of(1 << 10, 1 << 9)[0];
    assert_eq!((&finding["calls_after"], &finding["saved_calls"]), (&1.into(), &20.into()));
}

#[test]
fn what_saves_no_time_is_not_said_to_be_beside_the_path() {
    // 20 reads of 64 KiB in 10 us each: the rate of large transfers is theirs.
    let call = |index: u64| format!("pread64(3</data/grid>, \"\"..., 65536, {}) = 65536", index << 16);
    let dir = Dir::with_trace(rank(1, "reader", &(0..20).map(call).collect::<Vec<_>>()));
    let finding = &dir.json(["advise", "t.trail", "--json"])["findings"][0];
    assert_eq!((&finding["saved_ns"], &finding["at_stake_ns"]), (&0.into(), &0.into()));
    let text = dir.run(["advise", "t.trail"]).succeeds().text();
    assert!(text.contains("nothing: these calls take no longer than moving their bytes does"), "{text}");
}

#[test]
fn a_file_is_named_as_tables_print_it_and_near_names_are_suggested() {
    let calls: Vec<String> =
        (0..4).map(|at| format!("pread64(4</data/a\\nb>, \"\"..., 10, {}) = 10", at * 10)).collect();
    let open = "openat(AT_FDCWD, \"/data/a\\nb\", O_RDONLY) = 4</data/a\\nb>".to_owned();
    let dir = Dir::with_trace(rank(1, "reader", &[vec![open], calls].concat()));
    let printed = dir.run(["advise", "t.trail", "--accesses", "/data/a\\nb"]).succeeds().text();
    assert!(printed.contains("4 accesses"), "{printed}");
    let refused = dir.run(["advise", "t.trail", "--accesses", "grid"]).fails();
    assert!(refused.contains("did you mean /data/grid?"), "{refused}");
}

#[test]
fn what_was_measured_is_told_also_where_it_cannot_be_kept() {
    let dir = Dir::with_trace(trace());
    std::fs::create_dir(dir.path("t.trail.verified.json")).expect("a directory in the way");
    let scratch = dir.path("scratch");
    let ran = dir.run(["advise", "t.trail", "--verify", "1", "--dir", scratch.to_str().expect("text")]);
    assert!(ran.succeeds().text().contains("times as fast"));
}

/// The habit of a rule in a trace of one process, or nothing.
fn habit(rule: &str, lines: &str) -> Option<Value> {
    // Such calls show that the trace has all calls.
    let head = [
        "1 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>",
        "1 brk(NULL) = 0x5555 <0.000010>",
        "1 getpid() = 1 <0.000010>",
        "1 rt_sigaction(SIGINT, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>",
        "1 fork() = 9999 <0.000010>",
    ];
    let mut text = String::new();
    for (at, line) in head.into_iter().chain(lines.lines()).enumerate() {
        let (pid, line) = line.split_once(' ').expect("a process");
        let _ = writeln!(
            text,
            "{pid} 10:{:02}:{:02}.{:06} {line}",
            at / 60_000,
            at / 1000 % 60,
            at % 1000 * 1000 + 7
        );
    }
    let advice = Dir::with_trace(text).json(["advise", "t.trail", "--json"]);
    let habits = advice["habits"].as_array().expect("habits");
    habits.iter().find(|habit| habit["rule"] == rule).cloned()
}

/// Calls, saved calls and the amount of a habit.
fn figures(habit: Option<Value>) -> Option<[u64; 3]> {
    habit.map(|habit| ["calls", "saved_calls", "amount"].map(|name| habit[name].as_u64().expect(name)))
}

#[test]
fn habits_begin_where_their_pages_say() {
    let appends = |number: usize, sync: bool| {
        let open = "1 openat(AT_FDCWD, \"/d/log\", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3</d/log> <0.000010>\n"
            .to_owned();
        let append = "1 write(3</d/log>, \"\"..., 100) = 100 <0.000010>\n";
        let sync = if sync { "1 fsync(3</d/log>) = 0 <0.000010>\n" } else { "" };
        habit("small-appends", &(open + &[append, sync].concat().repeat(number)))
    };
    assert_eq!(figures(appends(99, false)), None);
    assert_eq!(figures(appends(100, false)), Some([100, 99, 10_000]));
    assert_eq!(figures(appends(200, true)), None);

    let grow = |flags: &str, lengths: &[usize]| {
        let mut text =
            format!("1 openat(AT_FDCWD, \"/d/new\", O_WRONLY|{flags}, 0644) = 3</d/new> <0.000010>\n");
        for length in lengths {
            let _ = writeln!(text, "1 ftruncate(3</d/new>, {length}) = 0 <0.000010>");
        }
        habit("grow-by-truncate", &text)
    };
    let steps = |number: usize| (1..=number).collect::<Vec<_>>();
    assert_eq!(figures(grow("O_CREAT|O_TRUNC", &steps(19))), None);
    assert_eq!(figures(grow("O_CREAT|O_TRUNC", &steps(20))), Some([20, 19, 20]));
    assert_eq!(figures(grow("O_CREAT|O_EXCL", &steps(20))), Some([20, 19, 20]));
    // How long it was before the first one is not known.
    assert_eq!(figures(grow("O_CREAT", &steps(20))), None);
    assert_eq!(figures(grow("O_CREAT", &steps(21))), Some([21, 20, 20]));
    // What writes made longer is only cut to the length that it has.
    let mut written =
        "1 openat(AT_FDCWD, \"/d/new\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</d/new> <0.000010>\n".to_owned();
    for step in 1..40 {
        let _ = writeln!(written, "1 write(3</d/new>, \"\"..., 10) = 10 <0.000010>");
        let _ = writeln!(written, "1 ftruncate(3</d/new>, {}) = 0 <0.000010>", step * 10);
    }
    assert_eq!(figures(habit("grow-by-truncate", &written)), None);

    let storm = |short: usize, long: usize| {
        let mut text = String::new();
        for child in 2..2 + short + long {
            let _ = writeln!(text, "1 fork() = {child} <0.000010>");
            let _ = writeln!(text, "{child} execve(\"/bin/c\", [\"c\"], 0x0 /* 0 vars */) = 0 <0.000010>");
            if child < 2 + long {
                (0..60).for_each(|_| text.push_str("1 getpid() = 1 <0.000010>\n"));
            }
            let _ = writeln!(text, "{child} exit_group(0) = ?");
            let _ = writeln!(text, "{child} +++ exited with 0 +++");
        }
        habit("process-storm", &text)
    };
    assert_eq!(figures(storm(25, 24)), None);
    assert_eq!(figures(storm(25, 25)).map(|figures| figures[2]), Some(50));
    assert_eq!(figures(storm(24, 26)), None);
}

#[test]
fn whoever_sleeps_between_two_looks_polls() {
    let look = "1 stat(\"/d/flag\", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000010>\n";
    let after = |sleep: &str| {
        habit("polling", &format!("{look}{sleep}").repeat(12)).map(|habit| habit["amount"].clone())
    };
    assert_eq!(
        after("1 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=3000000}, NULL) = 0 <0.003000>\n"),
        Some(11.into())
    );
    assert_eq!(
        after("1 select(0, NULL, NULL, NULL, {tv_sec=0, tv_usec=3000}) = 0 (Timeout) <0.003000>\n"),
        Some(11.into())
    );
    assert_eq!(after(""), None);
    // A shell waits for `sleep` before that begins to sleep, or not.
    let shell = |waits_first: bool| {
        let mut text = String::new();
        for child in 2..14 {
            let wait = format!(
                "1 wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {child} <0.004000>\n"
            );
            let sleep = format!(
                "{child} clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=0, tv_nsec=3000000}}, NULL) = 0 <0.003000>\n"
            );
            let calls = if waits_first { [wait, sleep] } else { [sleep, wait] };
            let _ = write!(
                text,
                "{look}1 fork() = {child} <0.000010>\n{}{child} exit_group(0) = ?\n",
                calls.concat()
            );
        }
        habit("polling", &text).map(|habit| habit["amount"].clone())
    };
    assert_eq!([shell(true), shell(false)], [Some(11.into()), Some(11.into())]);
}

#[test]
fn transfers_and_computing_in_turns_are_seen_in_each_direction() {
    for writes in [0, 3] {
        let mut text = "1 openat(AT_FDCWD, \"/d/x\", O_RDWR|O_CREAT, 0644) = 3</d/x> <0.000010>\n".to_owned();
        for write in 0..writes {
            let _ = writeln!(text, "1 pwrite64(3</d/x>, \"\"..., 10, {}) = 10 <0.000010>", write * 10);
        }
        for read in 0..40 {
            let _ = writeln!(text, "1 pread64(3</d/x>, \"\"..., 4096, {}) = 4096 <0.000500>", read * 4096);
        }
        assert_eq!(habit("blocking-io", &text).map(|habit| habit["amount"].clone()), None, "less than 20 ms");
        let text = text.repeat(2).replace("<0.000500>", "<0.000600>");
        assert_eq!(
            habit("blocking-io", &text).map(|habit| habit["amount"].clone()),
            Some(78.into()),
            "{writes}"
        );
    }
}

/// The most that a call can move and last, several times.
#[test]
fn sums_end_at_the_largest_number() {
    const MOST: u64 = (1 << 63) - 1;
    let seconds = "9223372036.854775";
    let mut text = "1 0.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>\n".to_owned();
    for pid in [1, 2, 3] {
        if pid > 1 {
            let _ = writeln!(text, "1 0.00{pid}000 fork() = {pid} <{seconds}>");
        }
        for call in 0..6 {
            let at = format!("{pid} 0.1{pid}{call}000");
            for (line, size) in
                [("pread64(3</d/x>", MOST), ("pwrite64(4</d/y>", MOST), ("pread64(3</d/x>", 2)]
            {
                let _ = writeln!(text, "{at} {line}, \"\"..., {size}, 0) = {size} <{seconds}>");
            }
            let _ = writeln!(text, "{at} write(5</d/z>, \"\"..., {MOST}) = {MOST} <{seconds}>");
            let _ = writeln!(text, "{at} fsync(5</d/z>) = 0 <{seconds}>");
            let _ = writeln!(text, "{at} read(0<pipe:[7]>, \"\"..., {MOST}) = {MOST} <{seconds}>");
            let _ = writeln!(text, "{at} ftruncate(5</d/z>, {MOST}) = 0 <{seconds}>");
        }
    }
    let dir = Dir::with_trace(text);
    for command in
        ["info", "stats", "files", "sessions", "dfg", "why", "advise", "workflow", "processes", "tree"]
    {
        dir.run([command, "t.trail"]).succeeds();
    }
    dir.run(["compare", "t.trail", "t.trail"]).succeeds();
    dir.run(["report", "t.trail", "-o", "t.html"]).succeeds();
    dir.run(["compress", "t.trail", "-o", "t.structure"]).succeeds();
    dir.run(["characterize", "t.trail", "-o", "t.toml"]).succeeds();
    let files = dir.run(["files", "t.trail", "--json"]).succeeds().text();
    let read = files.lines().find(|line| line.starts_with("{\"path\":\"/d/x\"")).expect("a file");
    let read: Value = serde_json::from_str(read).expect("JSON");
    assert_eq!(read["bytes_read"], u64::MAX);
}

/// What a file holds of others is gone when it is emptied.
#[test]
fn blocks_of_a_file_that_was_emptied_are_nobody_elses() {
    let amount = |emptied: &str| {
        let mut text = String::new();
        for (pid, fd, flags) in [(1, 3, ""), (2, 4, emptied)] {
            if pid == 2 {
                text.push_str("1 fork() = 2 <0.001000>\n");
            }
            let _ = writeln!(
                text,
                "{pid} openat(AT_FDCWD, \"/d/o\", O_WRONLY|O_CREAT{flags}, 0644) = {fd}</d/o> <0.000100>"
            );
            for write in 0..100 {
                let _ = writeln!(
                    text,
                    "{pid} pwrite64({fd}</d/o>, \"\"..., 1000, {}) = 1000 <0.000050>",
                    write * 1000
                );
            }
        }
        habit("shared-blocks", &text).map(|habit| habit["amount"].clone())
    };
    assert!(amount("").is_some());
    assert_eq!(amount("|O_TRUNC"), None);
}

/// Maps of which nothing can be stored, and `/dev/null` as the output, change no file.
#[test]
fn commands_that_change_nothing_are_the_same() {
    let runs = |more: &str| {
        let mut text = "1 chdir(\"/w\") = 0 <0.000010>\n".to_owned();
        for pid in 2..22 {
            let lines = [
                format!("1 fork() = {pid} <0.000100>"),
                format!("{pid} execve(\"/bin/q\", [\"q\", \"in\"], 0x0 /* 0 vars */) = 0 <0.000100>"),
                format!("{pid} openat(AT_FDCWD, \"/d/in\", O_RDONLY) = 3</d/in> <0.000100>"),
                format!("{pid} {more}"),
                format!("{pid} read(3</d/in>, \"\"..., 4096) = 10 <0.000100>"),
                format!("{pid} exit_group(0) = ?"),
                format!("{pid} +++ exited with 0 +++"),
            ];
            lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        habit("same-command", &text).map(|habit| habit["amount"].clone())
    };
    let map = |protection: &str| {
        format!("mmap(NULL, 4096, {protection}, MAP_SHARED, 3</d/in>, 0) = 0x7f0000000000 <0.000100>")
    };
    let output = |path: &str| {
        format!("openat(AT_FDCWD, \"{path}\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4<{path}> <0.000100>")
    };
    let same = runs("getpid() = 2 <0.000100>");
    assert!(same.is_some());
    assert_eq!(runs(&map("PROT_READ")), same);
    assert_eq!(runs(&output("/dev/null")), same);
    assert_eq!(runs(&map("PROT_READ|PROT_WRITE")), None);
    assert_eq!(runs(&output("/d/out")), None);
}
