//! Lines by the processes that they are threads of, from whose rows most of theirs follows.
//!
//! A table with the number of the process of each line, NULL if there is none, held against the order in which processes stand by rank,
//! case and start, each as often as it has threads; then one of case, process, thread, rank, start and number of events, held against
//! those of the process. The threads of a process are classes of rows, of which first ones are alike, second ones, and so on.

use crate::columns;
use crate::columns::{Cells, Known};
use crate::document::Line;
use crate::error::FileError;
use crate::reader::Reader;
use crate::tables::{line_of, line_row};
use crate::writer::Writer;
use hashbrown::HashMap;
use iotrail_model::{Case, CaseId, Cell, Pid, Process};

type Result<T> = std::result::Result<T, FileError>;

/// The rank of the processes of a case.
pub(crate) fn rank(case: &Case) -> Option<i64> {
    case.name.rid.as_deref()?.parse::<u32>().ok().map(i64::from)
}

/// Processes in the order in which lines are expected.
struct Expected<'a> {
    cases: &'a [Case],
    processes: Vec<&'a Process>,
}

impl<'a> Expected<'a> {
    fn new(cases: &'a [Case], processes: &'a [Process]) -> Self {
        let mut processes: Vec<&Process> = processes.iter().collect();
        let of_rank = |process: &&Process| {
            let rank = cases.get(process.case.index()).and_then(rank);
            (rank.is_none(), rank, process.case, process.start, process.pid)
        };
        processes.sort_by_key(of_rank);
        Self { cases, processes }
    }

    /// The process of each of so many lines.
    fn of_lines(&self, lines: usize) -> Cells {
        let last = self.processes.len().saturating_sub(1) as i64;
        let threads = self
            .processes
            .iter()
            .zip(0..)
            .flat_map(|(process, number)| (0..process.threads).map(move |_| number));
        threads.chain(std::iter::repeat(last)).take(lines).map(Some).collect()
    }

    fn number(&self) -> HashMap<(CaseId, Pid), i64> {
        self.processes.iter().map(|process| (process.case, process.pid)).zip(0..).collect()
    }

    /// Case, process, rank, start and end of each line.
    fn known(&self, of_lines: &[Option<i64>]) -> [Cells; 5] {
        let processes: Vec<Option<&&Process>> =
            of_lines.iter().map(|number| self.processes.get(usize::try_from((*number)?).ok()?)).collect();
        let column = |cell: &dyn Fn(&Process) -> Option<i64>| {
            processes.iter().map(|process| cell((*process)?)).collect()
        };
        [
            column(&|process| process.case.number()),
            column(&|process| process.pid.number()),
            column(&|process| self.cases.get(process.case.index()).and_then(rank)),
            column(&|process| Some(process.start?.0)),
            column(&|process| Some(process.end?.0)),
        ]
    }
}

/// How many lines of the same process stand before each.
fn classes(of_lines: &[Option<i64>]) -> Vec<u8> {
    let mut before: HashMap<Option<i64>, u8> = HashMap::new();
    let class = |process| {
        let class = before.entry(process).or_default();
        std::mem::replace(class, class.saturating_add(1).min(MOST_CLASSES))
    };
    of_lines.iter().copied().map(class).collect()
}

/// Threads of a process behind so many are alike.
const MOST_CLASSES: u8 = 15;

pub(crate) fn write(lines: &[Line], cases: &[Case], processes: &[Process], out: &mut Writer) {
    let expected = Expected::new(cases, processes);
    let numbers = expected.number();
    let of_lines: Cells = lines.iter().map(|line| numbers.get(&(line.case, line.pid)).copied()).collect();
    let known = Known { columns: &[expected.of_lines(lines.len())], classes: &[] };
    columns::write(lines.len(), std::slice::from_ref(&of_lines), known, out);
    let rows: Vec<_> = lines.iter().map(line_row).collect();
    let table: [Cells; 6] = std::array::from_fn(|column| rows.iter().map(|row| row[column]).collect());
    let known = Known { columns: &expected.known(&of_lines), classes: &classes(&of_lines) };
    columns::write(lines.len(), &table, known, out);
}

pub(crate) fn read(input: &mut Reader<'_>, cases: &[Case], processes: &[Process]) -> Result<Vec<Line>> {
    let expected = Expected::new(cases, processes);
    let of_lines =
        columns::read_with(input, 1, |lines| (vec![expected.of_lines(lines)], Vec::new()))?.remove(0);
    let known = |_| (expected.known(&of_lines).to_vec(), classes(&of_lines));
    let table = columns::read_with(input, 6, known)?;
    let rows = (0..of_lines.len()).map(|row| std::array::from_fn(|column| table[column][row]));
    let lines: Option<Vec<Line>> = rows.map(|row| line_of(row, cases.len())).collect();
    lines.ok_or_else(|| input.error("a line that is none", format_args!("lines of {} cases", cases.len())))
}
