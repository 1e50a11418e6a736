//! A column while it is collected.

use hashbrown::HashSet;
use iotrail_structure::Value;

/// Values in the space of numbers; a column of nothing but NULL takes none.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    numbers: Vec<i64>,
    /// Rows whose number is the one that stands for NULL.
    smallest: HashSet<usize>,
}

const NULL: i64 = i64::MIN;

impl Cells {
    /// The value of a row, which follows all that have one.
    pub(crate) fn set(&mut self, row: usize, value: Value) {
        let Some(number) = value else { return };
        self.numbers.resize(row, NULL);
        self.numbers.push(number);
        if number == NULL {
            self.smallest.insert(row);
        }
    }

    pub(crate) fn get(&self, row: usize) -> Value {
        let number = *self.numbers.get(row)?;
        (number != NULL || self.smallest.contains(&row)).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        let values = [None, Some(7), Some(i64::MIN), None, Some(i64::MAX), None];
        let mut cells = Cells::default();
        (0..).zip(values).for_each(|(row, value)| cells.set(row, value));
        assert_eq!((0..values.len()).map(|row| cells.get(row)).collect::<Vec<_>>(), values);
    }
}
