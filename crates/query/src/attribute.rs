//! What a case can be told apart by.

use iotrail_model::Case;

/// An attribute of a recorded case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// The command's identifier.
    Cid,
    /// Name of the host.
    Host,
    /// Rank of the case, if it has one.
    Rid,
    /// The label given at import.
    Label,
    /// The trail it was read from.
    Trail,
}

/// All names, for messages.
pub(crate) const NAMES: &str = "cid, host, rid, label, trail";

impl Attribute {
    /// The attribute of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "cid" => Self::Cid,
            "host" => Self::Host,
            "rid" | "rank" => Self::Rid,
            "label" => Self::Label,
            "trail" => Self::Trail,
            _ => return None,
        })
    }

    /// Its value for `case`, read from `trail`; `None` if it is unknown.
    #[must_use]
    pub fn of<'a>(self, case: &'a Case, trail: &'a str) -> Option<&'a str> {
        match self {
            Self::Cid => case.name.cid.as_deref(),
            Self::Host => case.name.host.as_deref(),
            Self::Rid => case.name.rid.as_deref(),
            Self::Label => case.label.as_deref(),
            Self::Trail => Some(trail),
        }
    }
}
