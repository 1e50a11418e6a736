//! Calls: what a thread that is about to make one, or has made one, is asked, told and allowed.

use crate::fd_probe::{look_named, used_by};
use crate::names::Who;
use crate::naming::{connected, connects};
use crate::proc::{self, FoundDescriptor};
use crate::recording::Recording;
use crate::selection::{Cores, abi};
use crate::store::Store;
use crate::threads::{InFlight, Interrupted};
use crate::tracee_memory::TraceeMemory;
use iotrail_decode::{Entry, Registers, Returned, Special};
use iotrail_model::calls::CallKind;
use iotrail_model::raw::{RawItem, Target};
use iotrail_model::recording_coverage::{count, count_text};
use iotrail_model::{Pid, Tid, Timestamp};
use iotrail_ptrace::{CallInfo, Going, Phase, Stopped};
use std::io;

/// `ERESTARTNOINTR`: the call is restarted whatever a handler says.
const RESTARTS_ALWAYS: i64 = -513;
/// `ERESTART_RESTARTBLOCK`: the call goes on with `restart_syscall`.
const GOES_ON: i64 = -516;
const EINTR: i32 = 4;

/// Entering.
impl<S: Store> Recording<'_, '_, S> {
    /// A thread is about to make a call.
    pub(crate) fn enters(&mut self, stop: Stopped, info: &CallInfo, at: Timestamp) -> io::Result<()> {
        match self.call_to_follow(stop.tid(), info) {
            Some(entry) => {
                let going = self.begins(stop.tid(), entry, info, at);
                stop.resume(going, None)
            }
            None => self.go_on(stop, None),
        }
    }

    /// The call that a thread is about to make, if it is to be seen returning as a call of its own.
    fn call_to_follow(&mut self, tid: Tid, info: &CallInfo) -> Option<Entry> {
        let Phase::Entry { number, args } = info.phase else { return None };
        self.tally.calls += 1;
        let registers = Registers { abi: abi(info.arch, number), number, args };
        if self.is_between_us(tid, &registers) {
            return None;
        }
        if self.settle(tid, info) || !self.is_chosen(&registers) {
            return None;
        }
        let entry = self.decoding.decoder.entry(&registers, &TraceeMemory(tid));
        if self.is_of_program(tid, &entry)
            && !self.continues(tid, &entry)
            && !self.concerns_recorder_alone(tid, &entry)
        {
            return Some(entry);
        }
        self.decoding.decoder.recycle(entry);
        None
    }

    /// Whether a filter would stop at this call.
    fn is_chosen(&self, registers: &Registers) -> bool {
        self.decoding.chooser.as_ref().is_none_or(|chooser| chooser.chooses(registers))
    }

    /// Whether the program makes it, or what starts the program: before that it is a copy of the recorder.
    fn is_of_program(&self, tid: Tid, entry: &Entry) -> bool {
        self.threads.get(tid).is_some_and(|thread| thread.started) || entry.effects().special == Special::Exec
    }

    /// Whether `restart_syscall` goes on with a call that a signal interrupted.
    fn continues(&mut self, tid: Tid, entry: &Entry) -> bool {
        if kind_of(entry) != CallKind::Restart {
            return false;
        }
        let Some(thread) = self.threads.get_mut(tid) else { return false };
        let Some(interrupted) = thread.interrupted.pop_if(|interrupted| interrupted.goes_on) else {
            return false;
        };
        thread.call = Some(interrupted.call);
        self.emitter.interrupted += 1;
        true
    }

    /// Takes note of calls by which a thread leaves a signal handler or asks for cores; whether nobody else wants to see it.
    fn concerns_recorder_alone(&mut self, tid: Tid, entry: &Entry) -> bool {
        let kind = kind_of(entry);
        let returns = kind == CallKind::SignalReturn;
        let cores = Cores::of(kind).filter(|_| self.cores.is_chosen());
        if let Some(thread) = self.threads.get_mut(tid).filter(|_| returns) {
            thread.returning = !thread.interrupted.is_empty();
        }
        if let Some(cores) = cores {
            self.cores.asks(tid, cores, &mut self.threads);
        }
        (returns || cores.is_some()) && !self.decoding.calls.wants(entry)
    }

