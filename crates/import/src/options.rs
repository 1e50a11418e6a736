//! What a user may choose about an import.

use crate::naming::CasePattern;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a user may choose about an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// How file names become case names.
    pub case_pattern: CasePattern,
    /// The name of the format of all inputs; without it each file tells its own.
    pub format: Option<String>,
    /// Label of all cases.
    pub label: Option<String>,
    /// Year, month and day of the first line of every file, for time stamps without a date.
    pub date: Option<(i64, i64, i64)>,
    /// Number of threads, by default one per core. The result does not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// Whether a trail at the target is replaced.
    pub overwrite: bool,
    /// Set it to end the import early: what was read until then is imported, and the trail says so.
    pub cancel: Arc<AtomicBool>,
}
