//! Starts a program under trace: fork, seize, filter, exec.
//!
//! The child waits until it is traced, becomes again what this process was started as (signals, closed descriptors),
//! installs the filter on itself and runs the program. Between fork and exec it makes plain system calls only, because
//! other threads of this process may have held locks.

use crate::filter::Filter;
use crate::inherited;
use crate::messenger::Messenger;
use crate::tracer::{Options, Tracer};
use iotrail_kernel::{block_all, cpu_limit, file_limit, set_mask};
use iotrail_model::Tid;
use rustix::pipe::PipeFlags;
use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// What is to be started.
#[derive(Debug)]
pub struct Spawn<'a> {
    /// Path of the executable.
    pub program: &'a CStr,
    /// Arguments; the first is the name of the program.
    pub args: &'a [CString],
    /// Variables of the environment, `NAME=value`, beside those of this process or in place of them.
    pub variables: &'a [CString],
    /// Filter that selects the calls to stop at.
    pub filter: Option<&'a Filter>,
    /// How it is traced.
    pub options: Options,
}

/// A child that is about to run its program.
#[derive(Debug)]
pub struct Spawned {
    tid: Tid,
    failure: File,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{stage}: {error}")]
pub struct SpawnError {
    /// The step that failed.
    pub stage: Stage,
    /// The error of the operating system.
    pub error: io::Error,
}

/// A step of starting a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Making a process.
    Fork,
    /// Becoming its tracer.
    Trace,
    /// Installing the filter.
    Filter,
    /// Executing the program.
    Exec,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fork => "making a process",
            Self::Trace => "tracing it (is ptrace allowed here? see /proc/sys/kernel/yama/ptrace_scope)",
            Self::Filter => "installing a seccomp filter",
            Self::Exec => "executing the program",
        })
    }
}

const FAILED_FILTER: u8 = 1;
const FAILED_EXEC: u8 = 2;
/// Exit status of a child that could not execute its program; the reason is in the pipe.
const NOT_EXECUTED: i32 = 127;
const SHELL: &CStr = c"/bin/sh";

unsafe extern "C" {
    /// The environment of this process, byte by byte as it was given.
    static environ: *const *const c_char;
}

impl Spawn<'_> {
    /// Starts the program as a traced child.
    ///
    /// # Errors
    /// No process could be made or it may not be traced. What fails later is known when the child has ended, see
    /// [`Spawned::failure`].
    pub fn start(&self, tracer: &Tracer, messenger: &Messenger) -> Result<Spawned, SpawnError> {
        let fork = |error: io::Error| SpawnError { stage: Stage::Fork, error };
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| fork(error.into()));
        let ((wait, go), (failure, fail)) = (pipe()?, pipe()?);
        let plan = Plan::of(self, messenger, &wait, &fail, &go);
        let mask = block_all();
        // SAFETY: the child calls only functions that are safe in a copy of a process with other threads.
        let pid = unsafe { libc::fork() };
        let error = io::Error::last_os_error();
        if pid == 0 {
            plan.become_the_program();
        }
        set_mask(&mask);
        if pid == -1 {
            return Err(fork(error));
        }
        drop((wait, fail));
        let tid = Tid(pid as u32);
        if let Err(error) = self.begin(tracer, tid).and_then(|()| File::from(go).write_all(b"!")) {
            // SAFETY: the child waits for the word to go and is killed instead; it was not reaped.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            // SAFETY: reaps it; nobody asks for the status.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) };
            return Err(SpawnError { stage: Stage::Trace, error });
        }
        Ok(Spawned { tid, failure: File::from(failure) })
    }

    /// Traces the child. Without a filter it must stop once to be traced from call to call.
    fn begin(&self, tracer: &Tracer, tid: Tid) -> io::Result<()> {
        tracer.seize(tid, self.options)?;
        if self.filter.is_none() { tracer.interrupt(tid) } else { Ok(()) }
    }
}

impl Spawned {
    /// Thread id of the child, which is also its process id.
    #[must_use]
    pub fn tid(&self) -> Tid {
        self.tid
    }

    /// Why the program was not executed; `None` if it was. To be asked when the child has executed or ended.
    #[must_use]
    pub fn failure(&mut self) -> Option<SpawnError> {
        let mut report = [0; 5];
        self.failure.read_exact(&mut report).ok()?;
        let stage = if report[0] == FAILED_FILTER { Stage::Filter } else { Stage::Exec };
        let number = i32::from_ne_bytes([report[1], report[2], report[3], report[4]]);
        Some(SpawnError { stage, error: io::Error::from_raw_os_error(number) })
    }
}

/// Everything that the child needs, made before the fork.
struct Plan {
    program: *const c_char,
    args: Vec<*const c_char>,
    /// The same through the shell, for scripts that do not name their interpreter.
    shell_args: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    filter: Vec<libc::sock_filter>,
    actions: Vec<(i32, libc::sigaction)>,
    mask: libc::sigset_t,
    cpu_limit: libc::rlimit,
    wait: i32,
    fail: i32,
    go: i32,
}

