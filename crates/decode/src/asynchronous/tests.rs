//! Rings and contexts in planted memory.

use super::{Asynchronous, Stop};
use crate::{Abi, Memory, Registers, Returned};
use iotrail_model::calls;
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{CallId, Pid, Tid, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Pages by address; what is not there cannot be read.
#[derive(Debug, Default, Clone)]
struct Planted(BTreeMap<u64, u8>);

impl Memory for Planted {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        for (index, byte) in buffer.iter_mut().enumerate() {
            match address.checked_add(index as u64).and_then(|address| self.0.get(&address)) {
                Some(planted) => *byte = *planted,
                None => return index,
            }
        }
        buffer.len()
    }
}

impl Planted {
    fn put(&mut self, address: u64, bytes: &[u8]) {
        self.0.extend((address..).zip(bytes.iter().copied()));
    }

    fn int(&mut self, address: u64, number: u32) {
        self.put(address, &number.to_le_bytes());
    }

    fn long(&mut self, address: u64, number: u64) {
        self.put(address, &number.to_le_bytes());
    }
}

const PID: Pid = Pid(7);
const PARAMS: u64 = 0x1000;
const QUEUES: u64 = 0x2000;
const ENTRIES: u64 = 0x8000;
const CONTEXT: u64 = 0x20000;
/// `IOSQE_FIXED_FILE`.
const FIXED: u8 = 1;
/// A descriptor that is open for appending.
const APPENDING: i32 = 44;

/// A program with one ring of four entries and eight completions, and what was delivered of it.
struct Program {
    memory: Planted,
    follower: Asynchronous,
    delivered: Vec<String>,
    now: i64,
    tid: Tid,
}

fn number_of(name: &str) -> u64 {
    let wanted = calls::TABLE.iter().position(|spec| spec.name == name).map(CallId::from_index);
    (0..512).find(|number| crate::call_of(Abi::X86_64, *number) == wanted).expect("a call of x86-64")
}

fn text(call: &RawCall<'_>) -> String {
    let name = calls::TABLE[call.call.index()].name;
    let ret = match call.ret {
        Return::Unseen => "?".to_owned(),
        Return::Value(value, _) => value.to_string(),
        Return::Failed(error) => String::from_utf8_lossy(error).into_owned(),
        Return::Injected(..) => unreachable!("a recorder sees what calls return"),
    };
    let arg = |arg: &Arg<'_>| match arg {
        Arg::Fd(fd, None) => format!("fd {fd}"),
        Arg::Fd(_, Some(target)) => String::from_utf8_lossy(target.name).into_owned(),
        Arg::Int(number) => number.to_string(),
        Arg::Length(bytes) => format!("{bytes} bytes"),
        Arg::Path { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        Arg::Located(path) => String::from_utf8_lossy(path).into_owned(),
        Arg::Cwd(_) => "cwd".to_owned(),
        _ => "_".to_owned(),
    };
    let args: Vec<String> = call.args.iter().map(arg).collect();
    let dur = call.dur.map_or("?".to_owned(), |dur| dur.0.to_string());
    format!("{}: {name}({}) = {ret} <{}+{dur}>", call.tid, args.join(", "), call.start.0)
}

impl Program {
    fn new() -> Self {
        Self {
            memory: Planted::default(),
            follower: Asynchronous::new(),
            delivered: Vec::new(),
            now: 0,
            tid: Tid(7),
        }
    }

