//! Traces that do not tell everything: without time stamps, with whole seconds, with numbers of processes that are used again.

use crate::cli::util::Dir;
use serde_json::Value;

/// A shell that starts a reader and a writer, one after the other.
const LINES: [&str; 12] = [
    "1 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0",
    "1 fork() = 2",
    "2 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3",
    "2 read(3, \"\"..., 4096) = 4096",
    "2 exit_group(0) = ?",
    "2 +++ exited with 0 +++",
    "1 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2",
    "1 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT, 0644) = 3",
    "1 write(3, \"\"..., 50) = 50",
    "1 close(3) = 0",
    "1 exit_group(0) = ?",
    "1 +++ exited with 0 +++",
];

/// Of a shell that waits for a minute for a child, and for another that is done within a second, with whole seconds (`strace -t`).
const SECONDS: [&str; 16] = [
    "1 10:00:00 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0 <0.000300>",
    "1 10:00:00 fork() = 2 <0.000200>",
    "2 10:00:00 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3 <0.000020>",
    "2 10:00:00 read(3, \"\"..., 4096) = 4096 <0.000010>",
    "2 10:01:00 read(3, \"\"..., 4096) = 0 <0.000010>",
    "2 10:01:00 exit_group(0) = ?",
    "2 10:01:00 +++ exited with 0 +++",
    "1 10:01:00 fork() = 3 <0.000200>",
    "3 10:01:00 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT, 0644) = 3 <0.000020>",
    "3 10:01:00 write(3, \"\"..., 50) = 50 <0.000010>",
    "3 10:01:00 write(3, \"\"..., 50) = 50 <0.000010>",
    "3 10:01:01 close(3) = 0 <0.000010>",
    "3 10:01:01 exit_group(0) = ?",
    "3 10:01:01 +++ exited with 0 +++",
    "1 10:01:01 exit_group(0) = ?",
    "1 10:01:01 +++ exited with 0 +++",
];

/// The first figure of a text that is a time: `12 ns`.
fn time_in(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| word.trim_start_matches(['+', '-', '×']).parse::<f64>().is_ok();
    let pair = words.windows(2).find(|pair| is_number(pair[0]) && ["ns", "us", "ms", "s"].contains(&pair[1]));
    pair.map(|pair| pair.join(" "))
}

#[test]
fn without_time_stamps_no_command_tells_a_time() {
    let dir = Dir::with_trace(LINES.join("\n") + "\n");
    let commands: [&[&str]; 17] = [
        &["info", "t.trail"],
        &["stats", "t.trail", "--table", "all"],
        &["dfg", "t.trail"],
        &["tree", "t.trail"],
        &["tree", "t.trail", "--all"],
        &["workflow", "t.trail"],
        &["workflow", "t.trail", "--critical-path"],
        &["workflow", "t.trail", "--slack"],
        &["workflow", "t.trail", "--bottlenecks"],
        &["workflow", "t.trail", "--degrees"],
        &["workflow", "t.trail", "--clusters"],
        &["processes", "t.trail"],
        &["processes", "t.trail", "--csv"],
        &["files", "t.trail"],
        &["events", "t.trail"],
        &["events", "t.trail", "--csv"],
        &["compare", "t.trail", "t.trail"],
    ];
    for command in commands {
        let text = dir.run(command).succeeds().text();
        assert_eq!(time_in(&text), None, "{command:?}\n{text}");
        assert!(!text.contains("1970-"), "{command:?}\n{text}");
    }
    assert_eq!(dir.json(["info", "t.trail", "--json"])["time"], Value::Null);
    let tree = dir.json(["tree", "t.trail", "--json"]);
    assert_eq!((&tree["span"], &tree["longest"]["time"]), (&Value::Null, &Value::Null));
    let profile = dir.json(["stats", "t.trail", "--json"]);
    assert_eq!((&profile["total"]["lifetime_ns"], &profile["total"]["span"]), (&Value::Null, &Value::Null));
    assert_eq!(dir.json(["workflow", "t.trail", "--json"])["span"], Value::Null);
    for rows in [["events", "t.trail", "--json"], ["processes", "t.trail", "--json"]] {
        for line in dir.run(rows).succeeds().text().lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!((&row["start"], &row["end"]), (&Value::Null, &Value::Null), "{line}");
        }
    }
    #[cfg(feature = "sqlite")]
    dir.run(["export", "sqlite", "t.trail", "-o", "t.db"]).succeeds();
    let failed = dir.run(["export", "perfetto", "t.trail", "-o", "t.pftrace"]).fails();
    assert!(failed.contains("no time stamps"), "{failed}");
    assert!(!dir.names().contains(&"t.pftrace".to_owned()));
}

