//! What `iotrail why` prints: one line that answers, then the pieces, who waited for whom, and what could not be told.

use crate::foremost_advice::foremost_advice;
use crate::hints::{Hint, Hints};
use crate::table::{Align, Style, Table, wrap};
use iotrail_advise::Item;
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_workflow::why::result::{
    Limitation, LimitationKind, Piece, PieceKind, Run, WaitCause, WaitRow, WaitTime, Why,
};
use std::collections::{HashMap, HashSet};

/// Pieces that the first line names.
const NAMED: usize = 4;
/// The first line names no piece that is less than this part of the whole.
const LEAST: i64 = 40;
/// What is a piece of a whole told by programs must be one of so many parts of it.
const LARGE: i64 = 6;
/// The part of the whole that its pieces must make up, else it tells sums: three quarters.
const ENOUGH: (i64, i64) = (3, 4);
/// Rows of who waited for whom.
const EDGES: usize = 10;

/// The explanation in a terminal, ending in a line break; tables have up to `top` rows. What to change, if anything, follows the
/// answer.
#[must_use]
pub fn why_summary<'a>(
    why: &Why,
    advice: impl Iterator<Item = Item<'a>>,
    top: usize,
    style: Style,
) -> String {
    let directory = why.directory.as_deref();
    let mut sections = Vec::new();
    match why.runs.as_slice() {
        [] => sections.push("nothing in this trail has a time\n".to_owned()),
        [run] => sections.extend(block(run, directory, top, style)),
        [slowest, ..] => {
            sections.push(several(&why.runs, directory, top, style));
            sections.push(style.bold(&format!("The slowest: {}\n", printable(&slowest.name))));
            sections.extend(block(slowest, directory, top, style));
        }
    }
    sections.insert(1, foremost_advice(advice, style));
    let missing = |row: &&Limitation| matches!(row.what, LimitationKind::LeftOut | LimitationKind::Lost);
    if let Some(row) = why.limitations.iter().find(missing) {
        sections.insert(0, format!("Incomplete: {}\n", limitation(row, style.hints, &duration)));
    }
    if !why.limitations.is_empty() {
        let lines = why.limitations.iter().map(|row| bullet(&limitation(row, style.hints, &duration), style));
        sections.push(format!("{}\n{}", style.bold("What could not be told"), lines.collect::<String>()));
    }
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// The answer in one line: `2.26 s: 1.35 s fdatasync of x.db, 410 ms computing in sqlite3, …`. Where no few pieces make
/// up most of the time it is told by kind and program, else what is not large by program alone.
#[must_use]
pub fn why_line(run: &Run, directory: Option<&str>) -> String {
    why_line_in(run, directory, &duration)
}

/// The same with durations in the words of `duration`.
#[must_use]
pub fn why_line_in<'a>(run: &'a Run, directory: Option<&str>, duration: &dyn Fn(i64) -> String) -> String {
    let alike = alike(run);
    let of = |piece: &'a Piece| alike.get(&(piece.kind, piece.program.as_str()));
    let exact = |piece: &'a Piece| phrase(piece, directory);
    let kind = |piece: &'a Piece| match of(piece) {
        Some(alike) if alike.is_nearly_one() => phrase(alike.largest, directory),
        _ => phrase(&Piece { path: None, files: None, call: None, ..piece.clone() }, None),
    };
    let is_large = |alike: &Alike<'_>| alike.time.saturating_mul(LARGE) >= run.elapsed_ns;
    let large = alike.iter().filter(|(_, alike)| is_large(alike));
    let large: HashSet<&str> = large.map(|((_, program), _)| *program).collect();
    let program = |piece: &'a Piece| match of(piece).is_some_and(is_large) {
        true => kind(piece),
        false if large.contains(piece.program.as_str()) => format!("all else in {}", piece.program),
        false => format!("in {}", piece.program),
    };
    let lines = [named(run, &exact, duration), named(run, &kind, duration), named(run, &program, duration)];
    let explained =
        |line: &&Named| line.explained.saturating_mul(ENOUGH.1) >= run.elapsed_ns.saturating_mul(ENOUGH.0);
    let best = lines.iter().find(explained).unwrap_or(&lines[2]);
    printable(&format!("{}: {}", duration(run.elapsed_ns), best.text)).into_owned()
}

