//! The `ptrace` call itself.

use iotrail_model::Tid;
use std::io;

/// A request whose arguments are numbers. Only requests that write nothing into this process may be made with it.
pub(crate) fn request(request: libc::c_uint, tid: Tid, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: the callers of this crate pass requests that take numbers, or the size and address of a buffer that they
    // borrow for the duration of the call (see `request_into`).
    let result = unsafe { libc::ptrace(request, tid.0 as libc::pid_t, address, data) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A request that fills `buffer`, whose size in bytes it takes as address, or does not take.
pub(crate) fn request_into<T: Copy, const N: usize>(
    code: libc::c_uint,
    tid: Tid,
    address: usize,
    buffer: &mut [T; N],
) -> io::Result<i64> {
    request(code, tid, address, buffer.as_mut_ptr() as usize)
}

/// Whether a request failed because the thread is gone, or has been killed and is going.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}
