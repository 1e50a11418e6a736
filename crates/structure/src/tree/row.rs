//! Items of a body in which no key has two runs in an execution: one row that all executions share.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::KeyId;

/// Labels are below.
const LABELS: u64 = 1 << 62;
/// Between items that are added behind all others.
const SPACING: u64 = 1 << 28;
/// A range of 2^n labels is sparse that has this to the power of n.
const SPARSE: f64 = 1.5;

/// Items in an order that grows in the middle. Labels, of which the numbers alone mean nothing, keep it.
#[derive(Default)]
pub(super) struct Row {
    order: BTreeMap<u64, usize>,
    of_key: HashMap<KeyId, BTreeMap<u64, usize>>,
    labels: Vec<(KeyId, u64)>,
}

impl Row {
    /// The first item of `key` behind the item `last`.
    pub(super) fn behind(&self, last: Option<usize>, key: KeyId) -> Option<usize> {
        let items = self.of_key.get(&key)?;
        items.range(self.label(last) + 1..).next().map(|(_, &item)| item)
    }

    /// The one of two items that stands behind the other.
    pub(super) fn later(&self, one: Option<usize>, other: Option<usize>) -> Option<usize> {
        if self.label(one) < self.label(other) { other } else { one }
    }

    /// The first item of `key`, wherever it is.
    pub(super) fn any(&self, key: KeyId) -> Option<usize> {
        self.of_key.get(&key)?.values().next().copied()
    }

    /// Items by position.
    pub(super) fn ordered(&self) -> impl Iterator<Item = usize> {
        self.order.values().copied()
    }

    fn label(&self, item: Option<usize>) -> u64 {
        item.map_or(0, |item| self.labels[item].1)
    }

    /// A new item directly behind `last`.
    pub(super) fn insert(&mut self, last: Option<usize>, key: KeyId) -> usize {
        let mut label = self.free_label(last);
        if label.is_none() {
            self.make_room(self.label(last));
            label = self.free_label(last);
        }
        let label = label.unwrap_or_default();
        let item = self.labels.len();
        self.labels.push((key, label));
        self.place(item);
        item
    }

    fn free_label(&self, last: Option<usize>) -> Option<u64> {
        let label = self.label(last);
        let next = self.order.range(label + 1..).next().map_or(LABELS, |(&next, _)| next);
        let step = ((next - label) / 2).min(SPACING);
        (step > 0).then_some(label + step)
    }

    /// Spreads the labels around one over the smallest range in which they are sparse enough, so that each insertion moves but a few
    /// of them on average. Source: Bender et al., Two simplified algorithms for maintaining order in a list (2002).
    fn make_room(&mut self, label: u64) {
        for bits in 2..=LABELS.ilog2() {
            let size = 1 << bits;
            let from = label & !(size - 1);
            let items: Vec<usize> = self.order.range(from..from + size).map(|(_, &item)| item).collect();
            let spacing = size / (items.len() as u64 + 1);
            if spacing < 2 || items.len() as f64 > SPARSE.powi(bits as i32) {
                continue;
            }
            for &item in &items {
                self.take(item);
            }
            for (item, place) in items.into_iter().zip(1..) {
                self.labels[item].1 = from + place * spacing;
                self.place(item);
            }
            return;
        }
    }

    fn take(&mut self, item: usize) {
        let (key, label) = self.labels[item];
        self.order.remove(&label);
        if let Some(of_key) = self.of_key.get_mut(&key) {
            of_key.remove(&label);
        }
    }

    fn place(&mut self, item: usize) {
        let (key, label) = self.labels[item];
        self.order.insert(label, item);
        self.of_key.entry(key).or_default().insert(label, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_order_where_there_is_no_room() {
        let mut row = Row::default();
        let mut expected = vec![row.insert(None, KeyId(0))];
        for number in 1..3_000 {
            let behind = [0, number - 1, number / 2][number % 3];
            let item = row.insert(Some(behind), KeyId(number as u32 % 7));
            let place = expected.iter().position(|other| *other == behind).expect("an item");
            expected.insert(place + 1, item);
        }
        assert_eq!(row.ordered().collect::<Vec<_>>(), expected);
        let key = |item: usize| row.labels[item].0;
        for (place, &last) in expected.iter().enumerate() {
            let next = expected[place + 1..].iter().copied().find(|&item| key(item) == KeyId(3));
            assert_eq!(row.behind(Some(last), KeyId(3)), next);
        }
    }
}
