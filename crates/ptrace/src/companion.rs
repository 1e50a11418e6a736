//! Small processes beside the recorder, for what a process cannot find out about itself.
//!
//! A [`Canary`] is in the recorder's process group and takes no signal: what is pending for it was sent to the group. A
//! [`stop_like`] leaves a watcher behind, because a stopped recorder cannot see that its program goes on.

use crate::messenger::{default, replace};
use crate::spawn::{block_all, exit, set_mask};
use crate::status::Signal;
use iotrail_model::Tid;
use std::io;

/// How often a watcher looks, in nanoseconds.
const LOOK: libc::c_long = 5_000_000;
/// `/proc/PID/status` is shorter.
const STATUS: usize = 4096;

/// A process in the recorder's process group that blocks every signal.
#[derive(Debug)]
pub struct Canary {
    child: Child,
}

impl Canary {
    /// Starts it.
    ///
    /// # Errors
    /// No process can be made.
    pub fn start() -> io::Result<Self> {
        let wait = || loop {
            // SAFETY: sleeps until a signal is handled; all are blocked.
            unsafe { libc::pause() };
        };
        Child::start(wait).map(|child| Self { child })
    }

    /// Whether this signal was sent to the group since it was started.
    #[must_use]
    pub fn got(&self, signal: Signal) -> bool {
        is_pending(self.child.pid, signal.0)
    }

    /// The process.
    #[must_use]
    pub fn tid(&self) -> Tid {
        Tid(self.child.pid as u32)
    }
}

/// Stops this process as `signal` stops its program, until somebody continues it. If the program goes on, or one of its
/// threads reports something else, the process continues by itself. Signals that stop processes on behalf of the terminal
/// stop none in a group that nobody could continue.
///
/// `has_reports` is asked when it is certain that later reports are noticed. Answers the process that may have sent SIGCONT
/// to this one; `None` if it was not stopped.
pub fn stop_like(signal: Signal, has_reports: impl FnOnce() -> bool) -> io::Result<Option<i32>> {
    // A report makes SIGCHLD pending, if that is not ignored, and it stays pending as long as this process is stopped.
    let mask = block_all();
    let mut noticing = default();
    noticing.sa_sigaction = nothing as *const () as usize;
    let before = replace(libc::SIGCHLD, &noticing);
    let watched = if has_reports() { Ok(None) } else { stop_watched(signal).map(Some) };
    // Pending ones go to the handler that does nothing.
    set_mask(&mask);
    replace(libc::SIGCHLD, &before);
    watched
}

fn stop_watched(signal: Signal) -> io::Result<i32> {
    let recorder = std::process::id() as libc::pid_t;
    let watcher = Child::start(move || {
        let pause = libc::timespec { tv_sec: 0, tv_nsec: LOOK };
        while !is_pending(recorder, libc::SIGCHLD) {
            // SAFETY: a valid time; what is left of it is not asked for.
            unsafe { libc::nanosleep(&raw const pause, std::ptr::null_mut()) };
        }
        // SAFETY: touches no memory. The recorder is the parent and alive: this process dies with it.
        unsafe { libc::kill(recorder, libc::SIGCONT) };
        loop {
            // SAFETY: sleeps until it is killed.
            unsafe { libc::pause() };
        }
    })?;
    let before = (signal.0 != libc::SIGSTOP).then(|| replace(signal.0, &default()));
    // SAFETY: takes and changes nothing.
    let own = unsafe { libc::gettid() };
    // To this thread, so that the process has stopped before it goes on.
    // SAFETY: touches no memory.
    unsafe { libc::syscall(libc::SYS_tgkill, recorder, own, signal.0) };
    let mut own = empty();
    // SAFETY: both point to valid sets.
    unsafe { libc::sigaddset(&raw mut own, signal.0) };
    // The signal is taken here: this process stops, and goes on behind.
    // SAFETY: a valid set.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const own, std::ptr::null_mut()) };
    if let Some(before) = before {
        replace(signal.0, &before);
    }
    Ok(watcher.pid)
}

extern "C" fn nothing(_signal: i32) {}

fn empty() -> libc::sigset_t {
    // SAFETY: all zero is an empty set.
    unsafe { std::mem::zeroed() }
}

