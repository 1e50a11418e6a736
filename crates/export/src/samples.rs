//! A workflow for tests: two processes, two versions of a file, a pipe, and names that try to break out of every format.

use iotrail_model::{FileKind, Nanos, Timestamp};
use iotrail_workflow::{
    Edge, Facts, FileVertex, FileView, Graph, ProcessVertex, Relation, Transfer, Vertex, VertexId,
};

/// A name that no format may take for its own syntax.
pub(crate) const HOSTILE: &str = "/d/\"]; <b>&amp; -->'`$(x)\\N\n\u{1b}[31m é\u{202e}%%{init}.fits";

fn process(key: &str, label: &str, cmdline: &str, start: i64, end: Option<i64>) -> Vertex {
    Vertex {
        key: key.into(),
        label: label.into(),
        phase: Some(0),
        members: 1,
        time: end.map(|end| Nanos(end - start)),
        facts: Facts::Process(ProcessVertex {
            pid: key.parse().unwrap_or(0),
            part: 1,
            exe: Some(format!("/usr/bin/{label}").into()),
            cmdline: Some(cmdline.into()),
            cwd: Some("/d".into()),
            case: "a/n1/0".into(),
            env: vec!["JOB=7 \"x\"".to_owned()].into(),
            start: Some(Timestamp(start)),
            end: end.map(Timestamp),
            exit_code: end.map(|_| 0),
            ..ProcessVertex::default()
        }),
    }
}

fn file(path: &str, version: u32, kind: FileKind) -> Vertex {
    Vertex {
        key: format!("{path}@{version}").into(),
        label: path.rsplit('/').next().unwrap_or(path).into(),
        phase: None,
        members: 1,
        time: None,
        facts: Facts::File(FileVertex {
            path: path.into(),
            version,
            kind: Some(kind),
            last: true,
            ..FileVertex::default()
        }),
    }
}

fn edge(from: u32, to: u32, relation: Relation, read: u64, written: u64) -> Edge {
    let transfer =
        |bytes: u64| Transfer { bytes, calls: u64::from(bytes > 0), elapsed: Some(Nanos(bytes as i64 * 10)) };
    Edge {
        from: VertexId(from),
        to: VertexId(to),
        relation,
        read: transfer(read),
        written: transfer(written),
        first: Some(Timestamp(1_000)),
        last: Some(Timestamp(2_000)),
        members: 1,
    }
}

/// make forks mAdd, which reads a hostile name and a pipe and makes two versions of a mosaic.
pub(crate) fn workflow() -> Graph {
    Graph {
        view: FileView::Version,
        vertices: vec![
            process("1", "make", "make\0-j2\0", 0, None),
            file(HOSTILE, 1, FileKind::File),
            process("2", "mAdd", "mAdd\0-p\0a \"b\"\n$c\0", 1_000, Some(9_000_000_000)),
            file("pipe:[7]", 1, FileKind::Pipe),
            file("/d/mosaic.fits", 1, FileKind::File),
            file("/d/mosaic.fits", 2, FileKind::File),
        ],
        edges: vec![
            edge(0, 2, Relation::Fork, 0, 0),
            edge(1, 2, Relation::Read, 5_000_000_000, 0),
            edge(2, 3, Relation::Write, 0, 12),
            edge(2, 4, Relation::Create, 3, 700),
            edge(4, 5, Relation::Next, 0, 0),
        ],
        phases: vec!["mAdd".into()],
        span: Some((Timestamp(0), Timestamp(9_000_000_000))),
        history: vec!["a \"b\" <c>".to_owned()],
        ..Graph::default()
    }
}
