//! A call that returned, and what its arguments say of it.

use crate::contested::Watched;
use crate::cursor::Move;
use crate::descriptor_tables::DescriptionId;
use crate::operands::{FdArg, Operands};
use crate::process_table::{Entered, ThreadId};
use crate::symbols;
use iotrail_model::calls::{CallKind, CallSpec, OpenFlags};
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{CaseId, Dictionaries, ErrnoId, Event, Nullable};

/// A returned call with everything found out about it.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) case: CaseId,
    pub(crate) thread: ThreadId,
    pub(crate) call: &'a RawCall<'a>,
    pub(crate) spec: Option<&'static CallSpec>,
    pub(crate) operands: &'a Operands<'a>,
    /// What its descriptor stands for.
    pub(crate) description: Option<DescriptionId>,
    /// What was noted when it was entered, if it was announced.
    pub(crate) entered: Option<Entered>,
}

impl Scene<'_> {
    pub(crate) fn succeeded(&self) -> bool {
        succeeded(self.call)
    }

    /// What others were watched for while it was in flight.
    pub(crate) fn watched(&self) -> Option<Watched> {
        self.entered.and_then(|entered| entered.watched)
    }

    /// When it began, by the clock of calls in flight.
    pub(crate) fn since(&self) -> Option<u64> {
        self.watched().map(|watched| watched.call)
    }

    /// What it does to the cursor of its descriptor.
    pub(crate) fn step(&self, is_request: bool) -> Move {
        Move::of(self.call, is_request).since(self.entered.map(|entered| entered.moves_before[0]))
    }

    /// The descriptor that it made, and what the tracer said about it.
    pub(crate) fn made(&self) -> Option<FdArg<'_>> {
        match self.call.ret {
            Return::Value(fd, hint) => i32::try_from(fd).ok().map(|fd| (fd, hint)),
            _ => None,
        }
    }
}

#[inline]
pub(crate) fn set_result(event: &mut Event, call: &RawCall<'_>, names: &mut Dictionaries) {
    match call.ret {
        Return::Unseen => {}
        Return::Value(value, _) => event.ret = Nullable::some(value),
        Return::Injected(value, error) => {
            event.ret = Nullable::some(value);
            event.errno = error.map(|error| ErrnoId(names.errnos.intern(error))).into();
        }
        Return::Failed(error) => {
            event.ret = Nullable::some(-1);
            event.errno = Nullable::some(ErrnoId(names.errnos.intern(error)));
        }
    }
}

/// What an open asks for: by its name, its structure or its flags, as far as they were seen.
pub(crate) fn asked_by(scene: &Scene<'_>) -> OpenFlags {
    let operands = scene.operands;
    match operands.structure.and_then(|how| symbols::field(how, b"flags")) {
        _ if is_creat(scene) => OpenFlags::CREAT,
        Some(text) => OpenFlags::parse(text),
        None => operands.flags[0].map(symbols::open_flags).unwrap_or_default(),
    }
}

pub(crate) fn is_creat(scene: &Scene<'_>) -> bool {
    scene.spec.is_some_and(|spec| spec.kind == CallKind::Create)
}

pub(crate) fn succeeded(call: &RawCall<'_>) -> bool {
    matches!(call.ret, Return::Value(bytes, _) if bytes >= 0)
}

pub(crate) fn cloexec_in(arg: &Arg<'_>, bits: u64) -> bool {
    match arg {
        Arg::Int(number) => *number as u64 & bits != 0,
        Arg::Symbols(text) | Arg::Text(text) => symbols::is_cloexec(text, bits),
        _ => false,
    }
}
