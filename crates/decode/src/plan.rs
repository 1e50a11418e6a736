//! How the registers of a call become arguments, worked out once for each number of each architecture.

use super::effects::Special;
use super::entry::MAX_ARGUMENTS;
use super::layout::Layout;
use super::symbols::{Notation, notation};
use crate::Abi;
use iotrail_model::CallId;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, spec};

/// How a call is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Row of the call table.
    pub(super) call: CallId,
    pub(super) args: [Argument; MAX_ARGUMENTS],
    pub(super) len: u8,
    pub(super) special: Special,
    pub(super) multiplexer: Multiplexer,
}

/// Calls of 32-bit x86 that stand for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Multiplexer {
    /// It stands for itself.
    #[default]
    None,
    /// `socketcall`: a number, and where the arguments lie.
    Socket,
    /// `ipc`: a number and arguments in an order of their own.
    Ipc,
    /// `mmap` with its arguments in memory.
    Mmap,
    /// `select` with its arguments in memory.
    Select,
}

/// How an argument is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    pub(super) how: How,
    pub(super) source: Source,
}

/// Where a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In a register.
    Register(u8),
    /// In two registers of 32 bits, the lower half first.
    LowHigh(u8),
    /// In two registers, the upper half first.
    HighLow(u8),
}

/// What is made of the number.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Opaque,
    /// A number of 64 bits.
    Number,
    /// A signed number of 32 bits.
    Signed32,
    /// An unsigned number of 32 bits.
    Unsigned32,
    /// An offset in units of 4 KiB.
    Pages,
    Fd,
    Directory,
    Path,
    Symbols(Notation),
    /// Where an offset lies.
    OffsetAt(Layout),
    /// Where a vector lies, its length being in the next register.
    Vector,
    Message,
    Strings,
    /// How to open (`struct open_how`), its size being in the next register.
    Open,
    /// How to make a process (`struct clone_args`), likewise.
    CloneArgs,
    /// The third argument of fcntl; the command is in the register before.
    Control,
    /// Where a socket address lies, its length being in the next register.
    Address,
    /// Where the call stores an address; the next register says where its length lies.
    StoredAddress,
    /// Where the call stores a path.
    StoredPath,
    /// Where the call stores two descriptors.
    StoredPair,
    /// Where the call stores a position.
    StoredPosition,
    /// Where an array of messages lies.
    Messages,
}

impl Plan {
    /// How calls of a row of the call table are decoded on an architecture.
    pub(super) fn new(abi: Abi, call: CallId) -> Self {
        const NONE: Argument = Argument { how: How::Opaque, source: Source::Register(0) };
        let mut args = [NONE; MAX_ARGUMENTS];
        let Some(spec) = spec(call) else {
            return Self { call, args, len: 0, special: Special::None, multiplexer: Multiplexer::None };
        };
        let multiplexer = multiplexer(abi, spec.name);
        let opaque = matches!(multiplexer, Multiplexer::Ipc | Multiplexer::Select);
        for (index, arg) in args.iter_mut().enumerate().take(spec.args.len()) {
            let source = source(abi, spec.name, index);
            *arg = Argument { how: if opaque { How::Opaque } else { how(abi, spec, index) }, source };
        }
        let len = spec.args.len().min(MAX_ARGUMENTS) as u8;
        Self { call, args, len, special: Special::of(spec), multiplexer }
    }
}

impl Plan {
    /// The same call, of whose arguments nothing is made.
    pub(super) fn opaque(mut self) -> Self {
        self.args.iter_mut().for_each(|arg| arg.how = How::Opaque);
        self
    }
}

fn multiplexer(abi: Abi, name: &str) -> Multiplexer {
    match (abi, name) {
        (Abi::I386, "socketcall") => Multiplexer::Socket,
        (Abi::I386, "ipc") => Multiplexer::Ipc,
        (Abi::I386, "mmap") => Multiplexer::Mmap,
        (Abi::I386, "select") => Multiplexer::Select,
        _ => Multiplexer::None,
    }
}

