//! What ranks do to the files of a class, as distributions.
//!
//! Source: PIONEER, table III; the symbols are the paper's.

use super::{FileKind, Mode, NameCall, RequestKind};
use std::collections::BTreeMap;

/// What each rank of a group does to the files of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Index of the group; NULL for all ranks that use the files.
    pub ranks: Option<usize>,
    /// OS: files of a rank.
    pub files: BTreeMap<u64, u64>,
    /// OT: sessions of a file.
    pub sessions: BTreeMap<u64, u64>,
    /// D: requests of a session after its open, the close included.
    pub depth: BTreeMap<u64, u64>,
    /// ISG₀: position of the first open of a file.
    pub first_gap: BTreeMap<u64, u64>,
    /// ISG: from the last request of a session to the open of the next one of the file.
    pub session_gap: BTreeMap<i64, u64>,
    /// IRG: from a request of a session to the next.
    pub request_gap: BTreeMap<u64, u64>,
    /// AM: how files are opened.
    pub modes: BTreeMap<Mode, u64>,
    /// RT1: requests between open and close.
    pub requests: BTreeMap<RequestKind, u64>,
    /// RT2: calls that name a file, as numbers of a rank.
    pub calls: BTreeMap<NameCall, u64>,
    /// SIZE: bytes of transfers.
    pub sizes: BTreeMap<u64, u64>,
    /// Those of writes, where reads have other ones; else empty.
    pub write_sizes: BTreeMap<u64, u64>,
    /// SEQ: of so many transfers that follow another one, so many begin where that ended: of all, consecutive.
    pub pairs: [u64; 2],
    /// OFF: where transfers begin that do not.
    pub offsets: BTreeMap<u64, u64>,
    /// Where such writes begin, where reads begin elsewhere; else empty.
    pub write_offsets: BTreeMap<u64, u64>,
    /// FS: bytes of a file, within which reads stay.
    pub file_size: u64,
    /// ST: times before requests, in ns.
    pub slack: BTreeMap<u64, u64>,
    /// How long a request takes on average, in ns.
    pub duration: u64,
}

impl Statistics {
    /// Whether a session or a call makes files.
    pub(super) fn makes(&self) -> bool {
        self.modes.keys().any(|mode| mode.create) || self.calls.contains_key(&NameCall::MakeDirectory)
    }

    /// Whether files must be there before.
    pub(super) fn needs(&self, kind: FileKind) -> bool {
        let opens = self.modes.keys().any(|mode| !mode.create);
        let made = self.modes.keys().any(|mode| mode.create);
        match kind {
            FileKind::File => opens || !made && !self.calls.is_empty(),
            FileKind::Directory => !self.calls.contains_key(&NameCall::MakeDirectory),
            FileKind::Absent => false,
        }
    }

    /// Sizes of transfers of that kind.
    #[must_use]
    pub fn sizes_of(&self, kind: RequestKind) -> &BTreeMap<u64, u64> {
        let own = kind == RequestKind::Write && !self.write_sizes.is_empty();
        if own { &self.write_sizes } else { &self.sizes }
    }

    /// Where transfers of that kind begin that follow none.
    #[must_use]
    pub fn offsets_of(&self, kind: RequestKind) -> &BTreeMap<u64, u64> {
        let own = kind == RequestKind::Write && !self.write_offsets.is_empty();
        if own { &self.write_offsets } else { &self.offsets }
    }
}
