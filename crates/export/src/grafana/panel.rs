//! Panels of dashboards.

use crate::grafana::variable::source;
use serde_json::{Value, json};

/// How a panel shows its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A bar for each row, named by the first column.
    Bars,
    /// A table.
    Table,
    /// A line for each series.
    Lines,
    /// A point for each value.
    Points,
}

/// A question and how its answer is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) kind: Kind,
    /// InfluxQL.
    pub(crate) query: &'static str,
    /// Unit of the values.
    pub(crate) unit: &'static str,
    /// The column whose values lead to the dashboard of a file.
    pub(crate) file: Option<&'static str>,
    /// Columns of 24 and rows on the page.
    pub(crate) size: (u32, u32),
}

impl Panel {
    pub(crate) fn json(&self, id: usize, (x, y): (u32, u32)) -> Value {
        let (kind, custom, options) = self.kind.json();
        let (w, h) = self.size;
        let as_table = matches!(self.kind, Kind::Bars | Kind::Table);
        let mut defaults = json!({ "unit": self.unit, "custom": custom });
        if let Some(column) = self.file {
            let url = format!(
                "/d/iotrail-file/iotrail-file?${{source:queryparam}}&${{job:queryparam}}\
                 &var-file=${{__data.fields.{column}:percentencode}}&${{__url_time_range}}"
            );
            defaults["links"] =
                json!([{ "title": "Accesses of this file", "url": url, "targetBlank": false }]);
        }
        json!({
            "id": id, "type": kind, "title": self.title, "datasource": source(),
            "gridPos": { "x": x, "y": y, "w": w, "h": h },
            "fieldConfig": { "defaults": defaults, "overrides": self.units() },
            "options": options,
            "targets": [{
                "refId": "A", "datasource": source(), "rawQuery": true, "query": self.query,
                "resultFormat": if as_table { "table" } else { "time_series" },
                "alias": if as_table { "" } else { "$tag_call $col" },
            }],
            "transformations": if as_table { self.without_time() } else { json!([]) },
        })
    }

    /// Points of files and sums carry no time that means anything.
    fn without_time(&self) -> Value {
        if self.query.contains("iotrail_file") || matches!(self.kind, Kind::Bars) {
            json!([{ "id": "organize", "options": { "excludeByName": { "Time": true, "time": true } } }])
        } else {
            json!([])
        }
    }

    /// Columns are named after their units.
    fn units(&self) -> Value {
        let unit = |pattern: &str, unit: &str| {
            json!({
                "matcher": { "id": "byRegexp", "options": pattern },
                "properties": [{ "id": "unit", "value": unit }],
            })
        };
        if matches!(self.kind, Kind::Table) {
            json!([unit("/_ns$/", "ns"), unit("/^(bytes|size|reread|overwritten)/", "bytes")])
        } else {
            json!([])
        }
    }
}

impl Kind {
    /// Its name, the settings of its fields, its options.
    fn json(self) -> (&'static str, Value, Value) {
        let legend = json!({ "showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": [] });
        let tooltip = json!({ "mode": "single", "sort": "none" });
        let drawn = |style: &str| {
            json!({
                "drawStyle": style, "lineWidth": 1, "fillOpacity": 10, "pointSize": 4, "spanNulls": false,
                "showPoints": if style == "points" { "always" } else { "auto" },
            })
        };
        let series = json!({ "legend": legend, "tooltip": tooltip });
        match self {
            Self::Bars => (
                "barchart",
                json!({ "fillOpacity": 80, "lineWidth": 1 }),
                json!({
                    "orientation": "horizontal", "xTickLabelRotation": 0, "xTickLabelSpacing": 0, "stacking": "none",
                    "showValue": "auto", "groupWidth": 0.7, "barWidth": 0.9, "fullHighlight": false,
                    "legend": { "showLegend": false, "displayMode": "list", "placement": "bottom", "calcs": [] },
                    "tooltip": tooltip,
                }),
            ),
            Self::Table => (
                "table",
                json!({ "align": "auto", "inspect": true, "filterable": true, "cellOptions": { "type": "auto" } }),
                json!({ "showHeader": true, "cellHeight": "sm", "frameIndex": 0 }),
            ),
            Self::Lines => ("timeseries", drawn("line"), series),
            Self::Points => ("timeseries", drawn("points"), series),
        }
    }
}
