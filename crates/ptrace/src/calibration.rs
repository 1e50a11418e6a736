//! What it costs a program to be traced, measured here and now.
//!
//! A child makes a cheap call (`getppid`) again and again, first alone, then under a filter that stops it. Each call is
//! timed from both sides. What the program sees is the whole price; what the tracer sees between the two stops is the
//! part that stands in the durations of recorded calls. Medians, because the machine does other things too.
//!
//! Where program and tracer run decides: on one core a stop is a change of context, on two it wakes an idle core up. The
//! scheduler chooses anew all the time, so both are measured.

use crate::filter::{AUDIT_ARCH_AARCH64, AUDIT_ARCH_X86_64, Filter, Rule};
use crate::spawn::{exit, install};
use crate::status::Why;
use crate::stopped::Going;
use crate::tracer::{Options, Report, Tracer};
use iotrail_kernel::{block_all, set_mask};
use iotrail_model::Tid;
use rustix::pipe::PipeFlags;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Enough for a median; with 5 to 100 us a call both measurements together take 1 to 4 ms, and two processes.
const CALLS: usize = 40;
/// The first calls find cold caches.
const WARM_UP: usize = 8;

/// What one traced call costs beyond what it costs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallCost {
    /// Time that the program loses at least: program and tracer run on one core.
    pub added: Duration,
    /// The part of it that the tracer measures as duration of the call.
    pub inside: Duration,
    /// Time that the program loses if they run on two cores, if they may.
    pub apart: Option<Duration>,
}

/// What was measured in one place.
struct Measured {
    added: Duration,
    inside: Duration,
}

/// Measures what a traced call costs, on the thread of `tracer`, which must not trace anything yet.
///
/// # Errors
/// No process can be made or traced, or the child was killed.
pub fn call_cost(tracer: &Tracer) -> io::Result<CallCost> {
    let allowed = sched_getaffinity(None)?;
    let (here, there) = (sched_getcpu(), (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)));
    let there = there.filter(|cpu| *cpu != here).or_else(|| (0..here).find(|cpu| allowed.is_set(*cpu)));
    sched_setaffinity(None, &only(here))?;
    let together = measure(tracer, here);
    let apart = there.map(|there| measure(tracer, there)).transpose();
    sched_setaffinity(None, &allowed)?;
    let (together, apart) = (together?, apart?);
    Ok(CallCost { added: together.added, inside: together.inside, apart: apart.map(|apart| apart.added) })
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// Measures with the child on that core.
fn measure(tracer: &Tracer, cpu: usize) -> io::Result<Measured> {
    let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC);
    let ((wait, go), (results, report)) = (pipe()?, pipe()?);
    let number = libc::SYS_getppid as u32;
    let rule = || vec![Rule { number, when: Vec::new() }];
    let filter = Filter::new(&[(AUDIT_ARCH_X86_64, rule()), (AUDIT_ARCH_AARCH64, rule())])
        .map_err(io::Error::other)?
        .to_kernel();
    let mask = block_all();
    // SAFETY: the child calls only functions that are safe in a copy of a process with other threads.
    let pid = unsafe { libc::fork() };
    let error = io::Error::last_os_error();
    if pid == 0 {
        // Measures where it is if it may not move.
        let _ = sched_setaffinity(None, &only(cpu));
        measure_in_child(&filter, &wait, &report, &go);
    }
    set_mask(&mask);
    if pid == -1 {
        return Err(error);
    }
    drop((wait, report));
    let child = Child { pid };
    tracer.seize(Tid(pid as u32), Options { die_with_tracer: true })?;
    File::from(go).write_all(b"!")?;
    let seen = child.follow(tracer)?;
    let mut medians = [0; 16];
    File::from(results).read_exact(&mut medians)?;
    let nanos = |index: usize| u64::from_ne_bytes(std::array::from_fn(|byte| medians[index + byte]));
    let (alone, traced) = (Duration::from_nanos(nanos(0)), Duration::from_nanos(nanos(8)));
    Ok(Measured { added: traced.saturating_sub(alone), inside: seen.saturating_sub(alone) })
}

/// A child that has to be waited for, whatever happens.
struct Child {
    pid: libc::pid_t,
}

impl Child {
    /// Lets the child run to its end; the median of what its calls took between their two stops.
    fn follow(self, tracer: &Tracer) -> io::Result<Duration> {
        let mut spans = Vec::with_capacity(CALLS);
        let mut entered = None;
        loop {
            let stopped = match tracer.wait(true) {
                Ok(Some(Report::Stopped(stopped))) => stopped,
                Ok(Some(Report::Ended(..))) => break,
                Ok(None) => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // The time is taken where a recorder takes it: at once; then the call is looked at, as a recorder does.
            let now = Instant::now();
            let going = match stopped.why() {
                Why::Selected => {
                    stopped.call()?;
                    entered = Some(now);
                    Going::ToCall
                }
                Why::Call => {
                    stopped.call()?;
                    spans.extend(entered.take().map(|entry| now.duration_since(entry)));
                    Going::Freely
                }
                _ => Going::Freely,
            };
            stopped.resume(going, None)?;
        }
        std::mem::forget(self);
        let warm = spans.get_mut(WARM_UP..).unwrap_or_default();
        warm.sort_unstable();
        warm.get(warm.len() / 2).copied().ok_or_else(|| io::Error::other("the child was killed"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: it was not reaped, so the number is still its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        // SAFETY: reaps it; nobody asks for the status.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL) };
    }
}

/// Runs in the child, with all signals blocked: writes the two medians and does not return. Nothing is allocated.
fn measure_in_child(filter: &[libc::sock_filter], wait: &OwnedFd, report: &OwnedFd, go: &OwnedFd) -> ! {
    // SAFETY: closes the child's copy, so that the pipe ends when the parent dies.
    unsafe { libc::close(go.as_raw_fd()) };
    let mut word = [0_u8];
    // SAFETY: reads one byte into `word`.
    if unsafe { libc::read(wait.as_raw_fd(), word.as_mut_ptr().cast(), 1) } != 1 {
        exit(1);
    }
    let alone = median();
    if !install(filter) {
        exit(1);
    }
    let traced = median();
    for nanos in [alone, traced] {
        let bytes = nanos.to_ne_bytes();
        // SAFETY: writes eight bytes, which fit a pipe.
        unsafe { libc::write(report.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    }
    exit(0)
}

/// The median time of the cheap call, in ns.
fn median() -> u64 {
    let mut spans = [0; CALLS];
    for span in &mut spans {
        let before = now();
        // SAFETY: takes nothing and cannot fail.
        unsafe { libc::syscall(libc::SYS_getppid) };
        *span = now().saturating_sub(before);
    }
    let warm = &mut spans[WARM_UP..];
    warm.sort_unstable();
    warm[warm.len() / 2]
}

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the kernel fills.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traced_call_costs_more_than_an_untraced_one() {
        let cost = call_cost(&Tracer::new()).unwrap();
        // Two stops cost at least two changes of context each.
        assert!(cost.added > Duration::from_nanos(500), "{cost:?}");
        assert!(cost.inside > Duration::ZERO, "{cost:?}");
        eprintln!("{cost:?}");
    }
}