    /// A call begins that is to be followed: how its thread goes on.
    fn begins(&mut self, tid: Tid, entry: Entry, info: &CallInfo, at: Timestamp) -> Going {
        if self.cores.is_chosen() && entry.text().starts_with(b"/proc/") && entry.names_status() {
            self.cores.status_is_read(&self.threads);
        }
        let special = entry.effects().special;
        let must_announce =
            matches!(special, Special::Spawn | Special::Exit) || kind_of(&entry) == CallKind::Close;
        let unfinished = self.put_in_flight(tid, entry, info, at);
        if let Some(unfinished) = unfinished {
            self.emitter.unseen(tid, &unfinished);
        }
        self.overtakes(tid);
        if must_announce {
            self.emitter.announce(tid, &mut self.threads);
        } else {
            self.emitter.may_announce(tid);
        }
        let ends = special == Special::Exit && self.mode.filtered;
        if ends { Going::Freely } else { Going::ToCall }
    }

    /// A thread is in a call from now on; what it was in before, if that never returned.
    fn put_in_flight(&mut self, tid: Tid, entry: Entry, info: &CallInfo, at: Timestamp) -> Option<InFlight> {
        let mut call = InFlight {
            entry,
            start: at,
            instruction: info.instruction,
            stack: info.stack,
            announced: false,
            child: None,
        };
        let thread = self.threads.get_mut(tid)?;
        let (process, started) = (thread.process, thread.started);
        let unfinished = thread.call.take();
        if started {
            self.ask_before(tid, process, &mut call);
        }
        self.note_habits(tid, process, &call.entry);
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.call = Some(call);
        }
        unfinished
    }

    /// What the kernel can tell only before the call is made.
    fn ask_before(&mut self, tid: Tid, process: Option<Pid>, call: &mut InFlight) {
        self.overtakes(tid);
        self.probe_descriptors(tid, process, call);
        self.names.name_early((tid, process), call, &self.emitter);
        let effects = call.entry.effects();
        if effects.special == Special::Send {
            if effects.sent.is_some_and(|sent| !sent.is_empty()) {
                self.overtakes(tid);
            }
            self.sent.sends(tid, effects.sent, &mut self.emitter);
        }
        if let Some(pid) = process.filter(|_| self.requests.concern(process, call)) {
            self.overtakes(tid);
            let at = call.start;
            let (requests, delivery) = self.delivery();
            requests.entered(Who { tid, pid, at }, call, delivery);
        }
    }

    /// Tells what the descriptors of a call refer to of which nothing is known, and where those stand whose position is lost.
    #[inline]
    fn probe_descriptors(&mut self, tid: Tid, process: Option<Pid>, call: &InFlight) {
        for (fd, moves) in used_by(call) {
            if !self.emitter.knows(tid, fd) && self.emitter.is_steady(tid, fd, false) {
                if let Some(found) = self.fd_probe.look(tid, process, fd, &mut self.names) {
                    self.overtakes(tid);
                    self.emitter.item(&RawItem::Descriptor { tid, fd, open: found.open_file() });
                }
            } else if moves && self.emitter.has_lost(tid, fd) {
                self.find_position(tid, fd);
            }
        }
    }

    /// Looks where a descriptor stands, unless another thread may be moving it.
    #[cold]
    fn find_position(&mut self, tid: Tid, fd: i32) {
        self.overtakes(tid);
        if self.emitter.has_lost(tid, fd)
            && let Some(position) = proc::position(tid, fd)
        {
            self.emitter.item(&RawItem::Position { tid, fd, position });
        }
    }

    /// What a call tells about its process, or about what cannot be seen of it.
    fn note_habits(&mut self, tid: Tid, process: Option<Pid>, entry: &Entry) {
        if entry.undecoded() {
            self.count_undecoded(entry.registers());
        }
        match (entry.effects().special, process) {
            (Special::Exec, Some(process)) => self.accounts.exec_begins(process, tid),
            (Special::Filter, Some(process)) => {
                self.tally.filtering.insert(process);
                self.names.blind = true;
            }
            (Special::Trace, Some(process)) => drop(self.tally.tracing.insert(process)),
            _ => {}
        }
    }

    #[cold]
    fn count_undecoded(&mut self, registers: &Registers) {
        let reason = match registers.abi {
            iotrail_decode::Abi::Unknown(arch) => format!("architecture {arch:#x}"),
            abi => format!("call {} of {abi:?}", registers.number),
        };
        count_text(&mut self.tally.not_decoded, reason.as_bytes());
    }

    /// Before the next call of a thread: if it is the interrupted one again, that one had no effect; without any call in between
    /// (of a handler), it goes on. Returns whether it does.
    fn settle(&mut self, tid: Tid, info: &CallInfo) -> bool {
        let Some(thread) = self.threads.get_mut(tid) else { return false };
        let Some(last) = thread.interrupted.last_mut() else { return false };
        let at_once = std::mem::take(&mut last.is_last);
        let Some(again) = thread.interrupted.pop_if(|last| last.call.is_same(info)) else { return false };
        if at_once {
            self.emitter.interrupted += 1;
            thread.call = Some(again.call);
        } else {
            self.emitter.restarted(tid, &again.call);
            self.decoding.decoder.recycle(again.call.entry);
        }
        at_once
    }
}

