//! The communication matrix as a chart: senders below each other, receivers to the right, the deeper the shade the more bytes.

use super::{Axis, Chart, Line, Marks, Over, Unit};
use crate::view::Scale;
use iotrail_model::units;
use iotrail_stats::messages::{Messages, PairRow};

/// The most rows and columns; ranks that follow one another share one where there are more.
const MOST: usize = 96;

/// The matrix of messages; its sums are exact whatever it is divided into.
#[must_use]
pub fn of_messages(messages: &Messages, title: &str) -> Chart {
    let ranks = messages.ranks as usize;
    let together = ranks.div_ceil(MOST).max(1);
    let cells = ranks.div_ceil(together);
    let mut rows: Vec<Vec<f64>> = vec![vec![0.0; cells]; cells];
    for PairRow { from, to, traffic } in &messages.pairs {
        rows[*from as usize / together][*to as usize / together] += traffic.bytes as f64;
    }
    let name = |row: usize| match together {
        1 => format!("rank {row}"),
        _ => format!("ranks {}–{}", row * together, ((row + 1) * together).min(ranks) - 1),
    };
    let series = rows.into_iter().enumerate();
    let series = series.map(|(row, values)| Line { name: name(row), values }).collect();
    let total = messages.total;
    let mut notes = vec![format!(
        "{} with {} between {} ranks. A row is what a rank sends, a column what a rank is sent.",
        units::counted(total.messages, "message", "messages"),
        units::bytes(total.bytes as f64),
        units::count(ranks as u64),
    )];
    if together > 1 {
        notes.push(format!("Each cell is the sum of {together} by {together} ranks."));
    }
    let axis = |label: &str, unit, scale| Axis { label: label.to_owned(), unit, scale };
    Chart {
        title: title.to_owned(),
        notes,
        x: axis("receiving rank", Unit::Count, Scale::Linear),
        marks: Marks::Heat(Over {
            value: axis("bytes", Unit::Bytes, Scale::Log),
            bin: together as f64,
            numbered: true,
            rows: "rank".to_owned(),
            series,
        }),
    }
}
