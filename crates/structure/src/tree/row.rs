//! Items of a body in which no key has two runs in an execution: one row that all executions share.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::KeyId;

const SPACING: u64 = 1 << 24;

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
            self.relabel();
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
        let next = self.order.range(label + 1..).next().map_or(label + 2 * SPACING, |(&next, _)| next);
        Some(label + (next - label) / 2).filter(|&middle| middle > label)
    }

    fn relabel(&mut self) {
        let items: Vec<usize> = self.ordered().collect();
        self.order.clear();
        self.of_key.clear();
        for (index, item) in items.into_iter().enumerate() {
            self.labels[item].1 = (index as u64 + 1) * SPACING;
            self.place(item);
        }
    }

    fn place(&mut self, item: usize) {
        let (key, label) = self.labels[item];
        self.order.insert(label, item);
        self.of_key.entry(key).or_default().insert(label, item);
    }
}
