//! Files that the engine uses by calls of MPI-IO.

use iotrail_mpi_run::{File, FileMode, Mpi, MpiError};
use iotrail_replay::{Action, Interface, OpenNumber};
use std::collections::HashMap;
use std::path::PathBuf;

/// Open files by the numbers of their descriptions, with whether all ranks make calls together on them.
#[derive(Debug, Default)]
pub(crate) struct Used(HashMap<OpenNumber, (File, bool)>);

impl Used {
    /// Makes an operation of the engine by calls of MPI-IO. Answers how many bytes it moved.
    pub(crate) fn make(
        &mut self,
        mpi: &Mpi,
        (action, bytes): (Action, &mut [u8]),
        path: impl Fn(usize) -> Option<PathBuf>,
    ) -> Result<u64, MpiError> {
        match action {
            Action::Open { file, open, mode } => {
                let all = mode.interface == Interface::Collective;
                let comm = if all { mpi.world() } else { mpi.own() };
                let how = FileMode { read: mode.read, write: mode.write, create: mode.create };
                let opened = mpi.open(comm, &path(file).unwrap_or_default(), how)?;
                // MPI-IO has no mode for it.
                if mode.truncate {
                    mpi.set_size(&opened, 0)?;
                }
                self.0.insert(open, (opened, all));
                Ok(0)
            }
            Action::ReadAt(open, offset, _) => {
                let (file, all) = self.file(open)?;
                mpi.read_at(file, all, offset, bytes)
            }
            Action::WriteAt(open, offset, _) => {
                let (file, all) = self.file(open)?;
                mpi.write_at(file, all, offset, bytes)
            }
            Action::Sync(open) | Action::SyncData(open) => mpi.sync(self.file(open)?.0).map(|()| 0),
            Action::Truncate(open, size) => mpi.set_size(self.file(open)?.0, size).map(|()| 0),
            Action::StatOpen(open) => mpi.file_size(self.file(open)?.0).map(|_| 0),
            Action::Close(open) => {
                let (file, _) = self.0.remove(&open).ok_or(UNKNOWN)?;
                mpi.close(file).map(|()| 0)
            }
            _ => Err(UNKNOWN),
        }
    }

    fn file(&self, open: OpenNumber) -> Result<(&File, bool), MpiError> {
        self.0.get(&open).map(|(file, all)| (file, *all)).ok_or(UNKNOWN)
    }
}

/// The file is not open, or nothing in MPI-IO is such an operation.
const UNKNOWN: MpiError = MpiError::Failed("MPI-IO", -1);
