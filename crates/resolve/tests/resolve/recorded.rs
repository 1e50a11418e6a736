//! What a recorder knows better: who made whom, what was there before, what lies behind a descriptor, what images used.

use crate::script::{Script, fd, open_file, path, symbols, value};
use iotrail_model::raw::{Image, OpenFile, RawItem, Return};
use iotrail_model::{FileKind, Nanos, Pid, Process, Tid, Timestamp, Usage};

const THREAD: &str = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD";
const SHELL: Image<'static> = Image {
    exe: Some(b"/bin/dash"),
    cmdline: Some(b"sh\0-c"),
    cmdline_cut: false,
    cwd: Some(b"/w"),
    env: &[b"SLURM_PROCID=3"],
};

fn rows(script: &Script, pid: u32) -> Vec<&Process> {
    script.processes().iter().filter(|process| process.pid == Pid(pid)).collect()
}

fn user(nanos: i64, memory: u64) -> Usage {
    Usage { user: Some(Nanos(nanos)), max_memory: Some(memory), ..Usage::default() }
}

#[test]
fn a_created_child_need_not_wait_for_anything() {
    let script = Script::new().fork(200).open("/a", 3).by(200).open("/b", 3);
    let script = script.by(100).entered("vfork", &[]).created(301).by(200).entered("vfork", &[]).created(302);
    let script = script.by(302).read(3, 7);
    assert_eq!(script.path(), Some("/b"));
    let script = script.by(301).read(3, 7).exec("/bin/x", "x").exited(4);
    let script = script.by(100).call("vfork", &[], value(301)).by(200).call("vfork", &[], value(302));
    let script = script.by(302).getpid().finish();
    let [before, after] = rows(&script, 301)[..] else { panic!("{:?}", script.processes()) };
    assert_eq!((before.ppid, after.ppid, after.exit_code), (Some(Pid(100)), Some(Pid(100)), Some(4)));
    assert_eq!(rows(&script, 302)[0].ppid, Some(Pid(200)));
    assert_eq!(script.summary().orphans, 0);
}

#[test]
fn a_created_thread_shares_what_the_flags_say() {
    let script =
        Script::new().entered("clone", &[iotrail_model::raw::Arg::Null, symbols(THREAD)]).created(101);
    let script = script.by(101).open("/a", 3).by(100).clone(THREAD, 101).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 100));
    assert_eq!(script.finish().processes()[0].threads, 2);
}

#[test]
fn a_sibling_has_its_creators_parent() {
    let script =
        Script::new().by(200).found(200).entered("clone", &[fd(0), symbols("CLONE_PARENT")]).created(201);
    assert_eq!(rows(&script.by(201).getpid().finish(), 201)[0].ppid, Some(Pid(1)));
}

#[test]
fn a_created_process_that_does_nothing_has_a_row_and_a_life() {
    let script = Script::new().entered("fork", &[]).created(101).fork(101).by(101).exited(7).finish();
    let [row] = rows(&script, 101)[..] else { panic!("{:?}", script.processes()) };
    assert_eq!((row.start, row.end), (Some(Timestamp(20)), Some(Timestamp(40))));
    assert_eq!((row.exit_code, row.ppid, row.threads), (Some(7), Some(Pid(100)), 1));
}

#[test]
fn a_number_given_again_is_another_process() {
    let script = Script::new().entered("fork", &[]).created(101).fork(101).by(101).open("/old", 3);
    let script = script.by(100).entered("fork", &[]).created(101).fork(101).by(101).read(3, 1).finish();
    assert_eq!(script.path(), None);
    assert_eq!(rows(&script, 101).len(), 2);
}

#[test]
fn found_threads_of_one_process_share_everything() {
    let script = Script::new().by(101).found(100).by(100).found(100).by(102).found(100);
    let script = script.by(102).working_directory("/w").looked(3, "/a", 50).by(101).read(3, 5);
    assert_eq!((script.path(), script.offset(), script.last().pid), (Some("/a"), Some(50), 100));
    let script = script.by(100).open("x", 4).by(101).read(4, 1);
    assert_eq!(script.path(), Some("/w/x"));
    let script = script.by(101).exited(0).by(102).exited(0).by(100).exited(0).finish();
    let [row] = rows(&script, 100)[..] else { panic!("{:?}", script.processes()) };
    assert_eq!((row.threads, row.ppid, row.start), (3, Some(Pid(1)), Some(Timestamp(10))));
    assert_eq!(row.cwd.as_deref(), Some("/w"));
}

#[test]
fn found_threads_with_a_table_of_their_own_have_descriptors_of_their_own() {
    let script = Script::new().by(100).found(100).by(101).found_apart(100, 101).by(102).found_apart(100, 101);
    let script = script.by(103).found(100).by(100).looked(7, "/a", 0).by(101).looked(7, "/b", 3);
    let script = script.by(102).read(7, 2);
    assert_eq!((script.path(), script.offset()), (Some("/b"), Some(3)));
    let script = script.by(103).read(7, 2);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)));
    let script = script.by(101).close(7).by(100).read(7, 2);
    assert_eq!((script.path(), script.offset(), script.last().pid), (Some("/a"), Some(2), 100));
}

