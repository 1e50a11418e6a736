//! Numbers and texts as bytes.

use crate::arithmetic::Encoder;
use crate::columns;
use crate::columns::{FREE_CELLS, Known};

/// A section under construction. Integers are varints of seven bits a byte, the lowest first; signed ones zigzag.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
    /// Numbers that stand beside the bytes, as they would only be in the way of what compresses.
    pub(crate) digits: Encoder,
    /// Cells that took less than a byte, or might have.
    taken: usize,
}

impl Writer {
    pub(crate) fn number(&mut self, number: impl Into<u128>) {
        let mut rest = number.into();
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    pub(crate) fn len(&mut self, len: usize) {
        self.number(len as u64);
    }

    pub(crate) fn signed(&mut self, number: impl Into<i128>) {
        let number = number.into();
        self.number(((number << 1) ^ (number >> 127)) as u128);
    }

    /// A number that may be unknown, as the difference to the one before.
    pub(crate) fn next(&mut self, number: Option<i64>, last: &mut i64) {
        match number {
            None => self.number(0_u8),
            Some(number) => {
                let step = i128::from(number) - i128::from(*last);
                self.number(1 + ((step << 1) ^ (step >> 127)) as u128);
                *last = number;
            }
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.len(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn texts<T: AsRef<str>>(&mut self, texts: &[T]) {
        self.len(texts.len());
        texts.iter().for_each(|text| self.text(text.as_ref()));
    }

    /// Whether so many cells more may take less than a byte each.
    pub(crate) fn takes_cells(&mut self, cells: usize) -> bool {
        let taken = self.taken.saturating_add(cells);
        let is_free = taken <= FREE_CELLS;
        if is_free {
            self.taken = taken;
        }
        is_free
    }

    /// A table of these columns.
    pub(crate) fn columns<R>(&mut self, rows: &[R], columns: &[fn(&R) -> Option<i64>]) {
        let columns: Vec<_> = columns.iter().map(|column| rows.iter().map(column).collect()).collect();
        columns::write(rows.len(), &columns, Known::default(), self);
    }
}
