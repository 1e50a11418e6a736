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

/// The rank of the processes of a case, where it is known.
#[must_use]
pub fn rank(case: &Case) -> Option<u32> {
    case.name.rid.as_deref()?.parse().ok()
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
            column(&|process| self.cases.get(process.case.index()).and_then(rank).map(i64::from)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Content;
    use crate::section::Section;
    use iotrail_model::{CaseName, Tid, Timestamp};
    use proptest::prelude::*;

    fn case(number: u32, rank: &str) -> Case {
        let name = CaseName { rid: Some(rank.to_owned()), ..CaseName::default() };
        Case { id: CaseId(number), name, ..Case::default() }
    }

    fn process(case: u32, pid: u32, start: i64) -> Process {
        let start = Some(Timestamp(start));
        Process { case: CaseId(case), pid: Pid(pid), start, threads: 2, ..Process::default() }
    }

    fn line(case: u32, pid: u32, tid: u32, start: i64) -> Line {
        let (pid, tid, start) = (Pid(pid), Tid(tid), Timestamp(start));
        Line { case: CaseId(case), pid, tid, rank: 7 - case, start, events: 9 }
    }

    fn content(lines: &[Line], cases: &[Case], processes: &[Process]) -> Content {
        let mut out = Writer::default();
        write(lines, cases, processes, &mut out);
        out.into()
    }

    fn back(content: &Content, cases: &[Case], processes: &[Process]) -> Result<Vec<Line>> {
        let mut input = Reader::new(Section::Threads, content);
        let lines = read(&mut input, cases, processes)?;
        input.end()?;
        Ok(lines)
    }

    #[test]
    fn what_is_the_same_in_the_process_takes_nothing() {
        let cases: Vec<Case> = (0..8).map(|number| case(number, &(7 - number).to_string())).collect();
        let processes: Vec<Process> = (0..8)
            .map(|number| process(number, 100 + number * number, 1 << 60 | i64::from(number * 7919)))
            .collect();
        let threads = |process: &Process| {
            let (case, pid, start) = (process.case.0, process.pid.0, process.start.unwrap_or_default().0);
            [line(case, pid, pid, start), line(case, pid, pid + 1, start + 1_000)]
        };
        let lines: Vec<Line> = processes.iter().rev().flat_map(threads).collect();
        let content = content(&lines, &cases, &processes);
        assert!(content.bytes.len() <= 43 && content.digits.is_empty(), "{content:?}");
        assert_eq!(back(&content, &cases, &processes).expect("lines"), lines);
        back(&content, &cases[..7], &processes).expect_err("a line of no case");
    }

    proptest! {
        #[test]
        fn lines_come_back(
            processes in prop::collection::vec((0..3_u32, 0..9_u32, any::<i64>()), 0..6),
            lines in prop::collection::vec((0..3_u32, 0..9_u32, any::<u32>(), any::<i64>()), 0..30),
        ) {
            let cases = [case(0, "2"), case(1, "none"), case(2, "0")];
            let processes: Vec<Process> =
                processes.into_iter().map(|(case, pid, start)| process(case, pid, start)).collect();
            let lines: Vec<Line> =
                lines.into_iter().map(|(case, pid, tid, start)| line(case, pid, tid, start)).collect();
            prop_assert_eq!(back(&content(&lines, &cases, &processes), &cases, &processes).expect("lines"), lines);
        }

        #[test]
        fn any_bytes_are_lines_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..100), digits in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let content = Content { bytes, digits, expanded: 0 };
            let _lines_or_error = back(&content, &[case(0, "0")], &[process(0, 5, 9)]);
        }
    }
}