#[test]
fn a_leader_that_is_gone_does_not_hide_its_process() {
    let script = Script::new().by(105).found(100).by(106).found(100).looked(3, "/a", 0).by(105).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 100));
}

#[test]
fn who_was_found_is_nobodys_early_child() {
    let script = Script::new().found(100).by(300).found(300).looked(3, "/a", 0).by(100).entered("fork", &[]);
    let script = script.by(300).read(3, 1);
    assert_eq!((script.path(), script.last().pid), (Some("/a"), 300));
}

#[test]
fn a_snapshot_knows_flags_and_positions() {
    let append = OpenFile { append: true, ..open_file("/log") };
    let hidden = OpenFile { cloexec: true, ..open_file("/secret") };
    let script = Script::new().found(100).looked_at(3, append).looked_at(4, hidden).write(3, 5);
    assert_eq!((script.path(), script.offset()), (Some("/log"), None));
    let script = script.exec("/bin/x", "x").read(4, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.read(3, 1).path(), Some("/log"));
}

#[test]
fn a_descriptor_that_others_share_has_no_known_position() {
    let shared = OpenFile { position: Some(10), followed: false, ..open_file("/log") };
    let script = Script::new().found(100).looked_at(1, shared).looked(3, "/in", 0);
    let script = script.write(1, 5);
    assert_eq!(script.offset(), None);
    let script = script.lseek(1, 5).write(1, 5);
    assert_eq!(script.offset(), None);
    assert_eq!(script.read(3, 7).read(3, 1).offset(), Some(7));
}

#[test]
fn found_descriptors_that_are_copies_of_each_other_share_their_position() {
    let script =
        Script::new().found(100).looked(1, "/log", 10).looked(2, "/log", 10).copies(2, 1).copies(7, 1);
    let script = script.write(1, 5).write(2, 5).write(1, 5);
    assert_eq!((script.path(), script.offset(), script.knows(7)), (Some("/log"), Some(20), false));
}

#[test]
fn copies_of_a_found_descriptor_share_its_position() {
    let script = Script::new().found(100).looked(3, "/in", 100).dup2(3, 5).read(3, 10).read(5, 10);
    assert_eq!(script.offset(), Some(110));
    assert_eq!(script.fork(101).by(101).read(5, 1).offset(), Some(120));
}

#[test]
fn a_received_descriptor_shares_the_cursor_of_the_one_that_was_sent() {
    let script =
        Script::new().open("/a", 3).file(3, 7, FileKind::File).read(3, 10).fork(101).by(101).close(3);
    assert!(!script.knows(9));
    let facts =
        iotrail_model::FileFacts { device: 8, inode: 7, size: None, kind: Some(FileKind::File), birth: None };
    let open = OpenFile { position: Some(10), followed: false, facts: Some(facts), ..open_file("/renamed") };
    let script = script.by(100).sent(3).by(101).looked_at(9, open).read(9, 5);
    assert_eq!((script.path(), script.offset(), script.knows(9)), (Some("/renamed"), None, true));
    assert_eq!(script.holders(8, 7), [(100, 3), (101, 9)]);
    let script = script.looked_at(8, open).arrived(8, 100, 3).read(8, 5);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(10)));
    assert_eq!(script.by(100).read(3, 1).offset(), Some(15));
}

#[test]
fn a_look_finds_a_position_that_was_lost() {
    let script = Script::new().open_with("/log", "O_RDWR|O_APPEND", 3);
    assert!(!script.has_lost(3));
    let script = script.write(3, 10);
    assert!(script.has_lost(3));
    let script = script.stands(3, 70).read(3, 5);
    assert_eq!(script.offset(), Some(70));
    let script = script.stands(3, 9).read(3, 5);
    assert_eq!(script.offset(), Some(75), "what is known is not found anew");
    let script = script.write(3, 1).fork(101).by(101).entered("read", &[fd(3)]).by(100);
    assert!(!script.has_lost(3));
    assert_eq!(script.stands(3, 9).read(3, 5).offset(), None);
}

#[test]
fn files_are_told_with_the_name_of_their_descriptor() {
    let script = Script::new().chdir("/w").open("a", 3).file(3, 7, FileKind::File).read(3, 1);
    let [(name, facts)] = script.files() else { panic!("{:?}", script.files()) };
    assert_eq!((name.as_str(), facts.inode), ("/w/a", 7));
    assert_eq!(script.offset(), Some(0));
    assert_eq!(script.dup2(3, 9).file(9, 7, FileKind::File).files().len(), 1);
    assert_eq!(Script::new().open("/tmp/fifo", 3).file(3, 7, FileKind::Pipe).read(3, 1).offset(), None);
}

