//! A value that may be unknown, in the space of the value itself.
//!
//! Most columns of events may be NULL; `Option<i64>` would double each of them and stop loops over columns
//! from being vectorised. The reserved value (the smallest integer, the largest id) never occurs in a trace.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type with one value that stands for NULL.
pub trait Sentinel: Copy + PartialEq {
    /// The value that stands for NULL.
    const NULL: Self;
}

impl Sentinel for i64 {
    const NULL: Self = Self::MIN;
}

impl Sentinel for u64 {
    const NULL: Self = Self::MAX;
}

impl Sentinel for i32 {
    const NULL: Self = Self::MIN;
}

/// `T` or NULL. NULL is the default.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Nullable<T>(T);

impl<T: Sentinel> Nullable<T> {
    /// The unknown value.
    pub const NULL: Self = Self(T::NULL);

    /// A known value. The reserved value of `T` becomes NULL.
    #[inline]
    #[must_use]
    pub const fn some(value: T) -> Self {
        Self(value)
    }

    /// The value, if it is known.
    #[inline]
    #[must_use]
    pub fn get(self) -> Option<T> {
        (self.0 != T::NULL).then_some(self.0)
    }

    /// Whether the value is unknown.
    #[inline]
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0 == T::NULL
    }

    /// The value as stored, the reserved value for NULL.
    #[inline]
    #[must_use]
    pub const fn raw(self) -> T {
        self.0
    }
}

impl<T: Sentinel> Default for Nullable<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T: Sentinel> From<Option<T>> for Nullable<T> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        Self(value.unwrap_or(T::NULL))
    }
}

impl<T: Sentinel + std::fmt::Debug> std::fmt::Debug for Nullable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.get() {
            Some(value) => value.fmt(f),
            None => f.write_str("NULL"),
        }
    }
}

impl<T: Sentinel + Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, T: Sentinel + Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathId;

    #[test]
    fn null_is_neither_zero_nor_empty() {
        assert_eq!(Nullable::<i64>::default().get(), None);
        assert_eq!(Nullable::some(0_i64).get(), Some(0));
        assert_eq!(Nullable::some(PathId(0)).get(), Some(PathId(0)));
        assert_eq!(size_of::<Nullable<PathId>>(), 4);
    }
}
