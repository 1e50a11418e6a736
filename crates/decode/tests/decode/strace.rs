//! The symbols of a recording are those that strace prints, so that both give the same column `flags`.
//!
//! A program makes harmless calls (bad descriptors, NULL pointers, processes that do not exist) with every flag of every
//! flag argument. What strace prints of them is parsed and compared with what is decoded from the same registers.

use crate::support::World;
use iotrail_decode::{Abi, Registers};
use iotrail_decode::{Decoder, call_of};
use iotrail_model::calls::{ArgKind, CallSpec, spec};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::{Arg, RawItem};
use iotrail_model::{Tid, Timestamp};
use iotrail_strace::parser::{Parser, ParserSetup};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Calls that would do something, or of which strace prints something else.
const LEFT_OUT: &[&str] = &[
    "clone",
    "unshare",
    "ptrace",
    "prctl",
    "arch_prctl",
    "seccomp",
    "kexec_file_load",
    "mlockall",
    "landlock_restrict_self",
    "rt_sigaction",
    "rt_sigprocmask",
    "pause",
    "vfork",
    "close_range",
    "shmget",
    "getrandom",
];

/// The calls to make: every one with one flag argument varied.
fn calls() -> Vec<Registers> {
    let mut calls = Vec::new();
    for number in 0..1024 {
        let Some(spec) = call_of(Abi::X86_64, number).and_then(spec) else { continue };
        if LEFT_OUT.contains(&spec.name) {
            continue;
        }
        for index in (0..spec.args.len()).filter(|index| spec.args[*index] == ArgKind::Flags) {
            calls.extend(values().map(|value| harmless(spec, number, index, value)));
        }
    }
    calls
}

/// Small numbers, single bits, and some of them together.
fn values() -> impl Iterator<Item = u64> {
    let mixed = [0x41_0002, 0x10_1002, 0x8_0802, 0x1_8022, 0x1100, 0xe000_0004];
    let (bits, pairs) = (4..32, (5..32).step_by(2));
    (0..10).chain(bits.map(|bit| 1 << bit)).chain(pairs.map(|bit| 9 << bit & 0xffff_ffff)).chain(mixed)
}

/// The calls of 32-bit programs: every one with one register varied.
fn narrow_calls() -> Vec<Registers> {
    const IN_MEMORY: [&str; 4] = ["socketcall", "ipc", "mmap", "select"];
    const VALUES: [u64; 5] = [1, 2, 0x400, 0x8_0000, 0xffff_fff0];
    let mut calls = Vec::new();
    for number in 0..1024 {
        let Some(spec) = call_of(Abi::I386, number).and_then(spec) else { continue };
        if LEFT_OUT.contains(&spec.name)
            || IN_MEMORY.contains(&spec.name)
            || !spec.args.contains(&ArgKind::Flags)
        {
            continue;
        }
        let first = usize::from(spec.args[0] != ArgKind::Flags);
        for (index, value) in (first..6).flat_map(|index| VALUES.map(|value| (index, value))) {
            let mut args = harmless_arguments(spec).map(|arg| arg & 0xffff_ffff);
            args[index] = value;
            calls.push(Registers { abi: Abi::I386, number, args });
        }
    }
    calls
}

/// Arguments with which the call fails, or does nothing.
fn harmless_arguments(spec: &CallSpec) -> [u64; 6] {
    const NOBODY: u64 = 0x7ff_ffff;
    let mut args = [0; 6];
    for (arg, kind) in args.iter_mut().zip(spec.args) {
        *arg = match kind {
            ArgKind::Fd | ArgKind::Fd2 | ArgKind::DirFd => u64::MAX,
            ArgKind::Process => NOBODY,
            ArgKind::Address => 1,
            _ => 0,
        };
    }
    if matches!(spec.name, "shmat" | "shmctl") {
        args[0] = u64::MAX;
    }
    args
}

fn harmless(spec: &CallSpec, number: u64, index: usize, value: u64) -> Registers {
    let mut args = harmless_arguments(spec);
    let register = match (spec.name, index) {
        ("preadv2" | "pwritev2", 4) => 5,
        (_, index) => index,
    };
    args[register] = value;
    Registers { abi: Abi::X86_64, number, args }
}

