//! Locks on parts of files: fcntl with a `struct flock` (`man 2 fcntl`).

use crate::operands::Operands;
use crate::symbols::{field, number};
use iotrail_model::raw::Arg;

/// What a `struct flock` says: `{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=10}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock<'a> {
    structure: &'a [u8],
}

impl<'a> Lock<'a> {
    /// The lock that fcntl was given, if that was its command.
    #[inline]
    pub(crate) fn of(operands: &Operands<'a>) -> Option<Self> {
        match operands.commands[0] {
            Some(Arg::Text(structure)) => field(structure, b"l_type").map(|_| Self { structure }),
            _ => None,
        }
    }

    /// `F_RDLCK`, `F_WRLCK` or `F_UNLCK`.
    pub(crate) fn kind(self) -> &'a [u8] {
        field(self.structure, b"l_type").unwrap_or_default()
    }

    /// Where it begins, if the cursor is at `cursor`. From the end of the file, which is not known, it is not known either.
    pub(crate) fn start(self, cursor: Option<i64>) -> Option<i64> {
        let start = number(field(self.structure, b"l_start")?)?;
        match field(self.structure, b"l_whence")? {
            b"SEEK_SET" | b"0" => Some(start),
            b"SEEK_CUR" | b"1" => cursor?.checked_add(start),
            _ => None,
        }
    }
}
