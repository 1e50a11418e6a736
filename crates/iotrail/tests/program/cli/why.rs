//! `iotrail why`: recordings of which a person knows where the time went.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::cli::util::Dir;
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/why");

fn trail(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

fn explained(dir: &Dir, trails: &[String]) -> Value {
    let words = ["why", "--json"].into_iter().map(str::to_owned).chain(trails.iter().cloned());
    serde_json::from_str(&dir.run(words).succeeds().text()).unwrap()
}

/// The only run of a recording, whose pieces add up.
fn run(dir: &Dir, name: &str) -> Value {
    let document = explained(dir, &[trail(name)]);
    let run = document["trails"][0]["runs"][0].clone();
    let times = run["pieces"].as_array().unwrap().iter().map(|piece| piece["time_ns"].as_i64().unwrap());
    assert_eq!(times.sum::<i64>(), run["elapsed_ns"].as_i64().unwrap(), "{name}");
    run
}

/// Whether a row says that one program waited for another, through that, for so many ms at least in all.
fn waited(run: &Value, waiter: &str, cause: &str, by: &str, ms: i64) -> bool {
    let starts = |value: &Value, name: &str| value.as_str().is_some_and(|text| text.starts_with(name));
    run["waits"].as_array().unwrap().iter().any(|row| {
        starts(&row["waiter"], waiter)
            && row["cause"] == cause
            && starts(&row["by"], by)
            && row["in_all"]["time_ns"].as_i64().unwrap() >= ms * 1_000_000
    })
}

/// Name, sentence and facts of each recording.
fn answers() -> Vec<(String, String, Vec<String>)> {
    let text = std::fs::read_to_string(format!("{FIXTURES}/answers.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let answer = |line: &str| {
        let (name, rest) = line.split_once(": ").unwrap();
        let mut parts = rest.split(" | ").map(|part| part.trim().to_owned());
        (name.to_owned(), parts.next().unwrap(), parts.collect())
    };
    lines.map(answer).collect()
}

#[test]
fn the_first_three_lines_are_the_answer_that_a_person_wrote_down() {
    let dir = Dir::new();
    let answers = answers();
    assert!(answers.len() >= 10);
    for (name, sentence, facts) in answers {
        let text = dir.run(["why".to_owned(), trail(&name)]).succeeds().text();
        let told = text.lines().take(3).collect::<Vec<_>>().join(" ");
        assert!(!facts.is_empty());
        for fact in facts {
            assert!(told.contains(&fact), "{name}: {sentence} `{fact}` is not in: {told}");
        }
        run(&dir, &name);
    }
}

/// Before its imports python3 looks up its user, which asks a daemon that is not there: no work of its own.
#[test]
fn a_start_that_takes_long_is_what_to_change() {
    let dir = Dir::new();
    let text = dir.run(["why".to_owned(), trail("imports")]).succeeds().text();
    let advice = text.lines().skip_while(|line| *line != "What to change").nth(1).unwrap_or_default();
    assert!(advice.contains("ms of start-up by python3.11"), "{text}");
}

#[test]
fn the_largest_piece_of_the_answer_comes_first() {
    let dir = Dir::new();
    for (name, largest) in [
        ("sqlite", " ms fdatasync of x.db-journal "),
        ("wait", " ms sleeping in sleep, "),
        ("slow-producer", " ms sleeping in sleep, "),
        ("slow-consumer", " ms sleeping in sleep, "),
        ("socket", " ms sleeping in python3.11, "),
        ("join", " ms sleeping in python3.11, "),
        ("lock", " ms sleeping in sleep, "),
        ("storm", " ms in 150 processes of true, "),
        ("cpu", " ms computing in bc, "),
        ("slow-file", " s write of f13 "),
    ] {
        let text = dir.run(["why".to_owned(), trail(name)]).succeeds().text();
        let (_, parts) = text.lines().next().unwrap().split_once(": ").unwrap();
        let (time, _) = parts.split_once(largest).unwrap_or_else(|| panic!("{name}: {parts}"));
        let time: f64 = time.parse().unwrap();
        assert!(time >= if largest.starts_with(" s ") { 1.0 } else { 290.0 }, "{name}: {parts}");
    }
}

#[test]
fn who_waits_for_whom_is_told_for_children_pipes_sockets_and_threads() {
    let dir = Dir::new();
    for (name, waiter, cause, by, ms) in [
        ("wait", "dash", "child", "sleep", 300),
        ("slow-producer", "cat", "pipe", "dash", 300),
        ("slow-producer", "dash", "child", "sleep", 300),
        ("slow-consumer", "head", "pipe", "cat", 300),
        ("socket", "python3", "socket", "python3", 400),
        ("join", "python3", "futex", "python3", 300),
        ("lock", "flock", "lock", "flock", 250),
    ] {
        let run = run(&dir, name);
        assert!(waited(&run, waiter, cause, by, ms), "{name}: {:#}", run["waits"]);
    }
}

#[test]
fn each_of_several_trails_has_a_block() {
    let dir = Dir::new();
    let text = dir.run(["why".to_owned(), trail("wait"), trail("join")]).succeeds().text();
    assert!(text.contains("/wait\n") && text.contains("/join\n"), "{text}");
    assert_eq!(text.matches("Where the elapsed time went").count(), 2);
    let document = explained(&dir, &[trail("wait"), trail("join")]);
    assert_eq!(document["trails"].as_array().unwrap().len(), 2);
}

/// A trail imported from a trace of strace.
fn imported(dir: &Dir, trace: &str) -> String {
    dir.write("t.st", trace);
    dir.run(["import", "-q", "-o", "t.trail", "t.st"]).succeeds();
    "t.trail".to_owned()
}

#[test]
fn a_trace_tells_what_it_holds_and_names_are_harmless() {
    let dir = Dir::new();
    let trace = "7 1700000000.000000 execve(\"/bin/a\\33[2J\", [\"a\"], 0x1) = 0 <0.001000>\n\
                 7 1700000000.010000 openat(AT_FDCWD, \"/tmp/x\\33[2J\\n\", O_RDONLY) = 3</tmp/x\\33[2J\\n> <0.500000>\n\
                 7 1700000000.600000 +++ exited with 0 +++\n";
    let trail = imported(&dir, trace);
    let text = dir.run(["why", &trail]).succeeds().text();
    assert!(!text.contains('\u{1b}') && text.starts_with("600 ms: 500 ms openat of /tmp/x"), "{text}");
    assert!(text.contains("The cost of recording was not measured"), "{text}");
}

#[test]
fn a_trace_without_durations_says_so_and_one_without_times_has_nothing_to_explain() {
    let dir = Dir::new();
    let trail = imported(&dir, "7 1700000000.000000 close(3) = 0\n7 1700000001.500000 close(4) = 0\n");
    let text = dir.run(["why", &trail]).succeeds().text();
    assert!(text.starts_with("1.50 s: "), "{text}");
    assert!(text.contains("The trace has no durations of calls"), "{text}");
    let dir = Dir::new();
    let trail =
        imported(&dir, "7 1700000000.0 close(3) = 0 <0.000000>\n7 1700000001.5 close(4) = 0 <0.000000>\n");
    let text = dir.run(["why", &trail]).succeeds().text();
    assert!(!text.contains("durations"), "they are known, if short: {text}");
    let dir = Dir::new();
    let trail = imported(&dir, "7 close(3) = 0\n7 close(4) = 0\n");
    let refused = dir.run(["why", &trail]).ends_with(1).messages();
    assert!(refused.contains("no call of it has a time"), "{refused}");
}

/// A child that makes no call and dies by a signal is what its parent waits for.
#[test]
fn who_makes_no_call_and_is_killed_has_its_time() {
    let dir = Dir::with_trace(
        "\
1 10:00:00.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>
1 10:00:00.001000 fork() = 2 <0.001000>
1 10:00:00.003000 wait4(2, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV}], 0, NULL) = 2 <0.400100>
2 10:00:00.403000 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---
2 10:00:00.403000 +++ killed by SIGSEGV +++
1 10:00:00.404000 exit_group(0) = ?
1 10:00:00.404100 +++ exited with 0 +++
",
    );
    let why = dir.json(["why", "t.trail", "--json"]);
    let most = &why["trails"][0]["runs"][0]["pieces"][0];
    assert_eq!((&most["kind"], &most["owner"]["pid"]), (&"between-calls".into(), &2.into()), "{most}");
    assert_eq!(most["time_ns"], 403_800_000);
    let path = dir.json(["workflow", "t.trail", "--critical-path", "--json"]);
    let steps: Vec<(&Value, &Value)> =
        path[0]["rows"].as_array().into_iter().flatten().map(|row| (&row["key"], &row["span_ns"])).collect();
    let expected = [("1", 1_000_000), ("2", 402_000_000), ("1", 1_100_000)];
    assert_eq!(
        steps,
        expected
            .map(|(key, span)| (Value::from(key), Value::from(span)))
            .iter()
            .map(|(key, span)| (key, span))
            .collect::<Vec<_>>()
    );
}

