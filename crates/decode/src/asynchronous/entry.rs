//! Entries of a submission queue (`struct io_uring_sqe`): which operation they ask for.
//!
//! Layout and meaning of the fields are those of `include/uapi/linux/io_uring.h`; which field an operation takes its
//! arguments from say the `io_*_prep` functions of the kernel and `man 2 io_uring_enter`.

use super::Asked as PathAsked;
use super::files::Files;
use super::reading::{self, u16_at, u32_at, u64_at};
use super::request::{Change, Request, Value};
use super::{HeldFile, Stop};
use crate::Memory;
use crate::{open_how_text, socket_name_text};
use iotrail_model::calls::{self, OpenFlags};
use std::rc::Rc;

/// Bytes of an entry that matter; larger ones hold commands of drivers behind.
pub(super) const SIZE: usize = 64;

const FIXED_FILE: u8 = 1;
const BUFFER_SELECT: u8 = 1 << 5;
const AT_FDCWD: i32 = -100;
/// The kernel chooses the place of a new file (`IORING_FILE_INDEX_ALLOC`).
const ANY_PLACE: u32 = u32::MAX;
const O_APPEND: u64 = 0o2000;
/// An offset that stands for the current position.
const AT_POSITION: u64 = u64::MAX;
const RWF_NOAPPEND: u32 = 0x20;
const SPLICE_FD_IN_FIXED: u32 = 1 << 31;
const ACCEPT_MULTISHOT: u16 = 1;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    code: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    length: u32,
    how: u32,
    key: u64,
    /// `file_index` or `splice_fd_in`.
    place: u32,
    address3: u64,
}

/// What an entry asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// An operation on files.
    Operation(Box<Request>),
    /// Something else, by name.
    Other(&'static str),
}

/// Names of the operations by number; those that end in `*` are not about files.
#[rustfmt::skip]
static OPERATIONS: [&str; 63] = [
    "nop*", "readv", "writev", "fsync", "read_fixed", "write_fixed", "poll_add*", "poll_remove*",
    "sync_file_range", "sendmsg", "recvmsg", "timeout*", "timeout_remove*", "accept", "async_cancel*", "link_timeout*",
    "connect", "fallocate", "openat", "close", "files_update*", "statx", "read", "write",
    "fadvise", "madvise", "send", "recv", "openat2", "epoll_ctl*", "splice", "provide_buffers*",
    "remove_buffers*", "tee", "shutdown", "renameat", "unlinkat", "mkdirat", "symlinkat", "linkat",
    "msg_ring*", "fsetxattr", "setxattr", "fgetxattr", "getxattr", "socket", "uring_cmd*", "send_zc",
    "sendmsg_zc", "read_multishot", "waitid*", "futex_wait*", "futex_wake*", "futex_waitv*", "fixed_fd_install", "ftruncate",
    "bind", "listen", "recv_zc", "epoll_wait*", "readv_fixed", "writev_fixed", "pipe",
];

impl Entry {
    pub(super) fn of(bytes: &[u8; SIZE]) -> Self {
        Self {
            code: bytes[0],
            flags: bytes[1],
            priority: u16_at(bytes, 2),
            fd: u32_at(bytes, 4) as i32,
            offset: u64_at(bytes, 8),
            address: u64_at(bytes, 16),
            length: u32_at(bytes, 24),
            how: u32_at(bytes, 28),
            key: u64_at(bytes, 32),
            place: u32_at(bytes, 44),
            address3: u64_at(bytes, 48),
        }
    }

    /// What it asks for. Reads paths and vectors, never data.
    pub(super) fn asks<M: Memory>(&self, stop: &Stop<'_, M>, width: usize, files: &Files) -> Asked {
        let name = OPERATIONS.get(usize::from(self.code)).copied().unwrap_or("unknown*");
        let work = Work { entry: self, stop, width, files };
        let (name, args, change) = match name {
            "files_update*" => ("files_update", Vec::new(), work.update()),
            name => match name.strip_suffix('*') {
                Some(other) => return Asked::Other(other),
                None => (work.row_name(name), work.args(name), work.change(name)),
            },
        };
        let silent = name == "files_update";
        let made = if name == "fixed_fd_install" { files.at(self.fd as u32) } else { None };
        let call = calls::id(&format!("io_uring_{name}")).or_else(|| calls::id("io_uring_enter"));
        let Some(call) = call else { return Asked::Other("unknown") };
        let (pid, tid, start) = (stop.pid, stop.tid, stop.at);
        let key = self.key;
        Asked::Operation(Box::new(Request {
            pid,
            tid,
            call,
            start,
            serial: 0,
            key,
            args,
            change,
            made,
            silent,
            unsure: false,
        }))
    }