#[test]
fn whole_seconds_make_no_finer_bins() {
    let stamped = |(n, line): (usize, &&str)| {
        let (tid, rest) = line.split_at(2);
        format!("{tid}10:00:0{} {rest}\n", n / 5)
    };
    let dir = Dir::with_trace(LINES.iter().enumerate().map(stamped).collect::<String>());
    let profile = dir.json(["stats", "t.trail", "--json"]);
    assert_eq!(profile["throughput"]["bin_ns"], 1_000_000_000);
    let text = dir.run(["stats", "t.trail", "--table", "throughput"]).succeeds().text();
    assert!(text.contains("bins of 1.00 s"), "{text}");
    // All within one second: one bin, and no time at all between the first and the last call.
    let same = LINES.map(|line| format!("{}10:00:00 {}\n", &line[..2], &line[2..])).concat();
    let dir = Dir::with_trace(same);
    let text = dir.run(["stats", "t.trail", "--table", "throughput"]).succeeds().text();
    assert!(text.contains("bins of 1.00 s"), "{text}");
    let graph = dir.json(["dfg", "t.trail", "-o", "-"]);
    assert!(graph["nodes"].as_array().expect("nodes").iter().all(|a| a["data_rate"].is_null()), "{graph}");
}

#[test]
fn every_command_counts_a_number_used_again_as_another_process() {
    let mut text =
        "1 10:00:00.000000 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0 <0.000100>\n".to_owned();
    for second in 1..6 {
        let at = |micros: u32| format!("10:00:0{second}.{micros:06}");
        text += &format!("1 {} fork() = 7 <0.000010>\n", at(0));
        text +=
            &format!("7 {} execve(\"/bin/cat\", [\"cat\"], 0x7ffd /* 3 vars */) = 0 <0.000010>\n", at(100));
        text += &format!("7 {} openat(AT_FDCWD, \"/data/{second}\", O_RDONLY) = 3 <0.000010>\n", at(200));
        text += &format!(
            "7 {} clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 8 <0.000010>\n",
            at(300)
        );
        // The thread makes no call of its own.
        text += &format!("8 {} +++ exited with 0 +++\n", at(400));
        text += &format!("7 {} exit_group(0) = ?\n7 {} +++ exited with 0 +++\n", at(500), at(600));
    }
    text += "1 10:00:07.000000 exit_group(0) = ?\n1 10:00:07.000100 +++ exited with 0 +++\n";
    let dir = Dir::with_trace(text);
    let info = dir.json(["info", "t.trail", "--json"]);
    assert_eq!((&info["processes"], &info["threads"]), (&Value::from(6), &Value::from(11)));
    let tree = dir.json(["tree", "t.trail", "--json"]);
    assert_eq!(tree["nodes"].as_array().map(Vec::len), Some(6));
    let total = &dir.json(["stats", "t.trail", "--json"])["total"];
    let modes = &total["processes"];
    let sum: i64 = ["ro", "wo", "rw", "none"].iter().filter_map(|mode| modes[mode].as_i64()).sum();
    assert_eq!(sum, 6, "{total}");
    let graph = dir.json(["dfg", "t.trail", "--case", "pid", "-o", "-"]);
    let cases = graph["cases"].as_u64().unwrap_or(0) + graph["cases_without_trace"].as_u64().unwrap_or(0);
    assert_eq!(cases, 6);
    let summary = dir.run(["workflow", "t.trail"]).succeeds().text();
    assert!(summary.starts_with("processes    6"), "{summary}");
}

/// `SECONDS` without or with durations.
fn seconds(durations: bool) -> Dir {
    let plain = |line: &&str| line.split(" <0.").next().unwrap_or_default().to_owned();
    let lines: Vec<String> = match durations {
        true => SECONDS.map(str::to_owned).into(),
        false => SECONDS.iter().map(plain).collect(),
    };
    Dir::with_trace(lines.join("\n") + "\n")
}

