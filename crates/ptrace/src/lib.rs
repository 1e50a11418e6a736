//! The kernel's tracing interface in safe types: stops, seccomp filters, another process's memory.
//!
//! A [`Tracer`] is a thread that traces. It [`Tracer::wait`]s for [`Report`]s; a [`Stopped`] thread is a value, and
//! whoever holds it must say how it goes on. Everything here is a thin layer over `man 2 ptrace`, `man 2 seccomp` and
//! `man 2 process_vm_readv`; nothing knows what calls mean. Signals are plain numbers, so that real-time signals are
//! signals like any other.
//!
//! Facts about the kernel that shape the interface:
//! - A thread in a stop may be killed at any time; every request to it may then fail with ESRCH. Requests that let it
//!   go on therefore count that as done.
//! - Requests are valid only from the thread that traces, so [`Tracer`] and [`Stopped`] stay on theirs.
//! - A seccomp filter cannot be taken back. When its tracer is gone, the calls that it selects fail with ENOSYS, so a
//!   program under a filter is killed with its tracer (`PTRACE_O_EXITKILL`); without a filter it goes on.

mod calibration;
mod call_info;
mod companion;
mod filter;
mod inherited;
mod memory;
mod messenger;
mod same_file;
mod spawn;
mod status;
mod stopped;
mod sys;
mod tracer;

pub use calibration::{CallCost, call_cost};
pub use call_info::{CallInfo, Phase};
pub use companion::{Canary, stop_like};
pub use filter::{AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, Filter, FilterError, Rule, Test};
pub use memory::read_memory;
pub use messenger::{Messenger, Received, Takes, is_stop_signal};
pub use same_file::{is_same_file, is_same_table};
pub use spawn::{Spawn, SpawnError, Spawned, Stage};
pub use status::{Ending, Signal, Why};
pub use stopped::{Going, SignalInfo, Stopped};
pub use tracer::{Options, Report, Tracer};
