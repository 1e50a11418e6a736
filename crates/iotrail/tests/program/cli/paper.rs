//! The paper's worked example (Sankaran et al., section IV) through the command line, against values found by hand.

use crate::cli::util::{Dir, csv};
use serde_json::{Value, json};

/// Items of `list` whose `key` is `value`.
fn find<'a>(list: &'a Value, wanted: &[(&str, &str)]) -> &'a Value {
    let all = list.as_array().expect("a list");
    let fits = |item: &&Value| wanted.iter().all(|(key, value)| item[*key] == *value);
    let mut found = all.iter().filter(fits);
    let first = found.next().unwrap_or_else(|| panic!("nothing with {wanted:?}"));
    assert!(found.next().is_none(), "more than one with {wanted:?}");
    first
}

const LS: [&str; 8] = [
    "read:/usr/lib",
    "read:/usr/lib",
    "read:/usr/lib",
    "read:/proc/filesystems",
    "read:/proc/filesystems",
    "read:/etc/locale.alias",
    "read:/etc/locale.alias",
    "write:/dev/pts",
];

#[test]
fn import_says_what_it_made_and_info_says_what_is_in_it() {
    let dir = Dir::with_paper();
    let info = dir.json(["info", "paper.trail", "--json"]);
    assert_eq!(info["events"], 75);
    assert_eq!((&info["cases"], &info["processes"]), (&json!(6), &json!(6)));
    assert_eq!(info["calls"], json!({"read": 60, "write": 15}));
    let lines = &info["coverage"]["lines"];
    assert_eq!((&lines["total"], &lines["event"], &lines["exit"]), (&json!(81), &json!(75), &json!(6)));
    // ls: 3 x 832 + 478 + 2996; ls -l: the same and 542 + 1612 + 872 + 4096.
    assert_eq!(info["bytes"]["read"], 3 * 5970 + 3 * (5970 + 7122));
    assert_eq!(info["bytes"]["written"], 3 * 50 + 3 * (9 + 74 + 76 + 65));
    // The size on disk depends on how long the texts in trail.json are (the directory's name, the version).
    let text = dir.run(["info", "paper.trail"]).succeeds().text();
    let (before, after) = text.split_once("75 (").expect("a size on disk");
    let (_, after) = after.split_once("bytes each)").expect("a size per event");
    insta::assert_snapshot!(format!("{before}75 (SIZE){after}"));
}

#[test]
fn check_finds_the_trail_sound() {
    let dir = Dir::with_paper();
    assert_eq!(dir.run(["check", "paper.trail"]).succeeds().text(), "paper.trail: sound\n");
    let found = dir.json(["check", "paper.trail", "--json"]);
    assert_eq!(
        found,
        json!([{"trail": "paper.trail", "sound": true, "problems": [], "unfinished": [], "error": null}])
    );
}

#[test]
fn events_come_as_table_csv_and_json_lines_with_the_same_content() {
    let dir = Dir::with_paper();
    let select = ["events", "paper.trail", "--path", "/etc/passwd"];
    let rows = dir.run(select.into_iter().chain(["--json"])).succeeds().json_lines();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows[0],
        json!({"case_id": 3, "cid": "b", "host": "host1", "rid": "9157", "label": null, "seq": 9, "pid": 9173, "tid": 9173,
            "layer": "syscall", "call": "read", "start": "1970-01-01T08:56:04.744398000Z",
            "start_ns": 32_164_744_398_000_i64, "dur": 58_000, "fd": 4, "path": "/etc/passwd", "path2": null,
            "file": 9, "file2": null, "open": 9, "open2": null, "parent": null, "comm": null, "peer": null, "tag": null, "site": null, "sent": null, "received": null, "via": null, "args": null, "offset_before": null, "offset_after": null, "offset": null, "requested": 4096, "size": 1612, "ret": 1612, "errno": null, "flags": null})
    );
    let table = csv(&dir.run(select.into_iter().chain(["--csv"])).succeeds().text());
    assert_eq!(table.len(), 4);
    for (record, row) in table[1..].iter().zip(&rows) {
        for (name, field) in table[0].iter().zip(record) {
            let value = match &row[name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                number => number.to_string(),
            };
            assert_eq!(*field, value, "{name}");
        }
    }
    insta::assert_snapshot!(dir.run(select).succeeds().text());
}

