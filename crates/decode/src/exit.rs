//! What a call stored for its caller, read when it has returned.

use super::entry::Entry;
use super::layout::{Layout, read, u32_at, u64_at};
use super::plan::How;
use super::stored::Stored;
use super::structures::{self, Control};
use super::{address, rights, strings, vectors};
use crate::{Memory, Returned};
use iotrail_model::calls::DescriptorEffect;

impl Entry {
    /// The call returned: reads what it stored for the caller.
    pub fn exit(&mut self, returned: Returned, memory: &impl Memory) {
        self.returned = Some(returned);
        let (Returned::Value(value), Some(plan)) = (returned, self.plan) else { return };
        if self.undecoded {
            return;
        }
        for (index, arg) in plan.args.iter().enumerate().take(usize::from(plan.len)) {
            let register = arg.source.first();
            if let Some(stored) = self.stored(arg.how, register, value, memory) {
                self.args[index] = stored;
            }
        }
    }

    /// What the call stored where argument `register` says, if it stores something there.
    #[inline]
    fn stored(&mut self, how: How, register: usize, value: i64, memory: &impl Memory) -> Option<Stored> {
        let at = self.values[register];
        match how {
            How::StoredPath => {
                let length = usize::try_from(value).unwrap_or_default();
                Some(strings::stored_path(at, length, memory, &mut self.bytes))
            }
            How::StoredPair => Some(structures::pair(at, memory)),
            How::StoredPosition => {
                let position = read::<8>(memory, at);
                Some(position.map_or(Stored::Opaque, |bytes| Stored::Int(u64_at(&bytes, 0) as i64)))
            }
            How::StoredAddress => Some(self.stored_address(at, register, memory)),
            How::Control => self.stored_lock(at, register, memory),
            How::Message => {
                self.receive(at, memory);
                None
            }
            How::Messages => Some(self.receive_all(at, value, memory)),
            _ => None,
        }
    }

    fn stored_address(&mut self, at: u64, register: usize, memory: &impl Memory) -> Stored {
        let length_at = self.values.get(register + 1).copied().unwrap_or_default();
        if at == 0 {
            return Stored::Null;
        }
        match read::<4>(memory, length_at) {
            Some(length) => address::socket(at, u64::from(u32_at(&length, 0)), memory, &mut self.bytes),
            None => Stored::Opaque,
        }
    }

    fn stored_lock(&mut self, at: u64, register: usize, memory: &impl Memory) -> Option<Stored> {
        match Control::of(self.values[register.saturating_sub(1)]) {
            Control::Get { large } => {
                Some(structures::lock(at, large, true, self.registers.abi, memory, &mut self.bytes))
            }
            _ => None,
        }
    }

    fn receives(&self) -> bool {
        self.spec().is_some_and(|spec| spec.descriptor_effect() == DescriptorEffect::Receives)
    }

    /// Descriptors that came with the message whose header lies at `at`.
    fn receive(&mut self, at: u64, memory: &impl Memory) {
        let layout = Layout::of(self.registers.abi);
        if self.receives()
            && let Some(header) = vectors::Header::read(at, layout, memory)
        {
            self.undecoded |= !rights::push(&header, layout, memory, &mut self.received);
        }
    }

    /// Bytes moved by the first `count` messages of an array, and descriptors that came with them.
    fn receive_all(&mut self, at: u64, count: i64, memory: &impl Memory) -> Stored {
        let (layout, receives) = (Layout::of(self.registers.abi), self.receives());
        let count = u64::try_from(count).unwrap_or_default();
        let (mut bytes, mut messages) = (0_u64, 0);
        for (header, moved) in vectors::messages(at, count, layout, memory) {
            (bytes, messages) = (bytes.saturating_add(moved), messages + 1);
            if receives {
                self.undecoded |= !rights::push(&header, layout, memory, &mut self.received);
            }
        }
        if messages == count { Stored::Length(bytes) } else { Stored::Opaque }
    }
}
