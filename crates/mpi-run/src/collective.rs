//! Calls that all ranks of a communicator make together.

use crate::communicators::Communicator;
use crate::messages::Request;
use crate::session::{Mpi, MpiError, int};
use std::ffi::CStr;

/// A collective call; bytes are those of one rank's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Bcast`.
    Broadcast,
    /// `MPI_Reduce`.
    Reduce,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Scan`.
    Scan,
    /// `MPI_Exscan`.
    Exscan,
    /// `MPI_Gather`.
    Gather,
    /// `MPI_Gatherv`.
    GatherVarying,
    /// `MPI_Allgather`.
    Allgather,
    /// `MPI_Allgatherv`.
    AllgatherVarying,
    /// `MPI_Scatter`.
    Scatter,
    /// `MPI_Scatterv`.
    ScatterVarying,
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Alltoallv`; bytes are those that a rank gives to all together, in parts that differ by a byte at most.
    AlltoallVarying,
}

impl Collective {
    /// Whether ranks have parts of their own size.
    #[must_use]
    pub const fn varies(self) -> bool {
        matches!(
            self,
            Self::GatherVarying | Self::AllgatherVarying | Self::ScatterVarying | Self::AlltoallVarying
        )
    }

    const fn names(self) -> (&'static CStr, &'static CStr) {
        match self {
            Self::Barrier => (c"MPI_Barrier", c"MPI_Ibarrier"),
            Self::Broadcast => (c"MPI_Bcast", c"MPI_Ibcast"),
            Self::Reduce => (c"MPI_Reduce", c"MPI_Ireduce"),
            Self::Allreduce => (c"MPI_Allreduce", c"MPI_Iallreduce"),
            Self::Scan => (c"MPI_Scan", c"MPI_Iscan"),
            Self::Exscan => (c"MPI_Exscan", c"MPI_Iexscan"),
            Self::Gather => (c"MPI_Gather", c"MPI_Igather"),
            Self::GatherVarying => (c"MPI_Gatherv", c"MPI_Igatherv"),
            Self::Allgather => (c"MPI_Allgather", c"MPI_Iallgather"),
            Self::AllgatherVarying => (c"MPI_Allgatherv", c"MPI_Iallgatherv"),
            Self::Scatter => (c"MPI_Scatter", c"MPI_Iscatter"),
            Self::ScatterVarying => (c"MPI_Scatterv", c"MPI_Iscatterv"),
            Self::Alltoall => (c"MPI_Alltoall", c"MPI_Ialltoall"),
            Self::AlltoallVarying => (c"MPI_Alltoallv", c"MPI_Ialltoallv"),
        }
    }
}

/// Sizes of the parts of all ranks, and where they begin.
#[derive(Debug, Default)]
struct Parts {
    counts: Vec<i32>,
    begins: Vec<i32>,
    /// Of what a rank gives, where that has parts of its own.
    given: Vec<i32>,
    given_begins: Vec<i32>,
}

/// Where parts of these sizes begin, side by side, and where the last one ends.
fn begins(counts: &[i32]) -> (Vec<i32>, i32) {
    let (mut begins, mut end) = (Vec::with_capacity(counts.len()), 0_i32);
    for count in counts {
        begins.push(end);
        end = end.saturating_add(*count);
    }
    (begins, end)
}

