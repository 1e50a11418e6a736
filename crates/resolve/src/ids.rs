//! Numbers of what [`crate::descriptor_tables`] holds.

/// An open file description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptionId(pub(crate) u32);

/// A descriptor table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableId(pub(crate) u32);
