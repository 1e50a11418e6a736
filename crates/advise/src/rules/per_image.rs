//! What a rule keeps of each program that a process executed, until that ends: then only what is a habit by itself stays, so that
//! memory grows with the programs that run at once and with what is found, not with all that ever ran.

use super::habit::Image;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::hash::Hash;

/// Values by program and a second key.
pub(crate) struct PerImage<K, V>(HashMap<Image, HashMap<K, V, RandomState>, RandomState>);

impl<K, V> Default for PerImage<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash, V> PerImage<K, V> {
    pub(crate) fn entry(&mut self, (image, key): (Image, K)) -> Entry<'_, K, V, RandomState> {
        self.0.entry(image).or_default().entry(key)
    }

    pub(crate) fn get_mut(&mut self, (image, key): &(Image, K)) -> Option<&mut V> {
        self.0.get_mut(image)?.get_mut(key)
    }

    pub(crate) fn remove(&mut self, (image, key): &(Image, K)) -> Option<V> {
        self.0.get_mut(image)?.remove(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.values().flatten()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.images().flatten()
    }

    /// What each program did.
    pub(crate) fn images(&self) -> impl Iterator<Item = impl Iterator<Item = &V>> {
        self.0.values().map(HashMap::values)
    }

    /// The program has ended: what it did, of which nothing stays.
    pub(crate) fn take(&mut self, image: Image) -> impl Iterator<Item = V> + use<K, V> {
        self.0.remove(&image).into_iter().flat_map(HashMap::into_values)
    }

    /// The program has ended: of what it did stays what is a habit.
    pub(crate) fn keep_habits(&mut self, image: Image, is_habit: impl Fn(&V) -> bool) {
        let Some(of_image) = self.0.get_mut(&image) else { return };
        of_image.retain(|_, value| is_habit(value));
        of_image.shrink_to_fit();
        if of_image.is_empty() {
            self.0.remove(&image);
        }
    }

    /// The program has ended: what it did stays if it is so many together.
    pub(crate) fn keep_many(&mut self, image: Image, many: usize) {
        if self.0.get(&image).is_some_and(|of_image| of_image.len() < many) {
            self.0.remove(&image);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CaseId, Pid};

    #[test]
    fn what_is_no_habit_goes_with_its_program() {
        let image = |number| (CaseId(0), Pid(number), 0);
        let mut kept = PerImage::<u32, u64>::default();
        for (program, key, value) in [(1, 1, 5), (1, 2, 50), (2, 1, 5)] {
            *kept.entry((image(program), key)).or_default() += value;
        }
        kept.keep_habits(image(1), |value| *value >= 10);
        assert_eq!(kept.iter().collect::<std::collections::BTreeMap<_, _>>(), [(&2, &50), (&1, &5)].into());
        assert_eq!((kept.remove(&(image(1), 2)), kept.get_mut(&(image(1), 2))), (Some(50), None));
        *kept.entry((image(1), 3)).or_default() += 1;
        kept.keep_many(image(1), 2);
        assert_eq!(kept.take(image(2)).collect::<Vec<_>>(), [5]);
        assert_eq!(kept.images().flatten().count(), 0);
    }
}
