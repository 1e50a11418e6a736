//! Calls in flight together: what two halves on two lines tell the resolver.

#![cfg(test)]

use iotrail_model::{CaseId, Dictionaries, Event, Process};
use iotrail_resolve::{Resolver, Sink};
use iotrail_strace::parser::{Parser, ParserSetup};

#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn event(&mut self, event: &Event, names: &Dictionaries) {
        let call = String::from_utf8_lossy(names.calls.get(event.call.0)).into_owned();
        let path = event.path.get().map(|path| String::from_utf8_lossy(names.paths.get(path.0)).into_owned());
        let offset = event.offset.get().map_or("?".to_owned(), |offset| offset.to_string());
        self.0.push(format!("{} {call} {} @{offset}", event.tid, path.unwrap_or_default()));
    }

    fn process(&mut self, _: Process) {}
}

/// `tid call path @offset` of each event, and whether processes ran at the same time.
fn resolve(trace: &str) -> (Vec<String>, bool) {
    let (mut parser, mut resolver) = (Parser::new(ParserSetup::default()), Resolver::new());
    let (mut names, mut log) = (Dictionaries::default(), Log::default());
    parser.parse(trace.as_bytes(), true, &mut names, &mut |item, names: &mut Dictionaries| {
        resolver.item(CaseId(0), &item, names, &mut log);
    });
    resolver.finish(&mut names, &mut log);
    assert_eq!(parser.coverage().lines.unparsed, 0);
    (log.0, resolver.summary().interleaved(CaseId(0)))
}

fn events(trace: &str) -> Vec<String> {
    resolve(trace).0
}

const TWO_THREADS: &str = r#"
1 openat(AT_FDCWD, "/a", O_RDWR) = 3
1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2
"#;

#[test]
fn a_parent_blocked_in_a_read_of_its_childs_pipe_does_not_run_beside_it() {
    let trace = r#"
1 pipe2([3, 4], 0) = 0
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
1 read(3,  <unfinished ...>
2 openat(AT_FDCWD, "/a", O_RDONLY) = 5
2 read(5, "abc", 9) = 3
2 write(4, "abc", 3 <unfinished ...>
1 <... read resumed>"abc", 9) = 3
2 <... write resumed>) = 3
1 read(3,  <unfinished ...>
2 exit_group(0) = ?
2 +++ exited with 0 +++
1 <... read resumed>"", 9) = 0
1 close(3) = 0
"#;
    assert!(!resolve(trace).1);
    let beside = trace.replace(
        "1 read(3,  <unfinished ...>\n2 openat",
        "1 getpid() = 1\n2 getpid() = 2\n1 read(3,  <unfinished ...>\n2 openat",
    );
    assert!(resolve(&beside).1, "a parent that goes on runs beside it");
}

#[test]
fn reads_of_two_threads_that_overlap_claim_no_offset() {
    let trace = r#"
1 read(3,  <unfinished ...>
2 read(3,  <unfinished ...>
1 <... read resumed>"ab", 2) = 2
2 <... read resumed>"cd", 2) = 2
1 read(3, "ef", 2) = 2
1 lseek(3, 10, SEEK_SET) = 10
1 read(3,  <unfinished ...>
2 lseek(3, 0, SEEK_CUR) = 10
1 <... read resumed>"gh", 2) = 2
2 lseek(3, 20, SEEK_SET) = 20
2 read(3, "ij", 2) = 2
"#;
    assert_eq!(
        events(&format!("{TWO_THREADS}{trace}"))[2..],
        [
            "1 read /a @?",
            "2 read /a @?",
            "1 read /a @?",
            "1 lseek /a @?",
            "2 lseek /a @?",
            "1 read /a @?",
            "2 lseek /a @?",
            "2 read /a @20",
        ]
    );
}

#[test]
fn a_copy_is_in_flight_at_both_ends() {
    let trace = r#"
1 openat(AT_FDCWD, "/b", O_WRONLY) = 4
1 sendfile(4, 3, NULL, 100 <unfinished ...>
2 write(4, "ab", 2) = 2
2 openat(AT_FDCWD, "/c", O_WRONLY) = 5
2 dup2(5, 4) = 4
1 <... sendfile resumed>) = 100
2 write(4, "ab", 2) = 2
"#;
    assert_eq!(
        events(&format!("{TWO_THREADS}{trace}"))[3..],
        ["2 write /b @?", "2 openat /c @?", "2 dup2 /c @?", "1 sendfile /a @0", "2 write /c @?",]
    );
}

