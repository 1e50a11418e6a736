//! Files that a ring holds without descriptors ("fixed files"), as they were when they were registered.

use super::HeldFile;
use super::request::{Change, Held};
use hashbrown::HashMap;
use std::rc::Rc;

/// The kernel allows no more (`IORING_MAX_FIXED_FILES`).
const MOST: u32 = 1 << 20;

/// Files by place. A place without one is free, or holds what nobody saw.
#[derive(Debug, Default)]
pub(super) struct Files {
    ring_addresses: HashMap<u32, Rc<HeldFile>>,
}

impl Files {
    pub(super) fn at(&self, index: u32) -> Held {
        self.ring_addresses.get(&index).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.ring_addresses.clear();
    }

    pub(super) fn set(&mut self, index: u32, file: Held) {
        match file.filter(|_| index < MOST) {
            Some(file) => self.ring_addresses.insert(index, file),
            None => self.ring_addresses.remove(&index),
        };
    }

    /// An operation succeeded with this result.
    pub(super) fn apply(&mut self, change: &Change, result: i64) {
        match change {
            Change::None | Change::Pipe(_) => {}
            Change::Put(Some(place), file) => self.set(*place, file.clone()),
            Change::Put(None, file) => {
                if let Ok(place) = u32::try_from(result) {
                    self.set(place, file.clone());
                }
            }
            Change::Remove(place) => self.set(*place, None),
            Change::Update(first, files) => self.update(*first, files, result),
        }
    }

    /// A change that may have been made, or not.
    pub(super) fn may_change(&mut self, change: &Change) {
        match change {
            Change::None | Change::Pipe(_) => {}
            Change::Put(Some(place), _) | Change::Remove(place) => self.set(*place, None),
            Change::Put(None, _) => self.clear(),
            Change::Update(first, files) => {
                self.update(*first, &vec![Some(None); files.len()], files.len() as i64)
            }
        }
    }

    /// The first `number` of `files` take the places from `first` on; `None` leaves a place as it is. Of places beyond
    /// `files` nothing is known any more.
    pub(super) fn update(&mut self, first: u32, files: &[Option<Held>], number: i64) {
        let end = u32::try_from(number.max(0)).map_or(MOST, |number| first.saturating_add(number).min(MOST));
        for (place, file) in (first..end).zip(files) {
            if let Some(file) = file {
                self.set(place, file.clone());
            }
        }
        let unknown = first.saturating_add(files.len() as u32)..end;
        if !unknown.is_empty() {
            self.ring_addresses.retain(|place, _| !unknown.contains(place));
        }
    }
}
