//! How much readers and part writers hold in memory.

/// The largest row group that is read; this crate writes at most a sixteenth of it. A file that declares more is not
/// believed, because columns are allocated by that number.
pub(crate) const MAX_GROUP_ROWS: usize = 1 << 22;

/// Sizes of buffers, in rows and bytes. Tests make them tiny to reach every path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// After how many rows sizes are looked at; a divisor of the other numbers of rows.
    pub(crate) check_rows: usize,
    /// Rows sorted at once; the older ones are written when so many are there. What arrives later than that is late.
    pub(crate) buffer_rows: usize,
    /// Rows of a row group of the finished part: small enough that eight cores share a million events.
    pub(crate) group_rows: usize,
    /// Late rows held before they become a sorted run on disk.
    pub(crate) late_rows: usize,
    /// Rows of a row group of a run: one is in memory per run that is merged.
    pub(crate) run_group_rows: usize,
    /// Runs merged at once.
    pub(crate) fan_in: usize,
    /// Bytes of path texts held; beyond, all buffers are written and the paths become a sorted run on disk.
    pub(crate) path_bytes: usize,
}

impl Default for Limits {
    /// About 65 MB: 112 bytes for each of 196,608 + 65,536 rows and the 131,072 of a row group, 12 MB of paths, the rest for
    /// sorting and encoding; up to 30 MB more where another thread encodes.
    fn default() -> Self {
        Self {
            check_rows: 1 << 10,
            buffer_rows: 3 << 16,
            group_rows: 1 << 17,
            late_rows: 1 << 16,
            run_group_rows: 1 << 13,
            fan_in: 32,
            path_bytes: 12 << 20,
        }
    }
}
