//! Reads paths and argument vectors.

use super::layout::Layout;
use super::stored::{ByteRange, Stored};
use crate::Memory;
use std::cell::{Cell, RefCell};

/// The longest path that the kernel takes, with its NUL.
const PATH_MAX: usize = 4096;
/// The longest argument vector that is kept; the rest is cut and said to be.
const MAX_STRINGS: usize = 128 * 1024;
/// Strings looked at in an argument vector.
const MAX_COUNT: usize = 16 * 1024;
/// Pages looked at for the strings of an argument vector, which lie side by side in most programs.
const MAX_PAGES: usize = 2048;
/// Bytes asked for at once; never beyond a page, because the next one may be missing.
const CHUNK: usize = 512;
const PAGE: u64 = 4096;

/// The path at `address`.
pub(super) fn path(address: u64, memory: &impl Memory, bytes: &mut Vec<u8>) -> Stored {
    if address == 0 {
        return Stored::Null;
    }
    let start = bytes.len();
    match push_string(address, PATH_MAX, memory, bytes) {
        End::Nul => Stored::Path { place: ByteRange::since(start, bytes), complete: true },
        End::Limit => Stored::Path { place: ByteRange::since(start, bytes), complete: false },
        End::Fault => {
            bytes.truncate(start);
            Stored::Opaque
        }
    }
}

/// A path of a known length that a call stored.
pub(super) fn stored_path(address: u64, length: usize, memory: &impl Memory, bytes: &mut Vec<u8>) -> Stored {
    let (start, length) = (bytes.len(), length.min(PATH_MAX));
    match push_string(address, length.max(1), memory, bytes) {
        End::Nul | End::Limit => Stored::Path { place: ByteRange::since(start, bytes), complete: true },
        End::Fault => {
            bytes.truncate(start);
            Stored::Opaque
        }
    }
}

/// Why reading a string ended.
enum End {
    /// At its NUL.
    Nul,
    /// At the limit.
    Limit,
    /// At an address that cannot be read.
    Fault,
}

/// Appends the string at `address`, without its NUL; at most `limit` bytes are looked at.
fn push_string(address: u64, limit: usize, memory: &impl Memory, bytes: &mut Vec<u8>) -> End {
    let mut chunk = [0; CHUNK];
    let (mut address, mut left) = (address, limit);
    while left > 0 {
        let in_page = (PAGE - address % PAGE) as usize;
        let part = &mut chunk[..CHUNK.min(in_page).min(left)];
        let read = memory.read(address, part).min(part.len());
        let part = &part[..read];
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            bytes.extend_from_slice(&part[..end]);
            return End::Nul;
        }
        if read == 0 {
            return End::Fault;
        }
        bytes.extend_from_slice(part);
        left -= read;
        address = address.wrapping_add(read as u64);
    }
    End::Limit
}

/// The strings of an argument vector, separated by NUL; `...` stands for what was cut.
pub(super) fn vector(address: u64, layout: Layout, memory: &impl Memory, bytes: &mut Vec<u8>) -> Stored {
    if address == 0 {
        return Stored::Null;
    }
    let start = bytes.len();
    let complete = push_vector(address, layout, memory, bytes, start);
    if complete.is_none() {
        if bytes.len() == start {
            return Stored::Opaque;
        }
        bytes.extend_from_slice(b"...");
    } else if bytes.len() > start {
        bytes.pop();
    }
    Stored::Strings { place: ByteRange::since(start, bytes), complete: complete.is_some() }
}

/// Memory of which what was read last is kept: the strings of a vector lie side by side.
struct Window<'a, M> {
    memory: &'a M,
    /// Where the bytes are from, and how many were read.
    at: Cell<(u64, usize)>,
    bytes: RefCell<[u8; PAGE as usize]>,
    /// How many pages may still be read.
    left: Cell<usize>,
}

impl<'a, M: Memory> Window<'a, M> {
    fn new(memory: &'a M) -> Self {
        let (at, bytes, left) = (Cell::new((0, 0)), RefCell::new([0; PAGE as usize]), Cell::new(MAX_PAGES));
        Self { memory, at, bytes, left }
    }
}

impl<M: Memory> Memory for Window<'_, M> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut bytes = self.bytes.borrow_mut();
        let (mut start, mut read) = self.at.get();
        if !(start..start.saturating_add(read as u64)).contains(&address) {
            let Some(left) = self.left.get().checked_sub(1) else { return 0 };
            self.left.set(left);
            let in_page = (PAGE - address % PAGE) as usize;
            (start, read) = (address, self.memory.read(address, &mut bytes[..in_page]).min(in_page));
            self.at.set((start, read));
        }
        let known = &bytes[(address - start) as usize..read];
        let length = known.len().min(buffer.len());
        buffer[..length].copy_from_slice(&known[..length]);
        length
    }
}

