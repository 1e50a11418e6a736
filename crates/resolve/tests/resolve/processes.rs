//! Threads and processes come and go.

use crate::script::{CWD, ENOENT, Script, fd, path, symbols, value};
use iotrail_model::raw::{Arg, RawItem, Return};
use iotrail_model::{CaseId, Pid, Process, Tid, Timestamp};

const THREAD: &str = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD";

fn row(script: &Script, pid: u32) -> Process {
    script.processes().iter().rfind(|process| process.pid == Pid(pid)).cloned().unwrap_or_default()
}

#[test]
fn a_child_has_a_copy_of_its_parents_descriptors() {
    let script = Script::new().open("/a", 3).fork(101).close(3).by(101).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 101));
    let script = script.open("/b", 4).by(100).read(4, 1);
    assert_eq!(script.path(), None);
}

#[test]
fn a_thread_shares_its_process_s_descriptors_and_directory() {
    let script = Script::new().clone(THREAD, 101).by(101).open("/a", 3).chdir("/w").by(100).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    let script = script.open("x", 4);
    assert_eq!((script.path(), script.last().pid), (Some("/w/x"), 100));
    let script = script.by(101).read(4, 1);
    assert_eq!((script.last().pid, script.last().tid), (100, 101));
}

#[test]
fn clone_shares_what_its_flags_say() {
    let script = Script::new().clone("CLONE_FILES|SIGCHLD", 101).by(101).open("/a", 3).chdir("/w");
    let script = script.by(100).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 100));
    assert_eq!(script.open("x", 4).path(), Some("x"));
    let flags = [Arg::Text(b"{flags=CLONE_VM|CLONE_FS, exit_signal=SIGCHLD}"), Arg::Int(88)];
    let script = Script::new().call("clone3", &flags, value(101)).by(101).chdir("/w").by(100).open("x", 3);
    assert_eq!(script.path(), Some("/w/x"));
}

#[test]
fn vfork_copies_descriptors() {
    let script = Script::new().open("/a", 3).entered("vfork", &[]).by(101).close(3).exec("/bin/x", "x");
    let script = script.by(100).call("vfork", &[], value(101)).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(row(&script.finish(), 101).ppid, Some(Pid(100)));
}

#[test]
fn a_child_may_speak_before_its_parent_returns() {
    let script = Script::new().open("/a", 3).entered("clone", &[Arg::Null, symbols(THREAD)]);
    let script = script.by(101).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 100));
    let script = script.by(100).clone(THREAD, 101).finish();
    assert_eq!(script.processes().len(), 1);
    assert_eq!(script.processes()[0].threads, 2);
}

#[test]
fn one_of_several_children_waits_until_its_parent_is_known() {
    let script = Script::new().fork(200).open("/a", 3).by(200).open("/b", 3);
    let script = script.by(100).entered("fork", &[]).by(200).entered("fork", &[]);
    let script = script.by(301).read(3, 7);
    assert_eq!(script.events().len(), 3);
    let script = script.by(100).fork(300).by(301);
    let waited = script.events().iter().rfind(|event| event.tid == 301).unwrap();
    assert_eq!((waited.path.as_deref(), waited.size), (Some("/b"), Some(7)));
    assert_eq!(script.summary().orphans, 0);
    assert_eq!(row(&script.finish(), 301).ppid, Some(Pid(200)));
}

#[test]
fn a_thread_that_nobody_claims_is_an_orphan() {
    let script = Script::new().by(200).open("/b", 3);
    let mut script = script.by(100).entered("fork", &[]).by(200).entered("fork", &[]).by(301);
    for _ in 0..10_100 {
        script = script.call("read", &[fd(3)], value(1));
    }
    assert_eq!(script.summary().orphans, 1);
    assert_eq!(script.events().len(), 10_101);
    assert_eq!(script.last().path, None);
}

