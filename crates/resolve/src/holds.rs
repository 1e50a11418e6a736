//! Which kinds of calls a trace is known to hold.

/// Whether a trace holds the calls that cursors depend on. strace can be told to leave calls out, and does not say so; but it
/// is told what to hold by name or by kind, so calls that nobody asks for by name tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holds(u8);

impl Holds {
    /// It may hold anything or nothing.
    pub(crate) const NOTHING: Self = Self(0);
    /// Calls on descriptors.
    pub(crate) const DESCRIPTORS: Self = Self(1);
    /// Calls that make processes.
    pub(crate) const PROCESSES: Self = Self(2);
    /// Calls of both kinds.
    pub(crate) const ALL: Self = Self(3);
    /// `read`.
    pub(crate) const READS: Self = Self(4);
    /// `write`.
    pub(crate) const WRITES: Self = Self(8);
    /// All of these.
    pub(crate) const EVERYTHING: Self = Self(15);
    /// Something is missing, whatever else it holds.
    const INCOMPLETE: u8 = 16;

    #[inline]
    pub(crate) fn learn(&mut self, shown: Self) {
        self.0 |= shown.0;
    }

    /// A call is missing that must have been made.
    pub(crate) fn misses(&mut self) {
        self.0 |= Self::INCOMPLETE;
    }

    /// What must be held so that all calls are seen that move the cursor of a file which is open for that.
    pub(crate) fn of_open(reads: bool, writes: bool) -> Self {
        let bits = |holds: Self, wanted: bool| if wanted { holds.0 } else { 0 };
        Self(Self::ALL.0 | bits(Self::READS, reads) | bits(Self::WRITES, writes))
    }

    #[inline]
    pub(crate) fn hold(self, needed: Self) -> bool {
        self.0 & (needed.0 | Self::INCOMPLETE) == needed.0
    }
}

impl Default for Holds {
    fn default() -> Self {
        Self::EVERYTHING
    }
}
