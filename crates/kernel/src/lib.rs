//! What the kernel offers every process, in safe types: files that grow in memory, the heap, limits, clocks, threads (a pool of
//! them, and such without signals).
//!
//! Nothing here traces anybody, so whoever reads or writes trails needs no more than this.

mod append_file;
mod aside;
pub mod cpu_clock;
pub mod cpu_limit;
mod cut_guard;
pub mod file_limit;
pub mod heap;
pub mod pool;
mod shared_bytes;
mod signal_mask;
mod tick;

pub use append_file::{AppendFile, CUT};
pub use aside::work_aside;
pub use shared_bytes::SharedBytes;
pub use signal_mask::{block_all, set_mask};
pub use tick::next_tick;
