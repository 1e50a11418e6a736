//! The memory of stopped threads.

use iotrail_decode::Memory;
use iotrail_model::Tid;
use iotrail_ptrace::read_memory;

/// The memory of a stopped thread.
pub(crate) struct TraceeMemory(pub(crate) Tid);

impl Memory for TraceeMemory {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        read_memory(self.0, address, buffer)
    }
}