#[test]
fn nothing_that_waits_is_lost_at_the_end() {
    let script = Script::new().entered("fork", &[]).by(200).getpid().entered("fork", &[]);
    let script = script.by(301).read(3, 7).exited(2).finish();
    assert_eq!(script.last().tid, 301);
    assert_eq!(row(&script, 301).exit_code, Some(2));
}

#[test]
fn a_failed_fork_makes_nobody() {
    let script = Script::new().open("/a", 3).entered("fork", &[]);
    let script = script.call("fork", &[], Return::Failed(b"EAGAIN")).by(101).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (None, 101));
}

#[test]
fn an_unannounced_child_is_adopted_when_its_parent_returns() {
    let script = Script::new().chdir("/w").open("/a", 3).case(0);
    let child = script.by(101).read(3, 1).lasting(100);
    // The parent's call began before the child's first.
    let call = iotrail_model::raw::RawCall {
        tid: Tid(100),
        layer: iotrail_model::Layer::Syscall,
        call: iotrail_model::CallId(child.names.calls.find(b"fork").unwrap()),
        start: Timestamp(25),
        dur: None,
        ret: value(101),
        args: &[],
    };
    let script = child.item(&RawItem::Call(call)).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.open("x", 5).path(), Some("/w/x"));
}

#[test]
fn exec_closes_what_is_marked_and_starts_an_image() {
    let script = Script::new()
        .chdir("/w")
        .open_with("/a", "O_RDONLY|O_CLOEXEC", 3)
        .open("/b", 4)
        .call("fcntl", &[fd(4), symbols("F_SETFD"), symbols("FD_CLOEXEC")], value(0))
        .open("/c", 5)
        .read(5, 10)
        .exec("bin/tool", "tool\0-v")
        .read(3, 1)
        .read(4, 1)
        .read(5, 1);
    let paths: Vec<_> = script.events()[7..].iter().map(|event| event.path.as_deref()).collect();
    assert_eq!(paths, [None, None, Some("/c")]);
    assert_eq!(script.offset(), Some(10));
    let script = script.exited(0).finish();
    let [shell, tool] = script.processes() else { panic!("{:?}", script.processes()) };
    assert_eq!((shell.exe.as_deref(), shell.bytes_read, shell.exit_code), (None, 10, None));
    assert_eq!((tool.exe.as_deref(), tool.cmdline.as_deref()), (Some("/w/bin/tool"), Some("tool\0-v")));
    assert_eq!((tool.cwd.as_deref(), tool.bytes_read, tool.exit_code), (Some("/w"), 3, Some(0)));
    assert_eq!((shell.end, tool.start), (Some(Timestamp(70)), Some(Timestamp(70))));
}

#[test]
fn an_image_that_did_nothing_is_no_row() {
    let script = Script::new().exec("/bin/sh", "sh").fork(101).by(101).exec("/bin/ls", "ls").finish();
    let exes: Vec<_> = script.processes().iter().map(|process| process.exe.as_deref()).collect();
    assert_eq!(exes, [Some("/bin/sh"), Some("/bin/ls")]);
}

#[test]
fn a_program_that_only_begins_another_one_is_a_row() {
    let script =
        Script::new().exec("/bin/nice", "nice\0env\0ls").exec("/bin/env", "env\0ls").exec("/bin/ls", "ls");
    let script = script.exited(0).finish();
    let rows: Vec<_> =
        script.processes().iter().map(|process| (process.exe.as_deref(), process.start)).collect();
    let at = |time| Some(Timestamp(time));
    assert_eq!(rows, [(Some("/bin/nice"), at(10)), (Some("/bin/env"), at(20)), (Some("/bin/ls"), at(30))]);
    let ends: Vec<_> = script.processes()[..2].iter().map(|process| process.end).collect();
    assert_eq!(ends, [at(20), at(30)]);
}

#[test]
fn a_failed_exec_changes_nothing() {
    let script =
        Script::new().open_with("/a", "O_CLOEXEC", 3).call("execve", &[path("/no")], ENOENT).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
}

