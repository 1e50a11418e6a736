//! Messages between two ranks of a communicator.

use crate::communicators::Communicator;
use crate::session::{Mpi, MpiError, int};

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// As the library likes.
    Standard,
    /// It ends when the receive has begun.
    Synchronous,
}

/// Something that goes on.
#[derive(Debug)]
pub struct Request(pub(crate) usize);

impl Mpi {
    /// `MPI_Send`, `MPI_Ssend`.
    ///
    /// # Errors
    /// If the library answers one, or the message is too large.
    pub fn send(
        &self,
        comm: Communicator,
        mode: SendMode,
        bytes: u64,
        peer: i32,
        tag: i32,
    ) -> Result<(), MpiError> {
        let name = match mode {
            SendMode::Standard => c"MPI_Send",
            SendMode::Synchronous => c"MPI_Ssend",
        };
        let (abi, count) = (&self.abi, self.count(name, bytes)?);
        let peer = int(abi.rank(peer));
        self.call(name, &[self.buffers.sent, count, abi.byte, peer, int(tag), comm.handle])
    }

    /// `MPI_Isend`, `MPI_Issend`.
    ///
    /// # Errors
    /// If the library answers one, or the message is too large.
    pub fn begin_send(
        &self,
        comm: Communicator,
        mode: SendMode,
        bytes: u64,
        peer: i32,
        tag: i32,
    ) -> Result<Request, MpiError> {
        let name = match mode {
            SendMode::Standard => c"MPI_Isend",
            SendMode::Synchronous => c"MPI_Issend",
        };
        let (abi, count) = (&self.abi, self.count(name, bytes)?);
        let peer = int(abi.rank(peer));
        let mut request = 0_usize;
        let place = &raw mut request as usize;
        self.call(name, &[self.buffers.sent, count, abi.byte, peer, int(tag), comm.handle, place])?;
        Ok(Request(request))
    }

    /// `MPI_Recv` of up to what the buffers hold.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn receive(&self, comm: Communicator, peer: i32, tag: i32) -> Result<(), MpiError> {
        let (abi, most) = (&self.abi, self.most());
        let peer = int(abi.rank(peer));
        self.call(
            c"MPI_Recv",
            &[self.buffers.received, most, abi.byte, peer, int(tag), comm.handle, abi.no_status],
        )
    }

    /// `MPI_Irecv` of up to what the buffers hold.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn begin_receive(&self, comm: Communicator, peer: i32, tag: i32) -> Result<Request, MpiError> {
        let (abi, most) = (&self.abi, self.most());
        let peer = int(abi.rank(peer));
        let mut request = 0_usize;
        let place = &raw mut request as usize;
        self.call(
            c"MPI_Irecv",
            &[self.buffers.received, most, abi.byte, peer, int(tag), comm.handle, place],
        )?;
        Ok(Request(request))
    }

    /// `MPI_Probe`.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn probe(&self, comm: Communicator, peer: i32, tag: i32) -> Result<(), MpiError> {
        let abi = &self.abi;
        self.call(c"MPI_Probe", &[int(abi.rank(peer)), int(tag), comm.handle, abi.no_status])
    }

    /// `MPI_Test`: whether it is over.
    ///
    /// # Errors
    /// If the library answers one.
    pub fn test(&self, request: &mut Request) -> Result<bool, MpiError> {
        let mut flag = 0_i32;
        let place = &raw mut request.0 as usize;
        self.call(c"MPI_Test", &[place, &raw mut flag as usize, self.abi.no_status])?;
        Ok(flag != 0)
    }

    /// The most that a receive may take.
    fn most(&self) -> usize {
        self.buffers.bytes.min(i32::MAX as u64) as usize
    }
}
