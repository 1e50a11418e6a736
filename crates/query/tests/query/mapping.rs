use crate::log::{Log, case};
use crate::{activities, words};
use iotrail_query::{QuerySpec, SelectSpec};

const LS_L: [(&str, &str); 17] = [
    ("read", "/usr/lib/x86_64-linux-gnu/libselinux.so.1"),
    ("read", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
    ("read", "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0.10.4"),
    ("read", "/proc/filesystems"),
    ("read", "/proc/filesystems"),
    ("read", "/etc/locale.alias"),
    ("read", "/etc/locale.alias"),
    ("read", "/etc/nsswitch.conf"),
    ("read", "/etc/nsswitch.conf"),
    ("read", "/etc/passwd"),
    ("read", "/etc/group"),
    ("write", "/dev/pts/7"),
    ("read", "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache"),
    ("read", "/usr/lib/x86_64-linux-gnu/libnss.so.2"),
    ("write", "/dev/pts/7"),
    ("write", "/dev/pts/7"),
    ("write", "/dev/pts/7"),
];

#[test]
fn the_trace_of_ls_l_is_the_papers() {
    let mut log = Log::new(vec![case(0, "b/host1/9157")]);
    for (call, path) in LS_L {
        log.event(0, call, path);
    }
    let trace = activities(QuerySpec::default(), &log.build());
    assert_eq!(
        trace,
        [
            "read:/usr/lib",
            "read:/usr/lib",
            "read:/usr/lib",
            "read:/proc/filesystems",
            "read:/proc/filesystems",
            "read:/etc/locale.alias",
            "read:/etc/locale.alias",
            "read:/etc/nsswitch.conf",
            "read:/etc/nsswitch.conf",
            "read:/etc/passwd",
            "read:/etc/group",
            "write:/dev/pts",
            "read:/usr/lib",
            "read:/usr/lib",
            "write:/dev/pts",
            "write:/dev/pts",
            "write:/dev/pts",
        ]
    );
}

/// Section V-A: both modes of IOR below $SCRATCH, one file for all ranks and one for each.
fn ior() -> iotrail_trail::EventLog {
    let mut log = Log::new(vec![case(0, "ssf/n1/0"), case(1, "fpp/n1/0")]);
    log.event(0, "openat", "/p/scratch/ssf/test")
        .event(0, "write", "/p/scratch/ssf/test")
        .event(0, "read", "/home/ann/.bashrc")
        .event(1, "openat", "/p/scratch/fpp/test.00000000")
        .event(1, "write", "/p/scratch/fpp/test.00000000")
        .event(1, "write", "pipe:[77]");
    log.build()
}

#[test]
fn site_variables_shorten_paths_as_in_figure_8() {
    let spec = |map: &str| QuerySpec {
        map: Some(map.to_owned()),
        variables: words(&["SCRATCH=/p/scratch", "HOME=/home/ann"]),
        select: SelectSpec { path: words(&["$SCRATCH"]), ..SelectSpec::default() },
        ..QuerySpec::default()
    };
    assert_eq!(
        activities(spec("dir2"), &ior()),
        [
            "openat:$SCRATCH/ssf",
            "write:$SCRATCH/ssf",
            "unselected",
            "openat:$SCRATCH/fpp",
            "write:$SCRATCH/fpp",
            "unselected"
        ]
    );
    let figure_8a = QuerySpec { select: SelectSpec::default(), ..spec("dir1") };
    assert_eq!(
        activities(figure_8a, &ior()),
        [
            "openat:$SCRATCH",
            "write:$SCRATCH",
            "read:$HOME",
            "openat:$SCRATCH",
            "write:$SCRATCH",
            "write:pipe"
        ]
    );
    assert_eq!(activities(spec("template"), &ior())[4], "write:$SCRATCH/fpp/test.{}");
}

#[test]
fn calls_without_a_path_do_not_flood_the_graph() {
    let mut log = Log::new(vec![case(0, "a")]);
    log.event(0, "brk", "")
        .event(0, "read", "")
        .event(0, "MPI_File_write_at_all", "")
        .event(0, "mmap", "/lib/x");
    let log = log.build();
    assert_eq!(
        activities(QuerySpec::default(), &log),
        ["unmapped", "read:?", "MPI_File_write_at_all:?", "mmap:/lib/x"]
    );
    let calls = QuerySpec { map: Some("call".into()), ..QuerySpec::default() };
    assert_eq!(activities(calls, &log), ["brk", "read", "MPI_File_write_at_all", "mmap"]);
}

#[test]
fn rules_see_case_and_failure() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "[[rule]]\nfailed = true\nactivity = 'failed ${call} of ${cid}'\n[[rule]]\nrid = '^0$'\nactivity = 'root'\n",
    )
    .unwrap();
    let mut log = Log::new(vec![case(0, "a/h/0"), case(1, "b/h/1")]);
    for id in [0, 1] {
        log.event(id, "read", "/x");
        log.with(id, "read", "/x", |event, memory| event.errno = memory.errno("EIO"));
    }
    let spec = QuerySpec { map: Some(file.path().to_str().unwrap().to_owned()), ..QuerySpec::default() };
    assert_eq!(activities(spec, &log.build()), ["root", "failed read of a", "unmapped", "failed read of b"]);
}

#[test]
fn the_marks_of_start_and_end_are_no_activities() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[[rule]]\npath='.'\nactivity = '${base}'\n").unwrap();
    let mut log = Log::new(vec![case(0, "a")]);
    log.event(0, "read", "/x/●").event(0, "read", "/x/■").event(0, "read", "/");
    let spec = QuerySpec { map: Some(file.path().to_str().unwrap().to_owned()), ..QuerySpec::default() };
    assert_eq!(activities(spec, &log.build()), ["(●)", "(■)", "unmapped"]);
}
