//! What stands in a line of ltrace behind its time stamps.

use bstr::ByteSlice;
use iotrail_import::{duration, trim_start};
use iotrail_model::{Layer, Nanos};

/// What a line says. Every line is exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A call that was seen from beginning to end: `open("x", 0) = 3 <0.000100>`.
    Whole(Name<'a>, Finished<'a>),
    /// The first half of a call: `fopen("x", "r" <unfinished ...>`; whether it will never return.
    Begun(Name<'a>, &'a [u8], bool),
    /// The second half of a call: `<... fopen resumed> ) = 0x55d0 <0.000100>`.
    Resumed(Name<'a>, Finished<'a>),
    /// `+++ exited (status 0) +++`
    Exited(i32),
    /// `+++ killed by SIGKILL +++`
    Killed(&'a [u8]),
    /// `--- SIGCHLD (Child exited) ---`
    Signal,
    /// `--- Called exec() ---`
    Exec,
    /// Something else that is known; of what kind.
    Known(&'static str),
    /// Something that is not known.
    Unknown,
}

/// Who was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) layer: Layer,
    /// As ltrace has it, without what tells the layer or the library.
    pub(crate) name: &'a [u8],
}

/// The second half of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finished<'a> {
    /// Arguments, as far as they were printed.
    pub(crate) arguments: &'a [u8],
    /// What was returned, if it is a number.
    pub(crate) value: Option<i64>,
    /// How long it took.
    pub(crate) dur: Option<Nanos>,
}

impl<'a> Line<'a> {
    /// Reads what stands behind the time stamps.
    pub(crate) fn read(text: &'a [u8]) -> Self {
        let text = text.trim_ascii_end();
        match text {
            [] => Self::Known("blank"),
            [b'+', b'+', b'+', b' ', ..] => Self::end(text).unwrap_or(Self::Unknown),
            [b'-', b'-', b'-', b' ', ..] => Self::dashes(text),
            [b'<', b'.', b'.', b'.', b' ', ..] => Self::resumed(text).unwrap_or(Self::Unknown),
            _ => Self::call(text).unwrap_or(Self::Unknown),
        }
    }

    fn end(text: &'a [u8]) -> Option<Self> {
        let text = text.strip_prefix(b"+++ ")?.strip_suffix(b" +++")?;
        if let Some(status) = text.strip_prefix(b"exited (status ") {
            let status = status.strip_suffix(b")")?;
            return Some(Self::Exited(status.to_str().ok()?.parse().ok()?));
        }
        text.strip_prefix(b"killed by ").map(Self::Killed)
    }

    fn dashes(text: &'a [u8]) -> Self {
        match text.strip_prefix(b"--- ").and_then(|text| text.strip_suffix(b" ---")) {
            Some(b"Called exec()") => Self::Exec,
            Some(signal) if signal.starts_with(b"SIG") => Self::Signal,
            Some(_) => Self::Known("message"),
            None => Self::Unknown,
        }
    }

    fn resumed(text: &'a [u8]) -> Option<Self> {
        let (name, rest) = text.strip_prefix(b"<... ")?.split_once_str(" resumed> ")?;
        Some(Self::Resumed(Name::read(name)?, Finished::read(rest)?))
    }

    fn call(text: &'a [u8]) -> Option<Self> {
        let open = text.find_byte(b'(')?;
        let name = Name::read(&text[..open])?;
        let rest = &text[open + 1..];
        for (end, never) in [(&b" <unfinished ...>"[..], false), (b" <no return ...>", true)] {
            if let Some(arguments) = rest.strip_suffix(end) {
                return Some(Self::Begun(name, arguments, never));
            }
        }
        Some(Self::Whole(name, Finished::read(rest)?))
    }
}

impl<'a> Name<'a> {
    /// `SYS_read`, `read@SYS`, `fopen`, `prog->fopen`.
    fn read(text: &'a [u8]) -> Option<Self> {
        let text = text.rsplit_once_str("->").map_or(text, |(_, name)| name);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@.:~$".contains(byte);
        (!text.is_empty() && text.len() <= 300 && text.iter().all(is_name)).then_some(())?;
        let system = text.strip_prefix(b"SYS_").or_else(|| text.strip_suffix(b"@SYS"));
        let (layer, name) = system.map_or((Layer::Libc, text), |name| (Layer::Syscall, name));
        (!name.is_empty()).then_some(Self { layer, name })
    }
}

