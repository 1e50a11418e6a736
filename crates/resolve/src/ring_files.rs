//! Files that rings opened without a descriptor.

use hashbrown::HashMap;
use iotrail_model::FileId;

/// Files that are remembered.
const MOST: usize = 1 << 16;

/// Files by the names that they had when a ring opened them: calls on them say how they were called then.
#[derive(Debug, Default)]
pub(crate) struct RingFiles {
    by_name: HashMap<Box<[u8]>, FileId, foldhash::fast::RandomState>,
}

impl RingFiles {
    /// A ring opened this file.
    pub(crate) fn insert(&mut self, name: &[u8], file: FileId) {
        if self.by_name.len() >= MOST {
            self.by_name.clear();
        }
        self.by_name.insert(name.into(), file);
    }

    /// The file that was opened so.
    pub(crate) fn get(&self, name: &[u8]) -> Option<FileId> {
        self.by_name.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_file_of_a_name_counts_and_millions_cost_no_memory() {
        let mut files = RingFiles::default();
        files.insert(b"/a", FileId(1));
        files.insert(b"/a", FileId(2));
        assert_eq!((files.get(b"/a"), files.get(b"/b")), (Some(FileId(2)), None));
        (0..200_000_u32).for_each(|number| files.insert(&number.to_le_bytes(), FileId(number)));
        assert!(files.by_name.len() <= MOST);
    }
}
