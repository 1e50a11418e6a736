//! CPU clocks of other processes (`clock_getcpuclockid(3)`): nanoseconds where `/proc` has ticks.

use rustix::io::Errno;
use std::time::Duration;

/// The CPU time of a process, over all its threads, also those that have ended, without its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// All of it, by the scheduler's measure: exact.
    pub total: Duration,
    /// The part in user mode, as a share of the sampled times: which part of [`CpuTime::total`] it is the kernel knows only
    /// by what ran when its timer ticked, unless it counts every change of mode (`VIRT_CPU_ACCOUNTING`).
    pub user: Duration,
}

/// Clocks of a process as the kernel numbers them (`CPUCLOCK_*`, `include/linux/posix-timers_types.h`).
#[derive(Clone, Copy)]
enum Which {
    /// User and system time as sampled.
    Prof = 0,
    /// User time as sampled.
    Virt = 1,
    /// Time that the scheduler gave.
    Sched = 2,
}

/// What the CPU clocks of process `pid` show. The process may be stopped or a zombie.
///
/// # Errors
/// There is no such process.
pub fn cpu_time(pid: u32) -> rustix::io::Result<CpuTime> {
    let total = read(pid, Which::Sched)?;
    let (sampled, user) = (read(pid, Which::Prof)?, read(pid, Which::Virt)?);
    Ok(CpuTime { total, user: share(total, user, sampled) })
}

/// `total` in the ratio `user` to `sampled`; all of it is user time if nothing was sampled, as in the kernel's
/// `cputime_adjust`.
fn share(total: Duration, user: Duration, sampled: Duration) -> Duration {
    match sampled.as_nanos() {
        0 => total,
        all => {
            let nanos = total.as_nanos() * user.as_nanos().min(all) / all;
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        }
    }
}

fn read(pid: u32, which: Which) -> rustix::io::Result<Duration> {
    let clock = (!(pid as libc::clockid_t) << 3) | which as libc::clockid_t;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the kernel fills; any number may be tried as a clock.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    match result {
        0 => Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32)),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_on_the_clock_of_the_process() {
        let own = std::process::id();
        let before = cpu_time(own).unwrap();
        let mut sum = 0_u64;
        let after = loop {
            sum = (0..10_000).fold(sum, |sum, number| std::hint::black_box(sum ^ number));
            let now = cpu_time(own).unwrap();
            if now.total > before.total {
                break now;
            }
        };
        assert!(after.user <= after.total);
    }

    #[test]
    fn who_is_not_there_has_no_clock() {
        assert!(cpu_time(u32::MAX >> 4).is_err());
    }

    #[test]
    fn user_time_is_a_share_of_the_total() {
        let ms = Duration::from_millis;
        assert_eq!(share(ms(10), ms(3), ms(12)), Duration::from_micros(2500));
        assert_eq!(share(ms(10), ms(0), ms(0)), ms(10));
        assert_eq!(share(ms(10), ms(0), ms(4)), ms(0));
    }
}
