//! What a tracer must look at beside the call itself.

use iotrail_model::calls::{CallKind, CallSpec, DescriptorEffect, Object};

/// What a call did that is not in its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects<'a> {
    /// Descriptors that the call made: what lies behind them can be looked up now.
    pub made: [Option<i32>; 2],
    /// Descriptors that came with a message (`SCM_RIGHTS`): what they refer to is known to the kernel alone.
    pub received: &'a [i32],
    /// Descriptors that the call sends with a message; known from the entry on. `None` if not all of them could be read.
    pub sent: Option<&'a [i32]>,
    /// Whether the call is one that tracers treat specially; known from the entry on.
    pub special: Special,
}

/// Calls that matter to a tracer for what they do to its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Special {
    /// None of these.
    #[default]
    None,
    /// Replaces the program.
    Exec,
    /// Makes a process or thread.
    Spawn,
    /// Sends messages, which may take descriptors along: `sendmsg`, `sendmmsg`.
    Send,
    /// Takes a descriptor of another process: `pidfd_getfd`.
    Take,
    /// Ends a thread or process.
    Exit,
    /// `io_uring_setup`.
    RingSetup,
    /// `io_uring_enter`.
    RingEnter,
    /// `io_uring_register`.
    RingRegister,
    /// `io_setup`.
    AioSetup,
    /// `io_destroy`.
    AioDestroy,
    /// `io_submit`.
    AioSubmit,
    /// `io_getevents` and `io_pgetevents`.
    AioGetEvents,
    /// `io_cancel`.
    AioCancel,
    /// The program traces another, or asks to be traced.
    Trace,
    /// The program filters its own calls: `seccomp`, `prctl(PR_SET_SECCOMP)`.
    Filter,
}

impl Special {
    /// What a call is.
    pub(super) fn of(spec: &CallSpec) -> Self {
        match spec.kind {
            CallKind::Exec => Self::Exec,
            CallKind::Spawn | CallKind::Vfork => Self::Spawn,
            CallKind::TakeDescriptor => Self::Take,
            CallKind::ExitThread | CallKind::ExitProcess => Self::Exit,
            CallKind::Make(Object::Ring) => Self::RingSetup,
            CallKind::RingEnter => Self::RingEnter,
            CallKind::RingRegister => Self::RingRegister,
            CallKind::AioSetup => Self::AioSetup,
            CallKind::AioDestroy => Self::AioDestroy,
            CallKind::AioSubmit => Self::AioSubmit,
            CallKind::AioGetEvents => Self::AioGetEvents,
            CallKind::AioCancel => Self::AioCancel,
            CallKind::Trace => Self::Trace,
            CallKind::Filter => Self::Filter,
            _ if spec.descriptor_effect() == DescriptorEffect::Sends => Self::Send,
            _ => Self::None,
        }
    }
}
