//! Calls on descriptors of which the trace does not tell what they stand for ([`iotrail_model::raw::RawItem::Uncertain`]).
//!
//! While such a call is replayed, its descriptors stand for something of which nothing is known. So a copy of one, or a child
//! that inherits it, has something unknown as well. Afterwards they stand for what they did before: later calls may be certain.

use crate::Sink;
use crate::context::Context;
use crate::descriptor_tables::{Description, DescriptionId, DescriptorTables, TableId};
use crate::process_table::ThreadId;
use crate::state::State;
use iotrail_model::raw::RawCall;
use iotrail_model::{CaseId, Dictionaries, Nullable};

/// A descriptor that stands for something unknown for a while.
struct Hidden {
    fd: i32,
    before: Option<(DescriptionId, bool)>,
    meanwhile: DescriptionId,
}

impl DescriptorTables {
    fn hide(&mut self, table: TableId, fd: i32) -> Hidden {
        let before = self.get_marked(table, fd);
        let meanwhile = self.describe(Description::unseen(Nullable::NULL));
        self.has_no_number(meanwhile);
        self.set(table, fd, meanwhile, before.is_some_and(|(_, cloexec)| cloexec));
        Hidden { fd, before, meanwhile }
    }

    /// Unless the call has changed it.
    fn show(&mut self, table: TableId, hidden: &Hidden) {
        if self.get(table, hidden.fd) != Some(hidden.meanwhile) {
            return;
        }
        match hidden.before {
            Some((description, cloexec)) => self.set(table, hidden.fd, description, cloexec),
            None => self.close(table, hidden.fd),
        }
    }
}

impl State {
    /// A call returned that comes after statements of what is not known of its descriptors.
    pub(crate) fn uncertain_call<S: Sink>(
        &mut self,
        case: CaseId,
        thread: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        cx: &mut Context<'_, S>,
    ) {
        let (table, hidden) = self.hide_uncertain(thread, call);
        self.tally.uncertain_calls += u64::from(!hidden.is_empty());
        self.call(case, thread, seq, call, cx);
        self.show_hidden(thread, call, table, &hidden);
    }

    /// The same of a call that was entered.
    pub(crate) fn enter_uncertain(
        &mut self,
        case: CaseId,
        thread: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        names: &mut Dictionaries,
    ) {
        let (table, hidden) = self.hide_uncertain(thread, call);
        self.enter(case, thread, seq, call, names);
        self.show_hidden(thread, call, table, &hidden);
    }

    fn hide_uncertain(&mut self, thread: ThreadId, call: &RawCall<'_>) -> (TableId, Vec<Hidden>) {
        let table = self.processes.thread(thread).table;
        let of_call: Vec<i32> =
            self.uncertain.extract_if(.., |(tid, _)| *tid == call.tid).map(|(_, fd)| fd).collect();
        (table, of_call.into_iter().map(|fd| self.descriptors.hide(table, fd)).collect())
    }

    /// A thread that is gone, or that has another table since, needs nothing back.
    fn show_hidden(&mut self, thread: ThreadId, call: &RawCall<'_>, table: TableId, hidden: &[Hidden]) {
        if self.processes.find(call.tid) == Some(thread) && self.processes.thread(thread).table == table {
            hidden.iter().for_each(|hidden| self.descriptors.show(table, hidden));
        }
    }
}