    fn stop(&mut self, name: &str, args: [u64; 6], returned: Option<Returned>) {
        self.now += 10;
        let (pid, tid, at) = (PID, self.tid, Timestamp(self.now));
        let look = |fd: i32| {
            let name = format!("/file{fd}").into_bytes();
            (fd < 100).then_some(super::HeldFile { name, appends: fd == APPENDING })
        };
        let place = |asked: &super::Asked<'_>| {
            asked.path.starts_with(b"relative").then(|| [b"/resolved/", asked.path].concat())
        };
        let stop = Stop { pid, tid, at, memory: &self.memory, look: &look, place: &place };
        let registers = Registers { abi: Abi::X86_64, number: number_of(name), args };
        let delivered = &mut self.delivered;
        let deliver = &mut |call: &RawCall<'_>| delivered.push(text(call));
        match returned {
            None => self.follower.entered(&stop, &registers, deliver),
            Some(returned) => self.follower.returned(&stop, &registers, returned, deliver),
        }
    }

    fn call(&mut self, name: &str, args: [u64; 6], value: i64) {
        self.stop(name, args, None);
        self.stop(name, args, Some(Returned::Value(value)));
    }

    fn with_ring(flags: u32) -> Self {
        let mut program = Self::new();
        program.memory.put(PARAMS, &[0; 120]);
        for (place, number) in
            [(0, 4), (4, 8), (8, flags), (20, 1), (44, 4), (64, 64), (80, 8), (84, 12), (100, 128)]
        {
            program.memory.int(PARAMS + place, number);
        }
        program.memory.put(QUEUES, &[0; 1024]);
        program.memory.put(ENTRIES, &[0; 512]);
        program.call("io_uring_setup", [4, PARAMS, 0, 0, 0, 0], 5);
        program.call("mmap", [0, 1024, 3, 1, 5, 0], QUEUES as i64);
        program.call("mmap", [0, 1024, 3, 1, 5, 0x1000_0000], ENTRIES as i64);
        program
    }

    /// Adds an entry: operation, descriptor, offset, length, key, flags.
    fn add(&mut self, code: u8, fd: i32, offset: u64, length: u32, key: u64, flags: u8) {
        let mut tail = [0; 4];
        self.memory.read(QUEUES + 4, &mut tail);
        let tail = u32::from_le_bytes(tail);
        let slot = u64::from(tail % 4);
        let entry = ENTRIES + (3 - slot) * 64;
        self.memory.int(QUEUES + 64 + slot * 4, 3 - slot as u32);
        self.memory.put(entry, &[code, flags]);
        self.memory.int(entry + 4, fd as u32);
        self.memory.long(entry + 8, offset);
        self.memory.int(entry + 24, length);
        self.memory.long(entry + 32, key);
        self.memory.int(QUEUES + 4, tail.wrapping_add(1));
    }

    /// The kernel has fetched all entries up to here.
    fn fetched(&mut self, head: u32) {
        self.memory.int(QUEUES, head);
    }

    /// The kernel has completed another one.
    fn completes(&mut self, key: u64, result: i32, flags: u32) {
        let mut tail = [0; 4];
        self.memory.read(QUEUES + 12, &mut tail);
        let tail = u32::from_le_bytes(tail);
        let place = QUEUES + 128 + u64::from(tail % 8) * 16;
        self.memory.long(place, key);
        self.memory.int(place + 8, result as u32);
        self.memory.int(place + 12, flags);
        self.memory.int(QUEUES + 12, tail.wrapping_add(1));
    }

    fn enter(&mut self, number: u64, happens: impl FnOnce(&mut Self)) {
        let args = [5, number, 0, 1, 0, 0];
        self.stop("io_uring_enter", args, None);
        happens(self);
        self.stop("io_uring_enter", args, Some(Returned::Value(number as i64)));
    }

    fn gone(&mut self) {
        let delivered = &mut self.delivered;
        self.follower.gone(PID, &mut |call| delivered.push(text(call)));
    }

    fn context(&mut self, capacity: u32) {
        self.memory.put(CONTEXT, &[0; 32]);
        self.memory.int(CONTEXT + 4, capacity);
        self.memory.int(CONTEXT + 16, 0xa10a_10a1);
        self.memory.int(CONTEXT + 28, 32);
        self.memory.put(CONTEXT + 32, &vec![0; capacity as usize * 32]);
        self.memory.long(0x500, CONTEXT);
        self.call("io_setup", [16, 0x500, 0, 0, 0, 0], 0);
    }

    /// Plants a control block and its address in the list.
    fn block(&mut self, index: u64, operation: u8, fd: u32, length: u64, offset: u64) {
        let block = 0x3000 + index * 64;
        self.memory.put(block, &[0; 64]);
        self.memory.put(block + 16, &[operation, 0]);
        self.memory.int(block + 20, fd);
        self.memory.long(block + 32, length);
        self.memory.long(block + 40, offset);
        self.memory.long(0x600 + index * 8, block);
    }

    fn event(&mut self, slot: u32, index: u64, result: i64, capacity: u32) {
        let event = CONTEXT + 32 + u64::from(slot) * 32;
        self.memory.long(event + 8, 0x3000 + index * 64);
        self.memory.long(event + 16, result as u64);
        self.memory.int(CONTEXT + 12, (slot + 1) % capacity);
    }
}

