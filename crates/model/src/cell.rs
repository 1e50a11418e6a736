//! What a cell of `events` holds, whatever its column: for all that treats columns alike.
//!
//! Writers of text and tables show a [`Value`]; whoever has dictionaries of its own exchanges ids with
//! [`Cell::with_names`]. A column of a new type needs an implementation here, beside those of the pages of a trail
//! (`trail/src/cell.rs`) and of the spool (`spool/src/plain.rs`).

use crate::event::Layer;
use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, SiteId, Tid};
use crate::interner::Interner;
use crate::nullable::Nullable;
use crate::time::{Nanos, Timestamp};
use crate::{Dictionaries, Names};
use std::sync::Arc;

/// A dictionary that cells refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// Names of calls.
    Call,
    /// Paths.
    Path,
    /// Names of errors.
    Errno,
    /// Texts of flags.
    Flags,
}

impl NameKind {
    /// Every dictionary, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Call, Self::Path, Self::Errno, Self::Flags];

    /// What it holds, for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "calls",
            Self::Path => "paths",
            Self::Errno => "errors",
            Self::Flags => "flags",
        }
    }

    /// The dictionary of events under construction.
    #[inline]
    #[must_use]
    pub fn of(self, names: &Dictionaries) -> &Interner {
        match self {
            Self::Call => &names.calls,
            Self::Path => &names.paths,
            Self::Errno => &names.errnos,
            Self::Flags => &names.flags,
        }
    }

    /// The same, to add to it.
    #[inline]
    pub fn of_mut(self, names: &mut Dictionaries) -> &mut Interner {
        match self {
            Self::Call => &mut names.calls,
            Self::Path => &mut names.paths,
            Self::Errno => &mut names.errnos,
            Self::Flags => &mut names.flags,
        }
    }

    /// The texts of a log, by id.
    #[must_use]
    pub fn texts(self, names: &Names) -> &[Arc<str>] {
        match self {
            Self::Call => &names.calls,
            Self::Path => &names.paths,
            Self::Errno => &names.errnos,
            Self::Flags => &names.flags,
        }
    }
}

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Unknown.
    Null,
    /// An integer of any width.
    Int(i64),
    /// A number that is never negative.
    Count(u64),
    /// Nanoseconds since the origin of the case's clock.
    Time(Timestamp),
    /// An interface at which calls are seen.
    Layer(Layer),
    /// An entry of a dictionary.
    Name(NameKind, u32),
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Numbers.
    Number,
    /// Instants.
    Time,
    /// Rows of `cases`.
    Case,
    /// Numbers of files.
    File,
    /// Interfaces at which calls are seen.
    Layer,
    /// Entries of a dictionary.
    Name(NameKind),
}

/// A column of `events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the column, as schema, CSV and SQL have it.
    pub name: &'static str,
    /// Whether values may be unknown.
    pub nullable: bool,
    /// What its cells are.
    pub kind: CellKind,
}

/// The type of a column's cells.
pub trait Cell: Copy {
    /// Whether it may be unknown.
    const NULLABLE: bool;
    /// What it is.
    const KIND: CellKind = CellKind::Number;

    /// What it shows.
    fn value(self) -> Value;

    /// The cell as a number, whatever it is: an id, nanoseconds, the bits of a count; NULL if it is unknown.
    #[inline]
    fn number(self) -> Option<i64> {
        match self.value() {
            Value::Null => None,
            Value::Int(number) => Some(number),
            Value::Count(count) => Some(count as i64),
            Value::Time(time) => Some(time.0),
            Value::Layer(layer) => Some(layer as i64),
            Value::Name(_, id) => Some(id.into()),
        }
    }

    /// The cell of such a number; NULL if there is none.
    fn of_number(number: Option<i64>) -> Option<Self>;

    /// The cell with the id that `id` answers for the name that it refers to, if it does; `u32::MAX` is NULL where that may be.
    ///
    /// # Errors
    /// The error of `id`.
    #[inline]
    fn with_names<E>(self, _id: &mut impl FnMut(NameKind, u32) -> Result<u32, E>) -> Result<Self, E> {
        Ok(self)
    }
}

macro_rules! cells {
    ($($cell:ty: $kind:ident, $null:literal, $value:expr, $of:expr;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = $null;
            const KIND: CellKind = CellKind::$kind;

            #[inline]
            fn value(self) -> Value {
                $value(self)
            }

            #[inline]
            fn of_number(number: Option<i64>) -> Option<Self> {
                $of(number)
            }
        }
    )*};
}

fn known<T: crate::nullable::Sentinel>(cell: Nullable<T>, value: impl Fn(T) -> Value) -> Value {
    cell.get().map_or(Value::Null, value)
}

