//! The difference of the elapsed time by cause.

use crate::why::fold::{Pile, Piles, fold};
use crate::why::pieces::LEAST_SHARE;
use crate::why::result::{Piece, PieceKind};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The elapsed time of both sides and what their difference comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElapsedChange {
    /// Mean elapsed time of the baseline's runs.
    pub a_ns: i64,
    /// The same of the other side.
    pub b_ns: i64,
    /// Second minus first.
    pub difference_ns: i64,
    /// Whether runs have ranks, of which each time is that of the slowest.
    pub slowest_rank: bool,
    /// What differs, largest first; the differences add up.
    pub causes: Vec<ElapsedCause>,
}

/// A piece of the elapsed time on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElapsedCause {
    /// Second minus first.
    pub difference_ns: i64,
    /// Mean time in the baseline's runs.
    pub a_ns: i64,
    /// The same of the other side.
    pub b_ns: i64,
    /// What it was used for.
    pub kind: PieceKind,
    /// The program whose time it is.
    pub program: String,
    /// The call that most of it was in.
    pub call: Option<String>,
    /// Whether nearly all of it was in that call.
    pub only_call: bool,
    /// The file, the directory that its files are below, or what was waited for; `./` is the working directory of each run.
    pub path: Option<String>,
    /// How many files are joined under `path`.
    pub files: Option<u64>,
    /// Calls of a run of the baseline.
    pub calls_a: f64,
    /// The same of the other side.
    pub calls_b: f64,
}

/// The elapsed time of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Elapsed {
    pub(super) nanos: i64,
    pub(super) pieces: Vec<Piece>,
}

/// Times of a file, or of the files below a directory, on both sides.
#[derive(Clone, Debug, Default)]
struct Both {
    /// Sums over the runs.
    time: [i128; 2],
    calls: [u64; 2],
    /// Number of runs.
    runs: [i64; 2],
    joined: u64,
    last: Option<String>,
    by_call: BTreeMap<Option<String>, i128>,
}

impl Pile for Both {
    fn weight(&self) -> i64 {
        let mean = |side: usize| self.time[side] / i128::from(self.runs[side].max(1));
        mean(0).max(mean(1)) as i64
    }

    fn joined(&self) -> u64 {
        self.joined
    }

    fn join(&mut self, other: Self, name: Option<String>) {
        for side in 0..2 {
            self.time[side] += other.time[side];
            self.calls[side] += other.calls[side];
            self.runs[side] = self.runs[side].max(other.runs[side]);
        }
        self.joined += other.joined.max(1);
        self.last = other.last.or(name);
        other.by_call.into_iter().for_each(|(call, time)| *self.by_call.entry(call).or_default() += time);
    }

    fn single(self) -> (Option<String>, Self) {
        (self.last.clone(), Self { joined: 0, ..self })
    }
}

impl Both {
    /// The call that most of the time is in, and whether that is nine tenths of it.
    fn heaviest(&self) -> (Option<String>, bool) {
        let all: i128 = self.by_call.values().sum();
        let most = self.by_call.iter().max_by_key(|(call, time)| (**time, Reverse((*call).clone())));
        most.map_or((None, false), |(call, time)| {
            (call.clone(), call.is_some() && time.saturating_mul(10) >= all.saturating_mul(9))
        })
    }
}

/// Compares the elapsed times of the runs of both sides; nothing if a side has none.
pub(super) fn elapsed_change(a: &[&Elapsed], b: &[&Elapsed], slowest_rank: bool) -> Option<ElapsedChange> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let runs = [a.len() as i64, b.len() as i64];
    let mut piles: BTreeMap<(PieceKind, &str), Piles<Both>> = BTreeMap::new();
    for (side, run) in
        [a, b].into_iter().enumerate().flat_map(|(side, all)| all.iter().map(move |run| (side, run)))
    {
        for piece in &run.pieces {
            let files = piles.entry((piece.kind, &piece.program)).or_default();
            let pile = files.entry((piece.path.clone(), false)).or_default();
            pile.runs = runs;
            pile.time[side] += i128::from(piece.time_ns);
            pile.calls[side] += piece.calls;
            *pile.by_call.entry(piece.call.clone()).or_default() += i128::from(piece.time_ns);
        }
    }
    let totals = [a, b].map(|all| all.iter().map(|run| i128::from(run.nanos)).sum::<i128>());
    let means = [0, 1].map(|side| rounded(totals[side], runs[side]));
    let least = means[0].max(means[1]) / LEAST_SHARE;
    let rows: Vec<(PieceKind, String, Option<String>, Both)> = piles
        .into_iter()
        .flat_map(|((kind, program), piles)| {
            let piles = if kind == PieceKind::HandOver { piles } else { fold(piles, least) };
            piles.into_iter().map(move |((path, _), both)| (kind, program.to_owned(), path, both))
        })
        .collect();
    let shares = [0, 1].map(|side| {
        let sums: Vec<i128> = rows.iter().map(|row| row.3.time[side]).collect();
        apportioned(&sums, runs[side], means[side])
    });
    let cause = |(at, (kind, program, path, both)): (usize, (PieceKind, String, Option<String>, Both))| {
        let (call, only_call) = both.heaviest();
        ElapsedCause {
            difference_ns: shares[1][at] - shares[0][at],
            a_ns: shares[0][at],
            b_ns: shares[1][at],
            kind,
            program,
            call,
            only_call,
            path,
            files: (both.joined > 0).then_some(both.joined),
            calls_a: both.calls[0] as f64 / runs[0] as f64,
            calls_b: both.calls[1] as f64 / runs[1] as f64,
        }
    };
    let mut causes: Vec<ElapsedCause> = rows.into_iter().enumerate().map(cause).collect();
    causes.retain(|cause| cause.difference_ns != 0);
    causes.sort_by(|one, other| {
        (other.difference_ns.abs(), one.kind, &one.program, &one.path).cmp(&(
            one.difference_ns.abs(),
            other.kind,
            &other.program,
            &other.path,
        ))
    });
    let [a_ns, b_ns] = means;
    Some(ElapsedChange { a_ns, b_ns, difference_ns: b_ns - a_ns, slowest_rank, causes })
}

