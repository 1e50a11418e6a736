//! The memory of another process.

use iotrail_model::Tid;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Reads from `address` of a traced thread's process into `buffer`; returns how many bytes could be read, up to the
/// first page that is not there (0 if the address is bad).
#[must_use]
pub fn read_memory(tid: Tid, address: u64, buffer: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the local vector is the caller's buffer, borrowed mutably for the call; the kernel checks the remote one.
    let read =
        unsafe { libc::process_vm_readv(tid.0 as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) => read,
        Err(_) if is_refused() => read_file(tid, address, buffer),
        Err(_) => 0,
    }
}

/// Whether the kernel (a sandbox, say) refuses the call itself and not the address.
fn is_refused() -> bool {
    matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}

/// The same through `/proc/TID/mem`, which only needs to be the tracer.
fn read_file(tid: Tid, address: u64, buffer: &mut [u8]) -> usize {
    let Ok(memory) = File::open(format!("/proc/{tid}/mem")) else { return 0 };
    memory.read_at(buffer, address).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_up_to_its_end_and_bad_addresses_give_nothing() {
        let own = Tid(std::process::id());
        let text = *b"some bytes of this process";
        let mut buffer = [0; 26];
        assert_eq!(read_memory(own, text.as_ptr() as u64, &mut buffer), 26);
        assert_eq!(buffer, text);
        assert_eq!(read_memory(own, 8, &mut buffer), 0);
        assert_eq!(read_file(own, text.as_ptr() as u64, &mut [0; 4]), 4);
    }
}
