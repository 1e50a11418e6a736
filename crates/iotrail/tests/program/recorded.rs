//! Programs recorded anew: the paper's `ls` and `ls -l`, and its shared file against a file per process, in small.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail anywhere")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn iotrail(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_iotrail")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON that `words` print about the trail of the traces of `name`.
fn json(name: &str, words: &[&str]) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    let trail = scratch.path().join("x.trail");
    let trail = trail.to_str().unwrap();
    iotrail(&["-q", "import", "-o", trail, example(name).join("traces").to_str().unwrap()]);
    let (command, rest) = words.split_first().unwrap();
    let text = iotrail(&[&["-q", command, trail, "--json"], rest].concat());
    serde_json::from_str(&text).unwrap()
}

fn find(list: &Value, matches: impl Fn(&Value) -> bool) -> &Value {
    list.as_array().unwrap().iter().find(|item| matches(item)).unwrap()
}

fn relation(edge: &Value) -> (&str, &str) {
    (edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap())
}

/// Relations that only cases of `group` have.
fn exclusive<'a>(graph: &'a Value, group: &str) -> Vec<(&'a str, &'a str)> {
    let edges = graph["edges"].as_array().unwrap().iter();
    let only = |edge: &&Value| {
        let groups = edge["groups"].as_object().unwrap();
        groups.len() == 1 && groups.contains_key(group)
    };
    edges.filter(only).map(relation).collect()
}

#[test]
fn each_way_of_calling_ls_has_one_variant_in_three_cases() {
    let graph = json("ls", &["dfg", "--map", "dir2", "--by", "cid"]);
    assert_eq!(graph["cases"], 6);
    let variants = graph["variants"].as_array().unwrap();
    assert_eq!(variants.iter().map(|variant| &variant["count"]).collect::<Vec<_>>(), [3, 3]);
    let short = find(&graph["variants"], |variant| variant["length"] == 8);
    let trace: Vec<&str> =
        short["trace"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    let [library, filesystems, locale] =
        ["read:/usr/lib", "read:/proc/filesystems", "read:/etc/locale.alias"];
    assert_eq!(
        trace,
        ["●", library, library, library, filesystems, filesystems, locale, locale, "write:/dev/null", "■"]
    );
    let first = find(&graph["edges"], |edge| relation(edge) == ("●", library));
    assert_eq!(first["count"], 6);
}

#[test]
fn the_only_relation_exclusive_to_ls_leads_from_the_locale_to_the_output() {
    let graph = json("ls", &["dfg", "--map", "dir2", "--by", "cid"]);
    assert_eq!(exclusive(&graph, "a"), [("read:/etc/locale.alias", "write:/dev/null")]);
    assert!(exclusive(&graph, "b").contains(&("read:/etc/passwd", "read:/etc/group")));
    for node in graph["nodes"].as_array().unwrap() {
        let activity = node["activity"].as_str().unwrap();
        let of_users =
            ["/etc/nsswitch.conf", "/etc/passwd", "/etc/group"].iter().any(|path| activity.ends_with(path));
        let only_long = node["groups"].as_object().unwrap().keys().eq(["b"]);
        assert!(!of_users || only_long, "{activity}");
    }
}

#[test]
fn site_variables_come_from_a_configuration_and_yield_to_the_command_line() {
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("config.toml");
    std::fs::write(&config, "[variables]\nLIB = \"/usr/lib\"\nETC = \"/etc\"\n").unwrap();
    let config = config.to_str().unwrap();
    let graph = json("ls", &["dfg", "--map", "dir2", "--config", config, "--var", "ETC=/proc"]);
    let activities: Vec<&str> =
        graph["nodes"].as_array().unwrap().iter().map(|node| node["activity"].as_str().unwrap()).collect();
    for expected in ["read:$LIB/x86_64-linux-gnu", "read:$ETC/filesystems", "read:/etc/passwd"] {
        assert!(activities.contains(&expected), "{expected} in {activities:?}");
    }
}

#[test]
fn a_shared_file_makes_each_write_slower() {
    let rules = example("ssf-fpp").join("same-file.toml");
    let words = ["compare", "--by", "cid", "--groups", "fpp,ssf", "--map", rules.to_str().unwrap()];
    let comparison = json("ssf-fpp", &words);
    let write = find(&comparison["changes"], |change| {
        change["kind"] == "slower" && change["activity"] == "write:$SCRATCH/test" && change["to"].is_null()
    });
    assert!(write["ratio"].as_f64().unwrap() > 1.5, "{write}");
    assert_eq!(write["significant"], true);
    let causes = comparison["changes"].as_array().unwrap();
    assert_eq!(
        causes[0]["activity"], "write:$SCRATCH/test",
        "the cause comes before the waits that it makes"
    );
    let seek = find(&comparison["changes"], |change| change["activity"] == "lseek:$SCRATCH/test");
    assert_eq!((&seek["kind"], &seek["value_b"]), (&Value::from("new"), &Value::from(48.0)));
}
