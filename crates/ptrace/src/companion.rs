//! Small processes beside the recorder, for what a process cannot find out about itself.
//!
//! A [`Canary`] is in the recorder's process group and takes no signal: what is pending for it was sent to the group. A
//! [`stop_like`] leaves a watcher behind, because a stopped recorder cannot see that its program goes on.

use crate::messenger::{default, replace};
use crate::spawn::exit;
use crate::status::Signal;
use iotrail_kernel::{block_all, set_mask};
use rustix::pipe::PipeFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};

/// How often a watcher looks, in nanoseconds.
const LOOK: libc::c_long = 5_000_000;
/// So many descendants of the recorder, and so deep, a keeper looks at.
const MOST: usize = 256;
const DEEPEST: usize = 16;
/// `/proc/PID/status` is shorter.
const STATUS: usize = 4096;

/// A process in the recorder's process group that blocks every signal, and its keeper outside of the group.
///
/// SIGSTOP cannot be blocked. Sent to the group, it stops program, recorder and canary alike; a process of the program that is
/// continued then, or is not of the group, would wait for its stopped recorder. The keeper, which is the canary's parent, sees
/// the canary stop, and continues the recorder as soon as a process needs it.
#[derive(Debug)]
pub struct Canary {
    keeper: Child,
    /// Where the keeper tells the number of the canary.
    announced: Option<File>,
    pid: Option<libc::pid_t>,
}

impl Canary {
    /// Starts it.
    ///
    /// # Errors
    /// No process can be made.
    pub fn start() -> io::Result<Self> {
        let (announced, announce) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let recorder = std::process::id() as libc::pid_t;
        // SAFETY: takes and changes nothing.
        let tracer = unsafe { libc::gettid() };
        let keeper = Child::start(Some(&announce), || keep(Recorder { pid: recorder, tracer }))?;
        Ok(Self { keeper, announced: Some(announced.into()), pid: None })
    }

    /// Whether this signal was sent to the group since it was started.
    #[must_use]
    pub fn got(&mut self, signal: Signal) -> bool {
        self.pid().is_some_and(|pid| is_pending(pid, signal.0))
    }

    /// Whether the group was stopped by SIGSTOP and not continued as a group.
    #[must_use]
    pub fn is_stopped(&mut self) -> bool {
        self.pid().is_some_and(is_stopped)
    }

    /// The process that may send SIGCONT to the recorder.
    #[must_use]
    pub fn keeper(&self) -> i32 {
        self.keeper.pid
    }

    /// Waits until the keeper is out of the group. From then on no SIGSTOP to the group goes unseen.
    pub fn settle(&mut self) {
        self.pid();
    }

    fn pid(&mut self) -> Option<libc::pid_t> {
        if let Some(mut announced) = self.announced.take() {
            while !is_readable(&announced) {
                // SIGSTOP to the group stops a keeper that has not left it. A process that runs does not notice.
                // SAFETY: touches no memory; the keeper is reaped when this is dropped.
                unsafe { libc::kill(self.keeper.pid, libc::SIGCONT) };
            }
            let mut number = [0; 4];
            self.pid = announced.read_exact(&mut number).is_ok().then(|| libc::pid_t::from_ne_bytes(number));
        }
        self.pid
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // The keeper reaps it and ends. Otherwise it would be left to a process that knows nothing of it.
        if let Some(pid) = self.pid() {
            // SAFETY: touches no memory; the number is the canary's until its keeper, which is alive, reaps it.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            self.keeper.is_ending = true;
        }
    }
}

/// The recorder and its thread that traces.
#[derive(Clone, Copy)]
struct Recorder {
    pid: libc::pid_t,
    tracer: libc::pid_t,
}