fn nullable<T: crate::nullable::Sentinel>(
    number: Option<i64>,
    of: impl Fn(i64) -> Option<T>,
) -> Option<Nullable<T>> {
    match number {
        None => Some(Nullable::NULL),
        Some(number) => of(number).map(Nullable::some).filter(|cell| !cell.is_null()),
    }
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Option<T> {
    number.try_into().ok()
}

cells! {
    CaseId: Case, false, |id: Self| Value::Count(id.0.into()), |n: Option<i64>| n.and_then(narrow).map(Self);
    Pid: Number, false, |id: Self| Value::Count(id.0.into()), |n: Option<i64>| n.and_then(narrow).map(Self);
    Tid: Number, false, |id: Self| Value::Count(id.0.into()), |n: Option<i64>| n.and_then(narrow).map(Self);
    u64: Number, false, Value::Count, |n: Option<i64>| n.map(|bits| bits as u64);
    Timestamp: Time, false, Value::Time, |n: Option<i64>| n.map(Self);
    Layer: Layer, false, Value::Layer, |n: Option<i64>| Self::ALL.get(n.and_then(narrow::<usize>)?).copied();
    Nullable<i32>: Number, true, |cell| known(cell, |value: i32| Value::Int(value.into())), |n| nullable(n, narrow);
    Nullable<i64>: Number, true, |cell| known(cell, Value::Int), |n| nullable(n, Some);
    Nullable<u64>: Number, true, |cell| known(cell, Value::Count), |n| nullable(n, |bits| Some(bits as u64));
    Nullable<Nanos>: Number, true, |cell| known(cell, |span: Nanos| Value::Int(span.0)), |n| nullable(n, |n| Some(Nanos(n)));
    Nullable<FileId>: File, true, |cell| known(cell, |id: FileId| Value::Count(id.0.into())), |n| nullable(n, |n| narrow(n).map(FileId));
    Nullable<OpenId>: Number, true, |cell| known(cell, |id: OpenId| Value::Count(id.0.into())), |n| nullable(n, |n| narrow(n).map(OpenId));
    Nullable<SiteId>: Number, true, |cell| known(cell, |id: SiteId| Value::Count(id.0.into())), |n| nullable(n, |n| narrow(n).map(SiteId));
}

impl Cell for CallId {
    const NULLABLE: bool = false;
    const KIND: CellKind = CellKind::Name(NameKind::Call);

    #[inline]
    fn value(self) -> Value {
        Value::Name(NameKind::Call, self.0)
    }

    #[inline]
    fn with_names<E>(self, id: &mut impl FnMut(NameKind, u32) -> Result<u32, E>) -> Result<Self, E> {
        id(NameKind::Call, self.0).map(Self)
    }

    #[inline]
    fn of_number(number: Option<i64>) -> Option<Self> {
        number.and_then(narrow).map(Self)
    }
}

macro_rules! names {
    ($($id:ident: $kind:ident;)*) => {$(
        impl Cell for Nullable<$id> {
            const NULLABLE: bool = true;
            const KIND: CellKind = CellKind::Name(NameKind::$kind);

            #[inline]
            fn value(self) -> Value {
                known(self, |name| Value::Name(NameKind::$kind, name.0))
            }

            #[inline]
            fn with_names<E>(self, id: &mut impl FnMut(NameKind, u32) -> Result<u32, E>) -> Result<Self, E> {
                match self.get() {
                    Some(name) => id(NameKind::$kind, name.0).map(|id| Self::some($id(id))),
                    None => Ok(self),
                }
            }

            #[inline]
            fn of_number(number: Option<i64>) -> Option<Self> {
                nullable(number, |number| narrow(number).map($id))
            }
        }
    )*};
}

names! {
    PathId: Path;
    ErrnoId: Errno;
    FlagsId: Flags;
}

#[cfg(test)]
mod tests {
    use crate::Event;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_event_is_the_one_of_its_numbers(numbers in prop::collection::vec(prop::option::of(prop_oneof![0_i64..5, any::<i64>()]), Event::COLUMNS.len())) {
            let numbers: [Option<i64>; Event::COLUMNS.len()] = numbers.try_into().expect("one for each column");
            if let Some(event) = Event::of_numbers(&numbers) {
                prop_assert_eq!(event.numbers(), numbers);
            }
        }
    }

    #[test]
    fn what_is_unknown_in_every_column_that_may_be_is_an_event() {
        let of = |column: &crate::Column| (!column.nullable).then_some(3);
        let numbers: Vec<Option<i64>> = Event::COLUMNS.iter().map(of).collect();
        let numbers: [Option<i64>; Event::COLUMNS.len()] = numbers.try_into().expect("one for each column");
        let event = Event::of_numbers(&numbers).expect("an event");
        assert_eq!((event.seq, event.start.0, event.path.is_null()), (3, 3, true));
        assert_eq!(Event::of_numbers(&[None; Event::COLUMNS.len()]), None);
    }
}
