//! Threads and processes come, run other programs, and go.

use crate::names::Who;
use crate::outcome::End;
use crate::plan::Wait;
use crate::privileges::withheld;
use crate::proc;
use crate::recording::Recording;
use crate::store::Store;
use crate::tracee_memory::TraceeMemory;
use iotrail_decode::Returned;
use iotrail_decode::signal_name;
use iotrail_model::raw::RawItem;
use iotrail_model::recording_coverage::count_text;
use iotrail_model::{Pid, Tid, Timestamp};
use iotrail_ptrace::{Ending, Going, Stopped};
use std::io;

impl<S: Store> Recording<'_, '_, S> {
    /// A thread made another one.
    pub(crate) fn created(&mut self, stop: Stopped, at: Timestamp) -> io::Result<()> {
        let parent = stop.tid();
        let child = Tid(stop.message()? as u32);
        self.overtakes(parent);
        self.emitter.announce(parent, &mut self.threads);
        let process = self.threads.get(parent).and_then(|thread| thread.process);
        if self.threads.get(child).is_some_and(|thread| thread.process.is_some()) {
            // It was found by itself already.
            return self.go_on(stop, None);
        }
        let same = process.is_some_and(|process| {
            rustix::fs::access(format!("/proc/{process}/task/{child}"), rustix::fs::Access::EXISTS).is_ok()
        });
        let own = process.filter(|_| same).unwrap_or(Pid(child.0));
        let call = self.threads.get_mut(parent).and_then(|thread| thread.call.as_mut());
        match call {
            Some(call) if call.spawns() => {
                call.child = Some(child);
                self.emitter.item(&RawItem::Created { parent, child, at });
            }
            _ => self.find(child, own, at),
        }
        if let Some(process) = process.filter(|process| *process != own) {
            self.requests.forked(process, own);
        }
        self.threads.belongs(child, own);
        self.cores.made(child);
        self.go_on(stop, None)?;
        self.release(child)
    }

    /// Tells about a thread whose making was not seen.
    pub(crate) fn find(&mut self, tid: Tid, process: Pid, at: Timestamp) {
        if tid.0 != process.0 {
            self.emitter.item(&RawItem::Found { tid, pid: process, ppid: None, at, table: None });
            return;
        }
        let (emitter, threads, names) = (&mut self.emitter, &self.threads, &mut self.names);
        let gathering = &self.gathering;
        // What is told of two processes that share something must be told after both.
        let is_followed = |pid| pid != process && threads.has_process(pid) && !gathering.has(pid);
        // What a process has opened before may be in a namespace that it has left.
        names.suspect();
        let mut seen = |tid, link: &str, name| names.seen(tid, link, name);
        let found =
            proc::snapshot(process, at, &self.env, &is_followed, &mut seen, |item| emitter.item(&item));
        self.tally.unnamed_descriptors += found.unnamed;
        self.tally.cut_command_lines += u64::from(found.cut > 0);
    }

