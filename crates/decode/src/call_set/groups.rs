//! Which calls of the table a group chooses.

use iotrail_model::calls::{CallKind, CallSpec, Group, Makes, TABLE};

/// The rows of the call table in a group.
pub(super) fn rows(group: Group) -> Vec<bool> {
    TABLE.iter().map(|spec| group.has(spec) || is_life(spec)).collect()
}

/// Makes, replaces or ends processes: always in.
pub(super) fn is_life(spec: &CallSpec) -> bool {
    spec.makes == Makes::Process
        || matches!(spec.kind, CallKind::Exec | CallKind::ExitThread | CallKind::ExitProcess)
}
