//! The dashboards: from the run to a file, and what could be done with fewer calls.

use crate::grafana::panel::{Kind, Panel};
use crate::grafana::variable::{CALL, FILE, HOST, JOB, LAYER, RANK, RULE, SOURCE, Variable};
use serde_json::{Value, json};

/// What a dashboard is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dashboard {
    /// The whole run.
    Run,
    /// A file.
    File,
    /// What `iotrail advise` finds.
    Findings,
}

/// What variables select of the calls of a run.
macro_rules! calls {
    ($($condition:literal),*) => {
        concat!(
            r#" FROM "iotrail_call" WHERE "job" =~ /^${job:regex}$/ AND "layer" =~ /^${layer:regex}$/ "#,
            r#"AND "host" =~ /^${host:regex}$/ AND "rank" =~ /^${rank:regex}$/ "#,
            $($condition,)*
            "AND $timeFilter"
        )
    };
}

/// What they select of the accesses of a file.
macro_rules! accesses {
    () => {
        calls!(r#"AND "file" =~ /^${file:regex}$/ AND "call" =~ /^${call:regex}$/ "#)
    };
}

const RUN: [Panel; 7] = [
    Panel {
        title: "Files by I/O time",
        kind: Kind::Bars,
        query: r#"SELECT "file", "io_ns" FROM "iotrail_file" WHERE "job" =~ /^${job:regex}$/ LIMIT 20"#,
        unit: "ns",
        file: Some("file"),
        size: (12, 12),
    },
    Panel {
        title: "Time in calls",
        kind: Kind::Lines,
        query: concat!(
            r#"SELECT sum("duration_ns")"#,
            calls!(),
            r#" GROUP BY time($__interval), "call" fill(none)"#
        ),
        unit: "ns",
        file: None,
        size: (12, 6),
    },
    Panel {
        title: "Bytes moved",
        kind: Kind::Lines,
        query: concat!(
            r#"SELECT sum("size")"#,
            calls!(),
            r#" GROUP BY time($__interval), "call" fill(none)"#
        ),
        unit: "bytes",
        file: None,
        size: (12, 6),
    },
    Panel {
        title: "Time in calls by rank",
        kind: Kind::Bars,
        query: concat!(r#"SELECT sum("duration_ns") AS "time_ns""#, calls!(), r#" GROUP BY "rank""#),
        unit: "ns",
        file: None,
        size: (12, 8),
    },
    Panel {
        title: "Bytes moved by rank",
        kind: Kind::Bars,
        query: concat!(r#"SELECT sum("size") AS "bytes""#, calls!(), r#" GROUP BY "rank""#),
        unit: "bytes",
        file: None,
        size: (12, 8),
    },
    Panel {
        title: "Files",
        kind: Kind::Table,
        query: concat!(
            r#"SELECT "file", "io_ns", "wait_ns", "calls", "failures", "opens", "bytes_read", "bytes_written", "#,
            r#""sequential", "reread", "overwritten", "processes", "ranks" FROM "iotrail_file" "#,
            r#"WHERE "job" =~ /^${job:regex}$/ LIMIT 500"#
        ),
        unit: "none",
        file: Some("file"),
        size: (24, 12),
    },
    Panel {
        title: "Processes",
        kind: Kind::Table,
        query: concat!(
            r#"SELECT "pid", "ppid", "command", "duration_ns", "bytes_read", "bytes_written", "exit_code" "#,
            r#"FROM "iotrail_process" WHERE "job" =~ /^${job:regex}$/ AND "host" =~ /^${host:regex}$/ "#,
            r#"AND "rank" =~ /^${rank:regex}$/ LIMIT 500"#
        ),
        unit: "none",
        file: None,
        size: (24, 10),
    },
];

const FILES: [Panel; 5] = [
    Panel {
        title: "Position in the file: begin and end of each access",
        kind: Kind::Points,
        query: concat!(r#"SELECT "offset", "offset_after""#, accesses!(), r#" GROUP BY "call""#),
        unit: "bytes",
        file: None,
        size: (24, 12),
    },
    Panel {
        title: "Bytes of each access",
        kind: Kind::Points,
        query: concat!(r#"SELECT "size""#, accesses!(), r#" GROUP BY "call""#),
        unit: "bytes",
        file: None,
        size: (12, 8),
    },
    Panel {
        title: "Duration of each call",
        kind: Kind::Points,
        query: concat!(r#"SELECT "duration_ns""#, accesses!(), r#" GROUP BY "call""#),
        unit: "ns",
        file: None,
        size: (12, 8),
    },
    Panel {
        title: "Time in calls on this file by rank",
        kind: Kind::Bars,
        query: concat!(r#"SELECT sum("duration_ns") AS "time_ns""#, accesses!(), r#" GROUP BY "rank""#),
        unit: "ns",
        file: None,
        size: (8, 10),
    },
    Panel {
        title: "Calls on this file",
        kind: Kind::Table,
        query: concat!(
            r#"SELECT "call", "rank", "pid", "tid", "offset", "size", "requested", "duration_ns", "errno", "seq""#,
            accesses!(),
            " LIMIT 1000"
        ),
        unit: "none",
        file: None,
        size: (16, 10),
    },
];

const FINDINGS: [Panel; 2] = [
    Panel {
        title: "Time at stake with findings, by file",
        kind: Kind::Bars,
        query: concat!(
            r#"SELECT "file", "at_stake_ns" FROM "iotrail_finding" "#,
            r#"WHERE "job" =~ /^${job:regex}$/ AND "rule" =~ /^${rule:regex}$/ LIMIT 50"#
        ),
        unit: "ns",
        file: Some("file"),
        size: (24, 10),
    },
    Panel {
        title: "Findings",
        kind: Kind::Table,
        query: concat!(
            r#"SELECT "rule", "severity", "file", "program", "calls", "saved_calls", "saved_ns", "at_stake_ns", "fix" "#,
            r#"FROM "iotrail_finding" WHERE "job" =~ /^${job:regex}$/ AND "rule" =~ /^${rule:regex}$/ LIMIT 500"#
        ),
        unit: "none",
        file: Some("file"),
        size: (24, 14),
    },
];

impl Dashboard {
    pub(crate) const ALL: [Self; 3] = [Self::Run, Self::File, Self::Findings];

    /// By which links find it.
    pub(crate) const fn uid(self) -> &'static str {
        match self {
            Self::Run => "iotrail-run",
            Self::File => "iotrail-file",
            Self::Findings => "iotrail-findings",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Run => "iotrail: run",
            Self::File => "iotrail: one file",
            Self::Findings => "iotrail: findings",
        }
    }

    pub(crate) const fn variables(self) -> &'static [Variable] {
        match self {
            Self::Run => &[SOURCE, JOB, LAYER, HOST, RANK],
            Self::File => &[SOURCE, JOB, LAYER, HOST, RANK, FILE, CALL],
            Self::Findings => &[SOURCE, JOB, RULE],
        }
    }

    const fn panels(self) -> &'static [Panel] {
        match self {
            Self::Run => &RUN,
            Self::File => &FILES,
            Self::Findings => &FINDINGS,
        }
    }

    pub(crate) fn json(self) -> Value {
        let others = Self::ALL.iter().filter(|other| **other != self).map(|other| {
            json!({
                "title": other.title(), "type": "link", "url": format!("/d/{uid}/{uid}", uid = other.uid()),
                "icon": "dashboard", "tooltip": "", "tags": [], "asDropdown": false, "targetBlank": false,
                "includeVars": true, "keepTime": true,
            })
        });
        json!({
            "uid": self.uid(), "title": self.title(), "tags": ["iotrail"], "schemaVersion": 42, "version": 1,
            "editable": true, "graphTooltip": 1, "timezone": "browser", "refresh": "",
            "time": { "from": "now-30d", "to": "now" },
            "templating": { "list": self.variables().iter().map(Variable::json).collect::<Vec<_>>() },
            "annotations": { "list": [] },
            "links": others.collect::<Vec<_>>(),
            "panels": laid_out(self.panels()),
        })
    }
}

/// Panels from left to right; one that does not fit beside those before goes below them, or below the right one of two.
fn laid_out(panels: &[Panel]) -> Vec<Value> {
    const WIDTH: usize = 24;
    let mut height = [0; WIDTH];
    let mut placed = Vec::new();
    for (number, panel) in panels.iter().enumerate() {
        let (width, rows) = (panel.size.0 as usize, panel.size.1);
        let top = |x: usize| height[x..x + width].iter().copied().max().unwrap_or_default();
        let x = (0..=WIDTH - width).min_by_key(|x| (top(*x), *x)).unwrap_or_default();
        let y = top(x);
        height[x..x + width].fill(y + rows);
        placed.push(panel.json(number + 1, (x as u32, y)));
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_do_not_overlap() {
        for dashboard in Dashboard::ALL {
            let mut taken = std::collections::BTreeSet::new();
            for panel in laid_out(dashboard.panels()) {
                let cell = |name: &str| panel["gridPos"][name].as_u64().unwrap();
                for x in cell("x")..cell("x") + cell("w") {
                    assert!(x < 24);
                    (cell("y")..cell("y") + cell("h")).for_each(|y| assert!(taken.insert((x, y)), "{panel}"));
                }
            }
        }
    }
}