#[test]
fn each_command_has_one_variant_of_multiplicity_three() {
    let dir = Dir::with_paper();
    let dfg = dir.json(["dfg", "paper.trail", "--map", "dir2", "--json"]);
    let variants = dfg["variants"].as_array().expect("variants");
    let counts: Vec<&Value> = variants.iter().map(|variant| &variant["count"]).collect();
    assert_eq!(counts, [3, 3]);
    let of_a = dir.json(["dfg", "paper.trail", "--map", "dir2", "--case", "cid=a", "--json"]);
    let middle: Vec<&str> = of_a["variants"][0]["trace"]
        .as_array()
        .expect("a trace")
        .iter()
        .filter_map(Value::as_str)
        .filter(|activity| !["●", "■"].contains(activity))
        .collect();
    assert_eq!(middle, LS);
    assert_eq!(of_a["variants"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_graph_has_the_papers_nodes_edges_and_counts() {
    let dir = Dir::with_paper();
    let dfg = dir.json(["dfg", "paper.trail", "--map", "dir2", "--by", "cid", "--json"]);
    assert_eq!(dfg["events"], json!({"total": 75, "mapped": 75, "unmapped": 0, "unmapped_ns": null}));
    let mut nodes: Vec<(&str, u64)> = dfg["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter_map(|node| Some((node["activity"].as_str()?, node["count"].as_u64()?)))
        .filter(|(activity, _)| !["●", "■"].contains(activity))
        .collect();
    nodes.sort_unstable();
    assert_eq!(
        nodes,
        [
            ("read:/etc/group", 3),
            ("read:/etc/locale.alias", 12),
            ("read:/etc/nsswitch.conf", 6),
            ("read:/etc/passwd", 3),
            ("read:/proc/filesystems", 12),
            ("read:/usr/lib", 24),
            ("write:/dev/pts", 15),
        ]
    );
    let edge = |from: &str, to: &str| find(&dfg["edges"], &[("from", from), ("to", to)])["count"].clone();
    assert_eq!(edge("●", "read:/usr/lib"), 6);
    // Twice in each case, and once more where `ls -l` reads the conversion tables.
    assert_eq!(edge("read:/usr/lib", "read:/usr/lib"), 6 * 2 + 3);
    assert_eq!(edge("read:/usr/lib", "read:/proc/filesystems"), 6);
    assert_eq!(edge("read:/etc/locale.alias", "write:/dev/pts"), 3);
    assert_eq!(edge("read:/usr/lib", "write:/dev/pts"), 3);
    assert_eq!(edge("write:/dev/pts", "write:/dev/pts"), 6);
    assert_eq!(edge("write:/dev/pts", "■"), 6);
    assert_eq!(dfg["edges"].as_array().map(Vec::len), Some(16));
}

#[test]
fn one_edge_alone_is_exclusive_to_ls() {
    let dir = Dir::with_paper();
    let dfg = dir.json(["dfg", "paper.trail", "--map", "dir2", "--by", "cid", "--json"]);
    let exclusive: Vec<_> = dfg["edges"]
        .as_array()
        .expect("edges")
        .iter()
        .filter(|edge| edge["groups"]["a"]["count"].as_u64() > Some(0))
        .filter(|edge| edge["groups"]["b"]["count"].as_u64().unwrap_or(0) == 0)
        .map(|edge| (&edge["from"], &edge["to"], &edge["count"]))
        .collect();
    assert_eq!(exclusive, [(&json!("read:/etc/locale.alias"), &json!("write:/dev/pts"), &json!(3))]);
}

#[test]
fn two_reads_of_libraries_run_at_once_within_ls_l() {
    let dir = Dir::with_paper();
    // 9157 and 9158 start 150 us apart and last 224 us; 9160 starts 550 us later than 9158.
    for (rule, expected) in [("exact", 2), ("paper", 2)] {
        let words =
            ["dfg", "paper.trail", "--map", "dir2", "--case", "cid=b", "--max-concurrency", rule, "--json"];
        let dfg = dir.json(words);
        assert_eq!(
            find(&dfg["nodes"], &[("activity", "read:/usr/lib")])["max_concurrency"],
            expected,
            "{rule}"
        );
    }
}

#[test]
fn the_summary_shows_activities_transitions_and_variants() {
    let dir = Dir::with_paper();
    insta::assert_snapshot!(
        dir.run(["dfg", "paper.trail", "--map", "dir2", "--by", "cid"]).succeeds().text()
    );
}

#[test]
fn map_explain_lists_the_paths_behind_an_activity() {
    let dir = Dir::with_paper();
    let words = ["dfg", "paper.trail", "--map", "dir2", "--map-explain"];
    let text = dir.run(words).succeeds().text();
    assert!(text.contains("/usr/lib/x86_64-linux-gnu/libc.so.6"), "{text}");
    dir.json(words.into_iter().chain(["--json"]));
}

#[test]
fn compare_tells_what_ls_l_does_more() {
    let dir = Dir::with_paper();
    let comparison = dir.json(["compare", "paper.trail", "--map", "dir2", "--by", "cid", "--json"]);
    let new = |activity: &str| {
        comparison["changes"]
            .as_array()
            .expect("changes")
            .iter()
            .any(|change| change.to_string().contains(activity) && change.to_string().contains("new"))
    };
    for activity in ["read:/etc/nsswitch.conf", "read:/etc/passwd", "read:/etc/group"] {
        assert!(new(activity), "{activity}: {comparison:#}");
    }
    let text = dir.run(["compare", "paper.trail", "--map", "dir2", "--by", "cid"]).succeeds().text();
    insta::assert_snapshot!(text);
}

#[test]
fn compare_puts_the_profiles_beside_the_graphs() {
    let dir = Dir::with_paper();
    let words = ["compare", "-q", "paper.trail", "--map", "dir2", "--by", "cid", "--phases=host"];
    let comparison = dir.json(words.into_iter().chain(["--json"]));
    let calls = find(&comparison["phases"]["total"]["measures"], &[("measure", "calls")]);
    let events = |group: usize| &comparison["dfg"]["groups"][group]["events"];
    assert_eq!((&calls["a"], &calls["b"]), (events(0), events(1)));
    assert_eq!(calls["layer"], "system call");
    let csv = dir.run(words.into_iter().chain(["--csv"])).succeeds().text();
    assert!(
        csv.starts_with(
            "a,b,part,name,program,kind,measure,layer,value_a,value_b,difference,ratio,p_value\n"
        ),
        "{csv}"
    );
    assert!(
        csv.contains(&format!("a,b,phase,total,,,calls,system call,{},{},", events(0), events(1))),
        "{csv}"
    );
    assert!(csv.contains(&format!("a,b,verdict,,,,calls,,{},{},", events(0), events(1))), "{csv}");
    let text = dir.run(words).succeeds().text();
    assert!(text.contains("Activities by difference") && text.contains("Phases, by host"), "{text}");
}

#[test]
fn the_report_is_one_page_without_network() {
    let dir = Dir::with_paper();
    let said = dir.run(["report", "paper.trail", "--by", "cid", "-o", "r.html"]).succeeds();
    assert_eq!(said.text(), "");
    let page = String::from_utf8(dir.read("r.html")).expect("UTF-8");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(page.trim_end().ends_with("</html>"));
    for link in ["src=\"http", "href=\"http", "@import", "src=\"//"] {
        assert!(!page.contains(link), "{link}");
    }
    assert!(page.contains("iotrail report paper.trail --by cid -o r.html"));
}
