//! Numbers in the memory of a process.

use crate::Memory;

/// No path is longer (`PATH_MAX`).
const PATH_MAX: usize = 4096;
/// No vector has more parts (`UIO_MAXIOV`).
const MAX_PARTS: usize = 1024;

/// Fills `buffer` from `address`, or reads nothing.
pub(super) fn fill(memory: &impl Memory, address: u64, buffer: &mut [u8]) -> Option<()> {
    (memory.read(address, buffer) == buffer.len()).then_some(())
}

pub(super) fn bytes<const N: usize>(memory: &impl Memory, address: u64) -> Option<[u8; N]> {
    let mut buffer = [0; N];
    fill(memory, address, &mut buffer)?;
    Some(buffer)
}

pub(super) fn unsigned(memory: &impl Memory, address: u64) -> Option<u32> {
    bytes(memory, address).map(u32::from_le_bytes)
}

/// `number` numbers of four bytes each.
pub(super) fn ints(memory: &impl Memory, address: u64, number: usize) -> Option<Vec<i32>> {
    let mut buffer = vec![0; number * 4];
    fill(memory, address, &mut buffer)?;
    Some(buffer.chunks_exact(4).map(|bytes| u32_at(bytes, 0) as i32).collect())
}

/// A string that ends with NUL, and whether that was found.
pub(super) fn path(memory: &impl Memory, address: u64) -> Option<(Vec<u8>, bool)> {
    let mut path = Vec::new();
    let mut piece = [0; 256];
    while path.len() < PATH_MAX {
        // A read stops where a page is not there, which may be behind the end of the string.
        let read = memory.read(address.checked_add(path.len() as u64)?, &mut piece);
        let found = piece.get(..read)?;
        if let Some(end) = found.iter().position(|byte| *byte == 0) {
            path.extend_from_slice(&found[..end]);
            return Some((path, true));
        }
        path.extend_from_slice(found);
        if read == 0 {
            break;
        }
    }
    (!path.is_empty()).then_some((path, false))
}

/// The sum of the lengths of a vector of buffers (`struct iovec`).
pub(super) fn vector(memory: &impl Memory, address: u64, parts: u64, width: usize) -> Option<u64> {
    let parts = usize::try_from(parts).ok().filter(|parts| *parts <= MAX_PARTS)?;
    let mut buffer = vec![0; parts * 2 * width];
    fill(memory, address, &mut buffer)?;
    let length = |part: &[u8]| long_at(part, width, width);
    Some(buffer.chunks_exact(2 * width).map(length).fold(0, u64::saturating_add))
}

/// The sum of the lengths of the vector of a message header (`struct msghdr`).
pub(super) fn message(memory: &impl Memory, address: u64, width: usize) -> Option<u64> {
    let mut header = vec![0; 4 * width];
    fill(memory, address, &mut header)?;
    let (base, parts) = (long_at(&header, 2 * width, width), long_at(&header, 3 * width, width));
    vector(memory, base, parts, width)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// A number of `width` bytes.
pub(super) fn long_at(bytes: &[u8], offset: usize, width: usize) -> u64 {
    if width == 4 { u64::from(u32_at(bytes, offset)) } else { u64_at(bytes, offset) }
}
