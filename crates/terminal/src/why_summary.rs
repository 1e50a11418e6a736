//! What `iotrail why` prints: one line that answers, then the pieces, who waited for whom, and what could not be told.

use crate::foremost_advice::foremost_advice;
use crate::hints::{Hint, Hints};
use crate::incomplete::before_figures;
use crate::never_returned::{never_returned, never_returned_line};
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
/// A program with so many processes is named with their number where the time is told by program.
const MANY_PROCESSES: u64 = 10;
/// From so many calls on, their number stands beside the time of a file.
const MANY_CALLS: u64 = 100;
/// Waits that are named are this part of the whole at least.
const LONG_WAIT: i64 = 10;
/// Waits that are named at most.
const NAMED_WAITS: usize = 3;
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
    let hung = never_returned_line(why, &duration);
    if let (Some(line), Some(first)) = (hung, sections.first_mut()) {
        first.push_str(&(wrap(&line, style.width.max(20)).join("\n") + "\n"));
    }
    sections.insert(1, foremost_advice(advice, style));
    sections.push(never_returned(why, top.min(EDGES), style));
    let first = why.limitations.iter().filter(|row| row.comes_first());
    let first = first.map(|row| before_figures(row, &limitation(row, style.hints, &duration), style));
    sections.insert(0, first.collect());
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
    let programs = programs(run);
    let all = |program: &str| programs.get(program).copied().unwrap_or_default();
    let is_large = |program: &str, alike: &Alike<'_>| {
        // What many processes have in common is that there are many of them.
        let least =
            if all(program).is_many() { all(program).time.saturating_mul(LARGE) / 2 } else { run.elapsed_ns };
        alike.time.saturating_mul(LARGE) >= least.max(run.elapsed_ns)
    };
    let large = alike.iter().filter(|((_, program), alike)| is_large(program, alike));
    let large: HashSet<&str> = large.map(|((_, program), _)| *program).collect();
    let program = |piece: &'a Piece| match of(piece).is_some_and(|alike| is_large(&piece.program, alike)) {
        true => kind(piece),
        false if large.contains(piece.program.as_str()) => format!("all else in {}", piece.program),
        false if all(&piece.program).is_many() => {
            format!("in {} processes of {}", units::count(all(&piece.program).processes), piece.program)
        }
        false => format!("in {}", piece.program),
    };
    let lines = [
        named(run, &exact, true, duration),
        named(run, &kind, true, duration),
        named(run, &program, false, duration),
    ];
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

/// All pieces of a program but what recording added.
#[derive(Clone, Copy, Default)]
struct Program {
    time: i64,
    /// Of its piece with the most.
    processes: u64,
}

impl Program {
    fn is_many(&self) -> bool {
        self.processes >= MANY_PROCESSES
    }
}

fn programs(run: &Run) -> HashMap<&str, Program> {
    let mut programs: HashMap<&str, Program> = HashMap::new();
    for piece in run.pieces.iter().filter(|piece| piece.kind != PieceKind::Tracing) {
        let program = programs.entry(&piece.program).or_default();
        program.time += piece.time_ns;
        program.processes = program.processes.max(piece.processes);
    }
    programs
}

/// What pieces with one name are in all.
#[derive(Default)]
struct Part {
    name: String,
    time: i64,
    /// Calls on files.
    calls: u64,
}

impl Part {
    fn add(&mut self, piece: &Piece) {
        self.time += piece.time_ns;
        if matches!(piece.kind, PieceKind::Data | PieceKind::Sync | PieceKind::Metadata) {
            self.calls += piece.told().1;
        }
    }

    fn text(&self, counts: bool, duration: &dyn Fn(i64) -> String) -> String {
        let calls =
            (counts && self.calls >= MANY_CALLS).then(|| format!(" ({} calls)", units::count(self.calls)));
        format!("{} {}{}", duration(self.time), self.name, calls.unwrap_or_default())
    }
}

