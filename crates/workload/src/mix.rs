//! How often each of several things occurred.

use std::collections::{BTreeMap, BTreeSet};

/// The share of `key` in a mix; NULL if the mix is empty.
#[must_use]
pub fn share<K: Ord>(mix: &BTreeMap<K, u64>, key: &K) -> Option<f64> {
    let total = total(mix);
    (total > 0).then(|| mix.get(key).copied().unwrap_or(0) as f64 / total as f64)
}

/// Total variation of two mixes, ½Σ|p−q| over their shares: 0 if they are equal, 1 if they have nothing in common. That
/// of two empty mixes is 0, that of an empty and another one 1.
#[must_use]
pub fn total_variation<K: Ord>(one: &BTreeMap<K, u64>, other: &BTreeMap<K, u64>) -> f64 {
    if total(one) == 0 || total(other) == 0 {
        return f64::from(u8::from(total(one) != total(other)));
    }
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    let difference =
        |key: &K| (share(one, key).unwrap_or_default() - share(other, key).unwrap_or_default()).abs();
    keys.into_iter().map(difference).sum::<f64>() / 2.0
}

fn total<K>(mix: &BTreeMap<K, u64>) -> u64 {
    mix.values().sum()
}
