//! The arguments of a call sorted by what they are, following the call table.

use crate::symbols::{self, Symbol};
use iotrail_model::calls::{ArgKind, CallKind, CallSpec};
use iotrail_model::raw::{Arg, RawCall, Target};

/// A descriptor argument and what the tracer said it is.
pub(crate) type FdArg<'a> = (i32, Option<Target<'a>>);

/// `AT_FDCWD` on every architecture.
const AT_FDCWD: i64 = -100;

/// What a path argument is relative to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Base<'a> {
    /// The working directory; the tracer may know it.
    Cwd(Option<Target<'a>>),
    /// A directory descriptor.
    Fd(FdArg<'a>),
    /// The argument was not seen.
    #[default]
    Unknown,
}

/// A path argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathArg<'a> {
    pub(crate) base: Base<'a>,
    /// The bytes; `None` is a NULL pointer, which stands for the base itself.
    pub(crate) bytes: Option<&'a [u8]>,
    /// Whether the tracer resolved it.
    pub(crate) located: bool,
    /// Whether the base is the root for it.
    pub(crate) in_root: bool,
}

/// Where a transfer starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Position {
    /// At the cursor, which moves.
    #[default]
    Cursor,
    /// At this offset; the cursor stays.
    At(i64),
    /// Not at the cursor, but where was not seen.
    Unseen,
}

/// The arguments of one call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands<'a> {
    pub(crate) fd: Option<FdArg<'a>>,
    pub(crate) fd2: Option<FdArg<'a>>,
    /// In place of a descriptor: a file that a ring holds without one.
    pub(crate) held: Option<Target<'a>>,
    pub(crate) pair: Option<[FdArg<'a>; 2]>,
    pub(crate) path: Option<PathArg<'a>>,
    pub(crate) path2: Option<PathArg<'a>>,
    /// Path, name or link target that is not looked up.
    pub(crate) text: Option<&'a [u8]>,
    /// Whether the tracer resolved that path.
    pub(crate) text_located: bool,
    pub(crate) requested: Option<i64>,
    pub(crate) position: Position,
    pub(crate) position2: Position,
    /// Headers that say how many bytes moved, if they do and not the return value.
    pub(crate) messages: Option<&'a Arg<'a>>,
    /// The new cursor that `_llseek` stores.
    pub(crate) stored: Option<i64>,
    pub(crate) flags: [Option<&'a Arg<'a>>; 2],
    pub(crate) commands: [Option<&'a Arg<'a>>; 2],
    pub(crate) structure: Option<&'a [u8]>,
    /// A socket address.
    pub(crate) address: Option<&'a [u8]>,
    /// The strings of an argument vector, and whether these are all.
    pub(crate) strings: Option<(&'a [u8], bool)>,
    pub(crate) status: Option<i64>,
    first_path_taken: bool,
}

impl<'a> Operands<'a> {
    /// Sorts the arguments of `call`. Of a call that is not in the table, descriptors that the tracer recognised count.
    #[inline]
    pub(crate) fn of(spec: Option<&CallSpec>, call: &RawCall<'a>) -> Self {
        let mut operands = Self::default();
        operands.sort(spec, call);
        operands
    }

    fn sort(&mut self, spec: Option<&CallSpec>, call: &RawCall<'a>) {
        let Some(spec) = spec else {
            self.fd = call.args.iter().filter(|arg| matches!(arg, Arg::Fd(..))).find_map(fd);
            return;
        };
        let mut base = Base::Cwd(None);
        for (kind, arg) in spec.args.iter().zip(call.args) {
            self.take(*kind, arg, &mut base);
        }
        if let (Some(path), CallKind::Open) = (&mut self.path, spec.kind) {
            let resolve = self.structure.and_then(|how| symbols::field(how, b"resolve"));
            path.in_root = resolve.is_some_and(|text| symbols::RESOLVE_IN_ROOT.is_in_text(text));
        }
    }

    #[inline]
    fn take(&mut self, kind: ArgKind, arg: &'a Arg<'a>, base: &mut Base<'a>) {
        match kind {
            ArgKind::Other | ArgKind::Buffer | ArgKind::Process | ArgKind::Address | ArgKind::Extent => {}
            ArgKind::Fd => (self.fd, self.held) = (fd(arg), held(arg)),
            ArgKind::Fd2 => self.fd2 = fd(arg),
            // One of more than 2^63 bytes is an error of the caller's.
            ArgKind::Count => self.requested = integer(arg).filter(|count| *count >= 0),
            ArgKind::Vector | ArgKind::Message => self.requested = length(arg),
            ArgKind::Messages => self.messages = Some(arg),
            ArgKind::Offset | ArgKind::Word => self.position = position(arg),
            ArgKind::Offset2 => self.position2 = position(arg),
            ArgKind::Position => self.stored = integer(arg),
            ArgKind::Flags => put(&mut self.flags, arg),
            ArgKind::Command => put(&mut self.commands, arg),
            ArgKind::DirFd => *base = directory(arg),
            ArgKind::Path => self.take_path(arg, std::mem::replace(base, Base::Cwd(None))),
            ArgKind::PathOut | ArgKind::Name | ArgKind::LinkTarget => {
                (self.text, self.text_located) = (whole_path(arg), matches!(arg, Arg::Located(_)));
            }
            ArgKind::FdPair => self.pair = pair(arg),
            ArgKind::Strings => self.strings = strings(arg),
            ArgKind::Struct => self.structure = text(arg),
            ArgKind::SocketName => self.address = text(arg),
            ArgKind::Status => self.status = integer(arg),
        }
    }

    /// Bytes that a call moved which returned this. No call moves more than it was asked to: of one in which a thread was killed, strace
    /// may print what another one returned.
    pub(crate) fn moved(&self, returned: i64) -> Option<i64> {
        self.moved_by(returned).filter(|bytes| self.requested.is_none_or(|requested| *bytes <= requested))
    }

    fn moved_by(&self, returned: i64) -> Option<i64> {
        match self.messages {
            Some(headers) => length(headers),
            // It tells how long the message is, of which no more comes than there is room for.
            None if self.has(symbols::MSG_TRUNC) => Some(returned.min(self.requested?)),
            None => Some(returned),
        }
    }

    /// Whether a flag is among its flags.
    pub(crate) fn has(&self, symbol: Symbol) -> bool {
        self.flags.iter().flatten().any(|flags| symbol.is_in(flags))
    }

    fn take_path(&mut self, arg: &'a Arg<'a>, base: Base<'a>) {
        let located = matches!(arg, Arg::Located(_));
        let path = match arg {
            Arg::Null => Some(PathArg { base, bytes: None, located, in_root: false }),
            arg => whole_path(arg).map(|bytes| PathArg { base, bytes: Some(bytes), located, in_root: false }),
        };
        if std::mem::replace(&mut self.first_path_taken, true) {
            self.path2 = path;
        } else {
            self.path = path;
        }
    }
}

fn put<'a>(indices: &mut [Option<&'a Arg<'a>>; 2], arg: &'a Arg<'a>) {
    match indices {
        [first @ None, _] => *first = Some(arg),
        [_, second] => *second = Some(arg),
    }
}

