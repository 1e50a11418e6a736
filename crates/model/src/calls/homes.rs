//! Nobody else knows calls by their names: sources of all crates are searched for lists of them.

use super::named;
use std::fs;
use std::path::{Path, PathBuf};

/// Calls whose names are also words for something else: they count only beside other names of calls.
const WORDS: &str = "accept access bind break close connect exit fork futex idle kill link listen lock mount nice open pause pipe poll prof \
    read rename security select send shutdown signal socket stat sync tee time times truncate ulimit umask uname unlink write \
    chdir chroot setsid rmdir mkdir chmod chown readlink flock ptrace umount clone readdir symlink";

/// Files that name calls for another reason than to know what they do, and that reason.
const ALLOWED: [(&str, &str); 15] = [
    ("export/src/fio.rs", "words of job files"),
    ("generate/src/trail.rs", "the calls that operations are"),
    ("ltrace/src/names.rs", "what ltrace calls them"),
    ("model/src/canonical.rs", "names of kernel objects"),
    ("decode/src/asynchronous/block.rs", "the numbers of control blocks"),
    ("decode/src/asynchronous/entry.rs", "the numbers and layouts of entries of a ring"),
    ("decode/src/multiplexer.rs", "the numbers of socketcall and ipc"),
    ("decode/src/numbers.rs", "the numbers of x32"),
    ("decode/src/plan.rs", "registers of arguments, by architecture"),
    ("decode/src/symbols/arguments.rs", "which constants an argument is made of"),
    ("redact/src/public.rs", "names of kernel objects and directories"),
    ("resolve/src/effect.rs", "what people choose when they trace"),
    ("strace/src/parser/interruptions.rs", "what people choose when they trace"),
    ("trail/src/memory.rs", "a small trail for tests"),
    ("workload/src/model.rs", "words of model files"),
];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The texts in quotation marks in a line of code.
fn texts(line: &str) -> impl Iterator<Item = &str> {
    let code = if line.trim_start().starts_with("//") { "" } else { line };
    code.split('"').skip(1).step_by(2)
}

fn is_ring(text: &str) -> bool {
    ["io_uring_", "aio_", "rt_sig"].iter().any(|prefix| text.starts_with(prefix))
}

/// What files are is told by these words, too.
fn is_kind_of_file(text: &str) -> bool {
    matches!(text, "pipe" | "socket")
}

/// Lines of a source that know calls by their names.
fn naming_lines(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let names_calls = |line: &&str| {
        let calls: Vec<&str> = texts(line).filter(|text| named(text).is_some() || is_ring(text)).collect();
        let certain = calls.iter().any(|name| !WORDS.split_whitespace().any(|word| word == *name));
        let listed = calls.iter().filter(|name| !is_kind_of_file(name)).count() > 1
            && (line.contains("\" | \"") || line.contains("\" | b\""));
        certain || listed
    };
    code.lines().filter(names_calls).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn no_other_source_knows_calls_by_their_names() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    sources(&crates, &mut files);
    assert!(files.len() > 300, "the sources are not where they should be");
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for file in files {
        let name = file.strip_prefix(&crates).unwrap().to_str().unwrap().to_owned();
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs") || name.contains("/benches/");
        let is_sample = ["samples.rs", "planted.rs", "round_trip.rs", "worked.rs", "laws.rs"];
        if !name.contains("/src/")
            || name.starts_with("model/src/calls")
            || is_test
            || is_sample.iter().any(|end| name.ends_with(end))
        {
            continue;
        }
        let lines = naming_lines(&fs::read_to_string(&file).unwrap());
        if let Some((allowed, _)) = ALLOWED.iter().find(|(allowed, _)| name == *allowed) {
            used.extend((!lines.is_empty()).then_some(*allowed));
        } else {
            wrong.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "ask `model::calls` for the kind of a call instead:\n{}", wrong.join("\n"));
    let unused: Vec<_> = ALLOWED.iter().filter(|(allowed, _)| !used.contains(allowed)).collect();
    assert!(unused.is_empty(), "no longer needed: {unused:?}");
}

#[test]
fn lists_of_names_are_found() {
    let found = |line: &str| !naming_lines(line).is_empty();
    assert!(found(r#"    "openat" => Kind::Open,"#) && found(r#"matches!(name, b"pwrite64")"#));
    assert!(found(r#""read" | "write" => true,"#) && found(r#"name.strip_prefix("io_uring_")"#));
    assert!(
        !found(r#"("read", Align::Right)"#) && !found(r#"// as "openat" does"#) && !found(r#""openatx""#)
    );
    assert!(!found("#[cfg(test)]\nmod tests {\n    \"openat\"\n}"));
}
