//! Copies of trails that can be shared: the same figures, none of the names.

use crate::cli::util::Dir;

const SECRETS: [&str; 6] = ["zoe", "project", "novel", "storm", "sesame", "cray"];
const TRACE: &str = "\
7  10:00:00.000100 execve(\"/home/zoe/bin/storm\", [\"storm\", \"--token=sesame\", \"-n4\", \"project/novel.dat\"], 0x1 /* 3 vars */) = 0 <0.000100>
7  10:00:00.000300 openat(AT_FDCWD, \"/home/zoe/project/novel.dat\", O_RDONLY) = 3</home/zoe/project/novel.dat> <0.000010>
7  10:00:00.000400 read(3</home/zoe/project/novel.dat>, \"root\"..., 4096) = 1000 <0.000020>
7  10:00:00.000500 openat(AT_FDCWD, \"/usr/share/zoneinfo/UTC\", O_RDONLY) = 4</usr/share/zoneinfo/UTC> <0.000003>
7  10:00:00.000600 rename(\"/home/zoe/project/novel.dat\", \"/home/zoe/project/novel.old\") = 0 <0.000003>
7  10:00:00.000700 +++ exited with 0 +++
";

fn with_secrets() -> Dir {
    let dir = Dir::new();
    dir.write("storm_cray_1.st", TRACE);
    dir.run(["import", "-q", "--label", "zoe's", "-o", "t.trail", "storm_cray_1.st"]).succeeds();
    dir
}

/// Everything that a trail tells.
fn told(dir: &Dir, trail: &str) -> String {
    let tables =
        ["events", "processes", "files"].map(|table| dir.run([table, trail, "--json"]).succeeds().text());
    let meta = String::from_utf8(dir.read(format!("{trail}/trail.json"))).expect("text");
    tables.concat() + &meta + &dir.run(["info", trail]).succeeds().text()
}

#[test]
fn no_name_is_left_and_every_figure_is() {
    let dir = with_secrets();
    let before = told(&dir, "t.trail");
    assert!(
        SECRETS.iter().all(|secret| before.contains(secret)),
        "the secrets are in the original: {before}"
    );
    dir.run(["redact", "-q", "t.trail", "-o", "r.trail"]).succeeds();
    let after = told(&dir, "r.trail");
    for secret in SECRETS {
        assert!(!after.contains(secret), "{secret} in {after}");
    }
    assert!(
        after.contains("/usr/share/zoneinfo/UTC") && after.contains(".dat") && after.contains("--token=")
    );
    dir.run(["check", "r.trail"]).succeeds();
    let figures = |trail: &str| {
        let graph = dir.run(["dfg", "-q", trail, "--map", "call", "--json"]).succeeds().json();
        (graph["nodes"].clone(), graph["edges"].clone())
    };
    assert_eq!(figures("t.trail"), figures("r.trail"));
}

#[test]
fn a_key_gives_the_same_names_again_and_a_forgotten_one_does_not() {
    let dir = with_secrets();
    dir.write("key", "sixteen bytes and more");
    for target in ["a.trail", "b.trail"] {
        dir.run(["redact", "-q", "t.trail", "-o", target, "--key-file", "key"]).succeeds();
    }
    dir.run(["redact", "-q", "t.trail", "-o", "c.trail"]).succeeds();
    let files = |trail: &str| dir.run(["files", trail, "--json"]).succeeds().text();
    assert_eq!(files("a.trail"), files("b.trail"));
    assert_ne!(files("a.trail"), files("c.trail"));
    dir.write("short", "1234");
    let said = dir.run(["redact", "t.trail", "-o", "d.trail", "--key-file", "short"]).fails();
    assert!(said.contains("at least 16 bytes"), "{said}");
    dir.write("zeros", "0".repeat(32));
    let said = dir.run(["redact", "t.trail", "-o", "d.trail", "--key-file", "zeros"]).fails();
    assert!(said.contains("equal bytes"), "{said}");
    assert!(!dir.path("d.trail").exists());
}

#[test]
fn a_copy_knows_of_a_file_what_the_trail_knows() {
    let dir = Dir::new();
    dir.write("key", "sixteen bytes and more");
    let script = "echo 1 > a; cat a > b; mv a c; cd d 2> /dev/null || mkdir d; cd d; pwd -P; env true";
    for number in ["1", "2"] {
        dir.run(["record", "-q", "-o", &format!("t{number}.trail"), "--", "sh", "-c", script]).succeeds();
        let (trail, copy) = (format!("t{number}.trail"), format!("r{number}.trail"));
        dir.run(["redact", "-q", &trail, "-o", &copy, "--key-file", "key"]).succeeds();
    }
    let sizes = |trail: &str| {
        let mut sizes: Vec<String> = dir
            .run(["files", trail, "--paths", "--json"])
            .succeeds()
            .json_lines()
            .iter()
            .map(|file| format!("{} {}", file["inode"], file["size"]))
            .collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes("t1.trail"), sizes("r1.trail"));
    // Whoever reads both copies joins what is known by its name alone as whoever reads both trails.
    let files = |one: &str, other: &str| {
        let compared = dir.json(["compare", "--json", one, other, "--map", "call"]);
        let nodes = compared["dfg"]["nodes"].as_array().expect("nodes");
        nodes.iter().map(|node| (node["activity"].clone(), node["files"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(files("t1.trail", "t2.trail"), files("r1.trail", "r2.trail"));
}

/// What the jobs of a workflow make of times they say with their options.
#[test]
fn jobs_of_a_copy_depend_on_what_those_of_the_trail_depend_on() {
    let dir = Dir::new();
    let script = "mkdir -vp d > m; echo 1 > d/a; echo 2 > d/b; ls -la d > l1; ls -ltr d > l2; ls d > l3; \
        find d -newer d/a > f1; find d -printf '%n %T@' > f2; find d -printf %p > f3; tar cf t.tar d; tar xf t.tar; \
        stat -c%y d/a > s1; stat -c%s d/a > s2; cp -pu d/a d/c; cp -p d/a d/e; gzip -nk d/a; sh -ec 'cat d/a > g'";
    dir.run(["record", "-q", "-o", "t.trail", "--", "sh", "-c", script]).succeeds();
    let of = |trail: &str| {
        let words = ["workflow", trail, "--format", "makefile", "--manager", "^sh -c", "-o", "w.mk"];
        let said = dir.run(words).succeeds().messages();
        let of_times: Vec<String> =
            said.lines().filter(|line| line.contains("times of files")).map(str::to_owned).collect();
        assert_eq!(of_times.len(), 1, "{said}");
        of_times
    };
    for copy in ["a.trail", "b.trail", "c.trail"] {
        dir.run(["redact", "-q", "t.trail", "-o", copy]).succeeds();
        assert_eq!(of("t.trail"), of(copy));
    }
}

#[test]
fn rules_alone_replace_what_they_name() {
    let dir = with_secrets();
    dir.write("rules.toml", "[[path]]\nmatch = '^/home/[^/]+'\nreplace = '/home/user'\n");
    dir.run(["redact", "-q", "t.trail", "-o", "r.trail", "--rules", "rules.toml"]).succeeds();
    let files = dir.run(["files", "r.trail", "--paths", "--json"]).succeeds().text();
    assert!(files.contains("/home/user/project/novel.dat") && !files.contains("zoe"), "{files}");
    let info = dir.run(["info", "r.trail"]).succeeds().text();
    assert!(info.contains("redacted by rules alone: ") && !info.contains("are not those"), "{info}");
    for option in [&["--key-file", "key"][..], &["--keep-digits"]] {
        let words = ["redact", "t.trail", "-o", "x.trail", "--rules", "rules.toml"].iter().chain(option);
        let said = dir.run(words).refuses();
        assert!(said.contains("add --hash"), "{said}");
    }
    dir.write("bad.toml", "[[path]]\nmatch = '('\nreplace = ''\n");
    let said = dir.run(["redact", "t.trail", "-o", "x.trail", "--rules", "bad.toml"]).fails();
    assert!(said.contains("bad.toml") && said.contains("a file of rules has"), "{said}");
}

/// What analyses know of a call of MPI they know by its name.
#[test]
fn calls_of_mpi_are_judged_alike_in_redacted_copies() {
    let dir = super::advise::fixture("needless-collective");
    dir.run(["redact", "-q", "t.trail", "-o", "r.trail"]).succeeds();
    let calls = |trail: &str| {
        let words = ["stats", trail, "--layer", "mpiio", "--table", "calls", "--csv"];
        dir.run(words).succeeds().text()
    };
    assert!(calls("t.trail").contains("MPI_File_write_at_all"), "the recording has calls of MPI-IO");
    assert_eq!(calls("t.trail"), calls("r.trail"));
    let rules = |trail: &str| -> Vec<String> {
        let advice = dir.json(["advise", trail, "--json"]);
        let habits = advice["habits"].as_array().into_iter().flatten();
        habits.filter_map(|habit| Some(habit["rule"].as_str()?.to_owned())).collect()
    };
    assert!(rules("t.trail").contains(&"needless-collective".to_owned()));
    assert_eq!(rules("t.trail"), rules("r.trail"));
}
