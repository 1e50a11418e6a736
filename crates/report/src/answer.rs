//! Where the elapsed time went: what `iotrail why` says, for the page.

use crate::data::{Bounded, NameId};
use crate::name_table::NameTable;
use crate::options::Limits;
use iotrail_model::units;
use iotrail_terminal::hints::Hints;
use iotrail_terminal::never_returned::{never_returned_line, what_never_returned, who_never_returned};
use iotrail_terminal::why_summary::{awaited, limitation, phrase, why_line_in};
use iotrail_workflow::why::result::{Piece, PieceKind, Run, WaitRow, Why};
use serde::Serialize;

/// Where the elapsed time went, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageWhy {
    /// The slowest run; nothing if no run has a time.
    pub slowest: Option<PageRun>,
    /// All runs, the slowest first, if there are several: name, elapsed time, largest piece and its time.
    pub runs: Bounded<(NameId, i64, NameId, i64)>,
    /// What the program hung in, in a sentence.
    pub hung: Option<String>,
    /// Calls that never returned.
    pub never_returned: Bounded<PageNeverReturned>,
    /// What could not be told, in sentences.
    pub limitations: Vec<String>,
    /// Of these, what makes the explanation incomplete.
    pub incomplete: Option<String>,
}

/// The elapsed time of related processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageRun {
    /// Name of the run's cases.
    pub name: NameId,
    /// The answer in one line.
    pub line: String,
    /// First call or process start, after the page's origin.
    pub start: i64,
    /// From there to the last end.
    pub elapsed_ns: i64,
    /// Number of processes.
    pub processes: u64,
    /// What the time was used for, largest first; with what is not listed the sum is the elapsed time.
    pub pieces: Bounded<PagePiece>,
    /// Time of the pieces that are not listed.
    pub more_ns: i64,
    /// Who waited for whom.
    pub waits: Bounded<PageWait>,
}

/// Time, kind, what it was in words, program, calls.
pub type PagePiece = (i64, PieceKind, NameId, NameId, u64);

/// Waiter, what it waited for in words, waits on the path and their time, all waits and their time.
pub type PageWait = (NameId, NameId, u64, i64, u64, i64);

/// The call in words, who was in it, how many threads, and for how long.
pub type PageNeverReturned = (NameId, NameId, u64, Option<i64>);

/// What the page says of an explanation.
pub(crate) fn answer(why: &Why, origin: i64, limits: &Limits, names: &mut NameTable) -> PageWhy {
    let directory = why.directory.as_deref();
    let largest = |run: &Run, names: &mut NameTable| {
        let piece = run.pieces.first().cloned().unwrap_or_default();
        (names.id(&run.name), run.elapsed_ns, names.id(&phrase(&piece, directory)), piece.time_ns)
    };
    let several = if why.runs.len() > 1 { &why.runs[..] } else { &[] };
    PageWhy {
        slowest: why.runs.first().map(|run| page_run(run, (directory, origin), limits, names)),
        runs: bounded(several, limits.table_rows, |run| largest(run, names)),
        hung: never_returned_line(why, &duration),
        never_returned: bounded(&why.never_returned, limits.pieces, |row| {
            let (what, who) = (what_never_returned(row, directory), who_never_returned(row));
            (names.id(&what), names.id(&who), row.threads, row.time_ns)
        }),
        limitations: why.limitations.iter().map(|row| limitation(row, Hints::default(), &duration)).collect(),
        incomplete: why
            .limitations
            .iter()
            .find(|row| row.comes_first())
            .map(|row| limitation(row, Hints::default(), &duration)),
    }
}

fn page_run(
    run: &Run,
    (directory, origin): (Option<&str>, i64),
    limits: &Limits,
    names: &mut NameTable,
) -> PageRun {
    let piece = |piece: &Piece, names: &mut NameTable| {
        let what = names.id(&phrase(piece, directory));
        (piece.time_ns, piece.kind, what, names.id(&piece.program), piece.told().1)
    };
    let wait = |row: &WaitRow, names: &mut NameTable| {
        let (waiter, what) = (names.id(&row.waiter), names.id(&awaited(row, directory)));
        (waiter, what, row.on_path.number, row.on_path.time_ns, row.in_all.number, row.in_all.time_ns)
    };
    PageRun {
        name: names.id(&run.name),
        line: why_line_in(run, directory, &duration),
        start: run.start_ns.saturating_sub(origin),
        elapsed_ns: run.elapsed_ns,
        processes: run.processes,
        more_ns: run.pieces.iter().skip(limits.pieces).map(|piece| piece.time_ns).sum(),
        pieces: bounded(&run.pieces, limits.pieces, |one| piece(one, names)),
        waits: bounded(&run.waits, limits.pieces, |row| wait(row, names)),
    }
}

/// As the page writes it.
fn duration(nanos: i64) -> String {
    micro(&units::duration(nanos as f64))
}

/// Durations with the sign of micro that the page uses, in words that hold no names.
pub(crate) fn micro(words: &str) -> String {
    let word = |word: &str| match word.strip_prefix("us") {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("µs{rest}"),
        _ => word.to_owned(),
    };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn bounded<T, R>(list: &[T], limit: usize, row: impl FnMut(&T) -> R) -> Bounded<R> {
    Bounded {
        list: list.iter().take(limit).map(row).collect(),
        more: list.len().saturating_sub(limit) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listed_pieces_and_the_rest_are_the_elapsed_time() {
        let piece = |time_ns| Piece { time_ns, program: format!("p{time_ns}"), ..Piece::default() };
        let pieces: Vec<Piece> = (1..=9).rev().map(|part| piece(part * 1_000)).collect();
        let run = Run { elapsed_ns: 45_000, pieces, ..Run::default() };
        let limits = Limits { pieces: 4, ..Limits::default() };
        let page = answer(&Why { runs: vec![run], ..Why::default() }, 0, &limits, &mut NameTable::default());
        let shown = page.slowest.unwrap();
        let listed: i64 = shown.pieces.list.iter().map(|piece| piece.0).sum();
        assert_eq!((listed + shown.more_ns, shown.pieces.more), (45_000, 5));
        assert!(shown.line.starts_with("45.0 µs: 9.00 µs "), "{}", shown.line);
        assert!(page.runs.list.is_empty());
    }

    #[test]
    fn micro_is_written_as_the_page_writes_it() {
        assert_eq!(micro("26.0 us to 72 us longer, 3 us, used"), "26.0 µs to 72 µs longer, 3 µs, used");
    }

    #[test]
    fn a_log_without_times_has_no_answer() {
        let page = answer(&Why::default(), 0, &Limits::default(), &mut NameTable::default());
        assert_eq!(page, PageWhy::default());
    }
}
