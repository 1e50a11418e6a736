//! Small recordings by hand.

use super::*;
use iotrail_model::{
    Case, Coverage, Event, FileId, FileKind, NamedFile, Nullable, OpenId, PathId, Pid, Process,
    RecordingCoverage, Tid,
};
use iotrail_trail::memory::MemoryLog;

mod managers;

/// A recording under way: a shell with number 1 that starts others.
struct Recording {
    log: MemoryLog,
    now: i64,
    file: Nullable<FileId>,
    open: Nullable<OpenId>,
    /// What the link leads to that the next call makes.
    target: Nullable<PathId>,
}

impl Recording {
    fn new() -> Self {
        let mut recording = Self {
            log: MemoryLog::new(vec![Case::default()]),
            now: 0,
            file: Nullable::NULL,
            open: Nullable::NULL,
            target: Nullable::NULL,
        };
        recording.process(1, 0, "sh\0run.sh", 0, None);
        recording.call(1, "execve", None, "/bin/sh", 0, "");
        recording
    }

    fn process(&mut self, pid: u32, ppid: u32, line: &str, start: i64, end: Option<i64>) {
        let exe = line.split('\0').next().unwrap();
        self.log.push_process(Process {
            pid: Pid(pid),
            ppid: (ppid > 0).then_some(Pid(ppid)),
            start: Some(Timestamp(start)),
            end: end.map(Timestamp),
            exit_code: end.map(|_| 0),
            exe: Some(format!("/bin/{exe}")),
            cmdline: Some(line.to_owned()),
            cwd: Some("/w".to_owned()),
            ..Process::default()
        });
    }

    /// What calls with a path from now on are about.
    fn of_file(&mut self, file: FileId) {
        self.file = Nullable::some(file);
    }

    /// The open file description of the next calls.
    fn of_open(&mut self, open: Option<u32>) {
        self.open = open.map(OpenId).into();
    }

    fn call(&mut self, pid: u32, call: &str, fd: Option<i32>, path: &str, ret: i64, flags: &str) {
        self.moved(pid, call, fd, path, ret, flags, None);
    }

    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn moved(
        &mut self,
        pid: u32,
        call: &str,
        fd: Option<i32>,
        path: &str,
        ret: i64,
        flags: &str,
        size: Option<i64>,
    ) {
        self.now += 10;
        let event = Event {
            seq: self.now as u64,
            pid: Pid(pid),
            tid: Tid(pid),
            call: self.log.call(call),
            start: Timestamp(self.now),
            dur: Nullable::some(Nanos(1)),
            fd: fd.into(),
            path: if path.is_empty() { Nullable::NULL } else { self.log.path(path) },
            path2: self.target,
            offset: if size.is_some() { Nullable::some(0) } else { Nullable::NULL },
            size: size.into(),
            ret: Nullable::some(ret),
            flags: self.log.flags(flags),
            file: if path == "/w/out" { self.file } else { Nullable::NULL },
            open: self.open,
            ..Event::default()
        };
        self.log.push(event);
    }

    /// The shell forks `pid`, which does `before` and executes the command line.
    fn start(&mut self, pid: u32, line: &str, before: impl FnOnce(&mut Self)) {
        self.call(1, "fork", None, "", i64::from(pid), "");
        let born = self.now + 1;
        before(self);
        let exe = format!("/bin/{}", line.split('\0').next().unwrap());
        self.call(pid, "execve", None, &exe, 0, "");
        self.process(pid, 1, line, born, Some(self.now + 1_000));
    }

    /// `N> path`, `N>> path` or `N< path`, as a shell does it.
    fn redirect(&mut self, pid: u32, descriptor: i32, path: &str, flags: &str) {
        self.call(pid, "openat", Some(3), path, 3, flags);
        self.call(pid, "dup2", Some(descriptor), path, i64::from(descriptor), "");
        self.call(pid, "close", Some(3), path, 0, "");
    }

    fn symlink(&mut self, pid: u32, target: &str, path: &str) {
        self.target = self.log.path(target);
        self.call(pid, "symlinkat", None, path, 0, "");
        self.target = Nullable::NULL;
    }

    fn read(&mut self, pid: u32, path: &str) {
        self.call(pid, "openat", Some(3), path, 3, "O_RDONLY");
        self.moved(pid, "read", Some(3), path, 4, "", Some(4));
    }

    fn write(&mut self, pid: u32, path: &str) {
        self.call(pid, "openat", Some(3), path, 3, "O_WRONLY|O_CREAT|O_TRUNC");
        self.moved(pid, "write", Some(3), path, 4, "", Some(4));
    }

    /// It is not there.
    fn miss(&mut self, pid: u32, path: &str) {
        self.now += 10;
        let event = Event {
            seq: 1_000_000 + self.now as u64,
            pid: Pid(pid),
            tid: Tid(pid),
            call: self.log.call("openat"),
            start: Timestamp(self.now),
            path: self.log.path(path),
            ret: Nullable::some(-1),
            errno: self.log.errno("ENOENT"),
            ..Event::default()
        };
        self.log.push(event);
    }

    fn jobs(self) -> Jobs {
        self.jobs_with(&JobOptions::default())
    }

    /// Told apart whatever the manager does.
    fn jobs_told_apart(self) -> Jobs {
        self.jobs_with(&JobOptions::with_managers(Some("run.sh")).unwrap())
    }

    fn jobs_with(self, options: &JobOptions) -> Jobs {
        let recording = Some(RecordingCoverage::default());
        let log = self.log.coverage(Coverage { recording, ..Coverage::default() }).build();
        let processes = ProcessTable::new(log.processes().unwrap());
        jobs(&log, &processes, options).unwrap()
    }
}

