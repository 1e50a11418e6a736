//! Workflow graphs of programs that are recorded anew: shells, pipes, a parallel build of a small C project.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may fail anywhere")]

use iotrail_query::{ProcessGroupBy, ProcessTable};
use iotrail_trail::EventLog;
use iotrail_workflow::{BuildOptions, FileView, Graph, Relation, Vertex, VertexId, build, cycles};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

struct Recording {
    root: PathBuf,
    graph: Graph,
    _directory: TempDir,
}

/// Whether every program is installed; says aloud what is not tested if not.
fn installed(programs: &[&str]) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let missing = programs
        .iter()
        .find(|program| !std::env::split_paths(&paths).any(|directory| directory.join(program).is_file()));
    missing.inspect(|program| eprintln!("NOT TESTED: {program} is not installed")).is_none()
}

/// Records `words` in a directory of these files.
fn record(files: &[(&str, &str)], words: &[&str]) -> Recording {
    let directory = TempDir::new().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let work = root.join("work");
    std::fs::create_dir(&work).unwrap();
    for (name, text) in files {
        std::fs::write(work.join(name), text).unwrap();
    }
    let trail = root.join("t.trail");
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
    command.args(["record", "-q", "-o"]).arg(&trail).arg("--").args(words);
    // A make that runs this test must not lend its job server.
    command
        .current_dir(&work)
        .env_remove("MAKEFLAGS")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "{words:?}");
    let graph = graph(&trail, FileView::Version);
    assert!(cycles(&graph).is_empty());
    assert!(graph.edges.iter().all(|edge| edge.from < edge.to), "vertices are not in a topological order");
    Recording { root: work, graph, _directory: directory }
}

fn graph(trail: &Path, view: FileView) -> Graph {
    let log = EventLog::open(&[trail.to_owned()]).unwrap();
    let processes = ProcessTable::new(log.processes().unwrap());
    let groups = ProcessGroupBy::Exe.divide(&log, &processes);
    build(&log, &processes, &groups, &BuildOptions { view, ..BuildOptions::default() }).unwrap()
}

impl Recording {
    /// The last version of a file of the directory.
    fn file(&self, name: &str) -> VertexId {
        let path = self.root.join(name);
        let is_it = |vertex: &Vertex| vertex.file().is_some_and(|file| Path::new(&*file.path) == path);
        let place = self.graph.vertices.iter().rposition(is_it);
        VertexId(place.unwrap_or_else(|| panic!("no vertex for {name}")) as u32)
    }

    fn ancestors(&self, of: VertexId) -> HashSet<VertexId> {
        let (mut found, mut next) = (HashSet::from([of]), vec![of]);
        while let Some(vertex) = next.pop() {
            let before = self.graph.edges.iter().filter(|edge| edge.to == vertex).map(|edge| edge.from);
            next.extend(before.filter(|from| found.insert(*from)));
        }
        found
    }

    /// Relation and label of what leads to a vertex.
    fn before(&self, to: VertexId) -> Vec<(Relation, &str)> {
        let edges = self.graph.edges.iter().filter(|edge| edge.to == to);
        edges.map(|edge| (edge.relation, &*self.graph.vertex(edge.from).label)).collect()
    }
}

#[test]
fn data_flow_through_the_pipes_of_a_shell() {
    if !installed(&["sort", "uniq", "gzip"]) {
        return;
    }
    let recording = record(&[("in", "b\na\nb\n")], &["sh", "-c", "sort in | uniq | gzip > out.gz"]);
    let graph = &recording.graph;
    let mut at = recording.file("out.gz");
    let mut way = Vec::new();
    // Back along the data, through the one process or file that each comes from.
    loop {
        let comes_from = |edge: &&iotrail_workflow::Edge| {
            edge.to == at
                && edge.relation.moves_data()
                && edge.bytes() > 0
                && !graph.vertex(edge.from).file().is_some_and(|file| file.path.starts_with("/etc/"))
        };
        let edges: Vec<_> = graph.edges.iter().filter(comes_from).collect();
        let [edge] = edges.as_slice() else { break };
        at = edge.from;
        let vertex = graph.vertex(at);
        way.push(if vertex.file().is_some_and(|file| file.path.starts_with("pipe:")) {
            "|"
        } else {
            &vertex.label
        });
    }
    assert_eq!(way, ["gzip", "|", "uniq", "|", "sort", "in"]);
    let sort = graph.edges.iter().find(|edge| edge.from == recording.file("in")).unwrap();
    assert_eq!((sort.relation, sort.read.bytes, sort.written.bytes), (Relation::Read, 6, 0));
}

