//! Files that processes may change through memory, which no call shows.

use super::habit::{Image, Seen};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::FileId;
use iotrail_model::calls::CallKind;

/// Who has a shared mapping of which file. A mapping for reading counts, too: `mprotect` makes it writable, and recordings may
/// leave that out. How much of a file `munmap` frees no trail tells, so a mapping lasts as long as its process; once that has
/// made another one, which may have it too, for ever.
#[derive(Default)]
pub(crate) struct SharedMappings {
    /// How many have one, of each file that somebody has mapped.
    holders: HashMap<FileId, u64, RandomState>,
    held: HashMap<Image, HashSet<FileId, RandomState>, RandomState>,
}

impl SharedMappings {
    /// The next call of the log, which was done.
    pub(crate) fn see(&mut self, call: &Seen) {
        match call.kind {
            CallKind::Map => {
                let Some(file) = call.file.filter(|_| call.shares) else { return };
                if self.held.entry(call.process()).or_default().insert(file) {
                    *self.holders.entry(file).or_default() += 1;
                }
            }
            CallKind::Spawn | CallKind::Vfork => {
                self.held.remove(&call.process());
            }
            CallKind::Exec | CallKind::ExitProcess => self.release(call),
            _ => {}
        }
    }

    fn release(&mut self, call: &Seen) {
        for file in self.held.remove(&call.process()).into_iter().flatten() {
            if let Some(holders) = self.holders.get_mut(&file) {
                *holders -= 1;
                if *holders == 0 {
                    self.holders.remove(&file);
                }
            }
        }
    }

    /// Whether somebody may change a file through memory now.
    pub(crate) fn has(&self, file: FileId) -> bool {
        self.holders.contains_key(&file)
    }
}