#[test]
fn who_exchanges_two_names_changes_both_and_who_fails_to_give_one_needs_what_had_it() {
    let mut recording = Recording::new();
    for (pid, path) in [(2, "/w/a"), (3, "/w/b")] {
        recording.start(pid, "cp\0in\0out", |_| ());
        recording.write(pid, path);
    }
    let renames = |recording: &mut Recording, pid: u32, flags: &str, errno: Option<&str>| {
        recording.now += 10;
        let log = &mut recording.log;
        let event = Event {
            seq: recording.now as u64,
            pid: Pid(pid),
            tid: Tid(pid),
            call: log.call("renameat2"),
            start: Timestamp(recording.now),
            dur: Nullable::some(Nanos(1)),
            path: log.path("/w/a"),
            path2: log.path("/w/b"),
            ret: Nullable::some(if errno.is_some() { -1 } else { 0 }),
            errno: errno.map_or(Nullable::NULL, |errno| log.errno(errno)),
            flags: log.flags(flags),
            ..Event::default()
        };
        log.push(event);
    };
    recording.start(4, "mv\0-n\0a\0b", |_| ());
    renames(&mut recording, 4, "RENAME_NOREPLACE", Some("EEXIST"));
    recording.start(5, "mv\0--exchange\0a\0b", |_| ());
    renames(&mut recording, 5, "RENAME_EXCHANGE", None);
    recording.start(6, "cat\0a", |_| ());
    recording.read(6, "/w/a");
    let jobs = recording.jobs();
    let needs: Vec<&[JobId]> = jobs.jobs.iter().map(|job| &*job.needs).collect();
    assert_eq!(needs[2], [JobId(0), JobId(1)], "it looked for both");
    assert!(needs[4].contains(&JobId(3)), "what has that name now was the other file");
    let mut made: Vec<&str> = jobs.jobs[3].outputs.iter().map(|file| &*file.path).collect();
    made.sort_unstable();
    assert_eq!(made, ["/w/a", "/w/b"]);
}

#[test]
fn a_trace_of_another_tool_does_not_hold_the_environment() {
    let mut recording = Recording::new();
    recording.process(1, 0, "true", 0, Some(5));
    let log = recording.log.build();
    let processes = ProcessTable::new(log.processes().unwrap());
    let jobs = jobs(&log, &processes, &JobOptions::default()).unwrap();
    assert!(jobs.issues.contains(&Issue::UnknownEnvironment), "{:?}", jobs.issues);
}

const MAKE: &str = "O_WRONLY|O_CREAT|O_TRUNC";

fn paths(files: &[JobFile]) -> Vec<&str> {
    files.iter().map(|file| &*file.path).collect()
}

#[test]
fn a_job_needs_who_wrote_what_it_reads() {
    let mut recording = Recording::new();
    recording.start(2, "gen\0a", |_| {});
    recording.write(2, "/w/a");
    recording.start(3, "use\0a", |_| {});
    recording.read(3, "/w/a");
    recording.read(3, "/w/there");
    recording.write(3, "/w/tmp");
    recording.call(3, "unlink", None, "/w/tmp", 0, "");
    let jobs = recording.jobs();
    let [generate, user] = jobs.jobs.as_slice() else { panic!("{:?}", jobs.jobs) };
    assert_eq!((&*generate.name, &*user.name), ("gen", "use"));
    assert_eq!((paths(&generate.outputs), generate.outputs[0].size), (vec!["/w/a"], Some(4)));
    assert_eq!(user.needs, [JobId(0)]);
    assert_eq!(paths(&user.inputs), ["/w/a", "/w/there"]);
    assert_eq!((user.outputs.len(), &*user.temporaries), (0, [Arc::from("/w/tmp")].as_slice()));
    assert_eq!(jobs.issues, []);
    assert_eq!((jobs.manager.as_deref(), jobs.base.as_deref()), (Some("sh\0run.sh"), Some("/w")));
}

#[test]
fn redirections_are_what_the_descriptors_were_at_the_exec() {
    let mut recording = Recording::new();
    recording.start(2, "sort", |recording| {
        recording.redirect(2, 0, "/w/in", "O_RDONLY");
        recording.redirect(2, 1, "/w/out", MAKE);
        recording.call(2, "dup2", Some(2), "/w/out", 2, "");
    });
    recording.start(3, "wc", |recording| {
        recording.redirect(3, 1, "/w/log", "O_WRONLY|O_CREAT|O_APPEND");
    });
    let jobs = recording.jobs();
    let redirect = |fd, target| Redirect { fd, target };
    let (input, out) = (Target::Read(Arc::from("/w/in")), Target::Write(Arc::from("/w/out")));
    let wanted = [redirect(0, input), redirect(1, out), redirect(2, Target::Same(1))];
    assert_eq!(jobs.jobs[0].commands()[0].redirects, wanted);
    let log = redirect(1, Target::Append(Arc::from("/w/log")));
    assert_eq!(jobs.jobs[1].commands()[0].redirects, [log]);
    // An empty file is a file that was made.
    assert_eq!(paths(&jobs.jobs[0].outputs), ["/w/out"]);
}

#[test]
fn commands_that_talk_through_a_pipe_are_one_job_in_the_order_of_the_pipe() {
    let mut recording = Recording::new();
    recording.call(1, "pipe2", Some(3), "pipe:[7]", 0, "");
    // The reader starts first.
    recording.start(2, "uniq\0-c", |recording| {
        recording.call(2, "dup2", Some(0), "pipe:[7]", 0, "");
        recording.redirect(2, 1, "/w/out", MAKE);
    });
    recording.start(3, "sort\0in", |recording| recording.call(3, "dup2", Some(1), "pipe:[7]", 1, ""));
    recording.read(3, "/w/in");
    recording.moved(3, "write", Some(1), "pipe:[7]", 4, "", Some(4));
    let jobs = recording.jobs();
    let [job] = jobs.jobs.as_slice() else { panic!("{:?}", jobs.jobs) };
    assert_eq!(&*job.name, "sort|uniq");
    assert_eq!((paths(&job.inputs), paths(&job.outputs)), (vec!["/w/in"], vec!["/w/out"]));
    assert_eq!(job.commands()[1].argv, [b"uniq".to_vec(), b"-c".to_vec()]);
}

