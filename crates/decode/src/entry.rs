//! A call between its entry and its exit.

use super::effects::{Effects, Special};
use super::plan::Plan;
use super::stored::{ByteRange, Stored};
use crate::{Registers, Returned};
use iotrail_model::calls::{self, ArgKind, CallKind, CallSpec, Makes};
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{CallId, Dictionaries, Layer, Nanos, Tid, Timestamp};

/// No call has more arguments.
pub(super) const MAX_ARGUMENTS: usize = 6;

/// A path as the program gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenPath<'a> {
    /// Index of the argument in the call's row of the table.
    pub place: usize,
    /// What it is for.
    pub kind: ArgKind,
    /// What it is relative to.
    pub directory: GivenBase,
    /// The path as the program gave it.
    pub bytes: &'a [u8],
}

/// What a path of a call is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenBase {
    /// The working directory.
    Cwd,
    /// The directory that this descriptor refers to.
    Fd(i32),
}

/// A call that was entered, and after [`Entry::exit`] has returned. It owns what it was told.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) registers: Registers,
    /// How it is decoded, if its number has a name.
    pub(super) plan: Option<&'static Plan>,
    /// The arguments as numbers, wherever they were.
    pub(super) values: [u64; MAX_ARGUMENTS],
    pub(super) args: [Stored; MAX_ARGUMENTS],
    pub(super) undecoded: bool,
    pub(super) special: Special,
    pub(super) returned: Option<Returned>,
    /// The strings of the arguments.
    pub(super) bytes: Vec<u8>,
    /// Descriptors that came with a message.
    pub(super) received: Vec<i32>,
    /// Descriptors that go with a message; `None` if some could not be read.
    pub(super) sent: Option<Vec<i32>>,
}

impl Entry {
    /// A call of which nothing is known; `bytes` is empty.
    pub(super) fn new(registers: Registers, bytes: Vec<u8>) -> Self {
        Self {
            registers,
            plan: None,
            values: [0; MAX_ARGUMENTS],
            args: [Stored::Opaque; MAX_ARGUMENTS],
            undecoded: true,
            special: Special::None,
            returned: None,
            bytes,
            received: Vec::new(),
            sent: Some(Vec::new()),
        }
    }