    fn has_place(&self) -> bool {
        self.place != 0
    }

    /// Place of the new file, `None` if the kernel chooses.
    fn new_place(&self) -> Option<u32> {
        Some(self.place).filter(|place| *place != ANY_PLACE).map(|place| place - 1)
    }
}

/// An entry with where it was found.
struct Work<'a, M> {
    entry: &'a Entry,
    stop: &'a Stop<'a, M>,
    width: usize,
    files: &'a Files,
}

impl<M: Memory> Work<'_, M> {
    /// Operations on the files that a ring holds make no descriptors: their rows differ.
    fn row_name(&self, name: &'static str) -> &'static str {
        match name {
            "openat" if self.entry.has_place() => "openat_direct",
            "openat2" if self.entry.has_place() => "openat2_direct",
            "accept" if self.entry.has_place() => "accept_direct",
            "socket" if self.entry.has_place() => "socket_direct",
            "close" if self.entry.has_place() => "close_direct",
            name => name,
        }
    }

    /// The arguments in the order of the row.
    fn args(&self, name: &str) -> Vec<Value> {
        let entry = self.entry;
        let flags = |name: &str, place| Value::flags(name, place, entry.how);
        // Flags of transfers are rare, and the calls without them have no such argument.
        let rare = |name: &str, place| if entry.how == 0 { Value::Opaque } else { flags(name, place) };
        let offset = || self.offset(name);
        let address = || Value::Int(entry.address as i64);
        let length = || Value::Int(i64::from(entry.length));
        let number = || Value::Int(i64::from(entry.how));
        let (fd, opaque) = (|| self.file(), || Value::Opaque);
        match name {
            "read" | "write" | "read_fixed" | "write_fixed" | "read_multishot" => {
                vec![fd(), opaque(), self.count(), offset(), rare("preadv2", 4)]
            }
            "readv" | "writev" | "readv_fixed" | "writev_fixed" => {
                vec![fd(), self.vector(), opaque(), offset(), rare("preadv2", 4)]
            }
            "send" | "recv" | "send_zc" | "recv_zc" => {
                vec![fd(), opaque(), self.count(), rare("recvfrom", 3)]
            }
            "sendmsg" | "recvmsg" | "sendmsg_zc" => vec![fd(), self.message(), rare("recvmsg", 2)],
            "fsync" => vec![fd(), self.sync_flags()],
            "sync_file_range" => vec![fd(), offset(), opaque(), flags("sync_file_range", 3)],
            "fadvise" => vec![fd(), offset(), opaque(), flags("fadvise64", 3)],
            "madvise" => vec![address(), length(), flags("madvise", 2)],
            "fallocate" => vec![fd(), Value::flags("fallocate", 1, entry.length), offset(), opaque()],
            "ftruncate" => vec![fd(), offset()],
            "openat" => vec![directory(entry.fd), self.opened(), flags("openat", 2), opaque()],
            "openat2" => vec![directory(entry.fd), self.opened(), self.open_how(), opaque()],
            "close" if entry.has_place() => vec![held(self.files, entry.place - 1)],
            "close" => vec![Value::Fd(entry.fd)],
            "statx" => {
                const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
                let follows = entry.how & AT_SYMLINK_NOFOLLOW == 0;
                let path = self.file_at(entry.fd, entry.address, follows);
                vec![directory(entry.fd), path, flags("statx", 2), opaque(), opaque()]
            }
            "splice" => {
                let source = self.source();
                vec![source, address(), fd(), offset(), length(), self.splice_flags()]
            }
            "tee" => vec![self.source(), fd(), length(), self.splice_flags()],
            "renameat" | "linkat" => {
                let how = if name == "linkat" { name } else { "renameat2" };
                vec![
                    directory(entry.fd),
                    self.name_at(entry.fd, entry.address),
                    directory(entry.length as i32),
                    self.name_at(entry.length as i32, entry.offset),
                    flags(how, 4),
                ]
            }
            "unlinkat" => {
                vec![directory(entry.fd), self.name_at(entry.fd, entry.address), flags("unlinkat", 2)]
            }
            "mkdirat" => vec![directory(entry.fd), self.name_at(entry.fd, entry.address), opaque()],
            "symlinkat" => {
                vec![self.path(entry.address), directory(entry.fd), self.name_at(entry.fd, entry.offset)]
            }
            "fsetxattr" => vec![fd(), opaque(), opaque(), opaque(), flags("fsetxattr", 4)],
            "fgetxattr" => vec![fd(), opaque(), opaque(), opaque()],
            "setxattr" => vec![
                self.file_at(AT_FDCWD, entry.address3, true),
                opaque(),
                opaque(),
                opaque(),
                flags("setxattr", 4),
            ],
            "getxattr" => vec![self.file_at(AT_FDCWD, entry.address3, true), opaque(), opaque(), opaque()],
            "socket" => vec![
                Value::flags("socket", 0, entry.fd as u32),
                Value::flags("socket", 1, entry.offset as u32),
                opaque(),
            ],
            "accept" => vec![fd(), opaque(), opaque(), rare("accept4", 3)],
            "bind" | "connect" => vec![fd(), self.socket_name(), opaque()],
            "listen" => vec![fd(), opaque()],
            "shutdown" => vec![fd(), Value::flags("shutdown", 1, entry.length)],
            "fixed_fd_install" => vec![opaque(), number()],
            "pipe" => vec![opaque(), rare("pipe2", 1)],
            _ => Vec::new(),
        }
    }

    fn change(&self, name: &str) -> Change {
        let entry = self.entry;
        match name {
            "openat" | "openat2" if entry.has_place() => {
                let path = match self.opened() {
                    Value::Located(path) => Some(path),
                    Value::Path { bytes, complete: true } => {
                        Some(bytes).filter(|path| path.starts_with(b"/"))
                    }
                    _ => None,
                };
                let appends = self.open_flags(name).is_none_or(|flags| flags & O_APPEND != 0);
                Change::Put(entry.new_place(), path.map(|name| Rc::new(HeldFile { name, appends })))
            }
            // Each connection that a multishot takes has its own place, and the kernel chooses it.
            "accept" if entry.has_place() && entry.priority & ACCEPT_MULTISHOT != 0 => {
                Change::Put(None, socket())
            }
            "accept" | "socket" if entry.has_place() => Change::Put(entry.new_place(), socket()),
            "close" if entry.has_place() => Change::Remove(entry.place - 1),
            "pipe" if !entry.has_place() => Change::Pipe(entry.address),
            _ => Change::None,
        }
    }

    /// The names of descriptors that take places among the files of the ring.
    fn update(&self) -> Change {
        let names = names_of(self.stop, self.entry.address, self.entry.length);
        Change::Update(self.entry.offset as u32, names)
    }

    /// The flags that a file is opened with.
    fn open_flags(&self, name: &str) -> Option<u64> {
        match name {
            "openat2" => reading::bytes(self.stop.memory, self.entry.offset).map(u64::from_le_bytes),
            _ => Some(u64::from(self.entry.how)),
        }
    }

    /// The offset, unless the operation does not act there: a write to a file that is, or may be, open for appending.
    fn offset(&self, name: &str) -> Value {
        let acts_there = self.entry.offset == AT_POSITION || self.entry.how & RWF_NOAPPEND != 0;
        let is_held = self.entry.flags & FIXED_FILE != 0 && !acts_there;
        let may_append = || self.files.at(self.entry.fd as u32).is_none_or(|file| file.appends);
        match name {
            "write" | "write_fixed" | "writev" | "writev_fixed" if is_held && may_append() => Value::Opaque,
            _ => Value::Int(self.entry.offset as i64),
        }
    }

    fn file(&self) -> Value {
        match self.entry.flags & FIXED_FILE {
            0 => Value::Fd(self.entry.fd),
            _ => held(self.files, self.entry.fd as u32),
        }
    }

    /// Where a copy reads from.
    fn source(&self) -> Value {
        match self.entry.how & SPLICE_FD_IN_FIXED {
            0 => Value::Fd(self.entry.place as i32),
            _ => held(self.files, self.entry.place),
        }
    }

    fn splice_flags(&self) -> Value {
        Value::flags("splice", 5, self.entry.how & !SPLICE_FD_IN_FIXED)
    }

    fn sync_flags(&self) -> Value {
        const DATASYNC: u32 = 1;
        match self.entry.how {
            0 => Value::Opaque,
            DATASYNC => Value::Symbols(b"IORING_FSYNC_DATASYNC".to_vec()),
            other => Value::Int(i64::from(other)),
        }
    }

    /// Bytes asked for; with a group of buffers and no number it is as many as the chosen one has.
    fn count(&self) -> Value {
        match (self.entry.length, self.entry.flags & BUFFER_SELECT) {
            (0, BUFFER_SELECT) => Value::Opaque,
            (length, _) => Value::Int(i64::from(length)),
        }
    }

    fn vector(&self) -> Value {
        let parts = u64::from(self.entry.length);
        let sum = reading::vector(self.stop.memory, self.entry.address, parts, self.width);
        sum.map_or(Value::Opaque, Value::Length)
    }

    fn message(&self) -> Value {
        reading::message(self.stop.memory, self.entry.address, self.width)
            .map_or(Value::Opaque, Value::Length)
    }

    fn path(&self, address: u64) -> Value {
        match reading::path(self.stop.memory, address) {
            Some((bytes, complete)) => Value::Path { bytes, complete },
            None => Value::Opaque,
        }
    }

    /// A path of a file, seen from a directory.
    fn file_at(&self, directory: i32, address: u64, follows: bool) -> Value {
        self.located(directory, address, follows, false)
    }

    /// A name that is made, moved or removed.
    fn name_at(&self, directory: i32, address: u64) -> Value {
        self.located(directory, address, false, true)
    }

    fn located(&self, directory: i32, address: u64, follows: bool, is_name: bool) -> Value {
        let directory = Some(directory).filter(|fd| *fd != AT_FDCWD);
        match self.path(address) {
            Value::Path { bytes, complete: true } if !bytes.is_empty() => {
                let asked = PathAsked { directory, path: &bytes, is_name, follows };
                let name = (self.stop.place)(&asked);
                name.map_or(Value::Path { bytes, complete: true }, Value::Located)
            }
            other => other,
        }
    }

    fn opened(&self) -> Value {
        let follows = OpenFlags::from_bits(u64::from(self.entry.how)).follows();
        self.file_at(self.entry.fd, self.entry.address, follows)
    }

    fn socket_name(&self) -> Value {
        let text = socket_name_text(self.entry.address, self.entry.offset, self.stop.memory);
        text.map_or(Value::Opaque, Value::Text)
    }

    fn open_how(&self) -> Value {
        let (address, size) = (self.entry.offset, u64::from(self.entry.length));
        open_how_text(address, size, self.stop.memory).map_or(Value::Opaque, Value::Text)
    }
}

fn directory(fd: i32) -> Value {
    if fd == AT_FDCWD { Value::Cwd } else { Value::Fd(fd) }
}

/// What a ring knows of a socket that it made.
fn socket() -> super::request::Held {
    Some(Rc::new(HeldFile { name: b"socket".to_vec(), appends: false }))
}

fn held(files: &Files, place: u32) -> Value {
    Value::Held(files.at(place))
}

/// What an array of descriptors refers to, as the places of a ring: -1 frees a place and -2 leaves it as it is.
pub(super) fn names_of<M: Memory>(
    stop: &Stop<'_, M>,
    address: u64,
    number: u32,
) -> Vec<Option<super::request::Held>> {
    /// Looking up a name takes a system call.
    const MOST: u32 = 4096;
    const SKIP: i32 = -2;
    let fds = reading::ints(stop.memory, address, number.min(MOST) as usize).unwrap_or_default();
    let name = |fd: i32| match fd {
        SKIP => None,
        0.. => Some((stop.look)(fd).map(Rc::new)),
        _ => Some(None),
    };
    fds.into_iter().map(name).collect()
}
