//! Advice that is measured: what is issued, what it leaves behind.

use crate::cli::advise::{fixture, trace};
use crate::cli::util::{Dir, Ran, wait_until};
use serde_json::Value;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

#[test]
fn advice_is_measured_on_scratch_files_and_remembered() {
    let dir = Dir::with_trace(trace());
    let advice = |words: &[&str]| -> Value {
        let words: Vec<&str> = ["advise", "t.trail", "--json"].iter().chain(words).copied().collect();
        serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON")
    };
    let measured = advice(&["--verify", "1", "--runs", "6"]);
    let proof = &measured["verified"][0];
    let result = &proof["measured"];
    assert_eq!((&proof["rule"], &proof["saved_calls"]), (&"merge-writes".into(), &6.into()), "{proof}");
    assert_eq!((&result["runs"], &result["cache"]), (&6.into(), &"cold".into()), "{proof}");
    let number = |name: &str| result[name].as_u64().expect("a number");
    assert_eq!(number("calls_recorded") - number("calls_advised"), 6);
    assert_eq!((number("differences_recorded"), number("differences_advised")), (0, 0), "{proof}");
    let ratio = |name: &str| result[name].as_f64().expect("a ratio");
    assert!(ratio("ratio_min") > 0.0 && ratio("ratio_min") <= ratio("ratio_max"), "{proof}");
    assert!(!std::path::Path::new("/data/log").exists());
    dir.shell("test ! -e t.trail.scratch && $IOTRAIL check t.trail").succeeds();
    assert_eq!(advice(&[])["verified"], measured["verified"]);
    assert!(dir.run(["advise", "t.trail"]).succeeds().text().contains("times as fast"));
    let page = dir.json(["report", "t.trail", "--json"]);
    let told = |finding: &&Value| finding["measured"][0] == result["ratio"];
    let shown = page["advice"]["list"].as_array().and_then(|list| list.iter().find(told));
    assert_eq!(shown.map(|finding| &finding["rule"]), Some(&"merge-writes".into()), "{:#}", page["advice"]);
    let refused = dir.run(["advise", "t.trail", "--verify", "9"]).fails();
    assert!(refused.contains("no such finding"), "{refused}");
}

#[test]
fn scratch_files_need_a_directory_of_their_own_and_go_after_a_kill() {
    let dir = Dir::with_trace(trace());
    dir.shell(
        "mkdir full killed && echo mine > full/mine && echo mine > killed/mine && echo old > killed/f0",
    )
    .succeeds();
    let refused = dir.run(["advise", "t.trail", "--verify", "--dir", "full"]).fails();
    assert!(refused.contains("not empty"), "{refused}");
    dir.write("killed/.iotrail-scratch", "iotrail scratch files 1\ndirectory found\nf0\n");
    dir.run(["advise", "t.trail", "--clean", "--dir", "killed"]).succeeds();
    dir.shell("test \"$(ls -A killed)\" = mine && test \"$(cat full/mine killed/mine)\" = \"$(printf 'mine\\nmine')\"").succeeds();
}

#[test]
fn adjacent_accesses_are_merged_by_vectored_calls_if_asked_for() {
    let dir = Dir::with_trace(trace());
    let advice = dir.json(["advise", "t.trail", "--json", "--verify", "1", "--vectored"]);
    let result = &advice["verified"][0]["measured"];
    let number = |name: &str| result[name].as_u64().expect("a number");
    assert_eq!((number("vectored_calls"), number("calls_recorded") - number("calls_advised")), (2, 6));
    assert_eq!((number("differences_recorded"), number("differences_advised")), (0, 0), "{result}");
    let text = dir.run(["advise", "t.trail"]).succeeds().text();
    assert!(text.contains("vectored    2 calls as advised"), "{text}");
    let error = dir.run(["advise", "t.trail", "--vectored"]).refuses();
    assert!(error.contains("--verify"), "{error}");
}

