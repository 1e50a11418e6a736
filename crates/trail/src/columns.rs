//! Which columns of `events` a reader wants.

/// A set of columns of the table `events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Columns(u64);

macro_rules! columns {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// The places of the columns in the table.
        #[allow(clippy::upper_case_acronyms, reason = "they are constants of Columns")]
        enum ColumnIndex {
            $($constant,)*
        }

        impl Columns {
            $(
                #[doc = concat!("The column `", $name, "`.")]
                pub const $constant: Self = Self(1 << ColumnIndex::$constant as u32);
            )*

            /// All columns of the table.
            pub const ALL: Self = Self($(Self::$constant.0)|*);

            /// The names of the columns, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }
    };
}

iotrail_model::event_columns!(columns);

#[cfg(test)]
pub(crate) use columns;

impl Columns {
    /// No column: batches then have a length only.
    pub const NONE: Self = Self(0);

    /// Whether every column of `other` is in the set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The columns of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The columns of all these sets.
    #[must_use]
    pub fn of(sets: impl IntoIterator<Item = Self>) -> Self {
        sets.into_iter().fold(Self::NONE, Self::union)
    }

    /// With the paths that are needed to tell the files.
    pub(crate) fn with_paths_of_files(self) -> Self {
        let path = if self.contains(Self::FILE) { Self::PATH } else { Self::NONE };
        let path2 = if self.contains(Self::FILE2) { Self::PATH2 } else { Self::NONE };
        self | path | path2
    }

    /// Where the one column of this set is in the table.
    pub(crate) const fn place(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The column at a place of the table.
    pub(crate) const fn at(index: usize) -> Self {
        Self(1 << index)
    }

    /// The columns' places in the table.
    pub(crate) fn indices(self) -> impl Iterator<Item = usize> {
        (0..Self::NAMES.len()).filter(move |index| self.0 & (1 << index) != 0)
    }
}

impl FromIterator<usize> for Columns {
    /// The columns at these places of the table; there is nothing at places beyond its end.
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let known = places.into_iter().filter(|place| *place < Self::NAMES.len());
        Self(known.fold(0, |set, place| set | 1 << place))
    }
}

impl std::ops::BitOr for Columns {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl std::ops::BitOrAssign for Columns {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.union(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_follow_the_order_of_the_table() {
        assert_eq!((Columns::CASE | Columns::FLAGS).indices().collect::<Vec<_>>(), [0, 16]);
        assert_eq!(Columns::ALL.indices().count(), Columns::NAMES.len());
        assert_eq!([16, 0, 31, 99].into_iter().collect::<Columns>(), Columns::CASE | Columns::FLAGS);
        assert!(Columns::ALL.contains(Columns::PATH2) && !Columns::PATH.contains(Columns::PATH2));
    }
}
