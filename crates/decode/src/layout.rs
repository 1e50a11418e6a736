//! Reads numbers and structures from the memory of a tracee, in the layout of its architecture.
//!
//! All architectures with tables here are little-endian; they differ in the width of pointers and `long`.

use crate::{Abi, Memory};

/// Widths of pointers and of `long` in structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// 64 bits.
    Wide,
    /// 32 bits.
    Narrow,
}

impl Layout {
    pub(super) fn of(abi: Abi) -> Self {
        match abi {
            Abi::I386 | Abi::X32 => Self::Narrow,
            _ => Self::Wide,
        }
    }

    /// Bytes of a pointer or `long`.
    pub(super) fn word(self) -> usize {
        match self {
            Self::Wide => 8,
            Self::Narrow => 4,
        }
    }

    /// The pointer or `long` at `at`.
    pub(super) fn pointer(self, bytes: &[u8], offset: usize) -> u64 {
        match self {
            Self::Wide => u64_at(bytes, offset),
            Self::Narrow => u64::from(u32_at(bytes, offset)),
        }
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    if let Some(source) = bytes.get(at..at + N) {
        array.copy_from_slice(source);
    }
    array
}

pub(super) fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, offset))
}

pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, offset))
}

pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, offset))
}

/// All of `N` bytes, or nothing.
pub(super) fn read<const N: usize>(memory: &impl Memory, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (memory.read(address, &mut bytes) == N).then_some(bytes)
}
