//! The dictionaries that events under construction refer to.

use crate::calls;
use crate::ids::FileId;
use crate::interner::Interner;
use crate::nullable::Nullable;

/// One dictionary per column of names. Parser, resolver and writer of one stream share them.
///
/// `paths` holds exact bytes; the tables hold their text form ([`crate::text::path_to_text`]).
#[derive(Clone, Debug)]
pub struct Dictionaries {
    /// Call names; the rows of [`calls::TABLE`] have their own numbers.
    pub calls: Interner,
    /// Paths, exact bytes.
    pub paths: Interner,
    /// Error names.
    pub errnos: Interner,
    /// Flag texts.
    pub flags: Interner,
    /// How many files were numbered. Resolvers that share the dictionaries never give a number twice.
    pub files: u32,
}

impl Dictionaries {
    /// The number of a file that has none yet; NULL when there are no more.
    pub fn next_file(&mut self) -> Nullable<FileId> {
        let file = Nullable::some(FileId(self.files));
        self.files = self.files.saturating_add(1);
        file
    }
}

impl Default for Dictionaries {
    fn default() -> Self {
        Self {
            calls: calls::dictionary(),
            paths: Interner::new(),
            errnos: Interner::new(),
            flags: Interner::new(),
            files: 0,
        }
    }
}