/// The arguments that end up in columns: flags as text, offsets and lengths as numbers.
fn columns(spec: &CallSpec, args: &[Arg<'_>]) -> Vec<String> {
    let kept = [ArgKind::Flags, ArgKind::Offset, ArgKind::Offset2, ArgKind::Count, ArgKind::Extent];
    spec.args
        .iter()
        .zip(args)
        .filter(|(kind, _)| kept.contains(kind))
        .map(|(kind, arg)| match (kind, arg) {
            (_, Arg::Symbols(text) | Arg::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            (ArgKind::Flags, Arg::Int(number)) => format!("{number:#x}"),
            (_, Arg::Int(number)) => format!("n={number}"),
            (_, other) => format!("{other:?}"),
        })
        .collect()
}

fn decoded(registers: &Registers, spec: &CallSpec, names: &mut Dictionaries) -> Vec<String> {
    let entry = Decoder::new().entry(registers, &World::default());
    let view = entry.view(names);
    columns(spec, view.entered(Tid(1), Timestamp::default()).args)
}

/// Name and columns of the calls behind the mark in a trace.
fn printed(trace: &[u8]) -> Vec<(String, Vec<String>)> {
    let setup = ParserSetup { file: "trace".into(), default_tid: Some(Tid(1)), ..ParserSetup::default() };
    let (mut parser, mut names) = (Parser::new(setup), Dictionaries::default());
    let (mut begun, mut calls) = (false, Vec::new());
    parser.parse(trace, true, &mut names, &mut |item: RawItem<'_>, names: &mut Dictionaries| {
        let RawItem::Call(call) = item else { return };
        if begun {
            let name = String::from_utf8_lossy(names.calls.get(call.call.0)).into_owned();
            let columns = spec(call.call).map(|spec| columns(spec, call.args));
            calls.push((name, columns.unwrap_or_default()));
        }
        begun |= call.args.first() == Some(&Arg::Fd(-77, None));
    });
    calls
}

/// Makes the calls under strace; `None` if there is no compiler or no strace.
fn trace(calls: &[Registers], place: &Path) -> Option<Vec<u8>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/numbered_calls.c");
    let (program, output) = (place.join("calls"), place.join("trace"));
    Command::new("cc").arg("-o").arg(&program).arg(source).status().ok().filter(|status| status.success())?;
    let mut strace = Command::new("strace")
        .args(["-qq", "-e", "trace=all", "-e", "signal=none", "-o"])
        .arg(&output)
        .arg(program)
        .args((calls[0].abi == Abi::I386).then_some("i386"))
        .stdin(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = strace.stdin.take()?;
    for Registers { number, args, .. } in calls {
        let args: Vec<_> = args.iter().map(|arg| format!("{arg:x}")).collect();
        writeln!(input, "{number:x} {}", args.join(" ")).ok()?;
    }
    drop(input);
    strace.wait().ok().filter(|status| status.success())?;
    std::fs::read(output).ok()
}

/// Whether the texts cannot be compared: a number among symbols means that one side knows a name that the other, older
/// or newer, does not; where there is no memory, strace shows the pointer.
fn is_vague(text: &str) -> bool {
    let is_number = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
    text.split('|').any(is_number) || text.starts_with("_IOC(") || text == "Opaque"
}

/// Compares what is decoded with what strace prints; returns how many texts were compared, `None` if there is no compiler
/// or no strace that may trace.
fn compare(calls: &[Registers]) -> Option<u64> {
    let trace = trace(calls, tempfile::tempdir().ok()?.path())?;
    let printed = printed(&trace);
    assert!(printed.len() >= calls.len(), "{} of {} calls in the trace", printed.len(), calls.len());
    let (mut names, mut wrong) = (Dictionaries::default(), Vec::new());
    let mut compared = 0;
    for (registers, (name, theirs)) in calls.iter().zip(&printed) {
        let spec = call_of(registers.abi, registers.number).and_then(spec)?;
        if name.starts_with("syscall_") {
            continue;
        }
        assert_eq!(spec.name, name, "calls in another order");
        for (ours, theirs) in decoded(registers, spec, &mut names).iter().zip(theirs) {
            let known = !is_vague(ours) && !is_vague(theirs);
            compared += u64::from(known);
            if known && ours != theirs {
                wrong.push(format!("{name} {:x?}: {ours}, strace says {theirs}", registers.args));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    Some(compared)
}

#[test]
fn flags_are_written_as_strace_writes_them() {
    match compare(&calls()) {
        Some(compared) => assert!(compared > 2000, "only {compared} texts compared"),
        None => println!("NOT TESTED: no compiler, or no strace that may trace"),
    }
}

#[test]
fn registers_of_32_bit_programs_are_read_as_strace_reads_them() {
    let calls = if cfg!(target_arch = "x86_64") { narrow_calls() } else { Vec::new() };
    match calls.first().and_then(|_| compare(&calls)) {
        Some(compared) => assert!(compared > 1000, "only {compared} texts compared"),
        None => println!("NOT TESTED: no compiler, no strace that may trace, or another processor"),
    }
}