#[test]
fn calls_that_are_not_blocks_are_not_issued_past_the_page_cache() {
    let advice = |bytes: &str| {
        let other = trace().replace("\"..., 100, 100) = 100", "\"..., 8192, 8192) = 8192");
        let dir = Dir::with_trace(other.replace("\"..., 100) = 100", bytes));
        let ran = dir.run(["advise", "t.trail", "--json", "--verify", "1", "--direct"]);
        // Not every file system can.
        (!ran.messages().contains("with O_DIRECT: ")).then(|| ran.succeeds().json()["verified"][0].clone())
    };
    if let Some(blocks) = advice("\"..., 8192) = 8192") {
        assert_eq!(blocks["measured"]["direct"], true, "{blocks}");
        assert_eq!(blocks["measured"]["differences_advised"], 0, "{blocks}");
    }
    let reason = advice("\"..., 100) = 100").expect("nothing is opened")["reason"].to_string();
    assert!(reason.contains("operation 2: moves 100 bytes at offset 0; with O_DIRECT"), "{reason}");
}

/// With a trail of accesses to `original`, which exists, of 100 kB each.
fn with_original(accesses: &str) -> Dir {
    let dir = Dir::new();
    dir.write("original", ORIGINAL);
    let original = dir.path("original").to_string_lossy().into_owned();
    let size = "\"..., 100000) = 100000";
    let text = trace().replace("/data/log", &original).replace("\"..., 100) = 100", size);
    let text = match accesses {
        "reads" => text.replace(" write(", " read(").replace("O_WRONLY|O_CREAT|O_TRUNC", "O_RDONLY"),
        _ => text,
    };
    dir.write("a_h_1.st", text);
    dir.run(["import", "-q", "-o", "t.trail", "a_h_1.st"]).succeeds();
    dir
}

const ORIGINAL: &str = "what the program worked on";

/// Nothing but what was there before a measurement, and `more`, with the bytes of before.
#[track_caller]
fn is_as_before(dir: &Dir, more: &[&str]) {
    let mut expected = vec!["a_h_1.st", "original", "t.trail"];
    expected.extend(more);
    expected.sort_unstable();
    assert_eq!(dir.names(), expected);
    assert_eq!(dir.read("original"), ORIGINAL.as_bytes());
    dir.run(["check", "t.trail"]).succeeds();
}

#[test]
fn a_measurement_that_is_killed_leaves_only_scratch_files_which_go_at_the_next_one() {
    for accesses in ["reads", "writes"] {
        for next in [["--clean"].as_slice(), &["--verify", "1"]] {
            let dir = with_original(accesses);
            let mut measuring = dir.command(["advise", "t.trail", "--verify", "1", "--runs", "1000"]).start();
            wait_until("a scratch file", || dir.path("t.trail.scratch/f0").exists());
            measuring.kill().expect("SIGKILL");
            assert!(!measuring.wait().expect("an end").success(), "it ended before it was killed");
            assert!(dir.path("t.trail.scratch/.iotrail-scratch").exists());
            is_as_before(&dir, &["t.trail.scratch"]);
            dir.run(["advise", "t.trail"].iter().chain(next)).succeeds();
            let proofs = (next != ["--clean"]).then_some("t.trail.verified.json");
            is_as_before(&dir, proofs.as_slice());
        }
    }
}

/// Runs a line of shell beside `small`, a file system in memory with these options; None where nothing may be mounted.
fn in_small_file_system(dir: &Dir, options: &str, line: &str) -> Option<Ran> {
    let mount =
        format!("mkdir -p small && exec unshare -rm sh -c 'mount -t tmpfs -o {options} none small && ");
    let may_mount = dir.shell(&format!("{mount} true'")).status.success();
    if !may_mount {
        eprintln!("NOT TESTED: this process may not mount file systems");
    }
    may_mount.then(|| dir.shell(&format!("{mount} {line}'")))
}

#[test]
fn a_file_system_without_room_is_refused_before_anything_is_made() {
    let dir = with_original("reads");
    let line = "! $IOTRAIL advise t.trail --verify 1 --dir small/s && ls -A small";
    let Some(ran) = in_small_file_system(&dir, "size=8m", line) else { return };
    let ran = ran.succeeds();
    assert!(ran.messages().contains("name a directory with more room"), "{}", ran.messages());
    assert_eq!(ran.text(), "");
    is_as_before(&dir, &["small"]);
}

