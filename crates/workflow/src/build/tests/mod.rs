//! Worked examples, by hand: each relation, precedence, versions, names, parts of processes.

mod laws;
pub(crate) mod script;

use super::*;
use crate::cycles::cycles;
use crate::graph::FileView;
use script::{flows, graph, graph_of, log};

#[test]
fn each_relation_has_its_direction() {
    let graph = graph(
        "1 fork 2
         2 open /in
         2 read /in 7
         2 read /in 0
         2 creat /out
         2 write /out 3
         2 write /out 4",
    );
    assert_eq!(flows(&graph), ["/in@1 read 2 7", "2 create /out@1 7"]);
    let fork = graph.edges.iter().find(|edge| edge.relation.name() == "fork").unwrap();
    assert_eq!((&*graph.vertex(fork.from).key, &*graph.vertex(fork.to).key), ("1", "2"));
    let read = graph.edges.iter().find(|edge| edge.relation.name() == "read").unwrap();
    assert_eq!(
        (read.read.calls, read.read.elapsed, read.written.calls),
        (2, Some(iotrail_model::Nanos(10)), 0)
    );
    assert_eq!((read.first.unwrap().0, read.last.unwrap().0), (30, 45));
    let labels: Vec<&str> = graph.vertices.iter().map(|vertex| &*vertex.label).collect();
    assert_eq!(labels, ["p1", "in", "p2", "out"]);
}

#[test]
fn create_comes_before_write_before_read() {
    assert_eq!(flows(&graph("1 creat /a\n1 write /a 5\n1 read /a 3")), ["1 create /a@1 3+5"]);
    assert_eq!(flows(&graph("1 open /a\n1 write /a 5\n1 read /a 3")), ["1 write /a@1 3+5"]);
    assert_eq!(flows(&graph("1 open /a\n1 read /a 3\n1 map /a")), ["/a@1 read 1 3"]);
}

#[test]
fn what_is_read_before_it_is_written_has_two_versions() {
    let graph = graph("1 open /a\n1 read /a 3\n1 write /a 5\n1 read /a 8");
    assert_eq!(flows(&graph), ["/a@1 next /a@2", "/a@1 read 1 3", "1 write /a@2 8+5"]);
}

#[test]
fn two_writers_hand_a_file_over_and_readers_depend_on_both() {
    let graph = graph(
        "1 fork 2
         1 fork 3
         1 fork 4
         2 creat /log
         2 write /log 5
         3 append /log
         3 write /log 6
         3 write /log 6
         4 open /log
         4 read /log 17
         2 write /log 1",
    );
    assert_eq!(
        flows(&graph),
        [
            "/log@1 next /log@2",
            "/log@2 next /log@3",
            "/log@2 read 4 17",
            "2 create /log@1 5",
            "2 write /log@3 1",
            "3 write /log@2 12",
        ]
    );
    let last: Vec<bool> = graph.vertices.iter().filter_map(|vertex| Some(vertex.file()?.last)).collect();
    assert_eq!(last, [false, false, true]);
    let log2 = graph.vertices.iter().find(|vertex| &*vertex.key == "/log@2").unwrap();
    let file = log2.file().unwrap();
    assert_eq!((file.readers, file.writers, file.version), (1, 1, 2));
    assert_eq!(graph.phases[log2.phase.unwrap() as usize].as_ref(), "p3");
}

#[test]
fn what_was_emptied_holds_nothing_of_the_version_before() {
    let expected = ["1 create /a@2 2", "1 create /a@1 5"];
    for empty in ["creat /a", "trunc /a", "empty /a"] {
        let flows = flows(&graph(&format!("1 creat /a\n1 write /a 5\n1 {empty}\n1 write /a 2")));
        assert!(
            expected.iter().all(|edge| flows.contains(&(*edge).to_owned())) && flows.len() == 2,
            "{flows:?}"
        );
    }
}