impl Plan {
    fn of(launch: &Spawn<'_>, messenger: &Messenger, wait: &OwnedFd, fail: &OwnedFd, go: &OwnedFd) -> Self {
        let args: Vec<_> = launch.args.iter().map(|arg| arg.as_ptr()).collect();
        let end = [std::ptr::null()];
        let through = [SHELL.as_ptr(), launch.program.as_ptr()];
        let originals = messenger.originals();
        Self {
            program: launch.program.as_ptr(),
            shell_args: through.into_iter().chain(args.iter().skip(1).copied()).chain(end).collect(),
            args: args.into_iter().chain(end).collect(),
            environment: environment(launch.variables),
            filter: launch.filter.map(Filter::to_kernel).unwrap_or_default(),
            actions: originals
                .actions
                .iter()
                .copied()
                .chain([(libc::SIGXFSZ, file_limit::original_action())])
                .collect(),
            mask: originals.mask,
            cpu_limit: cpu_limit::original(),
            wait: wait.as_raw_fd(),
            fail: fail.as_raw_fd(),
            go: go.as_raw_fd(),
        }
    }

    /// Runs in the child, with all signals blocked, and does not return.
    fn become_the_program(&self) -> ! {
        // SAFETY: closes the child's copy, so that the pipe ends when the parent dies.
        unsafe { libc::close(self.go) };
        let mut word = [0_u8];
        // SAFETY: reads one byte into `word`.
        if unsafe { libc::read(self.wait, word.as_mut_ptr().cast(), 1) } != 1 {
            exit(NOT_EXECUTED);
        }
        self.restore();
        if !self.filter.is_empty() && !install(&self.filter) {
            self.give_up(FAILED_FILTER);
        }
        self.execute(self.program, &self.args);
        if errno() == libc::ENOEXEC {
            self.execute(SHELL.as_ptr(), &self.shell_args);
        }
        self.give_up(FAILED_EXEC)
    }

    fn restore(&self) {
        for (signal, action) in &self.actions {
            // SAFETY: a disposition that this process had.
            unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
        }
        inherited::ignore_signals_of_threads();
        let pipe = if inherited::pipe_was_ignored() { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: one of the two dispositions that are no handlers.
        unsafe { libc::signal(libc::SIGPIPE, pipe) };
        for fd in (0..3).filter(|fd| inherited::was_closed(*fd)) {
            // SAFETY: closes what the runtime opened there.
            unsafe { libc::close(fd) };
        }
        cpu_limit::set(&self.cpu_limit);
        set_mask(&self.mask);
    }

    fn execute(&self, program: *const c_char, args: &[*const c_char]) {
        // SAFETY: the path ends with NUL, the arrays with NULL, and all of them outlive the call.
        unsafe { libc::execve(program, args.as_ptr(), self.environment.as_ptr()) };
    }

    fn give_up(&self, stage: u8) -> ! {
        let [a, b, c, d] = errno().to_ne_bytes();
        let report = [stage, a, b, c, d];
        // SAFETY: writes the report, which fits a pipe.
        unsafe { libc::write(self.fail, report.as_ptr().cast(), report.len()) };
        exit(NOT_EXECUTED)
    }
}

/// The environment of this process with these variables, as an array that ends with NULL.
fn environment(variables: &[CString]) -> Vec<*const c_char> {
    let replaced = |own: &CStr| {
        let name = |text: &CStr| text.to_bytes().split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
        variables.iter().any(|variable| name(variable) == name(own))
    };
    let mut all = Vec::new();
    // SAFETY: the C library keeps a valid array there; nothing in this process changes the environment meanwhile.
    let mut next = unsafe { environ };
    // SAFETY: the array ends with NULL.
    while let Some(variable) = unsafe { next.as_ref() }.copied().filter(|variable| !variable.is_null()) {
        // SAFETY: a variable ends with NUL.
        if !replaced(unsafe { CStr::from_ptr(variable) }) {
            all.push(variable);
        }
        // SAFETY: not beyond the NULL at the end.
        next = unsafe { next.add(1) };
    }
    all.extend(variables.iter().map(|variable| variable.as_ptr()));
    all.push(std::ptr::null());
    all
}

/// Installs a filter on this process, giving up the gaining of privileges only if the kernel demands that.
pub(crate) fn install(filter: &[libc::sock_filter]) -> bool {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    let refused = || matches!(errno(), libc::EACCES | libc::EPERM);
    if load(&program) {
        return true;
    }
    // SAFETY: takes numbers.
    refused() && unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0 && load(&program)
}

/// First without the mitigations that slow everything down on older kernels and that a tracer's filter does not need.
fn load(program: &libc::sock_fprog) -> bool {
    [libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0].into_iter().any(|flags| {
        // SAFETY: the kernel reads the program during the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(program),
            )
        };
        result == 0
    })
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

pub(crate) fn exit(status: i32) -> ! {
    // SAFETY: ends the process at once, without what the parent registered for its exit.
    unsafe { libc::_exit(status) }
}
