//! Calls that never returned, in words: what a program hung in.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use iotrail_model::calls::mpi::{Role, is_message, role};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_workflow::why::result::NeverReturned;

/// Calls that the first lines name.
const NAMED: usize = 3;
/// The first lines name no call that is a smaller part of the elapsed time.
const LONG: i64 = 10;
/// Ranks that are named one by one.
const NAMED_RANKS: usize = 4;

/// What the program hung in (of calls of MPI and of those that threads of its library make, the former), if that is a tenth of the elapsed time or more: `Never returned: MPI_Recv from rank 1 (tag 7) in app rank 0, 7.59 s`.
#[must_use]
pub fn never_returned_line<'a>(
    rows: &'a [NeverReturned],
    elapsed_ns: i64,
    path: &dyn Fn(&'a str) -> &'a str,
    duration: &dyn Fn(i64) -> String,
) -> Option<String> {
    let highest = rows.iter().map(|row| row.layer).max();
    let is_long = |row: &&NeverReturned| {
        Some(row.layer) == highest && row.time_ns.is_some_and(|time| time.saturating_mul(LONG) >= elapsed_ns)
    };
    let long: Vec<&NeverReturned> = rows.iter().filter(is_long).collect();
    let row = |row: &&'a NeverReturned| {
        let time = duration(row.time_ns.unwrap_or_default());
        format!("{} in {}, {time}", what_never_returned(row, path), who_never_returned(row))
    };
    let mut texts: Vec<String> = long.iter().take(NAMED).map(row).collect();
    if long.len() > NAMED {
        texts.push(units::counted((long.len() - NAMED) as u64, "more call", "more calls"));
    }
    (!texts.is_empty()).then(|| printable(&format!("Never returned: {}", texts.join("; "))).into_owned())
}

/// The call with its partner or its file: `MPI_Recv from rank 1 (tag 7)`.
#[must_use]
pub fn what_never_returned<'a>(row: &'a NeverReturned, path: &dyn Fn(&'a str) -> &'a str) -> String {
    let on = row.path.as_deref().map(|file| format!(" on {}", path(file))).unwrap_or_default();
    let peer = row.peer.and_then(|peer| partner(&row.call, peer)).unwrap_or_default();
    let communicator = match row.comm {
        None | Some(0) => None,
        Some(1) => Some("on MPI_COMM_SELF".to_owned()),
        Some(number) => Some(format!("communicator {number}")),
    };
    let tag = row.tag.map(|tag| if tag == -1 { "any tag".to_owned() } else { format!("tag {tag}") });
    let notes: Vec<String> = communicator.into_iter().chain(tag).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("{}{on}{peer}{notes}", row.call)
}

/// With whom a call of MPI is; nothing for nobody.
fn partner(call: &str, peer: i32) -> Option<String> {
    let lower = call.to_ascii_lowercase();
    let with = match role(call) {
        Role::FromRoot | Role::ToRoot => return (peer >= 0).then(|| format!(" with root {peer}")),
        _ if is_message(call) && lower.contains("send") && !lower.contains("recv") => "to",
        _ if is_message(call) && !lower.contains("send") => "from",
        _ => "with",
    };
    match peer {
        0.. => Some(format!(" {with} rank {peer}")),
        -1 => Some(format!(" {with} any rank")),
        _ => None,
    }
}

/// Who was in it: `app rank 0`, `12 threads of java`.
#[must_use]
pub fn who_never_returned(row: &NeverReturned) -> String {
    let NeverReturned { program, ranks, threads, processes, .. } = row;
    match (ranks.as_slice(), *threads) {
        ([], 1) => program.clone(),
        ([], threads) if threads == *processes => format!("{} processes of {program}", units::count(threads)),
        ([], threads) => format!("{} threads of {program}", units::count(threads)),
        ([rank], _) => format!("{program} rank {rank}"),
        (ranks, _) if ranks.len() <= NAMED_RANKS => format!("{program} ranks {}", ranks.join(", ")),
        (ranks, _) => format!("{} ranks of {program}", units::count(ranks.len() as u64)),
    }
}

/// A row for each call and partner; nothing if all returned.
pub(crate) fn never_returned<'a>(
    rows: &'a [NeverReturned],
    path: &dyn Fn(&'a str) -> &'a str,
    top: usize,
    style: Style,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .figures("for", Align::Right)
        .names("call")
        .names("program")
        .figures("threads", Align::Right)
        .figures("pid", Align::Right);
    for row in rows.iter().take(top) {
        table.row([
            row.time_ns.map_or_else(|| "–".to_owned(), |time| units::duration(time as f64)),
            what_never_returned(row, path),
            who_never_returned(row),
            units::count(row.threads),
            row.owner.pid.to_string(),
        ]);
    }
    let more = match rows.len().saturating_sub(top) {
        0 => String::new(),
        more => style.left_out(&units::counted(more as u64, "more row", "more rows"), Hint::AllRows),
    };
    format!("{}\n{}{more}", style.bold("Calls that never returned"), table.render(style))
}