#[test]
fn a_shell_makes_an_empty_file_that_its_child_fills() {
    let graph = graph("1 creat /out\n1 fork 2\n2 write /out 5\n1 fork 3\n3 write /out 6");
    assert_eq!(
        flows(&graph),
        ["/out@1 next /out@2", "1 create /out@1", "2 write /out@1 5", "3 write /out@2 6"]
    );
}

#[test]
fn opening_with_creat_makes_only_what_is_not_there() {
    let created = ["1 create /a@1 5"];
    let written = ["1 write /a@1 5"];
    assert_eq!(flows(&graph("1 append /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 missing /a\n1 append /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 excl /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 mknod /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 stat /a\n1 append /a\n1 write /a 5")), written);
    assert_eq!(flows(&graph("1 stat /a\n1 unlink /a\n1 append /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 stat /a\n1 missing /a\n1 append /a\n1 write /a 5")), created);
    assert_eq!(flows(&graph("1 stat /a\n1 enter /a\n1 append /a\n1 write /a 5")), written);
}

#[test]
fn what_is_made_again_after_a_removal_is_another_file() {
    let graph = graph(
        "1 creat /a
         1 write /a 5
         1 fork 2
         2 read /a 5
         2 unlink /a
         2 creat /a
         2 write /a 6",
    );
    assert_eq!(flows(&graph), ["/a@1 read 2 5", "1 create /a@1 5", "2 create /a@2 6"]);
}

#[test]
fn a_removed_file_is_read_on_by_who_has_it_open() {
    assert_eq!(
        flows(&graph("1 creat /a\n1 write /a 5\n1 unlink /a\n1 fork 2\n2 read /a 5")),
        ["/a@1 read 2 5", "1 create /a@1 5"]
    );
}

#[test]
fn a_rename_keeps_the_file_and_ends_the_one_that_was_there() {
    let graph = graph(
        "1 creat /b
         1 write /b 1
         1 creat /tmp
         1 write /tmp 5
         1 rename /tmp /b
         1 fork 2
         2 read /b 5",
    );
    assert_eq!(flows(&graph), ["/b@2 read 2 5", "1 create /b@1 1", "1 create /b@2 5"]);
    let renamed = graph.vertices.iter().find(|vertex| &*vertex.key == "/b@2").unwrap().file().unwrap();
    assert_eq!(
        (&*renamed.path, renamed.names.iter().map(|name| &**name).collect::<Vec<_>>()),
        ("/b", vec!["/tmp"])
    );
}

#[test]
fn who_renames_what_another_wrote_hands_it_over() {
    let graph =
        graph("1 fork 2\n1 creat /a\n1 write /a 5\n2 rename /a /b\n1 fork 3\n3 read /b 5\n1 write /a 1");
    assert_eq!(
        flows(&graph),
        [
            "/a@1 next /b@1",
            "/b@1 next /a@2",
            "/b@1 read 3 5",
            "1 create /a@1 5",
            "1 write /a@2 1",
            "2 create /b@1"
        ]
    );
    assert_eq!(file_numbers(&graph), [("/a@1", 0), ("/b@1", 0), ("/a@2", 0)]);
}

#[test]
fn what_is_made_where_a_file_was_removed_is_another_file() {
    let graph = graph("1 creat /z\n1 write /z 5\n1 unlink /z\n1 creat /z\n1 write /z 3");
    assert_eq!(file_numbers(&graph), [("/z@1", 0), ("/z@2", 1)]);
}

fn file_numbers(graph: &Graph) -> Vec<(&str, u32)> {
    graph.vertices.iter().filter_map(|vertex| Some((&*vertex.key, vertex.file()?.file))).collect()
}

#[test]
fn a_link_is_a_further_name_that_outlives_the_first() {
    let graph = graph("1 creat /a\n1 write /a 5\n1 link /a /b\n1 unlink /a\n1 fork 2\n2 read /b 5");
    assert_eq!(flows(&graph), ["/a@1 read 2 5", "1 create /a@1 5"]);
    assert_eq!(&*graph.vertices.iter().find_map(|vertex| vertex.file()).unwrap().names[0], "/b");
}