#[test]
fn who_overwrites_what_another_reads_waits_for_it() {
    let mut recording = Recording::new();
    recording.start(2, "reader", |_| {});
    recording.read(2, "/w/a");
    recording.start(3, "writer", |_| {});
    recording.write(3, "/w/a");
    let jobs = recording.jobs();
    assert_eq!((jobs.jobs[0].needs.len(), &*jobs.jobs[1].needs), (0, [JobId(0)].as_slice()));
}

#[test]
fn who_writes_into_a_directory_waits_for_its_mode_and_who_takes_the_right_away_for_the_writers() {
    let mut recording = Recording::new();
    recording.start(2, "mkdir\0d", |_| {});
    recording.call(2, "mkdir", None, "/w/d", 0, "");
    recording.call(2, "exit_group", None, "", 0, "");
    for (pid, line) in [(3, "chmod\x00700\0d"), (4, "cp\0a\0d/a"), (5, "chmod\x00500\0d")] {
        recording.now += 2_000;
        recording.start(pid, line, |_| {});
        match pid {
            4 => recording.write(pid, "/w/d/a"),
            _ => recording.call(pid, "fchmodat", None, "/w/d", 0, ""),
        }
    }
    let jobs = recording.jobs();
    let needs: Vec<&[JobId]> = jobs.jobs.iter().map(|job| &*job.needs).collect();
    assert_eq!(needs[..3], [&[] as &[JobId], &[JobId(0)], &[JobId(0), JobId(1)]], "{jobs:?}");
    assert!(needs[3].contains(&JobId(2)), "{jobs:?}");
}

#[test]
fn a_stamp_that_is_touched_is_an_output_whoever_looks_at_it_needs() {
    let mut recording = Recording::new();
    recording.start(2, "touch\0stamp", |_| {});
    recording.call(2, "openat", Some(3), "/w/stamp", 3, "O_WRONLY|O_CREAT");
    recording.start(3, "touch\0-c\0stamp", |_| {});
    recording.call(3, "utimensat", None, "/w/stamp", 0, "");
    recording.start(4, "find\0stamp", |_| {});
    recording.call(4, "newfstatat", None, "/w/stamp", 0, "");
    let jobs = recording.jobs();
    assert_eq!(paths(&jobs.jobs[0].outputs), ["/w/stamp"]);
    assert_eq!(
        (paths(&jobs.jobs[1].outputs), &*jobs.jobs[1].needs),
        (vec!["/w/stamp"], [JobId(0)].as_slice())
    );
    assert_eq!(jobs.jobs[2].needs, [JobId(1)]);
}

#[test]
fn who_sets_the_times_of_a_link_changes_nothing_that_it_leads_to() {
    let mut recording = Recording::new();
    recording.start(2, "sort\0in", |_| {});
    recording.read(2, "/w/in");
    recording.start(3, "ln\0-s\0in\0link", |_| {});
    recording.symlink(3, "/w/in", "/w/link");
    recording.start(4, "cp\0-a\0link\0copy", |_| {});
    recording.call(4, "readlink", None, "/w/link", 2, "");
    recording.symlink(4, "/w/in", "/w/copy");
    recording.call(4, "utimensat", None, "/w/copy", 0, "AT_SYMLINK_NOFOLLOW");
    let jobs = recording.jobs();
    assert_eq!(paths(&jobs.jobs[2].outputs), ["/w/copy"]);
    assert!(jobs.jobs.iter().all(|job| job.leaves.is_empty()), "{jobs:?}");
}

#[test]
fn a_lock_file_that_is_made_for_reading_is_made() {
    let mut recording = Recording::new();
    recording.start(2, "flock\0lock", |_| {});
    recording.call(2, "newfstatat", None, "/w/lock", 0, "");
    recording.call(2, "unlink", None, "/w/lock", 0, "");
    recording.call(2, "openat", Some(3), "/w/lock", 3, "O_RDONLY|O_CREAT");
    let jobs = recording.jobs();
    assert_eq!(paths(&jobs.jobs[0].outputs), ["/w/lock"]);
}

fn ping_pong() -> Recording {
    let mut recording = Recording::new();
    recording.start(2, "ping", |_| {});
    recording.start(3, "pong", |_| {});
    recording.write(2, "/w/a");
    recording.read(3, "/w/a");
    recording.write(3, "/w/b");
    recording.read(2, "/w/b");
    recording
}

#[test]
fn jobs_that_need_each_other_are_their_manager_or_run_in_the_order_of_their_starts() {
    let jobs = ping_pong().jobs();
    assert_eq!((jobs.jobs.len(), &*jobs.jobs[0].name), (1, "run.sh"));
    assert!(matches!(jobs.issues[0], Issue::NoEnd { .. }), "{:?}", jobs.issues);
    assert!(matches!(jobs.issues[1], Issue::Whole { .. }), "{:?}", jobs.issues);
    let jobs = ping_pong().jobs_told_apart();
    assert_eq!(jobs.issues, [Issue::Cycle { jobs: vec![JobId(0), JobId(1)] }]);
    assert_eq!((jobs.jobs[0].needs.len(), &*jobs.jobs[1].needs), (0, [JobId(0)].as_slice()));
}

#[test]
fn a_file_of_several_jobs_and_one_of_the_manager_are_told() {
    let mut recording = Recording::new();
    recording.write(1, "/w/list");
    for pid in [2, 3] {
        recording.start(pid, "append", |recording| {
            recording.redirect(pid, 1, "/w/log", "O_WRONLY|O_CREAT|O_APPEND");
        });
        recording.moved(pid, "write", Some(1), "/w/log", 4, "", Some(4));
        recording.read(pid, "/w/list");
    }
    let jobs = recording.jobs_told_apart();
    let shared = Issue::SharedOutput { path: Arc::from("/w/log"), jobs: vec![JobId(0), JobId(1)] };
    assert_eq!(jobs.issues[..2], [shared, Issue::ManagerWrote { path: Arc::from("/w/list") }]);
    assert!(
        jobs.issues[2..].iter().all(|issue| matches!(issue, Issue::NotExported { .. })),
        "{:?}",
        jobs.issues
    );
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
    assert!(!jobs.jobs[1].outputs[0].only && jobs.jobs[1].outputs[0].updated);
}

