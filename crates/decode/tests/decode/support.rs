//! A tracee without a process: registers, and memory with structures planted in it.

use bstr::ByteSlice;
use iotrail_decode::{Abi, Memory, Registers, Returned};
use iotrail_decode::{Decoder, Entry, call_of};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::{Arg, Return};
use iotrail_model::{Tid, Timestamp};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Where tests plant what has no address of its own.
pub(crate) const HERE: u64 = 0x7000_1000;
/// An address without memory.
pub(crate) const NOWHERE: u64 = 0x6666_0000;

/// Pieces of memory by their address.
#[derive(Clone, Debug, Default)]
pub(crate) struct World(BTreeMap<u64, Vec<u8>>);

impl World {
    pub(crate) fn with(address: u64, bytes: &[u8]) -> Self {
        let mut world = Self::default();
        world.plant(address, bytes);
        world
    }

    pub(crate) fn plant(&mut self, address: u64, bytes: &[u8]) -> &mut Self {
        self.0.insert(address, bytes.to_vec());
        self
    }
}

impl Memory for World {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            let Some((start, piece)) = self.0.range(..=at).next_back() else { break };
            let Some(rest) = piece.get((at - start) as usize..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let length = rest.len().min(buffer.len() - done);
            buffer[done..done + length].copy_from_slice(&rest[..length]);
            done += length;
        }
        done
    }
}

/// Little-endian words of 64 bits.
pub(crate) fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Little-endian words of 32 bits.
pub(crate) fn halves(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The number of a call.
pub(crate) fn number(abi: Abi, name: &str) -> u64 {
    let bit = if abi == Abi::X32 { 0x4000_0000 } else { 0 };
    let found = (0..1024).map(|number| number | bit).find(|number| {
        call_of(abi, *number).and_then(iotrail_model::calls::spec).is_some_and(|spec| spec.name == name)
    });
    assert!(found.is_some(), "{abi:?} has no {name}");
    found.unwrap_or_default()
}

pub(crate) fn enter(abi: Abi, name: &str, args: &[u64], world: &World) -> Entry {
    let mut registers = Registers { abi, number: number(abi, name), args: [0; 6] };
    registers.args[..args.len()].copy_from_slice(args);
    Decoder::new().entry(&registers, world)
}

/// The call as text at its entry.
pub(crate) fn entered(abi: Abi, name: &str, args: &[u64], world: &World) -> String {
    show(&enter(abi, name, args, world))
}

/// The call as text when it has returned.
pub(crate) fn returned(abi: Abi, name: &str, args: &[u64], value: i64, world: &World) -> String {
    let mut entry = enter(abi, name, args, world);
    entry.exit(Returned::Value(value), world);
    show(&entry)
}

/// A native call as text at its entry.
pub(crate) fn native(name: &str, args: &[u64], world: &World) -> String {
    entered(Abi::X86_64, name, args, world)
}

pub(crate) fn show(entry: &Entry) -> String {
    NAMES.with_borrow_mut(|names| show_with(entry, names))
}

thread_local! {
    static NAMES: RefCell<Dictionaries> = RefCell::default();
}

fn show_with(entry: &Entry, names: &mut Dictionaries) -> String {
    let view = entry.view(names);
    let call = view.returned(Tid(1), Timestamp::default(), None);
    let args: Vec<_> = call.args.iter().map(show_arg).collect();
    let ret = match call.ret {
        Return::Unseen => String::new(),
        Return::Value(value, _) => format!(" = {value}"),
        Return::Failed(error) => format!(" = {}", error.as_bstr()),
        Return::Injected(..) => unreachable!("a recorder sees what calls return"),
    };
    let mark = if entry.undecoded() { " (undecoded)" } else { "" };
    format!("{}({}){ret}{mark}", names.calls.get(call.call.0).as_bstr(), args.join(", "))
}

fn show_arg(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Opaque => "?".into(),
        Arg::Null => "NULL".into(),
        Arg::Int(number) => number.to_string(),
        Arg::Fd(fd, _) => format!("fd {fd}"),
        Arg::Cwd(_) => "cwd".into(),
        Arg::Path { bytes, complete: true } => format!("{:?}", bytes.as_bstr()),
        Arg::Path { bytes, complete: false } => format!("{:?}... of {}", bytes[..4].as_bstr(), bytes.len()),
        Arg::Located(path) => format!("{:?} located", path.as_bstr()),
        Arg::Symbols(text) | Arg::Text(text) => text.as_bstr().to_string(),
        Arg::FdPair([(one, _), (other, _)]) => format!("[{one}, {other}]"),
        Arg::Length(bytes) => format!("{bytes} B"),
        Arg::Strings { bytes: strings, .. } => {
            format!("{:?}", strings.split_str("\0").map(BStrDebug).collect::<Vec<_>>())
        }
    }
}

struct BStrDebug<'a>(&'a [u8]);

impl std::fmt::Debug for BStrDebug<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_bstr().fmt(f)
    }
}