#[test]
fn two_names_can_be_exchanged() {
    let graph = graph(
        "1 creat /a\n1 write /a 5\n1 creat /b\n1 write /b 6\n1 exchange /a /b\n1 fork 2\n2 read /a 6\n2 read /b 5",
    );
    let read: Vec<String> = flows(&graph).into_iter().filter(|flow| flow.contains("read")).collect();
    assert_eq!(read, ["/a@1 read 2 6", "/b@1 read 2 5"]);
}

#[test]
fn files_move_with_directories_that_are_exchanged() {
    let graph = graph(
        "1 creat /d/a\n1 write /d/a 5\n1 creat /e/a\n1 write /e/a 6\n1 creat /d/only\n1 exchange /d /e\n1 create /e/only\n1 fork 2\n2 read /e/a 5\n2 read /d/a 6",
    );
    let read: Vec<String> = flows(&graph).into_iter().filter(|flow| flow.contains("read")).collect();
    assert_eq!(read, ["/d/a@1 read 2 6", "/e/a@1 read 2 5"]);
    assert!(flows(&graph).contains(&"1 create /e/a@1 5".to_owned()), "{:?}", flows(&graph));
}

#[test]
fn files_move_with_their_directory() {
    let graph = graph("1 creat /d/a\n1 write /d/a 5\n1 rename /d /e\n1 fork 2\n2 read /e/a 5");
    assert_eq!(flows(&graph), ["/e/a@1 read 2 5", "1 create /e/a@1 5"]);
}

#[test]
fn pipes_carry_data_between_processes() {
    let graph = graph(
        "1 pipe pipe:[7]
         1 fork 2
         1 fork 3
         2 write pipe:[7] 100
         blocked 2 3 read pipe:[7] 100
         3 read pipe:[7] 0
         3 creat /z
         3 write /z 9",
    );
    assert_eq!(flows(&graph), ["2 write pipe:[7]@1 100", "3 create /z@1 9", "pipe:[7]@1 read 3 100"]);
}

#[test]
fn a_pipe_whose_number_is_used_again_is_another_pipe() {
    let graph = graph(
        "1 pipe pipe:[7]\n1 write pipe:[7] 5\n1 fork 2\n2 read pipe:[7] 5\n1 pipe pipe:[7]\n1 write pipe:[7] 6\n1 fork 3\n3 read pipe:[7] 6",
    );
    assert_eq!(
        flows(&graph),
        ["1 write pipe:[7]@1 5", "1 write pipe:[7]@2 6", "pipe:[7]@1 read 2 5", "pipe:[7]@2 read 3 6"]
    );
}

#[test]
fn the_output_of_a_command_substitution_begins_a_new_part_of_the_shell() {
    let graph = graph(
        "1 read /script 9
         1 pipe pipe:[7]
         1 fork 2
         2 write pipe:[7] 6
         blocked 1 1 read pipe:[7] 6
         1 read pipe:[7] 0
         1 creat /out
         1 write /out 6
         1 fork 3
         3 read /out 6",
    );
    assert_eq!(
        flows(&graph),
        [
            "/out@1 read 3 6",
            "/script@1 read 1 9",
            "1 continue 1#2",
            "1#2 create /out@1 6",
            "2 write pipe:[7]@1 6",
            "pipe:[7]@1 read 1#2 6",
        ]
    );
    let parts: Vec<(&str, i64, bool)> = graph
        .vertices
        .iter()
        .filter(|vertex| vertex.process().is_some_and(|process| process.pid == 1))
        .map(|vertex| (&*vertex.key, vertex.time.unwrap().0, vertex.process().unwrap().exit_code.is_some()))
        .collect();
    assert_eq!(parts, [("1", 55, false), ("1#2", 10_000 - 55, true)]);
}

