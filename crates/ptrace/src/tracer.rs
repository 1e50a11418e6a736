//! The thread that traces: takes threads over and waits for what they report.

use crate::status::{self, Ending, Status};
use crate::stopped::Stopped;
use crate::sys::request;
use iotrail_model::Tid;
use std::io;
use std::marker::PhantomData;

/// The right to trace, bound to the thread that made it.
///
/// It waits for all children of its thread, so that thread must have no others.
#[derive(Debug)]
pub struct Tracer {
    thread: PhantomData<*const ()>,
}

/// What a wait brought.
#[derive(Debug)]
pub enum Report {
    /// A thread ended and is gone.
    Ended(Tid, Ending),
    /// A thread is stopped.
    Stopped(Stopped),
}

impl Report {
    /// The thread that it is about.
    #[must_use]
    pub fn tid(&self) -> Tid {
        match self {
            Self::Ended(tid, _) => *tid,
            Self::Stopped(stopped) => stopped.tid(),
        }
    }
}

/// What shall be traced, and what happens without the tracer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The program is killed when the tracer dies. Needed under a filter, whose calls fail without a tracer.
    pub die_with_tracer: bool,
}

impl Options {
    fn bits(self) -> usize {
        let all = libc::PTRACE_O_TRACESYSGOOD
            | libc::PTRACE_O_TRACESECCOMP
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEEXEC
            | libc::PTRACE_O_TRACEEXIT;
        let kill = if self.die_with_tracer { libc::PTRACE_O_EXITKILL } else { 0 };
        (all | kill) as usize
    }
}

impl Tracer {
    /// The calling thread may trace from now on.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a right is taken deliberately")]
    pub fn new() -> Self {
        Self { thread: PhantomData }
    }

    /// Starts tracing a thread without stopping it. What it makes from now on is traced as well.
    ///
    /// # Errors
    /// It is gone (ESRCH), traced already or not ours to trace (EPERM).
    pub fn seize(&self, tid: Tid, options: Options) -> io::Result<()> {
        request(libc::PTRACE_SEIZE, tid, 0, options.bits()).map(drop)
    }

    /// Asks a traced thread to stop; a [`crate::Why::Trap`] or another stop of it follows.
    ///
    /// # Errors
    /// It is gone (ESRCH).
    pub fn interrupt(&self, tid: Tid) -> io::Result<()> {
        request(libc::PTRACE_INTERRUPT, tid, 0, 0).map(drop)
    }

    /// Waits for the next report, or looks whether there is one (`None`: there is not).
    ///
    /// # Errors
    /// No traced thread is left (ECHILD), or a signal arrived while it waited (EINTR).
    pub fn wait(&self, block: bool) -> io::Result<Option<Report>> {
        let flags = libc::__WALL | libc::__WNOTHREAD | if block { 0 } else { libc::WNOHANG };
        loop {
            let mut word = 0;
            // The call itself: the function of the C library is a place where threads are cancelled, which costs at each stop.
            // SAFETY: the kernel stores one status word; NULL says that nobody wants to know what was used.
            let tid = unsafe {
                libc::syscall(libc::SYS_wait4, -1, &raw mut word, flags, std::ptr::null_mut::<libc::rusage>())
            };
            let tid = match tid {
                -1 => return Err(io::Error::last_os_error()),
                0 => return Ok(None),
                tid => Tid(tid as u32),
            };
            match status::decode(word) {
                Some(Status::Ended(ending)) => return Ok(Some(Report::Ended(tid, ending))),
                Some(Status::Stopped(why)) => return Ok(Some(Report::Stopped(Stopped::new(tid, why)))),
                None => {}
            }
        }
    }
}
