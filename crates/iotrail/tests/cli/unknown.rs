//! Traces that do not tell everything: without time stamps, with whole seconds, with numbers of processes that are used again.

use crate::util::Dir;
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
        assert!(!text.contains("1970"), "{command:?}\n{text}");
    }
    assert_eq!(dir.json(["info", "t.trail", "--json"])["time"], Value::Null);
    let tree = dir.json(["tree", "t.trail", "--json"]);
    assert_eq!((&tree["span"], &tree["longest"]["time"]), (&Value::Null, &Value::Null));
    let profile = dir.json(["stats", "t.trail", "--json"]);
    assert_eq!((&profile["total"]["life_ns"], &profile["total"]["span"]), (&Value::Null, &Value::Null));
    assert_eq!(dir.json(["workflow", "t.trail", "--json"])["span"], Value::Null);
    for rows in [["events", "t.trail", "--json"], ["processes", "t.trail", "--json"]] {
        for line in dir.run(rows).succeeds().text().lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!((&row["start"], &row["end"]), (&Value::Null, &Value::Null), "{line}");
        }
    }
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