#[test]
fn a_file_system_without_room_for_more_files_is_refused_before_anything_is_made() {
    let dir = with_original("reads");
    let line = "! $IOTRAIL advise t.trail --verify 1 --dir small/s && ls -A small";
    let Some(ran) = in_small_file_system(&dir, "size=64m,nr_inodes=3", line) else { return };
    let ran = ran.succeeds();
    assert!(ran.messages().contains("files and directories are needed"), "{}", ran.messages());
    assert_eq!(ran.text(), "");
    is_as_before(&dir, &["small"]);
}

#[test]
fn a_directory_for_scratch_files_needs_something_to_do_there() {
    let dir = fixture("sync-each-write");
    let error = dir.run(["advise", "t.trail", "--dir", "scratch"]).ends_with(2).messages();
    assert!(error.contains("--verify"), "{error}");
}

/// Each rule whose calls have another form, on a recording with its habit: all calls return what they did.
#[test]
fn what_is_measured_of_each_rule() {
    let rules = [
        "every-rank-reads",
        "grow-by-truncate",
        "interleaved-ranks",
        "overwrite",
        "read-again",
        "read-own-writes",
        "reopen",
        "seek-read",
        "seek-seek",
        "shared-append",
        "shared-blocks",
        "stat-again",
        "sync-each-write",
        "unaligned-writes",
    ];
    let mut table = "rule: calls as recorded, as advised; threads; waits; not issued\n".to_owned();
    for rule in rules {
        let advice = fixture(rule).json(["advise", "t.trail", "--json", "--verify", "--cache", "warm"]);
        let proofs = advice["verified"].as_array().into_iter().flatten();
        for proof in proofs.filter(|proof| proof["rule"] == rule) {
            let measured = &proof["measured"];
            let number = |name: &str| measured[name].as_u64().unwrap_or(u64::MAX);
            assert_eq!(
                (number("differences_recorded"), number("differences_advised")),
                (0, 0),
                "{rule}: {proof:#}"
            );
            let counts = ["calls_recorded", "calls_advised", "threads", "waits", "not_issued"].map(number);
            let _ = writeln!(table, "{rule}: {counts:?}");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn calls_that_failed_are_issued_and_fail_again() {
    let failed = [
        "openat(AT_FDCWD, \"/data/log\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "stat(\"/data/log\", 0x7ffd) = -1 ENOENT (No such file or directory)",
    ];
    let exists = "openat(AT_FDCWD, \"/data/log\", O_WRONLY|O_CREAT|O_EXCL, 0644) = -1 EEXIST (File exists)";
    let denied = "openat(AT_FDCWD, \"/data/log\", O_RDWR) = -1 EACCES (Permission denied)";
    let line = |second: u32, call: &str| format!("1 10:00:00.{second:06} {call} <0.000010>\n");
    let opened = "1 10:00:00.002000";
    let written = "1 10:00:00.030000";
    let trace = trace()
        .replace(opened, &format!("{}{}{opened}", line(1500, failed[0]), line(1600, failed[1])))
        .replace(written, &format!("{}{}{written}", line(21_000, exists), line(22_000, denied)));
    let dir = Dir::with_trace(trace);
    let advice = dir.json(["advise", "t.trail", "--json", "--verify", "1"]);
    let measured = &advice["verified"][0]["measured"];
    let names =
        ["calls_recorded", "calls_advised", "not_issued", "differences_recorded", "differences_advised"];
    // Open, eight writes, close; open, read, close; three that failed.
    assert_eq!(names.map(|name| measured[name].as_u64()), [16, 10, 1, 0, 0].map(Some), "{measured:#}");
    assert!(dir.run(["advise", "t.trail"]).succeeds().text().contains("not issued  1 call on the file"));
}

#[test]
fn more_threads_at_once_than_can_be_are_not_measured() {
    let trace = |processes: u32| {
        let (begin, end) = trace()
            .split_once("1 10:00:00.002000")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .expect("an open");
        let mut text = begin;
        for process in 0..processes {
            let (pid, time) = (100 + process, 1_100 + process);
            let _ = writeln!(text, "1 10:00:00.{time:06} fork() = {pid} <0.000001>");
        }
        for process in 0..processes {
            let (pid, time) = (100 + process, 1_500 + process);
            let call = "openat(AT_FDCWD, \"/data/log\", O_RDONLY) = 3</data/log> <0.500000>";
            let _ = writeln!(text, "{pid} 10:00:00.{time:06} {call}");
        }
        text + "1 10:00:00.002000" + &end
    };
    for (processes, threads) in [(200, Some(202)), (300, None)] {
        let dir = Dir::with_trace(trace(processes));
        let proof = dir.json(["advise", "t.trail", "--json", "--verify", "1"])["verified"][0].clone();
        assert_eq!(proof["measured"]["threads"].as_u64(), threads, "{proof:#}");
        if threads.is_none() {
            assert_eq!(proof["reason"], "more than 256 threads used the file at once");
        }
        assert!(!dir.path("t.trail.scratch").exists());
    }
}

#[test]
fn time_between_calls_is_kept_if_asked_for() {
    let dir = Dir::with_trace(trace());
    let measured = |words: &[&str]| {
        let words = ["advise", "t.trail", "--json", "--verify", "1"].iter().chain(words);
        dir.json(words)["verified"][0]["measured"].clone()
    };
    // From the open to the last write it took 15 ms, of which the calls before that took 0.36 ms.
    let kept = measured(&["--think", "keep"]);
    assert_eq!(kept["think"], "keep");
    for form in ["recorded_ns", "advised_ns"] {
        assert!(kept[form].as_u64() >= Some(14_640_000), "{kept:#}");
    }
    assert!(dir.run(["advise", "t.trail"]).succeeds().text().contains("time between calls kept"));
    assert_eq!(measured(&[])["think"], "drop");
    assert!(dir.run(["advise", "t.trail", "--think", "keep"]).refuses().contains("--verify"));
}

/// Whoever ends a measurement, whenever that is: what the program worked on stays, and nothing else does.
#[test]
fn a_measurement_that_is_killed_at_any_moment_leaves_nothing_that_the_next_one_does_not_remove() {
    for accesses in ["reads", "writes"] {
        let dir = with_original(accesses);
        for round in 0..12_u64 {
            let signal = if round % 2 == 0 { "-KILL" } else { "-TERM" };
            let mut measuring = dir.command(["advise", "t.trail", "--verify", "1", "--runs", "1000"]).start();
            std::thread::sleep(Duration::from_millis(round * round * 7 % 240));
            let id = measuring.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
            assert!(!measuring.wait().expect("an end").success(), "it ended before {signal}");
            if signal == "-TERM" {
                is_as_before(&dir, &[]);
                continue;
            }
            dir.run(["advise", "t.trail", "--clean"]).succeeds();
            // Between making the directory and the manifest in it: nothing tells whose an empty directory is.
            let _ = std::fs::remove_dir(dir.path("t.trail.scratch"));
            is_as_before(&dir, &[]);
        }
    }
}

#[test]
fn room_that_others_take_during_a_measurement_ends_it_and_nothing_stays() {
    let dir = with_original("writes");
    let line = "$IOTRAIL advise t.trail --verify 1 --runs 1000 --dir small/s & measuring=$!; \
         while ! test -e small/s/f0; do sleep 0.01; done; \
         while test -d small/s; do head -c 4194304 /dev/zero >> small/other; done 2>/dev/null; \
         ! wait $measuring && ls -A small";
    let Some(ran) = in_small_file_system(&dir, "size=40m", line) else { return };
    let ran = ran.succeeds();
    let messages = ran.messages();
    assert!(messages.contains("no room was left") || messages.contains("No space left"), "{messages}");
    assert_eq!(ran.text(), "other\n");
    is_as_before(&dir, &["small"]);
}
