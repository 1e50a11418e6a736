//! The page's graph of a hand-made workflow: `split` reads a file and makes three, `work` reads one each.

use super::*;
use iotrail_model::Nanos;
use iotrail_query::ProcessId;
use iotrail_workflow::graph::{FileVertex, ProcessVertex, Transfer};

fn process(process: u32, exe: &str, (start, end): (i64, i64)) -> Vertex {
    let facts = ProcessVertex {
        process: ProcessId(process),
        pid: 100 + process,
        part: 1,
        exe: Some(format!("/bin/{exe}").into()),
        start: Some(Timestamp(start)),
        end: Some(Timestamp(end)),
        ..ProcessVertex::default()
    };
    Vertex {
        key: format!("{}", 100 + process).into(),
        label: exe.into(),
        phase: Some(u32::from(exe == "work")),
        members: 1,
        time: Some(Nanos(end - start)),
        facts: Facts::Process(facts),
    }
}

fn file(path: &str, phase: u32) -> Vertex {
    let facts = FileVertex { path: path.into(), version: 1, last: true, ..FileVertex::default() };
    let (key, label) = (path.into(), path.into());
    Vertex { key, label, phase: Some(phase), members: 1, time: None, facts: Facts::File(facts) }
}

fn edge(from: u32, to: u32, relation: Relation, bytes: u64, (first, last): (i64, i64)) -> Edge {
    let moved = Transfer { bytes, calls: 1, elapsed: Some(Nanos(10)) };
    let (read, written) = match relation {
        Relation::Read => (moved, Transfer::default()),
        Relation::Fork => Default::default(),
        _ => (Transfer::default(), moved),
    };
    let (first, last) = (Some(Timestamp(first)), Some(Timestamp(last)));
    Edge { from: VertexId(from), to: VertexId(to), relation, read, written, first, last, members: 1 }
}

fn graph() -> Graph {
    let mut graph = Graph {
        vertices: vec![file("/d/input", 0), process(0, "split", (0, 100))],
        edges: vec![edge(0, 1, Relation::Read, 5, (10, 20))],
        phases: vec!["split".into(), "work".into()],
        span: Some((Timestamp(0), Timestamp(500))),
        ..Graph::default()
    };
    for part in 0..3_u32 {
        let at = i64::from(part);
        let (piece, worker) = (2 + 2 * part, 3 + 2 * part);
        graph.vertices.push(file(&format!("/d/part{part}.dat"), 0));
        graph.vertices.push(process(1 + part, "work", (110 + at, 300 + 100 * at)));
        graph.edges.push(edge(1, piece, Relation::Create, 100 << part, (50 + at, 60 + at)));
        graph.edges.push(edge(piece, worker, Relation::Read, 100 << part, (120, 130)));
    }
    graph.edges.sort_by_key(|edge| (edge.from, edge.to));
    graph
}

fn page(groups: usize, room: (usize, usize)) -> (PageFlow, Vec<String>) {
    let graph = graph();
    let critical = CriticalPath::new(&graph);
    let overview = Overview::new(&graph, &critical, (groups, 100)).unwrap();
    let processes: Vec<Option<u32>> = (0..4).map(Some).collect();
    let subject = Subject {
        graph: &graph,
        critical: &critical,
        overview: &overview,
        processes: &processes,
        origin: Timestamp(0),
        room,
    };
    let mut names = NameTable::default();
    (flow(&subject, &mut names).unwrap(), names.into_names())
}

#[test]
fn alike_vertices_are_joined_and_no_byte_is_lost() {
    let (page, names) = page(90, (5000, 5000));
    let groups: Vec<_> = page
        .groups
        .iter()
        .map(|group| (names[group.w.0 as usize].as_str(), group.f, group.m, group.r, group.wr))
        .collect();
    assert_eq!(
        groups,
        [
            ("/d/input", true, 1, 5, 0),
            ("split", false, 1, 5, 700),
            ("/d/part{}.dat", true, 3, 700, 700),
            ("work", false, 3, 700, 0)
        ]
    );
    let links: Vec<_> = page.links.iter().map(|link| (link.edge.from, link.edge.to, link.members)).collect();
    assert_eq!(links, [(0, 1, 1), (1, 2, 3), (2, 3, 3)]);
    assert!(page.links.iter().all(|link| link.route.len() >= 8), "each has a route");
    assert_eq!((page.vertices.len(), page.edges.len(), page.more), (8, 7, MoreFlow::default()));
    assert_eq!(page.vertices[3].about, Some(1), "the row of the process in the list");
}

#[test]
fn the_critical_path_is_marked_through_the_file_that_was_waited_for() {
    let (page, _) = page(90, (5000, 5000));
    let marked: Vec<usize> = (0..8).filter(|at| page.vertices[*at].critical).collect();
    assert_eq!(marked, [1, 6, 7], "split, the last part, its worker");
    let edges: Vec<_> =
        page.edges.iter().filter(|edge| edge.critical).map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(edges, [(1, 6), (6, 7)]);
    let path = page.path.unwrap();
    assert_eq!(path.makespan, 500);
    assert_eq!(path.steps.iter().map(|step| step.2).sum::<i64>(), 500);
}

#[test]
fn what_has_no_room_is_counted_with_its_bytes_and_the_critical_path_stays() {
    let (page, _) = page(90, (5, 2));
    assert_eq!((page.vertices.len(), page.more.vertices), (5, 3));
    assert_eq!(page.vertices.iter().filter(|vertex| vertex.critical).count(), 3);
    let inside: u64 = page.edges.iter().map(|edge| edge.read + edge.written).sum();
    assert_eq!((page.edges.len(), page.more.edges, inside + page.more.bytes), (2, 5, 5 + 1400));
    assert!(page.edges.iter().all(|edge| edge.critical), "the critical path comes first");
    assert_eq!(page.groups.iter().map(|group| group.m).sum::<u64>(), 8, "boxes count all members");
}

#[test]
fn too_many_kinds_become_others_but_inputs_and_results_stay_apart() {
    let (page, names) = page(4, (5000, 5000));
    let groups: Vec<_> =
        page.groups.iter().map(|group| (names[group.w.0 as usize].as_str(), group.m)).collect();
    assert_eq!(groups, [("/d/input", 1), ("split", 1), ("/d/part{}.dat", 3), ("work", 3)]);
    let (page, names) = self::page(2, (5000, 5000));
    let groups: Vec<_> =
        page.groups.iter().map(|group| (names[group.w.0 as usize].as_str(), group.m)).collect();
    assert_eq!(groups, [("other inputs", 1), ("other processes", 4), ("other written files", 3)]);
}

#[test]
fn a_row_is_a_plain_list() {
    let (page, _) = page(90, (5000, 5000));
    assert_eq!(serde_json::to_string(&page.edges[0]).unwrap(), "[0,1,3,5,0,1,10,0]");
    let vertex = serde_json::to_string(&page.vertices[0]).unwrap();
    assert!(vertex.starts_with("[0,") && vertex.ends_with(",1,-1,-1,0,0,0]"), "{vertex}");
}
