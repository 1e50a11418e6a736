//! The dictionaries that events under construction refer to.

use crate::calls;
use crate::interner::Interner;

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
}

impl Default for Dictionaries {
    fn default() -> Self {
        Self {
            calls: calls::dictionary(),
            paths: Interner::new(),
            errnos: Interner::new(),
            flags: Interner::new(),
        }
    }
}
