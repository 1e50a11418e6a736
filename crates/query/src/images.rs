//! Executable images of processes: which row of the table `processes` an event belongs to.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Pid, Process, Timestamp};

/// The part of events whose process is not in the table.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The images of each process in the order of their starts, numbered within each case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    of_process: HashMap<(CaseId, Pid), Vec<(Timestamp, u32)>, RandomState>,
    exe: HashMap<(CaseId, u32), String, RandomState>,
}

impl Images {
    pub(crate) fn new(processes: &[Process]) -> Self {
        let start = |process: &Process| process.start.unwrap_or(Timestamp(i64::MIN));
        let mut sorted: Vec<&Process> = processes.iter().collect();
        sorted.sort_by_key(|process| (process.case, start(process), process.pid));
        let mut images = Self::default();
        let mut number = 0;
        let mut case = None;
        for process in sorted {
            number = if case == Some(process.case) { number + 1 } else { 0 };
            case = Some(process.case);
            images.of_process.entry((process.case, process.pid)).or_default().push((start(process), number));
            if let Some(exe) = &process.exe {
                images.exe.insert((process.case, number), exe.clone());
            }
        }
        images
    }

    /// The number of the image that runs at that time; before the first start it is the first.
    pub(crate) fn find(&self, case: CaseId, pid: Pid, at: Timestamp) -> u32 {
        let Some(images) = self.of_process.get(&(case, pid)) else { return UNKNOWN };
        let after = images.partition_point(|&(start, _)| start <= at);
        images[after.saturating_sub(1)].1
    }

    /// Path of the executable, if it is known.
    pub(crate) fn exe(&self, case: CaseId, number: u32) -> Option<&str> {
        self.exe.get(&(case, number)).map(String::as_str)
    }
}