#[test]
fn entries_become_calls_with_their_results() {
    let mut program = Program::with_ring(0);
    program.add(22, 3, 4096, 100, 77, 0);
    program.add(23, 4, u64::MAX, 50, 78, 0);
    program.enter(2, |program| {
        program.fetched(2);
        program.completes(78, -28, 0);
        program.completes(77, 60, 0);
    });
    let expected = [
        "7: io_uring_write(fd 4, _, 50, -1, _) = ENOSPC <70+10>",
        "7: io_uring_read(fd 3, _, 100, 4096, _) = 60 <70+10>",
    ];
    assert_eq!(program.delivered, expected);
    assert_eq!(program.follower.tally().operations, 2);
}

#[test]
fn only_what_the_kernel_fetched_was_submitted() {
    let mut program = Program::with_ring(0);
    program.add(22, 3, 0, 1, 1, 0);
    program.add(22, 3, 0, 2, 2, 0);
    program.enter(2, |program| program.fetched(1));
    program.gone();
    assert_eq!(program.delivered, ["7: io_uring_read(fd 3, _, 1, 0, _) = ? <70+?>"]);
    assert_eq!(program.follower.tally().unfinished, 1);
}

#[test]
fn completions_taken_without_a_call_are_found_later() {
    let mut program = Program::with_ring(0);
    program.add(3, 3, 0, 0, 9, 0);
    program.enter(1, |program| program.fetched(1));
    program.completes(9, 0, 0);
    program.memory.int(QUEUES + 8, 1);
    program.stop("munmap", [QUEUES, 1024, 0, 0, 0, 0], None);
    assert_eq!(program.delivered, ["7: io_uring_fsync(fd 3, _) = 0 <70+20>"]);
}

#[test]
fn a_key_comes_again_and_again() {
    let mut program = Program::with_ring(0);
    for round in 0..20 {
        program.add(22, 3, round, 1, 0, 0);
        program.enter(1, |program| {
            program.fetched(round as u32 + 1);
            program.completes(0, round as i32, 0);
        });
    }
    assert_eq!(program.delivered.len(), 20);
    assert!(program.delivered[19].starts_with("7: io_uring_read(fd 3, _, 1, 19, _) = 19"));
}

#[test]
fn of_equal_keys_that_have_all_completed_lengths_may_tell_which_is_which() {
    let mut program = Program::with_ring(0);
    program.add(22, 3, 0, 10, 0, 0);
    program.add(22, 4, 0, 11, 0, 0);
    program.enter(2, |program| {
        program.fetched(2);
        program.completes(0, 11, 0);
        program.completes(0, 10, 0);
    });
    assert_eq!(
        program.delivered,
        [
            "7: io_uring_read(fd 4, _, 11, 0, _) = 11 <70+10>",
            "7: io_uring_read(fd 3, _, 10, 0, _) = 10 <70+10>"
        ]
    );
}

#[test]
fn of_equal_keys_under_way_nobody_can_say_which_has_completed() {
    let mut program = Program::with_ring(0);
    program.add(22, 3, 0, 100, 0, 0);
    program.add(22, 4, 0, 60, 0, 0);
    program.enter(2, |program| {
        program.fetched(2);
        program.completes(0, 60, 0);
    });
    program.enter(0, |program| program.completes(0, 7, 0));
    assert_eq!(
        program.delivered,
        ["7: io_uring_read(fd 3, _, 100, 0, _) = ? <70+?>", "7: io_uring_read(fd 4, _, 60, 0, _) = ? <70+?>"]
    );
    assert_eq!(program.follower.tally().unfinished, 2);
}

