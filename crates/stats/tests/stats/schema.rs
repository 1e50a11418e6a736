//! The schema of the JSON names exactly the fields that are written.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_stats::result::{
    AccessRow, CallRow, ClassCallRow, Distribution, Modes, PROFILE_FORMAT, PhaseRow, Quantity, Series,
    Throughput,
};
use iotrail_stats::size_histogram::SizeBin;
use iotrail_stats::{Profile, Session, UsedFile};
use serde::Serialize;
use serde_json::Value;

fn agrees(value: &impl Serialize, schema: &Value) {
    let written = serde_json::to_value(value).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    let described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(keys, described);
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(keys.iter().all(|key| required.contains(&key.as_str())) && keys.len() == required.len());
}

#[test]
fn the_schema_describes_every_field_that_is_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/profile.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(schema["properties"]["format"]["const"], PROFILE_FORMAT);
    agrees(&Profile::default(), &schema);
    agrees(&CallRow::default(), &schema["$defs"]["call"]);
    agrees(&ClassCallRow::default(), &schema["$defs"]["class_call"]);
    agrees(&Modes::default(), &schema["$defs"]["modes"]);
    agrees(&PhaseRow::default(), &schema["$defs"]["phase"]);
    agrees(&AccessRow::default(), &schema["$defs"]["access"]);
    agrees(&Throughput::default(), &schema["$defs"]["throughput"]);
    agrees(&Series::default(), &schema["$defs"]["series"]);
    let distribution = Distribution {
        quantity: Quantity::Latency,
        series: String::new(),
        count: 0,
        sum: 0,
        steps: Vec::new(),
        error: 0.0,
    };
    agrees(&distribution, &schema["$defs"]["distribution"]);
}

#[test]
fn the_schema_of_files_describes_every_field_that_is_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/files.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    agrees(&UsedFile::default(), &schema);
    agrees(&SizeBin { from: 0, to: 0, count: 0 }, &schema["$defs"]["bin"]);
}

#[test]
fn the_schema_of_sessions_describes_every_field_that_is_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/sessions.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    agrees(&Session::default(), &schema);
}
