//! Each process of a parallel program reads all of the same file.

use super::Rule;
use super::by_process::ByProcess;
use super::habit::{Context, ProcessHabit, Seen, Tally, is_of_system};
use super::peers::{MANY_PROCESSES, at_once};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;
use iotrail_query::ProcessId;

/// From so many bytes on it matters.
const MUCH: u64 = 1 << 20;
/// What counts as all, in a hundred.
const ALL: u64 = 90;

#[derive(Default)]
pub(crate) struct EveryRankReads {
    files: HashMap<FileId, Readers, RandomState>,
}

#[derive(Default)]
struct Readers {
    /// The highest byte that anybody read.
    end: u64,
    readers: ByProcess<Tally>,
}

impl Rule for EveryRankReads {
    fn see(&mut self, call: &Seen) {
        let reads = call.transfer == Transfer::Read && call.is_done() && call.selected;
        let (Some(file), Some(process), Some((low, high)), true) =
            (call.file, call.process, call.range(), reads)
        else {
            return;
        };
        let file = self.files.entry(file).or_default();
        file.end = file.end.max(high);
        let tally = file.readers.get_or_insert_with(process, || Tally::new(call.first()));
        tally.amount = tally.amount.saturating_add(high - low);
        tally.waste(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let large = self.files.values().filter(|file| file.end >= MUCH);
        large.flat_map(|file| file.by_all(log)).collect()
    }
}

impl Readers {
    fn by_all(&self, log: &Context) -> Vec<ProcessHabit> {
        let is_all = |tally: &Tally| u128::from(tally.amount) * 100 >= u128::from(self.end) * u128::from(ALL);
        let whole: Vec<ProcessId> =
            self.readers.iter().filter(|(_, tally)| is_all(tally)).map(|(process, _)| *process).collect();
        let found = at_once(log, &whole, MANY_PROCESSES).into_iter().flat_map(|group| {
            let all = group.len() as u64;
            group.into_iter().filter_map(move |process| Some((*self.readers.get(process)?, all)))
        });
        let found = found.filter(|(tally, _)| !is_of_system(&log.text(tally.first.path)));
        let found = found.map(|(tally, all)| ProcessHabit {
            rule: "every-rank-reads",
            file: log.text(tally.first.path),
            tally: Tally { saved: tally.saved.fraction(all - 1, all), ..tally },
            places: Vec::new(),
            fix: "let one process read and hand it on (MPI: MPI_Bcast, or MPI_File_read_all, which does so), one for each node with shared memory (MPI_Win_allocate_shared; Python: multiprocessing.shared_memory), or map the file, so that processes of a node share it",
            assumes: "each process needs all of the file; if not, let each read its part",
        });
        found.collect()
    }
}
