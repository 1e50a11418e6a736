//! The default mapping: names for people.

use super::util::Dir;
use std::collections::BTreeMap;

/// A shell in /w that starts a program, which reads its library and configuration, and then works in /w and below the home directory.
const RUN: &str = "\
7  1700000000.000000 execve(\"/usr/bin/app\", [\"app\"], 0x1 /* 1 var */) = 0 <0.000100>
7  1700000000.001000 openat(AT_FDCWD</w>, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache> <0.000010>
7  1700000000.002000 read(3</usr/lib/libc.so.6>, \"\"..., 832) = 832 <0.000010>
7  1700000000.003000 openat(AT_FDCWD</w>, \"/usr/share/locale/locale.alias\", O_RDONLY) = 3</usr/share/locale/locale.alias> <0.000010>
7  1700000000.004000 openat(AT_FDCWD</w>, \"in.dat\", O_RDONLY) = 3</w/in.dat> <0.000010>
7  1700000000.005000 read(3</w/in.dat>, \"\"..., 4096) = 4096 <0.001000>
7  1700000000.007000 openat(AT_FDCWD</w>, \"out/rank-01.dat\", O_WRONLY|O_CREAT, 0644) = 4</w/out/rank-01.dat> <0.000010>
7  1700000000.008000 write(4</w/out/rank-01.dat>, \"\"..., 512) = 512 <0.001000>
7  1700000000.010000 openat(AT_FDCWD</w>, \"out/rank-02.dat\", O_WRONLY|O_CREAT, 0644) = 5</w/out/rank-02.dat> <0.000010>
7  1700000000.011000 write(5</w/out/rank-02.dat>, \"\"..., 512) = 512 <0.001000>
7  1700000000.013000 read(6</usr/lib/libc.so.6>, \"\"..., 8) = 8 <0.000010>
7  1700000000.014000 nanosleep({tv_sec=0, tv_nsec=1000000}, NULL) = 0 <0.001100>
7  1700000000.016000 brk(NULL) = 0x1 <0.000010>
";

fn activities(dir: &Dir, words: &[&str]) -> BTreeMap<String, u64> {
    let graph = dir.json(["dfg", "t.trail", "--json"].iter().chain(words));
    let nodes = graph["nodes"].as_array().expect("nodes").iter();
    let count =
        |node: &serde_json::Value| Some((node["activity"].as_str()?.to_owned(), node["count"].as_u64()?));
    nodes.filter_map(count).filter(|(name, _)| name != "●" && name != "■").collect()
}

#[test]
fn a_start_up_is_one_activity_and_files_are_called_by_where_the_program_works() {
    let dir = Dir::with_trace(RUN);
    let found = activities(&dir, &[]);
    let expected = [
        ("nanosleep:-", 1),
        ("openat:./in.dat", 1),
        ("openat:./out/rank-##.dat", 2),
        ("read:./in.dat", 1),
        ("read:/usr/lib/…", 1),
        ("startup:app", 4),
        ("write:./out/rank-##.dat", 2),
    ];
    let shown: Vec<(String, u64)> = found.into_iter().collect();
    let expected: Vec<(String, u64)> =
        expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    assert_eq!(shown, expected);
    let graph = dir.json(["dfg", "t.trail", "--json"]);
    assert_eq!((&graph["mapping"], &graph["events"]["unmapped"]), (&"auto".into(), &1.into()));
}

#[test]
fn a_mapping_that_is_asked_for_is_used() {
    let dir = Dir::with_trace(RUN);
    let found = activities(&dir, &["--map", "dir2"]);
    assert_eq!(found.get("read:/usr/lib"), Some(&2));
    assert!(!found.keys().any(|name| name.starts_with("startup")), "{found:?}");
}

#[test]
fn the_selection_does_not_change_what_activities_are_called() {
    let dir = Dir::with_trace(RUN);
    let all = activities(&dir, &[]);
    let some = activities(&dir, &["--call", "read"]);
    assert_eq!(
        some.keys().map(String::as_str).collect::<Vec<_>>(),
        ["read:./in.dat", "read:/usr/lib/…", "startup:app"]
    );
    assert!(some.keys().all(|name| all.contains_key(name)));
}
