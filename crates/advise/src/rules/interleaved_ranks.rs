//! The processes of a parallel program transfer small pieces of one file that lie between those of the others.

use super::Rule;
use super::by_process::ByProcess;
use super::habit::{Context, ProcessHabit, Seen, Tally};
use super::peers::{MANY_PROCESSES, at_once};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;
use iotrail_query::ProcessId;

/// From so many transfers of each process on it is a habit.
const MANY: u64 = 50;
/// What a call moves at least if processes join theirs.
const LARGE: u64 = 4 << 20;

#[derive(Default)]
pub(crate) struct InterleavedRanks {
    files: HashMap<(FileId, bool), ByProcess<Extent>, RandomState>,
}

/// What one process transfers in one direction.
struct Extent {
    low: u64,
    high: u64,
    tally: Tally,
}

impl Rule for InterleavedRanks {
    fn see(&mut self, call: &Seen) {
        let moves = matches!(call.transfer, Transfer::Read | Transfer::Write)
            && call.is_done()
            && call.selected
            && !call.appends;
        let (Some(file), Some(process), Some((low, high)), true) =
            (call.file, call.process, call.range(), moves)
        else {
            return;
        };
        let writes = call.transfer == Transfer::Write;
        let first = || Extent { low, high, tally: Tally::new(call.first()) };
        let extent = self.files.entry((file, writes)).or_default().get_or_insert_with(process, first);
        (extent.low, extent.high) = (extent.low.min(low), extent.high.max(high));
        extent.tally.amount = extent.tally.amount.saturating_add(high - low);
        extent.tally.waste(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.files.values().flat_map(|processes| of_file(log, processes)).collect()
    }
}

fn of_file(log: &Context, processes: &ByProcess<Extent>) -> Vec<ProcessHabit> {
    let is_small =
        |extent: &Extent| extent.tally.calls >= MANY && extent.tally.amount / extent.tally.calls < LARGE / 4;
    let few: Vec<ProcessId> =
        processes.iter().filter(|(_, extent)| is_small(extent)).map(|(process, _)| *process).collect();
    let groups = at_once(log, &few, MANY_PROCESSES).into_iter();
    let found = groups.flat_map(|group| {
        let group: Vec<&Extent> = group.iter().filter_map(|process| processes.get(*process)).collect();
        if are_interleaved(&group) { group } else { Vec::new() }
    });
    let found = found.map(|extent| {
        let calls = extent.tally.calls.max(1);
        let left = extent.tally.amount.div_ceil(LARGE).min(calls);
        ProcessHabit {
            rule: "interleaved-ranks",
            file: log.text(extent.tally.first.path),
            tally: Tally { saved: extent.tally.saved.fraction(calls - left, calls), ..extent.tally },
            places: Vec::new(),
            fix: "let the processes exchange their pieces and move them together: MPI: a file view (MPI_File_set_view with MPI_Type_vector or MPI_Type_create_subarray) and MPI_File_write_at_all or MPI_File_read_at_all, in Fortran the same; HDF5: H5FD_MPIO_COLLECTIVE; NetCDF: nc_var_par_access(NC_COLLECTIVE); or one contiguous part of the file for each process",
            assumes: "an exchange between processes costs less than the calls; all of them come to the same place of the program",
        }
    });
    found.collect()
}

/// Whether each process touches half or less of the bytes between its first and its last one, and these stretches are nearly the same.
fn are_interleaved(group: &[&Extent]) -> bool {
    let low = group.iter().map(|extent| extent.low).max().unwrap_or_default();
    let high = group.iter().map(|extent| extent.high).min().unwrap_or_default();
    let has_gaps = |extent: &&Extent| extent.tally.amount <= (extent.high - extent.low) / 2;
    let is_near = |extent: &&Extent| high.saturating_sub(low) >= (extent.high - extent.low) / 2;
    group.iter().all(has_gaps) && group.iter().all(is_near)
}
