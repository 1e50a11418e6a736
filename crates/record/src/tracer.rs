//! The loop: a thread stops, what it does is told to the resolver, it goes on.
//!
//! A call stops twice: where the filter selects it, and where it returns. A call that returned is told before its thread
//! goes on: what a program knows to be done is kept, whenever the recorder is killed. The order of what is told is the order
//! of the stops, with two exceptions: a new thread is held until it is known who made it, and a call that another
//! thread's stop overtakes is announced before that.

use crate::clock::Clock;
use crate::error::RecordError;
use crate::looks::Misses;
use crate::names::Names;
use crate::naming::connects;
use crate::on_the_way::OnTheWay;
use crate::outcome::End;
use crate::placement::Placed;
use crate::plan::Wait;
use crate::proc::{self, Accounts, EnvSelection, Found};
use crate::run::cpu_time;
use crate::scribe::Scribe;
use crate::selection::{Chooser, Cores, abi};
use crate::signals::Signals;
use crate::store::Store;
use crate::threads::{InFlight, Interrupted, Threads};
use hashbrown::HashSet;
use iotrail_decode::asynchronous::Asynchronous;
use iotrail_decode::{CallSet, Decoder, Memory, Registers, Returned, Special};
use iotrail_model::calls::CallKind;
use iotrail_model::raw::{RawItem, Target};
use iotrail_model::recording_coverage::{Counts, count, count_text};
use iotrail_model::{Nanos, Pid, Tid, Timestamp};
use iotrail_ptrace::{
    CallCost, CallInfo, Going, Launched, Phase, Report, Signal, Stopped, Tracer, Why, read_memory,
};
use std::collections::VecDeque;
use std::io;

/// `ERESTARTNOINTR`: the call is restarted whatever a handler says.
const RESTARTS_ALWAYS: i64 = -513;
/// `ERESTART_RESTARTBLOCK`: the call goes on with `restart_syscall`.
const GOES_ON: i64 = -516;
const EINTR: i32 = 4;

/// Stops between two statements of coverage.
const STATEMENTS: u64 = 1 << 16;

/// What the loop counts for the coverage statement.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stops: u64,
    pub(crate) calls: u64,
    pub(crate) mapped_files: u64,
    pub(crate) cut_command_lines: u64,
    pub(crate) unnamed_descriptors: u64,
    pub(crate) left_running: u64,
    pub(crate) escaped: Counts,
    /// Requests that the kernel refused, by error.
    pub(crate) troubles: Counts,
    pub(crate) not_decoded: Counts,
    pub(crate) filtering: HashSet<Pid, foldhash::fast::FixedState>,
    pub(crate) tracing: HashSet<Pid, foldhash::fast::FixedState>,
    pub(crate) without_privileges: Counts,
    pub(crate) filtering_before: u64,
    pub(crate) tracing_before: u64,
}

/// How the loop is to trace.
#[derive(Debug)]
pub(crate) struct Mode {
    /// Whether threads run freely up to a call that the filter selects.
    pub(crate) filtered: bool,
    pub(crate) wait: Wait,
    /// The process that was started; `None` if the recorder attached to running ones.
    pub(crate) main: Option<Pid>,
}

/// Everything that the loop holds.
pub(crate) struct Recording<'s, 'm, S> {
    pub(crate) tracer: Tracer,
    pub(crate) scribe: Scribe<'s, S>,
    pub(crate) signals: Signals<'m>,
    pub(crate) mode: Mode,
    pub(crate) calls: CallSet,
    pub(crate) env: EnvSelection,
    pub(crate) clock: Clock,
    pub(crate) threads: Threads,
    pub(crate) tally: Tally,
    pub(crate) accounts: Accounts,
    pub(crate) end: Option<End>,
    pub(crate) misses: Misses,
    pub(crate) names: Names,
    pub(crate) on_the_way: OnTheWay,
    pub(crate) requests: Asynchronous,
    pub(crate) launched: Option<Launched>,
    /// Threads are let go wherever they stop.
    pub(crate) detaching: bool,
    /// Processes whose threads are held until all of them have stopped.
    pub(crate) gathering: Vec<(Pid, Vec<Tid>)>,
    /// What a stopped call costs on this machine, if it was measured.
    pub(crate) call_cost: Option<CallCost>,
    /// Where everything runs, if the recorder chooses.
    pub(crate) placed: Option<Placed>,
    /// Seconds of CPU time after which the kernel kills the recorder.
    pub(crate) cpu_limit: Option<u64>,
    /// Whether there may be children that are not traced.
    pub(crate) foreign: bool,
    /// A signal stopped the whole program, and the recorder shall stop as well.
    pub(crate) stop_due: Option<Signal>,
    /// CPU time of this thread when the recording began.
    pub(crate) cpu: Nanos,
    /// Number of stops after which the next statement is due.
    next_statement: u64,
    pub(crate) decoder: Decoder,
    /// Without a filter every call stops, wanted or not.
    chooser: Option<Chooser>,
    /// Since when there are threads of which nobody said who made them.
    pub(crate) orphaned: Option<Timestamp>,
    /// The thread in a call of which the resolver does not know yet.
    pub(crate) unannounced: Option<Tid>,
    pub(crate) reports: VecDeque<(Report, Timestamp)>,
}

