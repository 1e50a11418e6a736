//! Trace files through parser, resolver and trail to an event log.

use crate::common::{Dir, Row, shown};
use iotrail_import::{CasePattern, ImportError, ImportOptions, Progress, WarningKind};
use iotrail_model::{Clock, Note};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const PAPER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/paper");

const LS: &str = "\
7  10:00:00.000001 execve(\"/bin/ls\", [\"ls\"], 0x7ff /* 1 var */) = 0 <0.000100>
7  10:00:00.000200 openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3 <0.000010>
7  10:00:00.000300 read(3, \"root\"..., 4096) = 1000 <0.000020>
7  10:00:00.000400 read(3, \"\", 4096) = 0 <0.000005>
7  10:00:00.000500 close(3) = 0 <0.000003>
7  10:00:00.000600 +++ exited with 0 +++
";

#[test]
fn the_papers_example_has_six_cases_of_reads_and_writes() {
    let dir = Dir::new();
    let (summary, log) = dir.import(&[Path::new(PAPER)], &ImportOptions::default());
    assert_eq!((summary.files, summary.cases, summary.events), (6, 6, 3 * 8 + 3 * 17));
    assert_eq!((summary.coverage.lines.total, summary.coverage.lines.exit), (81, 6));
    assert_eq!((summary.warnings, summary.failures), (vec![], vec![]));
    let names: Vec<String> = log.cases().iter().map(|case| case.name.to_string()).collect();
    let ranks = [("a", 9042), ("a", 9043), ("a", 9045), ("b", 9157), ("b", 9158), ("b", 9160)];
    assert_eq!(names, ranks.map(|(cid, rid)| format!("{cid}/host1/{rid}")));
    assert!(log.cases().iter().all(|case| case.clock == Clock::TimeOfDay && !case.interleaved));
    let first_two: Vec<String> =
        shown(&log).into_iter().filter(|row| row.case == 0).take(2).map(Row::text).collect();
    assert_eq!(
        first_two,
        [
            "0 9054 read /usr/lib/x86_64-linux-gnu/libselinux.so.1 +832 32154.153994 0.000224",
            "0 9054 read /usr/lib/x86_64-linux-gnu/libc.so.6 +832 32154.155294 0.000107",
        ]
    );
}

#[test]
fn paths_of_descriptors_come_from_the_calls_before() {
    let dir = Dir::new();
    let (_, log) = dir.import(&[&dir.write("ls.st", LS)], &ImportOptions::default());
    let rows: Vec<String> = shown(&log).into_iter().map(Row::text).collect();
    assert_eq!(
        rows[1..],
        [
            "0 7 openat /etc/passwd - 36000.000200 0.000010",
            "0 7 read /etc/passwd +1000 36000.000300 0.000020",
            "0 7 read /etc/passwd +0 36000.000400 0.000005",
            "0 7 close /etc/passwd - 36000.000500 0.000003",
        ]
    );
}

#[test]
fn compressed_files_give_the_same_events_as_plain_ones() {
    let dir = Dir::new();
    let text = LS.to_owned();
    let (_, plain) = dir.import(&[&dir.write("a_h_1.st", &text)], &ImportOptions::default());
    for (name, bytes) in [
        ("z/a_h_1.st.gz", crate::common::gzip(&text)),
        ("z/a_h_1.st.xz", crate::common::xz(&text)),
        ("z/a_h_1.st.zst", crate::common::zst(&text)),
        ("z/a_h_1.data", crate::common::gzip(&text)),
    ] {
        let (summary, log) = dir.import(&[&dir.write(name, bytes)], &ImportOptions::default());
        assert_eq!(shown(&log), shown(&plain), "{name}");
        assert_eq!(log.cases()[0].name, plain.cases()[0].name, "{name}");
        assert_eq!(summary.text_bytes, text.len() as u64, "{name}");
    }
}

#[test]
fn truncated_data_are_used_as_far_as_they_go_and_the_loss_is_said() {
    let dir = Dir::new();
    let text: String =
        (0..3000).map(|n| LS.replace("/etc/passwd", &format!("/etc/{}", n * 7919 % 3001))).collect();
    let packed = crate::common::gzip(&text);
    let path = dir.write("a.st.gz", &packed[..packed.len() / 2]);
    let (summary, log) = dir.import(&[&path], &ImportOptions::default());
    assert!(log.rows() > 5000 && log.rows() < 13_000, "{} rows", log.rows());
    let [warning] = &summary.warnings[..] else { panic!("{:?}", summary.warnings) };
    assert_eq!((warning.kind, warning.more), (WarningKind::DamagedData, 0));
    assert!(warning.found.contains("end early after"), "{warning}");
    let note = "1 file with damaged or incomplete compressed data: the rest is lost";
    assert!(log.coverage().notes.sentences().any(|kept| kept == note), "{:?}", log.coverage().notes);
}

#[test]
fn files_that_end_in_the_middle_of_a_line_are_counted_and_one_is_named() {
    let dir = Dir::new();
    let cut = &LS[..LS.len() / 2];
    dir.write("a.st", cut);
    let (summary, _) = dir.import(&[dir.root()], &ImportOptions::default());
    assert_eq!(summary.coverage.lines.unparsed, 1);
    let has = |summary: &iotrail_import::ImportSummary, end: &str| {
        summary.coverage.notes.sentences().any(|note| note.ends_with(end))
    };
    assert!(has(&summary, "a.st ends in the middle of line 3"), "{:?}", summary.coverage.notes);
    dir.write("b.st", cut);
    dir.write("c.st", LS);
    let (summary, _) = dir.import(&[dir.root()], &ImportOptions::default());
    let sentence = format!(
        "2 files end in the middle of a line, the first of them {} in line 3",
        dir.path("a.st").display()
    );
    assert!(has(&summary, &sentence), "{:?}", summary.coverage.notes);
}

#[test]
fn other_files_are_named_and_left_out() {
    let dir = Dir::new();
    dir.write("t/a_h_1.st", LS);
    dir.write("t/README", "This is no trace.\n");
    dir.write("t/core", [0_u8, 1, 2, 3].repeat(100));
    dir.write("t/x.bz2", "BZh91AY&SY");
    dir.write("t/b_h_2.st", "");
    dir.write("t/.hidden", LS);
    dir.write("t/old.trail/trail.json", "{}");
    dir.write("named.txt", "This is no trace.\n");
    let inputs = [dir.path("t"), dir.path("missing.st"), dir.path("named.txt")];
    let inputs: Vec<&Path> = inputs.iter().map(AsRef::as_ref).collect();
    let (summary, log) = dir.import(&inputs, &ImportOptions::default());
    let base = |file: &String| Path::new(file).file_name().expect("a name").to_string_lossy().into_owned();
    let warned: Vec<_> = summary.warnings.iter().map(|warning| (warning.kind, base(&warning.file))).collect();
    assert_eq!(
        warned,
        [
            (WarningKind::LeftOut, ".hidden".to_owned()),
            (WarningKind::UnknownFormat, "README".to_owned()),
            (WarningKind::UnknownFormat, "core".to_owned())
        ]
    );
    let failed: Vec<_> =
        summary.failures.iter().map(|failure| (failure.action, base(&failure.file))).collect();
    let failures = [("open", "missing.st"), ("unpack", "x.bz2"), ("import", "named.txt")];
    assert_eq!(failed, failures.map(|(action, file)| (action, file.to_owned())));
    let cases: Vec<String> = log.cases().iter().map(|case| case.name.to_string()).collect();
    assert_eq!(cases, ["a/h/1", "b/h/2"]);
    let coverage = log.coverage();
    let notes: Vec<&str> = coverage.notes.sentences().collect();
    assert!(notes.contains(&"1 file held no events"), "{notes:?}");
    let missing = "missing.st: not imported to its end: ";
    for name in ["README: not imported: ", "core: not imported: ", "named.txt: not imported: ", missing] {
        assert!(notes.iter().any(|note| note.contains(name)), "{name} {notes:?}");
    }
}

#[test]
fn names_of_directories_that_lie_too_deep_are_unknown_and_take_no_memory() {
    let dir = Dir::new();
    let deeper = "7 chdir(\"".to_owned() + &"a".repeat(200) + "\") = 0\n";
    let trace = "7 getcwd(\"/w\", 4096) = 3\n".to_owned() + &deeper.repeat(3000);
    let (summary, log) = dir.import(&[&dir.write("a.st", trace)], &ImportOptions::default());
    assert_eq!(log.rows(), 3001);
    let notes = &summary.coverage.notes;
    assert!(notes.sentences().any(|note| note.starts_with("1 path is unknown")), "{notes:?}");
    // What comes after it is relative to a directory that is not known.
    let lengths: Vec<usize> = log.names().paths.iter().map(|path| path.len()).collect();
    let deepest = lengths.iter().max().copied().unwrap_or_default();
    let known = (deepest - 2) / 201;
    assert_eq!(summary.coverage.relative_paths, 3000 - known as u64 - 1);
    assert!((4096..1 << 20).contains(&deepest), "{deepest}");
    assert!(lengths.iter().sum::<usize>() < 20 << 20);
    let absolute = lengths.iter().filter(|length| **length % 201 == 2 && **length > 2).count();
    assert_eq!(absolute, known, "all names are known until there are too many");
}

#[test]
fn without_any_strace_output_there_is_no_trail() {
    let dir = Dir::new();
    let error = dir.try_import(&[&dir.write("README", "no trace\n")], &ImportOptions::default());
    let Err(ImportError::NothingToImport { failures, .. }) = error else { panic!("{error:?}") };
    assert_eq!(failures[0].action, "import");
    assert_eq!(dir.names(), ["README"]);
}

#[test]
fn a_trace_behind_other_text_is_found() {
    let dir = Dir::new();
    let chatter = "the program said something\n".repeat(10_000);
    let (summary, log) = dir.import(&[&dir.write("log.txt", chatter + LS)], &ImportOptions::default());
    assert_eq!(log.rows(), 5);
    assert_eq!(summary.coverage.lines.unparsed, 10_000);
    assert_eq!(summary.coverage.lines.total, summary.coverage.lines.sum());
}

#[test]
fn one_strace_ff_is_one_run_of_several_cases() {
    let dir = Dir::new();
    dir.write(
        "t.100",
        "10:00:00.000100 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3 <0.000010>\n\
         10:00:00.000200 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 101 <0.000050>\n\
         10:00:00.000900 close(3) = 0 <0.000001>\n\
         10:00:00.001000 +++ exited with 0 +++\n",
    );
    dir.write(
        "t.101",
        "10:00:00.000400 read(3, \"x\"..., 10) = 10 <0.000010>\n10:00:00.000950 +++ exited with 0 +++\n",
    );
    let (summary, log) = dir.import(&[dir.root()], &ImportOptions::default());
    assert_eq!((summary.cases, summary.events), (2, 4));
    let rows: Vec<String> = shown(&log).into_iter().map(Row::text).collect();
    assert_eq!(rows[3], "1 101 read /data/in +10 36000.000400 0.000010");
    let names: Vec<String> = log.cases().iter().map(|case| case.name.to_string()).collect();
    assert_eq!(names, ["t/100", "t/101"]);
    let parents: Vec<_> =
        log.processes().expect("processes").into_iter().map(|row| (row.pid.0, row.ppid)).collect();
    assert!(parents.contains(&(101, Some(iotrail_model::Pid(100)))), "{parents:?}");
}

#[test]
fn a_large_set_is_merged_with_few_open_files() {
    const PROCESSES: u32 = 700;
    let dir = Dir::new();
    let first = "openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3 <0.000001>\n";
    let mut parent = format!("10:00:00.000000 {first}");
    for child in 1..=PROCESSES {
        parent += &format!("10:00:00.{child:06} clone(flags=CLONE_VM) = {} <0.000001>\n", 1000 + child);
        let reads: String = (0..60)
            .map(|read| {
                format!(
                    "10:00:{:02}.{child:06} read(3, \"{}\", 9) = 9 <0.000001>\n",
                    read % 60,
                    "x".repeat(200)
                )
            })
            .skip(1)
            .collect();
        dir.write(&format!("t/t.{}", 1000 + child), reads);
    }
    dir.write("t/t.1000", parent);
    let (summary, log) = dir.import(&[&dir.path("t")], &ImportOptions::default());
    assert_eq!(summary.events, u64::from(1 + PROCESSES + PROCESSES * 59));
    assert!(shown(&log).iter().filter(|row| row.call == "read").all(|row| row.path == "/data/in"));
}

#[test]
fn ten_thousand_rank_files_are_one_trail_of_few_files() {
    let dir = Dir::new();
    for rank in 0..10_000 {
        dir.write(&format!("t/a_h{}_{rank}.st", rank / 100), LS);
    }
    let (summary, log) = dir.import(&[&dir.path("t")], &ImportOptions::default());
    assert_eq!((summary.cases, summary.events), (10_000, 50_000));
    assert_eq!(log.cases()[9999].name.to_string(), "a/h99/9999");
    assert_eq!(log.cases()[9999].id.0, 9999);
    let files = std::fs::read_dir(dir.trail()).expect("a trail").count();
    assert!(files < 10, "{files} files in the trail");
}

#[test]
fn the_trail_is_the_same_bytes_for_any_number_of_threads() {
    let dir = Dir::new();
    // Parts are planned by size; a name that promises packed data makes a small file count as a large one.
    let text = LS.repeat(4000);
    for name in ["a_h_1.st", "a_h_2.st", "b_h_1.st.1", "b_h_1.st.2"] {
        dir.write(&format!("t/{name}.gz"), &text);
    }
    let bytes = |threads: usize| {
        let options = ImportOptions { threads: threads.try_into().ok(), ..ImportOptions::default() };
        dir.import(&[&dir.path("t")], &options);
        crate::common::content(&dir.trail())
    };
    let (one, three) = (bytes(1), bytes(3));
    assert!(one.len() > 5, "several parts: {:?}", one.keys());
    assert!(one == three);
}

#[test]
fn one_text_gives_the_same_bytes_whether_one_thread_does_everything_or_each_its_part() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/strace");
    let mut inputs: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    inputs.retain(|path| path.extension().is_some_and(|extension| extension == "st"));
    let dir = Dir::new();
    // More items, text and names of calls than are handed over at once.
    let strange: String =
        (0..9000).map(|n| format!("7 call_{n}(\"{}\", 3) = {n}\n", "x".repeat(n % 90))).collect();
    inputs.push(dir.write("long.st", LS.repeat(9000) + &strange));
    // The files of one `strace -ff`.
    let set = dir.path("set");
    for tid in 1..40 {
        let lines = |n: u32| {
            format!("10:00:0{}.{tid:06} fork() = {}\n10:00:09.{n:06} close(3) = 0\n", tid % 7, tid + 1)
        };
        dir.write(&format!("set/t.{tid}"), (0..200).map(lines).collect::<String>());
    }
    inputs.push(set);
    for input in inputs {
        let bytes = |threads: usize| {
            let options = ImportOptions { threads: threads.try_into().ok(), ..ImportOptions::default() };
            let result = dir.try_import(&[&input], &options);
            let content = result.as_ref().map(|_| crate::common::content(&dir.trail())).unwrap_or_default();
            (format!("{result:?}"), content)
        };
        let (one, more) = (bytes(1), bytes(4));
        assert!(one == more, "{}", input.display());
    }
}

#[test]
fn names_follow_the_pattern_and_equal_ones_are_told_apart() {
    let dir = Dir::new();
    for name in ["n1/x-3.log", "n2/x-3.log", "n2/odd name.log"] {
        dir.write(name, LS);
    }
    let pattern: CasePattern = "{cid}-{rid}.log".parse().expect("a pattern");
    let options =
        ImportOptions { case_pattern: pattern, label: Some("before".to_owned()), ..ImportOptions::default() };
    let (summary, log) = dir.import(&[dir.root()], &options);
    let names: Vec<String> = log.cases().iter().map(|case| case.name.to_string()).collect();
    assert_eq!(names, ["n1/x/3", "n2/odd name", "n2/x/3"].map(|name| name.replace("n2/odd", "odd")));
    assert!(log.cases().iter().all(|case| case.label.as_deref() == Some("before")));
    let [warning] = &summary.warnings[..] else { panic!("{:?}", summary.warnings) };
    assert_eq!((warning.kind, warning.more), (WarningKind::CaseName, 0));
}

#[test]
fn a_date_moves_times_of_day() {
    let dir = Dir::new();
    let options = ImportOptions { date: Some((2026, 11, 21)), ..ImportOptions::default() };
    let (_, log) = dir.import(&[&dir.write("a.st", LS)], &options);
    let start = log.read(0, iotrail_trail::Columns::ALL).expect("rows").start[0];
    assert_eq!(start.to_rfc3339(), "2026-11-21T10:00:00.000001000Z");
}

#[test]
fn what_the_trace_does_not_say_is_noted() {
    let dir = Dir::new();
    dir.write("t/a.st", "read(0</dev/null>, \"\", 10) = 0\n");
    let (summary, log) = dir.import(&[&dir.path("t")], &ImportOptions::default());
    assert_eq!(log.cases()[0].clock, Clock::Order);
    assert_eq!(
        summary.coverage.notes.sentences().collect::<Vec<_>>(),
        [
            "1 file without durations (option -T)",
            "1 file without time stamps (option -ttt): only the order of calls is known",
        ]
    );
}

#[test]
fn a_line_of_any_length_is_one_event() {
    let dir = Dir::new();
    let long = format!("write(1</tmp/x>, \"{}\", 40000000) = 40000000 <0.5>\n", "\\\"x".repeat(14_000_000));
    let text = LS.replacen("7  10:00:00.000500", &format!("7  10:00:00.000450 {long}7  10:00:00.000500"), 1);
    let (summary, log) = dir.import(&[&dir.write("a.st", text)], &ImportOptions::default());
    assert_eq!((summary.events, summary.coverage.lines.unparsed), (6, 0));
    let write = shown(&log).into_iter().find(|row| row.call == "write").expect("the write");
    assert_eq!(write.text(), "0 7 write /tmp/x +40000000 36000.000450 0.500000");
    assert!(
        summary.coverage.notes.sentences().any(|note| note.contains("so long that")),
        "{:?}",
        summary.coverage.notes
    );
}

#[test]
fn a_stream_is_read_while_it_is_written_and_a_cancellation_leaves_what_came() {
    let dir = Dir::new();
    let fifo = dir.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let cancel = Arc::new(AtomicBool::new(false));
    let options = ImportOptions { cancel: Arc::clone(&cancel), ..ImportOptions::default() };
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(fifo).expect("a pipe");
            pipe.write_all(LS.as_bytes()).expect("a reader");
            cancel.store(true, Ordering::Relaxed);
            // Stays open: only the cancellation ends the import.
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    });
    let (summary, log) = dir.import(&[&fifo], &options);
    assert_eq!(log.rows(), 5);
    assert!(summary.cancelled);
    assert!(log.coverage().notes.iter().any(|note| *note == Note::ImportCancelled));
    writer.join().expect("no panic");
}