#[test]
fn a_process_that_starts_nobody_is_itself_the_job() {
    let mut recording = Recording::new();
    recording.read(1, "/w/run.sh");
    let jobs = recording.jobs();
    assert_eq!((jobs.jobs.len(), &jobs.manager), (1, &None));
    assert_eq!(jobs.issues, [Issue::NoEnd { job: JobId(0) }]);
}

#[test]
fn a_renamed_file_is_made_under_its_last_name() {
    let mut recording = Recording::new();
    recording.start(2, "gen", |_| {});
    recording.write(2, "/w/a.tmp");
    let path2 = recording.log.path("/w/a");
    recording.now += 10;
    let event = Event {
        seq: recording.now as u64,
        pid: Pid(2),
        tid: Tid(2),
        call: recording.log.call("rename"),
        start: Timestamp(recording.now),
        path: recording.log.path("/w/a.tmp"),
        path2,
        ret: Nullable::some(0),
        ..Event::default()
    };
    recording.log.push(event);
    let jobs = recording.jobs();
    assert_eq!((paths(&jobs.jobs[0].outputs), jobs.jobs[0].outputs[0].size), (vec!["/w/a"], Some(4)));
}

#[test]
fn what_a_subshell_executes_last_does_not_hide_what_it_ran_before() {
    // (head; sort) | uniq, where the process of the subshell becomes sort.
    let mut recording = Recording::new();
    recording.call(1, "pipe2", Some(3), "pipe:[7]", 0, "");
    recording.call(1, "fork", None, "", 2, "");
    let born = recording.now + 1;
    recording.call(2, "dup2", Some(1), "pipe:[7]", 1, "");
    recording.call(2, "fork", None, "", 3, "");
    let first = recording.now + 1;
    recording.call(3, "execve", None, "/bin/head", 0, "");
    recording.read(3, "/w/header");
    recording.moved(3, "write", Some(1), "pipe:[7]", 4, "", Some(4));
    recording.process(3, 2, "head\0header", first, Some(recording.now + 1));
    recording.now += 10;
    recording.call(2, "execve", None, "/bin/sort", 0, "");
    recording.read(2, "/w/body");
    recording.moved(2, "write", Some(1), "pipe:[7]", 4, "", Some(4));
    recording.process(2, 1, "sort\0body", born, Some(recording.now + 100));
    recording.start(4, "uniq", |recording| {
        recording.call(4, "dup2", Some(0), "pipe:[7]", 0, "");
        recording.redirect(4, 1, "/w/out", MAKE);
    });
    recording.moved(4, "read", Some(0), "pipe:[7]", 8, "", Some(8));
    let jobs = recording.jobs();
    let [job] = jobs.jobs.as_slice() else { panic!("{:?}", jobs) };
    assert_eq!(&*job.name, "head;sort|uniq");
    assert_eq!((paths(&job.inputs), paths(&job.outputs)), (vec!["/w/body", "/w/header"], vec!["/w/out"]));
    let Some(Script::Pipeline(stages)) = &job.script else { panic!("{:?}", job.script) };
    assert!(matches!(&stages[0], Script::Sequence(parts) if parts.len() == 2));
}

#[test]
fn commands_that_go_on_in_one_open_file_share_it() {
    let mut recording = Recording::new();
    recording.redirect(1, 0, "/w/in", "O_RDONLY");
    for (pid, line) in [(2, "head\0-c3"), (3, "cat")] {
        recording.start(pid, line, |_| {});
        recording.moved(pid, "read", Some(0), "/w/in", 3, "", Some(3));
        recording.now += 2_000;
    }
    let jobs = recording.jobs();
    let [job] = jobs.jobs.as_slice() else { panic!("{:?}", jobs) };
    let Some(Script::Redirected { body, redirects }) = &job.script else { panic!("{:?}", job.script) };
    assert_eq!(*redirects, [Redirect { fd: 0, target: Target::Read(Arc::from("/w/in")) }]);
    assert_eq!(body.name(), "head;cat");
}

/// What the shell saves and puts back, as dash does it, is not what it opened under the same name.
#[test]
fn what_was_open_before_is_told_from_what_is_opened_under_the_same_name() {
    let mut recording = Recording::new();
    let opened = [(0, 12, "/w/in", 8, "O_RDONLY"), (1, 13, "/dev/null", 9, "O_WRONLY|O_CREAT|O_TRUNC")];
    for (fd, saved, path, open, flags) in opened {
        recording.of_open(Some(open));
        recording.call(1, "openat", Some(3), path, 3, flags);
        recording.of_open(Some(fd as u32));
        recording.call(1, "fcntl", Some(fd), "/dev/null", saved, "F_DUPFD_CLOEXEC");
        recording.of_open(Some(open));
        recording.call(1, "dup2", Some(fd), path, i64::from(fd), "");
        recording.call(1, "close", Some(3), path, 0, "");
    }
    recording.start(2, "sort", |_| {});
    recording.of_open(Some(8));
    recording.moved(2, "read", Some(0), "/w/in", 3, "", Some(3));
    recording.of_open(Some(9));
    recording.moved(2, "write", Some(1), "/dev/null", 3, "", Some(3));
    recording.now += 2_000;
    for (saved, fd) in [(12, 0), (13, 1)] {
        recording.of_open(Some(fd as u32));
        recording.call(1, "dup2", Some(fd), "/dev/null", i64::from(fd), "");
        recording.call(1, "close", Some(saved), "/dev/null", 0, "");
    }
    recording.start(3, "mv\0a\0b", |_| {});
    recording.of_open(None);
    recording.call(3, "rename", None, "/w/a", 0, "");
    for fd in [0, 1] {
        recording.of_open(Some(fd as u32));
        recording.moved(3, "write", Some(fd), "/dev/null", 3, "", Some(3));
    }
    let jobs = recording.jobs();
    let names: Vec<&str> = jobs.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["sort", "mv"], "{:?}", jobs.issues);
}

