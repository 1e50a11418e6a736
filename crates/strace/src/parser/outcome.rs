//! What stands behind the arguments: the return value, what it refers to, notes, and the duration.

use super::arguments::target;
use super::escape::Scratch;
use super::scan::{number, trim_end, trim_start};
use iotrail_import::duration;
use iotrail_model::Nanos;
use iotrail_model::raw::Return;
use memchr::{memchr, memmem, memrchr};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    pub(super) ret: Return<'a>,
    pub(super) dur: Option<Nanos>,
    /// A signal interrupted the call and the kernel restarts it.
    pub(super) restarts: Option<Restart>,
}

/// When the kernel restarts a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// Whatever a handler says (`ERESTARTNOINTR`).
    Always,
    /// Unless a handler says otherwise.
    Perhaps,
}

impl Restart {
    /// What an error says of it.
    fn of(error: &[u8]) -> Option<Self> {
        match error.strip_prefix(b"ERESTART")? {
            rest if rest.starts_with(b"NOINTR") => Some(Self::Always),
            _ => Some(Self::Perhaps),
        }
    }
}

impl<'a> Outcome<'a> {
    /// Reads `    = 3</etc/passwd> (INJECTED) <0.000012>`; `None` if it is not that.
    #[inline]
    pub(super) fn read(text: &'a [u8], scratch: &mut Scratch<'a>) -> Option<Self> {
        let text = trim_start(text).strip_prefix(b"=")?;
        let text = trim_end(trim_start(text));
        if let Some(rest) = text.strip_prefix(b"?") {
            return Self::unknown(rest);
        }
        let (value, length) = number(text)?;
        let (target, end) = match target(text, length, scratch) {
            Some((target, end)) => (target, end),
            None => (None, length),
        };
        let rest = &text[end..];
        if !matches!(rest.first(), None | Some(b' ')) {
            return None;
        }
        let (notes, dur) = split_duration(trim_start(rest))?;
        let error = if value == -1 { error_name(notes) } else { None };
        if is_injected(notes) {
            return Some(Self { ret: Return::Injected(value, error), dur, restarts: None });
        }
        Some(Self {
            ret: error.map_or(Return::Value(value, target), Return::Failed),
            dur,
            restarts: error.and_then(Restart::of),
        })
    }

    /// `= ?`, `= ? <unavailable>`, `= ? ERESTARTSYS (To be restarted if SA_RESTART is set)`
    fn unknown(rest: &[u8]) -> Option<Self> {
        if !matches!(rest.first(), None | Some(b' ')) {
            return None;
        }
        let rest = trim_start(rest);
        let rest = rest.strip_prefix(b"<unavailable>").map_or(rest, trim_start);
        let (notes, dur) = split_duration(rest)?;
        Some(Self { ret: Return::Unseen, dur, restarts: Restart::of(notes) })
    }
}

/// Notes and the duration behind them. Behind a value stand only an error, notes in brackets, and a duration.
#[inline]
fn split_duration(text: &[u8]) -> Option<(&[u8], Option<Nanos>)> {
    let (notes, dur) = match text.strip_suffix(b">") {
        Some(inner) => {
            let open = memrchr(b'<', inner)?;
            (&text[..open], Some(Nanos(duration(&inner[open + 1..])?)))
        }
        None => (text, None),
    };
    let notes = trim_end(notes);
    let known = match notes.first() {
        None => true,
        Some(b'(' | b'[' | b'/' | b'A'..=b'Z') => {
            matches!(notes.last(), Some(b')' | b']' | b'/')) || is_symbol(notes)
        }
        Some(_) => false,
    };
    known.then_some((notes, dur))
}

/// The name in `ENOENT (No such file or directory)`, or what is printed for an error without a name.
fn error_name(notes: &[u8]) -> Option<&[u8]> {
    if let Some(number) = notes.strip_prefix(b"(errno ") {
        return Some(&notes[1..notes.len() - number.len() + number.iter().position(|&byte| byte == b')')?]);
    }
    let length = notes.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    (length > 1 && notes[0] == b'E').then(|| &notes[..length])
}

