//! Memory that was freed, on its way back to the system.

/// Gives what was freed back to the system: a C library keeps it for its own next use, so that what each of several steps needed
/// would add up. Does nothing where the C library is not glibc.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes no pointers, and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