#[test]
fn a_forked_child_runs_its_parents_program() {
    let script = Script::new().exec("/bin/sh", "sh\0-c").fork(101).by(101).getpid().finish();
    assert_eq!(row(&script, 101).exe.as_deref(), Some("/bin/sh"));
    assert_eq!(row(&script, 101).cmdline.as_deref(), Some("sh\0-c"));
}

#[test]
fn an_exec_by_another_thread_takes_the_leaders_place() {
    let script = Script::new().clone(THREAD, 101).by(101).open_with("/a", "O_CLOEXEC", 3).open("/b", 4);
    let script = script.entered("execve", &[path("/bin/x")]);
    let script = script.item(&RawItem::Superseded { tid: Tid(100), by: Tid(101), at: Timestamp(60) });
    let script = script.by(100).exec("/bin/x", "x").read(4, 1);
    assert_eq!((script.path(), script.last().pid, script.last().tid), (Some("/b"), 100, 100));
    assert_eq!(script.read(3, 1).exited(4).finish().processes().len(), 2);
}

#[test]
fn an_exec_by_a_thread_that_nobody_saw_being_made_is_one_of_its_process() {
    let script = Script::new().exec("/bin/main", "main").by(101).entered("execve", &[path("/bin/x")]);
    let script = script.item(&RawItem::Superseded { tid: Tid(100), by: Tid(101), at: Timestamp(60) });
    let script = script.by(100).exec("/bin/x", "x").exited(4).finish();
    let rows: Vec<_> =
        script.processes().iter().map(|row| (row.pid.0, row.exe.as_deref(), row.exit_code)).collect();
    assert_eq!(rows, [(100, Some("/bin/main"), None), (100, Some("/bin/x"), Some(4))]);
}

#[test]
fn a_process_ends_with_its_leader() {
    let script = Script::new().clone(THREAD, 101).by(101).getpid().by(100).exit_group(3).exited(3);
    assert_eq!(script.processes().len(), 1);
    assert_eq!((script.processes()[0].exit_code, script.processes()[0].threads), (Some(3), 2));
    let script = script.by(101).call("read", &[fd(0)], Return::Unseen);
    assert_eq!((script.last().pid, script.last().tid), (100, 101));
    assert_eq!(script.exited(3).finish().processes().len(), 1);
}

#[test]
fn a_thread_ends_alone() {
    let script = Script::new().clone(THREAD, 101).by(101).getpid().exited(0).by(100).getpid();
    assert!(script.processes().is_empty());
    assert_eq!(script.exited(1).processes()[0].exit_code, Some(1));
}

#[test]
fn a_killed_process_has_a_signal_and_no_code() {
    let script = Script::new().getpid();
    let script = script.item(&RawItem::Killed { tid: Tid(100), at: Timestamp(99), signal: b"SIGKILL" });
    let process = &script.processes()[0];
    assert_eq!((process.exit_code, process.signal.as_deref()), (None, Some("SIGKILL")));
    assert_eq!((process.start, process.end), (Some(Timestamp(10)), Some(Timestamp(99))));
}

#[test]
fn what_was_not_seen_to_end_has_no_end() {
    let script = Script::new().getpid().finish();
    assert_eq!((script.processes()[0].end, script.processes()[0].exit_code), (None, None));
    let script = Script::new().getpid().exit_group(256 + 7).finish();
    assert_eq!((script.processes()[0].end, script.processes()[0].exit_code), (Some(Timestamp(20)), Some(7)));
}

#[test]
fn a_number_used_again_is_another_process() {
    let script = Script::new().open("/a", 3).exited(0).read(3, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.finish().processes().len(), 2);
}

#[test]
fn a_child_with_the_number_of_somebody_thought_alive_replaces_it() {
    let script = Script::new().fork(101).by(101).open("/old", 3).by(100).open("/a", 4).fork(101);
    let script = script.by(101).read(3, 1);
    assert_eq!(script.path(), None);
    let script = script.read(4, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.finish().processes().len(), 3);
}

