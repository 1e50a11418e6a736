//! The arguments of a call as ltrace prints them, in the order of the kernel's signature.
//!
//! Strings are cut (`"abc"...`) and quotation marks in them are not escaped: one ends a string if a comma or the end of the arguments
//! comes behind it.

use crate::line::number;
use bstr::ByteSlice;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, Makes, Transfer};
use iotrail_model::raw::Arg;

/// No system call has more.
const MAX_ARGUMENTS: usize = 6;
/// `AT_FDCWD`, as a number of 32 bits.
const AT_FDCWD: i32 = -100;
/// What `pthread_create` asks for when it makes a thread, in a structure that ltrace does not show.
const THREAD: &[u8] = b"{flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM}";

/// An argument, whose text is unescaped if it is a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i64),
    Text { bytes: Vec<u8>, complete: bool },
    Other,
}

/// The arguments of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    values: Vec<Value>,
    /// A path that is known although ltrace printed an address.
    path: Option<Vec<u8>>,
    /// Whether the call makes a thread of its process.
    thread: bool,
}

impl Arguments {
    /// Reads `3, "abc"..., 0644`.
    pub(crate) fn read(text: &[u8]) -> Self {
        let (mut values, mut rest) = (Vec::new(), text.trim_ascii());
        while !rest.is_empty() && values.len() < MAX_ARGUMENTS {
            let (value, length) = value(rest);
            values.push(value);
            rest = rest[length..].trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
        }
        Self { values, ..Self::default() }
    }

    /// The first argument, if it is a whole string.
    pub(crate) fn first_text(&self) -> Option<&[u8]> {
        match self.values.first()? {
            Value::Text { bytes, complete: true } => Some(bytes),
            _ => None,
        }
    }

    /// What the function in which a system call is made tells of it.
    pub(crate) fn within(&mut self, spec: &CallSpec, function: &[u8], path: Option<&[u8]>) -> bool {
        self.thread = spec.has(ArgKind::Struct) && function == b"pthread_create";
        let place = spec.args.iter().position(|kind| *kind == ArgKind::Path);
        let printed = place.and_then(|place| self.values.get(place));
        let opens = matches!(spec.kind, CallKind::Open | CallKind::Create);
        match (opens, printed, path) {
            (true, Some(Value::Number(1..)), Some(path)) => self.path = Some(path.to_owned()),
            _ => return false,
        }
        true
    }

    /// Whether ltrace cut a path.
    pub(crate) fn is_cut(&self, spec: Option<&CallSpec>) -> bool {
        let cut = |(value, kind): (&Value, &ArgKind)| {
            is_path(*kind) && matches!(value, Value::Text { complete: false, .. })
        };
        spec.is_some_and(|spec| self.values.iter().zip(spec.args).any(cut))
    }

    /// The arguments as the resolver takes them.
    pub(crate) fn as_seen(&self, spec: Option<&CallSpec>) -> Vec<Arg<'_>> {
        let Some(spec) = spec else { return Vec::new() };
        let mut args: Vec<Arg<'_>> = (0..self.values.len())
            .map(|index| match (spec.transfer, spec.args.get(index).copied().unwrap_or(ArgKind::Other)) {
                (Transfer::Copy, ArgKind::Offset | ArgKind::Offset2) => self.behind_pointer(index),
                (_, kind) => self.arg(index, kind),
            })
            .collect();
        // strace, whose order the table has, prints the stack first; the kernel of most machines takes the flags first.
        if spec.args.starts_with(&[ArgKind::Other, ArgKind::Flags])
            && spec.makes == Makes::Process
            && args.len() > 1
        {
            args[1] = self.arg(0, ArgKind::Flags);
            args[0] = Arg::Opaque;
        }
        args
    }

    /// A number that the program holds elsewhere: ltrace prints where.
    fn behind_pointer(&self, index: usize) -> Arg<'_> {
        match self.values[index] {
            Value::Number(0) => Arg::Null,
            _ => Arg::Opaque,
        }
    }

    fn arg(&self, index: usize, kind: ArgKind) -> Arg<'_> {
        match (&self.values[index], kind, &self.path) {
            (_, ArgKind::Struct, _) if self.thread => Arg::Text(THREAD),
            (_, ArgKind::Path, Some(path)) => Arg::Path { bytes: path, complete: true },
            (Value::Text { bytes, complete }, kind, _) if is_path(kind) => {
                Arg::Path { bytes, complete: *complete }
            }
            (Value::Number(0), kind, _) if is_path(kind) => Arg::Null,
            (Value::Number(value), ArgKind::DirFd, _) if *value as i32 == AT_FDCWD => Arg::Cwd(None),
            (Value::Number(value), ArgKind::Fd | ArgKind::Fd2 | ArgKind::DirFd, _) => {
                Arg::Fd(*value as i32, None)
            }
            (
                Value::Number(value),
                ArgKind::Count
                | ArgKind::Offset
                | ArgKind::Flags
                | ArgKind::Command
                | ArgKind::Process
                | ArgKind::Status
                | ArgKind::Address
                | ArgKind::Extent
                | ArgKind::Word,
                _,
            ) => Arg::Int(*value),
            _ => Arg::Opaque,
        }
    }
}

