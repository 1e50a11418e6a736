//! The resolver: takes items, keeps order, hands out events.
//!
//! It owns what is replayed ([`crate::state`]) and what has to wait ([`crate::held`]).

use crate::contested::Look;
use crate::context::Context;
use crate::creations::Open;
use crate::descriptor_tables::DescriptionId;
use crate::found::FoundThread;
use crate::held::Held;
use crate::process_table::ThreadId;
use crate::source::Source;
use crate::state::State;
use crate::{Sink, Summary};
use iotrail_model::raw::RawItem;
use iotrail_model::{CaseId, Dictionaries, FileFacts, Layer, PathId, Tid, Timestamp};

/// Turns raw items into events.
///
/// One resolver serves one process tree. Several cases in one resolver are the files of one trace that was written with
/// a file per thread: they share process ids, and `seq` counts per case.
///
/// `seq` is the number of the call in the order in which calls began: that of the item which announced it, else of its own.
#[derive(Debug, Default)]
pub struct Resolver {
    state: State,
    /// Items of threads whose parent is not known yet.
    held: Held,
}

/// The thread an item is of, and when it happened.
fn origin(item: &RawItem<'_>) -> (Tid, Option<Timestamp>) {
    match item {
        RawItem::Call(call) | RawItem::Entered(call) | RawItem::Library { call, .. } => {
            (call.tid, Some(call.start))
        }
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
        | RawItem::Uncertain { tid, .. }
        | RawItem::CameUnseen { tid }
        | RawItem::Lost { tid, .. }
        | RawItem::Escaped { tid, .. }
        | RawItem::WorkingDirectory { tid, .. }
        | RawItem::File { tid, .. }
        | RawItem::FileInfo { tid, .. }
        | RawItem::Usage { tid, .. }
        | RawItem::Comm { tid, .. } => (*tid, None),
    }
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
        Self::from_source(Source { own_files: true, ..Source::default() })
    }

    /// The same for a trace of calls, which nobody can ask whether it holds all of them. Offsets are known from where on it
    /// shows that it holds the calls that move cursors and share them.
    #[must_use]
    pub fn of_trace(self) -> Self {
        Self::from_source(Source { is_trace: true, ..self.state.source })
    }

    fn from_source(source: Source) -> Self {
        Self { state: State::new(source), held: Held::default() }
    }

    /// The open descriptors that stand for a file, one for each open file description, at most `most`.
    #[must_use]
    pub fn holders(&self, device: u64, inode: u64, most: usize) -> Vec<(Tid, i32)> {
        let mut found: Vec<(DescriptionId, (Tid, i32))> = Vec::new();
        for id in self.state.processes.all() {
            let thread = self.state.processes.thread(id);
            for (fd, description) in self.state.descriptors.of_file(thread.table, (device, inode)) {
                if found.len() < most && found.iter().all(|(other, _)| *other != description) {
                    found.push((description, (thread.tid, fd)));
                }
            }
        }
        found.into_iter().map(|(_, holder)| holder).collect()
    }

    /// Takes one item of `case`. Events come out at once, except those of a thread whose parent is not yet known, and a few of a
    /// trace that may show next which file was opened.
    pub fn item<S: Sink>(
        &mut self,
        case: CaseId,
        item: &RawItem<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        let cx = &mut Context { names, sink };
        self.take(case, None, item, cx);
        match self.held.is_empty() {
            true => self.state.processes.arrivals.clear(),
            false => self.release_held(cx),
        }
        self.state.drop_zombies(cx);
        if self.state.descriptors.wants_sweep() {
            self.state.sweep();
        }
    }

    /// Nothing more comes of a thread: where each has a file, that is at its end.
    pub fn over<S: Sink>(&mut self, tid: Tid, names: &mut Dictionaries, sink: &mut S) {
        self.state.over(tid, &mut Context { names, sink });
    }

    /// Before [`Self::finish`], of a recording: tells how long the files are by now that were opened to be written, as `look`
    /// finds them under the names that they have.
    pub fn look_again<S: Sink>(
        &mut self,
        look: impl Fn(&[u8]) -> Option<FileFacts>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        self.state.file_names.look_again(look, &mut Context { names, sink });
    }

    /// The trace is over: hands out what was held back and the processes that are still alive.
    pub fn finish<S: Sink>(&mut self, names: &mut Dictionaries, sink: &mut S) {
        let cx = &mut Context { names, sink };
        loop {
            // No return can name a parent any more; what is released may itself announce further creations.
            self.state.creations.clear();
            self.release_held(cx);
            if self.held.is_empty() {
                break;
            }
        }
        let threads: Vec<ThreadId> = self.state.processes.all().collect();
        for thread in threads {
            self.state.drop_thread(thread, cx);
        }
        self.state.unshown.end();
        self.state.release_shown(cx);
    }

    /// Rebuilds `names.paths` with the paths that live descriptors and processes still need. Ids of paths in earlier
    /// events are void afterwards.
    pub fn rotate(&mut self, names: &mut Dictionaries) {
        self.state.rotate(names);
    }

    /// Whether it is known what descriptor `fd` of a thread refers to: whether it has a name.
    #[must_use]
    pub fn knows(&self, tid: Tid, fd: i32) -> bool {
        let description =
            self.state.processes.get(tid).and_then(|thread| self.state.descriptors.get(thread.table, fd));
        description.is_some_and(|description| !self.state.descriptors.description(description).path.is_null())
    }

    /// The name of what descriptor `fd` of a thread refers to, if it has one.
    #[must_use]
    pub fn path_of(&self, tid: Tid, fd: i32) -> Option<PathId> {
        let description =
            self.state.processes.get(tid).and_then(|thread| self.state.descriptors.get(thread.table, fd))?;
        self.state.descriptors.description(description).path.get()
    }

    /// Device and inode of what a descriptor refers to, if the tracer looked.
    #[must_use]
    pub fn inode_of(&self, tid: Tid, fd: i32) -> Option<(u64, u64)> {
        let thread = self.state.processes.get(tid)?;
        self.state.descriptors.identity(self.state.descriptors.get(thread.table, fd)?)
    }

    /// Whether a look at a descriptor of a thread, whose call is over but not told yet, shows what the call acted on, or, if it `is_new`,
    /// what it made: nobody else can have put something else there.
    #[must_use]
    pub fn is_steady(&self, tid: Tid, fd: i32, is_new: bool) -> bool {
        let Some(thread) = self.state.processes.get(tid) else { return true };
        let call = thread.entered.and_then(|entered| entered.watched).map(|watched| watched.call);
        self.state.descriptors.contested.is_steady(thread.table, fd, Look { call, is_new })
    }

    /// Whether nobody but those who are followed moves the cursor of a descriptor, and no call does at present, but where it
    /// is has been lost: a look would tell.
    #[must_use]
    pub fn has_lost(&self, tid: Tid, fd: i32) -> bool {
        let Some(thread) = self.state.processes.get(tid) else { return false };
        let descriptors = &self.state.descriptors;
        let is_lost = |id| descriptors.is_trusted(id) && descriptors.has_lost_cursor(thread.table, id);
        descriptors.get(thread.table, fd).is_some_and(is_lost)
            && descriptors.contested.is_steady(thread.table, fd, Look::BETWEEN_CALLS)
    }

    /// What can be said so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.state.tally.summary(self.state.cases.summaries())
    }

    /// Takes an item, whose call has the number `seq` if that was given already.
    pub(crate) fn take<S: Sink>(
        &mut self,
        case: CaseId,
        seq: Option<u64>,
        item: &RawItem<'_>,
        cx: &mut Context<'_, S>,
    ) {
        if self.learn(case, item, cx) {
            return;
        }
        let Some(thread) = self.emitter(case, seq, item, cx) else { return };
        match item {
            RawItem::Call(call) if call.layer > Layer::Syscall => {
                self.state.library_call(case, thread, seq, call, None, cx);
            }
            RawItem::Library { call, operation } => {
                self.state.library_call(case, thread, seq, call, Some(operation), cx);
            }
            RawItem::Entered(call) if call.layer > Layer::Syscall => {
                self.state.enter_library(case, thread, seq, call);
            }
            RawItem::Call(call) if self.state.may_be_uncertain() => {
                self.state.uncertain_call(case, thread, seq, call, cx);
            }
            RawItem::Call(call) => self.state.call(case, thread, seq, call, cx),
            RawItem::Entered(call) if self.state.may_begin_uncertain() => {
                self.state.enter_uncertain(case, thread, seq, call, cx.names);
            }
            RawItem::Entered(call) => self.state.enter(case, thread, seq, call, cx.names),
            RawItem::Interrupted { at, .. } => self.state.interrupted(thread, *at),
            RawItem::Suspended { .. } => self.state.suspended(thread),
            RawItem::Exited { at, status, .. } => self.state.exited(thread, *at, *status, cx),
            RawItem::Killed { at, signal, .. } => self.state.killed(thread, *at, signal, cx),
            RawItem::Superseded { by, .. } => self.state.superseded(thread, *by, cx),
            RawItem::Created { child, at, .. } => self.state.created(case, thread, *child, *at, cx),
            RawItem::Found { .. }
            | RawItem::Descriptor { .. }
            | RawItem::Copies { .. }
            | RawItem::Position { .. }
            | RawItem::Sent { .. }
            | RawItem::Received { .. }
            | RawItem::Uncertain { .. }
            | RawItem::CameUnseen { .. }
            | RawItem::Lost { .. }
            | RawItem::Escaped { .. }
            | RawItem::WorkingDirectory { .. }
            | RawItem::File { .. }
            | RawItem::FileInfo { .. }
            | RawItem::Image { .. }
            | RawItem::Usage { .. }
            | RawItem::Comm { .. } => {}
        }
    }

    /// Takes an item that is no act of a thread but something that the tracer found out about it. `false` if it is none.
    /// Nothing is learnt about threads that were not seen before.
    #[inline]
    pub(crate) fn learn<S: Sink>(
        &mut self,
        case: CaseId,
        item: &RawItem<'_>,
        cx: &mut Context<'_, S>,
    ) -> bool {
        match *item {
            RawItem::Found { tid, pid, ppid, at, table } => {
                self.state.found(case, FoundThread { tid, pid, ppid, at, table }, cx);
            }
            RawItem::Descriptor { tid, .. }
            | RawItem::Copies { tid, .. }
            | RawItem::Position { tid, .. }
            | RawItem::Sent { tid, .. }
            | RawItem::Received { tid, .. }
            | RawItem::Uncertain { tid, .. }
            | RawItem::CameUnseen { tid }
            | RawItem::Lost { tid, .. }
            | RawItem::Escaped { tid, .. }
            | RawItem::WorkingDirectory { tid, .. }
            | RawItem::File { tid, .. }
            | RawItem::FileInfo { tid, .. }
            | RawItem::Image { tid, .. }
            | RawItem::Usage { tid, .. } => match self.state.processes.find(tid) {
                Some(thread) => self.state.learn_of(thread, item, cx),
                None if self.held.has(tid) => self.held.push(case, tid, None, item),
                None if matches!(item, RawItem::Lost { .. }) => self.state.descriptors.lose_all(),
                None => {}
            },
            _ => return false,
        }
        true
    }

    /// The thread that an item is of; `None` if the item has to wait.
    #[inline]
    fn emitter<S: Sink>(
        &mut self,
        case: CaseId,
        seq: Option<u64>,
        item: &RawItem<'_>,
        cx: &mut Context<'_, S>,
    ) -> Option<ThreadId> {
        let (tid, at) = origin(item);
        let id = match self.state.processes.find(tid) {
            Some(id) if self.state.source.own_files || self.state.processes.thread(id).may_emit(item) => id,
            Some(zombie) => {
                self.state.drop_thread(zombie, cx);
                self.new_emitter(case, tid, seq, item)?
            }
            None => self.new_emitter(case, tid, seq, item)?,
        };
        if !self.state.processes.thread(id).seen {
            self.state.see(id, case, at);
        }
        Some(id)
    }

    fn new_emitter(
        &mut self,
        case: CaseId,
        tid: Tid,
        seq: Option<u64>,
        item: &RawItem<'_>,
    ) -> Option<ThreadId> {
        match self.state.creations.open() {
            Open::None => Some(self.state.unknown_parent(case, tid)),
            // Among the items that wait may be the call that made this one.
            Open::One(parent) if self.held.is_empty() => Some(self.state.attach(case, tid, parent)),
            Open::One(_) | Open::Several => {
                let begins = matches!(item, RawItem::Call(_) | RawItem::Entered(_));
                let seq = seq.or_else(|| begins.then(|| self.state.cases.next_seq(case)));
                self.held.push(case, tid, seq, item);
                None
            }
        }
    }

    /// Takes the waiting items of threads that are known by now, or that cannot be told apart any more, in the order in
    /// which they came.
    fn release_held<S: Sink>(&mut self, cx: &mut Context<'_, S>) {
        loop {
            while let Some(tid) = self.state.processes.arrivals.pop() {
                self.held.know(tid);
            }
            let Some(tid) = self.held.first_known() else {
                if self.settles_first() {
                    continue;
                }
                return;
            };
            if self.is_still_it(tid, cx)
                && let Some(waiting) = self.held.take(tid)
            {
                waiting.with(|item| self.take(waiting.case, waiting.seq, item, cx));
                self.held.know(tid);
            }
        }
    }

    /// Whether the waiting thread is still the one that was known when its item came. If not, its items wait on.
    fn is_still_it<S: Sink>(&mut self, tid: Tid, cx: &mut Context<'_, S>) -> bool {
        let Some(id) = self.state.processes.find(tid) else { return false };
        let thread = self.state.processes.thread(id);
        let may_emit = self.held.peek(tid).is_some_and(|item| item.with(|item| thread.may_emit(item)));
        if !may_emit && !self.state.source.own_files {
            self.state.drop_thread(id, cx);
        }
        may_emit || self.state.source.own_files
    }

    /// Finds a parent, or none, for the waiting thread that was seen first, if it needs not wait any longer.
    fn settles_first(&mut self) -> bool {
        let Some(first) = self.held.first() else { return false };
        match self.state.creations.open() {
            // It was seen before all others that wait, so that none of them made it.
            Open::One(parent) => {
                self.state.attach(CaseId(0), first, parent);
            }
            Open::Several if !self.held.is_full() => return false,
            Open::Several | Open::None => {
                self.state.tally.orphans += 1;
                self.state.unknown_parent(CaseId(0), first);
            }
        }
        true
    }
}
