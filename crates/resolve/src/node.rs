//! Names by number.

/// A name in [`crate::namespace::Namespace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(pub(crate) u32);
