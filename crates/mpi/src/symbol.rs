//! The function that a wrapper stands before.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Libraries that hold it where it is not behind this one: a program that loads MPI itself (`dlopen`) shows it to nobody else.
const LIBRARIES: [&CStr; 8] = [
    c"libmpi_abi.so.1",
    c"libmpi_abi.so.0",
    c"libmpi.so.40",
    c"libmpich.so.12",
    c"libmpi.so.12",
    c"libmpi_mpifh.so.40",
    c"libmpichfort.so.12",
    c"libmpi_usempif08.so.40",
];

/// A name, and what the next library has under it.
pub(crate) struct Symbol {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Symbol {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
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
    LIBRARIES.iter().map(|library| within(library, name)).find(|found| !found.is_null()).unwrap_or_default()
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
