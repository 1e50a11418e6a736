//! Control blocks of Linux AIO (`struct iocb`) and the `io_submit` that hands them over.

use super::reading::{self, u16_at, u32_at, u64_at};
use super::request::{Change, Request, Value};
use super::{Stop, Tally};
use crate::Memory;
use iotrail_model::calls;
use iotrail_model::recording_coverage::count;

/// Size of `struct iocb`.
const SIZE: usize = 64;
/// More are not read in one call; no context is that large by default (`/proc/sys/fs/aio-max-nr`).
const MOST: u64 = 1 << 16;

/// The blocks that a thread is handing over; `None` is no operation on files.
#[derive(Debug)]
pub(super) struct Submission {
    pub(super) context: u64,
    pub(super) requests: Vec<Option<Request>>,
}

/// Reads the blocks that an array of `number` addresses names, up to the first that cannot be read.
pub(super) fn read<M: Memory>(
    stop: &Stop<'_, M>,
    array: u64,
    number: u64,
    width: usize,
) -> Vec<(u64, [u8; SIZE])> {
    let number = number.min(MOST) as usize;
    let mut addresses = vec![0; number * width];
    let read = stop.memory.read(array, &mut addresses);
    let mut blocks = Vec::new();
    for address in addresses[..read.min(number * width)].chunks_exact(width) {
        let address = reading::long_at(address, 0, width);
        let Some(block) = reading::bytes(stop.memory, address) else { break };
        blocks.push((address, block));
    }
    blocks
}

/// The operation that a block asks for.
pub(super) fn request<M: Memory>(
    stop: &Stop<'_, M>,
    address: u64,
    block: &[u8; SIZE],
    width: usize,
    tally: &mut Tally,
) -> Option<Request> {
    let (fd, buffer, length) = (u32_at(block, 20) as i32, u64_at(block, 24), u64_at(block, 32));
    let fd = Value::Fd(fd);
    let count_arg = Value::Int(length as i64);
    let offset = Value::Int(u64_at(block, 40) as i64);
    let flags = match u32_at(block, 12) {
        0 => Value::Opaque,
        flags => Value::flags("preadv2", 4, flags),
    };
    let vector = || {
        let sum = reading::vector(stop.memory, buffer, length, width);
        sum.map_or(Value::Opaque, Value::Length)
    };
    let (name, args) = match u16_at(block, 16) {
        0 => ("aio_pread", vec![fd, Value::Opaque, count_arg, offset, flags]),
        1 => ("aio_pwrite", vec![fd, Value::Opaque, count_arg, offset, flags]),
        2 => ("aio_fsync", vec![fd]),
        3 => ("aio_fdsync", vec![fd]),
        7 => ("aio_preadv", vec![fd, vector(), Value::Opaque, offset, flags]),
        8 => ("aio_pwritev", vec![fd, vector(), Value::Opaque, offset, flags]),
        other => {
            count(&mut tally.other_entries, if other == 5 { "aio_poll" } else { "aio_other" }, 1);
            return None;
        }
    };
    let (pid, tid, start, call) = (stop.pid, stop.tid, stop.at, calls::id(name)?);
    let change = Change::None;
    let (serial, key, made) = (0, address, None);
    Some(Request { pid, tid, call, start, serial, key, args, change, made, silent: false, unsure: false })
}
