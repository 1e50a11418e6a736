//! Numbers of processes that were used again: each process is a case of its own.

use crate::process_table::ProcessTable;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Pid, Timestamp};

/// Parts of cases from here on are no numbers of processes: the kernel's are at most 2^22.
const FIRST: u32 = 1 << 24;

/// The processes whose number another one of their case had, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reused {
    /// Those of each number, with their starts, in this order.
    of_number: HashMap<(CaseId, Pid), Vec<(Timestamp, u32)>, RandomState>,
    /// Number, and which of its processes, by part of the case from [`FIRST`] on.
    names: HashMap<(CaseId, u32), (Pid, u32), RandomState>,
}

impl Reused {
    pub(crate) fn new(processes: &ProcessTable) -> Self {
        let mut of_number: HashMap<_, Vec<Timestamp>, RandomState> = HashMap::default();
        for process in processes.all() {
            let start = process.start.unwrap_or(Timestamp(i64::MIN));
            of_number.entry((process.case, process.pid)).or_default().push(start);
        }
        let mut shared: Vec<_> = of_number.into_iter().filter(|(_, starts)| starts.len() > 1).collect();
        shared.sort_unstable_by_key(|(process, _)| *process);
        let (mut reused, mut next) = (Self::default(), HashMap::<CaseId, u32, RandomState>::default());
        for ((case, pid), starts) in shared {
            let parts = starts.into_iter().enumerate().map(|(index, start)| {
                if index == 0 {
                    return (start, pid.0);
                }
                let part = next.entry(case).or_insert(FIRST);
                reused.names.insert((case, *part), (pid, index as u32 + 1));
                *part += 1;
                (start, *part - 1)
            });
            let parts = parts.collect();
            reused.of_number.insert((case, pid), parts);
        }
        reused
    }

    /// Whether no number was used again.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_number.is_empty()
    }

    /// The part of the case of the process that has this number at that time: the number, unless it is not the first that has it.
    pub(crate) fn part(&self, case: CaseId, pid: Pid, at: Timestamp) -> u32 {
        match self.of_number.get(&(case, pid)) {
            None => pid.0,
            Some(processes) => {
                let begun = processes.partition_point(|(start, _)| *start <= at);
                processes[begun.saturating_sub(1)].1
            }
        }
    }

    /// What such a part is called: `7`, or `7 #2` for the second process of that number.
    pub(crate) fn name(&self, case: CaseId, part: u32) -> String {
        match self.names.get(&(case, part)) {
            None => part.to_string(),
            Some((pid, which)) => format!("{pid} #{which}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Process;

    #[test]
    fn each_process_of_a_number_is_a_part_of_its_own() {
        let image = |pid: u32, start: i64, exit_code: Option<i32>| Process {
            pid: Pid(pid),
            start: Some(Timestamp(start)),
            end: Some(Timestamp(start + 5)),
            exit_code,
            ..Process::default()
        };
        // 7 forks and executes, then another 7, then a third; 8 is there once.
        let images = vec![
            image(7, 10, None),
            image(7, 15, Some(0)),
            image(7, 30, Some(0)),
            image(7, 40, Some(0)),
            image(8, 0, Some(0)),
        ];
        let reused = Reused::new(&ProcessTable::new(images));
        let part = |pid, at| reused.part(CaseId(0), Pid(pid), Timestamp(at));
        assert_eq!([part(7, 0), part(7, 12), part(7, 29), part(8, 99)], [7, 7, 7, 8]);
        let names = [29, 30, 39, 40].map(|at| reused.name(CaseId(0), part(7, at)));
        assert_eq!(names, ["7", "7 #2", "7 #2", "7 #3"]);
    }
}
