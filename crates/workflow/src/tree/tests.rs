use super::*;
use iotrail_model::{Pid, Process, Resolution};
use iotrail_query::{ProcessGroups, ProcessTable};

fn process(pid: u32, ppid: u32, exe: &str, from: i64, to: i64) -> Process {
    Process {
        pid: Pid(pid),
        ppid: Some(Pid(ppid)),
        exe: Some(exe.to_owned()),
        start: Some(Timestamp(from)),
        end: Some(Timestamp(to)),
        exit_code: Some(0),
        bytes_read: 10,
        bytes_written: 1,
        ..Process::default()
    }
}

/// `make` runs `mDiffFit` twice, each of which runs `mDiff` and `mFitplane`, in another order; the second `mAdd` is killed.
fn montage() -> Tree {
    let mut images = vec![process(1, 0, "/usr/bin/make", 0, 1000)];
    for (pid, first, second) in [(10, "mDiff", "mFitplane"), (20, "mFitplane", "mDiff")] {
        let start = i64::from(pid) * 10;
        images.push(process(pid, 1, "/opt/mDiffFit", start, start + 90));
        images.push(process(pid + 1, pid, &format!("/opt/{first}"), start + 10, start + 40));
        images.push(process(pid + 2, pid, &format!("/opt/{second}"), start + 50, start + 80));
    }
    images.push(process(30, 1, "/opt/mAdd", 400, 700));
    tree(&ProcessTable::new(images), &ProcessGroups::default(), &[])
}

#[test]
fn subtrees_of_the_same_shape_are_clustered_whatever_the_order_of_their_children() {
    let tree = montage();
    let shapes: Vec<(u32, u32, &str)> =
        tree.shapes.iter().map(|shape| (shape.count, shape.size, &*shape.name)).collect();
    assert_eq!(
        shapes,
        [
            (1, 8, "make(mAdd, 2 x mDiffFit(mDiff, mFitplane))"),
            (2, 3, "mDiffFit(mDiff, mFitplane)"),
            (1, 1, "mAdd"),
            (2, 1, "mDiff"),
            (2, 1, "mFitplane"),
        ]
    );
    let make = &tree.nodes[0];
    assert_eq!((make.size, make.depth, make.children.len()), (8, 0, 3));
    assert_eq!(tree.shape(make.shape).children, [(ShapeId(1), 2), (ShapeId(2), 1)]);
    assert_eq!(tree.roots, [NodeId(0)]);
    assert_eq!(tree.span, Some((Timestamp(0), Timestamp(1000))));
}

fn longest(tree: &Tree) -> (Vec<&str>, i64) {
    let labels = tree.longest.nodes.iter().map(|node| &*tree.node(*node).label).collect();
    (labels, tree.longest.time.unwrap().0)
}

#[test]
fn each_moment_of_the_longest_path_counts_once() {
    // All lives lie within that of make: the path with the most lifetimes goes on to mAdd.
    assert_eq!(longest(&montage()), (vec!["make", "mAdd"], 1000));
    // A daemon outlives its parent, and its child outlives it; another child begins when everything above has ended.
    let images = vec![
        process(1, 0, "/bin/init", 0, 100),
        process(2, 1, "/bin/daemon", 50, 300),
        process(3, 2, "/bin/worker", 250, 400),
        process(4, 2, "/bin/late", 280, 310),
        process(5, 1, "/bin/long", 10, 95),
    ];
    let tree = tree(&ProcessTable::new(images), &ProcessGroups::default(), &[]);
    assert_eq!(longest(&tree), (vec!["init", "daemon", "worker"], 400));
    assert_eq!(tree.span, Some((Timestamp(0), Timestamp(400))));
}

#[test]
fn numbers_of_calls_are_no_times() {
    let cases = [iotrail_model::Case { clock: iotrail_model::Clock::Order, ..Default::default() }];
    let images =
        vec![process(1, 0, "/bin/sh", 0, 9), process(3, 1, "/bin/ls", 4, 6), process(2, 1, "/bin/wc", 2, 3)];
    let tree = tree(&ProcessTable::new(images), &ProcessGroups::default(), &cases);
    assert_eq!((tree.span, tree.longest.time), (None, None));
    assert!(tree.nodes.iter().all(|node| node.lifetime(Resolution::default()).is_none()));
    let order: Vec<&str> = tree.nodes.iter().map(|node| &*node.label).collect();
    assert_eq!(order, ["sh", "wc", "ls"], "they still say what came first");
}

#[test]
fn the_images_of_a_process_are_one_node_and_what_is_unknown_stays_unknown() {
    let fork = Process { exit_code: None, end: Some(Timestamp(5)), ..process(7, 1, "/bin/sh", 0, 5) };
    let last =
        Process { exit_code: None, signal: Some("SIGKILL".into()), ..process(7, 1, "/bin/sort", 5, 9) };
    let open = Process { end: None, exit_code: None, start: None, ..process(8, 7, "/bin/cat", 0, 0) };
    let tree = tree(&ProcessTable::new(vec![fork, last, open]), &ProcessGroups::default(), &[]);
    let sort = tree.nodes.iter().find(|node| node.pid == 7).unwrap();
    assert_eq!(
        (&*sort.label, sort.images, sort.bytes_read, sort.signal.as_deref()),
        ("sort", 2, 20, Some("SIGKILL"))
    );
    assert_eq!((sort.lifetime(Resolution::default()), sort.cpu), (Some(Nanos(9)), None));
    let cat = tree.nodes.iter().find(|node| node.pid == 8).unwrap();
    assert_eq!((cat.lifetime(Resolution::default()), cat.start), (None, None));
}

#[test]
fn a_chain_of_a_hundred_thousand_processes_is_no_deep_recursion() {
    let images =
        (1..100_000).map(|pid| process(pid, pid - 1, "sh", i64::from(pid), i64::from(pid) + 1)).collect();
    let tree = tree(&ProcessTable::new(images), &ProcessGroups::default(), &[]);
    assert_eq!(tree.nodes.last().map(|node| node.depth), Some(99_998));
    assert!(tree.shapes.iter().all(|shape| shape.name.chars().count() < 140));
}
