//! The accesses of files, each with what became of it, for terminals.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_advise::{AccessCall, JudgedAccess, JudgedFile, JudgedPair, Reason, stop_in_words};
use iotrail_model::text::printable;
use iotrail_model::units;

/// The first `top` accesses of each of these files.
#[must_use]
pub fn access_table(files: &[JudgedFile], top: usize, style: Style) -> String {
    let tables: Vec<String> = files.iter().map(|file| of_file(file, top, style)).collect();
    tables.join("\n")
}

fn of_file(file: &JudgedFile, top: usize, style: Style) -> String {
    let mut out = style.bold(&headline(file));
    out.push('\n');
    let shown = &file.accesses[..file.accesses.len().min(top)];
    let from = shown.first().map_or(0, |access| access.call.start_ns);
    let mut table = Table::new()
        .figures("at", Align::Right)
        .figures("process", Align::Right)
        .names("call")
        .figures("open", Align::Right)
        .figures("offset", Align::Right)
        .figures("behind", Align::Right)
        .optional("size", Align::Right)
        .optional("took", Align::Right)
        .figures("run", Align::Right)
        .figures("pair", Align::Left)
        .figures("apart from the next", Align::Left);
    shown.iter().for_each(|access| table.row(row(access, from)));
    out.push_str(&table.render(style));
    let more = file.accesses_in_all.saturating_sub(shown.len() as u64);
    if more > 0 {
        let more = units::counted(more, "more access", "more accesses");
        out.push_str(&style.left_out(&format!("… {more}"), Hint::MoreInJson));
    }
    let in_the_way = in_the_way(shown, from);
    if !in_the_way.is_empty() {
        out.push('\n');
        out.push_str(&in_the_way.render(style));
    }
    out
}

/// The calls that keep accesses apart.
fn in_the_way(accesses: &[JudgedAccess], from: i64) -> Table {
    let mut table = Table::new()
        .figures("behind that at", Align::Right)
        .names("in the way")
        .names("call")
        .figures("process", Align::Right)
        .figures("at", Align::Right)
        .figures("offset", Align::Right)
        .figures("size", Align::Right);
    for (access, stop) in accesses.iter().filter_map(|access| Some((access, access.stop.as_ref()?))) {
        let AccessCall { pid, call, start_ns, offset, size, .. } = &stop.by;
        table.row([
            after(access.call.start_ns, from),
            stop_in_words(stop.reason).to_owned(),
            call.to_string(),
            pid.to_string(),
            after(*start_ns, from),
            units::or_dash(*offset, units::count),
            units::or_dash(*size, |size| units::bytes(size as f64)),
        ]);
    }
    table
}

fn headline(file: &JudgedFile) -> String {
    let accesses = units::counted(file.accesses_in_all, "access", "accesses");
    let runs = match file.runs_in_all {
        0 => "no runs that could be one access".to_owned(),
        1 => "1 run that could be one access".to_owned(),
        runs => format!("{} runs that could each be one access", units::count(runs)),
    };
    format!("{}: {accesses}, {runs}", printable(&file.file))
}

fn row(access: &JudgedAccess, from: i64) -> [String; 11] {
    let AccessCall { pid, call, start_ns, dur_ns, offset, size, .. } = &access.call;
    let number = |number: Option<u64>| units::or_dash(number, units::count);
    [
        after(*start_ns, from),
        pid.to_string(),
        call.to_string(),
        number(access.open),
        number(*offset),
        number(access.offset_after),
        units::or_dash(*size, |size| units::bytes(size as f64)),
        units::duration_or_dash(*dur_ns),
        access
            .run
            .zip(access.member)
            .map_or_else(|| "–".to_owned(), |(run, member)| format!("{run}.{member}")),
        units::or_dash(access.pair, pair),
        access.stop.as_ref().map(|stop| stop.reason.to_owned()).unwrap_or_default(),
    ]
}

/// When something began, after the first access.
fn after(start: i64, from: i64) -> String {
    let sign = if start < from { "−" } else { "+" };
    format!("{sign}{}", units::duration(start.abs_diff(from) as f64))
}

/// A category, and if it is not the best one why.
fn pair(pair: JudgedPair) -> String {
    let why = match pair.reason {
        Reason::NothingBetween | Reason::NothingInTheWay => return pair.category.to_string(),
        Reason::Write => "write",
        Reason::Read => "read",
        Reason::Seek => "seek",
        Reason::UnknownEffect => "unknown",
    };
    format!("{} {why}", pair.category)
}