#[test]
fn whole_seconds_tell_long_times_and_no_short_ones() {
    for durations in [false, true] {
        let dir = seconds(durations);
        let info = dir.json(["info", "t.trail", "--json"]);
        assert_eq!(info["resolution_ns"], 1_000_000_000);
        let notes = info["coverage"]["notes"].as_array().map(Vec::len).unwrap_or_default();
        let coarse = |note: &Value| note.as_str().is_some_and(|note| note.contains("multiples of 1.00 s"));
        let said = info["coverage"]["notes"].as_array().into_iter().flatten().filter(|note| coarse(note));
        assert_eq!(said.count(), 1, "{notes} notes");

        let tree = dir.run(["tree", "t.trail", "--all"]).succeeds().text();
        let lifetime = |pid: &str| {
            let line = tree.lines().find(|line| line.contains(pid)).unwrap_or_default();
            line.split_once(pid)
                .map(|(_, rest)| rest.trim_start().split("  ").next().unwrap_or_default().to_owned())
        };
        assert_eq!(
            [lifetime("sh 2"), lifetime("sh 3")],
            [Some("60.0 s".to_owned()), Some("–".to_owned())],
            "{tree}"
        );

        let dfg =
            dir.json(["dfg", "t.trail", "--map", "call", "--case", "pid", "-o", "-", "--format", "json"]);
        assert_eq!(dfg["resolution_ns"], 1_000_000_000);
        for node in dfg["nodes"].as_array().expect("nodes") {
            assert_eq!(node["max_concurrency"], Value::Null, "{node}");
            assert_eq!(
                node["duration_ns"].is_null(),
                !durations || node["activity"] == "exit_group",
                "{node}"
            );
        }
        for edge in dfg["edges"].as_array().expect("edges") {
            assert!(edge["gap"]["mean_ns"].is_null(), "{edge}");
        }

        let graph = dir.json(["workflow", "t.trail", "--json"]);
        let time = |key: &str| {
            let vertices = graph["vertices"].as_array().expect("vertices");
            vertices.iter().find(|vertex| vertex["key"] == key).map(|vertex| vertex["time"].clone())
        };
        assert_eq!([time("2"), time("3")], [Some(60_000_000_000_i64.into()), Some(Value::Null)]);
        assert_eq!(time("/data/in@1"), Some(Value::Null), "a file has no life");
        let elapsed = graph["edges"].as_array().expect("edges").iter().map(|edge| {
            let moved = ["read", "written"].map(|way| &edge[way]);
            moved.iter().find(|way| way["calls"] != 0).map(|way| way["elapsed"].clone())
        });
        let known: Vec<bool> = elapsed.flatten().map(|elapsed| !elapsed.is_null()).collect();
        assert_eq!(known, [durations; 2]);
        let paths = dir.run(["workflow", "t.trail", "--critical-path"]).succeeds().text();
        assert_eq!(paths.matches("not known, the time stamps").count(), 2, "{paths}");
        assert_eq!(time_in(&paths), None, "{paths}");

        let profile = dir.json(["stats", "t.trail", "--json"]);
        assert_eq!(profile["throughput"]["bin_ns"], 1_000_000_000);
        assert_eq!(profile["total"]["lifetime_ns"], Value::Null, "one of them is not known");
        assert_eq!(profile["total"]["call_ns"].is_null(), !durations);

        dir.run(["export", "perfetto", "t.trail", "-o", "t.pftrace"]).ends_with(1);
    }
}

#[test]
fn stamps_with_differences_are_fine() {
    let lines = [
        "1 10:00:00 (+     0.000000) openat(AT_FDCWD, \"/a\", O_RDONLY) = 3",
        "1 10:00:00 (+     0.000100) close(3) = 0",
    ];
    let dir = Dir::with_trace(lines.join("\n") + "\n");
    assert_eq!(dir.json(["info", "t.trail", "--json"])["resolution_ns"], 1000);
    let dir = Dir::with_trace(LINES.join("\n") + "\n");
    assert_eq!(dir.json(["info", "t.trail", "--json"])["resolution_ns"], Value::Null);
    let profile = dir.json(["stats", "t.trail", "--json"]);
    let throughput = &profile["throughput"];
    assert_eq!((&throughput["bin_ns"], &throughput["origin_ns"]), (&Value::Null, &Value::Null));
    let graph = dir.json(["workflow", "t.trail", "--json"]);
    assert!(graph["vertices"].as_array().expect("vertices").iter().all(|vertex| vertex["time"].is_null()));
}
