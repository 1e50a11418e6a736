//! What managers do besides executing commands.

use super::*;

/// The commands of each job, words with blanks between.
fn lines(jobs: &Jobs) -> Vec<String> {
    let line = |command: &Command| {
        let words: Vec<_> = command.argv.iter().map(|word| String::from_utf8_lossy(word)).collect();
        words.join(" ")
    };
    jobs.jobs.iter().map(|job| job.commands().into_iter().map(line).collect::<Vec<_>>().join("; ")).collect()
}

fn needs(jobs: &Jobs) -> Vec<Vec<u32>> {
    jobs.jobs.iter().map(|job| job.needs.iter().map(|needed| needed.0).collect()).collect()
}

fn sentences(jobs: &Jobs) -> Vec<String> {
    jobs.issues.iter().map(Issue::message).collect()
}

/// A call that failed because there is no such name.
fn missed(recording: &mut Recording, pid: u32, call: &str, path: &str) {
    recording.now += 10;
    let event = Event {
        seq: recording.now as u64,
        pid: Pid(pid),
        tid: Tid(pid),
        call: recording.log.call(call),
        start: Timestamp(recording.now),
        path: recording.log.path(path),
        ret: Nullable::some(-1),
        errno: recording.log.errno("ENOENT"),
        ..Event::default()
    };
    recording.log.push(event);
}

#[test]
fn a_pipe_that_an_exec_closes_is_held_by_those_that_copied_it() {
    let mut recording = Recording::new();
    recording.call(1, "pipe2", Some(3), "pipe:[7]", 0, "O_CLOEXEC");
    recording.start(2, "sort\0in", |recording| recording.call(2, "dup2", Some(1), "pipe:[7]", 1, ""));
    recording.moved(2, "write", Some(1), "pipe:[7]", 4, "", Some(4));
    recording.start(3, "uniq", |recording| recording.call(3, "dup2", Some(0), "pipe:[7]", 0, ""));
    recording.moved(3, "read", Some(0), "pipe:[7]", 4, "", Some(4));
    recording.write(3, "/w/out");
    let jobs = recording.jobs();
    assert_eq!((jobs.jobs.len(), &*jobs.jobs[0].name), (1, "sort|uniq"), "{:?}", jobs.issues);
    assert_eq!(jobs.issues, []);
}

#[test]
fn a_pair_of_sockets_is_not_the_standard_input_of_the_recording() {
    let mut recording = Recording::new();
    recording.call(1, "socketpair", Some(3), "socket:[8]", 0, "AF_UNIX|SOCK_STREAM|SOCK_CLOEXEC");
    recording.start(2, "cat", |recording| recording.call(2, "dup2", Some(0), "socket:[8]", 0, ""));
    recording.moved(2, "read", Some(0), "socket:[8]", 4, "", Some(4));
    let jobs = recording.jobs();
    let reads = |issue: &Issue| matches!(issue, Issue::ReadsOutside { .. });
    assert!(!jobs.issues.iter().any(reads), "{:?}", jobs.issues);
}

/// A process with number 1 that is a script, asks `version` and executes `python3` in its place, with other variables.
fn shim(writes: bool) -> Jobs {
    let mut recording = Recording {
        log: MemoryLog::new(vec![Case::default()]),
        now: 0,
        file: Nullable::NULL,
        open: Nullable::NULL,
        target: Nullable::NULL,
    };
    let digest = |digest: u8| vec![format!("IOTRAIL_ENVIRONMENT={digest}")];
    let mut image = |pid: u32, line: &str, (start, end): (i64, i64), env: u8| {
        recording.log.push_process(Process {
            pid: Pid(pid),
            ppid: (pid > 1).then_some(Pid(1)),
            start: Some(Timestamp(start)),
            end: Some(Timestamp(end)),
            exit_code: (pid > 1).then_some(0),
            exe: Some(format!("/bin/{}", line.split('\0').next().unwrap())),
            cmdline: Some(line.to_owned()),
            cwd: Some("/w".to_owned()),
            env: digest(env),
            ..Process::default()
        });
    };
    image(1, "sh\0shim", (0, 100), 1);
    image(1, "python3\0p.py", (100, 9_000), 2);
    image(2, "version", (21, 90), 1);
    image(3, "sort\0in", (121, 900), 2);
    image(4, "cp\0a\0b", (1_001, 2_000), 2);
    recording.call(1, "execve", None, "/bin/sh", 0, "");
    recording.call(1, "fork", None, "", 2, "");
    recording.now = 25;
    recording.call(2, "execve", None, "/bin/version", 0, "");
    if writes {
        recording.write(2, "/w/cache");
    }
    recording.now = 90;
    recording.call(1, "execve", None, "/bin/python3", 0, "");
    recording.now = 110;
    recording.call(1, "fork", None, "", 3, "");
    recording.call(3, "execve", None, "/bin/sort", 0, "");
    recording.write(3, "/w/a");
    recording.now = 990;
    recording.call(1, "fork", None, "", 4, "");
    recording.call(4, "execve", None, "/bin/cp", 0, "");
    recording.read(4, "/w/a");
    recording.write(4, "/w/b");
    recording.jobs()
}