/// The first part of an answer.
struct Named {
    text: String,
    /// Time of what is named.
    explained: i64,
}

/// The largest parts of a run, told by what `name` says of its pieces, with the number of their calls if that `counts`. What recording added
/// is not a reason of the program's, so it comes after them.
fn named<'a>(
    run: &'a Run,
    name: &dyn Fn(&'a Piece) -> String,
    counts: bool,
    duration: &dyn Fn(i64) -> String,
) -> Named {
    let mut parts: Vec<Part> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut tracing = Part { name: "tracing".to_owned(), ..Part::default() };
    for piece in &run.pieces {
        if piece.kind == PieceKind::Tracing {
            tracing.add(piece);
            continue;
        }
        let name = name(piece);
        let part = *known.entry(name.clone()).or_insert_with(|| {
            parts.push(Part { name, ..Part::default() });
            parts.len() - 1
        });
        parts[part].add(piece);
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.time));
    let is_large = |part: &Part| part.time.saturating_mul(LEAST) >= run.elapsed_ns;
    let large = parts.iter().filter(|part| is_large(part));
    let shown = large.take(NAMED).count().max(usize::from(!parts.is_empty()));
    let mut rest = parts.split_off(shown);
    if tracing.time > 0 {
        if is_large(&tracing) { &mut parts } else { &mut rest }.push(tracing);
    }
    let mut texts: Vec<String> = parts.iter().map(|part| part.text(counts, duration)).collect();
    let left: i64 = rest.iter().map(|part| part.time).sum();
    if !rest.is_empty() {
        let number = units::counted(rest.len() as u64, "smaller part", "smaller parts");
        texts.push(format!("{} in {number}", duration(left)));
    }
    if texts.is_empty() {
        texts.push("nothing took any time".to_owned());
    }
    Named { text: texts.join(", "), explained: run.elapsed_ns - left }
}

