//! Variables of dashboards: each asks the server, narrowed by those above it.

use serde_json::{Value, json};

/// The value that stands for all.
pub(crate) const ALL: &str = "$__all";

/// A variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    label: &'static str,
    query: &'static str,
    /// Whether several, or all, may be chosen.
    several: bool,
}

/// Which data source.
pub(crate) const SOURCE: Variable =
    Variable { name: "source", label: "Data source", query: "influxdb", several: false };
pub(crate) const JOB: Variable = Variable {
    name: "job",
    label: "Job",
    query: r#"SHOW TAG VALUES FROM "iotrail_call" WITH KEY = "job""#,
    several: false,
};
pub(crate) const LAYER: Variable = Variable {
    name: "layer",
    label: "Layer",
    query: r#"SHOW TAG VALUES FROM "iotrail_call" WITH KEY = "layer" WHERE "job" =~ /^${job:regex}$/"#,
    several: false,
};
pub(crate) const HOST: Variable = Variable {
    name: "host",
    label: "Host",
    query: r#"SHOW TAG VALUES FROM "iotrail_call" WITH KEY = "host" WHERE "job" =~ /^${job:regex}$/ AND "layer" =~ /^${layer:regex}$/"#,
    several: true,
};
pub(crate) const RANK: Variable = Variable {
    name: "rank",
    label: "Rank",
    query: r#"SHOW TAG VALUES FROM "iotrail_call" WITH KEY = "rank" WHERE "job" =~ /^${job:regex}$/ AND "layer" =~ /^${layer:regex}$/ AND "host" =~ /^${host:regex}$/"#,
    several: true,
};
/// Files come in the order of their points: those with most I/O time first.
pub(crate) const FILE: Variable = Variable {
    name: "file",
    label: "File",
    query: r#"SELECT "file" FROM "iotrail_file" WHERE "job" =~ /^${job:regex}$/ LIMIT 1000"#,
    several: false,
};
pub(crate) const CALL: Variable = Variable {
    name: "call",
    label: "Call",
    query: r#"SHOW TAG VALUES FROM "iotrail_call" WITH KEY = "call" WHERE "job" =~ /^${job:regex}$/ AND "layer" =~ /^${layer:regex}$/"#,
    several: true,
};
pub(crate) const RULE: Variable = Variable {
    name: "rule",
    label: "Rule",
    query: r#"SHOW TAG VALUES FROM "iotrail_finding" WITH KEY = "rule" WHERE "job" =~ /^${job:regex}$/"#,
    several: true,
};

impl Variable {
    pub(crate) fn json(&self) -> Value {
        if self.name == SOURCE.name {
            return json!({
                "type": "datasource", "name": self.name, "label": self.label, "query": self.query,
                "hide": 0, "skipUrlSync": false, "multi": false, "includeAll": false, "refresh": 1,
            });
        }
        let mut variable = json!({
            "type": "query", "name": self.name, "label": self.label, "query": self.query,
            "datasource": source(), "refresh": 2, "sort": 0, "hide": 0, "skipUrlSync": false,
            "multi": self.several, "includeAll": self.several,
        });
        if self.several {
            // A series without the tag is of all, too.
            variable["allValue"] = json!(".*");
            variable["current"] = json!({ "text": "All", "value": ALL });
        }
        variable
    }
}

/// The data source that a dashboard asks.
pub(crate) fn source() -> Value {
    json!({ "type": "influxdb", "uid": "${source}" })
}
