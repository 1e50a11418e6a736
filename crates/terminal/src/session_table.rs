//! Open file descriptions with what was done through each, for terminals.

use crate::figures::{Figure, OF_USE, Shown, foremost};
use crate::table::{Align, Style, Table, fit};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_stats::Session;

/// Columns that a program's name may take.
const PROGRAM: usize = 20;

/// What stands behind the figures of uses.
const OF_SESSIONS: [Figure<Session>; 3] = [
    ("bytes", true, |row| row.low.zip(row.high).map(|(low, high)| format!("{low}–{high}"))),
    ("open for", false, |row| row.open_ns().map(|nanos| units::duration(nanos as f64))),
    ("processes", true, |row| Some(row.used.processes).filter(|users| *users > 1).map(units::count)),
];

/// The first `top` of these sessions as a table, below a line that says what there is in all.
#[must_use]
pub fn session_table(sessions: &[Session], top: usize, style: Style) -> String {
    foremost(&headline(sessions), (sessions, top), table, ("more session", "more sessions"), style)
}

/// How many there are, of how many files, and how many of them were shared.
fn headline(sessions: &[Session]) -> String {
    let mut paths: Vec<&str> = sessions.iter().map(|row| &*row.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let shared = sessions.iter().filter(|row| row.used.processes > 1).count() as u64;
    let unclosed = sessions.iter().filter(|row| row.closed_ns.is_none()).count() as u64;
    let mut text = format!(
        "{} of {}",
        units::counted(sessions.len() as u64, "open session", "open sessions"),
        units::counted(paths.len() as u64, "path", "paths"),
    );
    if shared > 0 {
        text.push_str(&format!("; {} shared by several processes", units::count(shared)));
    }
    if unclosed > 0 {
        text.push_str(&format!("; {} not closed by a call", units::count(unclosed)));
    }
    text
}

fn table(shown: &[Session], all: &[Session]) -> Table {
    let of_use = Shown::of(&OF_USE, all.iter().map(|row| &row.used));
    let of_sessions = Shown::of(&OF_SESSIONS, all.iter());
    let table = Table::new().figures("process", Align::Left);
    let mut table = of_sessions.columns(of_use.columns(table)).names("path");
    for row in shown {
        let program = fit(&printable(row.program.as_deref().unwrap_or("?")), PROGRAM);
        let process = std::iter::once(format!("{} {program}", row.pid));
        let figures = of_use.cells(&row.used).chain(of_sessions.cells(row));
        table.row(process.chain(figures).chain([row.path.to_string()]));
    }
    table
}
