//! What a cell of `events` holds, whatever its column: for all that treats columns alike.
//!
//! Writers of text and tables show a [`Value`]; whoever has dictionaries of its own exchanges ids with
//! [`Cell::with_names`]. A column of a new type needs an implementation here, beside those of the pages of a trail
//! (`trail/src/cell.rs`) and of the spool (`spool/src/plain.rs`).

use crate::event::Layer;
use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, Tid};
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
    ($($cell:ty: $kind:ident, $null:literal, $value:expr;)*) => {$(
        impl Cell for $cell {
            const NULLABLE: bool = $null;
            const KIND: CellKind = CellKind::$kind;

            #[inline]
            fn value(self) -> Value {
                $value(self)
            }
        }
    )*};
}

fn known<T: crate::nullable::Sentinel>(cell: Nullable<T>, value: impl Fn(T) -> Value) -> Value {
    cell.get().map_or(Value::Null, value)
}

cells! {
    CaseId: Case, false, |id: Self| Value::Count(id.0.into());
    Pid: Number, false, |id: Self| Value::Count(id.0.into());
    Tid: Number, false, |id: Self| Value::Count(id.0.into());
    u64: Number, false, Value::Count;
    Timestamp: Time, false, Value::Time;
    Layer: Layer, false, Value::Layer;
    Nullable<i32>: Number, true, |cell| known(cell, |value: i32| Value::Int(value.into()));
    Nullable<i64>: Number, true, |cell| known(cell, Value::Int);
    Nullable<u64>: Number, true, |cell| known(cell, Value::Count);
    Nullable<Nanos>: Number, true, |cell| known(cell, |span: Nanos| Value::Int(span.0));
    Nullable<FileId>: File, true, |cell| known(cell, |id: FileId| Value::Count(id.0.into()));
    Nullable<OpenId>: Number, true, |cell| known(cell, |id: OpenId| Value::Count(id.0.into()));
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
        }
    )*};
}

names! {
    PathId: Path;
    ErrnoId: Errno;
    FlagsId: Flags;
}
