//! The same file is opened and closed again and again by one process.

use super::Rule;
use super::habit::{Found, Saved, Seen, text};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::CallKind;
use iotrail_model::{CaseId, Names, PathId, Pid};

/// From so many times on it is a habit.
const MANY: u64 = 10;

#[derive(Default)]
pub(crate) struct Reopen {
    files: HashMap<(CaseId, Pid, PathId), Uses, RandomState>,
}

struct Uses {
    first: Seen,
    opens: u64,
    closes: u64,
    /// All opens but the first, and all closes but one.
    saved: Saved,
}

impl Rule for Reopen {
    fn see(&mut self, call: &Seen) {
        let (Some(path), Some(_), true) = (call.path, call.file, call.is_done() && call.selected) else {
            return;
        };
        let key = (call.case, call.pid, path);
        match call.kind {
            CallKind::Open | CallKind::Create => {
                let uses = self.files.entry(key).or_insert_with(|| Uses {
                    first: *call,
                    opens: 0,
                    closes: 0,
                    saved: Saved::default(),
                });
                uses.opens += 1;
                if uses.opens > 1 {
                    uses.saved.add(call);
                }
            }
            CallKind::Close => {
                if let Some(uses) = self.files.get_mut(&key) {
                    uses.closes += 1;
                    if uses.closes > 1 {
                        uses.saved.add(call);
                    }
                }
            }
            _ => {}
        }
    }

    fn found(&self, names: &Names) -> Vec<Found> {
        let many = self.files.iter().filter(|(_, uses)| uses.opens >= MANY);
        let found = many.map(|((_, _, path), uses)| Found {
            rule: "reopen",
            file: text(names, Some(*path)),
            calls: uses.opens + uses.closes,
            saved: uses.saved,
            amount: uses.opens,
            fix: "open it once and keep it open (shell: redirect the whole loop, `done >>file`, not each command; Python: one `with open(...)` around the loop; Fortran: `open` before the loop, `rewind` instead of `close`)",
            assumes: "nobody replaces the file, or needs it to be closed, in between",
            example: uses.first,
        });
        found.collect()
    }
}
