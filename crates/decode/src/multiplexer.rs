//! Calls of 32-bit x86 that stand for others: `socketcall`, `ipc`, and those with their arguments in memory.

use super::entry::MAX_ARGUMENTS;
use super::layout::u32_at;
use super::plan::{Multiplexer, Plan};
use crate::{Abi, Memory};
use iotrail_model::calls;
use std::sync::LazyLock;

/// A call with its arguments found.
pub(super) struct Call {
    pub(super) plan: &'static Plan,
    pub(super) values: [u64; MAX_ARGUMENTS],
    /// Whether the arguments were found; if not, nothing is to be made of them.
    pub(super) decoded: bool,
}

/// The call that a call of `plan` with these registers stands for.
#[cold]
pub(super) fn resolve(plan: &'static Plan, registers: [u64; MAX_ARGUMENTS], memory: &impl Memory) -> Call {
    let as_is = |decoded| Call { plan, values: registers, decoded };
    match plan.multiplexer {
        Multiplexer::None => as_is(true),
        Multiplexer::Select => as_is(false),
        Multiplexer::Mmap => in_memory(plan, registers[0], memory),
        Multiplexer::Socket => match named(&SOCKET_CALLS, registers[0]) {
            Some(plan) => in_memory(plan, registers[1], memory),
            None => as_is(false),
        },
        Multiplexer::Ipc => match named(&IPC_CALLS, registers[0] & 0xffff) {
            Some(plan) => Call { plan, values: registers, decoded: false },
            None => as_is(false),
        },
    }
}

/// A call with its arguments at `address`.
fn in_memory(plan: &'static Plan, address: u64, memory: &impl Memory) -> Call {
    match words(address, plan.len, memory) {
        Some(values) => Call { plan, values, decoded: true },
        None => Call { plan, values: [0; MAX_ARGUMENTS], decoded: false },
    }
}

/// `count` words of 32 bits.
fn words(address: u64, count: u8, memory: &impl Memory) -> Option<[u64; MAX_ARGUMENTS]> {
    let mut bytes = [0; 4 * MAX_ARGUMENTS];
    let bytes = &mut bytes[..4 * usize::from(count)];
    if memory.read(address, bytes) < bytes.len() {
        return None;
    }
    Some(std::array::from_fn(|place| u64::from(u32_at(bytes, 4 * place))))
}

/// How to decode all calls that others stand for.
pub(super) fn stood_for() -> impl Iterator<Item = &'static Plan> {
    SOCKET_CALLS.iter().chain(IPC_CALLS.iter()).flatten()
}

fn named(plans: &'static [Option<Plan>], number: u64) -> Option<&'static Plan> {
    plans.get(usize::try_from(number).ok()?)?.as_ref()
}

static SOCKET_CALLS: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| {
    plans(&[
        "",
        "socket",
        "bind",
        "connect",
        "listen",
        "accept",
        "getsockname",
        "getpeername",
        "socketpair",
        "send",
        "recv",
        "sendto",
        "recvfrom",
        "shutdown",
        "setsockopt",
        "getsockopt",
        "sendmsg",
        "recvmsg",
        "accept4",
        "recvmmsg",
        "sendmmsg",
    ])
});

static IPC_CALLS: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| {
    let names = [
        "",
        "semop",
        "semget",
        "semctl",
        "semtimedop",
        "",
        "",
        "",
        "",
        "",
        "",
        "msgsnd",
        "msgrcv",
        "msgget",
        "msgctl",
        "",
        "",
        "",
        "",
        "",
        "",
        "shmat",
        "shmdt",
        "shmget",
        "shmctl",
    ];
    plans(&names).into_iter().map(|plan| plan.map(Plan::opaque)).collect()
});

fn plans(names: &[&str]) -> Vec<Option<Plan>> {
    names.iter().map(|name| calls::id(name).map(|call| Plan::new(Abi::I386, call))).collect()
}