#[test]
fn children_that_are_not_in_the_trace_are_no_rows() {
    let script = Script::new().fork(101).call("wait4", &[Arg::Int(-1)], value(101)).finish();
    assert_eq!(script.processes().len(), 1);
    assert_eq!(script.summary().threads, 1);
}

#[test]
fn a_child_inherits_although_the_wait_for_it_is_read_first() {
    // Among the files of one trace, a wait stands where it began.
    let script = Script::new().open("/a", 3).fork(101).call("wait4", &[Arg::Int(-1)], value(101));
    let script = script.case(7).by(101).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    let script = script.exited(3).finish();
    let child = script.processes().iter().find(|row| row.pid.0 == 101).expect("the child");
    assert_eq!((child.ppid.map(|pid| pid.0), child.exit_code), (Some(100), Some(3)));
}

#[test]
fn of_children_that_never_speak_only_the_latest_are_remembered() {
    let mut script = Script::new().open("/a", 3);
    for child in 1000..6000 {
        script = script.fork(child).call("wait4", &[Arg::Int(-1)], value(child.into()));
    }
    let script = script.by(1000).read(3, 1);
    assert_eq!(script.path(), None);
    let script = script.by(5999).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.finish().processes().len(), 3);
}

#[test]
fn unsharing_ends_the_sharing() {
    let unshared = [symbols("CLONE_FILES|CLONE_FS")];
    let script = Script::new().clone(THREAD, 101).by(101).call("unshare", &unshared, value(0));
    let script = script.open("/a", 3).chdir("/w").by(100).read(3, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.open("x", 4).path(), Some("x"));
}

#[test]
fn absolute_paths_begin_at_the_root_that_a_process_has() {
    let script = Script::new().of_trace().chdir("/w").open("jail/f", 3);
    let file = script.last().file;
    let script = script.call("chroot", &[path("jail")], value(0)).open("/f", 4);
    assert_eq!((script.path(), script.last().file), (Some("/w/jail/f"), file));
    assert_eq!(script.summary().changed_roots, 0);
    // The working directory stays, `..` does not leave the root, and a child has the same one.
    let script = script.open("g", 5);
    assert_eq!(script.path(), Some("/w/g"));
    let script = script.open("/../../h", 6);
    assert_eq!(script.path(), Some("/w/jail/h"));
    let script = script.fork(101).by(101).chdir("/d").open("i", 7);
    assert_eq!(script.path(), Some("/w/jail/d/i"));
    let script = script.open("../../i", 7);
    assert_eq!(script.path(), Some("/w/jail/i"));
    // Another one below it.
    let script = script.call("chroot", &[path("/d")], value(0)).open("/j", 8);
    assert_eq!(script.path(), Some("/w/jail/d/j"));
    assert_eq!(script.by(100).open("/k", 9).path(), Some("/w/jail/k"));
}

#[test]
fn a_root_that_is_not_known_is_noted() {
    let script = Script::new().call("pivot_root", &[path("/jail"), path("/jail/old")], value(0));
    assert_eq!(script.summary().changed_roots, 1);
    assert_eq!(script.open("/f", 3).path(), Some("/f"));
}

#[test]
fn seq_counts_per_case_and_files_of_one_trace_share_processes() {
    let script = Script::new().open("/a", 3).fork(101).case(7).by(101).read(3, 1);
    assert_eq!((script.path(), script.last().seq), (Some("/a"), 0));
    let script = script.case(0).by(100).read(3, 1);
    assert_eq!(script.last().seq, 2);
    let cases: Vec<_> = script.summary().cases.iter().map(|case| (case.case, case.events)).collect();
    assert_eq!(cases, [(CaseId(0), 3), (CaseId(7), 1)]);
    assert_eq!(row(&script.finish(), 101).case, CaseId(7));
}

