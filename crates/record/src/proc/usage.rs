//! What processes used, read while they are stopped at their end or at an exec, so that nothing is lost for short ones.
//!
//! | figure | source | resolution |
//! |---|---|---|
//! | CPU time | CPU clock of the process | the sum is exact to 1 ns; its division in user and system time comes from the kernel's timer ticks (1 to 10 ms) unless the kernel counts each change of mode |
//! | page faults | `stat` | exact |
//! | largest memory | `VmHWM` of `status` | pages; the kernel's counters are off by some dozen pages per CPU |
//! | storage | `io` of each thread, taken over when a thread ends | what was read ahead counts for whom it was read; written is what became dirty; threads that ended before the recording began are missing |
//! | context switches | `status` of each thread, taken over when a thread ends | exact; threads that ended before the recording began are missing |
//! | I/O delay | taskstats | 1 ns; needs `CAP_NET_ADMIN` and `kernel.task_delayacct=1` |
//!
//! Of a process that was joined (`-p`) all but the largest memory count from then on.
//! All are the process's own, without children that it waited for. What a process uses after its last stop, above all
//! to give its memory back, is not in them.

use super::io::{self, Io};
use super::taskstats::Taskstats;
use super::{read, stat, status};
use hashbrown::HashMap;
use iotrail_kernel::cpu_clock::cpu_time;
use iotrail_model::{Nanos, Pid, Tid, Usage};
use std::time::Duration;

/// Reads what processes used, and remembers what their ended threads leave behind.
#[derive(Debug, Default)]
pub struct Accounts {
    taskstats: Option<Taskstats>,
    processes: HashMap<Pid, Past, foldhash::fast::FixedState>,
}

/// What is known of a process that can no longer be read.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// Context switches of threads that have ended.
    voluntary: u64,
    involuntary: u64,
    /// What they moved from and to storage.
    io: Io,
    /// What the process had used when it was joined.
    before: Usage,
    /// Largest memory when the pending exec was entered: afterwards the memory is that of the new image.
    max_memory: Option<u64>,
}

impl Default for Past {
    fn default() -> Self {
        Self { voluntary: 0, involuntary: 0, io: Io::ZERO, before: Usage::ZERO, max_memory: None }
    }
}

impl Accounts {
    /// Opens what the kernel lets us open.
    #[must_use]
    pub fn new() -> Self {
        Self { taskstats: Taskstats::open(), ..Self::default() }
    }

    /// Whether delays by I/O can be told.
    #[must_use]
    pub fn knows_io_delay(&self) -> bool {
        self.taskstats.is_some()
    }

    /// Process `pid` ran before it was recorded, and its threads are stopped: what it used up to now does not count.
    pub fn joins(&mut self, pid: Pid) {
        let before = self.usage(pid);
        self.processes.entry(pid).or_default().before = before;
    }

    /// Thread `tid` of process `pid` is stopped at its end (`PTRACE_EVENT_EXIT`), or is about to be superseded by an exec,
    /// and is not the last thread.
    pub fn thread_ends(&mut self, pid: Pid, tid: Tid) {
        let Some(status) = thread_status(tid) else { return };
        let past = self.processes.entry(pid).or_default();
        past.voluntary += status.voluntary.unwrap_or_default();
        past.involuntary += status.involuntary.unwrap_or_default();
        past.io = past.io.and(thread_io(tid));
    }

    /// Thread `tid` of process `pid` is stopped at the entry of an exec, which may fail. Only now the largest memory of
    /// the old image can be read.
    pub fn exec_begins(&mut self, pid: Pid, tid: Tid) {
        let max_memory = thread_status(tid).and_then(|status| status.max_memory);
        self.processes.entry(pid).or_default().max_memory = max_memory;
    }

    /// What process `pid` used up to now, the exec that was announced with [`Accounts::exec_begins`] having succeeded
    /// (`PTRACE_EVENT_EXEC`): `max_memory` is that of the old image.
    pub fn exec_done(&mut self, pid: Pid) -> Usage {
        let former = self.processes.get_mut(&pid).and_then(|past| past.max_memory.take());
        let own = thread_status(Tid(pid.0)).unwrap_or_default();
        Usage { max_memory: former, ..self.read(pid, own, thread_io(Tid(pid.0))) }
    }

    /// What process `pid` used up to its end, at which its last thread `tid` is stopped.
    pub fn process_ends(&mut self, pid: Pid, tid: Tid) -> Usage {
        let own = thread_status(tid).unwrap_or_default();
        let usage = self.read(pid, own, thread_io(tid));
        self.processes.remove(&pid);
        usage
    }

    /// Forgets a process that ended without a stop.
    pub fn forget(&mut self, pid: Pid) {
        self.processes.remove(&pid);
    }

