//! Which names the present piece has defined already.
//!
//! The writer's ids become the piece's own by one look into a table; a new piece or a renaming caller only begins
//! another epoch.

use iotrail_model::NameKind;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    epoch: u32,
    id: u32,
}

/// The caller's ids and the piece's, for each column.
#[derive(Debug)]
pub(crate) struct LocalNames {
    epoch: u32,
    /// Number of pieces begun.
    piece: u32,
    tables: [Vec<Entry>; 4],
    next: [u32; 4],
}

impl Default for LocalNames {
    fn default() -> Self {
        Self { epoch: 1, piece: 0, tables: Default::default(), next: [0; 4] }
    }
}

impl LocalNames {
    /// The piece's id, if the name is defined.
    #[inline]
    pub(crate) fn get(&self, column: NameKind, id: u32) -> Option<u32> {
        let entry = self.tables[column as usize].get(id as usize)?;
        (entry.epoch == self.epoch).then_some(entry.id)
    }

    /// The id that the next name of `column` gets.
    pub(crate) fn next(&self, column: NameKind) -> u32 {
        self.next[column as usize]
    }

    /// The caller's name `id` was defined with the next id. `known` is how many names the caller has.
    pub(crate) fn define(&mut self, column: NameKind, id: u32, known: usize) {
        let table = &mut self.tables[column as usize];
        if table.len() <= id as usize {
            table.resize(known.max(id as usize + 1), Entry::default());
        }
        let next = &mut self.next[column as usize];
        table[id as usize] = Entry { epoch: self.epoch, id: *next };
        *next += 1;
    }

    pub(crate) fn piece(&self) -> u32 {
        self.piece
    }

    /// A new piece begins: nothing is defined.
    pub(crate) fn begin_piece(&mut self) {
        self.piece = self.piece.wrapping_add(1);
        self.next = [0; 4];
        self.forget();
    }

    /// The caller's ids change their meaning; the piece's go on.
    pub(crate) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Entries of four thousand million epochs ago must not come to life again.
            self.tables = Default::default();
            self.epoch = 1;
        }
    }
}
