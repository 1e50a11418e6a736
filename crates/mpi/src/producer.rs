//! The file through which a thread tells its recorder of its calls.

use iotrail_mpi_abi::{
    ANNOUNCE, Announcement, CAPACITY, CONSUMED, DROPPED, FILE_BYTES, MAGIC, PRODUCED, RECORD_BYTES, place_of,
    version,
};
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable of the environment that names the directory of the files.
const VARIABLE: &CStr = c"IOTRAIL_MPI";
/// How often another name is tried.
const TRIALS: u32 = 16;

thread_local! {
    /// The file of this thread: not tried yet, none, or where it is mapped.
    static OWN: Cell<State> = const { Cell::new(State::New) };
}

#[derive(Clone, Copy)]
enum State {
    New,
    None,
    Mapped(Producer),
}

/// A mapped file.
#[derive(Clone, Copy)]
pub(crate) struct Producer {
    base: *mut u8,
}

impl Producer {
    /// That of the calling thread, which makes it at its first call; `None` if nobody records.
    #[inline]
    pub(crate) fn of_this_thread() -> Option<&'static Self> {
        // A thread-local value without a destructor has the same address as long as its thread lives.
        OWN.with(|own| match own.get() {
            State::Mapped(_) => {
                // SAFETY: only this thread reads and writes it, and it is not written again before a fork.
                match unsafe { &*own.as_ptr() } {
                    // SAFETY: as long as its thread lives, which is longer than the call that asks.
                    State::Mapped(producer) => Some(unsafe { &*std::ptr::from_ref(producer) }),
                    State::New | State::None => None,
                }
            }
            State::None => None,
            State::New => {
                own.set(Self::start().map_or(State::None, State::Mapped));
                matches!(own.get(), State::Mapped(_)).then(Self::of_this_thread).flatten()
            }
        })
    }

    #[cold]
    fn start() -> Option<Self> {
        // SAFETY: the name ends with NUL.
        let directory = unsafe { libc::getenv(VARIABLE.as_ptr()) };
        if directory.is_null() {
            return None;
        }
        // SAFETY: values of the environment end with NUL.
        let directory = unsafe { CStr::from_ptr(directory) }.to_bytes();
        static AT_FORK: Once = Once::new();
        AT_FORK.call_once(|| {
            // SAFETY: registers a function that writes one value of its thread.
            unsafe { libc::pthread_atfork(None, None, Some(forget)) };
        });
        announce(Announcement::Quiet, 0);
        let made = make(directory);
        announce(Announcement::Ready, made.map_or(0, |(_, number)| number));
        made.map(|(producer, _)| producer)
    }

    /// Adds a record; if there is no room, the recorder reads what is there before.
    #[inline]
    pub(crate) fn push(&self, record: &[u8; RECORD_BYTES]) {
        let produced = self.counter(PRODUCED).load(Ordering::Relaxed);
        if produced.wrapping_sub(self.counter(CONSUMED).load(Ordering::Acquire)) >= CAPACITY
            && !self.make_room(produced)
        {
            self.counter(DROPPED).fetch_add(1, Ordering::Relaxed);
            return;
        }
        // SAFETY: the place of a record is within the mapping; nobody else writes there.
        unsafe { self.base.add(place_of(produced)).copy_from_nonoverlapping(record.as_ptr(), RECORD_BYTES) };
        self.counter(PRODUCED).store(produced.wrapping_add(1), Ordering::Release);
    }

    #[cold]
    fn make_room(&self, produced: u64) -> bool {
        announce(Announcement::Full, 0);
        produced.wrapping_sub(self.counter(CONSUMED).load(Ordering::Acquire)) < CAPACITY
    }

    fn counter(&self, place: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, aligned to 8 bytes, and touched by atomic operations alone.
        unsafe { AtomicU64::from_ptr(self.base.add(place).cast()) }
    }
}

/// A child of `fork` has the mapping of its parent, which is not its own.
extern "C" fn forget() {
    OWN.with(|own| own.set(State::None));
}

/// Speaks to the recorder, which stops the thread at this call. The kernel refuses it. `errno` stays as it was.
fn announce(what: Announcement, number: u64) {
    // SAFETY: where this thread's `errno` lies.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // SAFETY: a command that the kernel does not know.
    unsafe { libc::syscall(libc::SYS_prctl, ANNOUNCE, what.number(), number, 0_u64, 0_u64) };
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// Makes and maps a file under a name that is free, by system calls that nobody else stands before: `syscall` takes
/// arguments of 64 bits each.
fn make(directory: &[u8]) -> Option<(Producer, u64)> {
    let mut path = [0_u8; 4096];
    let digits = directory.len() + 1;
    if digits + 17 > path.len() {
        return None;
    }
    path[..directory.len()].copy_from_slice(directory);
    path[directory.len()] = b'/';
    for trial in 0..TRIALS {
        let number = unique(trial);
        for (place, digit) in path[digits..digits + 16].iter_mut().rev().enumerate() {
            *digit = b"0123456789abcdef"[(number >> (4 * place) & 15) as usize];
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        // SAFETY: a path that ends with NUL.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_openat,
                i64::from(libc::AT_FDCWD),
                path.as_ptr(),
                i64::from(flags),
                0o600_i64,
            )
        };
        if fd >= 0 {
            let producer = map(fd);
            // SAFETY: closes what was opened above.
            unsafe { libc::syscall(libc::SYS_close, fd) };
            return producer.map(|producer| (producer, number));
        }
        // SAFETY: where this thread's `errno` lies.
        if unsafe { *libc::__errno_location() } != libc::EEXIST {
            return None;
        }
    }
    None
}

/// A number that no other thread is likely to have; never 0.
fn unique(trial: u32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: stores the time there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    // SAFETY: takes nothing.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    (time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 + u64::from(trial)) << 20 ^ thread | 1 << 63
}

fn map(fd: libc::c_long) -> Option<Producer> {
    // SAFETY: a file of our own.
    if unsafe { libc::syscall(libc::SYS_ftruncate, fd, FILE_BYTES) } != 0 {
        return None;
    }
    let access = i64::from(libc::PROT_READ | libc::PROT_WRITE);
    let shared = i64::from(libc::MAP_SHARED);
    // SAFETY: maps the file at a place that is free.
    let base = unsafe { libc::syscall(libc::SYS_mmap, 0_i64, FILE_BYTES, access, shared, fd, 0_i64) };
    if base <= 0 {
        return None;
    }
    let producer = Producer { base: base as *mut u8 };
    producer.counter(8).store(version(), Ordering::Relaxed);
    producer.counter(0).store(MAGIC, Ordering::Release);
    Some(producer)
}