#[test]
fn what_a_shell_makes_of_the_output_of_a_command_depends_on_that_command() {
    let script = "echo first > one; x=$(cat one); echo $x > two";
    let recording = record(&[], &["sh", "-c", script]);
    let before = recording.ancestors(recording.file("two"));
    assert!(before.contains(&recording.file("one")));
    let parts = recording.before(recording.file("two"));
    assert_eq!(parts.len(), 1);
    let writer = recording.graph.edges.iter().find(|edge| edge.to == recording.file("two")).unwrap();
    let process = recording.graph.vertex(writer.from).process().unwrap();
    assert_eq!((writer.relation, process.part, writer.written.bytes), (Relation::Create, 2, 6));
    let first = recording.graph.edges.iter().find(|edge| edge.to == recording.file("one")).unwrap();
    assert_eq!(recording.graph.vertex(first.from).process().unwrap().part, 1);
}

#[test]
fn files_keep_their_identity_when_they_are_moved_and_lose_it_when_they_are_removed() {
    let script = "echo a > t; mv t u; cat u > v; rm u; echo b > u; cat u >> v";
    let recording = record(&[], &["sh", "-c", script]);
    let versions = |name: &str| {
        let path = recording.root.join(name);
        let files = recording.graph.vertices.iter().filter_map(Vertex::file);
        files
            .filter(|file| Path::new(&*file.path) == path)
            .map(|file| (file.version, file.size))
            .collect::<Vec<_>>()
    };
    assert_eq!(versions("t"), [(1, Some(2))]);
    assert_eq!(versions("u"), [(1, Some(2)), (2, Some(2))]);
    assert_eq!(versions("v"), [(1, Some(2)), (2, Some(4))]);
    assert!(recording.before(recording.file("v")).contains(&(Relation::Next, "v")));
    // What was made again does not hold what was there before, but v holds both.
    assert!(!recording.ancestors(recording.file("u")).contains(&recording.file("t")));
    assert!(recording.ancestors(recording.file("v")).contains(&recording.file("t")));
}

#[test]
fn a_program_depends_on_all_its_sources_when_make_builds_it_in_parallel() {
    if !installed(&["make", "cc"]) {
        return;
    }
    let files = [
        ("sum.h", "int one(void);\nint two(void);\n"),
        ("one.c", "#include \"sum.h\"\nint one(void) { return 1; }\n"),
        ("two.c", "#include \"sum.h\"\nint two(void) { return 2; }\n"),
        ("main.c", "#include \"sum.h\"\nint main(void) { return one() + two() - 3; }\n"),
        (
            "Makefile",
            "sum: one.o two.o main.o\n\tcc -o $@ $^\n%.o: %.c sum.h\n\tcc -c -o $@ $<\ncheck: sum\n\t./sum\n",
        ),
    ];
    let recording = record(&files, &["make", "-j2", "check"]);
    let before = recording.ancestors(recording.file("sum"));
    for name in ["sum.h", "one.c", "two.c", "main.c", "one.o", "two.o", "main.o", "Makefile"] {
        assert!(before.contains(&recording.file(name)), "sum does not depend on {name}");
    }
    let of_one = recording.ancestors(recording.file("one.o"));
    assert!(of_one.contains(&recording.file("one.c")) && !of_one.contains(&recording.file("two.c")));
    let size = recording.graph.vertex(recording.file("sum")).file().unwrap().size;
    assert_eq!(size, Some(std::fs::metadata(recording.root.join("sum")).unwrap().len() as i64));
}

