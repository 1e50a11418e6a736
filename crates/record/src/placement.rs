//! Which cores program and recorder run on.
//!
//! A stop costs two switches between program and recorder. On one core they hand it over to each other; on two, each wakes
//! the other up through an interrupt, which costs several times as much, above all on virtual machines. On one core, on the
//! other hand, the threads of a program wait for each other. So as long as about one thread of the program can run, or its
//! threads do little between their calls, it shares a core with the recorder; otherwise all run wherever they may.
//!
//! How many threads can run the kernel tells: the time that each ran plus the time that it waited for a core
//! (`/proc/TID/schedstat`). Times of a machine with other work on it say the same.
//!
//! A program must not notice: one that asks for its cores is answered as if it were not bound, and one that chooses its
//! own cores is left alone from then on.

use crate::plan::Placement;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_model::{Nanos, Tid, Timestamp};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How often it is looked whether the choice still is good, while calls are made.
const LOOK: Nanos = Nanos(10_000_000);
/// The same for a program that shares its core because it makes many calls: only others could change that.
const LOOK_AT_TALKATIVE: Nanos = Nanos(40_000_000);
/// How often at least, for programs that make none, in microseconds.
const BELL: i64 = 100_000;
/// Threads that are looked at; of more the others are taken to be like them.
const MOST: usize = 12;
/// More threads than this can run: they shall.
const MANY: f64 = 1.3;
/// As few can run as on one core.
const FEW: f64 = 1.15;
/// With less time from call to call, the recorder is what everything waits for.
const BUSY_SHARED: i64 = 150_000;
const BUSY_FREE: i64 = 100_000;
/// The share of time that program and recorder wait for their core beyond which somebody else needs it.
const CROWDED: f64 = 0.6;
/// Looks in a row that must agree that one core is enough.
const AGREEING: u32 = 3;
/// How long others are left a core that they need; doubled each time.
const PAUSE: Nanos = Nanos(50_000_000);
const LONGEST_PAUSE: Nanos = Nanos(1_600_000_000);
/// How long the core is kept if others need all cores alike: elsewhere it is no better.
const PATIENCE: Nanos = Nanos(5_000_000_000);

/// Where everything runs, and why.
#[derive(Debug)]
pub(crate) struct Placed {
    wish: Placement,
    /// The cores that the recorder was started with.
    allowed: CpuSet,
    /// The cores that everything is bound to, if it shares one.
    shared: Option<CpuSet>,
    /// The program chose its cores itself, or the kernel tells nothing: everything stays free.
    settled: bool,
    /// When and at which number of calls it was looked at last.
    looked: (Timestamp, u64),
    next: Timestamp,
    /// The threads that were looked at.
    watched: HashMap<Tid, Watched, foldhash::fast::FixedState>,
    /// Times of threads that ended since.
    ended: Times,
    own: Watched,
    /// How many threads could run, of late.
    demand: f64,
    agreeing: u32,
    pause: Nanos,
    /// Somebody else needed the core, which is left to them until then.
    paused_until: Option<Timestamp>,
    /// Others needed all cores: nobody is made room for until then.
    patient_until: Timestamp,
}

/// What a thread has had so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    ran: u64,
    waited: u64,
}

impl Times {
    fn parse(text: &[u8]) -> Option<Self> {
        let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        Some(Self { ran: numbers.next()?.parse().ok()?, waited: numbers.next()?.parse().ok()? })
    }

    fn since(self, before: Self) -> Self {
        Self { ran: self.ran.saturating_sub(before.ran), waited: self.waited.saturating_sub(before.waited) }
    }

    fn add(&mut self, more: Self) {
        self.ran += more.ran;
        self.waited += more.waited;
    }
}

/// A thread whose times are looked at.
#[derive(Debug, Default)]
struct Watched {
    had: Times,
    /// Its times, once they were read: finding a file of `/proc` costs more than ten readings.
    file: Option<File>,
}

impl Watched {
    /// A thread that has run before.
    fn of(tid: Tid) -> Option<Self> {
        let mut watched = Self::default();
        watched.since(tid)?;
        Some(watched)
    }

    /// What the thread had since this was asked last; `None` if it is gone.
    fn since(&mut self, tid: Tid) -> Option<Times> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(format!("/proc/{tid}/schedstat")).ok()?,
        };
        let mut text = [0; 64];
        let length = file.read_at(&mut text, 0).ok()?;
        let now = Times::parse(&text[..length])?;
        self.file = Some(file);
        Some(now.since(std::mem::replace(&mut self.had, now)))
    }
}