/// The pieces of one kind and program.
struct Alike<'a> {
    time: i64,
    largest: &'a Piece,
}

impl Alike<'_> {
    /// Whether one piece is nearly all of them.
    fn is_nearly_one(&self) -> bool {
        self.largest.time_ns.saturating_mul(10) >= self.time.saturating_mul(9)
    }
}

/// The pieces of each kind of each program, which come in the order of their size.
fn alike(run: &Run) -> HashMap<(PieceKind, &str), Alike<'_>> {
    let mut alike = HashMap::new();
    for piece in &run.pieces {
        let new = || Alike { time: 0, largest: piece };
        alike.entry((piece.kind, piece.program.as_str())).or_insert_with(new).time += piece.time_ns;
    }
    alike
}

/// The first part of an answer.
struct Named {
    text: String,
    /// Time of what is named.
    explained: i64,
}

/// The largest parts of a run, told by what `name` says of its pieces.
fn named<'a>(run: &'a Run, name: &dyn Fn(&'a Piece) -> String, duration: &dyn Fn(i64) -> String) -> Named {
    let mut parts: Vec<(String, i64)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for piece in &run.pieces {
        let name = name(piece);
        match known.get(&name) {
            Some(part) => parts[*part].1 += piece.time_ns,
            None => {
                known.insert(name.clone(), parts.len());
                parts.push((name, piece.time_ns));
            }
        }
    }
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let large = parts.iter().filter(|(_, time)| time.saturating_mul(LEAST) >= run.elapsed_ns);
    let shown = large.take(NAMED).count().max(usize::from(!parts.is_empty()));
    let mut texts: Vec<String> =
        parts[..shown].iter().map(|(name, time)| format!("{} {name}", duration(*time))).collect();
    let rest = &parts[shown..];
    let left: i64 = rest.iter().map(|(_, time)| time).sum();
    if !rest.is_empty() {
        let number = units::counted(rest.len() as u64, "smaller part", "smaller parts");
        texts.push(format!("{} in {number}", duration(left)));
    }
    if texts.is_empty() {
        texts.push("nothing took any time".to_owned());
    }
    Named { text: texts.join(", "), explained: run.elapsed_ns - left }
}

fn duration(nanos: i64) -> String {
    units::duration(nanos as f64)
}

fn share(part: i64, whole: i64) -> String {
    if whole > 0 { units::percent(part as f64 / whole as f64) } else { "–".to_owned() }
}

fn bullet(text: &str, style: Style) -> String {
    let lines = wrap(&printable(text), style.width.saturating_sub(2).max(20));
    format!("- {}\n", lines.join("\n  "))
}

fn block(run: &Run, directory: Option<&str>, top: usize, style: Style) -> Vec<String> {
    let lines = wrap(&why_line(run, directory), style.width.max(20));
    vec![
        format!("{}\n", style.bold(&lines.join("\n"))),
        pieces(run, directory, top, style),
        waits(&run.waits, directory, top.min(EDGES), style),
    ]
}

/// What a piece is, in words.
#[must_use]
pub fn phrase(piece: &Piece, directory: Option<&str>) -> String {
    let program = &piece.program;
    let path = piece.path.as_deref().map(|path| relative(path, directory));
    let on = match (&path, piece.files) {
        (Some(path), Some(files)) => format!(" of {} in {path}", units::counted(files, "file", "files")),
        (Some(path), None) => format!(" of {path}"),
        (None, Some(files)) => format!(" of {}", units::counted(files, "other file", "other files")),
        (None, None) => format!(" in {program}"),
    };
    let call = piece.call.as_deref().filter(|_| piece.only_call);
    let calls = |several: &str| format!("{}{on}", call.unwrap_or(several));
    match piece.kind {
        PieceKind::Data => calls("reading and writing"),
        PieceKind::Sync => calls("syncing"),
        PieceKind::Metadata => calls("metadata calls"),
        PieceKind::Memory => calls("mapping memory"),
        PieceKind::Process => calls("starting and ending processes"),
        PieceKind::Other => calls("other calls"),
        PieceKind::Transfer => calls("passing data"),
        PieceKind::Sleep => format!("sleeping in {program}"),
        PieceKind::Waiting => {
            let call = piece.call.as_deref().unwrap_or("a call");
            let path = path.map(|path| format!(" on {path}")).unwrap_or_default();
            format!("waiting in {call}{path}, cause unknown")
        }
        PieceKind::Computing => format!("computing in {program}"),
        PieceKind::BetweenCalls => format!("between calls in {program}"),
        PieceKind::OffCpu => format!("off CPU in {program}, reason unknown"),
        PieceKind::HandOver => format!("hand-over ({}) to {program}", path.unwrap_or("wait")),
        PieceKind::Start => format!("start of {program}"),
        PieceKind::Tracing => format!("tracing of {program}"),
    }
}