#[test]
fn a_script_that_only_finds_a_program_and_executes_it_in_its_place_is_passed_over() {
    let jobs = shim(false);
    assert_eq!(lines(&jobs), ["sort in", "cp a b"], "{:?}", jobs.issues);
    assert_eq!(needs(&jobs), [vec![], vec![0]]);
    let said = sentences(&jobs);
    assert!(
        said.iter().any(|why| why.contains("python3 was started with environment variables")),
        "{said:?}"
    );
    assert_eq!(lines(&shim(true)), ["sh shim"]);
}

#[test]
fn what_a_manager_does_with_directories_is_done_again_where_it_matters() {
    let mut recording = Recording::new();
    // The kernel does not heed that the group shall be inherited.
    recording.call(1, "mkdir", None, "/w/usual", 0, "0x5ff");
    recording.start(2, "ls", |_| {});
    recording.call(2, "getdents64", Some(3), "/w", 8, "");
    recording.now += 2_000;
    recording.call(1, "mkdir", None, "/w/late", 0, "0x1ff");
    recording.call(1, "mkdir", None, "/w/late/own", 0, "0x1e8");
    recording.start(3, "sort", |recording| recording.redirect(3, 1, "/w/late/own/a", MAKE));
    recording.moved(3, "write", Some(1), "/w/late/own/a", 4, "", Some(4));
    recording.now += 2_000;
    recording.call(1, "unlink", None, "/w/late/own/a", 0, "");
    recording.call(1, "rmdir", None, "/w/late/own", 0, "");
    let jobs = recording.jobs();
    let made = "mkdir -p late; mkdir -p -m 750 late/own";
    assert_eq!(lines(&jobs), ["ls", made, "sort", "rm -f late/own/a; rmdir late/own"]);
    assert_eq!(needs(&jobs), [vec![], vec![0], vec![1], vec![1, 2]]);
    assert_eq!((&*jobs.directories, &jobs.issues), ([Arc::from("/w/usual")].as_slice(), &Vec::new()));
}

#[test]
fn a_directory_of_unknown_permissions_is_remarked() {
    let mut recording = Recording::new();
    recording.call(1, "mkdir", None, "/w/out", 0, "");
    recording.start(2, "sort", |recording| recording.redirect(2, 1, "/w/out/a", MAKE));
    let jobs = recording.jobs();
    assert_eq!(jobs.issues, [Issue::ManagerMade { paths: vec![Arc::from("/w/out")] }]);
}

#[test]
fn an_empty_file_new_permissions_and_a_removal_of_a_manager_are_jobs() {
    let mut recording = Recording::new();
    recording.start(2, "sort", |recording| recording.redirect(2, 1, "/w/a", MAKE));
    recording.moved(2, "write", Some(1), "/w/a", 4, "", Some(4));
    recording.now += 2_000;
    recording.call(1, "openat", Some(4), "/w/done", 4, MAKE);
    recording.call(1, "close", Some(4), "/w/done", 0, "");
    recording.call(1, "fchmodat", None, "/w/a", 0, "0x8124");
    recording.start(3, "cp\0a\0b", |_| {});
    recording.read(3, "/w/a");
    recording.write(3, "/w/b");
    recording.now += 2_000;
    recording.call(1, "unlink", None, "/w/a", 0, "");
    let jobs = recording.jobs();
    assert_eq!(lines(&jobs), ["sort", ":; chmod 444 a", "cp a b", "rm -f a"], "{:?}", jobs.issues);
    assert_eq!(needs(&jobs), [vec![], vec![0], vec![1], vec![1, 2]]);
    assert_eq!(paths(&jobs.jobs[1].outputs), ["/w/a", "/w/done"]);
    let redirect = Redirect { fd: 1, target: Target::Write(Arc::from("/w/done")) };
    assert_eq!(jobs.jobs[1].commands()[0].redirects, [redirect]);
    assert!(jobs.jobs.iter().all(|job| job.start.is_some() && job.end.is_some()));
}

#[test]
fn a_file_that_a_manager_hands_on_is_not_an_empty_one() {
    let mut recording = Recording::new();
    recording.redirect(1, 5, "/w/out", MAKE);
    recording.start(2, "sort", |_| {});
    recording.start(3, "cat", |_| {});
    let jobs = recording.jobs();
    assert!(!lines(&jobs).iter().any(|line| line.contains(':')), "{:?}", lines(&jobs));
}

