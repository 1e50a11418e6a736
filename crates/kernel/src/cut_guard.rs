//! A mapped file that another program cuts (`truncate -s 0`) takes its pages away: the next store would be SIGBUS, the death of
//! the writer. A handler puts private memory in the place of such a page and marks the mapping, so that its owner learns that
//! what it stores is kept nowhere. Faults elsewhere do what they always did.

use libc::{c_int, c_void, siginfo_t};
use memmap2::MmapMut;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// Mappings that are guarded at the same time; a recorder has two. Further ones have no guard.
const MOST: usize = 128;

/// A guarded mapping. Plain atomics, because a signal handler reads them.
struct Slot {
    is_taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    is_cut: AtomicBool,
}

static SLOTS: [Slot; MOST] = [const {
    Slot {
        is_taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_cut: AtomicBool::new(false),
    }
}; MOST];

/// What SIGBUS did before; none while there is no handler.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// A mapping of a file that others may cut.
#[derive(Debug)]
pub(crate) struct Guarded {
    // Before the mapping, so that no other mapping is taken for it.
    guard: Guard,
    map: MmapMut,
}

impl Guarded {
    pub(crate) fn new(map: MmapMut) -> Self {
        install();
        Self { guard: Guard::of(&map), map }
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// The bytes, to store into.
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// Whether a store went nowhere, because the file had been cut.
    #[inline]
    pub(crate) fn is_cut(&self) -> bool {
        // A store faults before what follows it.
        compiler_fence(Ordering::SeqCst);
        self.guard.0.is_some_and(|slot| slot.is_cut.load(Ordering::SeqCst))
    }
}

/// A slot as long as it is needed.
struct Guard(Option<&'static Slot>);

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Guard").field(&self.0.is_some()).finish()
    }
}

impl Guard {
    fn of(map: &MmapMut) -> Self {
        let free = |slot: &&Slot| !slot.is_taken.swap(true, Ordering::SeqCst);
        let slot = SLOTS.iter().find(free);
        if let Some(slot) = slot {
            let start = map.as_ptr().addr();
            slot.is_cut.store(false, Ordering::SeqCst);
            slot.start.store(start, Ordering::SeqCst);
            slot.end.store(start + map.len(), Ordering::SeqCst);
        }
        Self(slot)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            slot.end.store(0, Ordering::SeqCst);
            slot.start.store(0, Ordering::SeqCst);
            slot.is_taken.store(false, Ordering::SeqCst);
        }
    }
}

/// From now on SIGBUS is handled here. Programs that this process starts have the kernel's own action, as `execve` gives it.
fn install() {
    BEFORE.get_or_init(|| {
        PAGE.store(rustix::param::page_size(), Ordering::SeqCst);
        // SAFETY: all zero is a valid `sigaction`.
        let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut before = own;
        own.sa_sigaction = on_bus_error as *const () as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both point to valid actions; the handler makes no call that is not safe in one.
        let done = unsafe { libc::sigaction(libc::SIGBUS, &raw const own, &raw mut before) };
        if done == 0 && before.sa_sigaction == libc::SIG_IGN {
            // A program that is started inherits that a signal is ignored, but no handler.
            // SAFETY: a valid action; the old one is not asked for.
            unsafe { libc::sigaction(libc::SIGBUS, &raw const before, std::ptr::null_mut()) };
            return None;
        }
        (done == 0).then_some(before)
    });
}

extern "C" fn on_bus_error(_signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel hands over a valid pointer.
    let info = unsafe { &*info };
    // SAFETY: SIGBUS of the kernel has an address; one that was sent has another code, and its address is not used.
    let address = unsafe { info.si_addr() }.addr();
    let is_inside = |slot: &&Slot| {
        (slot.start.load(Ordering::SeqCst)..slot.end.load(Ordering::SeqCst)).contains(&address)
    };
    let slot = SLOTS.iter().find(is_inside).filter(|_| info.si_code == libc::BUS_ADRERR);
    if let Some(slot) = slot
        && replace_page(address)
    {
        slot.is_cut.store(true, Ordering::SeqCst);
        return;
    }
    if let Some(Some(before)) = BEFORE.get() {
        // The access is tried again and does what it would have done.
        // SAFETY: a valid action; the old one is not asked for.
        unsafe { libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut()) };
        if info.si_code <= 0 {
            // Sent by a process: it comes again when this handler is over.
            // SAFETY: `raise` may be called in a handler.
            unsafe { libc::raise(libc::SIGBUS) };
        }
    }
}

/// Puts private memory in the place of a page.
fn replace_page(address: usize) -> bool {
    let size = PAGE.load(Ordering::SeqCst);
    let page = std::ptr::with_exposed_provenance_mut::<c_void>(address - address % size);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the page belongs to a mapping of this process that is registered, and holds nothing any more.
    let found = unsafe { libc::mmap(page, size, protection, flags, -1, 0) };
    found != libc::MAP_FAILED
}
