//! How a graph is synthesized, beyond the query.

use crate::concurrency::ConcurrencyRule;
use iotrail_model::threads::one_per_core;
use std::num::NonZeroUsize;

/// Options of [`crate::synthesize()`] and [`crate::compare()`]; the result does not depend on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DfgOptions {
    /// How concurrent events are counted.
    pub max_concurrency: ConcurrencyRule,
    /// How many threads read the log.
    pub threads: NonZeroUsize,
}

impl Default for DfgOptions {
    /// The exact rule, and as many threads as the process may use.
    fn default() -> Self {
        Self { max_concurrency: ConcurrencyRule::default(), threads: one_per_core() }
    }
}
