//! Who uses a file from other recorded cases. Rules see one case after the other, whatever the time: that nobody changed or read a file in
//! between can only be said of the case itself.

use super::habit::Seen;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId};

/// The cases that change each file, and those that read it.
#[derive(Default)]
pub(crate) struct Beside {
    changes: HashMap<FileId, Cases, RandomState>,
    reads: HashMap<FileId, Cases, RandomState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cases {
    One(CaseId),
    Several,
}

impl Cases {
    fn and(self, case: CaseId) -> Self {
        if self == Self::One(case) { self } else { Self::Several }
    }

    fn has_other_than(self, case: CaseId) -> bool {
        self != Self::One(case)
    }
}

impl Beside {
    pub(crate) fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let renames = matches!(call.kind, CallKind::Rename | CallKind::Link | CallKind::Unlink);
        let reads = matches!(call.transfer, Transfer::Read | Transfer::Copy) || call.kind == CallKind::Map;
        for (is_so, cases) in [(renames || call.changes(), &mut self.changes), (reads, &mut self.reads)] {
            if is_so {
                cases
                    .entry(file)
                    .and_modify(|cases| *cases = cases.and(call.case))
                    .or_insert(Cases::One(call.case));
            }
        }
    }

    /// Whether another case changes the file.
    pub(crate) fn changes(&self, file: FileId, case: CaseId) -> bool {
        self.changes.get(&file).is_some_and(|cases| cases.has_other_than(case))
    }

    /// Whether another case reads or changes the file.
    pub(crate) fn uses(&self, file: FileId, case: CaseId) -> bool {
        self.changes(file, case) || self.reads.get(&file).is_some_and(|cases| cases.has_other_than(case))
    }
}