impl Placed {
    /// Places the calling thread, and what it starts. A program that may outlive the recorder is bound only by wish.
    pub(crate) fn start(wish: Placement, outlives: bool, now: Timestamp) -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let own = Watched::of(own_tid());
        let wish = match wish {
            Placement::Auto if outlives || own.is_none() => Placement::Free,
            other if allowed.count() > 1 => other,
            _ => Placement::Free,
        };
        let mut placed = Self {
            wish,
            allowed,
            shared: None,
            settled: wish == Placement::Free,
            looked: (now, 0),
            next: Timestamp(now.0 + LOOK.0),
            watched: HashMap::default(),
            ended: Times::default(),
            own: own.unwrap_or_default(),
            demand: 1.0,
            agreeing: 0,
            pause: PAUSE,
            paused_until: None,
            patient_until: now,
        };
        if !placed.settled {
            placed.share(sched_getcpu(), &[])?;
        }
        Ok(placed)
    }

    /// Whether everything is bound to one core.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Whether calls that ask for cores or choose them matter.
    pub(crate) fn concerns_calls(&self) -> bool {
        self.wish != Placement::Free
    }

    /// How often the recorder has to look at a program that makes no calls, in microseconds; 0: never.
    pub(crate) fn bell(&self) -> i64 {
        if self.wish == Placement::Auto && !self.settled { BELL } else { 0 }
    }

    /// Whether it is time to look.
    #[inline]
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        now >= self.next && !self.settled && self.wish == Placement::Auto
    }

    /// A new thread has the cores of the one that made it, which may have been bound meanwhile or not.
    pub(crate) fn made(&mut self, tid: Tid) {
        if self.settled && self.shared.is_none() && self.wish != Placement::Free {
            return;
        }
        if self.wish == Placement::Auto {
            self.watched.insert(tid, Watched::default());
            bind(tid, self.shared.as_ref().unwrap_or(&self.allowed));
        }
    }

    /// A thread is about to end: its time counts.
    pub(crate) fn ends(&mut self, tid: Tid) {
        if let Some(times) = self.watched.remove(&tid).and_then(|mut watched| watched.since(tid)) {
            self.ended.add(times);
        }
    }

    /// A thread asks for cores or chooses some: until the call is over it has those that it would have.
    pub(crate) fn asks(&self, tids: &[Tid]) {
        if self.shared.is_some() {
            tids.iter().for_each(|tid| bind(*tid, &self.allowed));
        }
    }

    /// The call of threads that asked for cores is over.
    pub(crate) fn was_answered(&self, tids: &[Tid]) {
        if let Some(shared) = &self.shared {
            tids.iter().for_each(|tid| bind(*tid, shared));
        }
    }

    /// The program has chosen cores: it is left alone.
    pub(crate) fn settles(&mut self, tids: &[Tid], chooser: Tid) {
        if self.shared.is_some() {
            let others: Vec<Tid> = tids.iter().copied().filter(|tid| *tid != chooser).collect();
            self.free(&others);
        }
        self.settled = true;
    }

    /// Looks whether everything is in the right place. `stopped` is a thread that stands still.
    pub(crate) fn look(&mut self, now: Timestamp, calls: u64, stopped: Option<Tid>, tids: &[Tid]) {
        let (then, calls_then) = std::mem::replace(&mut self.looked, (now, calls));
        let span = (now - then).0.max(1);
        let per_call = span / i64::try_from(calls - calls_then).unwrap_or(i64::MAX).max(1);
        let talkative = self.shared.is_some() && per_call <= BUSY_SHARED;
        self.next = Timestamp(now.0 + if talkative { LOOK_AT_TALKATIVE.0 } else { LOOK.0 });
        let times = self.times_since(tids);
        let own_waited = self.own.since(own_tid()).unwrap_or_default().waited;
        let latest = (times.ran + times.waited) as f64 / span as f64;
        self.demand = (self.demand + latest) / 2.0;
        let crowded = (times.waited + own_waited) as f64 / span as f64 > CROWDED;
        match self.shared {
            Some(_) if self.demand > MANY && per_call > BUSY_SHARED => self.free(tids),
            Some(_) if crowded && self.demand <= MANY && now >= self.patient_until => {
                self.free(tids);
                self.paused_until = Some(Timestamp(now.0 + self.pause.0));
            }
            Some(_) => {}
            None => {
                let few = self.demand < FEW || per_call < BUSY_FREE;
                self.agreeing = if few { self.agreeing + 1 } else { 0 };
                if self.agreeing >= AGREEING && self.paused_until.is_none_or(|until| now >= until) {
                    self.learn(crowded, now);
                    let core = stopped.and_then(core_of).unwrap_or_else(sched_getcpu);
                    // Where it cannot be bound, it stays free.
                    self.settled = self.share(core, tids).is_err();
                }
            }
        }
    }

    /// What it brought to leave the core to others.
    fn learn(&mut self, crowded: bool, now: Timestamp) {
        match self.paused_until.take() {
            Some(_) if crowded => self.patient_until = Timestamp(now.0 + PATIENCE.0),
            Some(_) => self.pause = Nanos((self.pause.0 * 2).min(LONGEST_PAUSE.0)),
            None => {}
        }
    }

    /// What the threads had since the last look.
    fn times_since(&mut self, tids: &[Tid]) -> Times {
        let mut sum = std::mem::take(&mut self.ended);
        // Others each time, if they are many.
        let start = if tids.len() > MOST { self.looked.0.0 as usize % tids.len() } else { 0 };
        let chosen = tids.iter().cycle().skip(start).take(tids.len().min(MOST));
        let mut some = Times::default();
        for tid in chosen {
            match self.watched.entry(*tid) {
                Entry::Occupied(mut known) => {
                    some.add(known.get_mut().since(*tid).unwrap_or_default());
                    if tids.len() > MOST {
                        // Files of all threads could be more than this process may open.
                        known.get_mut().file = None;
                    }
                }
                // What it had until now is not known to be of late.
                Entry::Vacant(new) => {
                    if let Some(watched) = Watched::of(*tid) {
                        new.insert(watched);
                    }
                }
            }
        }
        if tids.len() > MOST {
            // Those that are looked at now and then were measured over a longer time.
            let factor = 1.0 / (self.watched.len().max(1) as f64 / MOST as f64).max(1.0);
            let scale = tids.len() as f64 / MOST as f64 * factor;
            some.ran = (some.ran as f64 * scale) as u64;
            some.waited = (some.waited as f64 * scale) as u64;
        }
        sum.add(some);
        sum
    }

    fn share(&mut self, core: usize, tids: &[Tid]) -> io::Result<()> {
        let mut one = CpuSet::new();
        one.set(core);
        sched_setaffinity(None, &one)?;
        tids.iter().for_each(|tid| bind(*tid, &one));
        self.shared = Some(one);
        self.agreeing = 0;
        Ok(())
    }

    fn free(&mut self, tids: &[Tid]) {
        // What was allowed before is allowed again, unless an administrator took cores away meanwhile.
        let _ = sched_setaffinity(None, &self.allowed);
        tids.iter().for_each(|tid| bind(*tid, &self.allowed));
        self.shared = None;
        self.agreeing = 0;
    }

    /// A thread is left running.
    pub(crate) fn leaves(&self, tid: Tid) {
        if self.shared.is_some() {
            bind(tid, &self.allowed);
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.free(&[]);
    }
}

