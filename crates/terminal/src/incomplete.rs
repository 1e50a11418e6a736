//! What figures leave out, or are far from, because of what the trail lacks: the lines above them.

use crate::table::{Style, wrap};
use iotrail_model::Limitation;
use iotrail_model::text::printable;

/// What a limitation means for figures, as a sentence.
#[must_use]
pub fn limitation_of_figures(row: &Limitation) -> String {
    let rest = if row.is_of_events() { ": figures of calls are of the rest" } else { "" };
    format!("{}{rest}.", printable(&row.to_string()))
}

/// A line for each limitation, to stand above all figures; nothing if there is none.
#[must_use]
pub fn incomplete(limitations: &[Limitation], style: Style) -> String {
    limitations.iter().map(|row| before_figures(row, &limitation_of_figures(row), style)).collect()
}

/// The line that a sentence about a limitation makes above all figures.
pub(crate) fn before_figures(row: &Limitation, sentence: &str, style: Style) -> String {
    let kind = if row.is_of_events() { "Incomplete" } else { "Imprecise" };
    wrap(&format!("{kind}: {sentence}"), style.width.max(20)).join("\n") + "\n"
}
