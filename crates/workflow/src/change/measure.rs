//! Measures every run that takes part in a comparison.

use super::ElapsedChange;
use super::elapsed::{Elapsed, elapsed_change};
use super::figures::{Figure, FigureChange};
use super::verdict::Verdict;
use crate::why::pieces::UNNAMED;
use crate::why::result::{Piece, Why};
use crate::why::why_file_by_file;
use iotrail_model::calls::{Class, EventClasses, PerCall, Transfer};
use iotrail_model::{CaseId, EventBatch, Pid, Timestamp};
use iotrail_query::{
    Asks, GroupId, Pass, ProcessId, ProcessTable, Query, Rows, event_classes, runs_of_cases, scan,
};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The runs of all groups of a query.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    runs: Vec<Run>,
    /// By case, the elapsed time of the processes of which it is the first case.
    elapsed: Vec<Option<i64>>,
}

#[derive(Clone, Debug, Default)]
struct Run {
    group: GroupId,
    sums: Sums,
    processes: u64,
    /// Of its slowest rank.
    elapsed: Option<Elapsed>,
    ranks: u64,
}

impl Measured {
    /// Measures the runs of `log` by the groups of `query`. Figures of calls are those of the selected ones; the elapsed time is
    /// that of the whole run.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(log: &EventLog, query: &Query, threads: NonZeroUsize) -> Result<Self, TrailError> {
        let first = runs_of_cases(log, query);
        let group = |case: CaseId| query.group(case).filter(|_| query.may_select_case(case));
        let mut runs: BTreeMap<u32, Run> = BTreeMap::new();
        for case in log.cases() {
            if let Some(group) = group(case.id) {
                runs.entry(first[case.id.index()]).or_insert_with(|| Run { group, ..Run::default() });
            }
        }
        let classes = event_classes(log, threads)?;
        let processes = ProcessTable::of_log(log)?;
        let counting = Counting {
            classes: &classes,
            processes: &processes,
            transfers: PerCall::new(&log.names().calls, |call| call.transfer()),
        };
        for (case, sums) in scan(log, Some(query), threads, &counting)? {
            if let Some(run) = first.get(case.index()).and_then(|run| runs.get_mut(run)) {
                run.sums.add(&sums);
            }
        }
        let directories = directories(&processes);
        for process in processes.all() {
            let selected = query.selects_process(process.case, process.pid) != Some(false);
            if let Some(run) =
                first.get(process.case.index()).and_then(|run| runs.get_mut(run)).filter(|_| selected)
            {
                run.processes += 1;
            }
        }
        let mut elapsed = vec![None; log.cases().len()];
        for (offset, why) in explained(log, threads, &|case| group(case).is_some())? {
            for unit in why.runs {
                let case = CaseId(unit.case.0 + offset);
                let directory = directories.get(&case).or(why.directory.as_ref());
                let Some(run) = first.get(case.index()).and_then(|run| runs.get_mut(run)) else { continue };
                elapsed[case.index()] = Some(unit.elapsed_ns);
                run.ranks += 1;
                if run.elapsed.as_ref().is_none_or(|slowest| slowest.nanos < unit.elapsed_ns) {
                    let pieces =
                        unit.pieces.into_iter().map(|piece| placed(piece, directory.map(String::as_str)));
                    run.elapsed = Some(Elapsed { nanos: unit.elapsed_ns, pieces: pieces.collect() });
                }
            }
        }
        Ok(Self { runs: runs.into_values().collect(), elapsed })
    }

    /// By case, the elapsed time of the processes of which it is the first case.
    #[must_use]
    pub fn elapsed_of_cases(&self) -> &[Option<i64>] {
        &self.elapsed
    }

    /// Group `b` against group `a`, the baseline: the figures, and where the difference of the elapsed time comes from, if it is
    /// known of each run.
    #[must_use]
    pub fn compare(&self, a: GroupId, b: GroupId) -> (Verdict, Option<ElapsedChange>) {
        let side =
            |group: GroupId| self.runs.iter().filter(move |run| run.group == group).collect::<Vec<_>>();
        let sides = [side(a), side(b)];
        let figure = |figure: Figure| {
            let values =
                [0, 1].map(|index| sides[index].iter().map(|run| run.figure(figure)).collect::<Vec<_>>());
            FigureChange::new(figure, &values[0], &values[1])
        };
        let elapsed =
            |side: &[&'_ Run]| side.len() == side.iter().filter(|run| run.elapsed.is_some()).count();
        let times =
            |index: usize| sides[index].iter().filter_map(|run| run.elapsed.as_ref()).collect::<Vec<_>>();
        let ranks = sides.iter().flatten().any(|run| run.ranks > 1);
        let change =
            sides.iter().all(|side| elapsed(side)).then(|| elapsed_change(&times(0), &times(1), ranks));
        let verdict = Verdict {
            runs_a: sides[0].len() as u64,
            runs_b: sides[1].len() as u64,
            figures: Figure::ALL.map(figure).to_vec(),
        };
        (verdict, change.flatten())
    }
}

impl Run {
    fn figure(&self, figure: Figure) -> Option<i64> {
        let sums = &self.sums;
        let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let timed = |value: u64| (sums.timed > 0 || sums.calls == 0).then(|| count(value));
        match figure {
            Figure::Elapsed => self.elapsed.as_ref().map(|elapsed| elapsed.nanos),
            Figure::Calls => Some(count(sums.calls)),
            Figure::Processes => (self.processes > 0).then(|| count(self.processes)),
            Figure::Bytes => Some(count(sums.read.saturating_add(sums.written))),
            Figure::Read => Some(count(sums.read)),
            Figure::Written => Some(count(sums.written)),
            Figure::Io => timed(sums.io),
            Figure::Waiting => timed(sums.waiting),
        }
    }
}

