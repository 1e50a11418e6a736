//! Recorded calls made again below a directory.

use crate::cli::util::Dir;

/// A trail of the calls of one process, `app.trail`.
fn trace_of(dir: &Dir, lines: &[&str]) {
    let mut text = String::new();
    let all = ["execve(\"/data/app\", [\"app\"], 0x7ff /* 1 var */) = 0", "brk(NULL) = 0x5581"];
    for (number, line) in all.iter().chain(lines).enumerate() {
        text.push_str(&format!("50 10:00:00.{:06} {line} <0.000010>\n", number * 1000));
    }
    dir.write("app_host_0.st", text);
    dir.run(["import", "-q", "-o", "app.trail", "app_host_0.st"]).succeeds();
}

/// Makes the calls of `app.trail` again, in `d`, where the files stay; all of them are the same.
fn verified(dir: &Dir) -> serde_json::Value {
    let done =
        dir.json(["replay", "app.trail", "--dir", "d", "--verify", "--keep", "--json", "--compute", "none"]);
    assert_eq!((&done["differences"], &done["different_results"]), (&serde_json::json!([]), &0.into()));
    done
}

/// Two processes: one writes a file that the other one reads, renames and removes.
fn trace(dir: &Dir) {
    let mut text = String::new();
    let mut clock = 0;
    let mut call = |pid: u32, line: &str| {
        clock += 1_000;
        text.push_str(&format!("{pid} 10:00:00.{clock:06} {line} <0.000010>\n"));
    };
    call(50, "execve(\"/data/app\", [\"app\"], 0x7ff /* 1 var */) = 0");
    // That the trace holds all calls.
    call(50, "brk(NULL) = 0x5581");
    call(50, "mkdir(\"/data/out\", 0777) = 0");
    call(50, "openat(AT_FDCWD, \"/data/in_1\", O_RDONLY) = 3</data/in_1>");
    call(50, "read(3</data/in_1>, \"x\"..., 4096) = 4096");
    call(50, "read(3</data/in_1>, \"x\"..., 4096) = 100");
    call(50, "openat(AT_FDCWD, \"/data/out/a\", O_RDWR|O_CREAT|O_EXCL, 0666) = 4</data/out/a>");
    call(50, "write(4</data/out/a>, \"x\"..., 1000) = 1000");
    call(50, "pwrite64(4</data/out/a>, \"x\"..., 50, 5000) = 50");
    call(50, "openat(AT_FDCWD, \"/data/none\", O_RDONLY) = -1 ENOENT (No such file or directory)");
    call(50, "clone(child_stack=NULL, flags=SIGCHLD) = 51");
    call(51, "lseek(4</data/out/a>, 0, SEEK_SET) = 0");
    call(51, "read(4</data/out/a>, \"x\"..., 6000) = 5050");
    call(51, "close(4</data/out/a>) = 0");
    call(51, "rename(\"/data/out/a\", \"/data/out/b\") = 0");
    call(50, "close(4</data/out/a>) = 0");
    call(51, "unlink(\"/data/out/b\") = 0");
    call(51, "rmdir(\"/data/out\") = 0");
    call(51, "exit_group(0) = ?");
    call(50, "getpid() = 50");
    dir.write("app_host_0.st", text);
    dir.run(["import", "-q", "-o", "app.trail", "app_host_0.st"]).succeeds();
}

#[test]
fn the_calls_of_a_trail_are_made_again_and_are_the_same() {
    let dir = Dir::new();
    trace(&dir);
    let dry = dir.json(["replay", "app.trail", "--dry-run", "--json"]);
    assert_eq!((&dry["calls"], &dry["elapsed_ns"]), (&15.into(), &serde_json::Value::Null));
    assert_eq!((&dry["bytes_read"], &dry["bytes_written"]), (&9246.into(), &1050.into()));
    let done = dir.json(["replay", "app.trail", "--dir", "d", "--verify", "--json", "--compute", "none"]);
    assert_eq!((&done["differences"], &done["different_results"]), (&serde_json::json!([]), &0.into()));
    let calls = |kind: &str| done["by_kind"][kind]["calls"].clone();
    assert_eq!(["open", "read", "write", "close"].map(calls), [3, 3, 2, 2].map(serde_json::Value::from));
    assert_eq!(["mkdir", "rename", "remove", "seek"].map(calls), [1, 1, 2, 1].map(serde_json::Value::from));
    assert!(!dir.path("d").exists(), "what was made is removed");
}

#[test]
fn files_are_found_below_the_directory_under_names_of_their_own() {
    let dir = Dir::new();
    trace(&dir);
    dir.run(["compress", "-q", "app.trail", "-o", "app.structure", "--time-precision", "100"]).succeeds();
    let text = dir.run(["replay", "app.structure", "--dir", "d", "--keep", "--verify"]).succeeds().text();
    assert!(text.contains("15 calls on 4 files by 1 thread: 9.25 kB read, 1.05 kB written"), "{text}");
    assert!(text.contains("verified: the same calls"), "{text}");
    assert_eq!(dir.read("d/r/data/in__1").len(), 4196);
    assert!(!dir.path("d/r/data/out").exists(), "the program removed it");
    dir.run(["replay", "--clean", "--dir", "d"]).succeeds();
    assert!(!dir.path("d").exists());
}

