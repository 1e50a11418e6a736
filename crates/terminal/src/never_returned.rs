//! Calls that never returned, in words: what a program hung in.

use crate::hints::Hint;
use crate::table::{Align, Style, Table};
use crate::why_summary::relative;
use iotrail_model::calls::mpi::{Role, Way, role, way};
use iotrail_model::text::printable;
use iotrail_model::units;
use iotrail_workflow::why::result::{NeverReturned, Why};

/// Calls that the first lines name.
const NAMED: usize = 3;
/// The first lines name no call that is a smaller part of the elapsed time.
const LONG: i64 = 10;
/// Ranks that are named one by one.
const NAMED_RANKS: usize = 4;

/// What the program hung in (of calls of MPI and of those that threads of its library make, the former), if that is a tenth of the
/// elapsed time or more: `Never returned: MPI_Recv from rank 1 (tag 7) in app rank 0, 7.59 s`.
#[must_use]
pub fn never_returned_line(why: &Why, duration: &dyn Fn(i64) -> String) -> Option<String> {
    let elapsed_ns = why.runs.first()?.elapsed_ns;
    let directory = why.directory.as_deref();
    let highest = why.never_returned.iter().map(|row| row.layer).max();
    let is_long = |row: &&NeverReturned| {
        Some(row.layer) == highest && row.time_ns.is_some_and(|time| time.saturating_mul(LONG) >= elapsed_ns)
    };
    let long: Vec<&NeverReturned> = why.never_returned.iter().filter(is_long).collect();
    let row = |row: &&NeverReturned| {
        let time = duration(row.time_ns.unwrap_or_default());
        format!("{} in {}, {time}", what_never_returned(row, directory), who_never_returned(row))
    };
    let mut texts: Vec<String> = long.iter().take(NAMED).map(row).collect();
    if long.len() > NAMED {
        texts.push(units::counted((long.len() - NAMED) as u64, "more call", "more calls"));
    }
    (!texts.is_empty()).then(|| printable(&format!("Never returned: {}", texts.join("; "))).into_owned())
}

/// The call with its partner or its file, which is shown without `directory`: `MPI_Recv from rank 1 (tag 7)`.
#[must_use]
pub fn what_never_returned(row: &NeverReturned, directory: Option<&str>) -> String {
    let on = row.path.as_deref().map(|path| format!(" on {}", relative(path, directory))).unwrap_or_default();
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
    let with = match (role(call), way(call)) {
        (Role::FromRoot | Role::ToRoot, _) => return (peer >= 0).then(|| format!(" with root {peer}")),
        (_, Way::To) => "to",
        (_, Way::From) => "from",
        (_, Way::Both) => "with",
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
        ([], ..=1) => program.clone(),
        ([], threads) if threads == *processes => format!("{} processes of {program}", units::count(threads)),
        ([], threads) => format!("{} threads of {program}", units::count(threads)),
        ([rank], _) => format!("{program} rank {rank}"),
        (ranks, _) if ranks.len() <= NAMED_RANKS => format!("{program} ranks {}", ranks.join(", ")),
        (ranks, _) => format!("{} ranks of {program}", units::count(ranks.len() as u64)),
    }
}

/// A row for each call and partner; nothing if all returned.
pub(crate) fn never_returned(why: &Why, top: usize, style: Style) -> String {
    let rows = &why.never_returned;
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
            what_never_returned(row, why.directory.as_deref()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Layer;
    use iotrail_workflow::why::result::Run;

    fn row(call: &str, peer: Option<i32>, ranks: &[&str]) -> NeverReturned {
        NeverReturned {
            time_ns: Some(60_000),
            program: "app".to_owned(),
            layer: Layer::Mpi,
            call: call.to_owned(),
            comm: Some(0),
            peer,
            ranks: ranks.iter().map(|rank| (*rank).to_owned()).collect(),
            processes: ranks.len() as u64,
            threads: ranks.len() as u64,
            ..NeverReturned::default()
        }
    }

    #[test]
    fn a_hung_program_is_told_by_the_calls_of_its_ranks_and_not_by_those_of_the_library() {
        let recv = NeverReturned { tag: Some(7), ..row("MPI_Recv", Some(1), &["0"]) };
        let brief = NeverReturned { time_ns: Some(9_999), ..row("MPI_Ssend", Some(2), &["8"]) };
        let barrier = row("MPI_Barrier", None, &["1", "2", "3", "4", "5"]);
        let poll = NeverReturned { layer: Layer::Syscall, ..row("poll", None, &[]) };
        let runs = vec![Run { elapsed_ns: 100_000, ..Run::default() }];
        let why = Why { runs, never_returned: vec![recv, barrier, brief, poll.clone()], ..Why::default() };
        let duration = |time: i64| units::duration(time as f64);
        assert_eq!(
            never_returned_line(&why, &duration).as_deref(),
            Some(
                "Never returned: MPI_Recv from rank 1 (tag 7) in app rank 0, 60.0 us; MPI_Barrier in 5 ranks of app, 60.0 us"
            )
        );
        let alone = Why { never_returned: vec![poll], ..why };
        assert_eq!(
            never_returned_line(&alone, &duration).as_deref(),
            Some("Never returned: poll in app, 60.0 us")
        );
        assert_eq!(never_returned_line(&Why::default(), &duration), None);
    }

    #[test]
    fn the_partner_of_a_call_is_told_by_what_the_call_does() {
        let what = |call: &str, peer| what_never_returned(&row(call, Some(peer), &[]), None);
        assert_eq!(what("MPI_Send", 3), "MPI_Send to rank 3");
        assert_eq!(what("MPI_Probe", -1), "MPI_Probe from any rank");
        assert_eq!(what("MPI_Sendrecv", 3), "MPI_Sendrecv with rank 3");
        assert_eq!(what("MPI_Bcast", 0), "MPI_Bcast with root 0");
        assert_eq!(what("MPI_Recv", -2), "MPI_Recv");
        let other = NeverReturned { comm: Some(4), tag: Some(-1), ..row("MPI_Recv", Some(-1), &[]) };
        assert_eq!(what_never_returned(&other, None), "MPI_Recv from any rank (communicator 4, any tag)");
        let path = NeverReturned { path: Some("/w/fifo".to_owned()), comm: None, ..row("openat", None, &[]) };
        assert_eq!(what_never_returned(&path, Some("/w")), "openat on fifo");
    }
}
