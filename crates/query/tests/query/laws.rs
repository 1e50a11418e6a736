use crate::log::{Log, case};
use crate::{activities, classify, words};
use iotrail_model::canonical::canonical;
use iotrail_model::{Nullable, Pid};
use iotrail_query::{Mapping, Query, QuerySpec, SelectSpec, Subject, Variables};
use iotrail_trail::{Columns, EventLog};
use proptest::prelude::*;

const CALLS: [&str; 5] = ["read", "write", "openat", "brk", "pread64"];
const PATHS: [&str; 8] =
    ["", "/s/a.dat", "/s/b/12.dat", "/etc/passwd", "pipe:[7]", "/proc/77/stat", "/s", "TCP:[1->2]"];

prop_compose! {
    pub(crate) fn any_log()(rows in prop::collection::vec((0_u32..3, 0..CALLS.len(), 0..PATHS.len(), 0..PATHS.len(), any::<bool>(), 0_i64..9, 0_u32..3), 0..40)) -> EventLog {
        let mut log = Log::new(vec![case(0, "a/n1/0"), case(1, "b/n1/1"), case(2, "-/n2/-")]);
        for (id, call, path, path2, failed, size, pid) in rows {
            log.with(id, CALLS[call], PATHS[path], |event, memory| {
                event.pid = Pid(pid);
                if !PATHS[path2].is_empty() && CALLS[call] == "openat" {
                    event.path2 = memory.path(PATHS[path2]);
                }
                match failed {
                    true => event.errno = memory.errno("EIO"),
                    false => event.size = Nullable::some(size),
                }
            });
        }
        log.build()
    }
}

fn unselected(select: SelectSpec, log: &EventLog) -> Vec<bool> {
    let spec = QuerySpec { select, ..QuerySpec::default() };
    activities(spec, log).iter().map(|activity| activity == "unselected").collect()
}

fn rules_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "preset = 'dir1'\n[variables]\nS = '/s'\n[[rule]]\nfailed = true\ncid = 'a'\nactivity = '${call} ${cid} ${base}'\n\
                [[rule]]\ncall = 'p*'\npath = '(\\d+)'\nactivity = 'n${1}'\n[[rule]]\ncall = 'brk'\ndrop = true\n";
    std::fs::write(file.path(), text).unwrap();
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_negation_selects_exactly_the_rest(log in any_log(), which in 0..6_usize) {
        let none = SelectSpec::default;
        let (yes, no) = match which {
            0 => (SelectSpec { call: words(&["p*,read"]), ..none() }, SelectSpec { not_call: words(&["p*,read"]), ..none() }),
            1 => (SelectSpec { path: words(&["/s", "pipe"]), ..none() }, SelectSpec { not_path: words(&["/s", "pipe"]), ..none() }),
            2 => (SelectSpec { case: words(&["cid=a,*n2*"]), ..none() }, SelectSpec { not_case: words(&["cid=a,*n2*"]), ..none() }),
            3 => (SelectSpec { pid: words(&["1-2"]), ..none() }, SelectSpec { not_pid: words(&["1-2"]), ..none() }),
            4 => (SelectSpec { since: Some("40%".into()), ..none() }, SelectSpec { until: Some("40%".into()), ..none() }),
            _ => (SelectSpec { failed: Some(true), ..none() }, SelectSpec { failed: Some(false), ..none() }),
        };
        let rest: Vec<bool> = unselected(no, &log).into_iter().map(|out| !out).collect();
        prop_assert_eq!(unselected(yes, &log), rest);
    }

    #[test]
    fn classifying_equals_mapping_each_event(log in any_log(), which in 0..5_usize) {
        let file = rules_file();
        let map = ["dir2", "template", "ext", "call", file.path().to_str().unwrap()][which];
        let query = Query::new(QuerySpec { map: Some(map.to_owned()), ..QuerySpec::default() }, &log).unwrap();
        let (mapping, variables) = Mapping::load(Some(map)).unwrap();
        let naive = naive(&mapping, &variables, &log);
        let fast: Vec<String> = classify(&query, &log).into_iter().map(|(activity, _)| activity).collect();
        prop_assert_eq!(fast, naive);
    }

    #[test]
    fn skipped_row_groups_hold_no_selected_row(log in any_log(), case in 0..3_u32, share in 0..100_u32) {
        let patterns = ["cid=a", "rid=1", "host=n2"];
        let select = SelectSpec { case: words(&[patterns[case as usize]]), since: Some(format!("{share}%")), ..SelectSpec::default() };
        let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log).unwrap();
        let mut worker = query.worker();
        let mut out = iotrail_query::Classified::default();
        for group in (0..log.row_groups()).filter(|&group| !query.may_match_group(log.row_group(group))) {
            worker.classify(&log.read(group, Columns::ALL).unwrap(), &mut out);
            prop_assert!(out.activity.iter().all(|activity| *activity == iotrail_query::ActivityId::UNSELECTED));
        }
    }
}

fn naive(mapping: &Mapping, variables: &Variables, log: &EventLog) -> Vec<String> {
    let mut rows = Vec::new();
    for group in 0..log.row_groups() {
        let batch = log.read(group, Columns::ALL).unwrap();
        for row in 0..batch.len {
            let event = batch.event(row);
            let path =
                log.names().path(event.path).map(|path| variables.shorten(&canonical(path)).into_owned());
            let call = log.names().call(event.call);
            let activity = mapping.activity(&Subject {
                call,
                path: path.as_deref(),
                moves_data: matches!(call, "read" | "write" | "pread64"),
                failed: !event.errno.is_null(),
                case: &log.cases()[event.case.index()],
            });
            rows.push(activity.unwrap_or_else(|| "unmapped".to_owned()));
        }
    }
    rows
}
