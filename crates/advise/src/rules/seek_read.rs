//! Each read or write is preceded by a seek, which `pread` and `pwrite` do not need.

use super::Rule;
use super::habit::{Found, Saved, Seen, text};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, Names, PathId, Pid, Tid};

/// From so many times on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct SeekRead {
    /// The last call of a thread if it was a seek.
    seeks: HashMap<(CaseId, Tid), Seen, RandomState>,
    files: HashMap<(CaseId, Pid, PathId), Uses, RandomState>,
}

struct Uses {
    first: Seen,
    saved: Saved,
}

impl Rule for SeekRead {
    fn see(&mut self, call: &Seen) {
        let thread = (call.case, call.tid);
        let before = self.seeks.remove(&thread);
        if call.kind == CallKind::Seek && call.is_done() && call.file.is_some() && call.open.is_some() {
            self.seeks.insert(thread, *call);
            return;
        }
        let moves = matches!(call.kind, CallKind::Read | CallKind::Write) && call.transfer != Transfer::Copy;
        let seek = before.filter(|seek| moves && call.is_done() && call.selected && seek.open == call.open);
        if let (Some(seek), Some(path)) = (seek, call.path) {
            let key = (call.case, call.pid, path);
            let uses = self.files.entry(key).or_insert_with(|| Uses { first: seek, saved: Saved::default() });
            uses.saved.add(&seek);
        }
    }

    fn found(&self, names: &Names) -> Vec<Found> {
        let many = self.files.iter().filter(|(_, uses)| uses.saved.calls >= MANY);
        let found = many.map(|((_, _, path), uses)| Found {
            rule: "seek-read",
            file: text(names, Some(*path)),
            calls: 2 * uses.saved.calls,
            saved: uses.saved,
            amount: uses.saved.calls,
            fix: "give the offset with the transfer: C: pread and pwrite; Python: os.pread, os.pwrite; MPI: MPI_File_read_at; Fortran: stream access with `pos=` (whose library still seeks)",
            assumes: "nothing uses the position of the file afterwards",
            example: uses.first,
        });
        found.collect()
    }
}
