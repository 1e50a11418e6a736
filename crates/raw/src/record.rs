//! A raw record: an item that stands by itself.

use crate::item::Stored;
use iotrail_model::Dictionaries;
use iotrail_model::raw::RawItem;
use serde::{Deserialize, Serialize};

/// An item with everything that it refers to. Calls are told by name, so that it means the same wherever it is read.
///
/// With serde it is the object that the [crate](crate) describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawRecord(Stored);

impl RawRecord {
    /// Copies an item; `names` hold the names of its calls.
    #[must_use]
    pub fn of(item: &RawItem<'_>, names: &Dictionaries) -> Self {
        Self(Stored::of(item, names))
    }

    /// The record on a line, if it is one.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Shows the item, whose calls are in `names` from then on.
    pub fn with<R>(
        &self,
        names: &mut Dictionaries,
        show: impl FnOnce(&RawItem<'_>, &mut Dictionaries) -> R,
    ) -> R {
        self.0.with(names, show)
    }
}
