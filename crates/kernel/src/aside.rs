//! Work that no signal interrupts.

use crate::signal_mask::{block_all, set_mask};
use std::io;

/// Runs `work` in a thread that takes no signals of the process: they are for the recorder.
///
/// # Errors
/// No thread can be made.
pub fn work_aside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mask = block_all();
    let thread = std::thread::Builder::new().stack_size(1 << 17).spawn(work);
    set_mask(&mask);
    thread.map(drop)
}
