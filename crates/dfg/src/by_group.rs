//! Figures by group, in little room: a comparison of many files holds hundreds of thousands of these.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Figures of each group that has any, sorted by the names of the groups. As JSON it is an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByGroup<T>(Vec<(Arc<str>, T)>);

impl<T> Default for ByGroup<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByGroup<T> {
    /// The figures of the group of that name.
    #[must_use]
    pub fn get(&self, group: &str) -> Option<&T> {
        self.place(group).ok().map(|index| &self.0[index].1)
    }

    /// The figures of the group of that name, which are made if there are none.
    pub fn entry(&mut self, group: &Arc<str>) -> &mut T
    where
        T: Default,
    {
        let index = self.place(group).unwrap_or_else(|index| {
            self.0.insert(index, (Arc::clone(group), T::default()));
            index
        });
        &mut self.0[index].1
    }

    /// Names and figures, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &T)> {
        self.0.iter().map(|(group, figures)| (group, figures))
    }

    /// The figures of each group.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter().map(|(_, figures)| figures)
    }

    fn place(&self, group: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(group))
    }
}

impl<T> FromIterator<(Arc<str>, T)> for ByGroup<T> {
    /// Names must be distinct.
    fn from_iter<I: IntoIterator<Item = (Arc<str>, T)>>(figures: I) -> Self {
        let mut list: Vec<(Arc<str>, T)> = figures.into_iter().collect();
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list.shrink_to_fit();
        Self(list)
    }
}

impl<T: Serialize> Serialize for ByGroup<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByGroup<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::<Arc<str>, T>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_and_found_and_survive_json() {
        let mut figures: ByGroup<u64> =
            [("b", 2), ("a", 1)].map(|(name, sum)| (name.into(), sum)).into_iter().collect();
        *figures.entry(&"c".into()) += 3;
        *figures.entry(&"b".into()) += 5;
        assert_eq!((figures.get("b"), figures.get("d")), (Some(&7), None));
        let text = serde_json::to_string(&figures).unwrap();
        assert_eq!(text, r#"{"a":1,"b":7,"c":3}"#);
        assert_eq!(serde_json::from_str::<ByGroup<u64>>(&text).unwrap(), figures);
    }
}
