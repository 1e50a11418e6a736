//! The resolver: takes items, keeps order, hands out events.
//!
//! The rules live beside it: [`crate::lookup`] (what descriptors and paths mean), [`crate::call`] (events and what calls change),
//! [`crate::cursor`] (offsets), [`crate::lifecycle`] (threads and processes).

use crate::creations::Creations;
use crate::directories::Directories;
use crate::effect::{Effect, Effects};
use crate::files::{DescriptionId, Files, Holds};
use crate::held::Held;
use crate::identity::Credit;
use crate::memory::Memory;
use crate::namespace::Namespace;
use crate::operands::Operands;
use crate::process_table::{Entered, ProcessTable, ThreadId};
use crate::turns::Turns;
use crate::{CaseSummary, Sink, Summary};
use hashbrown::HashMap;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::raw::{RawCall, RawItem};
use iotrail_model::{
    CaseId, Dictionaries, FileFacts, FileId, Interner, Layer, Nullable, PathId, Tid, Timestamp,
};
use std::collections::VecDeque;

/// Turns raw items into events.
///
/// One resolver serves one process tree. Several cases in one resolver are the files of one trace that was written with
/// a file per thread: they share process ids, and `seq` counts per case.
///
/// `seq` is the number of the call in the order in which calls began: that of the item which announced it, else of its own.
#[derive(Debug, Default)]
pub struct Resolver {
    /// Whether each thread has a file of its own: [`Self::with_a_file_per_thread`].
    pub(crate) own_files: bool,
    pub(crate) effects: Effects,
    pub(crate) files: Files,
    pub(crate) namespace: Namespace,
    /// What was found behind descriptors that calls are about to return.
    pub(crate) behind: Vec<(Tid, i32, FileFacts)>,
    /// Descriptions that were sent with messages and not seen to arrive, the last ones.
    pub(crate) sent: VecDeque<DescriptionId>,
    /// Files that rings opened without a descriptor, by the names that they had then.
    pub(crate) in_rings: HashMap<Box<[u8]>, FileId, foldhash::fast::RandomState>,
    /// Whether calls of the trace could not be read.
    pub(crate) gaps: bool,
    pub(crate) directories: Directories,
    pub(crate) memory: Memory,
    pub(crate) processes: ProcessTable,
    pub(crate) creations: Creations,
    pub(crate) held: Held,
    cases: Vec<CaseState>,
    by_case: HashMap<CaseId, usize, foldhash::fast::FixedState>,
    last_case: Option<(CaseId, usize)>,
    pub(crate) scratch: Vec<u8>,
    /// Paths of the call that is looked at which do not denote what is meant, as their directory is not known or was removed;
    /// and their file, if they are that directory itself.
    pub(crate) lost: Vec<(PathId, Nullable<FileId>)>,
    /// Names that a tracer showed of files that have lost them.
    pub(crate) lost_names: Vec<(PathId, FileId)>,
    pub(crate) credit: Credit,
    /// Whether nothing is known but the calls of a trace.
    pub(crate) is_trace: bool,
    pub(crate) relative_paths: u64,
    /// Names that are not known because there are too many that are so long.
    pub(crate) long_names: u64,
    /// Bytes of the long names that are known.
    pub(crate) long_names_bytes: usize,
    pub(crate) threads: u64,
    pub(crate) orphans: u64,
    pub(crate) changed_roots: u64,
    pub(crate) unclear_mounts: u64,
    pub(crate) unknown_descriptors: u64,
    pub(crate) file_mappings: u64,
    pub(crate) submitted: u64,
    pub(crate) rings: u64,
}

#[derive(Debug, Default)]
pub(crate) struct CaseState {
    case: CaseId,
    /// Calls that began.
    begun: u64,
    /// Events handed out.
    pub(crate) events: u64,
    pub(crate) turns: Turns,
}