#[test]
fn who_missed_a_name_in_a_directory_comes_before_who_makes_the_directory() {
    for call in ["openat", "newfstatat", "chmod", "symlink", "truncate"] {
        let mut recording = Recording::new();
        recording.start(2, "look\0d/x", |_| {});
        missed(&mut recording, 2, call, "/w/d/x");
        recording.now += 2_000;
        recording.start(3, "mkdir\0d", |_| {});
        recording.call(3, "mkdir", None, "/w/d", 0, "0x1ff");
        assert_eq!(needs(&recording.jobs()), [vec![], vec![0]], "{call}");
    }
}

#[test]
fn the_umask_of_the_recording_is_known_where_a_call_tells_it() {
    let started = |before: i64| {
        let mut recording = Recording::new();
        umask(&mut recording, "0x17", before);
        recording.start(2, "sort", |_| {});
        recording.start(3, "cp", |_| {});
        recording.jobs().umask
    };
    assert_eq!((started(0o77), started(0o22)), (Some(0o77), None));
}

#[test]
fn all_that_a_manager_did_to_files_of_the_workflow_is_told_by_kind() {
    let mut recording = Recording::new();
    recording.start(2, "sort", |_| {});
    recording.start(3, "cp", |_| {});
    for name in ["a", "b", "c", "d"] {
        recording.write(1, &format!("/w/{name}"));
    }
    recording.write(1, "/w/.snakemake/own");
    recording.call(1, "kill", None, "", 0, "SIGTERM");
    let said = sentences(&recording.jobs_told_apart());
    let wanted = "it wrote /w/a, /w/b, /w/c and 1 more itself";
    assert!(said.iter().any(|why| why.contains(wanted)), "{said:?}");
    assert!(said.iter().any(|why| why.contains("sent a signal")), "{said:?}");
    assert!(!said.iter().any(|why| why.contains("/w/.snakemake")), "{said:?}");
}

#[test]
fn many_names_that_a_manager_removes_are_few_commands_and_no_line_is_too_long() {
    let mut recording = Recording::new();
    recording.start(2, "unpack", |_| {});
    recording.start(3, "list", |_| {});
    recording.now += 3_000;
    for number in 0..9_000 {
        recording.call(1, "unlink", None, &format!("/w/directory/name{number}"), 0, "");
    }
    let jobs = recording.jobs();
    let removals = &jobs.jobs[2..];
    assert!(removals.iter().all(|job| job.commands().len() == 1 && job.commands()[0].argv.len() > 50));
    let names: usize = removals.iter().map(|job| job.commands()[0].argv.len() - 2).sum();
    let longest = lines(&jobs).iter().map(String::len).max();
    assert!(names == 9_000 && longest < Some(20_000) && removals.len() < 20, "{names} {longest:?}");
}

#[test]
fn a_temporary_file_that_a_manager_makes_is_its_owners() {
    let mut recording = Recording::new();
    recording.call(1, "openat", Some(4), "/w/tmp1", 4, "O_RDWR|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC");
    recording.call(1, "close", Some(4), "/w/tmp1", 0, "");
    recording.start(2, "sort\0-o\0tmp1", |_| {});
    recording.write(2, "/w/tmp1");
    let jobs = recording.jobs();
    assert_eq!(lines(&jobs), ["install -m 600 /dev/null tmp1", "sort -o tmp1"]);
}

#[test]
fn a_file_that_is_opened_twice_is_told_apart_by_its_open_file_descriptions() {
    let jobs = |numbered: bool| {
        let mut recording = Recording::new();
        let opens = [3, 4].map(|fd: i32| (fd, numbered.then_some(fd.cast_unsigned())));
        for (fd, open) in opens {
            recording.of_open(open);
            recording.call(1, "openat", Some(fd), "/w/in", i64::from(fd), "O_RDONLY");
        }
        for (pid, (_, open)) in (2..).zip(opens) {
            recording.of_open(None);
            recording.start(pid, "cat", |recording| {
                recording.of_open(open);
                recording.call(pid, "dup2", Some(0), "/w/in", 0, "");
                recording.of_open(None);
                recording.redirect(pid, 1, &format!("/w/{pid}"), MAKE);
            });
            recording.of_open(open);
            recording.moved(pid, "read", Some(0), "/w/in", 4, "", Some(4));
        }
        recording.jobs()
    };
    assert_eq!((jobs(true).jobs.len(), jobs(true).issues), (2, vec![]));
    assert!(
        sentences(&jobs(false)).iter().any(|why| why.contains("which of them a command got is not known"))
    );
}