/// Leaving.
impl<S: Store> Recording<'_, '_, S> {
    /// A thread has made a call.
    pub(crate) fn leaves(
        &mut self,
        stop: Stopped,
        info: &CallInfo,
        value: i64,
        failed: bool,
        at: Timestamp,
    ) -> io::Result<()> {
        let tid = stop.tid();
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        if std::mem::take(&mut thread.returning) {
            self.returns_from_handler(tid, info);
        }
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        if let Some(cores) = thread.cores.take() {
            self.cores.got(tid, cores, failed, &self.threads);
        }
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        let process = thread.process;
        let Some(mut call) = thread.call.take() else { return self.go_on(stop, None) };
        if failed && matches!(value, -514..=-512 | GOES_ON) {
            self.is_interrupted(tid, call, value, at);
            return self.go_on(stop, None);
        }
        let value = match call.child {
            Some(child) if !failed => i64::from(child.0),
            _ => value,
        };
        let returned = if failed { Returned::Error(-value as i32) } else { Returned::Value(value) };
        call.entry.exit(returned, &TraceeMemory(tid));
        // What others are doing tells what a look is worth.
        self.overtakes(tid);
        self.names.name_late((tid, process), &mut call.entry, at, &self.emitter);
        let effects = call.entry.effects();
        let looks = effects.made[0].is_some() || !effects.received.is_empty() || connects(&call.entry);
        let asked = process.filter(|_| self.requests.concern(process, &call));
        if let Some(pid) = asked {
            self.overtakes(tid);
            let (requests, delivery) = self.delivery();
            requests.returned(Who { tid, pid, at }, &call, returned, delivery);
        }
        // What is told before the thread goes on survives the death of the recorder, whatever the thread does next.
        if looks || asked.is_some() {
            self.emit_return_with_files(tid, call, at, failed);
        } else {
            self.emit_return(tid, call, at, failed, &[]);
        }
        self.go_on(stop, None)
    }