/// What the waits of a trace were that others ended: for what, and for how many ns in all.
fn waits_of(trace: &str) -> Vec<(String, i64)> {
    let dir = Dir::with_trace(trace);
    let why = dir.json(["why", "t.trail", "--json"]);
    let waits = why["trails"][0]["runs"][0]["waits"].as_array().unwrap().iter();
    let ended = waits.filter(|wait| !wait["by"].is_null());
    let row = |wait: &Value| {
        (wait["cause"].as_str().unwrap().to_owned(), wait["in_all"]["time_ns"].as_i64().unwrap())
    };
    ended.map(row).collect()
}

/// A thread that makes no call outlives the leader, which left by `pthread_exit`: the process ends with it, by a signal.
#[test]
fn a_silent_thread_outlives_the_leader() {
    let waits = waits_of(
        "\
1 10:00:00.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>
1 10:00:00.001000 fork() = 2 <0.001000>
1 10:00:00.003000 wait4(2, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV}], 0, NULL) = 2 <0.500100>
2 10:00:00.003000 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, exit_signal=0}, 88) = 3 <0.000100>
2 10:00:00.004000 exit(0) = ?
3 10:00:00.503000 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---
3 10:00:00.503000 +++ killed by SIGSEGV +++
2 10:00:00.503000 +++ killed by SIGSEGV +++
1 10:00:00.504000 exit_group(0) = ?
1 10:00:00.504100 +++ exited with 0 +++
",
    );
    assert_eq!(waits, [("child".to_owned(), 500_000_000)]);
}

