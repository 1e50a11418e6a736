//! What figures leave out, because the trail lacks it: the line above them.

use crate::table::{Style, wrap};
use iotrail_model::Limitation;
use iotrail_model::text::printable;

/// What figures leave out, as a sentence.
#[must_use]
pub fn limitation_of_figures(row: &Limitation) -> String {
    format!("{}: figures of calls are of the rest", printable(&row.to_string()))
}

/// A line for each limitation, to stand above all figures; nothing if there is none.
#[must_use]
pub fn incomplete(limitations: &[Limitation], style: Style) -> String {
    let line = |row: &Limitation| {
        let text = format!("Incomplete: {}.", limitation_of_figures(row));
        wrap(&text, style.width.max(20)).join("\n") + "\n"
    };
    limitations.iter().map(line).collect()
}
