//! What a tracer finds when it looks: threads and descriptors that were there before, and what lies behind new ones.
//!
//! A look tells what is, not how it came to be. Threads of one process share everything but for the
//! descriptor tables that the tracer tells apart. The position of a descriptor is
//! good for as long as everybody who shares its open file description is followed; the tracer says whether that is so.

use crate::Sink;
use crate::contested::Look;
use crate::context::Context;
use crate::file_names::intern;
use crate::ids::TableId;
use crate::making::Arrival;
use crate::open_files::Holders;
use crate::process_table::{NewThread, Thread, ThreadId};
use crate::state::State;
use iotrail_model::raw::{OpenFile, RawItem};
use iotrail_model::{CaseId, Nullable, Pid, Tid, Timestamp};

/// A thread that was there when the recording began.
#[derive(Clone, Copy)]
pub(crate) struct FoundThread {
    pub(crate) tid: Tid,
    pub(crate) pid: Pid,
    pub(crate) ppid: Option<Pid>,
    pub(crate) at: Timestamp,
    /// The thread whose descriptor table it uses, if that is not its process's; its own is that of nobody else.
    pub(crate) table: Option<Tid>,
}

impl State {
    pub(crate) fn learn_of<S: Sink>(
        &mut self,
        thread: ThreadId,
        item: &RawItem<'_>,
        cx: &mut Context<'_, S>,
    ) {
        match item {
            RawItem::Descriptor { fd, open, .. } => self.look(thread, *fd, open, cx),
            RawItem::Copies { fd, of, other, received, .. } => {
                let table = self.processes.thread(thread).table;
                let Some(from) = self.processes.get(*of).map(|thread| thread.table) else { return };
                let Some(description) = self.descriptors.get(from, *other) else { return };
                self.descriptors.description_mut(description).travelled |= table != from;
                match received {
                    true => self.received(thread, *fd, Arrival::Copy(description), cx.names),
                    false => self.descriptors.unite((table, *fd), description),
                }
            }
            RawItem::Position { fd, position, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.descriptors.get(table, *fd)
                    && self.descriptors.has_lost_cursor(table, description)
                    && self.descriptors.contested.is_steady(table, *fd, Look::BETWEEN_CALLS)
                {
                    self.descriptors.set_cursor(description, Nullable::some(*position));
                }
            }
            RawItem::Sent { fd, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.descriptors.get(table, *fd) {
                    let sent = &mut self.descriptors.description_mut(description).sent;
                    *sent = sent.saturating_add(1);
                    self.descriptors.travels(description);
                }
            }
            RawItem::Received { fd, target, .. } => {
                self.received(thread, *fd, Arrival::Named(*target), cx.names)
            }
            RawItem::CameUnseen { .. } => self.descriptors.came_unseen = true,
            RawItem::Uncertain { tid, fd } => self.uncertain.push((*tid, *fd)),
            RawItem::Lost { call, .. } => self.misses(thread, call.as_ref(), cx.names),
            RawItem::Escaped { table: true, .. } => self.descriptors.unknown_parent_appears(),
            RawItem::Escaped { table: false, .. } => {
                let table = self.processes.thread(thread).table;
                self.descriptors.distrust_all(table);
            }
            RawItem::WorkingDirectory { path, .. } if path.starts_with(b"/") => {
                let path = intern(cx.names, path);
                self.learn_directory(thread, path, cx.names);
            }
            RawItem::File { fd, facts, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.descriptors.get(table, *fd) {
                    self.learn_file(description, facts, cx);
                }
            }
            RawItem::FileInfo { tid, fd, facts } => self.probes.push(*tid, *fd, *facts),
            RawItem::Image { image, .. } if !self.processes.thread(thread).zombie => {
                self.show_image(thread, image, cx);
            }
            RawItem::Usage { usage, .. } => self.used(thread, *usage),
            _ => {}
        }
    }

    pub(crate) fn found<S: Sink>(&mut self, case: CaseId, found: FoundThread, cx: &mut Context<'_, S>) {
        let FoundThread { tid, pid, ppid, at, .. } = found;
        if let Some(id) = self.processes.find(tid) {
            let thread = self.processes.thread(id);
            if !thread.zombie && self.processes.process(thread.process).pid == pid {
                return;
            }
            self.forget(id, cx);
        }
        let thread = match self.processes.member_of(pid) {
            Some(member) => {
                let Thread { process, table, directory, space, .. } = *self.processes.thread(member);
                let table = self.table_of(&found, table);
                let directory = self.directories.share(directory);
                let space = self.spaces.share(space);
                self.processes.add_thread(NewThread { tid, case, table, directory, space }, process)
            }
            None => {
                let thread = self.unrelated(case, tid, pid, ppid);
                let process = self.processes.thread(thread).process;
                let entry = self.processes.process_mut(process);
                (entry.has_unknown_parent, entry.found) = (false, true);
                thread
            }
        };
        self.see(thread, case, Some(at));
    }

    /// The descriptor table of a thread that was found, in a process with the table `common`.
    fn table_of(&mut self, found: &FoundThread, common: TableId) -> TableId {
        match found.table {
            Some(with) if with == found.tid => self.unseen_table(),
            Some(with) => {
                let known = self.processes.find(with).map(|thread| self.processes.thread(thread).table);
                self.descriptors.share(known.unwrap_or(common))
            }
            None => self.descriptors.share(common),
        }
    }

    /// What a look at a descriptor shows.
    fn look<S: Sink>(&mut self, thread: ThreadId, fd: i32, open: &OpenFile<'_>, cx: &mut Context<'_, S>) {
        if fd < 0 {
            return;
        }
        let table = self.processes.thread(thread).table;
        let is_new = self.descriptors.get(table, fd).is_none();
        // It shows what a call in flight closes, which is taken to be gone already.
        if is_new && self.descriptors.contested.may_be_closed(table, fd) {
            return;
        }
        // It may show what a call in flight gives to the number, which others have not.
        if !self.descriptors.contested.is_steady(table, fd, Look::BETWEEN_CALLS) {
            return;
        }
        let Some(id) = self.description_of(table, (fd, Some(open.target)), true, cx.names) else { return };
        if is_new && open.facts.as_ref().is_some_and(|facts| self.descriptors.is_on_its_way(facts)) {
            // It may be what was sent, or something that was open all the time.
            self.descriptors.has_no_number(id);
        }
        if let (true, true, Some(facts)) = (is_new, open.target.deleted, &open.facts) {
            let holders = Holders { spaces: &self.spaces, processes: &self.processes };
            self.descriptors.recognise(id, facts, &self.file_names, &holders);
        }
        self.descriptors.set_cloexec(table, fd, open.cloexec);
        self.descriptors.description_mut(id).append = Some(open.append);
        if let Some(facts) = &open.facts {
            self.learn_file(id, facts, cx);
        }
        let description = self.descriptors.description_mut(id);
        // Nobody says whether it is open to be written.
        self.file_names.written.extend(description.file.get());
        if description.positions.exist() && !description.followed {
            description.followed = open.followed;
            self.descriptors.set_cursor(id, open.position.into());
        }
    }
}