#[test]
fn two_that_talk_both_ways_are_split_where_an_answer_depends_on_the_question() {
    let mut script = "1 fork 2\n".to_owned();
    for _ in 0..3 {
        script += "1 write pipe:[1] 5\n2 read pipe:[1] 5\n2 write pipe:[2] 6\n1 read pipe:[2] 6\n";
    }
    let graph = graph(&script);
    let parts =
        |pid| graph.vertices.iter().filter(|vertex| vertex.process().is_some_and(|p| p.pid == pid)).count();
    assert_eq!((parts(1), parts(2)), (4, 3));
}

#[test]
fn a_million_messages_are_no_million_parts_and_nothing_of_them_is_lost() {
    let rounds = 2_500_u64;
    let script = "1 write pipe:[1] 5\n2 read pipe:[1] 5\n2 write pipe:[2] 6\n1 read pipe:[2] 6\n";
    let graph = graph(&("1 fork 2\n".to_owned() + &script.repeat(rounds as usize)));
    assert!(graph.vertices.len() <= 4 * (graph_builder::MOST_PARTS as usize + 2), "{}", graph.vertices.len());
    let sum = |read: bool| {
        graph.edges.iter().map(|edge| if read { edge.read.bytes } else { edge.written.bytes }).sum::<u64>()
    };
    assert_eq!((sum(true), sum(false)), (11 * rounds, 11 * rounds));
    assert!(graph.notes.iter().any(|note| note.contains("1000 parts")), "{:?}", graph.notes);
}

#[test]
fn whole_files_have_cycles_and_they_are_reported() {
    let script = "1 fork 2\n1 fork 3\n2 read /a 1\n2 write /b 2\n3 read /b 2\n3 write /a 1\n2 write /a 7";
    let file = graph_of(&log(script, 100), &BuildOptions { view: FileView::File, ..BuildOptions::default() });
    assert_eq!(flows(&file), ["/b read 3 2", "2 write /a 1+7", "2 write /b 2", "3 write /a 1"]);
    assert!(cycles(&file).is_empty());
    let script = "1 fork 2\n1 fork 3\n2 read /a 1\n2 write /b 2\n3 read /b 2\n3 write /a 1";
    let file = graph_of(&log(script, 100), &BuildOptions { view: FileView::File, ..BuildOptions::default() });
    let cycle: Vec<&str> = cycles(&file)[0].iter().map(|vertex| &*file.vertex(*vertex).key).collect();
    assert_eq!(cycle, ["2", "3", "/a", "/b"]);
    assert!(cycles(&graph(script)).is_empty());
}

#[test]
fn copies_inside_the_kernel_read_and_write() {
    assert_eq!(flows(&graph("1 creat /b\n1 copy /a /b 50")), ["/a@1 read 1 50", "1 create /b@1 50"]);
}

#[test]
fn failed_calls_make_no_edge_and_no_vertex() {
    let graph = graph("1 read /a 5 EIO\n1 creat /b EIO\n1 rename /c /d EIO\n1 write /e 5");
    assert_eq!(flows(&graph), ["1 write /e@1 5"]);
    assert_eq!(graph.vertices.len(), 2);
}

#[test]
fn what_is_not_drawn_is_counted() {
    let script = "1 open /lib/libc.so.6\n1 read /lib/libc.so.6 832\n1 map /lib/libc.so.6\n1 write /dev/null 10\n1 exec /bin/x\n1 open /seen\n1 stat /used\n1 write /used 1";
    let hidden = graph(script);
    assert_eq!(flows(&hidden), ["1 write /used@1 1"]);
    assert_eq!((hidden.left_out.bytes, hidden.left_out.edges), (842, 3));
    let kinds: Vec<(&str, u64)> =
        hidden.left_out.vertices.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(
        kinds,
        [
            ("system files", 2),
            ("programs and libraries that were executed or mapped only", 1),
            ("files that were opened or stat'ed but not read", 1),
        ]
    );
    let options = BuildOptions { maps: true, system: true, ..BuildOptions::default() };
    let shown = graph_of(&log(script, 100), &options);
    assert_eq!(
        flows(&shown),
        ["/bin/x@1 map 1", "/lib/libc.so.6@1 read 1 832", "1 write /dev/null@1 10", "1 write /used@1 1"]
    );
    assert_eq!(shown.left_out.bytes, 0);
}

