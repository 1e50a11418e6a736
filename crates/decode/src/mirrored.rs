//! Flags and structures that are no arguments of calls: those of requests that mirror calls.

use super::stored::Stored;
use super::{address, structures, symbols};
use crate::{Abi, Memory};
use iotrail_model::raw::Arg;

/// The symbols for a number that stands where argument `place` of the call `name` would; `None` if it has none.
pub(crate) fn flag_text(name: &str, index: usize, value: u64) -> Option<Vec<u8>> {
    let mut registers = [0; 6];
    *registers.get_mut(index)? = value;
    let mut bytes = Vec::new();
    let stored = symbols::notation(name, index).write(&registers, index, Abi::X86_64, &mut bytes);
    match stored.view(&bytes) {
        Arg::Symbols(text) => Some(text.to_vec()),
        _ => None,
    }
}

/// How to open, as text (`struct open_how`).
pub(crate) fn open_how_text(address: u64, size: u64, memory: &impl Memory) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match structures::open_how(address, size, Abi::X86_64, memory, &mut bytes) {
        Stored::Text(_) => Some(bytes),
        _ => None,
    }
}

/// A socket address, as text.
pub(crate) fn socket_name_text(at: u64, length: u64, memory: &impl Memory) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match address::socket(at, length, memory, &mut bytes) {
        Stored::Text(_) => Some(bytes),
        _ => None,
    }
}
