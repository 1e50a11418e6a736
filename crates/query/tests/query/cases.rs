use crate::log::{Log, case};
use crate::{classify, words};
use iotrail_model::{Case, CaseId, Pid, Process, Tid, Timestamp};
use iotrail_query::{CaseBy, Query, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;

fn log(interleaved: bool) -> EventLog {
    let mut log = Log::new(vec![Case { interleaved, ..case(0, "a/h/1") }, case(1, "b/h/2")]);
    for (start, end, exe) in [(0, Some(1_000_002_500), "/bin/sh"), (1_000_002_500, None, "/usr/bin/ls")] {
        let process = Process {
            case: CaseId(0),
            pid: Pid(100),
            start: Some(Timestamp(start)),
            end: end.map(Timestamp),
            exe: Some(exe.to_owned()),
            ..Process::default()
        };
        log.memory().push_process(process);
    }
    log.event(0, "read", "/a").event(0, "read", "/b").event(0, "read", "/c");
    log.with(0, "read", "/d", |event, _| event.tid = Tid(7)).event(1, "read", "/e");
    log.build()
}

fn names(word: Option<&str>, log: &EventLog) -> Vec<String> {
    let spec = QuerySpec { case_by: word.map(str::to_owned), ..QuerySpec::default() };
    classify(&Query::new(spec, log).unwrap(), log).into_iter().map(|(_, case)| case).collect()
}

#[test]
fn a_case_is_the_rank_unless_processes_ran_at_the_same_time() {
    assert_eq!(names(None, &log(false)), ["a/h/1", "a/h/1", "a/h/1", "a/h/1", "b/h/2"]);
    assert_eq!(
        names(None, &log(true)),
        ["a/h/1 pid 100", "a/h/1 pid 100", "a/h/1 pid 100", "a/h/1 pid 100", "b/h/2 pid 101"]
    );
    let query = Query::new(QuerySpec::default(), &log(true)).unwrap();
    assert_eq!(query.case_by(), CaseBy::Pid);
    assert_eq!(
        query.describe(),
        "mapping dir2; all events; case = pid (in 1 of 2 recorded cases (a/h/1 is the first) several processes ran at the same time)"
    );
}

#[test]
fn threads_and_executable_images_can_be_cases() {
    assert_eq!(names(Some("tid"), &log(false))[2..4], ["a/h/1 tid 100", "a/h/1 tid 7"]);
    assert_eq!(
        names(Some("exec"), &log(false)),
        ["a/h/1 exec 1 sh", "a/h/1 exec 1 sh", "a/h/1 exec 2 ls", "a/h/1 exec 2 ls", "b/h/2 exec ?"]
    );
}

#[test]
fn processes_with_the_same_number_are_different_cases() {
    let mut log = Log::new(vec![case(0, "a")]);
    let mut image = |start, end, exit_code| {
        let (start, end) = (Some(Timestamp(start)), Some(Timestamp(end)));
        log.memory().push_process(Process { pid: Pid(100), start, end, exit_code, ..Process::default() });
    };
    image(0, 10, Some(0));
    image(20, 30, None);
    image(30, 40, Some(0));
    for at in [5, 25, 35] {
        log.with(0, "read", "/x", |event, _| {
            (event.start, event.pid, event.tid) = (Timestamp(at), Pid(100), Tid(100));
        });
    }
    let log = log.build();
    assert_eq!(names(Some("pid"), &log), ["a pid 100", "a pid 100 #2", "a pid 100 #2"]);
    assert_eq!(names(Some("tid"), &log), ["a tid 100", "a tid 100 #2", "a tid 100 #2"]);
    assert_eq!(names(Some("rank"), &log), ["a"; 3]);
}

#[test]
fn the_word_case_says_both_what_a_case_is_and_which_are_meant() {
    let select = SelectSpec { case: words(&["tid", "cid=b"]), ..SelectSpec::default() };
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log(false)).unwrap();
    assert_eq!(query.case_by(), CaseBy::Tid);
    assert_eq!(query.selection(), "cases cid=b");
    assert!(query.warnings().is_empty());
}

#[test]
fn cases_in_no_group_are_counted() {
    let spec = |by: &str| QuerySpec { group_by: Some(by.to_owned()), ..QuerySpec::default() };
    let query = Query::new(spec("cid=b"), &log(false)).unwrap();
    assert_eq!(query.groups(), ["cid=b"]);
    assert_eq!((query.group(CaseId(0)), query.group(CaseId(1)).map(|id| id.0)), (None, Some(0)));
    assert_eq!(query.cases_without_group(), 1);
    let query = Query::new(spec("trail"), &log(false)).unwrap();
    assert_eq!((query.groups().len(), query.cases_without_group()), (1, 0));
    let query = Query::new(spec("label"), &log(false)).unwrap();
    assert_eq!(query.warnings(), [iotrail_query::Warning::NoGroups]);
}