/// The life of a keeper. The number of the canary goes to descriptor 0.
fn keep(recorder: Recorder) {
    // SAFETY: takes and changes nothing.
    let own = unsafe { libc::getpid() };
    // SAFETY: this process has one thread.
    let canary = unsafe { libc::fork() };
    if canary == 0 {
        // SAFETY: closes the last file of this process.
        unsafe { libc::close(0) };
        if dies_with(own) {
            wait_for_ever();
        }
        exit(0);
    }
    if canary == -1 {
        return;
    }
    // A parent in a session of its own is none that could continue the group: the kernel counts those.
    // SAFETY: takes nothing.
    unsafe { libc::setsid() };
    let number = canary.to_ne_bytes();
    // SAFETY: writes the number, which fits a pipe.
    unsafe { libc::write(0, number.as_ptr().cast(), number.len()) };
    // SAFETY: closes the last file of this process.
    unsafe { libc::close(0) };
    let mut word = 0;
    // SAFETY: the kernel stores one status word.
    while unsafe { libc::waitpid(canary, &raw mut word, libc::WUNTRACED) } == canary && libc::WIFSTOPPED(word)
    {
        continue_stopped(recorder, canary);
    }
}

/// Continues the recorder, which SIGSTOP has stopped or will stop, when a process of the program needs it before the group is
/// continued; again, if SIGSTOP comes again before the recorder has another canary: one that is stopped shows no second stop.
fn continue_stopped(recorder: Recorder, canary: libc::pid_t) {
    while is_stopped(canary) {
        pause(LOOK);
        if is_stopped(recorder.pid) && recorder.is_needed() {
            // SAFETY: touches no memory. The recorder is the parent and alive: this process dies with it.
            unsafe { libc::kill(recorder.pid, libc::SIGCONT) };
        }
    }
}

impl Recorder {
    /// Whether a process that it traces was continued, or was not stopped with its group.
    fn is_needed(self) -> bool {
        // SAFETY: takes and changes nothing.
        let group = unsafe { libc::getpgid(self.pid) };
        let mut left = MOST;
        self.is_needed_below(self.pid, self.tracer, group, DEEPEST, &mut left)
    }

    /// The same of the children of a thread and theirs. Of other processes, those of the first thread are looked at.
    fn is_needed_below(
        self,
        pid: libc::pid_t,
        tid: libc::pid_t,
        group: libc::pid_t,
        deeper: usize,
        left: &mut usize,
    ) -> bool {
        let mut text = [0; STATUS];
        let text = proc_file(&[b"/proc/", &decimal(pid), b"/task/", &decimal(tid), b"/children"], &mut text);
        for word in text.split(|byte| *byte == b' ') {
            let child = word
                .iter()
                .fold(0, |number, digit| number * 10 + libc::pid_t::from(digit.wrapping_sub(b'0')));
            if child == 0 || *left == 0 {
                continue;
            }
            *left -= 1;
            let mut status = [0; STATUS];
            let status = self::status(child, &mut status);
            let is_traced =
                [self.pid, self.tracer].contains(&(field(status, b"\nTracerPid:\t", 10) as libc::pid_t));
            let is_continued = field(status, b"\nShdPnd:\t", 16) >> (libc::SIGCONT - 1) & 1 == 1;
            // SAFETY: takes and changes nothing.
            let is_other = unsafe { libc::getpgid(child) } != group;
            if is_traced && (is_continued || is_other)
                || deeper > 0 && self.is_needed_below(child, child, group, deeper - 1, left)
            {
                return true;
            }
        }
        false
    }
}

fn pause(nanoseconds: libc::c_long) {
    let span = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds };
    // SAFETY: a valid time; what is left of it is not asked for.
    unsafe { libc::nanosleep(&raw const span, std::ptr::null_mut()) };
}

fn wait_for_ever() -> ! {
    loop {
        // SAFETY: sleeps until a signal is handled; all are blocked.
        unsafe { libc::pause() };
    }
}

/// Stops this process as `signal` stops its program, until somebody continues it. If the program goes on, or one of its
/// threads reports something else, the process continues by itself. Signals that stop processes on behalf of the terminal
/// stop none in a group that nobody could continue. It does not stop if SIGCONT arrived already.
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
    let watcher = Child::start(None, move || continue_reported(recorder))?;
    // A signal that stops would take a waiting SIGCONT away.
    if is_pending(recorder, libc::SIGCONT) {
        return Ok(watcher.pid);
    }
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

