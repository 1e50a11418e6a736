//! What a process shares with the one that made it.

use iotrail_model::calls::flags::in_structure;
use iotrail_model::calls::{ArgKind, CallSpec, Flag};
use iotrail_model::raw::Arg;

/// Whether the process that a call made uses the descriptors of its maker, now and later.
pub(crate) fn shares_table(spec: &CallSpec, args: &[Arg<'_>]) -> bool {
    const CLONE_FILES: Flag = Flag::new("CLONE_FILES", 0x400);
    let flags = spec.args.iter().position(|kind| matches!(kind, ArgKind::Flags | ArgKind::Struct));
    match flags.and_then(|at| args.get(at)) {
        Some(Arg::Symbols(text) | Arg::Text(text)) => CLONE_FILES.is_in_text(in_structure(text)),
        Some(Arg::Int(flags)) => CLONE_FILES.is_in_number(*flags as u64),
        _ => false,
    }
}
