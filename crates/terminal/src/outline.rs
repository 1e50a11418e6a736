//! The loops and calls of a structure in a terminal.

use crate::table::{Align, Block, Cell, Style, Table};
use iotrail_compress::{Counts, Outline, OutlineCall, OutlineItem, OutlineLine};
use iotrail_model::{Frame, units};

/// How many threads are listed.
const SHOWN_LINES: usize = 12;
/// Deeper items are not indented further.
const DEEPEST: usize = 24;

/// The outline as text, ending in a line break.
#[must_use]
pub fn outline(outline: &Outline, style: Style) -> String {
    let threads = threads(&outline.lines).render(style);
    let mut table = Table::new()
        .names("loops and calls")
        .optional("#", Align::Right)
        .figures("calls", Align::Right)
        .figures("time", Align::Right)
        .figures("share", Align::Right)
        .optional("bytes", Align::Right)
        .optional("each", Align::Right)
        .names("files");
    if outline.body.iter().any(has_site) {
        table = table.optional("called by", Align::Left);
    }
    outline.body.iter().for_each(|item| rows(item, 0, &mut table));
    format!("{}\n{threads}\n{}", summary(outline).render(style), table.render(style))
}

/// What the outline is of, in figures.
#[must_use]
pub fn summary(outline: &Outline) -> Block {
    let mut block = Block::new();
    block.entry("structure of", outline.trails.join(", "));
    let events = units::counted(outline.events, "event", "events");
    block.entry("events", format!("{events} in {}", units::counted(outline.items as u64, "item", "items")));
    block.entry("threads", units::count(outline.lines.len() as u64));
    block.entry("time in calls", units::duration(outline.time_ns as f64));
    if outline.precision < 100 {
        block.entry("precision", precision(outline));
    }
    if let Some(fixed) = outline.fixed_counts {
        block.entry("exact", format!("all counts, partners and tags: {fixed}"));
    }
    block
}

/// What a precision means for the values that are shown.
#[must_use]
pub fn precision(outline: &Outline) -> String {
    let near = match outline.precision {
        0 => "of whatever size, and calls of a loop may stand in another order".to_owned(),
        percent => format!("within {} % of the middle of their cluster", 100 - percent),
    };
    format!(
        "{} %: what is marked ~ is drawn from distributions of recorded values, {near}; numbers of calls, sums, smallest and largest are exact",
        outline.precision
    )
}

fn threads(lines: &[OutlineLine]) -> Table {
    let mut table = Table::new()
        .figures("thread", Align::Right)
        .figures("rank", Align::Right)
        .figures("pid", Align::Right)
        .figures("tid", Align::Right)
        .figures("events", Align::Right)
        .names("program");
    for line in lines.iter().take(SHOWN_LINES) {
        table.row([
            line.line.to_string(),
            line.rank.to_string(),
            line.pid.to_string(),
            line.tid.to_string(),
            units::count(line.events.into()),
            line.program.clone().unwrap_or_default(),
        ]);
    }
    if let Some(others) = lines.len().checked_sub(SHOWN_LINES).filter(|others| *others > 0) {
        let events = lines[SHOWN_LINES..].iter().map(|line| u64::from(line.events)).sum();
        let empty = String::new;
        table.row([format!("({others} others)"), empty(), empty(), empty(), units::count(events), empty()]);
    }
    table
}

/// Whether it is known of a call from where it was made.
fn has_site(item: &OutlineItem) -> bool {
    let is_known = |call: &OutlineCall| call.site.innermost().is_some();
    item.call.as_ref().is_some_and(is_known) || item.body.iter().any(has_site)
}

fn rows(item: &OutlineItem, depth: usize, table: &mut Table) {
    table.row(cells(item, depth));
    item.body.iter().for_each(|inner| rows(inner, depth + 1, table));
}

fn cells(item: &OutlineItem, depth: usize) -> Vec<Cell> {
    let indent = "  ".repeat(depth.min(DEEPEST));
    let name = item.call.as_ref().map_or_else(|| "loop".to_owned(), call);
    let threads = if item.all_lines { String::new() } else { format!("  threads {}", item.lines) };
    let bytes = |value: i64| units::bytes(value as f64);
    let of_call = item.call.as_ref();
    let moved = of_call.filter(|call| call.min_bytes.is_some());
    vec![
        Cell::branch(
            &indent,
            &format!("{}{}", mark(item, &["count"]), count(item.count)),
            &format!("{name}{}{threads}", drawn(item)),
        ),
        item.item.to_string().into(),
        of_call.map(|_| units::count(item.count.sum)).unwrap_or_default().into(),
        units::duration(item.time_ns as f64).into(),
        units::percent(item.share).into(),
        moved.map(|call| bytes(call.bytes)).unwrap_or_default().into(),
        moved.map(|call| format!("{}{}", mark(item, &SIZES), sizes(call))).unwrap_or_default().into(),
        of_call.map(files).unwrap_or_default().into(),
        of_call.and_then(|call| call.site.innermost()).map(Frame::words).unwrap_or_default().into(),
    ]
}

/// Columns of which the size of a call follows.
const SIZES: [&str; 2] = ["requested", "size"];

/// `~` if one of these columns is drawn.
fn mark(item: &OutlineItem, columns: &[&str]) -> &'static str {
    if item.drawn.iter().any(|drawn| columns.contains(&drawn.column)) { "~" } else { "" }
}

/// What is drawn beside counts and sizes, by column: ` ~sent`.
fn drawn(item: &OutlineItem) -> String {
    let others = item.drawn.iter().filter(|drawn| !["count", "requested", "size"].contains(&drawn.column));
    others.map(|drawn| format!(" ~{}", drawn.column)).collect()
}

/// `3 x `; nothing of what is done once.
fn count(Counts { min, max, .. }: Counts) -> String {
    match (min, max) {
        (1, 1) => String::new(),
        _ if min == max => format!("{} x ", units::count(min.into())),
        _ => format!("{}-{} x ", units::count(min.into()), units::count(max.into())),
    }
}

fn call(call: &OutlineCall) -> String {
    let flags = call.flags.as_ref().map(|flags| format!(" {flags}")).unwrap_or_default();
    let errno = call.errno.as_ref().map(|errno| format!(" = {errno}")).unwrap_or_default();
    format!("{}{flags}{errno}", call.name)
}

fn sizes(call: &OutlineCall) -> String {
    let bytes = |value: Option<i64>| units::bytes(value.unwrap_or(0) as f64);
    if call.min_bytes == call.max_bytes {
        bytes(call.min_bytes)
    } else {
        format!("{} to {}", bytes(call.min_bytes), bytes(call.max_bytes))
    }
}

fn files(call: &OutlineCall) -> String {
    match (&call.pattern, call.paths) {
        (Some(pattern), 2..) => format!("{pattern} ({} names)", units::count(call.paths as u64)),
        (pattern, _) => pattern.clone().unwrap_or_default(),
    }
}