fn is_path(kind: ArgKind) -> bool {
    matches!(kind, ArgKind::Path | ArgKind::PathOut | ArgKind::LinkTarget | ArgKind::Name)
}

/// The value at the start of `text`, and its length.
fn value(text: &[u8]) -> (Value, usize) {
    if text[0] == b'"' {
        return string(text);
    }
    let (mut depth, mut end) = (0_i32, 0);
    while let Some(byte) = text.get(end) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'\'' => {
                end += text.get(end + 2..).and_then(|rest| rest.find_byte(b'\'')).map_or(0, |quote| quote + 2)
            }
            b',' if depth <= 0 => break,
            _ => {}
        }
        end += 1;
    }
    let end = end.min(text.len());
    (number(&text[..end]).map_or(Value::Other, Value::Number), end)
}

fn string(text: &[u8]) -> (Value, usize) {
    let ends = text.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'"').map(|(index, _)| index);
    for end in ends {
        let behind = &text[end + 1..];
        let (behind, complete) = behind.strip_prefix(b"...").map_or((behind, true), |behind| (behind, false));
        if behind.is_empty() || behind.starts_with(b",") {
            let bytes = unescape(&text[1..end]);
            return (Value::Text { bytes, complete }, text.len() - behind.len());
        }
    }
    (Value::Text { bytes: unescape(&text[1..]), complete: false }, text.len())
}

/// `\n`, `\\`, `\177`.
fn unescape(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let octal = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        if octal > 0 {
            let value = rest[..octal].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(value as u8);
            rest = &rest[octal..];
            continue;
        }
        let Some((&escaped, behind)) = rest.split_first() else {
            bytes.push(b'\\');
            break;
        };
        rest = behind;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'v' => 11,
            b'f' => 12,
            other => other,
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str, complete: bool) -> Value {
        Value::Text { bytes: text.as_bytes().to_vec(), complete }
    }

    #[test]
    fn offsets_of_copies_are_where_the_program_holds_them() {
        let seen = |name: &str, text: &str| {
            let arguments = Arguments::read(text.as_bytes());
            let seen = arguments.as_seen(iotrail_model::calls::TABLE.iter().find(|spec| spec.name == name));
            format!("{:?}", seen.get(1..5).unwrap_or(&seen[1..]))
        };
        assert_eq!(
            seen("copy_file_range", "3, 0, 4, 0x7ffc0, 100, 0"),
            format!("{:?}", [Arg::Null, Arg::Fd(4, None), Arg::Opaque, Arg::Int(100)])
        );
        let sent = |offset| format!("{:?}", [Arg::Fd(3, None), offset, Arg::Int(500)]);
        assert_eq!(seen("sendfile", "4, 3, 0, 500"), sent(Arg::Null));
        assert_eq!(seen("sendfile", "4, 3, 0x7fff63ea1f68, 500"), sent(Arg::Opaque));
    }

    #[test]
    fn strings_end_before_a_comma_and_may_be_cut() {
        let values = |text: &str| Arguments::read(text.as_bytes()).values;
        assert_eq!(
            values("3, \"he \"x\"\\n\", 0x10"),
            [Value::Number(3), text("he \"x\"\n", true), Value::Number(16)]
        );
        assert_eq!(values("\"abc\"..., 0644"), [text("abc", false), Value::Number(0o644)]);
        assert_eq!(
            values("\"\\177ELF\\002\", 'a', ',', nil"),
            [text("\u{7f}ELF\u{2}", true), Value::Other, Value::Other, Value::Number(0)]
        );
        assert_eq!(values("{ 1, 2 }, 5"), [Value::Other, Value::Number(5)]);
        assert_eq!(values(""), []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_arguments(bytes in prop::collection::vec(any::<u8>(), 0..100), text in "[\"',\\\\(){} .0-9x]{0,40}") {
            let _ = (Arguments::read(&bytes), Arguments::read(text.as_bytes()));
        }
    }
}
