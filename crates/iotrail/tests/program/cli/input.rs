//! What `import` takes in.

use crate::cli::util::{Dir, LS};

#[test]
fn standard_input_is_an_input() {
    let dir = Dir::new();
    dir.command(["import", "-o", "t.trail", "-"]).input(LS).run().succeeds();
    assert_eq!(dir.json(["info", "t.trail", "--json"])["events"], 5);
}

#[test]
fn compressed_traces_are_unpacked_from_files_and_pipes_alike() {
    let dir = Dir::with_trace(LS);
    let plain = dir.run(["events", "t.trail", "--json"]).succeeds().stdout;
    for (tool, extension) in [("gzip", "gz"), ("xz", "xz"), ("zstd -q", "zst")] {
        let program = tool.split(' ').next().unwrap_or_default();
        if dir.shell(&format!("command -v {program}")).status.code() != Some(0) {
            continue;
        }
        dir.shell(&format!("mkdir -p z && {tool} -c a_h_1.st > z/a_h_1.st.{extension}")).succeeds();
        dir.shell(&format!("$IOTRAIL import -q -o f.trail --force z/a_h_1.st.{extension}")).succeeds();
        assert_eq!(dir.run(["events", "f.trail", "--json"]).succeeds().stdout, plain, "{tool}");
        let line = format!("cat z/a_h_1.st.{extension} | $IOTRAIL import -q -o p.trail --force -");
        dir.shell(&line).succeeds();
        assert_eq!(dir.json(["info", "p.trail", "--json"])["events"], 5, "{tool}");
    }
}

#[test]
fn a_named_pipe_is_an_input() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    dir.shell("mkfifo pipe && { cat a.st > pipe & $IOTRAIL import -q -o t.trail pipe; }").succeeds();
    assert_eq!(dir.json(["info", "t.trail", "--json"])["events"], 5);
}

#[test]
fn an_unreadable_input_is_named_and_the_others_are_imported() {
    let dir = Dir::new();
    dir.write("a_h_1.st", LS);
    let ran = dir.run(["import", "-o", "t.trail", "a_h_1.st", "gone.st", "--json"]).ends_with(1);
    assert!(ran.messages().contains("cannot open gone.st: No such file or directory"), "{}", ran.messages());
    assert_eq!(ran.json()["failures"][0]["file"], "gone.st");
    assert_eq!(dir.json(["info", "t.trail", "--json"])["events"], 5);
}

#[test]
fn a_named_file_that_is_no_trace_is_a_failure_and_one_in_a_directory_is_not() {
    let dir = Dir::new();
    dir.write("t/a_h_1.st", LS);
    dir.write("t/README.md", "# No trace\n");
    dir.write("core", [0_u8, 1, 2, 3].repeat(100));
    let words = ["import", "--force", "--json", "-o", "t.trail"];
    let ran = dir.run(words.into_iter().chain(["t/a_h_1.st", "t/README.md", "core"])).ends_with(1);
    assert!(
        ran.messages().contains("cannot import t/README.md: text that begins with `# No trace`"),
        "{}",
        ran.messages()
    );
    let failures = &ran.json()["failures"];
    assert_eq!((&failures[0]["file"], &failures[1]["file"]), (&"t/README.md".into(), &"core".into()));
    assert_eq!(dir.json(["info", "t.trail", "--json"])["events"], 5);
    let ran = dir.run(words.into_iter().chain(["t"])).succeeds();
    assert!(ran.messages().contains("t/README.md: text that begins with `# No trace`"), "{}", ran.messages());
    let words = ["import", "--force", "--json", "-o", "t.trail", "t/a_h_1.st", "-"];
    let ran = dir.command(words).input("no trace\n").run().ends_with(1);
    assert!(ran.messages().contains("cannot import stdin: "), "{}", ran.messages());
}

#[test]
fn labels_dates_and_patterns_name_the_cases() {
    let dir = Dir::new();
    dir.write("run-17.txt", LS);
    let words = ["import", "-q", "-o", "t.trail", "run-17.txt", "--case-name", "{cid}-{rid}.txt"];
    dir.run(words.into_iter().chain(["--label", "before", "--date", "2026-11-21"])).succeeds();
    let row = &dir.run(["events", "t.trail", "--json"]).succeeds().json_lines()[0];
    assert_eq!((&row["cid"], &row["rid"], &row["label"]), (&"run".into(), &"17".into(), &"before".into()));
    assert_eq!(row["start"], "2026-11-21T10:00:00.000100000Z");
}

#[test]
fn import_and_info_count_processes_alike() {
    let dir = Dir::new();
    dir.write(
        "a.st",
        "7  10:00:00.000100 execve(\"/bin/sh\", [\"sh\"], 0x7ff /* 1 var */) = 0 <0.000100>\n\
         7  10:00:00.000300 execve(\"/bin/ls\", [\"ls\"], 0x7ff /* 1 var */) = 0 <0.000100>\n\
         7  10:00:00.000600 +++ exited with 0 +++\n",
    );
    let summary = dir.json(["import", "-o", "t.trail", "a.st", "--json"]);
    let info = dir.json(["info", "t.trail", "--json"]);
    assert_eq!((&summary["processes"], &info["processes"]), (&1.into(), &1.into()));
}

#[test]
fn a_child_in_a_file_of_its_own_has_the_descriptors_of_its_parent() {
    let dir = Dir::new();
    dir.write(
        "t.7",
        "10:00:00.000050 brk(NULL) = 0x1000 <0.000010>\n\
         10:00:00.000100 openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3 <0.000010>\n\
         10:00:00.000200 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000100>\n\
         10:00:00.000400 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8 <0.005000>\n\
         10:00:00.006000 +++ exited with 0 +++\n",
    );
    dir.write(
        "t.8",
        "10:00:00.000500 read(3, \"x\", 10)        = 1 <0.000010>\n\
         10:00:00.005000 +++ exited with 0 +++\n",
    );
    dir.run(["import", "-q", "-o", "t.trail", "t.7", "t.8"]).succeeds();
    let rows = dir.run(["events", "t.trail", "--call", "read", "--json"]).succeeds().json_lines();
    assert_eq!((rows.len(), &rows[0]["path"], &rows[0]["offset"]), (1, &"/data/in".into(), &().into()));
}
