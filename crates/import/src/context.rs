//! What all readers of an import share.

use crate::format::Format;
use crate::options::ImportOptions;
use crate::plan::PlannedFile;
use crate::progress::Progress;
use iotrail_model::CaseId;
use std::sync::atomic::{AtomicU32, Ordering};

/// What all readers of an import share.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What the user chose.
    pub options: &'a ImportOptions,
    /// How many files a job may hold open at once.
    pub max_open: usize,
    /// Receives how far the import has come.
    pub progress: &'a dyn Progress,
    /// The formats that files may be of, the most particular first.
    pub(crate) formats: &'a [&'a dyn Format],
    /// The case that was not given to any file.
    pub(crate) next_case: &'a AtomicU32,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("options", self.options).finish_non_exhaustive()
    }
}

impl Context<'_> {
    /// Whether the user wants no more to be read.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }

    /// The id of the case number `nth` of a file: one of those that its probe asked for, or one behind those of all files.
    #[must_use]
    pub fn case_id(&self, file: &PlannedFile, nth: u32) -> CaseId {
        if nth < file.cases {
            CaseId(file.case.0.saturating_add(nth))
        } else {
            CaseId(self.next_case.fetch_add(1, Ordering::Relaxed))
        }
    }
}
