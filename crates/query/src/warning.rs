//! What is probably not meant by a query.

use iotrail_model::text::printable;
use std::fmt::{Display, Formatter, Result};

/// A query that can be answered, but probably asks for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// The log has several layers, nothing was said of them, and one is counted.
    OneLayerOfSeveral {
        /// Names of the layers of the log.
        there: String,
        /// The one that is counted.
        counted: String,
    },
    /// The log has no calls of the layers that were asked for.
    NoSuchLayer {
        /// Names of these layers.
        named: String,
        /// Names of the layers of the log.
        there: String,
    },
    /// Calls of several layers are counted together.
    SeveralLayers {
        /// Names of the layers.
        counted: String,
    },
    /// No case is meant by a pattern.
    NoSuchCase {
        /// The pattern that matches no case.
        word: String,
        /// The name of a case of the log.
        example: String,
    },
    /// The log has no call that is meant.
    NoSuchCall {
        /// The names that were given.
        words: String,
        /// The calls of the log.
        there: Vec<String>,
    },
    /// No case belongs to any of the groups.
    NoGroups,
}

impl Warning {
    /// The part of the query that is probably wrong; `None` where nothing was said.
    #[must_use]
    pub const fn setting(&self) -> Option<&'static str> {
        match self {
            Self::OneLayerOfSeveral { .. } => None,
            Self::NoSuchLayer { .. } | Self::SeveralLayers { .. } => Some("layer"),
            Self::NoSuchCase { .. } => Some("case"),
            Self::NoSuchCall { .. } => Some("call"),
            Self::NoGroups => Some("by"),
        }
    }
}

/// Begins with the name of the [`Warning::setting`].
impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::OneLayerOfSeveral { there, counted } => {
                write!(f, "the log has calls of several layers ({there}): only {counted} is counted")
            }
            Self::NoSuchLayer { named, there } => {
                write!(f, "layer {named}: the log has calls of {there} only")
            }
            Self::SeveralLayers { counted } => write!(
                f,
                "layer {counted}: calls of one layer make those of the next, so bytes and times are counted more than once"
            ),
            Self::NoSuchCase { word, example } => write!(
                f,
                "case {}: no case matches; cases are named like {}, a part of the name is meant as cid=…, host=…, rid=…",
                printable(word),
                printable(example)
            ),
            Self::NoSuchCall { words, .. } => {
                write!(f, "call {}: the log has no such call", printable(words))
            }
            Self::NoGroups => f.write_str("by: no case belongs to any group"),
        }
    }
}
