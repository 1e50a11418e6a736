//! Processes and threads come and go, and the recorder is not noticed.

use crate::recorder::support::{Stage, plan, run, scene, shell};
use iotrail_record::{CallSet, End, Placement};
use std::collections::BTreeSet;
use std::process::Command;

/// Runs a program plain and recorded and compares what it prints.
fn notices_nothing(program: &str, words: &[&str]) -> crate::recorder::support::Collected {
    let stage = Stage::new();
    let path = stage.compile(program);
    let output = Command::new(&path).args(words).output().unwrap();
    let file = stage.path("output");
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let line = format!("exec {} {} >{}", path.display(), words.join(" "), file.display());
    let mut plan = shell(&line);
    plan.calls = CallSet::parse("io").unwrap();
    let (outcome, collected) = run(&plan);
    let plain = match (output.status.code(), std::os::unix::process::ExitStatusExt::signal(&output.status)) {
        (Some(status), _) => End::Exited(status),
        (None, signal) => End::Signalled(signal.unwrap()),
    };
    assert_eq!(outcome.end, plain, "{program} {words:?}");
    let printed = std::fs::read(&file).unwrap();
    assert_eq!(String::from_utf8_lossy(&printed), String::from_utf8_lossy(&output.stdout), "{program}");
    collected
}

#[test]
fn an_exec_by_a_thread_goes_on_as_the_leader() {
    notices_nothing("lives", &["exec-from-thread"]);
}

#[test]
fn a_leader_may_leave_first() {
    notices_nothing("lives", &["leader-leaves-first"]);
}

#[test]
fn vfork_and_spawn_are_followed() {
    let collected = notices_nothing("lives", &["vfork"]);
    let pids: BTreeSet<_> = collected.processes.iter().map(|process| process.pid).collect();
    assert!(pids.len() > 1);
    assert!(collected.processes.iter().skip(1).all(|process| process.ppid.is_some()));
}

#[test]
fn what_a_child_lived_and_used_before_its_first_exec_is_its_own() {
    let stage = Stage::new();
    let mut plan = scene(&stage, &["computes"]);
    plan.calls = CallSet::parse("io").unwrap();
    let (_, collected) = run(&plan);
    let child = collected
        .processes
        .iter()
        .find(|process| process.exe.as_deref().is_some_and(|exe| exe.ends_with("true")));
    let child = child.unwrap();
    let used = child.usage.user.unwrap().0 + child.usage.system.unwrap().0;
    assert!(used >= 200_000_000, "{used}");
    assert!(child.end.unwrap().0 - child.start.unwrap().0 >= 200_000_000, "{child:?}");
    let parent = collected.processes.iter().find(|process| process.pid != child.pid).unwrap();
    let first = parent.usage.user.unwrap().0 + parent.usage.system.unwrap().0;
    assert!(first < 150_000_000, "{first}");
}

#[test]
fn a_thousand_threads_are_followed() {
    let collected = notices_nothing("lives", &["threads", "1000"]);
    let threads: BTreeSet<_> = collected.events.iter().map(|row| row.tid).collect();
    assert!(threads.len() >= 1000, "{}", threads.len());
    assert!(collected.processes.iter().any(|process| process.threads >= 1001));
}

#[test]
fn deep_and_broad_families_are_followed() {
    let collected = notices_nothing("lives", &["chain", "100"]);
    assert!(collected.processes.iter().map(|process| process.pid).collect::<BTreeSet<_>>().len() > 100);
    notices_nothing("lives", &["tree", "5"]);
    notices_nothing("lives", &["orphans"]);
    notices_nothing("lives", &["ends"]);
}

#[test]
fn processes_that_are_killed_while_they_make_others_leave_nobody_waiting() {
    let stage = Stage::new();
    let (outcome, collected) = run(&scene(&stage, &["storm"]));
    assert_eq!(outcome.end, End::Exited(0));
    assert!(collected.processes.len() >= 61);
    let endless: Vec<_> = collected.processes.iter().filter(|process| process.end.is_none()).collect();
    assert!(endless.is_empty(), "all are seen to end: {endless:?}");
}

#[test]
fn queued_signals_keep_their_values_and_order() {
    notices_nothing("realtime_signals", &[]);
}

#[test]
fn faults_keep_their_addresses() {
    notices_nothing("traps", &[]);
}

#[test]
fn filters_of_the_program_do_what_they_do_without_a_recorder() {
    notices_nothing("seccomp_filters", &[]);
}

#[test]
fn what_a_process_used_is_read_at_its_end() {
    let (_, collected) = run(&shell("head -c 3000000 /dev/zero | wc -c >/dev/null"));
    for process in &collected.processes {
        assert!(process.usage.user.is_some() && process.usage.minor_faults.is_some(), "{process:?}");
        assert!(process.exe.is_some() && process.cmdline.is_some() && process.end.is_some(), "{process:?}");
    }
}

#[test]
fn pipes_have_their_names_and_files_their_paths() {
    let (_, collected) = run(&shell("cat </etc/passwd | cat >/dev/null"));
    let named = |call: &str, start: &str| {
        let rows = collected.calls(call);
        rows.iter().any(|row| row.path.as_deref().is_some_and(|path| path.starts_with(start)))
    };
    assert!(named("read", "/etc/passwd"));
    assert!(named("read", "pipe:["));
    assert!(named("write", "pipe:["));
}

#[test]
fn a_32_bit_program_is_decoded() {
    let stage = Stage::new();
    let options =
        ["-m32", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie"];
    let Some(program) = stage.try_compile("thirty_two_bits", &options) else {
        eprintln!("NOT TESTED: this compiler makes no 32-bit programs");
        return;
    };
    if Command::new(&program).status().ok().and_then(|status| status.code()) != Some(7) {
        eprintln!("NOT TESTED: this kernel runs no 32-bit programs");
        return;
    }
    let (outcome, collected) = run(&plan([program]));
    assert_eq!(outcome.end, End::Exited(7));
    let rows: Vec<_> = collected
        .events
        .iter()
        .filter(|row| row.path.as_deref() == Some("/dev/zero"))
        .map(|row| (row.call.as_str(), row.ret))
        .collect();
    let [("open", Some(fd)), ("read", Some(100)), ("close", Some(0))] = rows[..] else { panic!("{rows:?}") };
    assert!(fd >= 3);
}

#[test]
fn program_and_recorder_can_share_a_core() {
    let stage = Stage::new();
    let mut plan = scene(&stage, &["reads"]);
    let before = rustix::thread::sched_getaffinity(None).unwrap();
    for placement in [Placement::Auto, Placement::Same, Placement::Free] {
        plan.placement = placement;
        let (outcome, collected) = run(&plan);
        assert_eq!(outcome.end, End::Exited(0));
        assert!(collected.calls("read").len() >= 1000);
        assert_eq!(rustix::thread::sched_getaffinity(None).unwrap(), before, "given back");
    }
}