impl<'a> Finished<'a> {
    /// `"x", 0) = 3 <0.000100>`: from the end, because arguments may hold anything.
    fn read(text: &'a [u8]) -> Option<Self> {
        let (text, dur) = match text.strip_suffix(b">").and_then(|text| text.rsplit_once_str(" <")) {
            Some((rest, dur)) if duration(dur).is_some() => (rest, duration(dur).map(Nanos)),
            _ => (text, None),
        };
        let mut until = text.len();
        loop {
            let equals = text[..until].rfind(b"=")?;
            let (before, value) = (text[..equals].trim_ascii_end(), trim_start(&text[equals + 1..]));
            if let Some(arguments) = before.strip_suffix(b")") {
                return Some(Self { arguments: trim_start(arguments), value: number(value), dur });
            }
            until = equals;
        }
    }
}

/// `-1`, `0x55d0`, `nil`, `0644`: a number, as ltrace prints them.
pub(crate) fn number(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii().to_str().ok()?;
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|value| value as i64);
    }
    match text {
        "nil" | "(nil)" => Some(0),
        _ if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn finished(arguments: &'static str, value: Option<i64>, dur: Option<i64>) -> Finished<'static> {
        Finished { arguments: arguments.as_bytes(), value, dur: dur.map(Nanos) }
    }

    #[test]
    fn lines_say_what_ltrace_prints() {
        let read = |line: &'static str| Line::read(line.as_bytes());
        let libc = |name: &'static str| Name { layer: Layer::Libc, name: name.as_bytes() };
        let system = |name: &'static str| Name { layer: Layer::Syscall, name: name.as_bytes() };
        let line = read("SYS_read(3, \"= 3) = \", 4096)   = 18 <0.000017>");
        assert_eq!(
            line,
            Line::Whole(system("read"), finished("3, \"= 3) = \", 4096", Some(18), Some(17_000)))
        );
        let line = read("read@SYS(3, nil, 1)   = -11");
        assert_eq!(line, Line::Whole(system("read"), finished("3, nil, 1", Some(-11), None)));
        let line = read("strchr(\"a = b\", '=')  = \"= b\"");
        assert_eq!(line, Line::Whole(libc("strchr"), finished("\"a = b\", '='", None, None)));
        assert_eq!(read("free(0x10)  = <void>"), Line::Whole(libc("free"), finished("0x10", None, None)));
        assert_eq!(read("t->fopen(\"x\" <unfinished ...>"), Line::Begun(libc("fopen"), b"\"x\"", false));
        assert_eq!(read("SYS_exit_group(0 <no return ...>"), Line::Begun(system("exit_group"), b"0", true));
        let line = read("<... fopen resumed> )      = 0x5626 <0.000867>");
        assert_eq!(line, Line::Resumed(libc("fopen"), finished("", Some(0x5626), Some(867_000))));
        assert_eq!(read("+++ exited (status 3) +++"), Line::Exited(3));
        assert_eq!(read("+++ killed by SIGKILL +++"), Line::Killed(b"SIGKILL"));
        assert_eq!(read("--- SIGCHLD (Child exited) ---"), Line::Signal);
        assert_eq!(read("--- Called exec() ---"), Line::Exec);
        assert_eq!(
            (read(""), read("Hello, world (1)"), read("a b(1) = 2")),
            (Line::Known("blank"), Line::Unknown, Line::Unknown)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_line_of_one_kind(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Line::read(&line);
        }

        #[test]
        fn what_is_nearly_a_line_of_ltrace_is_a_line_of_one_kind(
            line in "(SYS_|<\\.\\.\\. |\\+\\+\\+ |--- |->|read|resumed> |@SYS|\\(|\\)|=| |\"|<unfinished \\.\\.\\.>|<0\\.1>|[0-9x-]{1,3}){0,16}"
        ) {
            let _ = Line::read(line.as_bytes());
        }
    }
}