#[test]
fn repeated_completions_are_calls_of_their_own_and_notifications_none() {
    const MORE: u32 = 2;
    const NOTIFICATION: u32 = 8;
    let mut program = Program::with_ring(0);
    program.add(27, 3, 0, 0, 1, 0);
    program.add(47, 4, 0, 80, 2, 0);
    program.enter(2, |program| {
        program.fetched(2);
        program.completes(1, 10, MORE);
        program.completes(1, 20, MORE);
        program.completes(2, 80, MORE);
        program.completes(2, 0, NOTIFICATION);
        program.completes(1, -105, 0);
    });
    let names: Vec<_> = program.delivered.iter().map(|call| call.rsplit(" = ").next().unwrap()).collect();
    assert_eq!(names, ["10 <70+10>", "20 <80+0>", "80 <70+10>", "ENOBUFS <80+0>"]);
    program.gone();
    assert_eq!(program.delivered.len(), 4);
}

#[test]
fn a_file_that_is_opened_into_a_place_has_the_name_that_its_path_leads_to() {
    const ENTRY: u64 = ENTRIES + 3 * 64;
    let mut program = Program::with_ring(0);
    program.memory.put(0x800, b"relative\0");
    program.add(18, -100, 0, 0, 5, 0);
    program.memory.long(ENTRY + 16, 0x800);
    program.memory.int(ENTRY + 44, 1);
    program.enter(1, |program| {
        program.fetched(1);
        program.completes(5, 0, 0);
    });
    program.add(22, 0, 0, 1, 6, FIXED);
    program.enter(1, |program| {
        program.fetched(2);
        program.completes(6, 1, 0);
    });
    let read = program.delivered.last().unwrap();
    assert!(read.starts_with("7: io_uring_read(/resolved/relative, _, 1, 0, _) = 1"), "{read}");
}