    /// It is known who made a thread: what it has to say may be heard.
    pub(crate) fn release(&mut self, tid: Tid) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        let (held, dead) = (thread.held.take(), thread.dead.take());
        if let Some(stop) = held {
            let now = self.clock.now();
            self.stopped(stop, now)?;
        }
        if let Some((ending, at)) = dead {
            self.ended(tid, ending, at);
        }
        Ok(())
    }

    /// A process runs another program now.
    pub(crate) fn executes(&mut self, stop: Stopped, at: Timestamp) -> io::Result<()> {
        let tid = stop.tid();
        let former = Tid(stop.message()? as u32);
        self.overtakes(former);
        let Some(process) = self.threads.get(tid).and_then(|thread| thread.process) else { return Ok(()) };
        if former != tid && self.threads.get(former).is_some() {
            self.supersedes(tid, former, process, at);
        }
        let usage = self.accounts.exec_done(process);
        self.requests.forget(process, &mut self.emitter);
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        let call = thread.call.take();
        let interrupted = std::mem::take(&mut thread.interrupted);
        thread.returning = false;
        let starts = !std::mem::replace(&mut thread.started, true);
        self.names.forget(tid);
        self.leaves_mpi((process, tid), at);
        self.mpi.thread_ends(process, tid);
        self.emitter.has_none_to_announce(tid);
        if starts {
            self.emitter.filter.begun();
            self.emit_start(process, at);
        }
        self.emitter.item(&RawItem::Usage { tid, usage });
        for interrupted in interrupted {
            self.fails(tid, interrupted);
        }
        if let Some(mut call) = call {
            call.entry.exit(Returned::Value(0), &TraceeMemory(tid));
            self.emitter.returned(tid, &call, at - call.start, &[]);
            self.decoding.decoder.recycle(call.entry);
        }
        let mut facts = proc::image(tid, &self.env);
        for (link, path) in [("exe", &mut facts.exe), ("cwd", &mut facts.cwd)] {
            *path = path.take().map(|path| self.names.seen(tid, link, path));
        }
        self.tally.cut_command_lines += u64::from(facts.cut > 0);
        if withheld(tid) {
            count_text(&mut self.tally.without_privileges, facts.exe.as_deref().unwrap_or(b"?"));
        }
        facts.with(|image| self.emitter.item(&RawItem::Image { tid, at, image }));
        self.go_on(stop, None)
    }

    /// Tells what the program is started with: descriptors and working directory as they are behind its exec.
    fn emit_start(&mut self, process: Pid, at: Timestamp) {
        let (emitter, names) = (&mut self.emitter, &mut self.names);
        let mut seen = |tid, link: &str, name| names.seen(tid, link, name);
        let at = proc::birth(process, at);
        let found = proc::snapshot(process, at, &self.env, &|_| false, &mut seen, |item| {
            if !matches!(item, RawItem::Image { .. }) {
                emitter.item(&item);
            }
        });
        self.tally.unnamed_descriptors += found.unnamed;
    }

    /// A thread other than the leader executed a program: it has the leader's id now, and all others are gone.
    fn supersedes(&mut self, leader: Tid, former: Tid, process: Pid, at: Timestamp) {
        self.accounts.thread_ends(process, leader);
        self.abandon(leader);
        self.threads.retires(leader);
        self.threads.remove(leader);
        self.threads.rename(former, leader);
        self.emitter.renamed(former, leader);
        self.emitter.announce(leader, &mut self.threads);
        self.emitter.item(&RawItem::Superseded { tid: leader, by: former, at });
    }

    /// Whatever a thread is in the middle of will not be seen to end.
    pub(crate) fn abandon(&mut self, tid: Tid) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let call = thread.call.take();
        let interrupted = std::mem::take(&mut thread.interrupted);
        let (started, process) = (thread.started, thread.process);
        self.emitter.has_none_to_announce(tid);
        let calls = interrupted.into_iter().map(|interrupted| interrupted.call).chain(call);
        for mut call in calls.filter(|_| started) {
            self.names.name_late((tid, process), &mut call.entry, call.start, &self.emitter);
            self.emitter.unseen(tid, &call);
            self.decoding.decoder.recycle(call.entry);
        }
    }

    /// A thread is about to end.
    pub(crate) fn exits(&mut self, stop: Stopped, at: Timestamp) -> io::Result<()> {
        let tid = stop.tid();
        self.overtakes(tid);
        self.cores.ends(tid);
        let process = self.threads.get(tid).and_then(|thread| thread.process);
        if let Some(pid) = process {
            let (requests, delivery) = self.delivery();
            requests.ending(Who { tid, pid, at }, delivery);
        }
        self.abandon(tid);
        match (self.threads.retires(tid), process) {
            (Some(process), _) => {
                self.requests.forget(process, &mut self.emitter);
                let usage = self.accounts.process_ends(process, tid);
                self.emitter.item(&RawItem::Usage { tid: Tid(process.0), usage });
            }
            (None, Some(process)) => {
                self.requests.thread_ended(process, tid);
                self.accounts.thread_ends(process, tid);
            }
            (None, None) => {}
        }
        stop.resume(Going::Freely, None)?;
        self.look_after_orphans(at);
        Ok(())
    }

    /// A thread is gone.
    pub(crate) fn ended(&mut self, tid: Tid, ending: Ending, at: Timestamp) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let Some(process) = thread.process else {
            thread.held = None;
            thread.dead = Some((ending, at));
            return;
        };
        self.hear_mpi(tid, at);
        self.leaves_mpi((process, tid), at);
        self.mpi.thread_ends(process, tid);
        self.overtakes(tid);
        self.abandon(tid);
        if let Some(process) = self.threads.retires(tid) {
            self.requests.forget(process, &mut self.emitter);
            self.accounts.forget(process);
        }
        match ending {
            Ending::Exited(status) => self.emitter.item(&RawItem::Exited { tid, at, status }),
            Ending::Killed(signal) => {
                let name = signal_name(signal.0);
                self.emitter.item(&RawItem::Killed { tid, at, signal: name.as_bytes() });
            }
        }
        self.names.forget(tid);
        let started = self.threads.remove(tid).is_some_and(|thread| thread.started);
        self.gather_without(tid);
        if tid.0 == process.0 {
            self.tally.forget(process);
            self.fd_probe.forget(process);
        }
        self.look_after_orphans(at);
        if self.is_main(tid) {
            self.main_ended(ending, started);
        }
    }

    fn is_main(&self, tid: Tid) -> bool {
        self.mode.main.is_some_and(|main| main.0 == tid.0)
    }

    fn main_ended(&mut self, ending: Ending, started: bool) {
        if started {
            self.end = Some(match ending {
                Ending::Exited(status) => End::Exited(status),
                Ending::Killed(signal) => End::Signalled(signal.0),
            });
        }
        self.signals.main_ended();
        if self.mode.wait == Wait::Main {
            self.detach_all();
        }
    }

    /// A thread may have died while it made another one, which waits in vain for somebody to say who made it.
    #[inline]
    fn look_after_orphans(&mut self, at: Timestamp) {
        if self.threads.has_orphans() && !self.threads.is_any_spawning() {
            self.release_orphans(at);
        }
    }

    #[cold]
    pub(crate) fn release_orphans(&mut self, at: Timestamp) {
        for tid in self.threads.orphans() {
            let process = proc::process_of(tid).unwrap_or(Pid(tid.0));
            self.find(tid, process, at);
            self.threads.belongs(tid, process);
            // It may have been killed meanwhile; then its end is reported.
            let _ = self.release(tid);
        }
    }
}