impl Resolver {
    /// A resolver that knows no process yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Self::new`], for a trace with a file for each thread (`strace -ff`), each of them a case. There, items of
    /// different threads come in the order of their times, calls at their begin with what they returned. So the order
    /// of threads says less, and the number of a thread more: it has one file, to whose end it is the same
    /// thread until it is seen to end. [`Self::over`] tells that end.
    #[must_use]
    pub fn with_a_file_per_thread() -> Self {
        Self { own_files: true, ..Self::default() }
    }

    /// The same for a trace of calls, which nobody can ask whether it holds all of them. Offsets are known from where on it
    /// shows that it holds the calls that move cursors and share them.
    #[must_use]
    pub fn of_trace(mut self) -> Self {
        (self.is_trace, self.files.holds) = (true, Holds::NOTHING);
        self
    }

    /// The open descriptors that stand for a file, one for each open file description, at most `most`.
    #[must_use]
    pub fn holders(&self, device: u64, inode: u64, most: usize) -> Vec<(Tid, i32)> {
        let mut found: Vec<(DescriptionId, (Tid, i32))> = Vec::new();
        for id in self.processes.all() {
            let thread = self.processes.thread(id);
            for (fd, description) in self.files.of_file(thread.table, (device, inode)) {
                if found.len() < most && found.iter().all(|(other, _)| *other != description) {
                    found.push((description, (thread.tid, fd)));
                }
            }
        }
        found.into_iter().map(|(_, holder)| holder).collect()
    }

    /// Takes one item of `case`. Events come out at once, except those of a thread whose parent is not yet known.
    pub fn item<S: Sink>(
        &mut self,
        case: CaseId,
        item: &RawItem<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        self.take(case, None, item, names, sink);
        match self.held.is_empty() {
            true => self.processes.arrivals.clear(),
            false => self.release_held(names, sink),
        }
        self.drop_zombies(names, sink);
        if self.files.wants_sweep() {
            self.sweep();
        }
    }

    /// The trace is over: hands out what was held back and the processes that are still alive.
    pub fn finish<S: Sink>(&mut self, names: &mut Dictionaries, sink: &mut S) {
        loop {
            // No return can name a parent any more; what is released may itself announce further creations.
            self.creations.clear();
            self.release_held(names, sink);
            if self.held.is_empty() {
                break;
            }
        }
        let threads: Vec<ThreadId> = self.processes.all().collect();
        for thread in threads {
            self.drop_thread(thread, names, sink);
        }
    }

    /// Rebuilds `names.paths` with the paths that live descriptors and processes still need. Ids of paths in earlier
    /// events are void afterwards.
    pub fn rotate(&mut self, names: &mut Dictionaries) {
        self.sweep();
        let mut paths = Interner::new();
        let of_all =
            self.files.paths_mut().chain(self.directories.paths_mut()).chain(self.processes.paths_mut());
        for named in of_all {
            if let Some(path) = named.get() {
                *named = Nullable::some(PathId(paths.intern(names.paths.get(path.0))));
            }
        }
        names.paths = paths;
        self.namespace.rotate();
    }

    fn sweep(&mut self) {
        let sent = self.sent.iter().copied();
        self.files.sweep(self.processes.in_flight().chain(self.memory.descriptions()).chain(sent));
    }

    /// Whether it is known what descriptor `fd` of a thread refers to: whether it has a name.
    #[must_use]
    pub fn knows(&self, tid: Tid, fd: i32) -> bool {
        let description = self.processes.get(tid).and_then(|thread| self.files.get(thread.table, fd));
        description.is_some_and(|description| !self.files.description(description).path.is_null())
    }

    /// The name of what descriptor `fd` of a thread refers to, if it has one.
    #[must_use]
    pub fn path_of(&self, tid: Tid, fd: i32) -> Option<PathId> {
        let description = self.processes.get(tid).and_then(|thread| self.files.get(thread.table, fd))?;
        self.files.description(description).path.get()
    }