    /// Row of the call table; `None` if the number has no name.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        self.plan.map(|plan| plan.call)
    }

    /// What the call table says about it.
    #[must_use]
    pub fn spec(&self) -> Option<&'static CallSpec> {
        self.call().and_then(calls::spec)
    }

    /// The strings of the arguments, one behind the other.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a name of the call is that of a `status` of a process.
    #[must_use]
    pub fn names_status(&self) -> bool {
        self.bytes.windows(7).any(|part| part == b"/status")
    }

    /// The registers at the entry.
    #[must_use]
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Whether something of the call could not be decoded: its number has no name, or its conventions or the layout
    /// of a structure are unknown. What was not decoded is opaque.
    #[must_use]
    pub fn undecoded(&self) -> bool {
        self.undecoded
    }

    /// What the tracer must look at. Descriptors are there after a successful exit.
    #[must_use]
    pub fn effects(&self) -> Effects<'_> {
        Effects {
            made: self.made(),
            received: &self.received,
            sent: self.sent.as_deref(),
            special: self.special,
        }
    }

    /// The arguments as numbers.
    #[must_use]
    pub fn values(&self) -> &[u64; MAX_ARGUMENTS] {
        &self.values
    }

    /// What the call returned, if it has.
    #[must_use]
    pub fn returned(&self) -> Option<Returned> {
        self.returned
    }

    /// The paths among the arguments that were read and not located yet: place, bytes, what they are relative to.
    pub fn paths(&self) -> impl Iterator<Item = GivenPath<'_>> {
        let kinds = self.spec().map_or(&[][..], |spec| spec.args);
        kinds.iter().enumerate().filter_map(|(place, kind)| {
            let Stored::Path { place: text, complete: true } = self.args.get(place)? else { return None };
            let before =
                place.checked_sub(1).and_then(|before| Some((kinds.get(before)?, self.args[before])));
            let directory = match before {
                Some((ArgKind::DirFd, Stored::Cwd)) => GivenBase::Cwd,
                Some((ArgKind::DirFd, Stored::Fd(fd))) => GivenBase::Fd(fd),
                Some((ArgKind::DirFd, _)) => return None,
                _ => GivenBase::Cwd,
            };
            Some(GivenPath { place, kind: *kind, directory, bytes: text.of(&self.bytes) })
        })
    }

    /// The names that were located.
    #[must_use]
    pub fn located(&self) -> Vec<&[u8]> {
        let text = |arg: &Stored| match arg {
            Stored::Located(place) => Some(*place),
            _ => None,
        };
        self.args.iter().filter_map(text).map(|place| place.of(&self.bytes)).collect()
    }

    /// Whether a structure among the arguments asks for `RESOLVE_IN_ROOT`.
    #[must_use]
    pub fn stays_in_root(&self) -> bool {
        let asks = |text: ByteRange| text.of(&self.bytes).windows(15).any(|part| part == b"RESOLVE_IN_ROOT");
        self.args.iter().any(|arg| matches!(arg, Stored::Text(text) if asks(*text)))
    }

    /// How many paths could not be read although their addresses are good.
    #[must_use]
    pub fn unread_paths(&self) -> usize {
        const EFAULT: i32 = 14;
        let kinds = self.spec().map_or(&[][..], |spec| spec.args);
        let is_unread = |place: usize| {
            self.args[place] == Stored::Opaque && self.values[place] != 0 && kinds[place] == ArgKind::Path
        };
        match self.returned == Some(Returned::Error(EFAULT)) || self.undecoded {
            true => 0,
            false => (0..kinds.len().min(MAX_ARGUMENTS)).filter(|place| is_unread(*place)).count(),
        }
    }

    /// Replaces a path by the name that the kernel resolved.
    pub fn locate(&mut self, place: usize, name: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        if let Some(arg) = self.args.get_mut(place) {
            *arg = Stored::Located(ByteRange::since(start, &self.bytes));
        }
    }

    fn made(&self) -> [Option<i32>; 2] {
        let Some(Returned::Value(value)) = self.returned else { return [None, None] };
        if self.spec().is_some_and(|spec| spec.makes == Makes::Descriptor) || self.duplicates() {
            return [i32::try_from(value).ok(), None];
        }
        let pair = self.args.iter().find_map(|arg| match arg {
            Stored::FdPair([first, second]) => Some([Some(*first), Some(*second)]),
            _ => None,
        });
        pair.unwrap_or_default()
    }

    /// Whether this is fcntl with a command that makes a descriptor.
    fn duplicates(&self) -> bool {
        const F_DUPFD: u64 = 0;
        const F_DUPFD_CLOEXEC: u64 = 1030;
        self.spec().is_some_and(|spec| spec.kind == CallKind::Control)
            && matches!(self.values[1] & 0xffff_ffff, F_DUPFD | F_DUPFD_CLOEXEC)
    }

    /// The call as raw items carry it. A call whose number has no name gets one in `names`: `syscall_0x1d6`.
    #[must_use]
    pub fn view(&self, names: &mut Dictionaries) -> View<'_> {
        let call = self.call().unwrap_or_else(|| self.unnamed(names));
        let args = std::array::from_fn(|index| self.args[index].view(&self.bytes));
        let ret = match self.returned {
            None => Return::Unseen,
            Some(Returned::Value(value)) => Return::Value(value, None),
            Some(Returned::Error(number)) => {
                Return::Failed(iotrail_model::errors::error_name(number).as_bytes())
            }
        };
        View { call, args, len: self.plan.map_or(0, |plan| usize::from(plan.len)), ret }
    }

    #[cold]
    fn unnamed(&self, names: &mut Dictionaries) -> CallId {
        let name = format!("syscall_{:#x}", self.registers.number);
        CallId(names.calls.intern(name.as_bytes()))
    }
}

/// An [`Entry`] in the form of raw items, which borrow.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    call: CallId,
    args: [Arg<'a>; MAX_ARGUMENTS],
    len: usize,
    ret: Return<'a>,
}

impl View<'_> {
    /// The call as announced at its entry.
    #[must_use]
    pub fn entered(&self, tid: Tid, start: Timestamp) -> RawCall<'_> {
        RawCall { ret: Return::Unseen, ..self.returned(tid, start, None) }
    }

    /// The call as it returned; `dur` is `None` if its end was not seen.
    #[must_use]
    pub fn returned(&self, tid: Tid, start: Timestamp, dur: Option<Nanos>) -> RawCall<'_> {
        RawCall {
            tid,
            layer: Layer::Syscall,
            call: self.call,
            start,
            dur,
            ret: self.ret,
            args: &self.args[..self.len],
        }
    }
}
