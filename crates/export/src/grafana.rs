//! Dashboards for Grafana over the points of [`crate::influx`], and the files that provision them.
//!
//! All questions are InfluxQL, which InfluxDB 1.x, 2.x (buckets mapped to databases) and 3.x answer. Paths are fields, by which
//! InfluxQL cannot group, so what is shown by file comes from the measurement of files, and the accesses of a file are found by a
//! regular expression over calls.

mod dashboard;
mod panel;
mod provision;
mod variable;

pub use provision::{Access, Provision};

use crate::grafana::dashboard::Dashboard;
use iotrail_model::quote;
use std::fmt::Write;

/// The dashboards: name of the file and content.
#[must_use]
pub fn dashboards() -> Vec<(String, serde_json::Value)> {
    Dashboard::ALL.iter().map(|dashboard| (format!("{}.json", dashboard.uid()), dashboard.json())).collect()
}

/// What a link selects.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    /// The tag `job`.
    pub job: &'a str,
    /// The layer of calls.
    pub layer: &'a str,
    /// The file; without one the link leads to the whole run.
    pub file: Option<&'a str>,
    /// From the first to the last time, in ns.
    pub span: (i64, i64),
}

/// The address of the dashboard of a file, or of the run, with the time range and every variable.
#[must_use]
pub fn link(grafana: &str, selected: &Selected<'_>) -> String {
    let dashboard = if selected.file.is_some() { Dashboard::File } else { Dashboard::Run };
    let uid = dashboard.uid();
    // The end of the last call may be later than its begin: a second is the least that is seen.
    let (from, to) = (selected.span.0.div_euclid(1_000_000), selected.span.1.div_euclid(1_000_000) + 1000);
    let mut link = format!("{}/d/{uid}/{uid}?orgId=1&from={from}&to={to}", grafana.trim_end_matches('/'));
    for variable in dashboard.variables() {
        let value = match variable.name {
            "source" => provision::SOURCE,
            "job" => selected.job,
            "layer" => selected.layer,
            "file" => selected.file.unwrap_or_default(),
            _ => variable::ALL,
        };
        let _ = write!(link, "&var-{}={}", variable.name, quote::url(value));
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_selects_the_time_and_every_variable() {
        let selected =
            Selected { job: "a b", layer: "syscall", file: Some("/x&y"), span: (1_500_000, 2_500_000) };
        insta::assert_snapshot!(link("http://localhost:3000/", &selected), @"http://localhost:3000/d/iotrail-file/iotrail-file?orgId=1&from=1&to=1002&var-source=iotrail&var-job=a%20b&var-layer=syscall&var-host=%24__all&var-rank=%24__all&var-file=%2Fx%26y&var-call=%24__all");
        let run = Selected { file: None, ..selected };
        assert!(link("http://h", &run).starts_with("http://h/d/iotrail-run/iotrail-run?"));
    }

    #[test]
    fn each_variable_depends_on_those_above_it_only() {
        for (name, dashboard) in dashboards() {
            let variables = dashboard["templating"]["list"].as_array().unwrap().clone();
            let names: Vec<_> = variables.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
            for (at, variable) in variables.iter().enumerate() {
                let query = variable["query"].as_str().unwrap();
                for other in &names[at..] {
                    assert!(!query.contains(&format!("${{{other}:")), "{name}: {query}");
                }
            }
        }
    }
}
