//! A stopped thread: a value that must be resumed.

use crate::call_info::{self, CallInfo};
use crate::status::{Signal, Why};
use crate::sys::{is_gone, request, request_into};
use iotrail_model::Tid;
use std::io;
use std::marker::PhantomData;

/// A thread that waits until it is told how to go on. If it is not told, dropping it lets it run.
#[derive(Debug)]
#[must_use = "the thread stays stopped as long as this value is kept, and runs when it is dropped"]
pub struct Stopped {
    tid: Tid,
    why: Why,
    /// Only the thread that traces may make requests.
    tracer: PhantomData<*const ()>,
}

/// How far a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// To the next event.
    Freely,
    /// To the next event or the next entry or exit of a call.
    ToCall,
}

/// Who sent a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalInfo {
    /// `si_code`: not positive if a process sent it.
    pub code: i32,
    /// The process that sent it, if one did.
    pub sender: i32,
}

impl Stopped {
    pub(crate) fn new(tid: Tid, why: Why) -> Self {
        Self { tid, why, tracer: PhantomData }
    }

    /// Thread that is stopped.
    #[must_use]
    pub fn tid(&self) -> Tid {
        self.tid
    }

    /// Why it is stopped.
    #[must_use]
    pub fn why(&self) -> Why {
        self.why
    }

    /// The message of an event: the id of a new thread, the former id at an exec, the status word at an exit.
    ///
    /// # Errors
    /// The thread was killed meanwhile (ESRCH).
    pub fn message(&self) -> io::Result<u64> {
        let mut message = [0_u64];
        request_into(libc::PTRACE_GETEVENTMSG, self.tid, 0, &mut message)?;
        // A thread that is killed leaves this stop for that of its exit, which has another message.
        let event = self.signal_info()?.code >> 8;
        let same = match self.why {
            Why::Created => {
                matches!(event, libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE)
            }
            Why::Exec => event == libc::PTRACE_EVENT_EXEC,
            Why::Exiting => event == libc::PTRACE_EVENT_EXIT,
            _ => true,
        };
        if same { Ok(message[0]) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    }

    /// The call that it is at.
    ///
    /// # Errors
    /// The thread was killed meanwhile, or the kernel is older than 5.3 (EIO).
    pub fn call(&self) -> io::Result<CallInfo> {
        let mut raw: call_info::Raw = [0; 11];
        request_into(libc::PTRACE_GET_SYSCALL_INFO, self.tid, size_of_val(&raw), &mut raw)?;
        Ok(CallInfo::of(&raw))
    }

    /// Who sent the signal that it is stopped for.
    ///
    /// # Errors
    /// The thread was killed meanwhile.
    pub fn signal_info(&self) -> io::Result<SignalInfo> {
        // `siginfo_t` is 128 bytes: si_signo, si_errno, si_code, padding on 64-bit machines, then si_pid.
        let mut raw = [0_i32; 32];
        request_into(libc::PTRACE_GETSIGINFO, self.tid, 0, &mut raw)?;
        let sender = if cfg!(target_pointer_width = "64") { raw[4] } else { raw[3] };
        Ok(SignalInfo { code: raw[2], sender })
    }

    /// The call that it is about to make will not be made and fails with ENOSYS.
    ///
    /// # Errors
    /// The thread was killed meanwhile, or this is not known how to do on this architecture.
    pub fn refuse_call(&self) -> io::Result<()> {
        #[cfg(target_arch = "x86_64")]
        {
            // The kernel has put -ENOSYS into the register of the result already; a call without a number keeps it.
            let number = std::mem::offset_of!(libc::user_regs_struct, orig_rax);
            request(libc::PTRACE_POKEUSER, self.tid, number, usize::MAX).map(drop)
        }
        #[cfg(not(target_arch = "x86_64"))]
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Lets it go on, with the signal that it shall get. If it is stopped for that very signal, the signal keeps all
    /// that came with it.
    ///
    /// # Errors
    /// The request was refused; not if the thread was killed meanwhile.
    pub fn resume(self, going: Going, signal: Option<Signal>) -> io::Result<()> {
        let code = match going {
            Going::Freely => libc::PTRACE_CONT,
            Going::ToCall => libc::PTRACE_SYSCALL,
        };
        self.release(code, signal)
    }

    /// Leaves it in its group stop, to be heard of again when that ends.
    ///
    /// # Errors
    /// The request was refused; not if the thread was killed meanwhile.
    pub fn listen(self) -> io::Result<()> {
        self.release(libc::PTRACE_LISTEN, None)
    }

    /// Stops tracing it and lets it go on as if it had never been traced.
    ///
    /// # Errors
    /// The request was refused; not if the thread was killed meanwhile.
    pub fn detach(self, signal: Option<Signal>) -> io::Result<()> {
        self.release(libc::PTRACE_DETACH, signal)
    }

    fn release(self, code: libc::c_uint, signal: Option<Signal>) -> io::Result<()> {
        let result = request(code, self.tid, 0, signal.map_or(0, |signal| signal.0 as usize));
        std::mem::forget(self);
        match result {
            Err(error) if !is_gone(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // The thread may be gone; there is nobody left to tell then.
        let _ = request(libc::PTRACE_CONT, self.tid, 0, 0);
    }
}
