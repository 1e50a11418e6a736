//! The function that a wrapper stands before.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// What the dynamic linker keeps of a loaded object (`man 3 dlinfo`).
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// The request for the list of loaded objects.
const RTLD_DI_LINKMAP: c_int = 2;
/// Part of the path of this library.
const OWN: &[u8] = b"libiotrail_mpi.so";

/// A name, and what the next library has under it.
pub(crate) struct Symbol {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    /// How far above the hook the return address of the wrapper lies; 0 as long as that is not known.
    return_slot: AtomicUsize,
}

impl Symbol {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()), return_slot: AtomicUsize::new(0) }
    }

    /// How far above the hook the return address of the wrapper lies, the same at every call; 0 as long as that is not known.
    #[inline]
    pub(crate) fn return_slot(&self) -> usize {
        self.return_slot.load(Ordering::Relaxed)
    }

    /// It is known where the return address lies.
    pub(crate) fn has_return_slot(&self, distance: usize) {
        self.return_slot.store(distance, Ordering::Relaxed);
    }

    /// The name.
    pub(crate) fn name(&self) -> &'static CStr {
        self.name
    }

    /// Its address; NULL if no library has it.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.found.load(Ordering::Relaxed);
        if known.is_null() { self.look_up() } else { known }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        let found = find(self.name);
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// What the libraries behind this one have under a name.
pub(crate) fn find(name: &CStr) -> *mut c_void {
    // SAFETY: a name that ends with NUL.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return next;
    }
    within_any(name)
}

/// The same where a program has loaded MPI itself (`dlopen`): it is shown to nobody else, so each loaded object is asked what it and
/// what it needs have under the name, in the order in which they were loaded. An interpreter's module may have functions of its
/// own in place of those that its library lacks.
fn within_any(name: &CStr) -> *mut c_void {
    // SAFETY: the handle of the program itself.
    let program = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
    let mut next: *const LinkMap = std::ptr::null();
    // SAFETY: stores the first entry of the list there, or nothing.
    unsafe { dlinfo(program, RTLD_DI_LINKMAP, (&raw mut next).cast()) };
    // SAFETY: entries stay as long as their objects are loaded, and lead to the next one or end with NULL.
    while let Some(object) = unsafe { next.as_ref() } {
        // SAFETY: names end with NUL.
        let path = unsafe { CStr::from_ptr(object.name) };
        if !path.is_empty() && !path.to_bytes().windows(OWN.len()).any(|part| part == OWN) {
            let found = within(path, name);
            if !found.is_null() {
                return found;
            }
        }
        next = object.next;
    }
    std::ptr::null_mut()
}

unsafe extern "C" {
    fn dlinfo(handle: *mut c_void, request: c_int, info: *mut c_void) -> c_int;
}

/// What a library has under a name that is loaded already.
fn within(library: &CStr, name: &CStr) -> *mut c_void {
    // SAFETY: a name that ends with NUL; nothing is loaded that is not there.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: a valid handle and a name that ends with NUL.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    // SAFETY: gives back what `dlopen` counted; who loaded the library keeps it.
    unsafe { libc::dlclose(handle) };
    found
}

/// Calls the function there.
///
/// # Safety
/// It must be a function that takes these arguments, integers and pointers, or fewer.
pub(crate) unsafe fn invoke(function: *mut c_void, a: &[usize]) -> usize {
    macro_rules! with {
        ($($number:literal)*) => {{
            type Function = unsafe extern "C-unwind" fn($(with!(@type $number)),*) -> usize;
            // SAFETY: as the caller promises. Arguments behind those that it takes are not looked at.
            let function = unsafe { std::mem::transmute::<*mut c_void, Function>(function) };
            // SAFETY: as above.
            unsafe { function($(a[$number]),*) }
        }};
        (@type $number:literal) => { usize };
    }
    match a.len() {
        0 => with!(),
        1 => with!(0),
        2 => with!(0 1),
        3 => with!(0 1 2),
        4 => with!(0 1 2 3),
        5 => with!(0 1 2 3 4),
        6 => with!(0 1 2 3 4 5),
        7 => with!(0 1 2 3 4 5 6),
        8 => with!(0 1 2 3 4 5 6 7),
        9 => with!(0 1 2 3 4 5 6 7 8),
        10 => with!(0 1 2 3 4 5 6 7 8 9),
        11 => with!(0 1 2 3 4 5 6 7 8 9 10),
        12 => with!(0 1 2 3 4 5 6 7 8 9 10 11),
        13 => with!(0 1 2 3 4 5 6 7 8 9 10 11 12),
        14 => with!(0 1 2 3 4 5 6 7 8 9 10 11 12 13),
        15 => with!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
        _ => with!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
    }
}
