//! An argument that owns nothing: strings lie in the buffer of its entry.
//!
//! An entry outlives the stop it was made in, so it cannot borrow; places in one buffer keep it to one allocation
//! that is used again, and to none for calls without strings.

use iotrail_model::raw::Arg;

/// Where a string lies in the buffer of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteRange {
    start: u32,
    end: u32,
}

impl ByteRange {
    /// What was added to `bytes` since it held `start` bytes.
    pub(super) fn since(start: usize, bytes: &[u8]) -> Self {
        Self { start: start as u32, end: bytes.len() as u32 }
    }

    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// An argument as decoded; see [`Arg`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Stored {
    #[default]
    Opaque,
    Null,
    Int(i64),
    Fd(i32),
    Cwd,
    Path {
        place: ByteRange,
        complete: bool,
    },
    /// A path by the name that the kernel resolved.
    Located(ByteRange),
    Symbol(&'static str),
    Symbols(ByteRange),
    FdPair([i32; 2]),
    Length(u64),
    Strings {
        place: ByteRange,
        complete: bool,
    },
    Text(ByteRange),
}

impl Stored {
    /// The argument, with its strings in `bytes`.
    pub(super) fn view<'a>(&self, bytes: &'a [u8]) -> Arg<'a> {
        match *self {
            Self::Opaque => Arg::Opaque,
            Self::Null => Arg::Null,
            Self::Int(number) => Arg::Int(number),
            Self::Fd(fd) => Arg::Fd(fd, None),
            Self::Cwd => Arg::Cwd(None),
            Self::Path { place, complete } => Arg::Path { bytes: place.of(bytes), complete },
            Self::Located(place) => Arg::Located(place.of(bytes)),
            Self::Symbol(name) => Arg::Symbols(name.as_bytes()),
            Self::Symbols(place) => Arg::Symbols(place.of(bytes)),
            Self::FdPair([first, second]) => Arg::FdPair([(first, None), (second, None)]),
            Self::Length(bytes) => Arg::Length(bytes),
            Self::Strings { place, complete } => Arg::Strings { bytes: place.of(bytes), complete },
            Self::Text(place) => Arg::Text(place.of(bytes)),
        }
    }
}
