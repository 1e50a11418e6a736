//! Charts become scenes: one alone, or several below each other.

use super::Chart;
use crate::palette;
use crate::scene::Scene;

/// The picture of one chart.
#[must_use]
pub fn scene(chart: &Chart) -> Scene {
    sheet(&chart.title, std::slice::from_ref(chart))
}

/// The picture of `charts` below each other.
#[must_use]
pub fn sheet(title: &str, charts: &[Chart]) -> Scene {
    let notes: Vec<&str> = charts.iter().flat_map(|chart| chart.notes.iter().map(String::as_str)).collect();
    Scene {
        width: 800.0,
        height: 460.0 * charts.len() as f64,
        page: palette::PAGE,
        title: title.to_owned(),
        description: notes.join(" · "),
        items: Vec::new(),
    }
}