#[test]
fn a_manager_that_wrote_is_a_job_as_a_whole() {
    let mut recording = Recording::new();
    recording.write(1, "/w/list");
    recording.start(2, "use", |_| {});
    recording.read(2, "/w/list");
    let jobs = recording.jobs();
    let why = "it wrote /w/list itself".to_owned();
    let [job] = jobs.jobs.as_slice() else { panic!("{:?}", jobs) };
    assert_eq!((&*job.name, paths(&job.outputs)), ("run.sh", vec!["/w/list"]));
    assert!(matches!(&jobs.issues[1], Issue::Whole { .. }), "{:?} {why}", jobs.issues);
}

#[test]
fn who_makes_a_name_waits_for_who_missed_it_and_who_looks_at_it_for_who_makes_it() {
    let mut recording = Recording::new();
    recording.start(2, "miss", |_| {});
    recording.miss(2, "/w/late");
    recording.now += 2_000;
    recording.start(3, "make", |_| {});
    recording.write(3, "/w/late");
    recording.now += 2_000;
    recording.start(4, "look", |_| {});
    recording.call(4, "stat", None, "/w/late", 0, "");
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
    assert_eq!(jobs.jobs[2].needs, [JobId(1)]);
}

/// `call` with a second path.
fn call2(recording: &mut Recording, pid: u32, call: &str, paths: [&str; 2]) {
    recording.now += 10;
    let event = Event {
        seq: recording.now as u64,
        pid: Pid(pid),
        tid: Tid(pid),
        call: recording.log.call(call),
        start: Timestamp(recording.now),
        dur: Nullable::some(Nanos(1)),
        path: recording.log.path(paths[0]),
        path2: recording.log.path(paths[1]),
        ret: Nullable::some(0),
        ..Event::default()
    };
    recording.log.push(event);
}

#[test]
fn who_uses_a_renamed_directory_and_who_makes_it_again_waits_for_who_renamed_it() {
    let mut recording = Recording::new();
    recording.start(2, "mkdir\0d1", |_| {});
    recording.call(2, "mkdir", None, "/w/d1", 0, "");
    recording.now += 2_000;
    recording.start(3, "mv\0d1\0d3", |_| {});
    call2(&mut recording, 3, "rename", ["/w/d1", "/w/d3"]);
    recording.now += 2_000;
    recording.start(4, "find\0d3", |_| {});
    recording.call(4, "getdents64", Some(3), "/w/d3", 0, "");
    recording.now += 2_000;
    recording.start(5, "mkdir\0d1", |_| {});
    recording.call(5, "mkdir", None, "/w/d1", 0, "");
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
    assert_eq!(jobs.jobs[2].needs, [JobId(1)]);
    assert_eq!(jobs.jobs[3].needs, [JobId(1)]);
}

#[test]
fn a_directory_whose_times_are_set_is_no_file_also_where_one_above_is_renamed() {
    let mut recording = Recording::new();
    recording.start(2, "cp\0-a\0src\0d", |_| {});
    for (call, path) in
        [("mkdir", "/w/d"), ("mkdir", "/w/d/s"), ("utimensat", "/w/d/s"), ("fchmodat", "/w/d")]
    {
        recording.call(2, call, None, path, 0, "");
    }
    recording.write(2, "/w/d/s/a");
    recording.now += 2_000;
    recording.start(3, "mv\0d\0e", |_| {});
    call2(&mut recording, 3, "rename", ["/w/d", "/w/e"]);
    let jobs = recording.jobs();
    let [copies, renames] = jobs.jobs.as_slice() else { panic!("{:?}", jobs.jobs) };
    assert_eq!(paths(&copies.outputs), ["/w/d/s/a"]);
    let made = |job: &Job| -> Vec<(String, bool)> {
        job.made.iter().map(|made| (made.path.to_string(), made.is_directory)).collect()
    };
    let below =
        |top: &str| [(top.to_owned(), true), (format!("{top}/s"), true), (format!("{top}/s/a"), false)];
    assert_eq!((made(copies), made(renames)), (below("/w/d").to_vec(), below("/w/e").to_vec()));
}

#[test]
fn what_only_the_manager_read_is_known() {
    let mut recording = Recording::new();
    recording.read(1, "/w/conf");
    recording.read(1, "/w/in");
    recording.start(2, "use\0in", |_| {});
    recording.read(2, "/w/in");
    recording.write(2, "/w/out");
    assert_eq!(*recording.jobs_told_apart().of_managers, [Arc::from("/w/conf")]);
}

#[test]
fn what_a_link_leads_to_is_not_met_by_who_asks_for_the_link() {
    let mut recording = Recording::new();
    recording.start(2, "probe", |_| {});
    call2(&mut recording, 2, "symlink", ["/w/probe", "/w/nothing"]);
    for call in ["lstat", "unlink"] {
        recording.call(2, call, None, "/w/probe", 0, "");
    }
    recording.write(2, "/w/out");
    let jobs = recording.jobs();
    let job = &jobs.jobs[0];
    assert!(job.found.is_empty() && job.met.is_empty() && job.inputs.is_empty(), "{job:?}");
}

#[test]
fn who_makes_a_directory_waits_for_who_missed_it() {
    let mut recording = Recording::new();
    recording.start(2, "rm\0-rf\0out", |_| {});
    recording.call(2, "rmdir", None, "/w/out", 0, "");
    recording.now += 2_000;
    recording.start(3, "mkdir\0-p\0out/a", |_| {});
    recording.call(3, "mkdir", None, "/w/out", 0, "");
    recording.call(3, "mkdir", None, "/w/out/a", 0, "");
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
}

