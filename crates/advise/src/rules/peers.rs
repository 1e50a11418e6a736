//! Processes of one program that run at the same time, as the ranks of a parallel program do, and what each did to files.

use super::habit::{Context, First, Saved, Seen};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::PathId;
use iotrail_model::calls::Transfer;
use iotrail_query::ProcessId;
use std::collections::BTreeMap;

/// So few processes are not many.
pub(crate) const MANY_PROCESSES: usize = 4;

/// What each process did to files.
#[derive(Default)]
pub(crate) struct Peers(BTreeMap<ProcessId, FileUse>);

/// What a process did to files.
pub(crate) struct FileUse {
    pub(crate) first: First,
    /// All calls on files.
    pub(crate) calls: Saved,
    pub(crate) bytes: u64,
    /// By path: bytes.
    files: HashMap<PathId, u64, RandomState>,
}

impl Peers {
    pub(crate) fn see(&mut self, call: &Seen) {
        let Some(process) = call.process.filter(|_| call.is_done() && call.selected) else { return };
        let (Some(_), Some(path)) = (call.file, call.path) else { return };
        let used = self.0.entry(process).or_insert_with(|| FileUse {
            first: call.first(),
            calls: Saved::default(),
            bytes: 0,
            files: HashMap::default(),
        });
        used.calls.add(call);
        if let (Transfer::Read | Transfer::Write | Transfer::Copy, Some(size)) = (call.transfer, call.size) {
            used.bytes = used.bytes.saturating_add(size);
            let of_file = used.files.entry(path).or_default();
            *of_file = of_file.saturating_add(size);
        }
    }

    /// Groups of processes of one program that all lived at the same moment.
    pub(crate) fn groups(&self, log: &Context) -> Vec<Vec<&FileUse>> {
        let processes: Vec<ProcessId> = self.0.keys().copied().collect();
        let groups = at_once(log, &processes, MANY_PROCESSES).into_iter();
        groups.map(|group| group.iter().map(|process| &self.0[process]).collect()).collect()
    }
}

impl FileUse {
    /// The file that most of its bytes are of.
    pub(crate) fn main_file(&self) -> Option<PathId> {
        let most = self.files.iter().max_by_key(|(path, bytes)| (**bytes, std::cmp::Reverse(**path)));
        most.map(|(path, _)| *path)
    }
}

/// Of these processes those of one program that all lived at the same moment, if they are `fewest` or more.
pub(crate) fn at_once(log: &Context, processes: &[ProcessId], fewest: usize) -> Vec<Vec<ProcessId>> {
    let mut programs: BTreeMap<&str, Vec<ProcessId>> = BTreeMap::new();
    for process in processes {
        programs.entry(log.program(*process)).or_default().push(*process);
    }
    programs.retain(|_, processes| {
        let start = processes.iter().map(|process| log.process_table.get(*process).start).max().flatten();
        let end = processes.iter().filter_map(|process| log.process_table.get(*process).end).min();
        processes.len() >= fewest && start.zip(end).is_some_and(|(start, end)| start < end)
    });
    programs.into_values().collect()
}