    /// What process `pid` used up to now, in the middle of its life.
    #[must_use]
    pub fn usage(&mut self, pid: Pid) -> Usage {
        let (mut all, mut io) = (status::Status::default(), Io::ZERO);
        for tid in super::snapshot::numbers(Tid(pid.0), "task").map(Tid) {
            // A thread that is ending has no memory any more; its switches are in the account already.
            let Some(own) = thread_status(tid).filter(|status| status.max_memory.is_some()) else { continue };
            all = status::Status {
                max_memory: all.max_memory.max(own.max_memory),
                voluntary: plus(all.voluntary, own.voluntary),
                involuntary: plus(all.involuntary, own.involuntary),
                umask: None,
            };
            io = io.and(thread_io(tid));
        }
        self.read(pid, all, if all.max_memory.is_some() { io } else { Io::default() })
    }

    /// The figures of process `pid`, of which `live` and `io` tell what its living threads show. What cannot be read is
    /// unknown.
    fn read(&mut self, pid: Pid, live: status::Status, io: Io) -> Usage {
        let leader = Tid(pid.0);
        let stat = read::small(leader, "stat").and_then(|text| stat::parse(&text)).unwrap_or_default();
        let clock = cpu_time(pid.0).ok();
        let past = self.processes.get(&pid).copied().unwrap_or_default();
        let io = io.and(past.io);
        let all = Usage {
            user: clock.map(|time| nanos(time.user)).or(stat.user),
            system: clock.map(|time| nanos(time.total.saturating_sub(time.user))).or(stat.system),
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            max_memory: live.max_memory,
            storage_read: io.read,
            storage_written: io.written(),
            voluntary_switches: live.voluntary.map(|own| own.saturating_add(past.voluntary)),
            involuntary_switches: live.involuntary.map(|own| own.saturating_add(past.involuntary)),
            io_delay: self.taskstats.as_mut().and_then(|taskstats| taskstats.io_delay(pid)),
        };
        all.since(&past.before)
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// The sum of what is known.
fn plus(sum: Option<u64>, own: Option<u64>) -> Option<u64> {
    Some(sum.unwrap_or_default().saturating_add(own?))
}

fn thread_status(tid: Tid) -> Option<status::Status> {
    read::small(tid, "status").map(|text| status::parse(&text))
}

/// What a thread moved from and to storage; unknown if it cannot be read.
fn thread_io(tid: Tid) -> Io {
    read::small(tid, &format!("task/{tid}/io")).map(|text| io::parse(&text)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_used_something_of_everything_that_is_known() {
        let own = Pid(std::process::id());
        let mut accounts = Accounts::new();
        let usage = accounts.usage(own);
        assert!(usage.user.zip(usage.system).is_some_and(|(user, system)| user.0 + system.0 > 0));
        assert!(usage.minor_faults.is_some_and(|faults| faults > 0));
        assert!(usage.max_memory.is_some_and(|bytes| bytes > 1 << 20));
        assert!(usage.voluntary_switches.is_some() && usage.involuntary_switches.is_some());
        assert_eq!(usage.io_delay.is_some(), accounts.knows_io_delay());
    }

    #[test]
    fn what_a_process_used_before_it_was_joined_does_not_count() {
        let own = Pid(std::process::id());
        let mut accounts = Accounts::default();
        let before = accounts.usage(own);
        accounts.joins(own);
        let after = accounts.usage(own);
        let cpu = |usage: &Usage| usage.user.zip(usage.system).map(|(user, system)| user.0 + system.0);
        assert!(
            cpu(&after).is_some_and(|_| after.minor_faults < before.minor_faults),
            "{before:?} {after:?}"
        );
        assert_eq!(after.max_memory.is_some(), before.max_memory.is_some());
    }

    #[test]
    fn threads_that_end_leave_their_switches_behind() {
        let own = Pid(std::process::id());
        let tid = || Tid(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
        let mut accounts = Accounts::default();
        let before = thread_status(tid()).and_then(|status| status.voluntary);
        accounts.thread_ends(own, tid());
        accounts.thread_ends(own, tid());
        let end = accounts.process_ends(own, tid());
        assert!(end.voluntary_switches.zip(before).is_some_and(|(end, before)| end >= 3 * before));
        assert!(accounts.processes.is_empty());
    }

    #[test]
    fn what_a_child_wrote_is_not_counted_for_its_parent() {
        let own = Pid(std::process::id());
        let mut accounts = Accounts::default();
        let directory = tempfile::tempdir_in(".").unwrap();
        let before = accounts.usage(own).storage_written;
        let copy = format!("head -c 4000000 /dev/zero > {}/file", directory.path().display());
        assert!(std::process::Command::new("sh").args(["-c", &copy]).status().unwrap().success());
        let after = accounts.usage(own).storage_written;
        assert!(before.zip(after).is_some_and(|(before, after)| after - before < 4_000_000));
    }

    #[test]
    fn what_is_gone_used_nothing_that_could_be_known() {
        let gone = Pid(u32::MAX >> 4);
        assert_eq!(Accounts::default().process_ends(gone, Tid(gone.0)), Usage::default());
    }
}