    /// Device and inode of what a descriptor refers to, if the tracer looked.
    #[must_use]
    pub fn inode_of(&self, tid: Tid, fd: i32) -> Option<(u64, u64)> {
        let thread = self.processes.get(tid)?;
        self.files.identity(self.files.get(thread.table, fd)?)
    }

    /// Whether nobody but those who are followed moves the cursor of a descriptor, and no call does at present, but where it
    /// is has been lost: a look would tell.
    #[must_use]
    pub fn has_lost(&self, tid: Tid, fd: i32) -> bool {
        let description = self.processes.get(tid).and_then(|thread| self.files.get(thread.table, fd));
        description.is_some_and(|id| self.files.is_trusted(id) && self.files.has_lost_cursor(id))
    }

    /// What can be said so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut cases: Vec<CaseSummary> = self.cases.iter().map(CaseState::summary).collect();
        cases.sort_by_key(|summary| summary.case);
        Summary {
            cases,
            relative_paths: self.relative_paths,
            long_names: self.long_names,
            threads: self.threads,
            orphans: self.orphans,
            changed_roots: self.changed_roots,
            unclear_mounts: self.unclear_mounts,
            unknown_descriptors: self.unknown_descriptors,
            file_mappings: self.file_mappings,
            submitted: self.submitted,
            rings: self.rings,
        }
    }

    /// Takes an item, whose call has the number `seq` if that was given already.
    pub(crate) fn take<S: Sink>(
        &mut self,
        case: CaseId,
        seq: Option<u64>,
        item: &RawItem<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        if self.learn(case, item, names, sink) {
            return;
        }
        let Some(thread) = self.emitter(case, seq, item, names, sink) else { return };
        match item {
            RawItem::Call(call) if call.layer > Layer::Syscall => {
                self.library_call(case, thread, seq, call, names, sink);
            }
            RawItem::Entered(call) if call.layer > Layer::Syscall => {
                self.enter_library(case, thread, seq, call);
            }
            RawItem::Call(call) => self.call(case, thread, seq, call, names, sink),
            RawItem::Entered(call) => self.enter(case, thread, seq, call, names),
            RawItem::Interrupted { at, .. } => self.interrupted(thread, *at),
            RawItem::Suspended { .. } => self.suspended(thread),
            RawItem::Exited { at, status, .. } => self.exited(thread, *at, *status, names, sink),
            RawItem::Killed { at, signal, .. } => self.killed(thread, *at, signal, names, sink),
            RawItem::Superseded { by, .. } => self.superseded(thread, *by, names, sink),
            RawItem::Created { child, at, .. } => self.created(case, thread, *child, *at, names, sink),
            RawItem::Found { .. }
            | RawItem::Descriptor { .. }
            | RawItem::Copies { .. }
            | RawItem::Position { .. }
            | RawItem::Sent { .. }
            | RawItem::Received { .. }
            | RawItem::Lost { .. }
            | RawItem::Escaped { .. }
            | RawItem::WorkingDirectory { .. }
            | RawItem::File { .. }
            | RawItem::Behind { .. }
            | RawItem::Image { .. }
            | RawItem::Usage { .. }
            | RawItem::Comm { .. } => {}
        }
    }

    fn enter(
        &mut self,
        case: CaseId,
        id: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        names: &mut Dictionaries,
    ) {
        self.leave(id);
        let seq = (case, seq.unwrap_or_else(|| self.next_seq(case)));
        let effect = self.effects.of(call.call);
        self.take_turn(case, id, call);
        self.files.holds.learn(self.effects.holds(call.call));
        let spec = calls::spec(call.call);
        let operands = Operands::of(spec, call);
        let table = self.processes.thread(id).table;
        let mapped = self.touched(id, effect, spec, call);
        let description = operands.fd.and_then(|fd| self.description_of(table, fd, false, names));
        let description = description.or(mapped.map(|mapped| mapped.description));
        let transfers = spec.is_some_and(|spec| spec.transfer != Transfer::None);
        let target = operands.fd2.filter(|_| spec.is_some_and(|spec| spec.transfer == Transfer::Copy));
        let target = target.and_then(|fd| self.description_of(table, fd, false, names));
        let moves = transfers || effect == Effect::Seek;
        match (effect, operands.fd) {
            (Effect::Spawn, _) => self.creation_begins(id, call, &operands),
            (Effect::Close, Some((fd, _))) => self.files.close(table, fd),
            (Effect::Unmap, _) => self.unmap(id, spec, call),
            (Effect::ExitGroup, _) => self.exit_group(case, id, &operands, call.start),
            (Effect::Rename | Effect::ChangeRoot, _) => self.files.renames += 1,
            _ => {}
        }
        let offset = mapped.map(|mapped| mapped.offset).into();
        let moves_before = [description, target].map(|id| id.map_or(0, |id| self.files.moves(id)));
        let entered = Entered {
            call: call.call,
            start: call.start,
            description,
            target,
            offset,
            moves,
            moves_before,
            seq,
        };
        for description in entered.descriptions().filter(|_| moves) {
            self.files.description_mut(description).in_flight += 1;
        }
        self.processes.thread_mut(id).entered = Some(entered);
    }

    /// The announced call of a thread is over.
    pub(crate) fn leave(&mut self, id: ThreadId) -> Option<Entered> {
        let entered = self.processes.thread_mut(id).entered.take()?;
        for description in entered.descriptions().filter(|_| entered.moves) {
            let in_flight = &mut self.files.description_mut(description).in_flight;
            *in_flight = in_flight.saturating_sub(1);
        }
        Some(entered)
    }

    pub(crate) fn take_turn(&mut self, case: CaseId, id: ThreadId, call: &RawCall<'_>) {
        if self.effects.is_turn(call.call) {
            let pid = self.processes.process(self.processes.thread(id).process).pid;
            self.case_state(case).turns.runs(pid);
        }
    }

    /// The number of a call of `case` that begins.
    #[inline]
    pub(crate) fn next_seq(&mut self, case: CaseId) -> u64 {
        let begun = &mut self.case_state(case).begun;
        *begun += 1;
        *begun - 1
    }

    #[inline]
    pub(crate) fn case_state(&mut self, case: CaseId) -> &mut CaseState {
        let index = match self.last_case {
            Some((last, index)) if last == case => index,
            _ => self.find_case(case),
        };
        &mut self.cases[index]
    }

    fn find_case(&mut self, case: CaseId) -> usize {
        let cases = &mut self.cases;
        let index = *self.by_case.entry(case).or_insert_with(|| {
            cases.push(CaseState { case, ..CaseState::default() });
            cases.len() - 1
        });
        self.last_case = Some((case, index));
        index
    }
}

impl CaseState {
    fn summary(&self) -> CaseSummary {
        CaseSummary { case: self.case, events: self.events, interleaved: self.turns.interleaved() }
    }
}

/// The thread an item is of, and when it happened.
pub(crate) fn origin(item: &RawItem<'_>) -> (Tid, Option<Timestamp>) {
    match item {
        RawItem::Call(call) | RawItem::Entered(call) => (call.tid, Some(call.start)),
        RawItem::Exited { tid, at, .. } | RawItem::Killed { tid, at, .. } => (*tid, Some(*at)),
        RawItem::Superseded { tid, at, .. }
        | RawItem::Interrupted { tid, at }
        | RawItem::Suspended { tid, at } => (*tid, Some(*at)),
        RawItem::Created { parent: tid, at, .. }
        | RawItem::Found { tid, at, .. }
        | RawItem::Image { tid, at, .. } => (*tid, Some(*at)),
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
        | RawItem::Usage { tid, .. }
        | RawItem::Comm { tid, .. } => (*tid, None),
    }
}
