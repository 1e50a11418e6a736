//! A thread looks for a name, or tries to take a lock, sleeps, and tries again.

use super::Rule;
use super::habit::{Context, Image, Outcome, ProcessHabit, Saved, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Class, LockRequest};
use iotrail_model::{CaseId, PathId, Tid};

/// From so many tries in vain on, each after a sleep, it is a habit.
const MANY: u64 = 10;

#[derive(Default)]
pub(crate) struct Polling {
    threads: HashMap<(CaseId, Tid), Last, RandomState>,
    /// The last sleep of a process, which a shell starts to sleep.
    slept: HashMap<(CaseId, u32), Seen, RandomState>,
    /// Who waits for a process that has not slept yet, and for how long: a shell mostly does so before its child begins to sleep.
    awaited: HashMap<(CaseId, u32), (Tid, Option<u64>), RandomState>,
    tries: HashMap<(Image, PathId), Tally, RandomState>,
}

/// What a thread tried last, and how long it slept then.
#[derive(Clone, Copy)]
struct Last {
    path: PathId,
    slept: Option<Saved>,
}

impl Rule for Polling {
    fn see(&mut self, call: &Seen) {
        let thread = (call.case, call.tid);
        match call.kind {
            // A sleep that a signal interrupted goes on.
            CallKind::Sleep | CallKind::Restart => {
                let process = (call.case, call.pid.0);
                self.slept.insert(process, *call);
                self.sleep(thread, call);
                if let Some((waiter, waited)) = self.awaited.remove(&process) {
                    self.child_slept((call.case, waiter), waited, call);
                }
            }
            CallKind::WaitChild => {
                let child = call.ret.and_then(|ret| u32::try_from(ret).ok()).filter(|child| *child > 0);
                let Some(child) = child.map(|child| (call.case, child)) else { return };
                match self.slept.remove(&child) {
                    Some(sleep) => self.child_slept(thread, call.time, &sleep),
                    None => drop(self.awaited.insert(child, (call.tid, call.time))),
                }
            }
            _ if call.class == Some(Class::Sleep) => self.sleep(thread, call),
            _ => {
                if let Some(path) = call.path.filter(|_| call.selected && tries(call)) {
                    self.attempt(thread, path, call);
                }
            }
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.tries.iter().filter(|(_, tally)| tally.amount >= MANY);
        let found = many.map(|((_, path), tally)| ProcessHabit {
            rule: "polling",
            file: log.text(Some(*path)),
            tally: *tally,
            places: Vec::new(),
            fix: "wait for it instead of looking again: inotify on the directory, `wait` or a pipe from the process that makes it, a lock that waits (flock without LOCK_NB, F_SETLKW); shell: `flock FILE COMMAND`, `inotifywait`; if polling must be, a shorter sleep",
            assumes: "who makes the file or holds the lock runs on the same host, or can send a message",
        });
        found.collect()
    }
}

/// Whether a call asks for what may not be there yet.
fn tries(call: &Seen) -> bool {
    match call.kind {
        CallKind::Open => call.result != Outcome::Failed || call.opened.creates_new(),
        CallKind::Stat | CallKind::Access => call.result != Outcome::Failed,
        CallKind::Lock | CallKind::Control => call.lock == Some(LockRequest::Try),
        _ => false,
    }
}

impl Polling {
    fn sleep(&mut self, thread: (CaseId, Tid), sleep: &Seen) {
        if let Some(last) = self.threads.get_mut(&thread) {
            let mut one = Saved::default();
            one.add(sleep);
            last.slept = Some(one);
        }
    }

    /// All that the child did while the thread waited for it was to sleep.
    fn child_slept(&mut self, thread: (CaseId, Tid), waited: Option<u64>, sleep: &Seen) {
        if sleep.time.zip(waited).is_some_and(|(slept, waited)| slept.saturating_mul(2) > waited) {
            self.sleep(thread, sleep);
        }
    }

    fn attempt(&mut self, thread: (CaseId, Tid), path: PathId, call: &Seen) {
        let before = self.threads.remove(&thread);
        let again = before.filter(|last| last.path == path).and_then(|last| last.slept);
        let key = (call.process(), path);
        if call.is_done() {
            // It came, on average, in the middle of the last sleep.
            if let (Some(slept), Some(tally)) = (again, self.tries.get_mut(&key)) {
                tally.saved.join(Saved { calls: 0, ..slept.percent(50) });
            }
            return;
        }
        self.threads.insert(thread, Last { path, slept: None });
        if again.is_some() {
            let tally = self.tries.entry(key).or_insert_with(|| Tally::new(call.first()));
            tally.amount += 1;
            tally.waste(call);
        }
    }
}
