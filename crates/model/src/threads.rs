//! How many threads work is shared among.

use std::num::NonZeroUsize;

/// One thread for each core that this process may use; one if that cannot be found out.
#[must_use]
pub fn one_per_core() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
