//! Makes entries of registers.

use super::effects::Special;
use super::entry::{Entry, MAX_ARGUMENTS};
use super::numbers;
use super::stored::Stored;
use crate::tracee::{Memory, Registers};
use iotrail_model::calls;

/// Buffers kept for later entries.
const MAX_BUFFERS: usize = 64;

/// Decodes the entries of calls.
#[derive(Debug, Default)]
pub struct Decoder {
    buffers: Vec<Vec<u8>>,
}

impl Decoder {
    /// A decoder of all architectures.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The call that a stopped thread has entered.
    pub fn entry(&mut self, registers: &Registers, memory: &impl Memory) -> Entry {
        let _ = memory;
        let call = numbers::call_of(registers.abi, registers.number);
        let spec = call.and_then(calls::spec);
        Entry {
            registers: *registers,
            call,
            args: [Stored::Opaque; MAX_ARGUMENTS],
            len: spec.map_or(0, |spec| spec.args.len() as u8),
            undecoded: call.is_none(),
            special: spec.map_or(Special::None, |spec| Special::of(spec.name)),
            returned: None,
            bytes: self.buffers.pop().unwrap_or_default(),
            received: Vec::new(),
        }
    }

    /// Takes the memory of an entry that is done back, so that the next one needs no allocation.
    pub fn recycle(&mut self, entry: Entry) {
        let Entry { mut bytes, .. } = entry;
        if bytes.capacity() > 0 && self.buffers.len() < MAX_BUFFERS {
            bytes.clear();
            self.buffers.push(bytes);
        }
    }
}