fn fd<'a>(arg: &Arg<'a>) -> Option<FdArg<'a>> {
    match arg {
        Arg::Fd(fd, target) => Some((*fd, *target)),
        Arg::Int(fd) => Some((i32::try_from(*fd).ok()?, None)),
        _ => None,
    }
    .filter(|(fd, _)| *fd >= 0)
}

fn held<'a>(arg: &Arg<'a>) -> Option<Target<'a>> {
    match arg {
        Arg::Fd(i32::MIN..=-1, target) => *target,
        _ => None,
    }
}

fn directory<'a>(arg: &Arg<'a>) -> Base<'a> {
    match arg {
        Arg::Cwd(target) => Base::Cwd(*target),
        Arg::Int(AT_FDCWD) => Base::Cwd(None),
        arg => fd(arg).map_or(Base::Unknown, Base::Fd),
    }
}

pub(crate) fn integer(arg: &Arg<'_>) -> Option<i64> {
    match arg {
        Arg::Int(number) => Some(*number),
        Arg::Symbols(text) | Arg::Text(text) => symbols::number(text),
        _ => None,
    }
}

fn length(arg: &Arg<'_>) -> Option<i64> {
    match arg {
        Arg::Length(bytes) => i64::try_from(*bytes).ok(),
        _ => None,
    }
}

fn position(arg: &Arg<'_>) -> Position {
    match (arg, integer(arg)) {
        (Arg::Null, _) | (_, Some(-1)) => Position::Cursor,
        (_, Some(offset)) => Position::At(offset),
        _ => Position::Unseen,
    }
}

fn whole_path<'a>(arg: &Arg<'a>) -> Option<&'a [u8]> {
    match arg {
        Arg::Path { bytes, complete: true } | Arg::Located(bytes) => Some(bytes),
        _ => None,
    }
}

fn pair<'a>(arg: &Arg<'a>) -> Option<[FdArg<'a>; 2]> {
    match arg {
        Arg::FdPair(pair) => Some(*pair),
        _ => None,
    }
}

fn strings<'a>(arg: &Arg<'a>) -> Option<(&'a [u8], bool)> {
    match arg {
        Arg::Strings { bytes, complete } => Some((bytes, *complete)),
        _ => None,
    }
}

fn text<'a>(arg: &Arg<'a>) -> Option<&'a [u8]> {
    match arg {
        Arg::Text(text) | Arg::Symbols(text) => Some(text),
        _ => None,
    }
}