#[test]
fn what_is_older_than_the_open_that_could_make_it_is_appended_to_and_not_made() {
    let script = "1 append /log\n1 write /log 5";
    assert_eq!(flows(&graph(script)), ["1 create /log@1 5"]);
    let older = format!("born /log -90000000\n{script}");
    assert_eq!(flows(&graph(&older)), ["1 write /log@1 5"]);
    let by_this_call = format!("born /log -5000000\n{script}");
    assert_eq!(flows(&graph(&by_this_call)), ["1 create /log@1 5"]);
}

#[test]
fn a_program_that_the_workflow_built_leads_to_those_who_run_it() {
    let script =
        "1 creat /w/tool\n1 write /w/tool 5\n1 fork 2\n2 exec /w/tool\n2 exec /bin/true\n2 creat /w/out";
    assert_eq!(flows(&graph(script)), ["/w/tool@1 map 2", "1 create /w/tool@1 5", "2 create /w/out@1"]);
}

#[test]
fn data_that_were_only_mapped_are_read_but_libraries_are_not() {
    let script = "1 view /w/data\n1 view /w/libx.so\n1 map /w/libx.so\n1 creat /w/out";
    assert_eq!(flows(&graph(script)), ["/w/data@1 map 1", "1 create /w/out@1"]);
}

#[test]
fn the_end_of_a_pipe_is_no_data() {
    let script = "1 pipe pipe:[7]\n1 fork 2\n2 read pipe:[7] 0\n2 read /w/empty 0";
    assert_eq!(flows(&graph(script)), ["/w/empty@1 read 2"]);
}

#[test]
fn a_system_file_that_the_workflow_makes_is_data() {
    assert_eq!(
        flows(&graph("1 creat /usr/lib/libx.so\n1 write /usr/lib/libx.so 5")),
        ["1 create /usr/lib/libx.so@1 5"]
    );
}

#[test]
fn who_reads_a_pipe_depends_on_its_writers_though_the_end_of_the_read_is_not_known() {
    let script = "1 pipe pipe:[7]
         1 fork 2
         1 fork 3
         2 write pipe:[7] 100
         open 2 3 read pipe:[7] 100
         2 write pipe:[7] 9
         3 creat /z
         3 write /z 9";
    for rows in [1, 2, 100] {
        let options = BuildOptions { threads: NonZeroUsize::MIN, ..BuildOptions::default() };
        let flows = flows(&graph_of(&log(script, rows), &options));
        assert_eq!(flows, ["2 write pipe:[7]@1 109", "3 create /z@1 9", "pipe:[7]@1 read 3 100"], "{rows}");
    }
    // The reader makes no call after that.
    let script = "1 fork 2\n1 fork 3\n2 write pipe:[7] 100\nopen 2 3 read pipe:[7] 100";
    assert_eq!(flows(&graph(script)), ["2 write pipe:[7]@1 100", "pipe:[7]@1 read 3 100"]);
}

#[test]
fn sockets_carry_data_in_both_directions() {
    let client = "UNIX-STREAM:[8->9,\"/run/x\"]";
    let server = "UNIX-STREAM:[9->8]";
    let script = format!(
        "1 fork 2
         1 fork 3
         2 write {client} 5
         3 read {server} 5
         3 write {server} 7
         2 read {client} 7
         2 creat /z"
    );
    let expected = [
        "2 continue 2#2".to_owned(),
        "2#2 create /z@1".to_owned(),
        format!("2 write {client}@1 5"),
        format!("3 write {server}@1 7"),
        format!("{client}@1 read 3 5"),
        format!("{server}@1 read 2#2 7"),
    ];
    let mut flows = flows(&graph(&script));
    flows.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(flows, expected);
}