#[test]
fn pipes_and_sockets_get_the_numbers_by_which_they_are_told_apart() {
    let pair = iotrail_model::raw::Arg::FdPair([(3, None), (4, None)]);
    let script = Script::new().call("pipe2", &[pair], value(0)).file(3, 77, FileKind::Pipe).read(3, 1);
    assert_eq!(script.path(), Some("pipe:[77]"));
    let script = script.file(4, 77, FileKind::Pipe).write(4, 1);
    assert_eq!((script.path(), script.files().len()), (Some("pipe:[77]"), 2));
}

#[test]
fn an_image_shows_its_real_name() {
    let script = Script::new().chdir("/w").exec("script.sh", "script.sh").image(SHELL).getpid();
    let [first, second] = script.images() else { panic!("{:?}", script.images()) };
    assert_eq!((first.exe.as_deref(), second.exe.as_deref()), (None, Some("/bin/dash")));
    assert_eq!((second.cmdline.as_deref(), second.cwd.as_deref()), (Some("sh\0-c"), Some("/w")));
    assert_eq!((second.env.as_slice(), second.end), (&["SLURM_PROCID=3".to_owned()][..], None));
    let script = script.fork(101).by(101).getpid().by(100).exited(0).finish();
    assert_eq!(
        (rows(&script, 101)[0].exe.as_deref(), rows(&script, 101)[0].env.len()),
        (Some("/bin/dash"), 1)
    );
    assert_eq!(rows(&script, 100)[1].start, script.images()[1].start);
}

#[test]
fn every_announced_image_ends_as_a_row_and_none_is_announced_twice() {
    let script = Script::new().found(100).image(SHELL).entered("vfork", &[]).created(101);
    let script = script.by(101).exec("/bin/x", "x").image(SHELL).read(0, 1).exec("/bin/y", "y").image(SHELL);
    let script =
        script.exited(0).by(100).call("vfork", &[], value(101)).exec("/bin/z", "z").getpid().finish();
    let key = |row: &Process| (row.pid, row.start);
    let mut images: Vec<_> = script.images().iter().map(key).collect();
    let mut ended: Vec<_> = script.processes().iter().map(key).collect();
    images.sort();
    ended.sort();
    assert_eq!(images, ended);
    assert_eq!(rows(&script, 101).len(), 2);
}

#[test]
fn each_image_has_what_was_used_in_it() {
    let script = Script::new().entered("fork", &[]).created(101).fork(101).by(101).getpid();
    let script = script.used(user(100, 50)).exec("/bin/x", "x").image(SHELL).used(user(130, 20)).exited(0);
    let usage: Vec<_> = rows(&script, 101).iter().map(|row| (row.usage.user, row.usage.max_memory)).collect();
    assert_eq!(usage, [(Some(Nanos(100)), Some(50)), (Some(Nanos(30)), Some(20))]);
}

#[test]
fn what_was_not_said_to_be_used_is_unknown() {
    let script = Script::new().getpid().exec("/bin/x", "x").used(user(130, 20)).exited(0);
    let usage: Vec<_> = rows(&script, 100).iter().map(|row| row.usage).collect();
    assert_eq!(usage[0], Usage::default());
    assert_eq!((usage[1].user, usage[1].max_memory), (None, Some(20)));
    let script = Script::new().found(100).exec("/bin/x", "x").image(SHELL).used(user(130, 20)).exited(0);
    assert_eq!(rows(&script, 100)[0].usage.user, Some(Nanos(130)));
    let script = Script::new().getpid().used(user(5, 5)).exec("/bin/x", "x").getpid().finish();
    assert_eq!(rows(&script, 100)[1].usage, Usage::default());
}

#[test]
fn nothing_is_learnt_about_threads_that_were_not_seen() {
    let script = Script::new().used(user(1, 1)).looked(3, "/a", 0).working_directory("/w").image(SHELL);
    let script = script.file(3, 7, FileKind::File);
    assert!(!script.knows(3));
    let script = script.finish();
    assert!(script.processes().is_empty() && script.images().is_empty() && script.files().is_empty());
}

#[test]
fn exec_by_another_thread_goes_on_as_the_process() {
    let script = Script::new().entered("clone", &[fd(0), symbols(THREAD)]).created(101).clone(THREAD, 101);
    let script = script.by(101).open("/a", 3).entered("execve", &[path("/bin/x")]);
    let at = Timestamp(1);
    let script = script.item(&RawItem::Superseded { tid: Tid(100), by: Tid(101), at });
    let script =
        script.by(100).used(user(9, 9)).exec("/bin/x", "x").image(SHELL).read(3, 1).exited(0).finish();
    let [old, new] = rows(&script, 100)[..] else { panic!("{:?}", script.processes()) };
    assert_eq!(
        (old.usage.user, new.exe.as_deref(), new.exit_code),
        (Some(Nanos(9)), Some("/bin/dash"), Some(0))
    );
    assert_eq!(script.path(), Some("/a"));
}

#[test]
fn calls_on_descriptors_without_a_name_are_counted() {
    let failed = Return::Failed(b"EBADF");
    let script = Script::new().read(7, 1).call("read", &[fd(8)], failed).open("/a", 3).read(3, 1);
    assert_eq!(script.summary().unknown_descriptors, 1);
}
