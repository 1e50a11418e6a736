//! Reading the text of a call up to its return: name and arguments.

use super::Parser;
use super::arguments::Arguments;
use super::escape::Scratch;
use crate::shares::shares_table;
use iotrail_model::calls::numbers::name_behind;
use iotrail_model::calls::{self, CallKind, CallSpec, Family, Makes};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::{RawCall, Return};
use iotrail_model::{CallId, Layer, Tid, Timestamp};

/// A call whose arguments were read. They stay where they were put, because they are large.
pub(super) struct Reading<'r, 'a> {
    pub(super) name: &'a [u8],
    known: Option<CallId>,
    spec: Option<&'static CallSpec>,
    pub(super) arguments: &'r Arguments<'a>,
}

impl<'r, 'a> Reading<'r, 'a> {
    /// Reads `name(arguments`, as much of it as there is; `arguments` has none yet.
    #[inline]
    pub(super) fn of(
        text: &'a [u8],
        names: &Dictionaries,
        scratch: &mut Scratch<'a>,
        arguments: &'r mut Arguments<'a>,
    ) -> Option<Self> {
        let length = name_length(text)?;
        let name = name_behind(&text[..length]);
        let known = names.calls.find(name).map(CallId);
        let spec = known.and_then(calls::spec);
        arguments.read(text, length + 1, spec.map_or(&[], |spec| spec.args), scratch);
        Some(Self { name, known, spec, arguments })
    }

    /// The call as entered: nothing is known of its return.
    #[inline]
    pub(super) fn entered(&self, tid: Tid, start: Timestamp, names: &mut Dictionaries) -> RawCall<'r> {
        let call = self.known.unwrap_or_else(|| CallId(names.calls.intern(self.name)));
        RawCall {
            tid,
            layer: Layer::Syscall,
            call,
            start,
            dur: None,
            ret: Return::Unseen,
            args: self.arguments.as_slice(),
        }
    }

    pub(super) fn makes_process(&self) -> bool {
        self.spec.is_some_and(|spec| spec.makes == Makes::Process)
    }

    /// Whether the process that it made has no descriptors of its own.
    pub(super) fn shares_table(&self) -> bool {
        self.spec.is_some_and(|spec| shares_table(spec, self.arguments.as_slice()))
    }

    pub(super) fn kind(&self) -> CallKind {
        self.spec.map(|spec| spec.kind).unwrap_or_default()
    }

    /// Whether its thread ends in it.
    pub(super) fn never_returns(&self) -> bool {
        matches!(self.kind(), CallKind::ExitThread | CallKind::ExitProcess)
    }

    /// Whether nothing that its thread did before goes on behind it.
    pub(super) fn ends_what_was(&self) -> bool {
        self.never_returns() || self.kind() == CallKind::Exec
    }

    /// A process id that was returned is no descriptor, even if the name of its command stands beside it.
    pub(super) fn without_comm(&self, ret: Return<'a>) -> Return<'a> {
        match (ret, self.spec) {
            (Return::Value(value, Some(_)), Some(spec))
                if spec.makes != Makes::Descriptor
                    && matches!(spec.family, Family::Process | Family::Wait) =>
            {
                Return::Value(value, None)
            }
            _ => ret,
        }
    }
}

/// The bytes of which names of calls consist.
static IN_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?' | b'#');
        byte += 1;
    }
    table
};

/// Length of the call name at the start of `text`, which a parenthesis must follow.
#[inline]
pub(super) fn name_length(text: &[u8]) -> Option<usize> {
    let length = text.iter().take_while(|byte| IN_NAMES[usize::from(**byte)]).count();
    (length > 0 && text.get(length) == Some(&b'(')).then_some(length)
}

impl Parser {
    /// Reads `text` with scratch of its length.
    #[inline]
    pub(super) fn with_scratch<T>(
        &mut self,
        text: &[u8],
        read: impl for<'s> FnOnce(&mut Self, &'s [u8], &mut Scratch<'s>) -> T,
    ) -> T {
        let mut space = std::mem::take(&mut self.scratch);
        if space.len() < text.len() {
            space.resize(text.len(), 0);
        }
        let result = read(self, text, &mut Scratch::new(&mut space));
        self.scratch = space;
        result
    }
}