/// The memory of a stopped thread.
pub(crate) struct TraceeMemory(pub(crate) Tid);

impl Memory for TraceeMemory {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        read_memory(self.0, address, buffer)
    }
}

/// What a recording starts with.
pub(crate) struct Parts<'s, 'm, S> {
    pub(crate) scribe: Scribe<'s, S>,
    pub(crate) signals: Signals<'m>,
    pub(crate) mode: Mode,
    pub(crate) calls: CallSet,
    pub(crate) env: EnvSelection,
    pub(crate) clock: Clock,
}

impl<'s, 'm, S: Store> Recording<'s, 'm, S> {
    pub(crate) fn new(tracer: Tracer, parts: Parts<'s, 'm, S>) -> Self {
        let Parts { scribe, signals, mode, calls, env, clock } = parts;
        let names = Names::new(&calls);
        let chooser = (!mode.filtered).then(|| Chooser::new(&calls));
        Self {
            tracer,
            scribe,
            signals,
            mode,
            calls,
            env,
            clock,
            threads: Threads::default(),
            tally: Tally::default(),
            accounts: Accounts::new(),
            end: None,
            misses: Misses::default(),
            names,
            on_the_way: OnTheWay::default(),
            requests: Asynchronous::new(),
            launched: None,
            detaching: false,
            gathering: Vec::new(),
            call_cost: None,
            placed: None,
            cpu_limit: None,
            foreign: true,
            stop_due: None,
            cpu: cpu_time(),
            // What is recorded is said at once: whoever is killed early has said so.
            next_statement: 1,
            decoder: Decoder::new(),
            chooser,
            unannounced: None,
            orphaned: None,
            reports: VecDeque::new(),
        }
    }

