//! The few structures that the resolver looks into, as text.

use super::layout::{Layout, read, u16_at, u32_at, u64_at};
use super::stored::{ByteRange, Stored};
use super::symbols::{self, LOCK_TYPES, OPEN_RESOLVE, Octal, WHENCE};
use crate::{Abi, Memory};
use std::io::Write as _;

/// How to open (`struct open_how`): `{flags=O_RDWR|O_CREAT, mode=0644, resolve=RESOLVE_BENEATH}`.
pub(super) fn open_how(
    address: u64,
    size: u64,
    abi: Abi,
    memory: &impl Memory,
    bytes: &mut Vec<u8>,
) -> Stored {
    const SIZE: u64 = 24;
    const TAKES_MODE: u64 = 0x40 | 0x40_0000;
    if address == 0 {
        return Stored::Null;
    }
    let Some(how) = read::<{ SIZE as usize }>(memory, address).filter(|_| size >= SIZE) else {
        return Stored::Opaque;
    };
    let (flags, mode, resolve) = (u64_at(&how, 0), u64_at(&how, 8), u64_at(&how, 16));
    let start = bytes.len();
    bytes.extend_from_slice(b"{flags=");
    symbols::push_open(flags, abi, bytes);
    if flags & TAKES_MODE != 0 || mode != 0 {
        let _ = write!(bytes, ", mode={}", Octal(mode));
    }
    bytes.extend_from_slice(b", resolve=");
    OPEN_RESOLVE.push(resolve, bytes);
    bytes.push(b'}');
    Stored::Text(ByteRange::since(start, bytes))
}

/// How to make a process (`struct clone_args`): `{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD}`.
pub(super) fn clone_args(address: u64, size: u64, memory: &impl Memory, bytes: &mut Vec<u8>) -> Stored {
    const FIRST_SIZE: u64 = 64;
    if address == 0 {
        return Stored::Null;
    }
    let Some(args) = read::<{ FIRST_SIZE as usize }>(memory, address).filter(|_| size >= FIRST_SIZE) else {
        return Stored::Opaque;
    };
    let start = bytes.len();
    bytes.extend_from_slice(b"{flags=");
    symbols::CLONE.push(u64_at(&args, 0), bytes);
    bytes.extend_from_slice(b", exit_signal=");
    let signal = u64_at(&args, 32);
    match i32::try_from(signal) {
        Ok(signal @ 1..=64) => bytes.extend_from_slice(super::signals::signal_name(signal).as_bytes()),
        _ => drop(write!(bytes, "{signal}")),
    }
    let (stack, stack_size) = (u64_at(&args, 40), u64_at(&args, 48));
    let _ = match stack {
        0 => write!(bytes, ", stack=NULL, stack_size={stack_size:#x}}}"),
        _ => write!(bytes, ", stack={stack:#x}, stack_size={stack_size:#x}}}"),
    };
    Stored::Text(ByteRange::since(start, bytes))
}

/// What fcntl does with its third argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// It is a number, or of no interest.
    Number,
    /// A lock to set (`struct flock`); `large` if offsets have 64 bits in 32-bit programs.
    Set { large: bool },
    /// A lock to ask for, which the call overwrites.
    Get { large: bool },
}

impl Control {
    pub(super) fn of(command: u64) -> Self {
        match command & 0xffff_ffff {
            5 => Self::Get { large: false },
            6 | 7 => Self::Set { large: false },
            12 | 36 => Self::Get { large: true },
            13 | 14 | 37 | 38 => Self::Set { large: true },
            _ => Self::Number,
        }
    }
}

/// A lock: `{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}`; one that was asked for with its owner.
pub(super) fn lock(
    address: u64,
    large: bool,
    with_owner: bool,
    abi: Abi,
    memory: &impl Memory,
    bytes: &mut Vec<u8>,
) -> Stored {
    if address == 0 {
        return Stored::Null;
    }
    let Some(lock) = Lock::read(address, large, abi, memory) else { return Stored::Opaque };
    let start = bytes.len();
    bytes.extend_from_slice(b"{l_type=");
    push_one(LOCK_TYPES, lock.kind, bytes);
    bytes.extend_from_slice(b", l_whence=");
    push_one(WHENCE, lock.whence, bytes);
    let _ = write!(bytes, ", l_start={}, l_len={}", lock.start, lock.length);
    if with_owner {
        let _ = write!(bytes, ", l_pid={}", lock.pid);
    }
    bytes.push(b'}');
    Stored::Text(ByteRange::since(start, bytes))
}

fn push_one(names: &'static [symbols::Name], number: u16, bytes: &mut Vec<u8>) {
    match names.iter().find(|(value, _)| *value == u64::from(number)) {
        Some((_, name)) => bytes.extend_from_slice(name.as_bytes()),
        None => drop(write!(bytes, "{number:#x}")),
    }
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    kind: u16,
    whence: u16,
    start: i64,
    length: i64,
    pid: i32,
}

impl Lock {
    /// Only 32-bit x86 has narrow locks, and packs wide ones; x32 has those of 64 bits.
    fn read(address: u64, large: bool, abi: Abi, memory: &impl Memory) -> Option<Self> {
        let (bytes, places) = match (abi, large) {
            (Abi::I386, false) => return Self::narrow(&read::<16>(memory, address)?),
            (Abi::I386, true) => {
                let mut bytes = [0; 28];
                bytes[..24].copy_from_slice(&read::<24>(memory, address)?);
                (bytes, [4, 12, 20])
            }
            _ => (read::<28>(memory, address)?, [8, 16, 24]),
        };
        Some(Self {
            kind: u16_at(&bytes, 0),
            whence: u16_at(&bytes, 2),
            start: u64_at(&bytes, places[0]) as i64,
            length: u64_at(&bytes, places[1]) as i64,
            pid: u32_at(&bytes, places[2]) as i32,
        })
    }

    fn narrow(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            kind: u16_at(bytes, 0),
            whence: u16_at(bytes, 2),
            start: i64::from(u32_at(bytes, 4) as i32),
            length: i64::from(u32_at(bytes, 8) as i32),
            pid: u32_at(bytes, 12) as i32,
        })
    }
}

/// The offset that a pointer points to.
pub(super) fn offset(address: u64, layout: Layout, memory: &impl Memory) -> Stored {
    let number = match (address, layout) {
        (0, _) => return Stored::Null,
        (_, Layout::Wide) => read::<8>(memory, address).map(|bytes| u64_at(&bytes, 0) as i64),
        (_, Layout::Narrow) => read::<4>(memory, address).map(|bytes| i64::from(u32_at(&bytes, 0) as i32)),
    };
    number.map_or(Stored::Opaque, Stored::Int)
}

/// Two descriptors that the call stored.
pub(super) fn pair(address: u64, memory: &impl Memory) -> Stored {
    let pair = read::<8>(memory, address);
    pair.map_or(Stored::Opaque, |pair| Stored::FdPair([u32_at(&pair, 0) as i32, u32_at(&pair, 4) as i32]))
}