#[test]
fn who_lists_the_directory_of_the_trail_is_named() {
    let told = |trail: &str| {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        let iotrail = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
            command.args(args).current_dir(root.join("work")).stdin(Stdio::null());
            command.output().unwrap()
        };
        let recorded = iotrail(&["record", "-q", "-o", trail, "--", "sh", "-c", "touch a; ls > list; rm a"]);
        assert!(recorded.status.success(), "{recorded:?}");
        let exported = iotrail(&["workflow", trail, "--format", "makefile", "-o", "-"]);
        let text = String::from_utf8(exported.stdout).unwrap();
        text.lines().find(|line| line.contains("while it was recorded")).map(str::to_owned)
    };
    let line = told("t.trail").unwrap_or_default();
    assert!(line.contains("job 2 lists the directory in which t.trail lay"), "{line}");
    assert_eq!(told("../t.trail"), None);
}

/// Records a script, and exports it as a makefile; what `make` says in a copy of the directory as it was, several times.
fn made_again(prepare: &str, script: &str, times: usize) -> Vec<String> {
    let directory = TempDir::new().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let said = |line: &str, place: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(root.join(place)).env_remove("MAKEFLAGS").stdin(Stdio::null());
        let done = command.env("IOTRAIL", env!("CARGO_BIN_EXE_iotrail")).output().unwrap();
        let text = [done.stdout, done.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(done.status.success(), "{script}: {text}");
        text
    };
    std::fs::create_dir(root.join("work")).unwrap();
    std::fs::write(root.join("work/run.sh"), script).unwrap();
    said(&format!("{prepare}; find . -type f -exec touch -d @1000000000 {{}} +; cp -a . ../fresh"), "work");
    said("$IOTRAIL -q record -o ../t.trail -- sh run.sh", "work");
    said("$IOTRAIL -q workflow t.trail --format makefile -o w.mk", "");
    (0..times).map(|_| said("LC_ALL=C make -f ../w.mk", "fresh")).collect()
}

#[test]
fn permissions_that_jobs_set_are_no_reason_to_run_again() {
    if !installed(&["make"]) {
        return;
    }
    for (prepare, script) in [
        ("echo l >e; echo l >log", "chmod 600 e\ncat e >>log"),
        ("mkdir d; echo l >d/b; echo l >log", "chmod -R a-w d; cat d/b >>log"),
        ("echo l >e; echo l >log", "ln -s e f; chmod 755 f; cat e >>log"),
        ("echo l >e; echo l >log", "chmod 755 e; cp e f; sed -i s/l/m/ log; cat f >>log"),
        ("echo l >e; ln -s e f; echo l >log", "cat f >>log\nchmod 600 e"),
        ("echo l >b", "chmod 755 b\ncat b >c\ncat b >d"),
    ] {
        let said = made_again(prepare, script, 2);
        assert!(said[1].contains("Nothing to be done"), "{script}: {said:?}");
    }
}

#[test]
fn another_name_of_a_link_is_not_made_again_when_a_job_changes_what_it_leads_to() {
    if !installed(&["make"]) {
        return;
    }
    let said = made_again("echo A >a; ln -s a l", "ln l w\nsed -i s/A/B/ a", 2);
    assert!(said[1].contains("Nothing to be done"), "{said:?}");
}

#[test]
fn a_redacted_copy_has_the_jobs_of_the_original() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("work")).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
        command.args(args).current_dir(root.join("work")).stdin(Stdio::null()).env("SOURCE_DATE_EPOCH", "7");
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
        done.stdout
    };
    std::fs::write(root.join("work/a"), "l\n").unwrap();
    let script = "SECRET=1 cat a >b; cat a >c; HIDDEN=2 sort b >d";
    run(&["record", "-q", "-o", "../t.trail", "--", "sh", "-c", script]);
    run(&["redact", "-q", "../t.trail", "-o", "../r.trail"]);
    let told = |trail: &str| {
        let text = String::from_utf8(run(&["workflow", trail, "--format", "makefile", "-o", "-"])).unwrap();
        let lines = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        (lines("# job "), lines("environment variables"), lines("SOURCE_DATE_EPOCH"))
    };
    assert_eq!(told("../t.trail"), told("../r.trail"));
    assert_eq!(told("../t.trail").1, 1);
}
