//! The profile of loops for terminals.

use crate::hints::Hint;
use crate::table::{Align, Cell, Style, Table};
use iotrail_compress::{Iteration, LoopRow, Loops};
use iotrail_model::units;

/// The first `top` loops as a table, or one of them with its slowest iterations.
#[must_use]
pub fn loop_tables(loops: &Loops, item: Option<u32>, top: usize, style: Style) -> String {
    let rows: Vec<&LoopRow> =
        loops.loops.iter().filter(|row| item.is_none_or(|item| row.item == item)).collect();
    let mut out = style.bold(&headline(loops)) + "\n";
    if rows.is_empty() {
        return out;
    }
    out.push_str(&table(&rows[..top.min(rows.len())]).render(style));
    if rows.len() > top {
        let more = units::counted((rows.len() - top) as u64, "more loop", "more loops");
        out.push_str(&style.left_out(&format!("… {more}"), Hint::MoreInJson));
    }
    if !loops.exact_times {
        out.push_str(
            &style.dim("Times are drawn from distributions; iterations have no times of their own.\n"),
        );
    }
    if let (Some(row), true) = (rows.first(), loops.exact_times) {
        out.push('\n');
        out.push_str(&style.bold(&format!("Slowest iterations of loop {}", row.item)));
        out.push('\n');
        out.push_str(&slowest(&row.slowest).render(style));
    }
    out
}

fn headline(loops: &Loops) -> String {
    let count = units::counted(loops.loops.len() as u64, "loop", "loops");
    format!("{count} of {}; time of all threads {}", loops.trails.join(", "), time(loops.threads_ns))
}

fn time(nanos: i64) -> String {
    units::duration(nanos as f64)
}

fn table(rows: &[&LoopRow]) -> Table {
    let mut table = Table::new().names("loop");
    for title in ["iterations", "calls", "bytes", "time", "share", "in calls"] {
        table = table.figures(title, Align::Right);
    }
    for title in ["threads", "median", "slowest", "of rank", "imbalance"] {
        table = table.figures(title, Align::Right);
    }
    for row in rows {
        let threads = &row.threads;
        let figures = [
            units::count(row.iterations),
            units::count(row.calls),
            units::bytes(row.bytes as f64),
            time(row.time_ns),
            units::percent(row.share),
            time(row.in_calls_ns),
            units::count(threads.count),
            time(threads.median_ns),
            time(threads.max_ns),
            threads.max_rank.to_string(),
            units::percent(threads.imbalance),
        ];
        let name = Cell::branch("", &format!("{} ", row.item), &row.calls_in_it.join(", "));
        table.row(std::iter::once(name).chain(figures.map(Cell::from)));
    }
    table
}

fn slowest(iterations: &[Iteration]) -> Table {
    let mut table = Table::new();
    for title in ["iteration", "rank", "thread", "time"] {
        table = table.figures(title, Align::Right);
    }
    for row in iterations {
        let path: Vec<String> = row.iteration.iter().map(u32::to_string).collect();
        table.row([path.join("."), row.rank.to_string(), row.thread.to_string(), time(row.time_ns)]);
    }
    table
}