#[test]
fn reads_with_their_own_offsets_may_overlap() {
    let trace = r#"
1 read(3, "ab", 2) = 2
1 pread64(3,  <unfinished ...>
2 pread64(3,  <unfinished ...>
1 <... pread64 resumed>"ab", 2, 100) = 2
2 <... pread64 resumed>"cd", 2, 200) = 2
1 read(3, "cd", 2) = 2
"#;
    assert_eq!(
        events(&format!("{TWO_THREADS}{trace}"))[2..],
        ["1 read /a @0", "1 pread64 /a @100", "2 pread64 /a @200", "1 read /a @2"]
    );
}

#[test]
fn a_number_closed_and_used_again_during_a_call_does_not_rename_it() {
    let trace = r#"
1 read(3,  <unfinished ...>
2 close(3) = 0
2 openat(AT_FDCWD, "/b", O_RDONLY) = 3
1 <... read resumed>"ab", 2) = 2
1 close(3 <unfinished ...>
2 openat(AT_FDCWD, "/c", O_RDONLY) = 3
1 <... close resumed>) = 0
2 read(3, "ab", 2) = 2
"#;
    let events = events(&format!("{TWO_THREADS}{trace}"));
    assert_eq!(events[4], "1 read  @?", "it may have come before or after");
    assert_eq!(events[6..], ["1 close /b @?", "2 read /c @0"]);
}

#[test]
fn a_call_that_a_signal_interrupted_is_not_taken_for_the_next_one() {
    let trace = r#"
1 openat(AT_FDCWD, "/b", O_RDONLY) = 4
1 read(3,  <unfinished ...>
2 getpid() = 1
1 <... read resumed>0x7ffc, 2) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
1 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
2 read(3, "ab", 2) = 2
1 read(4, "xy", 2) = 2
1 rt_sigreturn({mask=[]}) = 0
1 read(3, "cd", 2) = 2
"#;
    let events = events(&format!("{TWO_THREADS}{trace}"));
    assert_eq!(events[4..], ["2 read /a @0", "1 read /b @0", "1 rt_sigreturn  @?", "1 read /a @2"]);
}

/// The calls in the order of `seq`.
fn in_order(trace: &str) -> Vec<String> {
    #[derive(Default)]
    struct Rows(Vec<(u64, String)>);
    impl Sink for Rows {
        fn event(&mut self, event: &Event, names: &Dictionaries) {
            self.0.push((event.seq, String::from_utf8_lossy(names.calls.get(event.call.0)).into_owned()));
        }
        fn process(&mut self, _: Process) {}
    }
    let (mut parser, mut resolver) = (Parser::new(ParserSetup::default()), Resolver::new());
    let (mut names, mut rows) = (Dictionaries::default(), Rows::default());
    parser.parse(trace.as_bytes(), true, &mut names, &mut |item, names: &mut Dictionaries| {
        resolver.item(CaseId(0), &item, names, &mut rows);
    });
    resolver.finish(&mut names, &mut rows);
    rows.0.sort();
    rows.0.into_iter().map(|(_, call)| call).collect()
}

#[test]
fn a_call_that_a_signal_ended_has_its_place_where_it_began() {
    let trace = "\
1 10:00:00 read(0, 0x7ffc, 5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
1 10:00:00 --- SIGALRM {si_signo=SIGALRM} ---
1 10:00:00 write(1, \"!\", 1 <unfinished ...>
2 10:00:00 close(3) = 0
1 10:00:00 <... write resumed>) = 1
1 10:00:00 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)
1 10:00:00 pause() = ? ERESTARTNOHAND (To be restarted if no handler)
2 10:00:00 dup(4) = 5
1 10:00:00 +++ killed by SIGKILL +++
";
    assert_eq!(in_order(trace), ["read", "write", "close", "rt_sigreturn", "pause", "dup"]);
}