/// Binds a thread, which may be gone or another user's by now.
fn bind(tid: Tid, cores: &CpuSet) {
    if let Some(pid) = i32::try_from(tid.0).ok().and_then(Pid::from_raw) {
        let _ = sched_setaffinity(Some(pid), cores);
    }
}

fn own_tid() -> Tid {
    Tid(rustix::thread::gettid().as_raw_nonzero().get() as u32)
}

/// The core that a thread was on last (`man 5 proc_pid_stat`, field 39).
fn core_of(tid: Tid) -> Option<usize> {
    let text = std::fs::read(format!("/proc/{tid}/stat")).ok()?;
    let behind = text.iter().rposition(|byte| *byte == b')')? + 1;
    let fields = std::str::from_utf8(&text[behind..]).ok()?;
    fields.split_ascii_whitespace().nth(36)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_where_a_thread_is_and_how_long_it_ran() {
        assert_eq!(Times::parse(b"12 34 5\n"), Some(Times { ran: 12, waited: 34 }));
        assert_eq!(Times::parse(b"12"), None);
        let core = core_of(own_tid()).unwrap();
        assert!(sched_getaffinity(None).unwrap().is_set(core));
    }

    #[test]
    fn everything_is_given_back() {
        std::thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap();
            for wish in [Placement::Auto, Placement::Same, Placement::Free] {
                let placed = Placed::start(wish, false, Timestamp(0)).unwrap();
                let cores = sched_getaffinity(None).unwrap().count();
                assert_eq!(cores, if wish == Placement::Free { before.count() } else { 1 });
                drop(placed);
                assert_eq!(sched_getaffinity(None).unwrap(), before);
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn two_busy_threads_are_spread_and_one_shares_again() {
        std::thread::spawn(|| {
            let mut placed = Placed::start(Placement::Auto, false, Timestamp(0)).unwrap();
            if placed.settled {
                eprintln!("NOT TESTED: one core, or a kernel that tells no times");
                return;
            }
            let mut now = 0;
            // What the threads had is put in by hand.
            let mut look = |placed: &mut Placed, ran: u64, waited: u64, calls: u64| {
                now += LOOK.0;
                placed.ended = Times { ran, waited };
                placed.own = Watched::of(own_tid()).unwrap();
                let before = placed.looked.1;
                placed.look(Timestamp(now), before + calls, None, &[]);
                placed.shared.is_some()
            };
            let step = LOOK.0 as u64;
            assert!(look(&mut placed, step, 0, 20), "one thread");
            assert!(look(&mut placed, step, step, 1000), "two, but they only make calls");
            let spread = (0..5).any(|_| !look(&mut placed, step, step, 20));
            assert!(spread, "two threads that compute");
            assert!(!look(&mut placed, 2 * step, 0, 20), "they run on two cores");
            let shared = (0..20).position(|_| look(&mut placed, step, 0, 20));
            assert!(shared.is_some_and(|looks| looks >= 2), "one is left");
            assert!(
                (0..5).any(|_| !look(&mut placed, step / 4, step * 3 / 4, 20)),
                "somebody else needs the core"
            );
        })
        .join()
        .unwrap();
    }
}