impl Mpi {
    /// Makes a collective call with all other ranks; where parts vary, ranks tell each other their sizes by one more call before.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn collective(
        &self,
        comm: Communicator,
        call: Collective,
        bytes: u64,
        root: i32,
    ) -> Result<(), MpiError> {
        let parts = self.parts(comm, call, bytes)?;
        let arguments = self.arguments(comm, call, bytes, root, &parts)?;
        self.call(call.names().0, &arguments)
    }

    /// The same without waiting for its end.
    ///
    /// # Errors
    /// If the library answers one, or it moves too much.
    pub fn begin_collective(
        &self,
        comm: Communicator,
        call: Collective,
        bytes: u64,
        root: i32,
    ) -> Result<Request, MpiError> {
        let parts = Box::leak(Box::new(self.parts(comm, call, bytes)?));
        let mut arguments = self.arguments(comm, call, bytes, root, parts)?;
        let mut request = 0_usize;
        arguments.push(&raw mut request as usize);
        self.call(call.names().1, &arguments)?;
        Ok(Request(request))
    }

    fn parts(&self, comm: Communicator, call: Collective, bytes: u64) -> Result<Parts, MpiError> {
        if !call.varies() {
            return Ok(Parts::default());
        }
        let (abi, ranks) = (&self.abi, comm.size() as usize);
        let own = self.count(call.names().0, bytes)?;
        let mut counts = vec![0_i32; ranks];
        let to = counts.as_mut_ptr() as usize;
        let mut given = Vec::new();
        if call == Collective::AlltoallVarying {
            given = (0..ranks).map(|rank| (own / ranks + usize::from(rank < own % ranks)) as i32).collect();
            let from = given.as_ptr() as usize;
            self.call(c"MPI_Alltoall", &[from, 4, abi.byte, to, 4, abi.byte, comm.handle])?;
        } else {
            let own = own as i32;
            let from = &raw const own as usize;
            self.call(c"MPI_Allgather", &[from, 4, abi.byte, to, 4, abi.byte, comm.handle])?;
        }
        let (places, end) = begins(&counts);
        self.count(call.names().0, u64::from(end.unsigned_abs()))?;
        let (given_begins, _) = begins(&given);
        Ok(Parts { counts, begins: places, given, given_begins })
    }

    fn arguments(
        &self,
        comm: Communicator,
        call: Collective,
        bytes: u64,
        root: i32,
        parts: &Parts,
    ) -> Result<Vec<usize>, MpiError> {
        let (abi, name) = (&self.abi, call.names().0);
        let count = self.count(name, bytes)?;
        // What all ranks have together must fit, too.
        if matches!(
            call,
            Collective::Gather | Collective::Allgather | Collective::Scatter | Collective::Alltoall
        ) {
            self.count(name, bytes.saturating_mul(u64::from(comm.size())))?;
        }
        let (sent, received, byte, world) = (self.buffers.sent, self.buffers.received, abi.byte, comm.handle);
        let (counts, begins) = (parts.counts.as_ptr() as usize, parts.begins.as_ptr() as usize);
        let root = int(root);
        Ok(match call {
            Collective::Barrier => vec![world],
            Collective::Broadcast => vec![received, count, byte, root, world],
            Collective::Reduce => vec![sent, received, count, byte, abi.combine, root, world],
            Collective::Allreduce | Collective::Scan | Collective::Exscan => {
                vec![sent, received, count, byte, abi.combine, world]
            }
            Collective::Gather | Collective::Scatter => {
                vec![sent, count, byte, received, count, byte, root, world]
            }
            Collective::Allgather | Collective::Alltoall => {
                vec![sent, count, byte, received, count, byte, world]
            }
            Collective::GatherVarying => vec![sent, count, byte, received, counts, begins, byte, root, world],
            Collective::AllgatherVarying => vec![sent, count, byte, received, counts, begins, byte, world],
            Collective::AlltoallVarying => {
                let (given, given_begins) =
                    (parts.given.as_ptr() as usize, parts.given_begins.as_ptr() as usize);
                vec![sent, given, given_begins, byte, received, counts, begins, byte, world]
            }
            Collective::ScatterVarying => {
                vec![sent, counts, begins, byte, received, count, byte, root, world]
            }
        })
    }

    /// Adds up numbers of all ranks: each gets the sums.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn sums(&self, numbers: &[u64]) -> Result<Vec<u64>, MpiError> {
        let (abi, bytes) = (&self.abi, size_of_val(numbers));
        let mut all = vec![0_u64; numbers.len() * self.size() as usize];
        let (from, to) = (numbers.as_ptr() as usize, all.as_mut_ptr() as usize);
        self.call(c"MPI_Allgather", &[from, bytes, abi.byte, to, bytes, abi.byte, abi.world])?;
        let sum =
            |place: usize| all.iter().skip(place).step_by(numbers.len()).copied().fold(0, u64::wrapping_add);
        Ok((0..numbers.len()).map(sum).collect())
    }
}