#[test]
fn a_directory_with_something_else_is_refused_and_links_are_not_followed() {
    let dir = Dir::new();
    trace(&dir);
    dir.write("mine/file", "mine");
    let error = dir.run(["replay", "app.trail", "--dir", "mine"]).fails();
    assert!(error.contains("not empty (it holds \"file\")"), "{error}");
    std::os::unix::fs::symlink("mine", dir.path("link")).expect("a link");
    let error = dir.run(["replay", "app.trail", "--dir", "link"]).fails();
    assert!(error.contains("link"), "{error}");
    assert_eq!(dir.read("mine/file"), b"mine");
    let error = dir.run(["replay", "app.trail", "--dir", "d", "--compute", "fast"]).refuses();
    assert!(error.contains("expected `sleep`, `spin`, `none` or a factor"), "{error}");
}

#[test]
fn a_name_is_a_directory_at_one_time_and_a_file_at_another() {
    let dir = Dir::new();
    trace_of(
        &dir,
        &[
            "openat(AT_FDCWD, \"/data/file/x\", O_RDONLY) = -1 ENOTDIR (Not a directory)",
            "openat(AT_FDCWD, \"/data/file\", O_RDONLY) = 3</data/file>",
            "read(3</data/file>, \"x\"..., 4096) = 70",
            "close(3</data/file>) = 0",
            "unlink(\"/data/file\") = 0",
            "mkdir(\"/data/file\", 0777) = 0",
            "openat(AT_FDCWD, \"/data/file/x\", O_WRONLY|O_CREAT, 0666) = 3</data/file/x>",
            "write(3</data/file/x>, \"x\"..., 5) = 5",
            "close(3</data/file/x>) = 0",
            "mkdir(\"/data/dir\", 0777) = 0",
            "rename(\"/data/dir\", \"/data/away\") = 0",
            "openat(AT_FDCWD, \"/data/dir\", O_WRONLY|O_CREAT, 0666) = 3</data/dir>",
            "write(3</data/dir>, \"x\"..., 7) = 7",
            "close(3</data/dir>) = 0",
            "mkdir(\"/data/none/x\", 0777) = -1 ENOENT (No such file or directory)",
            "rename(\"/data/nothing\", \"/data/target\") = -1 ENOENT (No such file or directory)",
        ],
    );
    verified(&dir);
    assert!(!dir.path("d/r/data/target").exists() && !dir.path("d/r/data/none").exists());
    let bytes = |name: &str| dir.read(format!("d/r/data/{name}")).len();
    assert_eq!((bytes("file/x"), bytes("dir")), (5, 7));
    assert!(dir.path("d/r/data/away").is_dir());
    dir.run(["replay", "--clean", "--dir", "d"]).succeeds();
    assert!(!dir.path("d").exists());
}

#[test]
fn links_copies_and_new_lengths_are_made_again() {
    let dir = Dir::new();
    trace_of(
        &dir,
        &[
            "openat(AT_FDCWD, \"/data/in\", O_RDONLY) = 3</data/in>",
            "openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4</data/out>",
            "copy_file_range(3</data/in>, NULL, 4</data/out>, NULL, 9223372035781033984, 0) = 9000000",
            "copy_file_range(3</data/in>, NULL, 4</data/out>, NULL, 9223372035781033984, 0) = 0",
            "write(4</data/out>, \"x\"..., 5) = 5",
            "close(3</data/in>) = 0",
            "close(4</data/out>) = 0",
            "link(\"/data/out\", \"/data/too\") = 0",
            "link(\"/data/in\", \"/data/too\") = -1 EEXIST (File exists)",
            "unlink(\"/data/out\") = 0",
            "symlink(\"/etc/passwd\", \"/data/symbolic\") = 0",
            "unlink(\"/data/symbolic\") = 0",
            "symlink(\"too\", \"/data/symbolic\") = 0",
            "truncate(\"/data/in\", 77) = 0",
            "truncate(\"/data/none\", 77) = -1 ENOENT (No such file or directory)",
        ],
    );
    let done = verified(&dir);
    assert_eq!((&done["bytes_read"], &done["bytes_written"]), (&9_000_000.into(), &9_000_005.into()));
    let bytes = |name: &str| dir.read(format!("d/r/data/{name}")).len();
    assert_eq!((bytes("in"), bytes("too")), (77, 9_000_005));
    assert!(!dir.path("d/r/data/out").exists());
    assert_eq!(std::fs::read_link(dir.path("d/r/data/symbolic")).unwrap().to_str(), Some("nowhere"));
}

#[test]
fn what_is_appended_is_not_there_beforehand() {
    let dir = Dir::new();
    trace_of(
        &dir,
        &[
            "openat(AT_FDCWD, \"/data/log\", O_WRONLY|O_APPEND) = 3</data/log>",
            "write(3</data/log>, \"x\"..., 30) = 30",
            "pwrite64(3</data/log>, \"x\"..., 20, 0) = 20",
            "close(3</data/log>) = 0",
            "openat(AT_FDCWD, \"/data/log\", O_RDONLY) = 3</data/log>",
            "read(3</data/log>, \"x\"..., 4096) = 150",
            "read(3</data/log>, \"x\"..., 4096) = 0",
            "close(3</data/log>) = 0",
        ],
    );
    verified(&dir);
    assert_eq!(dir.read("d/r/data/log").len(), 150);
}

#[test]
fn holes_take_no_room_and_long_names_are_shortened() {
    let dir = Dir::new();
    let name = "_".repeat(255);
    trace_of(
        &dir,
        &[
            &format!("openat(AT_FDCWD, \"/data/{name}\", O_RDWR|O_CREAT, 0666) = 3</data/{name}>"),
            &format!("pwrite64(3</data/{name}>, \"x\"..., 10, 1099511627776) = 10"),
        ],
    );
    let done = verified(&dir);
    assert!(done["space_bytes"].as_u64() < Some(20_000), "{done}");
    assert_eq!(done["files"], 1);
}
