//! Small logs as text: one call a line, ten time units apart, each five long.
//!
//! `2 write /a 5` is process 2 writing 5 bytes. `born /a -5`: the file /a was made then. `blocked N` in front: the call began N
//! lines before; `open N`: and how long it took is not known.

use crate::build::{BuildOptions, build};
use crate::cycles::cycles;
use crate::graph::{FileView, Graph};
use iotrail_model::{Case, CaseId, Event, FileFacts, Nanos, Nullable, Pid, Process, Tid, Timestamp};
use iotrail_query::{ProcessGroupBy, ProcessTable};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use std::num::NonZeroUsize;

/// Flags of an open by the word for it.
fn open(word: &str) -> Option<&'static str> {
    Some(match word {
        "open" => "O_RDONLY",
        "creat" => "O_WRONLY|O_CREAT|O_TRUNC",
        "tmpfile" => "O_WRONLY|O_TMPFILE",
        "append" => "O_WRONLY|O_CREAT|O_APPEND",
        "excl" => "O_RDWR|O_CREAT|O_EXCL",
        "trunc" => "O_WRONLY|O_TRUNC",
        _ => return None,
    })
}

/// The log that a script tells of, with row groups of `rows`.
pub(crate) fn log(script: &str, rows: usize) -> EventLog {
    let mut log = MemoryLog::new(vec![Case::default()]).row_group_rows(rows);
    let mut processes: Vec<(u32, u32, i64)> = vec![(1, 0, 0)];
    for (line, text) in script.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let now = 10 * (line as i64 + 1);
        let mut words: Vec<&str> = text.split(' ').collect();
        let mut start = now;
        let is_open = words[0] == "open";
        if is_open || words[0] == "blocked" {
            start -= 10 * words[1].parse::<i64>().unwrap();
            words.drain(..2);
        }
        if words[0] == "born" {
            let facts = FileFacts { birth: words[2].parse().ok(), ..FileFacts::default() };
            log.push_file(words[1].as_bytes(), &facts);
            continue;
        }
        let pid: u32 = words[0].parse().unwrap();
        if words[1] == "fork" {
            processes.push((words[2].parse().unwrap(), pid, now));
            continue;
        }
        let event = Event {
            case: CaseId(0),
            seq: line as u64,
            pid: Pid(pid),
            tid: Tid(pid),
            start: Timestamp(start),
            dur: Nullable::from((!is_open).then_some(Nanos(now + 5 - start))),
            path: log.path(words[2]),
            ret: Nullable::some(0),
            ..Event::default()
        };
        let event = call(&mut log, event, &words);
        log.push(event);
    }
    for (pid, ppid, start) in processes {
        log.push_process(Process {
            pid: Pid(pid),
            ppid: (ppid > 0).then_some(Pid(ppid)),
            exe: Some(format!("/bin/p{pid}")),
            start: Some(Timestamp(start)),
            end: Some(Timestamp(10_000)),
            exit_code: Some(0),
            ..Process::default()
        });
    }
    log.build()
}

fn call(log: &mut MemoryLog, mut event: Event, words: &[&str]) -> Event {
    let name = match words[1] {
        "missing" | "stat" => "newfstatat",
        "enter" => "openat",
        "map" | "view" => "mmap",
        "pipe" => "pipe2",
        "pair" => "socketpair",
        "empty" => "truncate",
        "exchange" => "renameat2",
        "copy" => "copy_file_range",
        "exec" => "execve",
        word if open(word).is_some() => "openat",
        word => word,
    };
    event.call = log.call(name);
    match words[1] {
        "read" | "write" => {
            event.size = Nullable::some(words[3].parse().unwrap());
            let offset = words.get(4).and_then(|word| word.strip_prefix('@')?.parse().ok());
            event.offset = offset.map_or(Nullable::NULL, Nullable::some);
        }
        "copy" => {
            event.path2 = log.path(words[3]);
            event.size = Nullable::some(words[4].parse().unwrap());
        }
        "rename" | "link" | "symlink" | "pair" => event.path2 = log.path(words[3]),
        "exchange" => {
            event.path2 = log.path(words[3]);
            event.flags = log.flags("RENAME_EXCHANGE");
        }
        "missing" => (event.errno, event.ret) = (log.errno("ENOENT"), Nullable::some(-1)),
        // An attempt to open a file as a directory.
        "enter" => {
            (event.errno, event.ret) = (log.errno("ENOTDIR"), Nullable::some(-1));
            event.flags = log.flags("O_RDONLY|O_PATH|O_DIRECTORY");
        }
        "map" => event.flags = log.flags("PROT_READ|PROT_EXEC|MAP_PRIVATE"),
        "view" => event.flags = log.flags("PROT_READ|MAP_PRIVATE"),
        "empty" => event.offset = Nullable::some(0),
        word => {
            if let Some(flags) = open(word) {
                event.flags = log.flags(flags);
                event.path2 = words.get(3).map_or(Nullable::NULL, |link| log.path(link));
            }
        }
    }
    if words.last() == Some(&"EIO") {
        (event.errno, event.ret) = (log.errno("EIO"), Nullable::some(-1));
        event.size = Nullable::NULL;
    }
    event
}

pub(crate) fn graph_of(log: &EventLog, options: &BuildOptions<'_>) -> Graph {
    let processes = ProcessTable::new(log.processes().unwrap());
    let groups = ProcessGroupBy::Exe.divide(log, &processes);
    let graph = build(log, &processes, &groups, options).unwrap();
    check(&graph);
    graph
}

pub(crate) fn graph(script: &str) -> Graph {
    graph_of(&log(script, 1 << 17), &BuildOptions { threads: NonZeroUsize::MIN, ..BuildOptions::default() })
}

/// What every graph must keep.
pub(crate) fn check(graph: &Graph) {
    if graph.view == FileView::Version {
        assert!(graph.edges.iter().all(|edge| edge.from < edge.to), "not in a topological order");
        assert!(cycles(graph).is_empty());
    }
    let ends = |edge: &crate::graph::Edge| (edge.from, edge.to, edge.relation);
    assert!(graph.edges.windows(2).all(|pair| ends(&pair[0]) < ends(&pair[1])), "edges are not sorted");
    let mut keys: Vec<&str> = graph.vertices.iter().map(|vertex| &*vertex.key).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "two vertices have one key");
}

/// `1 -> /a@1 create r0 w5` for each edge but forks.
pub(crate) fn flows(graph: &Graph) -> Vec<String> {
    let edges = graph.edges.iter().filter(|edge| edge.relation.name() != "fork");
    let line = |edge: &crate::graph::Edge| {
        let (from, to) = (&graph.vertex(edge.from).key, &graph.vertex(edge.to).key);
        let figures = match (edge.read.bytes, edge.written.bytes) {
            (0, 0) => String::new(),
            (read, 0) => format!(" {read}"),
            (0, written) => format!(" {written}"),
            (read, written) => format!(" {read}+{written}"),
        };
        format!("{from} {} {to}{figures}", edge.relation.name())
    };
    let mut lines: Vec<String> = edges.map(line).collect();
    lines.sort();
    lines
}
