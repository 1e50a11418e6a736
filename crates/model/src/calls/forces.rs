//! What a sync forces to storage.

use super::{CallKind, CallSpec};

/// What a sync forces to storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forces {
    /// All of one file, its times too.
    File,
    /// The bytes of one file and what it takes to read them.
    Data,
    /// A part of a file.
    Part,
    /// All files of a file system, or of all.
    Everything,
}

impl CallSpec {
    /// What it forces to storage; NULL if it is no sync.
    #[must_use]
    pub fn forces(&self) -> Option<Forces> {
        let forces = match self.name {
            "fsync" => Forces::File,
            "fdatasync" => Forces::Data,
            "sync" | "syncfs" => Forces::Everything,
            _ => Forces::Part,
        };
        (self.kind == CallKind::Sync).then_some(forces)
    }
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;

    #[test]
    fn syncs_force_a_file_a_part_of_it_or_everything() {
        let forces = |name| named(name).and_then(CallSpec::forces);
        let names = ["fsync", "fdatasync", "sync_file_range", "syncfs", "write"];
        let expected =
            [Some(Forces::File), Some(Forces::Data), Some(Forces::Part), Some(Forces::Everything), None];
        assert_eq!(names.map(forces), expected);
    }
}
