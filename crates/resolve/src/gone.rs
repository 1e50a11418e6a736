//! Descriptors that are gone though the trace does not show that: a call that closed them is not in it (`close_range` of `strace -e trace=desc`).

use crate::descriptor_tables::DescriptionId;
use crate::operands::Operands;
use crate::process_table::ThreadId;
use crate::state::State;
use iotrail_model::calls::{CallKind, CallSpec, Transfer};
use iotrail_model::raw::{RawCall, Return};

impl State {
    /// Whether a call failed because its descriptor stands for nothing any more, and not for what may be done with it: it is free then. A
    /// tracer that names descriptors names one that is open.
    pub(crate) fn is_gone(
        &mut self,
        thread: ThreadId,
        description: DescriptionId,
        call: &RawCall<'_>,
        (operands, spec): (&Operands<'_>, Option<&CallSpec>),
    ) -> bool {
        let is_bad = matches!(call.ret, Return::Failed(b"EBADF"));
        let Some((fd, None)) = operands.fd.filter(|_| is_bad) else { return false };
        if !self.source.is_trace || !self.descriptors.contested.is_empty() {
            return false;
        }
        let Some([read, written]) = self.descriptors.description(description).can else { return false };
        let Some(spec) = spec.filter(|_| operands.fd2.is_none()) else { return false };
        let may = match (spec.transfer, spec.kind) {
            (Transfer::Read, _) => read,
            (Transfer::Write, _) => written,
            (Transfer::Copy, _) => false,
            (Transfer::None, CallKind::Close | CallKind::Stat | CallKind::Seek) => read || written,
            // As locks and `fallocate` do of a descriptor that is not open for that.
            (Transfer::None, _) => read && written,
        };
        if may {
            let table = self.processes.thread(thread).table;
            self.descriptors.know_free(table, fd);
        }
        may
    }
}
