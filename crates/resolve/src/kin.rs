//! Which descriptions of a table other processes may have descriptors for.
//!
//! Who copies a table shares what it names at that moment. While threads change a table of which nobody can say what each descriptor
//! stands for, a descriptor may stand for something that the table names no longer, but another process does.

use crate::ids::DescriptionId;

/// So many are remembered that a table named.
const MOST: usize = 256;

/// What a table has in common with others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kin {
    /// Whether another process has, or had, a copy of it, and threads of one of the two share theirs.
    pub(crate) is_close: bool,
    /// How many descriptions had been made when it was copied last: others may have the older ones.
    copied: u32,
    /// Those that others may have, and that it named while threads shared it.
    former: Vec<DescriptionId>,
}

impl Kin {
    /// The table is copied when so many descriptions have been made.
    pub(crate) fn is_copied(&mut self, made: u32) {
        self.copied = made;
    }

    /// Whether it was copied since so many had been made.
    pub(crate) fn was_copied_since(&self, made: u32) -> bool {
        made < self.copied
    }

    /// Whether others may have some of what it names or named.
    pub(crate) fn has_others(&self) -> bool {
        self.is_close || self.copied > 0 || !self.former.is_empty()
    }

    /// Threads that share the table gave up a descriptor for what others may have.
    pub(crate) fn gives_up(&mut self, id: DescriptionId) {
        match self.former.len() < MOST {
            _ if self.former.contains(&id) => {}
            true => self.former.push(id),
            false => self.is_close = true,
        }
    }

    /// What others may have, and the table named.
    pub(crate) fn former(&self) -> &[DescriptionId] {
        &self.former
    }
}