/// `tid call` in the order of `seq`.
fn by_seq(script: &Script) -> Vec<String> {
    let mut events: Vec<_> = script.events().iter().collect();
    events.sort_by_key(|event| event.seq);
    events.iter().map(|event| format!("{} {}", event.tid, event.call)).collect()
}

#[test]
fn seq_is_the_order_in_which_calls_began() {
    let script = Script::new().standing_still().clone(THREAD, 101).entered("read", &[fd(0)]);
    let script = script.by(101).getpid().write(1, 1).by(100).read(0, 1).getpid();
    let order = ["100 clone", "100 read", "101 getpid", "101 write", "100 getpid"];
    assert_eq!(by_seq(&script), order);
    assert!(script.events().iter().map(|event| event.seq).max() == Some(4), "no number is left out");
}

#[test]
fn what_waited_for_its_parent_keeps_its_place_in_the_order() {
    let script = Script::new().standing_still().fork(200).by(200).getpid();
    let script = script.by(100).entered("fork", &[]).by(200).entered("fork", &[]);
    let script = script.by(301).read(3, 7).by(200).fork(300).by(100).fork(301).getpid();
    let order = ["100 fork", "200 getpid", "100 fork", "200 fork", "301 read", "100 getpid"];
    assert_eq!(by_seq(&script), order);
    assert_eq!(row(&script.finish(), 301).ppid, Some(Pid(100)));
}

#[test]
fn where_each_thread_has_a_file_a_wait_read_early_makes_nobody_new() {
    // The wait begins between the child's exit_group and the notice of its end.
    let script = Script::with_a_file_per_thread().getpid().fork(101).case(7).by(101).read(3, 1).exit_group(3);
    let script = script.case(0).by(100).call("wait4", &[Arg::Int(-1)], value(101)).getpid();
    let script = script.case(7).by(101).exited(3).over().case(0).by(100).exited(0).over().finish();
    assert_eq!(script.processes().len(), 2);
    assert_eq!((row(&script, 101).exit_code, row(&script, 101).end), (Some(3), Some(Timestamp(70))));
}

#[test]
fn where_each_thread_has_a_file_the_end_of_the_leader_may_be_read_before_its_threads() {
    let script = Script::with_a_file_per_thread().standing_still().clone(THREAD, 101).exit_group(3).exited(3);
    let script = script.over().case(7).by(101).read(3, 5);
    assert_eq!(script.last().pid, 100);
    assert!(script.processes().is_empty());
    let script = script.exited(3).over();
    let [process] = script.processes() else { panic!("{:?}", script.processes()) };
    assert_eq!((process.exit_code, process.threads, process.bytes_read), (Some(3), 2, 5));
}

#[test]
fn where_each_thread_has_a_file_it_ends_what_never_said_so() {
    let script = Script::with_a_file_per_thread().fork(101).case(7).by(101).read(3, 1).over();
    assert_eq!((script.processes().len(), script.processes()[0].end), (1, None));
    assert_eq!(script.case(0).by(100).getpid().over().processes().len(), 2);
}

#[test]
fn a_waited_for_number_is_free_again_although_no_end_was_printed() {
    let mut script = Script::new();
    for round in 1..=10_u32 {
        script = script.by(100).entered("fork", &[]).by(101).getpid().by(100).fork(101);
        script = script.by(101).exit_group(i64::from(round)).by(100);
        script = script.call("wait4", &[Arg::Int(-1)], value(101));
    }
    let script = script.finish();
    let codes: Vec<_> = script.processes().iter().filter_map(|process| process.exit_code).collect();
    assert_eq!(codes, (1..=10).collect::<Vec<_>>());
    assert!(
        script.processes().iter().all(|process| process.pid == Pid(100) || process.ppid == Some(Pid(100)))
    );
}

