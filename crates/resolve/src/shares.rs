//! What the calls that make processes and threads say about what the child shares.

use crate::operands::Operands;
use crate::symbols::{self, Symbol};
use iotrail_model::calls::{self, CallKind};
use iotrail_model::raw::{Arg, RawCall};
use memchr::memmem;

/// Behind it stands what a call stored in its structure.
const STORED: &[u8] = b" => {";
/// The argument of clone where it stores a pidfd.
const PARENT_TID: usize = 2;

/// What a child shares with its parent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) table: bool,
    pub(crate) directory: bool,
    pub(crate) process: bool,
    pub(crate) memory: bool,
    /// The parent of its parent: they are siblings.
    pub(crate) parent: bool,
    /// It sees mounts of its own.
    pub(crate) parts_mounts: bool,
    /// It is in a PID namespace of its own.
    pub(crate) parts_ids: bool,
}

impl Shares {
    pub(crate) fn of(call: &RawCall<'_>, operands: &Operands<'_>) -> Self {
        let is_vfork = calls::spec(call.call).is_some_and(|spec| spec.kind == CallKind::Vfork);
        let field = operands.structure.and_then(|structure| symbols::field(structure, b"flags"));
        let has = |symbol: Symbol| match field {
            Some(flags) => symbol.is_in_text(flags),
            None => operands.flags[0].is_some_and(|flags| symbol.is_in(flags)),
        };
        Self {
            table: has(symbols::CLONE_FILES),
            directory: has(symbols::CLONE_FS),
            process: has(symbols::CLONE_THREAD),
            memory: is_vfork || has(symbols::CLONE_VM) || has(symbols::CLONE_THREAD),
            parent: has(symbols::CLONE_PARENT),
            parts_mounts: has(symbols::CLONE_NEWNS),
            parts_ids: has(symbols::CLONE_NEWPID),
        }
    }

    /// The descriptor of the child that the call stored (`CLONE_PIDFD`), as strace prints it: `parent_tid=[5]`, `=> {pidfd=[5]}`.
    pub(crate) fn pidfd(call: &RawCall<'_>, operands: &Operands<'_>) -> Option<i32> {
        let stored = match operands.structure {
            Some(text) => {
                symbols::field(text, b"flags").filter(|flags| symbols::CLONE_PIDFD.is_in_text(flags))?;
                symbols::field(&text[memmem::find(text, STORED)?..], b"pidfd")?
            }
            None => {
                operands.flags[0].filter(|flags| symbols::CLONE_PIDFD.is_in(flags))?;
                match call.args.get(PARENT_TID)? {
                    Arg::Text(text) => *text,
                    _ => return None,
                }
            }
        };
        i32::try_from(symbols::number(stored.strip_prefix(b"[")?)?).ok()
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            table: self.table || other.table,
            directory: self.directory || other.directory,
            process: self.process || other.process,
            memory: self.memory || other.memory,
            parent: self.parent || other.parent,
            parts_mounts: self.parts_mounts || other.parts_mounts,
            parts_ids: self.parts_ids || other.parts_ids,
        }
    }
}
