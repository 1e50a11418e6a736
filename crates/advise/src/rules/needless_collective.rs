//! Ranks move large contiguous blocks by collective calls of MPI-IO: they wait for each other and send their data through a few of them, for
//! pieces that each could move alone.

use super::Rule;
use super::by_process::ByProcess;
use super::habit::{Context, ProcessHabit, Saved, Seen, Tally, part_of};
use super::peers::at_once;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;
use iotrail_model::calls::mpi::Together;
use iotrail_query::ProcessId;

/// From so many calls of a rank on it is a habit.
const MANY: u64 = 10;
/// What each call of each rank moves at least.
const LARGE: u64 = 1 << 20;
/// What the calls take beyond the transfers of all ranks, in a hundred of their time, is worth a change.
const WORTH: u64 = 20;
/// Ranks that wait for each other.
const FEWEST: usize = 2;

#[derive(Default)]
pub(crate) struct NeedlessCollective {
    files: HashMap<FileId, ByProcess<Calls>, RandomState>,
}

/// Collective calls of a rank on a file.
struct Calls {
    tally: Tally,
    /// Whether one of them was small, or its bytes may lie here and there.
    is_other: bool,
    /// Time of the transfers that they made, in ns.
    inside: u64,
    /// Whether the user asked about such a transfer.
    selected: bool,
}

impl NeedlessCollective {
    fn of(&mut self, call: &Seen) -> Option<&mut Calls> {
        let (file, process) = call.file.zip(call.process)?;
        let none = || Calls { tally: Tally::new(call.first()), is_other: false, inside: 0, selected: false };
        Some(self.files.entry(file).or_default().get_or_insert_with(process, none))
    }
}

impl Rule for NeedlessCollective {
    fn see(&mut self, call: &Seen) {
        if !call.is_for_all || call.transfer == Transfer::None {
            return;
        }
        let (Some(file), Some(process)) = (call.file, call.process) else { return };
        if let Some(calls) = self.files.get_mut(&file).and_then(|ranks| ranks.get_mut(process)) {
            calls.inside = calls.inside.saturating_add(call.spent.unwrap_or_default());
            calls.selected |= call.selected;
        }
    }

    fn see_together(&mut self, call: &Seen) {
        let is_large = call.size.is_some_and(|size| size >= LARGE);
        let Some(calls) = self.of(call) else { return };
        match call.together {
            Together::Moves if call.is_done() => {
                calls.is_other |= !is_large;
                calls.tally.amount = calls.tally.amount.saturating_add(call.size.unwrap_or_default());
                calls.tally.waste(call);
            }
            // Which bytes of the file a rank moves from now on is not known.
            Together::SetsView => calls.is_other = true,
            _ => {}
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.files.values().flat_map(|ranks| of_file(log, ranks)).collect()
    }
}

fn of_file(log: &Context, ranks: &ByProcess<Calls>) -> Vec<ProcessHabit> {
    let many: Vec<ProcessId> =
        ranks.iter().filter(|(_, calls)| calls.tally.calls >= MANY).map(|(process, _)| *process).collect();
    let groups = at_once(log, &many, FEWEST).into_iter();
    let found = groups.flat_map(|group| {
        let group: Vec<&Calls> = group.iter().filter_map(|process| ranks.get(*process)).collect();
        let transfers = group.iter().map(|calls| calls.inside).fold(0, u64::saturating_add);
        let is_one = group.iter().any(|calls| calls.is_other) || !group.iter().any(|calls| calls.selected);
        let beyond =
            group.into_iter().filter(|_| !is_one).filter_map(|calls| beyond(&calls.tally, transfers));
        beyond.collect::<Vec<_>>()
    });
    let found = found.map(|tally| ProcessHabit {
        rule: "needless-collective",
        file: log.text(tally.first.path),
        tally,
        places: Vec::new(),
        fix: "let each rank move its blocks alone: MPI_File_write_at and MPI_File_read_at in C and Fortran (or the hints romio_cb_write=disable and romio_cb_read=disable; Open MPI: OMPI_MCA_fcoll=individual); HDF5: H5FD_MPIO_INDEPENDENT; NetCDF: nc_var_par_access(NC_INDEPENDENT); mpi4py: Write_at, Read_at",
        assumes: "nobody relies on the collective calls to wait for the other ranks; the storage takes large blocks of several ranks as fast as those of a few",
    });
    found.collect()
}

/// The calls of a rank with what they take beyond the transfers of all ranks, if that is worth it.
fn beyond(tally: &Tally, transfers: u64) -> Option<Tally> {
    let time = tally.saved.time?;
    let more = time.saturating_sub(transfers);
    let on_path = part_of(more, tally.saved.on_path, time);
    let worth = u128::from(more) * 100 >= u128::from(time) * u128::from(WORTH);
    worth.then_some(Tally { saved: Saved { calls: 0, timed: 0, time: Some(more), on_path }, ..*tally })
}
