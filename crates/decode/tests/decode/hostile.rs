//! Whatever registers and memory hold, decoding ends, within bounds.

use crate::support::{World, show};
use iotrail_decode::Decoder;
use iotrail_decode::{Abi, Memory, Registers, Returned};
use proptest::prelude::*;
use std::cell::Cell;

/// No call looks at more memory than this at its entry and exit: an argument vector and a path.
const MOST_BYTES: usize = 16 << 20;

/// Memory made of a few words that are repeated; it counts what is read.
struct Repeating {
    words: Vec<u64>,
    readable: u64,
    bytes: Cell<usize>,
}

impl Memory for Repeating {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        if address % 7 == self.readable {
            return 0;
        }
        let length = if address % 5 == self.readable { buffer.len() / 2 } else { buffer.len() };
        for (index, byte) in buffer[..length].iter_mut().enumerate() {
            let at = address.wrapping_add(index as u64);
            let word = self.words[(at / 8) as usize % self.words.len()];
            *byte = word.to_le_bytes()[at as usize % 8];
        }
        self.bytes.set(self.bytes.get() + length);
        length
    }
}

fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(8),
        Just(16),
        Just(24),
        Just(64),
        Just(u64::MAX),
        Just(u64::from(u32::MAX)),
        0..2000_u64,
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        Just(0x6161_6161_6161_6161),
        Just(0x0001_0000_0001_0014),
        Just(0x7000_1000),
    ]
}

fn abi() -> impl Strategy<Value = Abi> {
    prop_oneof![
        Just(Abi::X86_64),
        Just(Abi::I386),
        Just(Abi::X32),
        Just(Abi::Aarch64),
        any::<u32>().prop_map(Abi::Unknown)
    ]
}

proptest! {
    #[test]
    fn any_call_with_any_memory_is_decoded_within_bounds(
        abi in abi(),
        number in prop_oneof![0..600_u64, any::<u64>()],
        args in prop::array::uniform6(word()),
        words in prop::collection::vec(word(), 1..9),
        readable in 0..9_u64,
        value in prop_oneof![0..100_i64, any::<i64>()],
    ) {
        let number = if abi == Abi::X32 { number | 0x4000_0000 } else { number };
        let memory = Repeating { words, readable, bytes: Cell::new(0) };
        let mut decoder = Decoder::new();
        let mut entry = decoder.entry(&Registers { abi, number, args }, &memory);
        let before = show(&entry);
        entry.exit(Returned::Value(value), &memory);
        let after = show(&entry);
        prop_assert!(before.len() + after.len() < 4 << 20);
        prop_assert!(entry.effects().received.len() <= 1024 * 1024);
        prop_assert!(memory.bytes.get() < MOST_BYTES, "{} bytes read", memory.bytes.get());
        decoder.recycle(entry);
    }
}

#[test]
fn every_number_of_every_architecture_is_decoded_with_extreme_registers() {
    let mut decoder = Decoder::new();
    for abi in [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64] {
        let bit = if abi == Abi::X32 { 0x4000_0000 } else { 0 };
        for number in (0..=1024).chain([u64::MAX, 1 << 40]).map(|number| number | bit) {
            for value in [0, 1, u64::MAX, 1 << 63, 0x7fff_ffff_f000] {
                let mut entry =
                    decoder.entry(&Registers { abi, number, args: [value; 6] }, &World::default());
                for returned in [Returned::Value(-1), Returned::Value(i64::MAX), Returned::Error(i32::MIN)] {
                    entry.exit(returned, &World::default());
                }
                assert!(show(&entry).len() < 10_000);
                decoder.recycle(entry);
            }
        }
    }
}
