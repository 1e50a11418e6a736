//! Files that a ring holds without descriptors ("fixed files"), by the names that they had when they were registered.

use super::request::{Change, Held};
use hashbrown::HashMap;
use std::rc::Rc;

/// The kernel allows no more (`IORING_MAX_FIXED_FILES`).
const MOST: u32 = 1 << 20;

/// Names by place. A place without a name is free, or holds what nobody saw.
#[derive(Debug, Default)]
pub(super) struct Files {
    names: HashMap<u32, Rc<[u8]>>,
}

impl Files {
    pub(super) fn name(&self, place: u32) -> Held {
        self.names.get(&place).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
    }

    pub(super) fn set(&mut self, place: u32, name: Held) {
        match name.filter(|_| place < MOST) {
            Some(name) => self.names.insert(place, name),
            None => self.names.remove(&place),
        };
    }

    /// An operation succeeded with this result.
    pub(super) fn apply(&mut self, change: &Change, result: i64) {
        match change {
            Change::None | Change::Pipe(_) => {}
            Change::Put(Some(place), name) => self.set(*place, name.clone()),
            Change::Put(None, name) => {
                if let Ok(place) = u32::try_from(result) {
                    self.set(place, name.clone());
                }
            }
            Change::Remove(place) => self.set(*place, None),
            Change::Update(first, names) => self.update(*first, names, result),
        }
    }

    /// The first `number` of `names` take the places from `first` on; `None` leaves a place as it is. Of places beyond
    /// `names` nothing is known any more.
    pub(super) fn update(&mut self, first: u32, names: &[Option<Held>], number: i64) {
        let end = u32::try_from(number.max(0)).map_or(MOST, |number| first.saturating_add(number).min(MOST));
        for (place, name) in (first..end).zip(names) {
            if let Some(name) = name {
                self.set(place, name.clone());
            }
        }
        let unknown = first.saturating_add(names.len() as u32)..end;
        if !unknown.is_empty() {
            self.names.retain(|place, _| !unknown.contains(place));
        }
    }
}
