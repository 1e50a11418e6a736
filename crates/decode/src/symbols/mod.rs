//! Numbers of kernel interfaces written as symbols: `O_RDONLY|O_CLOEXEC`, `SEEK_SET`, `LOCK_EX|LOCK_NB`.
//!
//! The column `flags` holds the same text whether a program was recorded or its `strace` was imported: names, their order
//! and the way the rest of a number is written are those of strace. Names and numbers are from the kernel's headers
//! (`include/uapi`).

mod arguments;
mod devices;
mod files;
mod memory;
mod others;
mod processes;
mod sockets;

use super::signals::signal_name;
use super::stored::{ByteRange, Stored};
use crate::Abi;
pub(super) use arguments::notation;
pub(super) use files::{LOCK_TYPES, OPEN_RESOLVE, WHENCE, push_open};
pub(super) use processes::CLONE;
pub(super) use sockets::FAMILIES;
use std::io::Write as _;

/// A name and the number that it stands for.
pub(super) type Name = (u64, &'static str);

/// How a number is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notation {
    /// Bits, each with a name.
    Set(&'static Set),
    /// One of several.
    One(&'static [Name]),
    /// File permissions: 16 bits, a number.
    Permissions,
    /// Flags of which none is defined.
    Number,
    /// Flags of open, which differ between architectures.
    Open,
    /// Type and permissions of a new node.
    Node,
    /// Flags of clone with the signal sent at the end.
    Clone,
    /// A socket type with flags.
    SocketType,
    /// An option of the protocol level one register before.
    SocketOption,
    /// Permissions and flags of a shared memory segment.
    Segment,
    Signal,
    /// A request to a device.
    Request,
}

/// Names of the bits of a number.
#[derive(Debug)]
pub(super) struct Set {
    /// Bits that hold one of `choices`, written first.
    pub(super) mask: u64,
    pub(super) choices: &'static [Name],
    /// In the order in which they are written; of those that overlap the larger first.
    pub(super) bits: &'static [Name],
    /// What nothing is called, if not `0`.
    pub(super) zero: Option<&'static str>,
    /// Where the logarithm of a huge page size lies, and its name.
    pub(super) page_size: Option<(u32, &'static str)>,
    /// Whether the kernel looks at more than 32 bits.
    pub(super) wide: bool,
}

/// A set of bits of an `int`.
const fn bits(bits: &'static [Name]) -> Set {
    Set { mask: 0, choices: &[], bits, zero: None, page_size: None, wide: false }
}

impl Notation {
    /// Writes the number in register `place` of `registers`; text goes to the end of `bytes`.
    pub(super) fn write(self, registers: &[u64; 6], index: usize, abi: Abi, bytes: &mut Vec<u8>) -> Stored {
        let value = registers[index];
        let low = value & 0xffff_ffff;
        match self {
            Self::Set(set) => set.write(value, bytes),
            Self::One(names) => one(names, low),
            Self::Permissions => Stored::Int((value & 0xffff) as i64),
            Self::Number => Stored::Int(low as i64),
            Self::Open => files::OPEN.write(files::as_generic(low, abi), bytes),
            Self::Node => files::write_node(value & 0xffff, bytes),
            Self::Clone => processes::write_clone(value, bytes),
            Self::SocketType => sockets::write_type(low, bytes),
            Self::SocketOption => {
                one(sockets::options(registers[index.saturating_sub(1)] & 0xffff_ffff), low)
            }
            Self::Segment => memory::write_segment(low, bytes),
            Self::Signal => write_signal(low, bytes),
            Self::Request => devices::write_request(low, bytes),
        }
    }
}

/// The name of `value`, or the number.
pub(super) fn one(names: &'static [Name], value: u64) -> Stored {
    match names.iter().find(|(number, _)| *number == value) {
        Some((_, name)) => Stored::Symbol(name),
        None => Stored::Int(value as i64),
    }
}

impl Set {
    /// Names of the bits of `value`; a number if there are none to name.
    pub(super) fn write(&self, value: u64, bytes: &mut Vec<u8>) -> Stored {
        let start = bytes.len();
        let value = if self.wide { value } else { value & 0xffff_ffff };
        if let (0, Some(zero)) = (value, self.zero) {
            return Stored::Symbol(zero);
        }
        let rest = self.push_names(value, start, bytes);
        if bytes.len() == start {
            return Stored::Int(value as i64);
        }
        self.push_rest(rest, start, bytes);
        Stored::Symbols(ByteRange::since(start, bytes))
    }

    /// Appends what [`Self::write`] says, as text in any case.
    pub(super) fn push(&self, value: u64, bytes: &mut Vec<u8>) {
        if let Stored::Int(_) | Stored::Symbol(_) = self.write(value, bytes) {
            match (value, self.zero) {
                (0, Some(zero)) => bytes.extend_from_slice(zero.as_bytes()),
                (0, None) => bytes.push(b'0'),
                _ => drop(write!(bytes, "{value:#x}")),
            }
        }
    }

    /// Appends the names of bits; returns the bits without a name.
    fn push_names(&self, value: u64, start: usize, bytes: &mut Vec<u8>) -> u64 {
        let mut rest = value;
        if let Some((number, name)) = self.choices.iter().find(|(number, _)| *number == value & self.mask) {
            push(name, start, bytes);
            rest &= !number;
        }
        for (bits, name) in self.bits {
            if rest & bits == *bits {
                push(name, start, bytes);
                rest &= !bits;
            }
        }
        rest
    }

    fn push_rest(&self, rest: u64, start: usize, bytes: &mut Vec<u8>) {
        let shift_and_name = self.page_size.map(|(shift, name)| (shift, name, rest >> shift & 0x3f));
        let page_size = shift_and_name.map_or(0, |(shift, _, size)| size << shift);
        if rest != page_size {
            separate(start, bytes);
            let _ = write!(bytes, "{:#x}", rest & !page_size);
        }
        if let Some((_, name, size @ 1..)) = shift_and_name {
            separate(start, bytes);
            let _ = write!(bytes, "{size}<<{name}");
        }
    }
}

/// Permissions, `0644`: at least three digits.
pub(super) struct Octal(pub(super) u64);

impl std::fmt::Display for Octal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            mode @ 0..0o100 => write!(f, "{mode:03o}"),
            mode => write!(f, "0{mode:o}"),
        }
    }
}

fn separate(start: usize, bytes: &mut Vec<u8>) {
    if bytes.len() > start {
        bytes.push(b'|');
    }
}

fn push(name: &str, start: usize, bytes: &mut Vec<u8>) {
    separate(start, bytes);
    bytes.extend_from_slice(name.as_bytes());
}

fn write_signal(number: u64, bytes: &mut Vec<u8>) -> Stored {
    match i32::try_from(number) {
        Ok(number @ 1..=64) => {
            let start = bytes.len();
            bytes.extend_from_slice(signal_name(number).as_bytes());
            Stored::Symbols(ByteRange::since(start, bytes))
        }
        _ => Stored::Int(i64::from(number as u32 as i32)),
    }
}
