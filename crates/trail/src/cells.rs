//! Rows of one column, whatever the table: on their way into a small table, and out of any file.

/// Cells of a column by row; `T` is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells<T> {
    /// True or false.
    Truths(Vec<Option<bool>>),
    /// Integers: the bits of those without sign, nanoseconds of times.
    Numbers(Vec<Option<i64>>),
    /// Texts.
    Texts(Vec<Option<T>>),
    /// Lists of texts.
    Lists(Vec<Vec<T>>),
}

impl<T> Cells<T> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Truths(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
            Self::Lists(cells) => cells.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