/// Whether strace returned something in place of the call (`-e inject=`), which was not made. Changed arguments
/// (`INJECTED: args`) and a delay leave a call what it is.
fn is_injected(notes: &[u8]) -> bool {
    notes.last() == Some(&b')')
        // Messages of errors have hardly a J, and none is cheaper to see than the marks.
        && memchr(b'J', notes).is_some()
        && [&b"(INJECTED)"[..], b"retval)"].iter().any(|mark| memmem::find(notes, mark).is_some())
}

fn is_symbol(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::raw::Target;

    fn read(text: &str) -> Option<(Return<'static>, Option<i64>, Option<Restart>)> {
        let text: &'static [u8] = Box::leak(text.as_bytes().to_vec().into_boxed_slice());
        let space: &'static mut [u8] = Box::leak(vec![0; text.len()].into_boxed_slice());
        Outcome::read(text, &mut Scratch::new(space))
            .map(|outcome| (outcome.ret, outcome.dur.map(|dur| dur.0), outcome.restarts))
    }

    #[test]
    fn every_form_of_return_is_read() {
        let value = |value| Return::Value(value, None);
        let to = |value, name: &'static str, deleted| {
            Return::Value(value, Some(Target { name: name.as_bytes(), deleted }))
        };
        for (text, ret, dur) in [
            (" = 0", value(0), None),
            ("          = 5 <0.000012>", value(5), Some(12_000)),
            (" = 5 <1>", value(5), Some(1_000_000_000)),
            (" = 0x7f0000001000 <0.1>", value(0x7f00_0000_1000), Some(100_000_000)),
            (" = 022", value(0o22), None),
            (" = -1 ENOENT (No such file or directory) <0.5>", Return::Failed(b"ENOENT"), Some(500_000_000)),
            (
                " = -1 ENOSYS (Function not implemented) (INJECTED) <0.5>",
                Return::Injected(-1, Some(b"ENOSYS")),
                Some(500_000_000),
            ),
            (" = -1 (errno 530)", Return::Failed(b"errno 530"), None),
            (" = -1", value(-1), None),
            (" = ?", Return::Unseen, None),
            (" = ? <unavailable>", Return::Unseen, None),
            (" = ? <0.000012>", Return::Unseen, Some(12_000)),
            (" = 3</etc/passwd> <0.000012>", to(3, "/etc/passwd", false), Some(12_000)),
            (" = 3</tmp/a\\76b>(deleted) (INJECTED)", Return::Injected(3, None), None),
            (" = 3</tmp/a (deleted)>", to(3, "/tmp/a", true), None),
            (
                " = 3</etc/passwd> [system_u:object_r:passwd_file_t:s0] <0.1>",
                to(3, "/etc/passwd", false),
                Some(100_000_000),
            ),
            (" = 1 ([{fd=3, revents=POLLIN}], left {tv_sec=1}) <0.1>", value(1), Some(100_000_000)),
            (" = 32768 (flags O_RDONLY|O_LARGEFILE)", value(32768), None),
            (" = 0 (Timeout)", value(0), None),
            (" = 3</tmp/a\\76b>(deleted)", to(3, "/tmp/a>b", true), None),
            (" = 5 (INJECTED: args, retval)", Return::Injected(5, None), None),
            (" = 50 (INJECTED) (DELAYED) <0.1>", Return::Injected(50, None), Some(100_000_000)),
            (" = 5 (INJECTED: args)", value(5), None),
            (" = 5 (DELAYED) <0.1>", value(5), Some(100_000_000)),
            (" = 7 /* 9 in strace's PID NS */ <0.1>", value(7), Some(100_000_000)),
        ] {
            assert_eq!(read(text), Some((ret, dur, None)), "{text}");
        }
    }

    #[test]
    fn restarted_calls_are_told_apart() {
        assert_eq!(
            read(" = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.5>"),
            Some((Return::Unseen, Some(500_000_000), Some(Restart::Perhaps)))
        );
        assert_eq!(
            read(" = ? ERESTART_RESTARTBLOCK (Interrupted by signal)"),
            Some((Return::Unseen, None, Some(Restart::Perhaps)))
        );
        assert_eq!(
            read(" = ? ERESTARTNOINTR (To be restarted)"),
            Some((Return::Unseen, None, Some(Restart::Always)))
        );
    }

    #[test]
    fn what_follows_a_value_must_be_known() {
        for text in ["", " = ", " = x", " = 5hello", " = 5 hello", " = 5 <0.1>hello", " = ?!", " 5"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
