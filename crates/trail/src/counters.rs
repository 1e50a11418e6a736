//! Counts and sums kept while a part is written, so that the short answer about a huge trail costs no scan.

use crate::meta::Totals;
use crate::own_names::{OwnDictionary, OwnNames};
use crate::process_counter::ProcessCounter;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::{CaseId, Event, Layer, Pid, Process, Tid};
use std::collections::BTreeMap;

/// Threads with their processes.
type Threads = hashbrown::HashSet<(CaseId, Pid, Tid), foldhash::fast::RandomState>;

/// Counts and sums over the events of one layer.
#[derive(Clone, Copy, Debug, Default)]
struct Layered {
    events: u64,
    read: i64,
    written: i64,
}

impl Layered {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }
}

/// Counts and sums over the events of a part; ids are the part's own.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    events: u64,
    calls: Vec<u64>,
    errnos: Vec<u64>,
    start: Option<i64>,
    end: Option<i64>,
    /// By layer.
    layers: [Layered; Layer::ALL.len()],
    transfers: Vec<Transfer>,
    processes: ProcessCounter,
    /// The threads of events.
    threads: Threads,
    last: Option<(CaseId, Pid, Tid)>,
    max_case: Option<CaseId>,
}

impl Counters {
    pub(crate) fn max_case(&self) -> Option<CaseId> {
        self.max_case
    }

    /// Counts an event that has the part's own ids.
    #[inline]
    pub(crate) fn count(&mut self, event: &Event, names: &OwnNames) {
        self.events += 1;
        self.layers[event.layer as usize].events += 1;
        let call = event.call.index();
        if call >= self.calls.len() {
            self.learn_calls(&names.calls);
        }
        self.calls[call] += 1;
        if let Some(errno) = event.errno.get() {
            self.errnos.resize(self.errnos.len().max(errno.index() + 1), 0);
            self.errnos[errno.index()] += 1;
        }
        let start = event.start.0;
        let end = event.dur.get().map_or(start, |dur| start.saturating_add(dur.0));
        self.start = Some(self.start.map_or(start, |first| first.min(start)));
        self.end = Some(self.end.map_or(end, |last| last.max(end)));
        if let Some(size) = event.size.get() {
            let layer = &mut self.layers[event.layer as usize];
            let transfer = self.transfers[call];
            if matches!(transfer, Transfer::Read | Transfer::Copy) {
                layer.read = layer.read.saturating_add(size);
            }
            if matches!(transfer, Transfer::Write | Transfer::Copy) {
                layer.written = layer.written.saturating_add(size);
            }
        }
        let actor = (event.case, event.pid, event.tid);
        if self.last != Some(actor) {
            self.last = Some(actor);
            self.count_actor(event.case, event.pid, event.tid);
        }
    }

    fn learn_calls(&mut self, names: &OwnDictionary) {
        let table = calls::dictionary();
        self.calls.resize(names.len(), 0);
        for id in self.transfers.len()..names.len() {
            let row = table.find(names.text(id as u32)).map(iotrail_model::CallId);
            self.transfers.push(row.and_then(calls::spec).map(|spec| spec.transfer).unwrap_or_default());
        }
    }

    fn count_actor(&mut self, case: CaseId, pid: Pid, tid: Tid) {
        self.threads.insert((case, pid, tid));
        self.max_case = self.max_case.max(Some(case));
    }

    pub(crate) fn count_process(&mut self, process: &Process) {
        self.processes.add(process);
        self.max_case = self.max_case.max(Some(process.case));
    }

    /// The counts under the names themselves.
    pub(crate) fn named(self, names: &OwnNames) -> NamedCounters {
        let by_name = |counts: &[u64], names: &OwnDictionary| -> BTreeMap<String, u64> {
            let text = |id: usize| String::from_utf8_lossy(names.text(id as u32)).into_owned();
            counts
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(|(id, count)| (text(id), *count))
                .collect()
        };
        NamedCounters {
            totals: Totals {
                events: self.events,
                calls: by_name(&self.calls, &names.calls),
                errnos: by_name(&self.errnos, &names.errnos),
                flags: names.flags.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect(),
                start: self.start,
                end: self.end,
                ..Totals::default()
            },
            layers: self.layers,
            // Where each thread is a case, a process has events in several of them, but its rows in one.
            threads: if self.processes.is_empty() { self.threads } else { Threads::default() },
            processes: self.processes,
        }
    }
}

/// Counts of parts that can be added up.
#[derive(Debug, Default)]
pub(crate) struct NamedCounters {
    totals: Totals,
    layers: [Layered; Layer::ALL.len()],
    processes: ProcessCounter,
    /// The threads of events in parts without a table of processes.
    threads: Threads,
}

impl NamedCounters {
    pub(crate) fn add(&mut self, other: Self) {
        self.totals.add(&other.totals);
        self.layers.iter_mut().zip(other.layers).for_each(|(mine, theirs)| mine.add(theirs));
        self.processes.join(other.processes);
        self.threads.extend(other.threads);
    }

    pub(crate) fn totals(self, cases: usize) -> Totals {
        let known = self.processes.processes();
        let counts = self.processes.counts();
        let unknown = self.threads.iter().filter(|(case, pid, _)| !known.contains(&(*case, *pid)));
        let unknown_processes: hashbrown::HashSet<(CaseId, Pid)> =
            unknown.clone().map(|(case, pid, _)| (*case, *pid)).collect();
        // A byte that a library moved is one that a system call moved.
        let lowest = self.layers.iter().find(|layer| layer.events > 0).copied().unwrap_or_default();
        let counted = Layer::ALL.iter().zip(self.layers).filter(|(_, counts)| counts.events > 0);
        Totals {
            layers: counted.map(|(layer, counts)| (layer.name().to_owned(), counts.events)).collect(),
            bytes_read: lowest.read,
            bytes_written: lowest.written,
            cases: cases as u64,
            processes: counts.processes + unknown_processes.len() as u64,
            threads: counts.threads + unknown.count() as u64,
            ..self.totals
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLog;
    use iotrail_model::{Case, Nullable};

    fn totals(layers: &[Layer]) -> Totals {
        let mut log = MemoryLog::new(vec![Case::default()]);
        let call = log.call("write");
        for layer in layers {
            log.push(Event { call, layer: *layer, size: Nullable::some(10), ..Event::default() });
        }
        log.build().trails()[0].meta().totals.clone()
    }

    #[test]
    fn bytes_are_those_of_the_lowest_layer() {
        let both = totals(&[Layer::Libc, Layer::Syscall, Layer::Syscall]);
        assert_eq!((both.bytes_written, both.events), (20, 3));
        assert_eq!(both.layers, BTreeMap::from([("libc".to_owned(), 1), ("syscall".to_owned(), 2)]));
        assert_eq!(totals(&[Layer::Mpiio]).bytes_written, 10);
    }

    #[test]
    fn a_trail_that_does_not_count_layers_holds_system_calls() {
        let mut old = Totals { events: 5, ..Totals::default() };
        old.add(&totals(&[Layer::Mpi]));
        assert_eq!(old.layers, BTreeMap::from([("mpi".to_owned(), 1), ("syscall".to_owned(), 5)]));
    }
}
