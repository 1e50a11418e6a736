//! An operation that was asked for: a raw call to be, which owns its arguments because it outlives the stop.

use super::{Deliver, HeldFile};
use crate::{error_name, flag_text};
use iotrail_model::calls::{ArgKind, Transfer, spec};
use iotrail_model::raw::{Arg, RawCall, Return, Target};
use iotrail_model::{CallId, Layer, Pid, Tid, Timestamp};
use std::rc::Rc;

/// An argument; see [`Arg`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    #[default]
    Opaque,
    Int(i64),
    Fd(i32),
    /// A file that the ring holds, if it is known.
    Held(Held),
    Cwd,
    Path {
        bytes: Vec<u8>,
        complete: bool,
    },
    /// A path by the name that the kernel resolves it to.
    Located(Vec<u8>),
    Length(u64),
    Symbols(Vec<u8>),
    Text(Vec<u8>),
    Pair([i32; 2]),
}

impl Value {
    /// Flags, as the call `name` would have them as argument `place`.
    pub(super) fn flags(name: &str, index: usize, value: u32) -> Self {
        let text = flag_text(name, index, u64::from(value));
        text.map_or(Self::Int(i64::from(value)), Self::Symbols)
    }

    fn view(&self) -> Arg<'_> {
        match self {
            Self::Opaque | Self::Held(None) => Arg::Opaque,
            Self::Int(number) => Arg::Int(*number),
            Self::Fd(fd) => Arg::Fd(*fd, None),
            Self::Held(Some(file)) => Arg::Fd(-1, Some(Target { name: &file.name, deleted: false })),
            Self::Cwd => Arg::Cwd(None),
            Self::Path { bytes, complete } => Arg::Path { bytes, complete: *complete },
            Self::Located(name) => Arg::Located(name),
            Self::Length(bytes) => Arg::Length(*bytes),
            Self::Symbols(text) => Arg::Symbols(text),
            Self::Text(text) => Arg::Text(text),
            Self::Pair([first, second]) => Arg::FdPair([(*first, None), (*second, None)]),
        }
    }
}

/// What an operation does to the files that the ring holds, if it succeeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Change {
    #[default]
    None,
    /// That file takes this place, or without one the place that the result tells.
    Put(Option<u32>, Held),
    /// The place becomes free.
    Remove(u32),
    /// The files take the places from here on; `None` leaves a place as it is.
    Update(u32, Vec<Option<Held>>),
    /// The ring stores two descriptors at this address.
    Pipe(u64),
}

/// What a place for a file of the ring holds.
pub(super) type Held = Option<Rc<HeldFile>>;

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) pid: Pid,
    pub(super) tid: Tid,
    pub(super) call: CallId,
    pub(super) start: Timestamp,
    /// Order of submission.
    pub(super) serial: u64,
    /// What finds it again: `user_data` of an entry, address of a control block.
    pub(super) key: u64,
    pub(super) args: Vec<Value>,
    pub(super) change: Change,
    /// What the descriptor that it makes stands for, if it is not the path.
    pub(super) made: Held,
    /// Whether it is no event.
    pub(super) silent: bool,
    /// Whether a completion with its key came while others with that key were under way, too: none is known to be its own.
    pub(super) unsure: bool,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Unseen,
    /// The kernel's result: a value, or the negative number of an error.
    Result(i64),
}

impl Request {
    /// How many bytes it may move; NULL if it moves none, or that is not known.
    pub(super) fn most(&self) -> Option<u64> {
        let spec = spec(self.call).filter(|spec| spec.transfer != Transfer::None)?;
        let is_length = |kind: &ArgKind| matches!(kind, ArgKind::Count | ArgKind::Vector);
        let at = spec.args.iter().position(is_length)?;
        match self.args.get(at)? {
            Value::Int(bytes) => u64::try_from(*bytes).ok(),
            Value::Length(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// Hands it over as the call of `tid`; `seen` is when its completion was seen.
    pub(super) fn deliver(&self, tid: Tid, seen: Option<Timestamp>, finish: Finish, deliver: Deliver<'_>) {
        if self.silent {
            return;
        }
        let (seen, finish) = if self.unsure { (None, Finish::Unseen) } else { (seen, finish) };
        let args: Vec<Arg<'_>> = self.args.iter().map(Value::view).collect();
        let ret = match finish {
            Finish::Unseen => Return::Unseen,
            Finish::Result(error @ -4095..=-1) => Return::Failed(error_name(-error as i32).as_bytes()),
            Finish::Result(value) => {
                let target = self.made.as_deref().map(|file| Target { name: &file.name, deleted: false });
                Return::Value(value, target)
            }
        };
        let dur = seen.map(|seen| seen - self.start);
        deliver(&RawCall {
            tid,
            layer: Layer::Syscall,
            call: self.call,
            start: self.start,
            dur,
            ret,
            args: &args,
        });
    }
}
