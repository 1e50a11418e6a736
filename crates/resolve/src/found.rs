//! What a tracer finds when it looks: threads and descriptors that were there before, and what lies behind new ones.
//!
//! A look tells what is, not how it came to be. Threads of one process share everything. The position of a descriptor is
//! good for as long as everybody who shares its open file description is followed; the tracer says whether that is so.

use crate::Sink;
use crate::files::DescriptionId;
use crate::lookup::intern;
use crate::process_table::{NewThread, Thread, ThreadId};
use crate::resolver::Resolver;
use iotrail_model::raw::{OpenFile, RawItem};
use iotrail_model::{CaseId, Dictionaries, FileFacts, FileKind, NamedFile, Nullable, Pid, Tid, Timestamp};

/// A thread that was there when the recording began.
#[derive(Clone, Copy)]
struct Found {
    tid: Tid,
    pid: Pid,
    ppid: Option<Pid>,
    at: Timestamp,
}

impl Resolver {
    /// Takes an item that is no act of a thread but something that the tracer found out about it. `false` if it is none.
    /// Nothing is learnt about threads that were not seen before.
    #[inline]
    pub(crate) fn learn<S: Sink>(
        &mut self,
        case: CaseId,
        item: &RawItem<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) -> bool {
        match *item {
            RawItem::Found { tid, pid, ppid, at } => {
                self.found(case, Found { tid, pid, ppid, at }, names, sink);
            }
            RawItem::Descriptor { tid, .. }
            | RawItem::Copies { tid, .. }
            | RawItem::Position { tid, .. }
            | RawItem::Sent { tid, .. }
            | RawItem::Received { tid, .. }
            | RawItem::Lost { tid, .. }
            | RawItem::Escaped { tid, .. }
            | RawItem::WorkingDirectory { tid, .. }
            | RawItem::File { tid, .. }
            | RawItem::Behind { tid, .. }
            | RawItem::Image { tid, .. }
            | RawItem::Usage { tid, .. } => match self.processes.find(tid) {
                Some(thread) => self.learn_of(thread, item, names, sink),
                None if self.held.has(tid) => self.held.push(case, tid, None, item),
                None if matches!(item, RawItem::Lost { .. }) => self.files.lose_all(),
                None => {}
            },
            _ => return false,
        }
        true
    }

    fn learn_of<S: Sink>(
        &mut self,
        thread: ThreadId,
        item: &RawItem<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        match item {
            RawItem::Descriptor { fd, open, .. } => self.look(thread, *fd, open, names, sink),
            RawItem::Copies { fd, of, other, received, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(from) = self.processes.get(*of).map(|thread| thread.table) {
                    self.files.unite((table, *fd), (from, *other), *received);
                }
            }
            RawItem::Position { fd, position, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.files.get(table, *fd)
                    && self.files.has_lost_cursor(description)
                {
                    self.files.set_cursor(description, Nullable::some(*position));
                }
            }
            RawItem::Sent { fd, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.files.get(table, *fd) {
                    let sent = &mut self.files.description_mut(description).sent;
                    *sent = sent.saturating_add(1);
                    self.travels(description);
                }
            }
            RawItem::Received { fd, target, .. } => self.arrives(thread, *fd, *target, names),
            RawItem::Lost { call, .. } => self.misses(thread, call.as_ref(), names),
            RawItem::Escaped { table: true, .. } => self.files.unknown_parent_appears(),
            RawItem::Escaped { table: false, .. } => {
                let table = self.processes.thread(thread).table;
                self.files.distrust_all(table);
            }
            RawItem::WorkingDirectory { path, .. } if path.starts_with(b"/") => {
                let path = intern(names, path);
                self.learn_directory(thread, path, names);
            }
            RawItem::File { fd, facts, .. } => {
                let table = self.processes.thread(thread).table;
                if let Some(description) = self.files.get(table, *fd) {
                    self.learn_file(description, facts, names, sink);
                }
            }
            RawItem::Behind { tid, fd, facts } => self.behind.push((*tid, *fd, *facts)),
            RawItem::Image { image, .. } if !self.processes.thread(thread).zombie => {
                self.show_image(thread, image, names, sink);
            }
            RawItem::Usage { usage, .. } => self.used(thread, *usage),
            _ => {}
        }
    }

    fn found<S: Sink>(&mut self, case: CaseId, found: Found, names: &Dictionaries, sink: &mut S) {
        let Found { tid, pid, ppid, at } = found;
        if let Some(id) = self.processes.find(tid) {
            let thread = self.processes.thread(id);
            if !thread.zombie && self.processes.process(thread.process).pid == pid {
                return;
            }
            self.forget(id, names, sink);
        }
        let thread = match self.processes.member_of(pid) {
            Some(member) => {
                let Thread { process, table, directory, space, .. } = *self.processes.thread(member);
                let table = self.files.share(table);
                let directory = self.directories.share(directory);
                let space = self.memory.share(space);
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

    /// What a look at a descriptor shows.
    fn look<S: Sink>(
        &mut self,
        thread: ThreadId,
        fd: i32,
        open: &OpenFile<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        if fd < 0 {
            return;
        }
        let table = self.processes.thread(thread).table;
        let is_new = self.files.get(table, fd).is_none();
        let Some(id) = self.description_of(table, (fd, Some(open.target)), true, names) else { return };
        if let (true, true, Some(facts)) = (is_new, open.target.deleted, &open.facts) {
            self.recognise(id, facts);
        }
        self.files.set_cloexec(table, fd, open.cloexec);
        self.files.description_mut(id).append = Some(open.append);
        if let Some(facts) = &open.facts {
            self.learn_file(id, facts, names, sink);
        }
        let description = self.files.description_mut(id);
        if description.seekable && !description.followed {
            description.followed = open.followed;
            self.files.set_cursor(id, open.position.into());
        }
    }

    /// What lies behind a description. Pipes and sockets get the number by which they can be told apart.
    pub(crate) fn learn_file<S: Sink>(
        &mut self,
        id: DescriptionId,
        facts: &FileFacts,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        // A copy of the descriptor tells nothing new.
        if !self.files.identify(id, facts.device, facts.inode) {
            return;
        }
        let kind = match facts.kind {
            Some(FileKind::Pipe) => Some("pipe"),
            Some(FileKind::Socket) => Some("socket"),
            _ => None,
        };
        let positions = !matches!(facts.kind, Some(FileKind::Char | FileKind::Anon | FileKind::Directory));
        if kind.is_some() || !positions {
            self.files.has_no_positions(id);
        }
        let description = self.files.description_mut(id);
        let Some(path) = description.path.get() else { return };
        let path = match kind.filter(|kind| names.paths.get(path.0) == kind.as_bytes()) {
            Some(kind) => intern(names, format!("{kind}:[{}]", facts.inode).as_bytes()),
            None => path,
        };
        description.path = Nullable::some(path);
        let file = self.learn_identity(id, facts, names);
        let gone = self.is_gone(path, file, names);
        sink.file(path, &NamedFile { file, gone, facts: Some(*facts), kind: None }, names);
    }
}