/// A path below the working directory without it.
fn relative<'a>(path: &'a str, directory: Option<&str>) -> &'a str {
    let below =
        |directory: &str| path.strip_prefix(directory)?.strip_prefix('/').filter(|rest| !rest.is_empty());
    directory.filter(|directory| directory.len() > 1).and_then(below).unwrap_or(path)
}

fn pieces(run: &Run, directory: Option<&str>, top: usize, style: Style) -> String {
    let mut table = Table::new()
        .figures("time", Align::Right)
        .figures("share", Align::Right)
        .figures("kind", Align::Left)
        .names("what")
        .names("program")
        .optional("calls", Align::Right);
    for piece in run.pieces.iter().take(top) {
        table.row([
            duration(piece.time_ns),
            share(piece.time_ns, run.elapsed_ns),
            piece.kind.name().to_owned(),
            phrase(piece, directory),
            piece.program.clone(),
            if piece.calls > 0 { units::count(piece.calls) } else { String::new() },
        ]);
    }
    let rest = &run.pieces[top.min(run.pieces.len())..];
    if !rest.is_empty() {
        let time = rest.iter().map(|piece| piece.time_ns).sum();
        let what = units::counted(rest.len() as u64, "more piece", "more pieces");
        let how = style.hints.of(Hint::MorePieces).map(|how| format!(" ({how})")).unwrap_or_default();
        table.row([
            duration(time),
            share(time, run.elapsed_ns),
            String::new(),
            what + &how,
            String::new(),
            String::new(),
        ]);
    }
    format!("{}\n{}", style.bold("Where the elapsed time went"), table.render(style))
}

fn waits(rows: &[WaitRow], directory: Option<&str>, top: usize, style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .names("waiter")
        .names("waited for")
        .figures("on the path", Align::Right)
        .figures("waits", Align::Right)
        .figures("in all", Align::Right)
        .figures("waits", Align::Right);
    let time = |time: WaitTime| if time.number > 0 { duration(time.time_ns) } else { "–".to_owned() };
    let number = |time: WaitTime| if time.number > 0 { units::count(time.number) } else { "–".to_owned() };
    for row in rows.iter().take(top) {
        table.row([
            row.waiter.clone(),
            awaited(row, directory),
            time(row.on_path),
            number(row.on_path),
            time(row.in_all),
            number(row.in_all),
        ]);
    }
    let more = match rows.len().saturating_sub(top) {
        0 => String::new(),
        more => style.left_out(&units::counted(more as u64, "more row", "more rows"), Hint::AllRows),
    };
    format!("{}\n{}{more}", style.bold("Who waited for whom"), table.render(style))
}

/// What a waiter waited for, in words.
#[must_use]
pub fn awaited(row: &WaitRow, directory: Option<&str>) -> String {
    let by = row.by.as_deref().unwrap_or("somebody");
    let path = row.path.as_deref().map(|path| relative(path, directory));
    match (row.cause, path) {
        (WaitCause::Child, _) => format!("{by} to end"),
        (WaitCause::Lock, Some(path)) => format!("{by} to unlock {path}"),
        (WaitCause::Sleep, _) => "the clock".to_owned(),
        (WaitCause::Unknown, Some(path)) => format!("unknown, on {path}"),
        (WaitCause::Unknown, None) => "unknown".to_owned(),
        (cause, _) => format!("{by} ({})", cause.name()),
    }
}

