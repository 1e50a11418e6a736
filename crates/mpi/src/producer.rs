//! The file through which a thread tells its recorder of its calls.

use crate::sites::{Site, Sites};
use crate::symbol::Symbol;
use iotrail_mpi_abi::{
    ANNOUNCE, Announcement, CAPACITY, CONSUMED, DROPPED, FILE_BYTES, MAGIC, PRODUCED, RECORD_BYTES, SITELESS,
    place_of, version,
};
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable of the environment that names the directory of the files.
const VARIABLE: &CStr = c"IOTRAIL_MPI";
/// That of the number of frames of each call site.
const STACK: &CStr = c"IOTRAIL_MPI_STACK";
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
    /// The call sites of the thread; NULL if they are not told.
    sites: *mut Sites,
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
        let made = make(directory).map(|(producer, number)| (producer.with_sites(), number));
        announce(Announcement::Ready, made.map_or(0, |(_, number)| number));
        made.map(|(producer, _)| producer)
    }

    /// With a table of call sites, if these are to be told.
    fn with_sites(self) -> Self {
        match stack_depth() {
            0 => self,
            depth => Self { sites: new_sites(depth), ..self },
        }
    }

    /// The number of the call site of the present call, 0 if it has none. See [`Sites::site`] about `position`.
    #[inline]
    pub(crate) fn site(&self, symbol: &Symbol, position: usize) -> u32 {
        // SAFETY: NULL, or the table of this thread, which no other uses, nor this one twice at a time: calls inside calls have none.
        let Some(sites) = (unsafe { self.sites.as_mut() }) else { return 0 };
        match sites.site(symbol, position, |record| self.push(record)) {
            Site::Number(number) => number,
            Site::None => 0,
            Site::Unnumbered => {
                self.counter(SITELESS).fetch_add(1, Ordering::Relaxed);
                0
            }
        }
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
    let base = map_bytes(FILE_BYTES, libc::MAP_SHARED, fd)?;
    let producer = Producer { base, sites: std::ptr::null_mut() };
    producer.counter(8).store(version(), Ordering::Relaxed);
    producer.counter(0).store(MAGIC, Ordering::Release);
    Some(producer)
}

/// Maps so many bytes at a place that is free.
fn map_bytes(bytes: usize, how: libc::c_int, fd: libc::c_long) -> Option<*mut u8> {
    let access = i64::from(libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: takes no memory that is in use.
    let base = unsafe { libc::syscall(libc::SYS_mmap, 0_i64, bytes, access, i64::from(how), fd, 0_i64) };
    (base > 0).then_some(base as *mut u8)
}

/// How many frames of each call site are to be told.
fn stack_depth() -> usize {
    // SAFETY: the name ends with NUL, and so does the value.
    let value = unsafe { libc::getenv(STACK.as_ptr()) };
    if value.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let digits = unsafe { CStr::from_ptr(value) };
    digits.to_str().ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// A table of call sites, in memory of its own; NULL if there is none.
fn new_sites(depth: usize) -> *mut Sites {
    let Some(base) = map_bytes(size_of::<Sites>(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1) else {
        return std::ptr::null_mut();
    };
    let sites = base.cast::<Sites>();
    // SAFETY: pages of zeros, which are a table without sites.
    unsafe { &mut *sites }.begin(depth);
    sites
}
