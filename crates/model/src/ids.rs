//! Newtypes for identifiers: a bare integer never crosses a module border.

use crate::nullable::Sentinel;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into the table it belongs to.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of row `index`; tables hold fewer than 2^32 - 1 rows.
            #[inline]
            #[must_use]
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Sentinel for $name {
            const NULL: Self = Self(u32::MAX);
        }
    };
}

id!(/// Row of the table `cases`.
    CaseId);
id!(/// Process (thread group).
    Pid);
id!(/// Thread.
    Tid);
id!(/// A call name in a [`crate::calls`] dictionary; ids below `calls::TABLE.len()` are rows of that table.
    CallId);
id!(/// A path in the path dictionary.
    PathId);
id!(/// A file by its identity, whatever its names. In a stream of events under construction and in a part of a trail: the
    /// number that the resolver gave it; in a log: a row of its distinct files.
    FileId);
id!(/// An open file description: what `open` makes and `dup`, `fork` and messages share. Unique within its case, never
    /// used again.
    OpenId);
id!(/// A call site: a stack of calls that ends in a call. In a log: a row of its sites.
    SiteId);
id!(/// A symbolic error name (`ENOENT`) in its dictionary.
    ErrnoId);
id!(/// A text of flags (`O_RDONLY|O_CLOEXEC`) in its dictionary.
    FlagsId);