    /// Traces until nothing is left to trace.
    pub(crate) fn run(&mut self) -> Result<(), RecordError> {
        loop {
            if self.signals.are_due() {
                self.pass_signals_on()?;
            }
            self.watch_orphans();
            if self.stop_due.is_some() && self.reports.is_empty() {
                self.stop_too();
            }
            if self.threads.len() == 0 && self.reports.is_empty() && self.is_over()? {
                break;
            }
            match self.next() {
                Ok(Some((report, at))) => {
                    let tid = report.tid();
                    self.report(report, at)?;
                    if self.tally.stops >= self.next_statement {
                        self.state();
                    }
                    self.look_at_places(at, Some(tid));
                }
                Ok(None) => self.look_at_places(self.clock.now(), None),
                Err(error) if error.raw_os_error() == Some(ECHILD) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.finish_requests();
        self.scribe.finish();
        Ok(())
    }

    /// Whether no traced thread is left. One of which nothing is known, because its maker was killed in the making, shows up
    /// sooner or later; children that are not traced must not be waited for.
    #[cold]
    fn is_over(&mut self) -> io::Result<bool> {
        self.signals.watch_group_no_more();
        match self.tracer.wait(false) {
            Ok(Some(report)) => {
                self.reports.push_back((report, self.clock.now()));
                Ok(false)
            }
            Ok(None) => Ok(self.foreign && !proc::is_tracing()),
            Err(error) if error.raw_os_error() == Some(ECHILD) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Looks now and then whether recorder and program are in the right place.
    #[inline]
    fn look_at_places(&mut self, now: Timestamp, stopped: Option<Tid>) {
        if self.placed.as_ref().is_some_and(|placed| placed.is_due(now)) {
            self.look_at_threads(now, stopped);
        }
    }

    #[cold]
    fn look_at_threads(&mut self, now: Timestamp, stopped: Option<Tid>) {
        let (tids, calls) = (self.threads.ids(), self.tally.calls);
        if let Some(placed) = &mut self.placed {
            placed.look(now, calls, stopped, &tids);
        }
    }

    /// A thread is about to ask for cores or to choose some.
    #[cold]
    fn asks_for_cores(&mut self, tid: Tid, cores: Cores) {
        let tids = self.threads.ids();
        if let (Some(placed), Some(thread)) = (&self.placed, self.threads.get_mut(tid)) {
            placed.asks(&tids);
            thread.cores = Some(cores);
        }
    }

    /// It was answered.
    #[cold]
    fn got_cores(&mut self, tid: Tid, cores: Cores, failed: bool) {
        let tids = self.threads.ids();
        match &mut self.placed {
            Some(placed) if cores == Cores::Chosen && !failed => placed.settles(&tids, tid),
            Some(placed) => placed.was_answered(&tids),
            None => {}
        }
    }

    /// A program that reads of itself in `/proc` which cores it has shall read the truth.
    #[cold]
    fn reads_status(&mut self) {
        let tids = self.threads.ids();
        if let Some(placed) = &mut self.placed {
            placed.settles(&tids, Tid(0));
        }
    }

    /// Says what can be said so far: a recorder that is killed says nothing more.
    #[cold]
    fn state(&mut self) {
        self.next_statement = self.tally.stops + STATEMENTS;
        let coverage = self.coverage();
        self.scribe.gate.store().coverage(&coverage);
    }

    /// The next report; `None` if a signal came instead.
    ///
    /// With several threads all that have stopped are taken at once: the kernel offers them in the order of their
    /// age, and a busy old one would let the others wait for ever.
    fn next(&mut self) -> io::Result<Option<(Report, Timestamp)>> {
        if let Some(next) = self.reports.pop_front() {
            return Ok(Some(next));
        }
        let first = match self.tracer.wait(true) {
            Ok(report) => report,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) => return Err(error),
        };
        let first = first.map(|report| (report, self.clock.now()));
        if self.threads.len() > 1 {
            while let Ok(Some(report)) = self.tracer.wait(false) {
                self.reports.push_back((report, self.clock.now()));
            }
        }
        Ok(first)
    }

    fn report(&mut self, report: Report, at: Timestamp) -> Result<(), RecordError> {
        match report {
            Report::Ended(tid, ending) => {
                self.ended(tid, ending, at);
                Ok(())
            }
            Report::Stopped(stop) => {
                self.tally.stops += 1;
                match self.stopped(stop, at) {
                    Err(error) if is_gone(&error) => Ok(()),
                    Err(error) if error.raw_os_error() == Some(EIO) => Err(RecordError::KernelTooOld),
                    Err(error) => {
                        count(&mut self.tally.troubles, &error.to_string(), 1);
                        Ok(())
                    }
                    Ok(()) => Ok(()),
                }
            }
        }
    }

    pub(crate) fn stopped(&mut self, stop: Stopped, at: Timestamp) -> io::Result<()> {
        let tid = stop.tid();
        let thread = self.threads.entry(tid);
        if thread.process.is_none() {
            // A new thread may speak when it is known who made it.
            thread.held = Some(stop);
            return Ok(());
        }
        if self.detaching {
            return self.let_go(stop, at);
        }
        match stop.why() {
            Why::Selected => {
                let info = stop.call()?;
                if !info.ours {
                    match stop.refuse_call() {
                        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                        other => other?,
                    }
                }
                self.enters(stop, &info, at)
            }
            Why::Call => {
                let info = stop.call()?;
                match info.phase {
                    Phase::Entry { .. } => self.enters(stop, &info, at),
                    Phase::Exit { value, failed } => self.leaves(stop, &info, value, failed, at),
                    Phase::None => self.go_on(stop, None),
                }
            }
            Why::Created => self.created(stop, at),
            Why::Exec => self.executes(stop, at),
            Why::Exiting => self.exits(stop, at),
            Why::Signal(signal) => self.gets_signal(stop, signal, at),
            Why::Group(signal) => self.stops(stop, signal),
            Why::Trap => self.trapped(stop),
            Why::Other(_) => self.go_on(stop, None),
        }
    }

    /// Lets a thread run to its next stop of interest.
    pub(crate) fn go_on(&self, stop: Stopped, signal: Option<Signal>) -> io::Result<()> {
        let in_call = self
            .threads
            .get(stop.tid())
            .is_some_and(|thread| thread.call.is_some() || thread.returning || thread.cores.is_some());
        let going = if in_call || !self.mode.filtered { Going::ToCall } else { Going::Freely };
        stop.resume(going, signal)
    }

    /// Announces the call that a thread is in, if another one has something to say.
    #[inline]
    pub(crate) fn overtakes(&mut self, tid: Tid) {
        match self.unannounced {
            Some(other) if other != tid => self.announce(other),
            _ => {}
        }
    }

    #[cold]
    pub(crate) fn announce(&mut self, tid: Tid) {
        if let Some(call) = self.threads.get_mut(tid).and_then(|thread| thread.call.as_mut()) {
            self.scribe.entered(tid, call);
        }
        if self.unannounced == Some(tid) {
            self.unannounced = None;
        }
    }

    /// A thread is about to make a call.
    fn enters(&mut self, stop: Stopped, info: &CallInfo, at: Timestamp) -> io::Result<()> {
        let Phase::Entry { number, args } = info.phase else { return self.go_on(stop, None) };
        let tid = stop.tid();
        self.tally.calls += 1;
        if self.settle(tid, info) {
            return self.go_on(stop, None);
        }
        let registers = Registers { abi: abi(info.arch, number), number, args };
        if self.chooser.as_ref().is_some_and(|chooser| !chooser.chooses(&registers)) {
            return self.go_on(stop, None);
        }
        let entry = self.decoder.entry(&registers, &TraceeMemory(tid));
        let special = entry.effects().special;
        let kind = entry.spec().map(|spec| spec.kind).unwrap_or_default();
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        if !thread.started && special != Special::Exec {
            self.decoder.recycle(entry);
            return self.go_on(stop, None);
        }
        if kind == CallKind::Restart
            && let Some(interrupted) = thread.interrupted.pop_if(|interrupted| interrupted.goes_on)
        {
            thread.call = Some(interrupted.call);
            self.scribe.interrupted += 1;
            self.decoder.recycle(entry);
            return self.go_on(stop, None);
        }
        if kind == CallKind::SignalReturn {
            thread.returning = !thread.interrupted.is_empty();
            if !self.calls.wants(&entry) {
                self.decoder.recycle(entry);
                return self.go_on(stop, None);
            }
        }
        if let Some(cores) = Cores::of(kind)
            && self.placed.is_some()
        {
            self.asks_for_cores(tid, cores);
            if !self.calls.wants(&entry) {
                self.decoder.recycle(entry);
                return self.go_on(stop, None);
            }
        }
        if self.placed.is_some() && entry.text().starts_with(b"/proc/") && entry.names_status() {
            self.reads_status();
        }
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        let must_announce = matches!(special, Special::Spawn | Special::Exit) || kind == CallKind::Close;
        let undecoded = entry.undecoded();
        let mut in_flight = InFlight {
            entry,
            start: at,
            instruction: info.instruction,
            stack: info.stack,
            announced: false,
            child: None,
        };
        let process = thread.process;
        let unfinished = thread.call.take();
        if thread.started {
            self.look_at_unknown(tid, process, &in_flight);
            self.name_early(tid, process, &mut in_flight);
            if special == Special::Send {
                self.sends(tid, in_flight.entry.effects().sent);
            }
            if self.concerns_requests(process, &in_flight) {
                self.asks(tid, process, &in_flight, at);
            }
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.call = Some(in_flight);
        }
        if undecoded {
            self.count_undecoded(&registers);
        }
        match (special, process) {
            (Special::Exec, Some(process)) => self.accounts.exec_begins(process, tid),
            (Special::Filter, Some(process)) => drop(self.tally.filtering.insert(process)),
            (Special::Trace, Some(process)) => drop(self.tally.tracing.insert(process)),
            _ => {}
        }
        if let Some(unfinished) = unfinished {
            self.scribe.unseen(tid, &unfinished);
        }
        self.overtakes(tid);
        if must_announce {
            self.announce(tid);
        } else {
            self.unannounced = Some(tid);
        }
        let ends = special == Special::Exit && self.mode.filtered;
        stop.resume(if ends { Going::Freely } else { Going::ToCall }, None)
    }

    /// A thread has made a call.
    fn leaves(
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
            self.got_cores(tid, cores, failed);
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
        self.name_late(tid, process, &mut call.entry, at);
        let effects = call.entry.effects();
        let looks = effects.made[0].is_some() || !effects.received.is_empty() || connects(&call.entry);
        let requests = self.concerns_requests(process, &call);
        if requests {
            self.answers(tid, process, &call, returned, at);
        }
        // What is told before the thread goes on survives the death of the recorder, whatever the thread does next.
        if looks || requests {
            self.tell_and_look(tid, call, at, failed);
        } else {
            self.tell(tid, call, at, failed, &[]);
        }
        self.go_on(stop, None)
    }

    /// Tells that a call returned.
    fn tell(&mut self, tid: Tid, call: InFlight, at: Timestamp, failed: bool, found: &[(i32, Target<'_>)]) {
        self.overtakes(tid);
        if self.unannounced == Some(tid) {
            self.unannounced = None;
        }
        // A copy of the recorder tried to execute the program and failed.
        if !self.threads.get(tid).is_some_and(|thread| thread.started) {
            self.decoder.recycle(call.entry);
            return;
        }
        if !failed && call.spawns() && call.child.is_none() {
            count(&mut self.tally.escaped, "CLONE_UNTRACED", 1);
            self.scribe.item(&RawItem::Escaped { tid, table: true });
        }
        self.scribe.returned(tid, &call, at - call.start, found);
        self.tally.mapped_files += u64::from(!failed && call.maps_file());
        self.decoder.recycle(call.entry);
    }

    /// Tells that a call returned, and what lies behind the descriptors that it made or received.
    fn tell_and_look(&mut self, tid: Tid, mut call: InFlight, at: Timestamp, failed: bool) {
        let effects = call.entry.effects();
        if !effects.received.is_empty() || effects.special == Special::Take {
            self.names.suspect();
        }
        let made = self.look_behind(tid, &mut call.entry, at);
        let received = call.entry.effects().received.iter();
        let names = &mut self.names;
        let look = |fd: &i32| {
            let mut found = proc::look(tid, *fd)?;
            found.name.name = names.seen(tid, &format!("fd/{fd}"), found.name.name);
            Some((*fd, found))
        };
        let received: Vec<(i32, Found)> = received.filter_map(look).collect();
        let connected = self.connected(tid, &call.entry);
        let named = made.iter().filter_map(|(fd, behind)| Some((*fd, behind.name.as_ref()?.target())));
        let names: Vec<(i32, Target<'_>)> =
            named.chain(connected.iter().map(|(fd, name)| (*fd, name.target()))).collect();
        let effects = call.entry.effects();
        let taken = effects.made[0].filter(|_| effects.special == Special::Take);
        for (fd, behind) in &made {
            self.scribe.item(&RawItem::Behind { tid, fd: *fd, facts: behind.facts });
        }
        self.tell(tid, call, at, failed, &names);
        for (_, found) in received {
            self.arrives(tid, found, true);
        }
        if let Some(found) = taken.and_then(|fd| proc::look(tid, fd)) {
            self.arrives(tid, found, false);
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

    /// A signal interrupted a call before it did anything.
    fn is_interrupted(&mut self, tid: Tid, mut call: InFlight, value: i64, at: Timestamp) {
        self.overtakes(tid);
        if self.unannounced == Some(tid) {
            self.unannounced = None;
        }
        if value == RESTARTS_ALWAYS {
            self.scribe.restarted(tid, &call);
            self.decoder.recycle(call.entry);
            return;
        }
        self.scribe.suspended(tid, &mut call);
        let dur = at - call.start;
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let interrupted = Interrupted { call, dur, goes_on: value == GOES_ON, is_last: true };
        if let Some(oldest) = thread.interrupt(interrupted) {
            self.fails(tid, oldest);
        }
    }

    /// Before the next call of a thread: if it is the interrupted one again, that one had no effect; without any call in between
    /// (of a handler), it goes on. Returns whether it does.
    fn settle(&mut self, tid: Tid, info: &CallInfo) -> bool {
        let Some(thread) = self.threads.get_mut(tid) else { return false };
        let Some(last) = thread.interrupted.last_mut() else { return false };
        let at_once = std::mem::take(&mut last.is_last);
        let Some(again) = thread.interrupted.pop_if(|last| last.call.is_same(info)) else { return false };
        if at_once {
            self.scribe.interrupted += 1;
            thread.call = Some(again.call);
        } else {
            self.scribe.restarted(tid, &again.call);
            self.decoder.recycle(again.call.entry);
        }
        at_once
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
        self.name_late(tid, process, &mut call.entry, call.start + dur);
        self.scribe.returned(tid, &call, dur, &[]);
        self.decoder.recycle(call.entry);
    }

    /// A thread stopped because it was asked to, is new, or goes on after a group stop.
    fn trapped(&mut self, stop: Stopped) -> io::Result<()> {
        let tid = stop.tid();
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.listening = false;
        }
        match self.gather(stop) {
            Ok(result) => result,
            Err(stop) => self.go_on(stop, None),
        }
    }
}

/// No child is left to wait for.
const ECHILD: i32 = 10;
/// The request is unknown to the kernel.
const EIO: i32 = 5;

/// Whether a request failed because the thread was killed.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.raw_os_error() == Some(ESRCH)
}