/// Where argument `place` of the call table is: the arguments of a few calls are not in order (`man 2 syscall`,
/// `man 2 clone`), and 32-bit x86 takes numbers of 64 bits in two registers.
fn source(abi: Abi, name: &str, index: usize) -> Source {
    use Source::{HighLow, LowHigh, Register};
    let narrow = abi == Abi::I386;
    let in_order = Register(index as u8);
    let sources: &[Source] = match name {
        "clone" => &[Register(1), Register(0)],
        "preadv2" | "pwritev2" if narrow => &[Register(0), Register(1), Register(2), LowHigh(3), Register(5)],
        // The upper half of the offset has a register of its own, except on x32.
        "preadv2" | "pwritev2" if abi != Abi::X32 => {
            &[Register(0), Register(1), Register(2), Register(3), Register(5)]
        }
        "pread64" | "pwrite64" | "preadv" | "pwritev" if narrow => {
            &[Register(0), Register(1), Register(2), LowHigh(3)]
        }
        "truncate64" | "ftruncate64" if narrow => &[Register(0), LowHigh(1)],
        "readahead" if narrow => &[Register(0), LowHigh(1), Register(3)],
        "fadvise64" if narrow => &[Register(0), LowHigh(1), Register(3), Register(4)],
        "fadvise64_64" | "sync_file_range" if narrow => &[Register(0), LowHigh(1), LowHigh(3), Register(5)],
        "fallocate" if narrow => &[Register(0), Register(1), LowHigh(2), LowHigh(4)],
        "fanotify_mark" if narrow => &[Register(0), Register(1), LowHigh(2), Register(4), Register(5)],
        "lookup_dcookie" if narrow => &[LowHigh(0), Register(2), Register(3)],
        "_llseek" if narrow => &[Register(0), HighLow(1), Register(3), Register(4)],
        _ => &[],
    };
    sources.get(index).copied().unwrap_or(in_order)
}

fn how(abi: Abi, spec: &CallSpec, index: usize) -> How {
    match spec.args[index] {
        ArgKind::Buffer => How::Opaque,
        ArgKind::Fd | ArgKind::Fd2 => How::Fd,
        ArgKind::DirFd => How::Directory,
        ArgKind::Path | ArgKind::Name | ArgKind::LinkTarget => How::Path,
        ArgKind::PathOut => How::StoredPath,
        ArgKind::FdPair => How::StoredPair,
        ArgKind::Vector => How::Vector,
        ArgKind::Message => How::Message,
        ArgKind::Messages => How::Messages,
        ArgKind::Count => How::Number,
        ArgKind::Offset | ArgKind::Offset2 => offset(abi, spec.name),
        ArgKind::Position => How::StoredPosition,
        ArgKind::Flags => How::Symbols(notation(spec.name, index)),
        ArgKind::Command if spec.kind == CallKind::Control => How::Control,
        ArgKind::Command => How::Unsigned32,
        ArgKind::Process | ArgKind::Status => How::Signed32,
        ArgKind::Strings => How::Strings,
        ArgKind::Struct if spec.kind == CallKind::Open => How::Open,
        ArgKind::Struct if spec.kind == CallKind::Spawn => How::CloneArgs,
        ArgKind::Struct => How::Opaque,
        ArgKind::Address | ArgKind::Extent | ArgKind::Word => How::Number,
        ArgKind::SocketName | ArgKind::Other => other(spec.name, index),
    }
}

fn offset(abi: Abi, name: &str) -> How {
    match (abi, name) {
        (Abi::I386, "sendfile") => How::OffsetAt(Layout::Narrow),
        (_, "sendfile" | "sendfile64" | "copy_file_range" | "splice") => How::OffsetAt(Layout::Wide),
        (Abi::I386, "mmap2") => How::Pages,
        (Abi::I386, "truncate" | "ftruncate") => How::Signed32,
        _ => How::Number,
    }
}

fn other(name: &str, index: usize) -> How {
    match (name, index) {
        ("connect" | "bind", 1) | ("sendto", 4) => How::Address,
        ("accept" | "accept4" | "getsockname" | "getpeername", 1) | ("recvfrom", 4) => How::StoredAddress,
        _ => How::Number,
    }
}
