//! What queries make of event logs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not marked as tests")]

mod cases;
mod explain;
mod guide;
mod laws;
mod log;
mod mapping;
mod passes;
mod process_groups;
mod selection;

use iotrail_query::{Classified, Query, QuerySpec};
use iotrail_trail::{Columns, EventLog};

/// The query's answer for each row of the log: activity (or why there is none) and case.
fn classify(query: &Query, log: &EventLog) -> Vec<(String, String)> {
    let mut worker = query.worker();
    let mut out = Classified::default();
    let mut rows = Vec::new();
    for group in 0..log.row_groups() {
        let batch = log.read(group, Columns::ALL).unwrap();
        worker.classify(&batch, &mut out);
        assert_eq!((out.activity.len(), out.key.len()), (batch.len, batch.len));
        rows.extend(out.activity.iter().copied().zip(out.key.iter().copied()));
    }
    let names = query.activities();
    let name = |id: iotrail_query::ActivityId| match id.index() {
        Some(index) => names[index].to_string(),
        None if id == iotrail_query::ActivityId::UNMAPPED => "unmapped".to_owned(),
        None => "unselected".to_owned(),
    };
    rows.into_iter().map(|(activity, key)| (name(activity), query.case_name(key))).collect()
}

fn activities(spec: QuerySpec, log: &EventLog) -> Vec<String> {
    let query = Query::new(spec, log).unwrap();
    classify(&query, log).into_iter().map(|(activity, _)| activity).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