/// A row for each run, the slowest first, with the median.
fn several(runs: &[Run], directory: Option<&str>, top: usize, style: Style) -> String {
    let median = &runs[runs.len() / 2];
    let mut table = Table::new().names("run").figures("elapsed", Align::Right).names("largest pieces");
    let largest = |run: &Run| {
        let pieces = run.pieces.iter().take(2);
        let texts = pieces.map(|piece| format!("{} {}", duration(piece.time_ns), phrase(piece, directory)));
        texts.collect::<Vec<_>>().join(", ")
    };
    for run in runs.iter().take(top) {
        table.row([run.name.clone(), duration(run.elapsed_ns), largest(run)]);
    }
    let more = match runs.len().saturating_sub(top) {
        0 => String::new(),
        more => style.left_out(&units::counted(more as u64, "more run", "more runs"), Hint::AllRows),
    };
    let title = format!(
        "{} whose processes are not related: the slowest took {}, the median {} ({})",
        units::counted(runs.len() as u64, "run", "runs"),
        duration(runs[0].elapsed_ns),
        duration(median.elapsed_ns),
        median.name
    );
    format!("{}\n{}{more}", style.bold(&printable(&title)), table.render(style))
}

/// What could not be told, as a sentence with durations in the words of `duration`.
#[must_use]
pub fn limitation(row: &Limitation, hints: Hints, duration: &dyn Fn(i64) -> String) -> String {
    let number = row.number.unwrap_or_default();
    let time = duration(row.time_ns.unwrap_or_default());
    let names = row.names.join(", ");
    let counted = |one: &str, many: &str| units::counted(number, one, many);
    match row.what {
        LimitationKind::LeftOut => format!(
            "{} left out of the recording ({names}): the time they took shows as computing or off CPU.",
            counted("event was", "events were")
        ),
        LimitationKind::NotRecorded if row.names.iter().any(|name| name == "wait") => {
            let how = hints.of(Hint::RecordWaits).map(|how| format!(" ({how})")).unwrap_or_default();
            format!(
                "These families of calls were not recorded: {names}. Without `wait`{how}, sleeping shows as off CPU and parents are taken to wait for their children."
            )
        }
        LimitationKind::NotRecorded => format!("These families of calls were not recorded: {names}."),
        LimitationKind::NoDurations => {
            "The trace has no durations of calls (strace -T): only the ends of children are known to have been waited for.".to_owned()
        }
        LimitationKind::CoarseTimes => "The clock is too coarse to order single calls.".to_owned(),
        LimitationKind::UnknownCauses => {
            format!("{time} of the path in {} whose cause is not in the trail.", counted("wait", "waits"))
        }
        LimitationKind::Unclassed => {
            format!("{} of no class, or on descriptors of unknown kind, took {time}: {names}.", counted("call", "calls"))
        }
        LimitationKind::Unfinished => format!("The end of {} was not seen.", counted("call", "calls")),
        LimitationKind::Lost => format!("{} missing.", counted("event is", "events are")),
        LimitationKind::NotFollowed => format!("{} not followed.", counted("process was", "processes were")),
        LimitationKind::CostUnknown => {
            "The cost of recording was not measured, so it is part of the other pieces.".to_owned()
        }
        LimitationKind::CpuUnknown => format!(
            "The CPU time of {} is not known: {time} between its calls may be computing or waiting.",
            counted("program image", "program images")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(time_ns: i64, program: String) -> Piece {
        Piece { time_ns, program, kind: PieceKind::Computing, threads: 1, ..Piece::default() }
    }

    #[test]
    fn each_of_very_many_programs_is_looked_at_once() {
        let number = 50_000;
        let mut pieces = vec![piece(500_000, "server".to_owned())];
        pieces.extend((0..number).map(|number| piece(10, format!("test{number}"))));
        let elapsed_ns = pieces.iter().map(|piece| piece.time_ns).sum();
        let run = Run { elapsed_ns, pieces, ..Run::default() };
        let begun = std::time::Instant::now();
        assert_eq!(
            why_line(&run, None),
            "1.00 ms: 500 us computing in server, 500 us in 50,000 smaller parts"
        );
        // Each with each is 2,500,000,000 comparisons of names, which takes minutes.
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    }
}