#[test]
fn a_cancelled_import_of_files_is_a_finished_trail() {
    struct CancelAfter<'a>(&'a AtomicBool, AtomicU64);
    impl Progress for CancelAfter<'_> {
        fn advance(&self, bytes: u64) {
            if self.1.fetch_add(bytes, Ordering::Relaxed) > 1 << 20 {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let dir = Dir::new();
    let path = dir.write("a.st", LS.repeat(20_000));
    let options = ImportOptions::default();
    let progress = CancelAfter(&options.cancel, AtomicU64::new(0));
    let summary = dir.import_with(&[&path], &options, &progress).expect("a trail");
    assert!(summary.cancelled && summary.events > 1000 && summary.events < 100_000, "{summary:?}");
    assert_eq!(
        summary.coverage.lines.unparsed, 0,
        "the line that was cut by the cancellation is not the trace's fault"
    );
    assert_eq!(dir.log().rows(), summary.events);
}

#[test]
fn progress_adds_up_to_the_bytes_announced() {
    #[derive(Default)]
    struct Sum(Mutex<(u64, Option<u64>, u64)>);
    impl Progress for Sum {
        fn begin(&self, files: u64, bytes: Option<u64>) {
            *self.0.lock().expect("no panic") = (files, bytes, 0);
        }
        fn advance(&self, bytes: u64) {
            self.0.lock().expect("no panic").2 += bytes;
        }
    }
    let dir = Dir::new();
    let packed = crate::common::gzip(LS);
    let size = (LS.len() + packed.len()) as u64;
    dir.write("t/a.st", LS);
    dir.write("t/b.st", packed);
    let sum = Sum::default();
    dir.import_with(&[&dir.path("t")], &ImportOptions::default(), &sum).expect("a trail");
    assert_eq!(*sum.0.lock().expect("no panic"), (2, Some(size), size));
}

#[test]
fn a_trail_is_replaced_only_when_asked_for() {
    let dir = Dir::new();
    let path = dir.write("a.st", LS);
    dir.import(&[&path], &ImportOptions::default());
    let again = ImportOptions { overwrite: false, ..ImportOptions::default() };
    let error = dir.import_exactly(&[&path], &again).expect_err("the trail exists");
    assert!(error.to_string().contains("exists already"), "{error}");
}

#[test]
fn a_target_that_cannot_be_made_is_named() {
    let dir = Dir::new();
    let path = dir.write("a.st", LS);
    let inputs = [iotrail_import::Input::Path(path)];
    let target = Path::new("/proc/no/such.trail");
    let error = iotrail_import::import(
        &[&iotrail_strace::Strace],
        &inputs,
        &ImportOptions::default(),
        target,
        &iotrail_import::Silent,
    );
    let message = error.expect_err("no place").to_string();
    assert!(message.contains("/proc/no"), "{message}");
}

#[test]
fn what_strace_cut_off_a_command_line_is_marked_and_counted() {
    let trace = "\
7  10:00:00.000001 execve(\"/bin/rm\", [\"rm\", \"-r\", \"project_alpha/results_of_2026/tm\"...], 0x7ff /* 1 var */) = 0 <0.0001>
7  10:00:00.000150 read(3, \"data\"..., 10) = 10 <0.0001>
7  10:00:00.000200 execve(\"/bin/ls\", [\"ls\", \"a\", ...], 0x7ff /* 1 var */) = 0 <0.0001>
7  10:00:00.000250 read(3, \"data\"..., 10) = 10 <0.0001>
7  10:00:00.000300 execve(\"/bin/cp\", [...], 0x7ff /* 1 var */ <unfinished ...>
7  10:00:00.000400 <... execve resumed>) = 0 <0.0001>
7  10:00:00.000450 read(3, \"data\"..., 10) = 10 <0.0001>
7  10:00:00.000500 execve(\"/bin/cat\", [\"cat\", \"a...\"], 0x7ff /* 1 var */) = 0 <0.0001>
7  10:00:00.000550 read(3, \"data\"..., 10) = 10 <0.0001>
7  10:00:00.000600 unlink(\"/a/very/long/pa\"...) = 0 <0.0001>
7  10:00:00.000700 +++ exited with 0 +++
";
    let dir = Dir::new();
    let (summary, log) = dir.import(&[&dir.write("rm.st", trace)], &ImportOptions::default());
    assert_eq!(summary.coverage.cut_arguments, 4);
    let processes = log.processes().unwrap();
    let mut lines: Vec<_> = processes
        .iter()
        .map(|process| {
            (
                process.start,
                process.cmdline.as_deref().map(|line| line.replace('\0', " ")),
                process.cmdline_cut,
            )
        })
        .collect();
    lines.sort();
    let lines: Vec<_> = lines.iter().filter_map(|(_, line, cut)| Some((line.as_deref()?, (*cut)?))).collect();
    let expected = [
        ("rm -r project_alpha/results_of_2026/tm...", true),
        ("ls a ...", true),
        ("...", true),
        ("cat a...", false),
    ];
    assert_eq!(lines, expected);
    let unlink = shown(&log).into_iter().map(Row::text).find(|row| row.contains("unlink")).unwrap();
    assert!(!unlink.contains("/a/very"), "a path that is not whole is unknown: {unlink}");
}

#[test]
fn a_clock_that_is_set_back_moves_nobody_and_is_stated() {
    let dir = Dir::new();
    let text = "\
7 1700000100.000000 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.500000>
7 1700000096.500000 read(3, \"x\", 1) = 1 <0.000010>
7 1700000096.600000 close(3) = 0 <0.000010>
7 1700000096.700000 exit_group(0) = ?
7 1700000096.800000 +++ exited with 0 +++
";
    let (summary, log) = dir.import(&[&dir.write("a.st", text)], &ImportOptions::default());
    let order: Vec<String> = shown(&log).into_iter().map(|row| row.call).collect();
    assert_eq!(order, ["openat", "read", "close", "exit_group"]);
    let starts: Vec<i64> = shown(&log).iter().map(|row| row.start / 1_000_000 - 1_700_000_100_000).collect();
    assert_eq!(starts, [0, 500, 600, 700]);
    let note =
        "the clock was set back by 3.50 s or more: later times are shifted so that calls keep their order";
    assert!(summary.coverage.notes.sentences().any(|kept| kept == note), "{:?}", summary.coverage.notes);
    let process = &log.processes().expect("processes")[0];
    let life = process.end.zip(process.start).map(|(end, start)| (end - start).0);
    assert_eq!(life, Some(800_000_000));
}

#[test]
fn equal_times_keep_the_order_in_which_calls_began() {
    let dir = Dir::new();
    let text = "\
100 10:00:00 read(3,  <unfinished ...>
101 10:00:00 write(4, \"b\", 1) = 1
102 10:00:00 write(4, \"c\", 1) = 1
100 10:00:00 <... read resumed>\"a\", 1) = 1
100 10:00:00 close(3) = 0
";
    let (_, log) = dir.import(&[&dir.write("a.st", text)], &ImportOptions::default());
    let order: Vec<String> = shown(&log).iter().map(|row| format!("{} {}", row.tid, row.call)).collect();
    assert_eq!(order, ["100 read", "101 write", "102 write", "100 close"]);
}

/// What strace 6.1 wrote of a program whose second thread calls exec.
#[test]
fn a_thread_that_calls_exec_goes_on_in_the_file_of_its_leader() {
    let dir = Dir::new();
    dir.write(
        "x.4735",
        "\
1700000000.210000 execve(\"/t/threads\", [\"threads\"], 0x7ffc /* 9 vars */) = 0 <0.000300>
1700000000.215000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 4737 <0.000050>
1700000000.216000 futex(0x7f, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 4737, NULL, FUTEX_BITSET_MATCH_ANY) = ?
1700000000.254000 +++ superseded by execve in pid 4737 +++
1700000000.254010 <... execve resumed>) = 0 <0.013700>
1700000000.254100 write(1, \"hi\\n\", 3) = 3 <0.000012>
1700000000.254200 exit_group(0) = ?
1700000000.254400 +++ exited with 0 +++
",
    );
    dir.write(
        "x.4737",
        "\
1700000000.216432 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=20000000}, NULL) = 0 <0.023948>
1700000000.240464 execve(\"/bin/echo\", [\"echo\", \"hi\"], 0x7ffc /* 9 vars */ <pid changed to 4735 ...>
",
    );
    let (summary, log) = dir.import(&[dir.root()], &ImportOptions::default());
    assert_eq!((summary.coverage.incomplete, summary.processes), (0, 1));
    let processes = log.processes().expect("processes");
    let images: Vec<_> = processes.iter().map(|row| (row.exe.as_deref(), row.exit_code)).collect();
    assert_eq!(images, [(Some("/t/threads"), None), (Some("/bin/echo"), Some(0))]);
    assert_eq!(processes[1].cmdline.as_deref(), Some("echo\0hi"));
    let rows: Vec<String> =
        shown(&log).into_iter().map(|row| format!("{} {} {}", row.tid, row.call, row.path)).collect();
    let leader =
        ["4735 execve /t/threads", "4735 clone -", "4735 futex -", "4735 execve /bin/echo", "4735 write -"];
    assert_eq!(rows[..5], leader, "{rows:?}");
    assert_eq!(rows[5..], ["4735 exit_group -", "4737 clock_nanosleep -"]);
}

#[test]
fn what_a_trace_cannot_show_is_stated() {
    let dir = Dir::new();
    let text = "\
7 io_uring_setup(8, {flags=0, sq_entries=8, cq_entries=16}) = 3
7 io_uring_enter(3, 2, 0, 0, NULL, 8) = 2
7 openat(AT_FDCWD, \"/a\", O_RDONLY) = 4
7 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 4, 0) = 0x7f0000000000
";
    let (summary, _) = dir.import(&[&dir.write("a.st", text)], &ImportOptions::default());
    for note in [
        "io_uring or aio were used (2 requests): what such requests read and wrote is not in a trace",
        "1 file was mapped to memory: reads and writes through memory are not in a trace",
    ] {
        assert!(summary.coverage.notes.sentences().any(|kept| kept == note), "{:?}", summary.coverage.notes);
    }
}

/// Thread 7 opens `/a` and makes thread 8, which closes that descriptor and opens `/b` with the same number; 7 waits for
/// 8, writes, and makes process 9, which writes as well. `stamps` are in front of each line of both files.
fn rebound(dir: &Dir, stamps: [&[&str]; 3], hint: &str) -> PathBuf {
    let lines: [&[String]; 3] = [
        &[
            "openat(AT_FDCWD, \"/a\", O_RDWR) = 3".to_owned(),
            "write(3, \"x\", 10) = 10".to_owned(),
            "clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 8"
                .to_owned(),
            format!("write(3{hint}, \"x\", 1000) = 1000"),
            "write(1, \"x\", 20) = 20".to_owned(),
            "clone(child_stack=NULL, flags=SIGCHLD) = 9".to_owned(),
        ],
        &["close(3) = 0".to_owned(), "openat(AT_FDCWD, \"/b\", O_RDWR) = 3".to_owned()],
        &["write(3, \"x\", 500) = 500".to_owned()],
    ];
    for (tid, (lines, stamps)) in (7..).zip(lines.iter().zip(stamps)) {
        let text: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(row, line)| format!("{}{line}\n", stamps.get(row).unwrap_or(&"")))
            .collect();
        dir.write(&format!("set/t.{tid}"), text.concat());
    }
    dir.path("set")
}

/// Thread, path and bytes of a write, and whether its open file is known.
type Write = (u32, String, i64, bool);

/// All writes, and the notes on descriptors.
#[allow(clippy::expect_used, reason = "the lint spares test functions, but not their helpers")]
fn writes(dir: &Dir, set: &Path) -> (Vec<Write>, Vec<Note>) {
    let (_, log) = dir.import(&[set], &ImportOptions::default());
    let mut writes = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, iotrail_trail::Columns::ALL).expect("rows");
        for event in (0..batch.len).map(|row| batch.event(row)) {
            if log.names().call(event.call) == "write" {
                let path = log.names().path(event.path).unwrap_or("-").to_owned();
                assert_eq!(event.file.is_null(), path == "-", "{path}");
                writes.push((event.tid.0, path, event.size.get().unwrap_or_default(), !event.open.is_null()));
            }
        }
    }
    writes.sort_by_key(|(tid, _, size, _)| (*tid, *size));
    let about = |note: &&Note| matches!(note, Note::UncertainDescriptors { .. });
    (writes, log.coverage().notes.iter().filter(about).cloned().collect())
}

#[test]
fn nobody_guesses_which_of_two_threads_changed_a_descriptor_first() {
    let known = |tid, path: &str, size| (tid, path.to_owned(), size, true);
    let unknown = |tid, path: &str, size| (tid, path.to_owned(), size, false);
    let notes = |calls| vec![Note::UncertainDescriptors { calls }];
    // What 7 did before 8 was there is certain, and so is a descriptor that nobody changes.
    let uncertain = |path: &str| {
        vec![known(7, "/a", 10), known(7, "-", 20), unknown(7, path, 1000), unknown(9, "-", 500)]
    };
    let dir = Dir::new();
    // Without time stamps, and with those of one second: the write, the inheritance, and what inherited it.
    assert_eq!(writes(&dir, &rebound(&dir, [&[], &[], &[]], "")), (uncertain("-"), notes(2)));
    let same = [&["10:00:00 "; 6][..], &["10:00:00 "; 2], &["10:00:00 "]];
    assert_eq!(writes(&dir, &rebound(&dir, same, "")), (uncertain("-"), notes(2)));
    // What strace prints is known.
    assert_eq!(writes(&dir, &rebound(&dir, same, "</b>")), (uncertain("/b"), notes(2)));
    // Different seconds tell the order, and so do fine time stamps.
    let certain = vec![known(7, "/a", 10), known(7, "-", 20), known(7, "/b", 1000), known(9, "/b", 500)];
    let early = ["10:00:00 ", "10:00:00 ", "10:00:00 ", "10:00:02 ", "10:00:02 ", "10:00:02 "];
    let apart = [&early[..], &["10:00:01 "; 2], &["10:00:03 "]];
    assert_eq!(writes(&dir, &rebound(&dir, apart, "")), (certain.clone(), vec![]));
    let fine = [
        "10:00:00.000001 ",
        "10:00:00.000002 ",
        "10:00:00.000003 ",
        "10:00:00.000006 ",
        "10:00:00.000007 ",
        "10:00:00.000008 ",
    ];
    let fine = [&fine[..], &["10:00:00.000004 ", "10:00:00.000005 "], &["10:00:00.000009 "]];
    assert_eq!(writes(&dir, &rebound(&dir, fine, "")), (certain, vec![]));
}

/// Two threads that share descriptors, and what comes of their calls: name, path and file.
#[allow(clippy::expect_used, reason = "the lint spares test functions, but not their helpers")]
fn overlapping(dir: &Dir, calls: &[&str], replacing: &[&str]) -> Vec<(String, Option<String>, Option<u32>)> {
    let first = [
        "1700000000.000300 openat(AT_FDCWD</w>, \"F2\", O_RDONLY) = 50</w/F2> <0.000005>\n",
        "1700000000.000400 openat(AT_FDCWD</w>, \"F3\", O_RDONLY) = 52</w/F3> <0.000005>\n",
        "1700000000.000500 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 101 <0.000020>\n",
    ];
    dir.write("set/t.100", [&first, calls].concat().concat());
    dir.write("set/t.101", replacing.concat());
    let (_, log) = dir.import(&[&dir.path("set")], &ImportOptions::default());
    let mut seen = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, iotrail_trail::Columns::ALL).expect("rows");
        let events = (0..batch.len).map(|row| batch.event(row));
        for event in events.filter(|event| event.tid.0 == 101 || event.seq > 2) {
            let call = log.names().call(event.call).to_owned();
            let path = log.names().path(event.path).map(str::to_owned);
            seen.push((event.start, call, path, event.file.get().map(|file| file.0)));
        }
    }
    seen.sort();
    seen.into_iter().map(|(_, call, path, file)| (call, path, file)).collect()
}

#[test]
fn what_strace_printed_of_a_descriptor_that_another_thread_changed_meanwhile_is_not_believed() {
    let dir = Dir::new();
    let dup2 = "1700000000.000993 dup2(52</w/F3>, 50</w/F2>) = 50</w/F3> <0.000010>\n";
    let known = |call: &str, name: &str, file| (call.to_owned(), Some(name.to_owned()), Some(file));
    let unknown = |call: &str| (call.to_owned(), None, None);
    let pread = "1700000000.001000 pread64(50</w/F2>, \"x\"..., 64, 3952) = 64 <0.000011>\n";
    assert_eq!(overlapping(&dir, &[pread], &[dup2]), [known("dup2", "/w/F3", 1), unknown("pread64")]);
    let fstat = "1700000000.001000 fstat(50</w/F2>, {st_dev=makedev(0x8, 0x1), st_ino=11, st_mode=S_IFREG|0644, st_nlink=1, st_size=100}) = 0 <0.000011>\n";
    let again = "1700000000.001100 openat(AT_FDCWD</w>, \"F2\", O_RDONLY) = 51</w/F2> <0.000005>\n";
    let seen = [known("dup2", "/w/F3", 1), unknown("fstat"), known("openat", "/w/F2", 0)];
    assert_eq!(overlapping(&dir, &[fstat, again], &[dup2]), seen);
    // What a copy is of is certain, whatever strace found when both were over.
    let other = "1700000000.000990 dup2(50</w/F2>, 60) = 60</w/F3> <0.000020>\n";
    let dup2 = "1700000000.000995 dup2(52</w/F3>, 60) = 60</w/F2> <0.000020>\n";
    assert_eq!(overlapping(&dir, &[other], &[dup2]), [known("dup2", "/w/F2", 0), known("dup2", "/w/F3", 1)]);
    let after = "1700000000.001200 pread64(60</w/F2>, \"x\"..., 64, 0) = 64 <0.000011>\n";
    let seen = overlapping(&dir, &[other, after], &[dup2]);
    assert_eq!(seen[2].1.as_deref(), Some("/w/F2"), "that is past");
}

#[test]
fn the_cases_of_a_set_name_the_one_that_they_share_numbers_with() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    rebound(&dir, [&[], &[], &[]], "");
    let (_, log) = dir.import(&[dir.root()], &ImportOptions::default());
    let shares = |case: &iotrail_model::Case| (case.name.to_string(), case.numbered_with.map(|with| with.0));
    let first = log.cases().iter().find(|case| case.name.to_string() == "t/7").expect("a case").id.0;
    let mut cases: Vec<_> = log.cases().iter().map(shares).collect();
    cases.sort();
    let set = ["t/7", "t/8", "t/9"].map(str::to_owned);
    let [seven, eight, nine] = set;
    assert_eq!(cases, [("a".to_owned(), None), (seven, None), (eight, Some(first)), (nine, Some(first))]);
}