#[test]
fn a_pair_of_sockets_is_called_by_its_directions() {
    let pair = "1 pair socket:[7] socket:[8]\n";
    let script = format!("{pair}1 fork 2\n1 write socket:[7] 5\n2 read socket:[8] 5\n");
    assert_eq!(flows(&graph(&script)), ["1 write socket:[7->8]@1 5", "socket:[7->8]@1 read 2 5"]);
    // The same numbers again are another pair.
    let again = flows(&graph(&format!("{script}{pair}1 fork 3\n3 read socket:[8] 6")));
    assert!(!again.iter().any(|flow| flow == "socket:[7->8]@1 read 3 6"), "{again:?}");
}

#[test]
fn who_reads_through_several_links_depends_on_all_of_them() {
    let graph = graph(
        "1 fork 2
         1 creat /file
         1 symlink /c /file
         1 symlink /b /c
         1 symlink /a /b
         2 open /file /a
         2 read /file 3",
    );
    let read: Vec<String> = flows(&graph).into_iter().filter(|flow| flow.contains(" read ")).collect();
    assert_eq!(read, ["/a@1 read 2", "/b@1 read 2", "/c@1 read 2", "/file@1 read 2 3"]);
}

#[test]
fn a_file_without_a_name_is_called_by_the_first_that_it_gets() {
    let graph = graph("1 tmpfile /w/#7\n1 write /w/#7 5\n1 link /w/#7 /w/t\n1 fork 2\n2 read /w/t 5");
    assert_eq!(flows(&graph), ["/w/t@1 read 2 5", "1 create /w/t@1 5"]);
    let file = graph.vertices.iter().find_map(|vertex| vertex.file()).unwrap();
    assert!(file.names.is_empty(), "{:?}", file.names);
}

#[test]
fn who_renames_a_file_and_then_reads_it_depends_on_its_writer() {
    let graph = graph(
        "1 fork 2\n1 creat /a\n1 write /a 5\n2 rename /a /b\n2 read /b 3\n2 read /b 2\n2 creat /c\n2 write /c 1",
    );
    assert_eq!(
        flows(&graph),
        ["/a@1 next /b@1", "/a@1 read 2 5", "1 create /a@1 5", "2 create /b@1", "2 create /c@1 1"]
    );
}

#[test]
fn who_appends_to_a_file_and_then_reads_it_depends_on_who_wrote_before() {
    let graph =
        graph("1 fork 2\n1 creat /a\n1 write /a 5\n2 append /a\n2 write /a 1\n2 read /a 6\n2 write /c 1");
    assert_eq!(
        flows(&graph),
        ["/a@1 next /a@2", "/a@1 read 2 6", "1 create /a@1 5", "2 write /a@2 1", "2 write /c@1 1"]
    );
}

#[test]
fn who_renames_what_depends_on_it_and_reads_it_is_split() {
    let graph =
        graph("1 fork 2\n1 write /a 5\n2 read /a 5\n2 write /b 4\n1 rename /b /c\n1 read /c 4\n1 write /d 1");
    assert_eq!(
        flows(&graph),
        [
            "/a@1 read 2 5",
            "/b@1 next /c@1",
            "/b@1 read 1#2 4",
            "1 continue 1#2",
            "1 create /c@1",
            "1 write /a@1 5",
            "1#2 write /d@1 1",
            "2 write /b@1 4",
        ]
    );
}

#[test]
fn who_writes_to_what_was_there_and_reads_farther_is_split() {
    let graph = graph(
        "1 write /a 1 @5\n1 read /a 6 @0\n1 read /a 1 @5\n1 write /a 2 @6\n1 read /a 1 @7\n1 write /c 1",
    );
    assert_eq!(
        flows(&graph),
        [
            "/a@1 next /a@2",
            "/a@1 read 1#2 7",
            "1 continue 1#2",
            "1 write /a@1 1",
            "1#2 write /a@2 1+2",
            "1#2 write /c@1 1",
        ]
    );
}

#[test]
fn who_reads_no_farther_than_it_wrote_depends_on_nobody() {
    let graph = graph("1 write /a 6 @0\n1 read /a 6 @0");
    assert_eq!(flows(&graph), ["1 write /a@1 6+6"]);
}