/// Who waited long for somebody else, on the path at least once, parents for children last: `Waits: cat for dash (pipe) 306 ms`; nothing if
/// nobody did.
fn wait_line(run: &Run, directory: Option<&str>) -> Option<String> {
    let is_long = |row: &&WaitRow| {
        !matches!(row.cause, WaitCause::Sleep | WaitCause::Unknown)
            && row.on_path.number > 0
            && row.in_all.time_ns.saturating_mul(LONG_WAIT) >= run.elapsed_ns
    };
    let wait = |row: &WaitRow| {
        format!("{} for {} {}", row.waiter, awaited(row, directory), duration(row.in_all.time_ns))
    };
    let mut rows: Vec<&WaitRow> = run.waits.iter().filter(is_long).collect();
    rows.sort_by_key(|row| row.cause == WaitCause::Child);
    let waits: Vec<String> = rows.into_iter().take(NAMED_WAITS).map(wait).collect();
    (!waits.is_empty()).then(|| printable(&format!("Waits: {}", waits.join(", "))).into_owned())
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
    let width = style.width.max(20);
    let lines = wrap(&why_line(run, directory), width);
    let waiting = wait_line(run, directory).map(|line| wrap(&line, width).join("\n") + "\n");
    vec![
        format!("{}\n{}", style.bold(&lines.join("\n")), waiting.unwrap_or_default()),
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
    let (call, _) = piece.told();
    let calls = |several: &str| format!("{}{on}", call.unwrap_or(several));
    match piece.kind {
        PieceKind::Data => calls("reading and writing"),
        PieceKind::Sync => calls("syncing"),
        PieceKind::Metadata => calls("metadata calls"),
        PieceKind::Memory => calls("mapping memory"),
        PieceKind::Process => calls("starting and ending processes"),
        PieceKind::Mpi => format!("{} in {program}", call.unwrap_or("beginning and ending MPI")),
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
pub(crate) fn relative<'a>(path: &'a str, directory: Option<&str>) -> &'a str {
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
            if piece.calls > 0 { units::count(piece.told().1) } else { String::new() },
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
        (WaitCause::Exec, _) => format!("{by} to execute"),
        (WaitCause::Lock, Some(path)) => format!("{by} to unlock {path}"),
        (WaitCause::File, Some(path)) => format!("{by} to make {path}"),
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
        LimitationKind::LeftOut => {
            format!("{}: the time they took shows as computing or off CPU.", row.fact())
        }
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
        LimitationKind::CoarseTimes => format!("{row}."),
        LimitationKind::UnknownCauses => {
            format!("{time} of the path in {} whose cause is not in the trail.", counted("wait", "waits"))
        }
        LimitationKind::Unclassed => {
            format!("{} of no class, or on descriptors of unknown kind, took {time}: {names}.", counted("call", "calls"))
        }
        LimitationKind::Unfinished => format!("The end of {} was not seen.", counted("call", "calls")),
        LimitationKind::Lost => format!("{}.", row.fact()),
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

    fn of(time_ns: i64, kind: PieceKind, program: &str, calls: u64, path: Option<&str>) -> Piece {
        Piece { kind, calls, path: path.map(str::to_owned), ..piece(time_ns, program.to_owned()) }
    }

    #[test]
    fn many_calls_are_counted_and_what_recording_added_comes_last() {
        let pieces = vec![
            of(50_000, PieceKind::Tracing, "dd", 0, None),
            of(30_000, PieceKind::Data, "dd", 2_500, Some("/in")),
            Piece {
                call: Some("unlink".to_owned()),
                only_call: true,
                call_count: 300,
                ..of(19_500, PieceKind::Metadata, "dd", 1_800, Some("/journal"))
            },
            of(3_000, PieceKind::Data, "dd", 99, Some("/x")),
            of(1_000, PieceKind::Computing, "dd", 0, None),
        ];
        let run = Run { elapsed_ns: 103_500, pieces, ..Run::default() };
        assert_eq!(
            why_line(&run, None),
            "104 us: 30.0 us reading and writing of /in (2,500 calls), 19.5 us unlink of /journal (300 calls), \
             3.00 us reading and writing of /x, 50.0 us tracing, 1.00 us in 1 smaller part"
        );
    }

    #[test]
    fn what_many_short_processes_do_is_told_with_their_number() {
        let kinds = [
            PieceKind::OffCpu,
            PieceKind::Computing,
            PieceKind::Memory,
            PieceKind::Process,
            PieceKind::HandOver,
        ];
        let of_true = kinds.map(|kind| Piece { processes: 150, ..of(18_000, kind, "true", 150, None) });
        let of_dash = kinds.map(|kind| of(2_000, kind, "dash", 150, None));
        let run = Run { elapsed_ns: 100_000, pieces: [of_true, of_dash].concat(), ..Run::default() };
        assert_eq!(why_line(&run, None), "100 us: 90.0 us in 150 processes of true, 10.0 us in dash");
    }

    #[test]
    fn who_waited_long_is_told_parents_last_and_sleeps_not_at_all() {
        let row = |waiter: &str, cause, time_ns, number| WaitRow {
            waiter: waiter.to_owned(),
            cause,
            by: Some("b".to_owned()),
            on_path: WaitTime { number, time_ns: 1 },
            in_all: WaitTime { number: 1, time_ns },
            ..WaitRow::default()
        };
        let waits = vec![
            row("sh", WaitCause::Child, 90_000, 1),
            row("b", WaitCause::Sleep, 90_000, 1),
            row("cat", WaitCause::Pipe, 50_000, 1),
            row("aside", WaitCause::Pipe, 50_000, 0),
            row("short", WaitCause::Pipe, 5_000, 1),
        ];
        let run = Run { elapsed_ns: 100_000, waits, ..Run::default() };
        assert_eq!(
            wait_line(&run, None).unwrap(),
            "Waits: cat for b (pipe) 50.0 us, sh for b to end 90.0 us"
        );
        assert_eq!(wait_line(&Run::default(), None), None);
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