/// Explains each trail on its own, as `iotrail why` does, because recording costs differ; with the number of its first case.
fn explained(
    log: &EventLog,
    threads: NonZeroUsize,
    takes_part: &dyn Fn(CaseId) -> bool,
) -> Result<Vec<(u32, Why)>, TrailError> {
    let mut found = Vec::new();
    let mut offset = 0_u32;
    for trail in log.trails() {
        let cases = trail.cases().len() as u32;
        if (offset..offset + cases).any(|case| takes_part(CaseId(case))) {
            let why = match log.trails().len() {
                1 => why_file_by_file(log, threads)?,
                _ => why_file_by_file(&EventLog::of_trails(vec![trail.clone()])?, threads)?,
            };
            found.push((offset, why));
        }
        offset += cases;
    }
    Ok(found)
}

/// The working directory of the first process of each case.
fn directories(processes: &ProcessTable) -> BTreeMap<CaseId, String> {
    let ids = (0..processes.all().len() as u32).map(ProcessId);
    let mut first: BTreeMap<CaseId, (Option<Timestamp>, String)> = BTreeMap::new();
    for image in ids.filter_map(|process| processes.images(process).first()) {
        let Some(directory) = &image.cwd else { continue };
        let found = (image.start, directory.clone());
        let known = first.entry(image.case).or_insert_with(|| found.clone());
        if found.0 < known.0 {
            *known = found;
        }
    }
    first.into_iter().map(|(case, (_, directory))| (case, directory)).collect()
}

/// What programs are called of which no name is known: numbers of processes differ in every run.
const PROGRAM: &str = "an unnamed program";

/// A piece whose path is told from the working directory, of a program without accidental numbers.
fn placed(piece: Piece, directory: Option<&str>) -> Piece {
    let below = |path: &str| {
        Some(format!(".{}", path.strip_prefix(directory?)?))
            .filter(|path| path == "." || path.starts_with("./"))
    };
    let path = piece.path.map(|path| match directory {
        Some(directory) if directory.len() > 1 => below(&path).unwrap_or(path),
        _ => path,
    });
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let unnamed = piece.program.strip_prefix(UNNAMED).is_some_and(is_number);
    let program = if unnamed { PROGRAM.to_owned() } else { piece.program };
    Piece { path, program, ..piece }
}

/// Sums over selected calls.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    calls: u64,
    timed: u64,
    read: u64,
    written: u64,
    io: u64,
    waiting: u64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.calls, other.calls),
            (&mut self.timed, other.timed),
            (&mut self.read, other.read),
            (&mut self.written, other.written),
            (&mut self.io, other.io),
            (&mut self.waiting, other.waiting),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

/// The pass that sums up the selected calls of each case.
#[derive(Debug)]
struct Counting<'a> {
    classes: &'a EventClasses,
    processes: &'a ProcessTable,
    transfers: PerCall<Transfer>,
}

impl Counting<'_> {
    fn call(&self, batch: &EventBatch, row: usize) -> Sums {
        let known = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let duration = known(batch.dur[row].get().map(|dur| dur.0));
        let size = known(batch.size[row].get()).unwrap_or(0);
        let transfer = self.transfers.of(batch.call[row]);
        let if_moved = |ways: [Transfer; 2]| if ways.contains(&transfer) { size } else { 0 };
        // A request is work in flight, and none of a thread.
        let (case, pid, start) = (batch.case[row], batch.pid[row], batch.start[row]);
        let ended_before = |child| {
            let process = self.processes.find(case, pid, start);
            process.is_some_and(|process| self.processes.child_ended_before(process, Pid(child), start))
        };
        let time = batch.dur[row].get().map(|dur| dur.0);
        let class = self.classes.among_processes(batch, row, time, ended_before);
        let class = class.filter(|_| !self.classes.is_request(batch.call[row]));
        let if_class = |is: fn(Class) -> bool| duration.filter(|_| class.is_some_and(is)).unwrap_or(0);
        Sums {
            calls: 1,
            timed: u64::from(duration.is_some()),
            read: if_moved([Transfer::Read, Transfer::Copy]),
            written: if_moved([Transfer::Write, Transfer::Copy]),
            io: if_class(Class::is_io),
            waiting: if_class(Class::is_wait),
        }
    }
}

impl Pass for Counting<'_> {
    type Sums = BTreeMap<CaseId, Sums>;
    type Boundary = ();
    type Closed = ();
    type Output = BTreeMap<CaseId, Sums>;

    fn columns(&self) -> Columns {
        let call =
            Columns::CASE | Columns::CALL | Columns::DUR | Columns::SIZE | Columns::PATH | Columns::PATH2;
        call | Columns::PID | Columns::START | Columns::RET | Columns::ERRNO | Columns::FLAGS | Columns::OPEN
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, ..Asks::default() }
    }

    fn sums(&self) -> Self::Sums {
        BTreeMap::new()
    }

    fn closed(&self) {}

    fn add(&self, sums: &mut Self::Sums, rows: &Rows<'_>) {
        for row in (0..rows.batch.len).filter(|row| rows.selected.get(*row) != Some(&false)) {
            sums.entry(rows.batch.case[row]).or_default().add(&self.call(rows.batch, row));
        }
    }

    fn merge(&self, sums: &mut Self::Sums, other: Self::Sums) {
        other.into_iter().for_each(|(case, more)| sums.entry(case).or_default().add(&more));
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, sums: Self::Sums, (): ()) -> Self::Output {
        sums
    }
}
