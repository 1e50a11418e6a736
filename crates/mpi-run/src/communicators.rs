//! Communicators beside `MPI_COMM_WORLD`.

use crate::session::{Mpi, MpiError, int};

/// A communicator that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Communicator {
    pub(crate) handle: usize,
    size: u32,
}

impl Communicator {
    /// Its ranks.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }
}

impl Mpi {
    /// `MPI_COMM_WORLD`.
    #[must_use]
    pub const fn world(&self) -> Communicator {
        Communicator { handle: self.abi.world, size: self.size() }
    }

    /// `MPI_COMM_SELF`.
    #[must_use]
    pub const fn own(&self) -> Communicator {
        Communicator { handle: self.abi.own, size: 1 }
    }

    /// `MPI_Comm_split`: those with the same `color` get a communicator, in the order of their `key`; who has no color gets none.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn split(
        &self,
        comm: Communicator,
        color: Option<i32>,
        key: i32,
    ) -> Result<Option<Communicator>, MpiError> {
        let mut made = 0_usize;
        let place = &raw mut made as usize;
        let color_number = int(color.unwrap_or(self.abi.undefined));
        self.call(c"MPI_Comm_split", &[comm.handle, color_number, int(key), place])?;
        if color.is_none() {
            return Ok(None);
        }
        let mut size = 0_i32;
        self.call(c"MPI_Comm_size", &[made, &raw mut size as usize])?;
        Ok(Some(Communicator { handle: made, size: size.unsigned_abs() }))
    }

    /// `MPI_Comm_free`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn free(&self, mut comm: Communicator) -> Result<(), MpiError> {
        self.call(c"MPI_Comm_free", &[&raw mut comm.handle as usize])
    }
}
