//! What the items come from.

/// What is known of the items from the way in which they were recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// Whether nothing is known but the calls of a trace.
    pub(crate) is_trace: bool,
    /// Whether each thread has a file of its own.
    pub(crate) own_files: bool,
}