/// The life of a watcher: continues the recorder once it has stopped and has a report, again and again until it is killed.
/// A SIGCONT that is sent before the recorder has stopped is taken away by the signal that stops it.
fn continue_reported(recorder: libc::pid_t) {
    loop {
        if is_stopped(recorder) && is_pending(recorder, libc::SIGCHLD) {
            // SAFETY: touches no memory. The recorder is the parent and alive: this process dies with it.
            unsafe { libc::kill(recorder, libc::SIGCONT) };
        }
        pause(LOOK);
    }
}

extern "C" fn nothing(_signal: i32) {}

fn empty() -> libc::sigset_t {
    // SAFETY: all zero is an empty set.
    unsafe { std::mem::zeroed() }
}

/// Whether there is something to read, or nothing will come; waits a moment for it.
fn is_readable(file: &File) -> bool {
    let mut asked = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid request.
    unsafe { libc::poll(&raw mut asked, 1, 5) > 0 }
}

/// Whether a signal is pending for a process.
fn is_pending(pid: libc::pid_t, signal: i32) -> bool {
    let mut text = [0; STATUS];
    field(status(pid, &mut text), b"\nShdPnd:\t", 16) >> (signal - 1) & 1 == 1
}

/// Whether a process is stopped by a signal.
fn is_stopped(pid: libc::pid_t) -> bool {
    let mut text = [0; STATUS];
    let stopped = b"\nState:\tT";
    status(pid, &mut text).windows(stopped.len()).any(|window| window == stopped)
}

/// What `/proc/PID/status` says; nothing if there is no such process.
fn status(pid: libc::pid_t, text: &mut [u8; STATUS]) -> &[u8] {
    proc_file(&[b"/proc/", &decimal(pid), b"/status"], text)
}

/// The digits of a number, with zeros before them.
fn decimal(number: libc::pid_t) -> [u8; 10] {
    let mut digits = number.unsigned_abs();
    let mut text = [b'0'; 10];
    for place in text.iter_mut().rev() {
        *place = b'0' + (digits % 10) as u8;
        digits /= 10;
    }
    text
}

/// The beginning of a file whose name has these parts; of numbers the zeros before them are left off, which `/proc` does not
/// take. Nothing if it cannot be read. Allocates nothing.
fn proc_file<'t>(parts: &[&[u8]], text: &'t mut [u8; STATUS]) -> &'t [u8] {
    let mut path = [0_u8; 64];
    let mut length = 0;
    for part in parts {
        for byte in part.iter().skip_while(|byte| **byte == b'0') {
            path[length] = *byte;
            length += 1;
        }
    }
    // SAFETY: the path ends with NUL: the parts are shorter than the buffer.
    let file = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file == -1 {
        return &[];
    }
    // SAFETY: reads at most as many bytes as there is room for.
    let read = unsafe { libc::read(file, text.as_mut_ptr().cast(), text.len()) };
    // SAFETY: closes what was opened above.
    unsafe { libc::close(file) };
    &text[..usize::try_from(read).unwrap_or(0)]
}

/// The number behind `key`.
fn field(text: &[u8], key: &[u8], radix: u32) -> u64 {
    let Some(start) = text.windows(key.len()).position(|window| window == key) else { return 0 };
    let digits = text[start + key.len()..].iter().map_while(|digit| (*digit as char).to_digit(radix));
    digits.fold(0, |number, digit| number * u64::from(radix) + u64::from(digit))
}

/// A process that is killed and waited for when it is dropped, and dies with its parent.
#[derive(Debug)]
struct Child {
    pid: libc::pid_t,
    /// It ends by itself and need not be killed.
    is_ending: bool,
}