/// Appends strings with a NUL behind each; `None` if not all could be read.
fn push_vector(
    address: u64,
    layout: Layout,
    memory: &impl Memory,
    bytes: &mut Vec<u8>,
    start: usize,
) -> Option<()> {
    const POINTERS: usize = 32;
    let (word, strings) = (layout.word(), Window::new(memory));
    let (mut chunk, mut address) = ([0; POINTERS * 8], address);
    let mut count = 0;
    loop {
        let in_page = (PAGE - address % PAGE) as usize;
        let length = (POINTERS * word).min(in_page.max(word)) / word * word;
        let read = memory.read(address, &mut chunk[..length]).min(length) / word * word;
        if read == 0 {
            return None;
        }
        for at in (0..read).step_by(word) {
            let pointer = layout.pointer(&chunk, at);
            if pointer == 0 {
                return Some(());
            }
            count += 1;
            let left = MAX_STRINGS.checked_sub(bytes.len() - start).filter(|left| *left > 1)?;
            if count > MAX_COUNT || !matches!(push_string(pointer, left, &strings, bytes), End::Nul) {
                return None;
            }
            bytes.push(0);
        }
        address = address.wrapping_add(read as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pointers at 8, strings behind them across the end of a page, which is the last but one.
    struct Process {
        bytes: Vec<u8>,
        readings: Cell<usize>,
    }

    impl Memory for Process {
        fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
            self.readings.set(self.readings.get() + 1);
            let known = self.bytes.get(address as usize..).unwrap_or_default();
            let length = known.len().min(buffer.len());
            buffer[..length].copy_from_slice(&known[..length]);
            length
        }
    }

    fn process(strings: &[&[u8]], at: u64) -> Process {
        let mut bytes = vec![0; 2 * PAGE as usize];
        let mut offset = at;
        for (number, string) in strings.iter().enumerate() {
            bytes[8 + 8 * number..][..8].copy_from_slice(&offset.to_le_bytes());
            bytes[offset as usize..][..string.len()].copy_from_slice(string);
            offset += string.len() as u64 + 1;
        }
        Process { bytes, readings: Cell::new(0) }
    }

    #[test]
    fn a_vector_is_read_a_page_at_a_time() {
        let long = vec![b'x'; 1000];
        let strings: Vec<&[u8]> = vec![b"cc", b"", &long, b"-o", b"end"];
        for at in [100, PAGE - 3, PAGE - 500, PAGE - 1004] {
            let process = process(&strings, at);
            let mut bytes = Vec::new();
            let stored = vector(8, Layout::of(crate::Abi::X86_64), &process, &mut bytes);
            assert!(matches!(stored, Stored::Strings { complete: true, .. }));
            assert_eq!(bytes, strings.join(&0));
            assert!(process.readings.get() <= 3, "{} readings", process.readings.get());
        }
    }

    /// Each string is in a page of its own.
    struct Scattered(Cell<usize>);

    impl Memory for Scattered {
        fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
            self.0.set(self.0.get() + buffer.len());
            let in_vector = address < 1 << 20;
            for (index, byte) in buffer.iter_mut().enumerate() {
                let at = address + index as u64;
                let word = if in_vector { (1 << 20) + at / 8 * PAGE } else { 0x61 };
                *byte = word.to_le_bytes()[at as usize % 8];
            }
            buffer.len()
        }
    }

    #[test]
    fn strings_that_are_scattered_are_cut_after_many_pages() {
        let memory = Scattered(Cell::new(0));
        let mut bytes = Vec::new();
        let stored = vector(8, Layout::of(crate::Abi::X86_64), &memory, &mut bytes);
        assert!(matches!(stored, Stored::Strings { complete: false, .. }));
        assert_eq!(bytes, [b"a\0".repeat(MAX_PAGES), b"...".to_vec()].concat());
        assert!(memory.0.get() < 9 << 20, "{} bytes read", memory.0.get());
    }

    #[test]
    fn what_cannot_be_read_of_a_vector_is_said_to_be_cut() {
        let mut process = process(&[b"cc", b"-o", b"name"], 2 * PAGE - 11);
        process.bytes.pop();
        process.bytes.pop();
        let mut bytes = Vec::new();
        let stored = vector(8, Layout::of(crate::Abi::X86_64), &process, &mut bytes);
        assert!(matches!(stored, Stored::Strings { complete: false, .. }));
        assert_eq!(bytes, b"cc\0-o\0nam...");
    }
}
