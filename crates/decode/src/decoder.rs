//! Makes entries of registers.

use super::effects::Special;
use super::entry::{Entry, MAX_ARGUMENTS};
use super::layout::Layout;
use super::multiplexer::{self, Call};
use super::numbers;
use super::plan::{Argument, How, Multiplexer, Plan, Source};
use super::stored::Stored;
use super::structures::{self, Control};
use super::{address, rights, strings, vectors};
use crate::{Abi, Memory, Registers};
use iotrail_model::calls::{ArgKind, CallKind};

/// Buffers kept for later entries.
const MAX_BUFFERS: usize = 64;
/// Larger buffers are given back.
const MAX_CAPACITY: usize = 16 * 1024;
/// `AT_FDCWD` on every architecture.
const AT_FDCWD: i32 = -100;
/// The command of `prctl` that installs a filter.
const PR_SET_SECCOMP: u64 = 22;

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
        let mut entry = Entry::new(*registers, self.buffers.pop().unwrap_or_default());
        if let Some(plan) = numbers::plan_of(registers.abi, registers.number) {
            entry.decode(plan, memory);
        }
        entry
    }

    /// Takes the memory of an entry that is done back, so that the next one needs no allocation.
    pub fn recycle(&mut self, entry: Entry) {
        let Entry { mut bytes, .. } = entry;
        if (1..=MAX_CAPACITY).contains(&bytes.capacity()) && self.buffers.len() < MAX_BUFFERS {
            bytes.clear();
            self.buffers.push(bytes);
        }
    }
}

impl Entry {
    fn decode(&mut self, plan: &'static Plan, memory: &impl Memory) {
        let mut values = self.registers.args;
        if self.registers.abi == Abi::I386 {
            values.iter_mut().for_each(|value| *value &= 0xffff_ffff);
        }
        let call = if plan.multiplexer == Multiplexer::None {
            Call { plan, values, decoded: true }
        } else {
            multiplexer::resolve(plan, values, memory)
        };
        (self.plan, self.values, self.undecoded) = (Some(call.plan), call.values, !call.decoded);
        self.special = match self.spec().map(|spec| spec.kind) {
            Some(CallKind::ProcessControl) if self.values[0] & 0xffff_ffff == PR_SET_SECCOMP => {
                Special::Filter
            }
            _ => call.plan.special,
        };
        if call.decoded {
            for (index, arg) in call.plan.args.iter().enumerate().take(usize::from(call.plan.len)) {
                self.args[index] = self.argument(*arg, memory);
            }
        }
        if self.special == Special::Send {
            self.sent = self.rights_sent(memory);
        }
    }

    /// Descriptors that go with a message or several.
    fn rights_sent(&self, memory: &impl Memory) -> Option<Vec<i32>> {
        let (layout, place) = (Layout::of(self.registers.abi), self.values[1]);
        let mut sent = Vec::new();
        let mut push = |header: &vectors::Header| rights::push(header, layout, memory, &mut sent);
        let all = match self.spec()?.has(ArgKind::Message) {
            true => push(&vectors::Header::read(place, layout, memory)?),
            false => {
                let count = self.values[2] & 0xffff_ffff;
                let headers = vectors::messages(place, count, layout, memory).map(|(header, _)| header);
                headers.filter(|header| push(header)).count() as u64 == count
            }
        };
        all.then_some(sent)
    }

    #[inline]
    fn argument(&mut self, arg: Argument, memory: &impl Memory) -> Stored {
        let register = arg.source.first();
        let value = arg.source.value(&self.values);
        match arg.how {
            How::Number => Stored::Int(value as i64),
            How::Signed32 => Stored::Int(i64::from(value as u32 as i32)),
            How::Unsigned32 => Stored::Int(i64::from(value as u32)),
            How::Fd => Stored::Fd(value as u32 as i32),
            How::Directory if value as u32 as i32 == AT_FDCWD => Stored::Cwd,
            How::Directory => Stored::Fd(value as u32 as i32),
            How::Symbols(notation) => {
                notation.write(&self.values, register, self.registers.abi, &mut self.bytes)
            }
            How::Path => strings::path(value, memory, &mut self.bytes),
            _ => self.structure(arg.how, register, value, memory),
        }
    }

    fn structure(&mut self, how: How, register: usize, value: u64, memory: &impl Memory) -> Stored {
        let abi = self.registers.abi;
        let layout = Layout::of(abi);
        let next = self.values.get(register + 1).copied().unwrap_or_default();
        let bytes = &mut self.bytes;
        match how {
            How::Pages => Stored::Int((value << 12) as i64),
            How::OffsetAt(layout) => structures::offset(value, layout, memory),
            How::Vector => vectors::length(value, next, layout, memory),
            How::Message => vectors::message(value, layout, memory),
            How::Strings => strings::vector(value, layout, memory, bytes),
            How::Open => structures::open_how(value, next, abi, memory, bytes),
            How::CloneArgs => structures::clone_args(value, next, memory, bytes),
            How::Address => address::socket(value, next, memory, bytes),
            How::Control => match Control::of(self.values[register.saturating_sub(1)]) {
                Control::Set { large } => structures::lock(value, large, false, abi, memory, bytes),
                Control::Get { .. } => Stored::Opaque,
                Control::Number => Stored::Int(i64::from(value as u32)),
            },
            _ => Stored::Opaque,
        }
    }
}

impl Source {
    #[inline]
    pub(super) fn value(self, values: &[u64; MAX_ARGUMENTS]) -> u64 {
        let half = |index: u8| values.get(usize::from(index)).copied().unwrap_or_default() & 0xffff_ffff;
        match self {
            Self::Register(index) => values[usize::from(index) % MAX_ARGUMENTS],
            Self::LowHigh(index) => half(index) | half(index + 1) << 32,
            Self::HighLow(index) => half(index) << 32 | half(index + 1),
        }
    }

    /// The first register of it.
    #[inline]
    pub(super) fn first(self) -> usize {
        match self {
            Self::Register(place) | Self::LowHigh(place) | Self::HighLow(place) => usize::from(place),
        }
    }
}