#[test]
fn files_of_the_ring_have_the_names_that_they_were_registered_with() {
    let mut program = Program::with_ring(0);
    program.memory.put(0x700, &[255; 4]);
    program.memory.int(0x704, 8);
    program.call("io_uring_register", [5, 2, 0x700, 2, 0, 0], 0);
    for index in 0..2 {
        program.add(22, index, 0, 1, 50 + index as u64, FIXED);
    }
    // FILES_UPDATE puts descriptor 9 into place 0.
    program.memory.int(0x708, 9);
    program.add(20, -1, 0, 1, 6, 0);
    program.memory.long(ENTRIES + 64 + 16, 0x708);
    program.enter(3, |program| {
        program.fetched(3);
        program.completes(50, -9, 0);
        program.completes(51, 1, 0);
        program.completes(6, 1, 0);
    });
    program.add(22, 0, 0, 1, 5, FIXED);
    program.enter(1, |program| {
        program.fetched(4);
        program.completes(5, 1, 0);
    });
    let calls: Vec<_> = program.delivered.iter().map(|call| call.split(" <").next().unwrap()).collect();
    let expected = [
        "7: io_uring_read(_, _, 1, 0, _) = EBADF",
        "7: io_uring_read(/file8, _, 1, 0, _) = 1",
        "7: io_uring_read(/file9, _, 1, 0, _) = 1",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn what_is_not_about_files_and_what_cannot_be_seen_is_counted() {
    let mut program = Program::with_ring(0);
    program.add(0, -1, 0, 0, 1, 0);
    program.add(11, -1, 0, 0, 1, 0);
    program.enter(2, |program| program.fetched(2));
    let tally = program.follower.tally();
    assert_eq!(tally.other_entries.keys().collect::<Vec<_>>(), ["nop", "timeout"]);
    program.call("io_uring_enter", [66, 3, 0, 0, 0, 0], 3);
    assert_eq!(program.follower.tally().unread_entries, 3);
    const POLLED: u32 = 2;
    assert_eq!(Program::with_ring(POLLED).follower.tally().polled_rings, 1);
}

#[test]
fn a_child_submits_to_the_ring_that_it_inherited() {
    let mut program = Program::with_ring(0);
    let close = crate::call_of(Abi::X86_64, number_of("close")).expect("a row");
    assert!(program.follower.concerns(PID, close) && !program.follower.concerns(Pid(8), close));
    program.follower.forked(PID, Pid(8));
    assert!(program.follower.concerns(Pid(8), close));
    program.gone();
    program.follower.forked(Pid(8), PID);
    program.add(22, 3, 0, 1, 1, 0);
    program.enter(1, |program| {
        program.fetched(1);
        program.completes(1, 1, 0);
    });
    assert_eq!(program.delivered.len(), 1);
}

#[test]
fn control_blocks_become_calls_with_their_results() {
    let mut program = Program::new();
    program.context(4);
    program.block(0, 0, 3, 4096, 100);
    program.block(1, 1, 4, 10, 200);
    program.block(2, 2, 4, 0, 0);
    let args = [CONTEXT, 3, 0x600, 0, 0, 0];
    program.stop("io_submit", args, None);
    program.event(0, 1, -5, 4);
    program.stop("io_submit", args, Some(Returned::Value(2)));
    program.event(1, 0, 96, 4);
    program.call("io_getevents", [CONTEXT, 1, 4, 0, 0, 0], 1);
    let expected = [
        "7: aio_pwrite(fd 4, _, 10, 200, _) = EIO <30+10>",
        "7: aio_pread(fd 3, _, 4096, 100, _) = 96 <30+20>",
    ];
    assert_eq!(program.delivered, expected);
}

#[test]
fn where_the_ring_of_events_cannot_be_read_the_call_tells() {
    let mut program = Program::new();
    program.context(4);
    program.memory.int(CONTEXT + 16, 0);
    program.block(0, 0, 3, 4096, 100);
    program.call("io_submit", [CONTEXT, 1, 0x600, 0, 0, 0], 1);
    program.memory.put(0x900, &[0; 32]);
    program.memory.long(0x908, 0x3000);
    program.memory.long(0x910, 4096);
    program.call("io_getevents", [CONTEXT, 1, 4, 0x900, 0, 0], 1);
    assert_eq!(program.delivered, ["7: aio_pread(fd 3, _, 4096, 100, _) = 4096 <30+30>"]);
}

#[test]
fn a_write_to_a_held_file_that_is_open_for_appending_has_no_offset() {
    let mut program = Program::with_ring(0);
    for (index, fd) in [APPENDING, 9].into_iter().enumerate() {
        program.memory.int(0x700 + 4 * index as u64, fd as u32);
    }
    program.call("io_uring_register", [5, 2, 0x700, 2, 0, 0], 0);
    // Of the file in place 2 nothing is known.
    for index in 0..3 {
        program.add(23, index, 7, 1, index as u64, FIXED);
    }
    program.enter(3, |program| {
        program.fetched(3);
        (0..3).for_each(|key| program.completes(key, 1, 0));
    });
    let of = |index: usize| program.delivered[index].split(" = ").next().unwrap_or_default();
    assert_eq!(of(0), "7: io_uring_write(/file44, _, 1, _, _)");
    assert_eq!(of(1), "7: io_uring_write(/file9, _, 1, 7, _)");
    assert_eq!(of(2), "7: io_uring_write(_, _, 1, _, _)");
}

proptest! {
    /// Nothing that a program can do to the memory of its rings ends or stops the recorder.
    #[test]
    fn hostile_rings_are_survived(
        words in proptest::collection::vec(prop_oneof![Just(0_u32), 0..16_u32, any::<u32>()], 64),
        bytes in proptest::collection::vec(any::<u8>(), 256),
        ring_addresses in proptest::collection::vec(0..3_usize, 8),
        arguments in proptest::array::uniform6(prop_oneof![0..64_u64, Just(CONTEXT), Just(0x600), any::<u64>()]),
        sane in any::<bool>(),
    ) {
        let mut program = Program::with_ring(0);
        program.context(4);
        if !sane {
            for (index, word) in words.iter().take(30).enumerate() {
                program.memory.int(PARAMS + index as u64 * 4, *word);
            }
            program.call("io_uring_setup", [4, PARAMS, 0, 0, 0, 0], 5);
        }
        for (index, word) in words.iter().enumerate() {
            program.memory.int([QUEUES, CONTEXT, 0x600][ring_addresses[index % 8]] + index as u64 * 4, *word);
        }
        program.memory.put(ENTRIES, &bytes);
        program.memory.put(QUEUES + 128, &bytes);
        for name in ["io_uring_enter", "io_uring_register", "io_submit", "io_getevents", "mmap", "close", "dup2", "munmap", "io_destroy"] {
            let mut args = arguments;
            if name.starts_with("io_uring") {
                args[0] = 5;
            }
            program.call(name, args, arguments[1] as i64);
            program.call(name, [5, 4, 0, 0, 0, 0], words[0] as i64);
        }
        program.gone();
        prop_assert!(program.delivered.len() < 100_000);
    }
}