impl Child {
    /// Starts a process that runs `body` with all signals blocked and no files but `file`, as descriptor 0. It allocates
    /// nothing.
    fn start(file: Option<&OwnedFd>, body: impl FnOnce()) -> io::Result<Self> {
        let parent = std::process::id() as libc::pid_t;
        let mask = block_all();
        // SAFETY: the child calls only functions that are safe in a copy of a process with other threads.
        let pid = unsafe { libc::fork() };
        let error = io::Error::last_os_error();
        if pid == 0 {
            let kept = file.map_or(0, |file| {
                // SAFETY: both are descriptors.
                unsafe { libc::dup2(file.as_raw_fd(), 0) };
                1
            });
            // SAFETY: closes the copies of all files, so that nobody waits for their end because of this process.
            unsafe { libc::syscall(libc::SYS_close_range, kept, libc::c_uint::MAX, 0) };
            if dies_with(parent) {
                body();
            }
            exit(0);
        }
        set_mask(&mask);
        if pid == -1 { Err(error) } else { Ok(Self { pid, is_ending: false }) }
    }
}

/// This process dies with its parent from now on; answers whether that is alive.
fn dies_with(parent: libc::pid_t) -> bool {
    // SAFETY: takes numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: takes nothing and changes nothing.
    unsafe { libc::getppid() == parent }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_ending {
            // SAFETY: it was not reaped, or its end was reported to nobody who cares; the number is still its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        }
        // SAFETY: reaps it; nobody asks for the status.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_the_canary_is_pending() {
        let mut canary = Canary::start().unwrap();
        assert!(!canary.got(Signal(libc::SIGUSR1)) && !canary.got(Signal(libc::SIGTERM)));
        let pid = canary.pid().unwrap();
        // SAFETY: touches no memory; the canary is alive as long as its keeper.
        unsafe { libc::kill(pid, libc::SIGUSR1) };
        assert!(canary.got(Signal(libc::SIGUSR1)) && !canary.got(Signal(libc::SIGTERM)));
        let paths = [pid, canary.keeper()].map(|pid| format!("/proc/{pid}"));
        for path in &paths {
            // It closes its files when it first runs.
            while std::fs::read_dir(format!("{path}/fd")).unwrap().count() > 0 {
                std::thread::yield_now();
            }
        }
        drop(canary);
        assert!(paths.iter().all(|path| !std::path::Path::new(path).exists()));
    }

    #[test]
    fn a_keeper_that_is_stopped_before_it_has_left_the_group_is_continued() {
        let mut canary = Canary::start().unwrap();
        // SAFETY: touches no memory; the keeper is reaped when the canary is dropped.
        unsafe { libc::kill(canary.keeper(), libc::SIGSTOP) };
        canary.settle();
        assert!(canary.pid.is_some());
    }

    #[test]
    fn a_canary_that_was_stopped_with_its_group_shows_it() {
        let mut canary = Canary::start().unwrap();
        assert!(!canary.is_stopped());
        let pid = canary.pid().unwrap();
        // SAFETY: touches no memory; the canary is alive as long as its keeper.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        while !canary.is_stopped() {
            std::thread::yield_now();
        }
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        while canary.is_stopped() {
            std::thread::yield_now();
        }
        assert!(canary.got(Signal(libc::SIGCONT)));
    }

    #[test]
    fn a_report_that_comes_before_the_stop_continues_the_process_after_it() {
        // SAFETY: the copy has one thread, and ends here.
        let copy = unsafe { libc::fork() };
        if copy == 0 {
            // SAFETY: takes nothing.
            let own = unsafe { libc::getpid() };
            let _ = block_all();
            // SAFETY: touches no memory.
            unsafe { libc::kill(own, libc::SIGCHLD) };
            let watcher = Child::start(None, move || continue_reported(own));
            pause(20 * LOOK);
            // SAFETY: touches no memory.
            unsafe { libc::kill(own, libc::SIGSTOP) };
            exit(i32::from(watcher.is_err()));
        }
        let started = std::time::Instant::now();
        let mut word = -1;
        // SAFETY: the kernel stores one status word.
        while unsafe { libc::waitpid(copy, &raw mut word, libc::WNOHANG) } == 0 {
            if started.elapsed().as_secs() > 20 {
                // SAFETY: touches no memory; the copy is not reaped yet.
                unsafe { libc::kill(copy, libc::SIGKILL) };
            }
            pause(LOOK);
        }
        assert_eq!(word, 0, "the copy is not continued");
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