#[test]
fn a_command_line_that_names_a_link_waits_for_who_made_it() {
    let mut recording = Recording::new();
    recording.start(2, "ln\0-s\0/usr/bin/tac\0sub/prog", |_| {});
    call2(&mut recording, 2, "symlink", ["/w/sub/prog", "/usr/bin/tac"]);
    recording.now += 2_000;
    recording.start(3, "sub/prog\0in.txt", |_| {});
    recording.read(3, "/w/in.txt");
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
}

#[test]
fn who_lists_a_directory_waits_for_who_renamed_a_directory_in_it() {
    let mut recording = Recording::new();
    recording.start(2, "mv\0data/a\0data/c", |_| {});
    call2(&mut recording, 2, "rename", ["/w/data/a", "/w/data/c"]);
    recording.now += 2_000;
    recording.start(3, "ls\0data", |_| {});
    recording.call(3, "getdents64", Some(3), "/w/data", 0, "");
    recording.now += 2_000;
    recording.start(4, "rmdir\0data/c", |_| {});
    recording.call(4, "rmdir", None, "/w/data/c", 0, "");
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
    assert_eq!(jobs.jobs[2].needs, [JobId(0), JobId(1)]);
}

#[test]
fn commands_that_talk_through_sockets_are_a_job_as_a_whole() {
    let mut recording = Recording::new();
    recording.start(2, "server", |_| {});
    recording.moved(2, "read", Some(3), "UNIX-STREAM:[8->7,\"/run/x\"]", 4, "", Some(4));
    recording.write(2, "/w/out");
    recording.start(3, "client", |_| {});
    recording.moved(3, "write", Some(3), "UNIX-STREAM:[7->8]", 4, "", Some(4));
    let jobs = recording.jobs();
    let said = jobs.issues.iter().map(Issue::message).collect::<Vec<_>>();
    assert_eq!(jobs.jobs.len(), 1, "{said:?}");
    assert!(said.iter().any(|why| why.contains("through a socket")), "{said:?}");
    // With itself a command may talk as it likes.
    let mut recording = Recording::new();
    recording.start(2, "both", |_| {});
    recording.moved(2, "read", Some(3), "UNIX-STREAM:[8->7]", 4, "", Some(4));
    recording.moved(2, "write", Some(4), "UNIX-STREAM:[7->8]", 4, "", Some(4));
    recording.start(3, "other", |_| {});
    assert_eq!(recording.jobs().jobs.len(), 2);
}

fn masks(jobs: &Jobs) -> Vec<Option<u32>> {
    let mask = |job: &Job| match &job.script {
        Some(Script::Masked { umask, .. }) => Some(*umask),
        _ => None,
    };
    jobs.jobs.iter().map(mask).collect()
}

fn umask(recording: &mut Recording, mask: &str, before: i64) {
    recording.call(1, "umask", None, "", before, mask);
}

#[test]
fn a_job_runs_under_the_umask_that_its_shell_had() {
    let mut recording = Recording::new();
    recording.start(2, "sort", |recording| recording.redirect(2, 1, "/w/a", MAKE));
    umask(&mut recording, "0x3f", 0o22);
    recording.start(3, "cp", |_| ());
    recording.write(3, "/w/b");
    // A shell that shows its umask takes it away for a moment.
    umask(&mut recording, "0", 0o77);
    umask(&mut recording, "0x3f", 0);
    recording.start(4, "cp", |_| ());
    recording.write(4, "/w/c");
    umask(&mut recording, "0x12", 0o77);
    recording.start(5, "cp", |_| ());
    recording.write(5, "/w/d");
    assert_eq!(masks(&recording.jobs()), [None, Some(0o77), Some(0o77), None]);
}

#[test]
fn a_shell_that_opened_a_file_under_another_umask_is_one_job() {
    let mut recording = Recording::new();
    umask(&mut recording, "0x3f", 0o22);
    recording.redirect(1, 4, "/w/a", MAKE);
    umask(&mut recording, "0x12", 0o77);
    recording.start(2, "sort", |_| ());
    recording.moved(2, "write", Some(4), "/w/a", 4, "", Some(4));
    recording.start(3, "head", |_| ());
    let jobs = recording.jobs();
    let says = |issue: &Issue| matches!(issue, Issue::Whole { why, .. } if why.contains("umask"));
    assert!(jobs.issues.iter().any(says), "{:?}", jobs.issues);
}

#[test]
fn a_command_that_lives_since_its_fork_and_executes_another_is_itself() {
    let mut recording = Recording::new();
    recording.call(1, "fork", None, "", 2, "");
    let born = recording.now + 1;
    recording.now += 5;
    recording.call(2, "execve", None, "/bin/env", 0, "");
    recording.read(2, "/w/in");
    recording.call(2, "execve", None, "/bin/sort", 0, "");
    let executed = recording.now;
    recording.log.push_process(Process {
        pid: Pid(2),
        ppid: Some(Pid(1)),
        start: Some(Timestamp(born)),
        end: Some(Timestamp(executed)),
        exe: Some("/bin/env".to_owned()),
        cmdline: Some("env\0P=x\0sort".to_owned()),
        cwd: Some("/w".to_owned()),
        ..Process::default()
    });
    recording.process(2, 1, "sort", executed, Some(executed + 1_000));
    recording.write(2, "/w/o");
    // One command alone would be the workflow's manager.
    recording.start(3, "cat", |_| ());
    let jobs = recording.jobs();
    assert_eq!(jobs.jobs[0].commands()[0].argv, [b"env".to_vec(), b"P=x".to_vec(), b"sort".to_vec()]);
}

#[test]
fn variables_that_the_recording_began_with_are_those_of_the_jobs() {
    let mut log = MemoryLog::new(vec![Case::default()]);
    let env = ["IOTRAIL_ENVIRONMENT=1", "SLURM_JOB_ID=7", "TZ=UTC-7", "X=a b"].map(str::to_owned).to_vec();
    log.push_process(Process {
        pid: Pid(1),
        start: Some(Timestamp(0)),
        exe: Some("/bin/sh".to_owned()),
        cmdline: Some("sh\0run.sh".to_owned()),
        env,
        ..Process::default()
    });
    let recording = Recording { log, ..Recording::new() };
    let jobs = recording.jobs();
    let variables = vec!["X=a b".to_owned()];
    assert!(jobs.issues.contains(&Issue::Environment { variables }));
    assert_eq!(jobs.environment, ["TZ=UTC-7"]);
}

