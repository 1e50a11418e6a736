//! Calls with their arguments.

use crate::parts::StoredTarget;
use crate::text::Text;
use iotrail_model::raw::{Arg, RawCall, Return, Target};
use iotrail_model::{CallId, Dictionaries, Layer, Nanos, Tid, Timestamp};
use serde::{Deserialize, Serialize};

/// A call; which one, its name says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredCall {
    tid: Tid,
    #[serde(default, skip_serializing_if = "is_syscall")]
    layer: Layer,
    call: Text,
    start: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dur: Option<Nanos>,
    #[serde(default, skip_serializing_if = "is_unseen")]
    ret: StoredReturn,
    #[serde(default)]
    args: Vec<StoredArg>,
}

fn is_syscall(layer: &Layer) -> bool {
    *layer == Layer::Syscall
}

fn is_unseen(ret: &StoredReturn) -> bool {
    *ret == StoredReturn::Unseen
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredReturn {
    #[default]
    Unseen,
    Value {
        value: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<StoredTarget>,
    },
    Failed(Text),
    Injected {
        value: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Text>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredArg {
    Opaque,
    Null,
    Int(i64),
    Fd(StoredFd),
    Cwd(Option<StoredTarget>),
    Path { path: Text, complete: bool },
    Located(Text),
    Symbols(Text),
    FdPair([StoredFd; 2]),
    Length(u64),
    Strings { strings: Text, complete: bool },
    Text(Text),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFd {
    fd: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<StoredTarget>,
}

impl StoredFd {
    fn of(fd: i32, target: Option<Target<'_>>) -> Self {
        Self { fd, target: target.map(StoredTarget::from) }
    }

    fn show(&self) -> (i32, Option<Target<'_>>) {
        (self.fd, self.target.as_ref().map(StoredTarget::show))
    }
}

impl StoredReturn {
    fn of(ret: Return<'_>) -> Self {
        match ret {
            Return::Unseen => Self::Unseen,
            Return::Value(value, target) => Self::Value { value, target: target.map(StoredTarget::from) },
            Return::Failed(error) => Self::Failed(error.into()),
            Return::Injected(value, error) => Self::Injected { value, error: error.map(Text::from) },
        }
    }

    fn show(&self) -> Return<'_> {
        match self {
            Self::Unseen => Return::Unseen,
            Self::Value { value, target } => Return::Value(*value, target.as_ref().map(StoredTarget::show)),
            Self::Failed(error) => Return::Failed(error.bytes()),
            Self::Injected { value, error } => Return::Injected(*value, error.as_ref().map(Text::bytes)),
        }
    }
}

impl StoredArg {
    fn of(arg: &Arg<'_>) -> Self {
        match *arg {
            Arg::Opaque => Self::Opaque,
            Arg::Null => Self::Null,
            Arg::Int(number) => Self::Int(number),
            Arg::Fd(fd, target) => Self::Fd(StoredFd::of(fd, target)),
            Arg::Cwd(target) => Self::Cwd(target.map(StoredTarget::from)),
            Arg::Path { bytes, complete } => Self::Path { path: bytes.into(), complete },
            Arg::Located(path) => Self::Located(path.into()),
            Arg::Symbols(symbols) => Self::Symbols(symbols.into()),
            Arg::FdPair(pair) => Self::FdPair(pair.map(|(fd, target)| StoredFd::of(fd, target))),
            Arg::Length(length) => Self::Length(length),
            Arg::Strings { bytes, complete } => Self::Strings { strings: bytes.into(), complete },
            Arg::Text(text) => Self::Text(text.into()),
        }
    }

    fn show(&self) -> Arg<'_> {
        match self {
            Self::Opaque => Arg::Opaque,
            Self::Null => Arg::Null,
            Self::Int(number) => Arg::Int(*number),
            Self::Fd(fd) => {
                let (fd, target) = fd.show();
                Arg::Fd(fd, target)
            }
            Self::Cwd(target) => Arg::Cwd(target.as_ref().map(StoredTarget::show)),
            Self::Path { path, complete } => Arg::Path { bytes: path.bytes(), complete: *complete },
            Self::Located(path) => Arg::Located(path.bytes()),
            Self::Symbols(symbols) => Arg::Symbols(symbols.bytes()),
            Self::FdPair([first, second]) => Arg::FdPair([first.show(), second.show()]),
            Self::Length(length) => Arg::Length(*length),
            Self::Strings { strings, complete } => {
                Arg::Strings { bytes: strings.bytes(), complete: *complete }
            }
            Self::Text(text) => Arg::Text(text.bytes()),
        }
    }
}

impl StoredCall {
    pub(crate) fn of(call: &RawCall<'_>, names: &Dictionaries) -> Self {
        Self {
            tid: call.tid,
            layer: call.layer,
            call: names.calls.get(call.call.0).into(),
            start: call.start,
            dur: call.dur,
            ret: StoredReturn::of(call.ret),
            args: call.args.iter().map(StoredArg::of).collect(),
        }
    }

    pub(crate) fn with<R>(
        &self,
        names: &mut Dictionaries,
        show: impl FnOnce(RawCall<'_>, &mut Dictionaries) -> R,
    ) -> R {
        let args: Vec<Arg<'_>> = self.args.iter().map(StoredArg::show).collect();
        let call = RawCall {
            tid: self.tid,
            layer: self.layer,
            call: CallId(names.calls.intern(self.call.bytes())),
            start: self.start,
            dur: self.dur,
            ret: self.ret.show(),
            args: &args,
        };
        show(call, names)
    }
}
