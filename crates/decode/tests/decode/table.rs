//! What is decoded fits what the call table says.

use crate::support::{World, enter};
use iotrail_decode::{Abi, Memory, Registers, Returned};
use iotrail_decode::{Decoder, call_of};
use iotrail_model::calls::{ArgKind, TABLE, spec};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::Arg;
use iotrail_model::{Tid, Timestamp};

/// Memory that holds the same everywhere: small numbers, which are strings, too.
struct Plain;

impl Memory for Plain {
    fn read(&self, _: u64, buffer: &mut [u8]) -> usize {
        buffer.iter_mut().enumerate().for_each(|(index, byte)| *byte = if index % 8 == 0 { 16 } else { 0 });
        buffer.len()
    }
}

fn fits(kind: ArgKind, arg: &Arg<'_>) -> bool {
    match kind {
        ArgKind::Fd | ArgKind::Fd2 => matches!(arg, Arg::Fd(..)),
        ArgKind::DirFd => matches!(arg, Arg::Fd(..) | Arg::Cwd(_)),
        ArgKind::Path | ArgKind::PathOut | ArgKind::LinkTarget | ArgKind::Name => {
            matches!(arg, Arg::Path { complete: true, .. })
        }
        ArgKind::FdPair => matches!(arg, Arg::FdPair(_)),
        ArgKind::Buffer => matches!(arg, Arg::Opaque),
        ArgKind::Vector | ArgKind::Message | ArgKind::Messages => matches!(arg, Arg::Length(_)),
        ArgKind::Count | ArgKind::Offset | ArgKind::Offset2 | ArgKind::Position => matches!(arg, Arg::Int(_)),
        ArgKind::Process | ArgKind::Status | ArgKind::Extent => matches!(arg, Arg::Int(_)),
        ArgKind::Flags => matches!(arg, Arg::Symbols(_) | Arg::Int(_)),
        ArgKind::Strings => matches!(arg, Arg::Strings { .. }),
        ArgKind::Struct | ArgKind::SocketName => matches!(arg, Arg::Text(_)),
        ArgKind::Command => matches!(arg, Arg::Int(_) | Arg::Text(_)),
        ArgKind::Address | ArgKind::Word => matches!(arg, Arg::Int(_)),
        ArgKind::Other => matches!(arg, Arg::Int(_) | Arg::Text(_)),
    }
}

#[test]
fn arguments_fit_their_kinds_on_every_architecture() {
    let mut seen = vec![false; TABLE.len()];
    for abi in [Abi::X86_64, Abi::Aarch64, Abi::X32] {
        let bit = if abi == Abi::X32 { 0x4000_0000 } else { 0 };
        for number in (0..1024).map(|number| number | bit) {
            let Some(call) = call_of(abi, number) else { continue };
            seen[call.index()] = true;
            let spec = spec(call).unwrap();
            let registers = Registers { abi, number, args: [88; 6] };
            let mut entry = Decoder::new().entry(&registers, &Plain);
            entry.exit(Returned::Value(1), &Plain);
            assert!(!entry.undecoded() || spec.name.starts_with("recv"), "{}", spec.name);
            let mut names = Dictionaries::default();
            let view = entry.view(&mut names);
            let raw = view.returned(Tid(1), Timestamp::default(), None);
            assert_eq!(raw.call, call);
            assert_eq!(raw.args.len(), spec.args.len(), "{}", spec.name);
            for (kind, arg) in spec.args.iter().zip(raw.args) {
                assert!(fits(*kind, arg), "{abi:?} {}: {kind:?} {arg:?}", spec.name);
            }
        }
    }
    assert!(seen.iter().filter(|seen| **seen).count() > 380);
}

#[test]
fn names_outlive_a_change_of_dictionaries() {
    let registers = Registers { abi: Abi::X86_64, number: 999, args: [0; 6] };
    let entry = Decoder::new().entry(&registers, &World::default());
    let (mut first, mut second) = (Dictionaries::default(), Dictionaries::default());
    first.calls.intern(b"something_else");
    let call = entry.view(&mut first).entered(Tid(1), Timestamp::default()).call;
    assert_eq!(first.calls.get(call.0), b"syscall_0x3e7");
    let call = entry.view(&mut second).entered(Tid(1), Timestamp::default()).call;
    assert_eq!(second.calls.get(call.0), b"syscall_0x3e7");
    let read = enter(Abi::X86_64, "read", &[0], &World::default());
    assert_eq!(first.calls.get(read.call().unwrap().0), b"read");
}