    /// Tells that a call returned.
    fn emit_return(
        &mut self,
        tid: Tid,
        call: InFlight,
        at: Timestamp,
        failed: bool,
        found: &[(i32, Target<'_>)],
    ) {
        self.overtakes(tid);
        self.emitter.has_none_to_announce(tid);
        // A copy of the recorder tried to execute the program and failed.
        if !self.threads.get(tid).is_some_and(|thread| thread.started) {
            self.decoding.decoder.recycle(call.entry);
            return;
        }
        if !failed && call.spawns() && call.child.is_none() {
            count(&mut self.tally.escaped, "CLONE_UNTRACED", 1);
            self.emitter.item(&RawItem::Escaped { tid, table: true });
        }
        self.emitter.returned(tid, &call, at - call.start, found);
        self.decoding.decoder.recycle(call.entry);
    }

    /// Tells that a call returned, and what lies behind the descriptors that it made or received.
    fn emit_return_with_files(&mut self, tid: Tid, mut call: InFlight, at: Timestamp, failed: bool) {
        let effects = call.entry.effects();
        if !effects.received.is_empty() || effects.special == Special::Take {
            self.names.suspect();
        }
        let process = self.threads.get(tid).and_then(|thread| thread.process);
        let made = self.names.look_behind((tid, process), &mut call.entry, at, &self.emitter);
        let received = call.entry.effects().received.iter();
        let received: Vec<FoundDescriptor> =
            received.filter_map(|fd| look_named(tid, *fd, &mut self.names)).collect();
        let connected = connected(process, &call.entry);
        let named = made.iter().filter_map(|(fd, behind)| Some((*fd, behind.name.as_ref()?.target())));
        let names: Vec<(i32, Target<'_>)> =
            named.chain(connected.iter().map(|(fd, name)| (*fd, name.target()))).collect();
        let effects = call.entry.effects();
        let new = effects.made[0].filter(|_| !failed);
        let taken = effects.made[0].filter(|_| effects.special == Special::Take);
        for (fd, behind) in &made {
            self.emitter.item(&RawItem::FileInfo { tid, fd: *fd, facts: behind.facts });
        }
        if let Some(found) = taken.and_then(|fd| proc::look(tid, fd)) {
            self.overtakes(tid);
            self.sent.emit_arrived((tid, process), found, false, &mut self.emitter);
        }
        self.emit_return(tid, call, at, failed, &names);
        if let Some(fd) = new {
            self.note_opened(tid, fd);
        }
        for found in received {
            self.sent.emit_arrived((tid, process), found, true, &mut self.emitter);
        }
    }
}

/// Interrupted calls.
impl<S: Store> Recording<'_, '_, S> {
    /// A signal interrupted a call before it did anything.
    fn is_interrupted(&mut self, tid: Tid, mut call: InFlight, value: i64, at: Timestamp) {
        self.overtakes(tid);
        self.emitter.has_none_to_announce(tid);
        if value == RESTARTS_ALWAYS {
            self.emitter.restarted(tid, &call);
            self.decoding.decoder.recycle(call.entry);
            return;
        }
        self.emitter.suspended(tid, &mut call);
        let dur = at - call.start;
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let interrupted = Interrupted { call, dur, goes_on: value == GOES_ON, is_last: true };
        if let Some(oldest) = thread.interrupt(interrupted) {
            self.fails(tid, oldest);
        }
    }

    /// A thread returned from a signal handler. If it goes on behind the interrupted call, that one has failed; if it goes on
    /// before it, it will be made again.
    fn returns_from_handler(&mut self, tid: Tid, info: &CallInfo) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let failed = thread.interrupted.pop_if(|interrupted| {
            let call = &interrupted.call;
            call.instruction == info.instruction && call.stack == info.stack
        });
        if let Some(failed) = failed {
            self.overtakes(tid);
            self.fails(tid, failed);
        }
    }

    /// An interrupted call has failed with EINTR.
    pub(crate) fn fails(&mut self, tid: Tid, interrupted: Interrupted) {
        let Interrupted { mut call, dur, .. } = interrupted;
        call.entry.exit(Returned::Error(EINTR), &TraceeMemory(tid));
        let process = self.threads.get(tid).and_then(|thread| thread.process);
        self.names.name_late((tid, process), &mut call.entry, call.start + dur, &self.emitter);
        self.emitter.returned(tid, &call, dur, &[]);
        self.decoding.decoder.recycle(call.entry);
    }
}

fn kind_of(entry: &Entry) -> CallKind {
    entry.spec().map(|spec| spec.kind).unwrap_or_default()
}
