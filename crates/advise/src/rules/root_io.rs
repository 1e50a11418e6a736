//! One of the processes of a parallel program does what all could do: it moves nearly all bytes.

use super::Rule;
use super::habit::{Context, ProcessHabit, Seen, Tally};
use super::peers::{FileUse, Peers};

/// From so many bytes on it matters.
const MUCH: u64 = 4 << 20;
/// Nearly all, in a hundred.
const MOST: u64 = 90;

#[derive(Default)]
pub(crate) struct RootIo(Peers);

impl Rule for RootIo {
    fn see(&mut self, call: &Seen) {
        // Of what all ranks move together some do the transfers for the others.
        if !call.is_for_all {
            self.0.see(call);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let groups = self.0.groups(log);
        let found = groups.iter().filter_map(|group| {
            let root = root(group)?;
            let all = group.len() as u64;
            let tally = Tally {
                first: root.first,
                calls: root.calls.calls,
                saved: root.calls.fraction(all - 1, all),
                amount: root.bytes,
            };
            Some(ProcessHabit {
                rule: "root-io",
                file: log.text(root.main_file()),
                tally,
                places: Vec::new(),
                fix: "let each process read and write its part: MPI: MPI_File_read_at_all and MPI_File_write_at_all (Fortran the same) instead of MPI_Scatter and MPI_Gather around the input and output of one rank; HDF5 and NetCDF built for parallel access; Python: pass file names and ranges to the workers, not data",
                assumes: "the storage serves several processes faster than one",
            })
        });
        found.collect()
    }
}

/// The process that moves nearly all bytes of its group.
pub(crate) fn root<'a>(group: &[&'a FileUse]) -> Option<&'a FileUse> {
    let all: u64 = group.iter().map(|used| used.bytes).fold(0, u64::saturating_add);
    let root = group.iter().max_by_key(|used| used.bytes)?;
    (all >= MUCH && u128::from(root.bytes) * 100 >= u128::from(all) * u128::from(MOST)).then_some(*root)
}