#[test]
fn many_creations_in_flight_and_many_that_wait_cost_the_same_each() {
    let mut script = Script::new().getpid();
    for parent in 1000..31_000 {
        script = script.by(parent).entered("fork", &[]);
    }
    for child in 50_000..80_000 {
        script = script.by(child).getpid();
    }
    for parent in 1000..31_000 {
        script = script.by(parent).fork(parent + 49_000);
    }
    assert_eq!(script.events().len(), 60_001);
}

#[test]
fn a_parent_that_waits_is_not_concurrent() {
    let script = Script::new().getpid().entered("fork", &[]).by(101).exec("/bin/ls", "ls");
    let script =
        script.by(100).fork(101).entered("wait4", &[Arg::Int(-1)]).by(101).open("/a", 3).exit_group(0);
    let script = script.exited(0).by(100).call("wait4", &[Arg::Int(-1)], value(101)).getpid();
    assert!(!script.interleaved());
}

#[test]
fn a_parent_that_goes_on_beside_its_child_is_concurrent() {
    let script = Script::new().fork(101).by(101).getpid().by(100).open("/a", 3).by(101).getpid();
    assert!(script.interleaved());
}

#[test]
fn a_parent_blocked_in_a_read_is_not_concurrent() {
    let script = Script::new().fork(101).entered("read", &[fd(3)]).by(101).write(4, 1);
    let script = script.by(100).read(3, 1).by(101).exit_group(0).exited(0).by(100).getpid();
    assert!(!script.interleaved());
}

#[test]
fn threads_of_one_process_are_not_concurrent_processes() {
    let script = Script::new().clone(THREAD, 101).by(101).getpid().by(100).getpid().by(101).getpid();
    assert!(!script.interleaved());
}

#[test]
fn memory_is_bounded_by_what_is_alive() {
    let mut script = Script::new().open("/a", 3);
    for child in 0..20_000 {
        let child = 1000 + child;
        script = script.fork(child).by(child).call("openat", &[CWD, path("/b")], value(4)).exited(0).by(100);
    }
    assert!(script.summary().threads == 20_001);
    assert_eq!(script.finish().processes().len(), 20_001);
}

#[test]
fn of_a_trace_a_process_lives_from_the_call_that_made_it() {
    let born = |script: Script| {
        let script = script.finish();
        script.processes().iter().find(|process| process.pid == Pid(200)).unwrap().start
    };
    let start = || Script::new().of_trace().getpid();
    let script = start().fork(200);
    let made = Timestamp(script.now());
    assert_eq!(born(script.getpid().by(200).getpid()), Some(made));
    let script = start().entered("fork", &[]);
    let (at, made) = (script.now(), Timestamp(script.now()));
    let script = script.by(200).getpid().by(100).returned(at, "fork", &[], value(200));
    assert_eq!(born(script), Some(made), "it was seen before the call returned");
    let script = start().entered("fork", &[]).created(200);
    let told = Timestamp(script.now());
    assert_eq!(born(script.by(200).getpid()), Some(told), "who recorded it tells better");
    let script = Script::new().getpid().fork(200).by(200).getpid();
    let seen = Timestamp(script.now());
    assert_eq!(born(script), Some(seen), "of a recording its first sign of life is told");
}

#[test]
fn in_a_pid_namespace_a_child_is_who_appears_next() {
    let script = Script::new().of_trace().open("/a", 3).write(3, 5);
    let open = script.last().open;
    let script = script.call("unshare", &[symbols("CLONE_NEWPID")], value(0)).fork(200);
    let script = script.by(200).call("fork", &[], value(2)).by(300).write(3, 4);
    assert_eq!(script.last().open, open);
    let script = script.by(200).call("wait4", &[Arg::Int(-1)], value(200)).write(3, 1);
    assert_eq!(script.last().open, open, "it is not 200 that is waited for");
    let script = script.by(300).call("clone", &[Arg::Null, symbols("SIGCHLD")], value(3)).by(400).write(3, 1);
    assert_eq!(script.last().open, open);
    assert_eq!(row(&script.finish(), 400).ppid, Some(Pid(300)));
}