/// How long a process waits for a lock that another one has.
fn wait_for_lock(holder: &str) -> i64 {
    let waits = waits_of(&format!(
        "\
1 10:00:00.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>
1 10:00:00.001000 fork() = 2 <0.001000>
1 10:00:00.003000 fork() = 3 <0.001000>
{holder}3 10:00:00.050000 openat(AT_FDCWD, \"/l\", O_RDWR) = 3</l> <0.000100>
3 10:00:00.051000 flock(3</l>, LOCK_EX) = 0 <0.549100>
3 10:00:00.601000 exit_group(0) = ?
3 10:00:00.601100 +++ exited with 0 +++
1 10:00:00.602000 exit_group(0) = ?
1 10:00:00.602100 +++ exited with 0 +++
"
    ));
    waits.into_iter().filter(|(cause, _)| cause == "lock").map(|(_, time)| time).sum()
}

/// The lock of `flock` is the open file description's: a child may have taken it, and the last close lets go of it.
#[test]
fn the_last_close_of_a_description_lets_go_of_its_lock() {
    let taken = "\
2 10:00:00.010000 openat(AT_FDCWD, \"/l\", O_RDWR) = 3</l> <0.000100>
2 10:00:00.011000 fork() = 4 <0.001000>
4 10:00:00.013000 flock(3</l>, LOCK_EX) = 0 <0.000100>
4 10:00:00.100000 exit_group(0) = ?
4 10:00:00.100100 +++ exited with 0 +++
";
    let closed = "2 10:00:00.600000 close(3</l>) = 0 <0.000100>\n";
    let left = "2 10:00:00.600000 exit_group(0) = ?\n2 10:00:00.600100 +++ exited with 0 +++\n";
    assert_eq!(wait_for_lock(&format!("{taken}{closed}")), 549_000_000);
    assert_eq!(wait_for_lock(&format!("{taken}{left}")), 549_000_000);
}

/// The lock of `fcntl` is the process's: the end of its child lets go of nothing, and the close of any descriptor of the file does.
#[test]
fn any_close_of_the_file_lets_go_of_the_lock_of_a_process() {
    let holder = "\
2 10:00:00.010000 openat(AT_FDCWD, \"/l\", O_RDWR) = 3</l> <0.000100>
2 10:00:00.011000 fcntl(3</l>, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.000100>
2 10:00:00.012000 openat(AT_FDCWD, \"/l\", O_RDWR) = 4</l> <0.000100>
2 10:00:00.013000 fork() = 4 <0.001000>
2 10:00:00.600000 close(4</l>) = 0 <0.000100>
4 10:00:00.600050 exit_group(0) = ?
4 10:00:00.600070 +++ exited with 0 +++
";
    assert_eq!(wait_for_lock(holder), 549_000_000);
}

/// Who makes a process by `vfork` waits until that executes another program or ends.
#[test]
fn the_maker_by_vfork_waits_for_the_exec_or_the_end_of_its_child() {
    let trace = |child: &str, until: &str| {
        format!(
            "\
1 10:00:00.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>
1 10:00:00.001000 vfork() = 2 <0.300000>
2 10:00:00.001100 nanosleep({{tv_sec=0, tv_nsec=290000000}}, NULL) = 0 <0.290000>
{child}1 10:00:00.302000 wait4(2, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = 2 <{until}>
1 10:00:00.900000 exit_group(0) = ?
1 10:00:00.900100 +++ exited with 0 +++
"
        )
    };
    let executes = "\
2 10:00:00.295000 execve(\"/bin/q\", [\"q\"], 0x0 /* 0 vars */) = 0 <0.010000>
2 10:00:00.400000 exit_group(0) = ?
2 10:00:00.400100 +++ exited with 0 +++
";
    let ends = "\
2 10:00:00.300900 exit_group(0) = ?
2 10:00:00.300950 +++ exited with 0 +++
";
    let waits = |child: &str, until: &str| {
        let mut waits = waits_of(&trace(child, until));
        waits.sort();
        waits
    };
    let child = |time: i64| ("child".to_owned(), time);
    assert_eq!(waits(executes, "0.098100"), [child(98_000_000), ("exec".to_owned(), 300_000_000)]);
    assert_eq!(waits(ends, "0.000010"), [child(299_900_000)]);
}

/// Who has a lock alone and takes it again, to have it with others, lets them in.
#[test]
fn a_lock_that_becomes_a_shared_one_lets_go() {
    for taken in [
        ["flock(3</l>, LOCK_EX)", "flock(3</l>, LOCK_SH)"],
        [
            "fcntl(3</l>, F_SETLKW, {l_type=F_WRLCK, l_len=0})",
            "fcntl(3</l>, F_SETLKW, {l_type=F_RDLCK, l_len=0})",
        ],
    ] {
        let [alone, shared] = taken;
        let holder = format!(
            "\
2 10:00:00.010000 openat(AT_FDCWD, \"/l\", O_RDWR) = 3</l> <0.000100>
2 10:00:00.011000 {alone} = 0 <0.000100>
2 10:00:00.600000 {shared} = 0 <0.000100>
"
        );
        assert_eq!(wait_for_lock(&holder), 549_000_000, "{shared}");
    }
}

/// A process makes another one, which waits in `waits` until it is killed 300 ms later, and is told of its end.
fn killed_in(waits: &str) -> Value {
    let dir = Dir::with_trace(format!(
        "1 10:00:00.000000 fork() = 2 <0.000100>\n\
         2 10:00:00.001000 {waits} <unfinished ...>\n\
         1 10:00:00.002000 clock_nanosleep(CLOCK_REALTIME, 0, {{tv_sec=0, tv_nsec=300000000}}, NULL) = 0 <0.300000>\n\
         1 10:00:00.303000 kill(2, SIGKILL) = 0 <0.000050>\n\
         2 10:00:00.303100 <... resumed>) = ?\n\
         2 10:00:00.303200 +++ killed by SIGKILL +++\n\
         1 10:00:00.303150 wait4(2, [{{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}}], 0, NULL) = 2 <0.000500>\n\
         1 10:00:00.305000 exit_group(0) = ?\n\
         1 10:00:00.305100 +++ exited with 0 +++\n"
    ));
    dir.json(["why", "t.trail", "--json"])["trails"][0]["runs"][0].clone()
}

#[test]
fn who_is_killed_waited_for_its_killer() {
    for waits in ["pause(", "read(0</dev/pts/1>, ", "nanosleep({tv_sec=9, tv_nsec=0}, "] {
        let run = killed_in(waits);
        let pieces = run["pieces"].as_array().expect("pieces");
        let time = |kind: &str| -> u64 {
            pieces
                .iter()
                .filter(|piece| piece["kind"] == kind)
                .filter_map(|piece| piece["time_ns"].as_u64())
                .sum()
        };
        assert_eq!((time("waiting"), time("sleep")), (0, 300_000_000), "{waits}: {run}");
        let rows = run["waits"].as_array().expect("waits");
        assert!(rows.iter().any(|row| row["cause"] == "signal"), "{waits}: {run}");
    }
}
