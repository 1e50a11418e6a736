//! `iotrail export influx` as a file, `iotrail export grafana`; servers are in `tests/influx`.

use crate::cli::util::{Dir, LS};
use serde_json::Value;

#[test]
fn line_protocol_has_a_point_for_each_call_process_and_file() {
    let dir = Dir::with_trace(LS);
    let written =
        dir.run(["export", "influx", "t.trail", "-o", "t.lp", "--json", "--job", "my job"]).succeeds();
    let done: Value = serde_json::from_str(&written.text()).expect("JSON");
    assert_eq!((&done["points"], &done["calls"]["points"]), (&Value::from(8), &Value::from(5)));
    insta::assert_snapshot!(String::from_utf8(dir.read("t.lp")).expect("UTF-8"));
}

#[test]
fn points_need_times() {
    let dir = Dir::with_trace("read(3</x>, \"\", 4096) = 0 <0.000005>\n");
    let said = dir.run(["export", "influx", "t.trail", "-o", "-"]).fails();
    assert!(said.contains("-ttt"), "{said}");
}

#[test]
fn it_must_be_said_where_points_go() {
    let dir = Dir::with_trace(LS);
    let wrong: [&[&str]; 6] = [
        &[],
        &["--org", "o"],
        &["--db", "d", "-o", "x"],
        &["--db", "d", "--bucket", "b"],
        &["--db", "d", "--url", "https://db"],
        &["--db", "d", "--batch", "0"],
    ];
    for words in wrong {
        let ran = dir.run(["export", "influx", "t.trail"].iter().chain(words)).ends_with(2);
        assert_eq!(ran.text(), "", "{words:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let dir = Dir::with_trace(LS);
    let words =
        ["export", "influx", "t.trail", "--db", "d", "--url", "http://127.0.0.1:1", "--retry-for", "0s"];
    let said = dir.run(words).fails();
    assert!(said.contains("http://127.0.0.1:1") && said.contains("--resume"), "{said}");
}

#[test]
fn grafana_gets_dashboards_and_where_the_data_are() {
    let dir = Dir::with_trace(LS);
    dir.write("token", "secret\n");
    let words =
        ["export", "grafana", "t.trail", "-o", "g", "--org", "o", "--bucket", "b", "--token-file", "token"];
    let said = dir.run(words).succeeds();
    assert!(
        said.messages().contains("http://127.0.0.1:3000/d/iotrail-file/iotrail-file?orgId=1&from="),
        "{}",
        said.messages()
    );
    assert!(said.messages().contains("&var-job=t&var-layer=syscall&"), "{}", said.messages());
    let source = String::from_utf8(dir.read("g/provisioning/datasources/iotrail.yaml")).expect("UTF-8");
    assert!(source.contains("dbName: \"b\"") && !source.contains("secret"), "{source}");
    assert!(source.contains(&format!("__file{{{}}}", dir.path("token").display())), "{source}");
    for name in ["run", "file", "findings"] {
        let dashboard: Value =
            serde_json::from_slice(&dir.read(format!("g/dashboards/iotrail-{name}.json"))).expect("JSON");
        assert_eq!(dashboard["uid"], format!("iotrail-{name}"));
    }
}