#[test]
fn what_goes_to_a_file_that_was_open_before_is_remarked() {
    let mut recording = Recording::new();
    recording.start(2, "sort", |_| ());
    recording.moved(2, "write", Some(1), "/w/log", 4, "", Some(4));
    recording.start(3, "cp", |recording| recording.redirect(3, 1, "/w/own", MAKE));
    recording.moved(3, "write", Some(1), "/w/own", 4, "", Some(4));
    recording.start(4, "cat", |_| ());
    recording.moved(4, "write", Some(1), "/dev/pts/0", 4, "", Some(4));
    assert_eq!(recording.jobs().issues, [Issue::WroteOutside { path: "/w/log".into() }]);
}

fn timed(jobs: &Jobs) -> Vec<(&str, bool)> {
    jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| (&*file.path, file.timed)).collect()
}

#[test]
fn a_time_that_a_job_set_matters_under_every_name_and_that_of_the_clock_does_not() {
    let mut recording = Recording::new();
    for (pid, line, file) in
        [(2, "touch\0/w/now", "/w/now"), (3, "touch\0-d\x002001-01-01\0/w/old", "/w/old")]
    {
        recording.start(pid, line, |_| ());
        recording.call(pid, "openat", Some(3), file, 3, "O_WRONLY|O_CREAT|O_NOCTTY");
        recording.call(pid, "utimensat", Some(3), file, 0, "");
    }
    recording.start(4, "mv\0/w/old\0/w/moved", |_| ());
    let (from, to) = (recording.log.path("/w/old"), recording.log.path("/w/moved"));
    recording.now += 10;
    let rename = Event {
        seq: recording.now as u64,
        pid: Pid(4),
        tid: Tid(4),
        call: recording.log.call("rename"),
        start: Timestamp(recording.now),
        path: from,
        path2: to,
        ret: Nullable::some(0),
        ..Event::default()
    };
    recording.log.push(rename);
    let jobs = recording.jobs();
    assert_eq!(timed(&jobs), [("/w/now", false), ("/w/old", true), ("/w/moved", true)]);
}

#[test]
fn jobs_whose_files_are_compared_by_time_keep_their_order() {
    let of = |line: &str| {
        let mut recording = Recording::new();
        for (pid, file) in [(2, "/w/a"), (3, "/w/b")] {
            recording.start(pid, "sort", |_| ());
            recording.write(pid, file);
            recording.now += 1_000;
        }
        recording.start(4, line, |_| ());
        recording.call(4, "newfstatat", None, "/w/a", 0, "");
        recording.call(4, "newfstatat", None, "/w/b", 0, "");
        let jobs = recording.jobs();
        let may = jobs.issues.contains(&Issue::MayUseTimes { jobs: vec![JobId(2)] });
        (jobs.jobs[1].needs.clone(), timed(&jobs)[0].1, may)
    };
    assert_eq!(of("find\0a\0-newer\0b"), (vec![JobId(0)], true, false));
    assert_eq!(of("python3\0x.py"), (vec![JobId(0)], true, true));
    assert_eq!(of("cat\0a\0b"), (vec![], false, false));
}

#[test]
fn a_name_is_that_of_a_directory_first_and_of_a_file_then() {
    let mut recording = Recording::new();
    for (number, kind) in [(0, FileKind::Directory), (1, FileKind::File)] {
        let file =
            NamedFile { file: Nullable::some(FileId(number)), kind: Some(kind), ..NamedFile::default() };
        recording.log.push_file(b"/w/out", file);
    }
    recording.start(2, "mkdir\0out", |_| {});
    recording.of_file(FileId(0));
    recording.call(2, "mkdir", None, "/w/out", 0, "");
    recording.call(2, "getdents64", Some(3), "/w/out", 0, "");
    recording.call(2, "rmdir", None, "/w/out", 0, "");
    recording.now += 2_000;
    recording.of_file(FileId(1));
    recording.start(3, "gen\0out", |_| {});
    recording.write(3, "/w/out");
    recording.now += 2_000;
    recording.start(4, "use\0out", |_| {});
    recording.read(4, "/w/out");
    let jobs = recording.jobs();
    assert_eq!(paths(&jobs.jobs[1].outputs), ["/w/out"]);
    assert!(jobs.jobs[2].needs.contains(&JobId(1)), "{jobs:?}");
}

#[test]
fn a_file_is_waited_for_by_all_its_names_also_renamed_ones() {
    let mut recording = Recording::new();
    recording.start(2, "cp\0n\0a", |_| {});
    recording.write(2, "/w/a");
    recording.start(3, "ln\0a\0t", |_| {});
    call2(&mut recording, 3, "link", ["/w/a", "/w/t"]);
    recording.start(4, "mv\0t\0b", |_| {});
    call2(&mut recording, 4, "rename", ["/w/t", "/w/b"]);
    recording.start(5, "append\0b", |_| {});
    recording.call(5, "openat", Some(3), "/w/b", 3, "O_WRONLY|O_CREAT|O_APPEND");
    recording.moved(5, "write", Some(3), "/w/b", 4, "", Some(4));
    recording.start(6, "sort\0a", |_| {});
    recording.read(6, "/w/a");
    let jobs = recording.jobs();
    assert!(jobs.jobs[3].needs.contains(&JobId(0)), "{jobs:?}");
    assert!(jobs.jobs[4].needs.contains(&JobId(3)), "{jobs:?}");
}

