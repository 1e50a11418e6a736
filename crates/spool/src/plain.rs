//! Columns that an event's record holds as they are, if they are not NULL; those that are cost nothing.
//!
//! The list of columns ([`iotrail_model::event_columns`]) says which these are. What is predicted from the events before it has
//! code of its own in [`crate::event_code`].

use crate::format::MAX_NAMES;
use iotrail_model::varint::{Cursor, put as put_number, put_signed};
use iotrail_model::{ErrnoId, Event, FlagsId, Nullable, PathId, SiteId};

/// Bits of a shape below this one are those of predicted columns.
const FIRST: u32 = 18;

/// A type of cell that can be stored as it is.
trait Plain: Sized {
    /// Appends a value that is not NULL.
    fn put(self, out: &mut Vec<u8>);

    fn read(from: &mut Cursor<'_>) -> Option<Self>;
}

macro_rules! plain_cells {
    ($($value:ty: $put:expr, $read:expr;)*) => {$(
        impl Plain for Nullable<$value> {
            fn put(self, out: &mut Vec<u8>) {
                $put(out, self.raw());
            }

            fn read(from: &mut Cursor<'_>) -> Option<Self> {
                $read(from).map(Self::some)
            }
        }
    )*};
}

plain_cells! {
    u64: put_number, |from: &mut Cursor<'_>| from.number();
    i64: put_signed, |from: &mut Cursor<'_>| from.signed();
    i32: |out: &mut Vec<u8>, value| put_signed(out, i64::from(value)), |from: &mut Cursor<'_>| from.signed()?.try_into().ok();
    SiteId: |out: &mut Vec<u8>, id: SiteId| put_number(out, id.0.into()), |from: &mut Cursor<'_>| from.small().map(SiteId);
    PathId: |out: &mut Vec<u8>, id: PathId| put_number(out, id.0.into()), |from: &mut Cursor<'_>| name(from).map(PathId);
    ErrnoId: |out: &mut Vec<u8>, id: ErrnoId| put_number(out, id.0.into()), |from: &mut Cursor<'_>| name(from).map(ErrnoId);
    FlagsId: |out: &mut Vec<u8>, id: FlagsId| put_number(out, id.0.into()), |from: &mut Cursor<'_>| name(from).map(FlagsId);
}

fn name(from: &mut Cursor<'_>) -> Option<u32> {
    from.small().filter(|id| *id < MAX_NAMES)
}

macro_rules! if_plain {
    (Plain, { $($code:tt)* }) => { $($code)* };
    (Predicted, { $($code:tt)* }) => {};
}

macro_rules! plain {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        #[allow(clippy::upper_case_acronyms, dead_code, reason = "they are the columns' places in the table")]
        enum ColumnIndex {
            $($constant,)*
        }

        /// The bits of all plain columns in a shape.
        pub(crate) const ALL: u64 = 0 $(| if_plain_bit!($code, $constant))*;

        /// Which plain columns of an event are not NULL, as bits of its shape.
        #[inline]
        pub(crate) fn bits(event: &Event) -> u64 {
            let mut bits = 0;
            $(if_plain!($code, {
                if !event.$field.is_null() {
                    bits |= bit(ColumnIndex::$constant);
                }
            });)*
            bits
        }

        /// Appends the plain columns of an event that are not NULL.
        #[inline]
        pub(crate) fn put(event: &Event, out: &mut Vec<u8>) {
            $(if_plain!($code, {
                if !event.$field.is_null() {
                    Plain::put(event.$field, out);
                }
            });)*
        }

        /// Reads the plain columns that the bits of a shape promise.
        #[inline]
        pub(crate) fn read(bits: u64, from: &mut Cursor<'_>, event: &mut Event) -> Option<()> {
            $(if_plain!($code, {
                if bits & bit(ColumnIndex::$constant) != 0 {
                    event.$field = Plain::read(from)?;
                }
            });)*
            Some(())
        }
    };
}

macro_rules! if_plain_bit {
    (Plain, $constant:ident) => {
        bit(ColumnIndex::$constant)
    };
    (Predicted, $constant:ident) => {
        0
    };
}

/// The bit of the column at a place. Columns are only ever appended, so it stays.
const fn bit(place: ColumnIndex) -> u64 {
    1 << (FIRST + place as u32)
}

iotrail_model::event_columns!(plain);