/// Whether a signal is pending for a process. Allocates nothing.
fn is_pending(pid: libc::pid_t, signal: i32) -> bool {
    let mut path = *b"/proc/##########/status\0";
    let mut digits = pid.unsigned_abs();
    for place in path[6..16].iter_mut().rev() {
        *place = b'0' + (digits % 10) as u8;
        digits /= 10;
    }
    // `/proc` takes no leading zeros.
    let zeros = path[6..15].iter().take_while(|digit| **digit == b'0').count();
    path.copy_within(6 + zeros.., 6);
    let mut text = [0_u8; STATUS];
    // SAFETY: the path ends with NUL.
    let file = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file == -1 {
        return false;
    }
    // SAFETY: reads at most as many bytes as there is room for.
    let read = unsafe { libc::read(file, text.as_mut_ptr().cast(), text.len()) };
    // SAFETY: closes what was opened above.
    unsafe { libc::close(file) };
    let text = &text[..usize::try_from(read).unwrap_or(0)];
    mask(text, b"\nShdPnd:\t") >> (signal - 1) & 1 == 1
}

/// Runs `work` in a thread that takes no signals of the process: they are for the recorder.
///
/// # Errors
/// No thread can be made.
pub fn work_aside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mask = block_all();
    let thread = std::thread::Builder::new().stack_size(1 << 17).spawn(work);
    set_mask(&mask);
    thread.map(drop)
}

/// The hexadecimal number behind `key`.
fn mask(text: &[u8], key: &[u8]) -> u64 {
    let Some(start) = text.windows(key.len()).position(|window| window == key) else { return 0 };
    let digits = text[start + key.len()..].iter().map_while(|digit| (*digit as char).to_digit(16));
    digits.fold(0, |number, digit| number << 4 | u64::from(digit))
}

/// A process that is killed and waited for when it is dropped, and dies with its parent.
#[derive(Debug)]
struct Child {
    pid: libc::pid_t,
}

impl Child {
    /// Starts a process that runs `body` with all signals blocked and no files. It allocates nothing.
    fn start(body: impl FnOnce()) -> io::Result<Self> {
        let parent = std::process::id() as libc::pid_t;
        let mask = block_all();
        // SAFETY: the child calls only functions that are safe in a copy of a process with other threads.
        let pid = unsafe { libc::fork() };
        let error = io::Error::last_os_error();
        if pid == 0 {
            // SAFETY: takes numbers.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            // SAFETY: closes the copies of all files, so that nobody waits for their end because of this process.
            unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
            // SAFETY: takes nothing and changes nothing.
            if unsafe { libc::getppid() } == parent {
                body();
            }
            exit(0);
        }
        set_mask(&mask);
        if pid == -1 { Err(error) } else { Ok(Self { pid }) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: it was not reaped, or its end was reported to nobody who cares; the number is still its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        // SAFETY: reaps it; nobody asks for the status.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_the_canary_is_pending() {
        let canary = Canary::start().unwrap();
        assert!(!canary.got(Signal(libc::SIGUSR1)) && !canary.got(Signal(libc::SIGTERM)));
        // SAFETY: touches no memory; the canary is a child that was not reaped.
        unsafe { libc::kill(canary.child.pid, libc::SIGUSR1) };
        assert!(canary.got(Signal(libc::SIGUSR1)) && !canary.got(Signal(libc::SIGTERM)));
        let path = format!("/proc/{}", canary.child.pid);
        // It closes its files when it first runs.
        while std::fs::read_dir(format!("{path}/fd")).unwrap().count() > 0 {
            std::thread::yield_now();
        }
        drop(canary);
        assert!(!std::path::Path::new(&path).exists());
    }

    #[test]
    fn a_report_continues_a_stopped_process_and_one_that_came_before_stops_none() {
        assert_eq!(stop_like(Signal(libc::SIGSTOP), || true).unwrap(), None);
        let wait = "until grep -q 'State:.T' /proc/$PPID/status; do sleep 0.01; done";
        // Its end is a report to its parent, while that is stopped.
        let mut child = std::process::Command::new("sh").args(["-c", wait]).spawn().unwrap();
        assert!(stop_like(Signal(libc::SIGSTOP), || false).unwrap().is_some());
        child.wait().unwrap();
    }
}