#[test]
fn a_manager_that_sets_times_and_permissions_does_not_make_the_contents() {
    let mut recording = Recording::new();
    recording.start(2, "gen\0a", |_| {});
    recording.write(2, "/w/a");
    recording.call(1, "utimensat", None, "/w/a", 0, "");
    recording.start(3, "use\0a", |_| {});
    recording.read(3, "/w/a");
    recording.call(1, "fchmodat", None, "/w/a", 0, "");
    let jobs = recording.jobs_told_apart();
    assert_eq!(jobs.jobs[1].needs, [JobId(0)]);
    let why = "it changed the permissions of /w/a itself".to_owned();
    assert!(jobs.issues.contains(&Issue::NotExported { why }), "{:?}", jobs.issues);
    let wrote = jobs.issues.iter().any(|issue| matches!(issue, Issue::ManagerWrote { .. }));
    assert!(!wrote, "{:?}", jobs.issues);
}

#[test]
fn a_file_that_became_the_standard_input_is_not_that_of_the_recording() {
    let mut recording = Recording::new();
    recording.start(2, "uniq\0in", |recording| {
        recording.redirect(2, 0, "/w/in", "O_RDONLY");
        // As uniq does: it keeps the number.
        recording.call(2, "dup2", Some(0), "/w/in", 0, "");
    });
    recording.moved(2, "read", Some(0), "/w/in", 4, "", Some(4));
    assert_eq!(recording.jobs().issues, []);
}

#[test]
fn who_takes_away_what_may_be_an_old_link_waits_for_who_may_have_come_through_it() {
    let needs = |line: &str, opened_before: bool| {
        let mut recording = Recording::new();
        recording.start(2, line, |_| {});
        recording.read(2, "/w/v1");
        if opened_before {
            recording.read(2, "/w/cfg");
        }
        recording.now += 2_000;
        recording.start(3, "rm\0cfg", |_| {});
        recording.call(3, "unlink", None, "/w/cfg", 0, "");
        recording.jobs().jobs[1].needs.clone()
    };
    assert_eq!(needs("rd", false), [JobId(0)]);
    assert_eq!(needs("rd\0v1", false), []);
    assert_eq!(needs("rd\0v1\0cfg", true), [JobId(0)], "as any file that is read first");
}

#[test]
fn who_uses_a_directory_waits_for_who_changed_its_permissions_and_the_other_way_round() {
    for call in ["fchmodat", "utimensat"] {
        let mut recording = Recording::new();
        for (pid, line) in [(2, "set\0d"), (3, "cp\0a\0d/x"), (4, "set\0d"), (5, "stat\0d")] {
            recording.start(pid, line, |_| {});
            match pid {
                3 => recording.write(pid, "/w/d/x"),
                5 => recording.call(pid, "statx", None, "/w/d", 0, ""),
                _ => recording.call(pid, call, None, "/w/d", 0, ""),
            }
            recording.now += 2_000;
        }
        let jobs = recording.jobs();
        let needs: Vec<&[JobId]> = jobs.jobs.iter().map(|job| &*job.needs).collect();
        assert_eq!(needs, [&[][..], &[JobId(0)], &[JobId(0), JobId(1)], &[JobId(1), JobId(2)]], "{call}");
    }
}

#[test]
fn who_may_come_through_the_new_name_of_an_old_link_waits_for_who_gave_it() {
    let needs = |call: &str, before: Option<&str>, line: &str, read: &str| {
        let mut recording = Recording::new();
        if let Some(before) = before {
            recording.read(1, before);
        }
        recording.start(2, "mv\0cur\0prev", |_| {});
        call2(&mut recording, 2, call, ["/w/cur", "/w/prev"]);
        recording.now += 2_000;
        recording.start(3, line, |_| {});
        recording.read(3, read);
        recording.jobs().jobs[1].needs.clone()
    };
    for call in ["rename", "link"] {
        assert_eq!(needs(call, None, "sh\0-c\0sort prev/f || :", "/w/v1/f"), [JobId(0)]);
        assert_eq!(needs(call, None, "sort\0v1/f", "/w/v1/f"), [], "nothing leads through it");
        assert_eq!(needs(call, None, "sh\0step.sh", "/w/v1/f"), [JobId(0)], "who knows");
    }
    assert_eq!(needs("rename", Some("/w/cur"), "sh\0step.sh", "/w/v1/f"), [], "it was a file");
}

#[test]
fn names_that_were_missed_and_arguments_that_may_be_links_are_watched_unless_a_job_makes_them() {
    let mut recording = Recording::new();
    recording.start(2, "cat\0-n\0link\0header\0late/x", |_| {});
    recording.miss(2, "/w/conf");
    recording.miss(2, "/w/late");
    recording.read(2, "/w/in");
    recording.read(2, "/w/header");
    recording.now += 2_000;
    recording.start(3, "cat\0header\0word", |_| {});
    recording.read(3, "/w/header");
    recording.write(3, "/w/late");
    recording.now += 2_000;
    let jobs = recording.jobs();
    let watched = |job: usize| jobs.jobs[job].watched.iter().map(|path| &**path).collect::<Vec<_>>();
    assert_eq!(watched(0), ["/w/conf", "/w/link"]);
    assert!(watched(1).is_empty(), "all that it read is named");
}

#[test]
fn who_removes_a_directory_with_what_is_in_it_and_who_missed_it_clears_it() {
    let mut recording = Recording::new();
    for (pid, line) in [(2, "rm\0-rf\0d"), (3, "mkdir\0d"), (4, "rm\0-rf\0d")] {
        recording.start(pid, line, |_| {});
        match pid {
            2 => recording.miss(pid, "/w/d"),
            3 => recording.call(pid, "mkdir", None, "/w/d", 0, ""),
            _ => {
                recording.call(pid, "getdents64", Some(3), "/w/d", 0, "");
                recording.call(pid, "rmdir", None, "/w/d", 0, "");
            }
        }
        recording.now += 2_000;
    }
    let jobs = recording.jobs();
    let clears = jobs.jobs.iter().map(|job| job.clears.len()).collect::<Vec<_>>();
    assert_eq!(clears, [1, 0, 1]);
}
