//! The columns of events, as a structure has them.

use iotrail_model::Event;

macro_rules! indices {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// Columns in the order of the table.
        #[allow(clippy::upper_case_acronyms)]
        enum Index { $($constant),* }

        $(#[allow(dead_code)] pub(crate) const $constant: usize = Index::$constant as usize;)*
    };
}

iotrail_model::event_columns!(indices);

/// An event as numbers, one for each column.
pub(crate) type Numbers = [Option<i64>; Event::COLUMNS.len()];

/// Columns that neither all events of a line have in common (case, process, thread) nor all of an item (layer, call, error,
/// flags, call site), with the number of forms of each ([`crate::foresight`]), in the order in which they are read: what one is
/// foreseen from stands before it.
pub(crate) const OF_EXECUTION: [(usize, u8); 22] = [
    (FD, 2),
    (OPEN, 3),
    (PATH, 4),
    (FILE, 3),
    (PATH2, 3),
    (FILE2, 2),
    (OPEN2, 2),
    (REQUESTED, 1),
    (SIZE, 2),
    (RET, 4),
    (OFFSET, 3),
    (COMM, 1),
    (PEER, 1),
    (TAG, 1),
    (SENT, 1),
    (RECEIVED, 1),
    (SEQ, 2),
    (PARENT, 2),
    (START, 1),
    (DUR, 1),
    (VIA, 1),
    (ARGS, 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_its_place() {
        let common = [CASE, PID, TID, LAYER, CALL, ERRNO, FLAGS, SITE];
        let mut places: Vec<usize> =
            common.into_iter().chain(OF_EXECUTION.map(|(column, _)| column)).collect();
        places.sort_unstable();
        assert_eq!(places, (0..Event::COLUMNS.len()).collect::<Vec<_>>());
    }
}