fn rounded(sum: i128, parts: i64) -> i64 {
    let parts = i128::from(parts.max(1));
    ((2 * sum + parts).div_euclid(2 * parts)) as i64
}

/// The sums divided by a number, as whole numbers that add up to `whole`: the largest remainders are rounded up.
fn apportioned(sums: &[i128], parts: i64, whole: i64) -> Vec<i64> {
    let parts = i128::from(parts.max(1));
    let mut shares: Vec<i64> = sums.iter().map(|sum| sum.div_euclid(parts) as i64).collect();
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by_key(|at| Reverse(sums[*at].rem_euclid(parts)));
    let left = whole - shares.iter().sum::<i64>();
    order.iter().take(left.max(0) as usize).for_each(|at| shares[*at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    fn run(pieces: &[(i64, PieceKind, &str, Option<&str>)]) -> Elapsed {
        let piece = |(time_ns, kind, program, path): &(i64, PieceKind, &str, Option<&str>)| Piece {
            time_ns: *time_ns,
            kind: *kind,
            program: (*program).to_owned(),
            path: path.map(str::to_owned),
            calls: 1,
            ..Piece::default()
        };
        Elapsed {
            nanos: pieces.iter().map(|piece| piece.0).sum(),
            pieces: pieces.iter().map(piece).collect(),
        }
    }

    #[test]
    fn pieces_meet_by_kind_program_and_file_and_the_largest_difference_comes_first() {
        let a = run(&[
            (300 * MS, PieceKind::Sync, "db", Some("./x")),
            (100 * MS, PieceKind::Computing, "db", None),
        ]);
        let b = run(&[
            (90 * MS, PieceKind::Sync, "db", Some("./x")),
            (100 * MS, PieceKind::Computing, "db", None),
            (40 * MS, PieceKind::Sleep, "sh", None),
        ]);
        let change = elapsed_change(&[&a], &[&b], false).unwrap();
        assert_eq!((change.a_ns, change.b_ns, change.difference_ns), (400 * MS, 230 * MS, -170 * MS));
        let causes: Vec<_> =
            change.causes.iter().map(|cause| (cause.difference_ns / MS, cause.kind)).collect();
        assert_eq!(causes, [(-210, PieceKind::Sync), (40, PieceKind::Sleep)]);
    }

    /// Each file is small; apart, none has anything to do with one of the other side.
    #[test]
    fn small_files_meet_in_their_directory() {
        let a = run(&[
            (1, PieceKind::Data, "cc", Some("/tmp/a1.s")),
            (1, PieceKind::Data, "cc", Some("/tmp/a2.s")),
            (100, PieceKind::Computing, "cc", None),
        ]);
        let b = run(&[
            (2, PieceKind::Data, "cc", Some("/tmp/b9.s")),
            (1, PieceKind::Data, "cc", Some("/tmp/b8.s")),
            (100, PieceKind::Computing, "cc", None),
        ]);
        // 101 / 50 = 2: what takes less than 2 ns is joined.
        let change = elapsed_change(&[&a, &a], &[&b], false).unwrap();
        assert_eq!(change.causes.iter().map(|cause| cause.difference_ns).sum::<i64>(), 1);
        let joined = change.causes.iter().find(|cause| cause.files.is_some()).unwrap();
        assert_eq!((joined.path.as_deref(), joined.files, joined.difference_ns), (Some("/tmp"), Some(3), -1));
    }

    fn any_run() -> impl Strategy<Value = Elapsed> {
        let kind = prop::sample::select(vec![
            PieceKind::Data,
            PieceKind::Sync,
            PieceKind::HandOver,
            PieceKind::Start,
        ]);
        let program = prop::sample::select(vec!["a", "b"]);
        let path = prop::option::of(prop::sample::select(vec![
            "./x/1", "./x/2", "./y", "/tmp/z", "pipe:[1]", "pipe:[2]", "/", ".",
        ]));
        prop::collection::vec((1..1000_i64, kind, program, path), 0..20).prop_map(|pieces| run(&pieces))
    }

    proptest! {
        #[test]
        fn differences_add_up_to_the_difference(
            a in prop::collection::vec(any_run(), 1..5),
            b in prop::collection::vec(any_run(), 1..5),
        ) {
            let change = elapsed_change(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>(), false).unwrap();
            prop_assert_eq!(change.causes.iter().map(|cause| cause.difference_ns).sum::<i64>(), change.difference_ns);
            prop_assert!(change.causes.iter().all(|cause| cause.b_ns - cause.a_ns == cause.difference_ns));
            prop_assert!(change.causes.is_sorted_by_key(|cause| -cause.difference_ns.abs()));
            let mean = |runs: &[Elapsed]| runs.iter().map(|run| run.nanos as f64).sum::<f64>() / runs.len() as f64;
            prop_assert!((change.a_ns as f64 - mean(&a)).abs() <= 0.5 && (change.b_ns as f64 - mean(&b)).abs() <= 0.5);
            let back = elapsed_change(&b.iter().collect::<Vec<_>>(), &a.iter().collect::<Vec<_>>(), false).unwrap();
            prop_assert_eq!(back.difference_ns, -change.difference_ns);
        }
    }
}
