//! The arguments of a call as printed, in the order of the kernel's signature.
//!
//! The call table says what each argument is, so that buffers are skipped and paths are unescaped; where it says
//! nothing, the shape decides.

use super::escape::Scratch;
use super::scan::{
    self, angle_end, comment_end, number, string_end, structure, trim_end, trim_start, value_end,
};
use iotrail_model::calls::ArgKind;
use iotrail_model::raw::{Arg, Target};
use memchr::{memchr, memmem};

/// No system call has more than six arguments; strace prints a few in two.
const MAX_ARGUMENTS: usize = 10;
/// `AT_FDCWD` as a number.
const AT_FDCWD: i64 = -100;

/// The arguments of one call.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    items: [Arg<'a>; MAX_ARGUMENTS],
    len: usize,
    /// Whether strace cut one that is kept.
    pub(super) cut: bool,
    /// The place behind the closing parenthesis, if it was seen.
    pub(super) end: Option<usize>,
}

impl<'a> Arguments<'a> {
    /// Reads arguments from `at` on, which lies behind the opening parenthesis, behind those that are there.
    #[inline]
    pub(super) fn read(
        &mut self,
        text: &'a [u8],
        index: usize,
        kinds: &[ArgKind],
        scratch: &mut Scratch<'a>,
    ) {
        let mut index = index;
        loop {
            while text.get(index) == Some(&b' ') {
                index += 1;
            }
            match text.get(index) {
                None => return,
                Some(b')') => {
                    self.end = Some(index + 1);
                    return;
                }
                Some(b',') => {
                    // `-X raw` prints nothing where no flag of a group is set.
                    if kinds.get(self.len) == Some(&ArgKind::Flags) {
                        self.push(Arg::Int(0));
                    }
                    index += 1;
                }
                Some(_) => {
                    index = behind_name(text, index);
                    let kind = kinds.get(self.len).copied().unwrap_or(ArgKind::Other);
                    let Some((arg, end)) = argument(text, index, kind, scratch) else {
                        self.rest(text, index, kind, scratch);
                        return;
                    };
                    self.push(arg);
                    index = end;
                    match text[index] {
                        b')' => {
                            self.end = Some(index + 1);
                            return;
                        }
                        _ => index += 1,
                    }
                }
            }
        }
    }

    /// Keeps the last argument of a call that was cut, if all of it is there.
    fn rest(&mut self, text: &'a [u8], at: usize, kind: ArgKind, scratch: &mut Scratch<'a>) {
        let value = trim_end(&text[at..]);
        if !value.is_empty() && (value[0] != b'"' || string_end(value, 0).is_some()) {
            self.push(interpret(value, kind, scratch));
        }
    }

    fn push(&mut self, arg: Arg<'a>) {
        self.cut |= matches!(arg, Arg::Path { complete: false, .. } | Arg::Strings { complete: false, .. });
        if let Some(place) = self.items.get_mut(self.len) {
            *place = arg;
            self.len += 1;
        }
    }

    /// The arguments seen.
    pub(super) fn as_slice(&self) -> &[Arg<'a>] {
        &self.items[..self.len]
    }
}

/// The place behind `name=` at `at`, or `at`. Names are lower case, symbols are not.
#[inline]
fn behind_name(text: &[u8], at: usize) -> usize {
    if !text[at].is_ascii_lowercase() {
        return at;
    }
    let name = text[at..].iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    if text.get(at + name) == Some(&b'=') && text.len() > at + name + 1 { at + name + 1 } else { at }
}

/// The argument at `at` and the place of the comma or parenthesis behind it.
#[inline]
fn argument<'a>(
    text: &'a [u8],
    at: usize,
    kind: ArgKind,
    scratch: &mut Scratch<'a>,
) -> Option<(Arg<'a>, usize)> {
    if text[at] == b'"' && matches!(kind, ArgKind::Buffer | ArgKind::Other) {
        let end = value_end(text, string_end(text, at)?)?;
        return Some((Arg::Opaque, end));
    }
    if let Some((value, length)) = plain_number(&text[at..]) {
        return Some((of_number(value, kind), at + length));
    }
    let end = value_end(text, at)?;
    Some((interpret(&text[at..end], kind, scratch), end))
}

/// A number with nothing beside it, the most frequent argument.
#[inline]
fn plain_number(text: &[u8]) -> Option<(i64, usize)> {
    let (value, length) = number(text)?;
    matches!(text.get(length), Some(b',' | b')')).then_some((value, length))
}

#[inline]
fn of_number<'a>(value: i64, kind: ArgKind) -> Arg<'a> {
    match kind {
        ArgKind::Fd | ArgKind::DirFd | ArgKind::Fd2 => of_descriptor(value, kind, None),
        ArgKind::Path
        | ArgKind::PathOut
        | ArgKind::LinkTarget
        | ArgKind::Name
        | ArgKind::Buffer
        | ArgKind::Vector
        | ArgKind::Message
        | ArgKind::Messages
        | ArgKind::FdPair
        | ArgKind::Strings
        | ArgKind::Struct => Arg::Opaque,
        _ => Arg::Int(value),
    }
}

/// What a printed value is.
fn interpret<'a>(value: &'a [u8], kind: ArgKind, scratch: &mut Scratch<'a>) -> Arg<'a> {
    let value = trim_end(value);
    match value.first() {
        Some(b'"') => of_string(value, kind, scratch),
        Some(b'0'..=b'9' | b'-') => of_decorated_number(value, kind, scratch),
        Some(b'|') if kind == ArgKind::Flags => union(value).map_or(Arg::Text(value), Arg::Int),
        Some(b'N') if is_word(value, b"NULL") => Arg::Null,
        Some(b'A') if value.starts_with(b"AT_FDCWD") => {
            Arg::Cwd(target(value, b"AT_FDCWD".len(), scratch).and_then(|(target, _)| target))
        }
        Some(b'[' | b'{' | b'~') => of_structure(value, kind, scratch),
        Some(b'A'..=b'Z' | b'_') => Arg::Symbols(value),
        _ => Arg::Text(value),
    }
}

fn is_word(value: &[u8], word: &[u8]) -> bool {
    value.strip_prefix(word).is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'=')))
}

fn of_string<'a>(value: &'a [u8], kind: ArgKind, scratch: &mut Scratch<'a>) -> Arg<'a> {
    match (kind, string_end(value, 0)) {
        (ArgKind::Path | ArgKind::PathOut | ArgKind::LinkTarget | ArgKind::Name, Some(end)) => Arg::Path {
            bytes: scratch.unescape(&value[1..end - 1]),
            complete: !value[end..].starts_with(b"..."),
        },
        (ArgKind::Flags | ArgKind::Command | ArgKind::Struct, _) => Arg::Text(value),
        _ => Arg::Opaque,
    }
}

/// A number with what it refers to, a comment, or another number behind it.
fn of_decorated_number<'a>(value: &'a [u8], kind: ArgKind, scratch: &mut Scratch<'a>) -> Arg<'a> {
    let Some((number, length)) = number(value) else { return Arg::Text(value) };
    let rest = &value[length..];
    let comment = trim_start(rest).starts_with(b"/*");
    match kind {
        ArgKind::Flags | ArgKind::Command if rest.starts_with(b"|") || comment => {
            of_flag_numbers(value, scratch)
        }
        ArgKind::Fd | ArgKind::DirFd | ArgKind::Fd2 => descriptor(value, number, length, kind, scratch),
        ArgKind::Other if rest.starts_with(b"<") => descriptor(value, number, length, kind, scratch),
        _ => of_number(number, kind),
    }
}

/// Numbers without symbols are one number: `0x400|17`, `0x10 /* O_??? */`.
fn of_flag_numbers<'a>(value: &'a [u8], scratch: &mut Scratch<'a>) -> Arg<'a> {
    let has_symbols = value.contains(&b'/') && memmem::find(value, b"???").is_none();
    match union(value).filter(|_| !has_symbols) {
        Some(number) => Arg::Int(number),
        None => Arg::Symbols(scratch.symbols(value)),
    }
}

/// All bits of `0x400 /* CLONE_FILES */|17`; strace prints `|0x900` where a group before has none. `None` if there are not only numbers.
fn union(value: &[u8]) -> Option<i64> {
    let (mut rest, mut bits) = (value.strip_prefix(b"|").unwrap_or(value), 0);
    loop {
        let (number, length) = number(rest)?;
        bits |= number;
        rest = trim_start(&rest[length..]);
        if rest.starts_with(b"/*") {
            rest = &rest[comment_end(rest, 0)?..];
        }
        match rest {
            [] => return Some(bits),
            [b'|', next @ ..] => rest = next,
            _ => return None,
        }
    }
}

fn descriptor<'a>(
    value: &'a [u8],
    number: i64,
    length: usize,
    kind: ArgKind,
    scratch: &mut Scratch<'a>,
) -> Arg<'a> {
    let rest = &value[length..];
    let spaces = rest.len() - trim_start(rest).len();
    let angle = if rest[spaces..].starts_with(b"/*") {
        comment_end(value, length + spaces).unwrap_or(length)
    } else {
        length
    };
    let target = target(value, angle, scratch).and_then(|(target, _)| target);
    of_descriptor(number, kind, target)
}

#[inline]
fn of_descriptor<'a>(number: i64, kind: ArgKind, target: Option<Target<'a>>) -> Arg<'a> {
    match scan::descriptor(number) {
        Some(fd) if kind == ArgKind::DirFd && fd == AT_FDCWD as i32 => Arg::Cwd(target),
        Some(fd) => Arg::Fd(fd, target),
        None => Arg::Opaque,
    }
}

/// What the angle brackets at `at` say, nothing if they are empty, and the place behind them.
#[inline]
pub(super) fn target<'a>(
    text: &'a [u8],
    offset: usize,
    scratch: &mut Scratch<'a>,
) -> Option<(Option<Target<'a>>, usize)> {
    if text.get(offset) != Some(&b'<') {
        return None;
    }
    let end = angle_end(text, offset)?;
    let inner = &text[offset + 1..end - 1];
    if let Some(rest) = text[end..].strip_prefix(b"(deleted)") {
        let name = name(inner, scratch);
        return Some((named(name, true), text.len() - rest.len()));
    }
    let (inner, deleted) = match inner.strip_suffix(b" (deleted)") {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    Some((named(name(inner, scratch), deleted), end))
}

fn named(name: &[u8], deleted: bool) -> Option<Target<'_>> {
    (!name.is_empty()).then_some(Target { name, deleted })
}

/// A path is unescaped and loses its device numbers (`<char 136:5>`); any other name stays as it is.
#[inline]
fn name<'a>(inner: &'a [u8], scratch: &mut Scratch<'a>) -> &'a [u8] {
    match inner.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z') => inner,
        _ => scratch.unescape(memchr(b'<', inner).map_or(inner, |nested| &inner[..nested])),
    }
}

fn of_structure<'a>(value: &'a [u8], kind: ArgKind, scratch: &mut Scratch<'a>) -> Arg<'a> {
    match kind {
        ArgKind::Vector | ArgKind::Message => sum_of(b"iov_len=", value).map_or(Arg::Opaque, Arg::Length),
        ArgKind::Messages => sum_of(b"msg_len=", value).map_or(Arg::Opaque, Arg::Length),
        ArgKind::FdPair => pair(value, scratch).map_or(Arg::Text(value), Arg::FdPair),
        ArgKind::Offset | ArgKind::Offset2 | ArgKind::Position => {
            value.get(1..).and_then(number).map_or(Arg::Text(value), |(number, _)| Arg::Int(number))
        }
        ArgKind::Strings => {
            let (bytes, complete) = scratch.strings(value);
            Arg::Strings { bytes, complete }
        }
        ArgKind::Buffer => Arg::Opaque,
        _ => Arg::Text(value),
    }
}

/// `[3<pipe:[7]>, 4<pipe:[7]>]`
fn pair<'a>(value: &'a [u8], scratch: &mut Scratch<'a>) -> Option<[(i32, Option<Target<'a>>); 2]> {
    let (first, at) = pair_member(value, 1, scratch)?;
    let comma = value_end(value, at)?;
    let spaces = value[comma + 1..].iter().take_while(|&&byte| byte == b' ').count();
    let (second, _) = pair_member(value, comma + 1 + spaces, scratch)?;
    Some([first, second])
}

fn pair_member<'a>(
    value: &'a [u8],
    at: usize,
    scratch: &mut Scratch<'a>,
) -> Option<((i32, Option<Target<'a>>), usize)> {
    let (number, length) = number(value.get(at..)?)?;
    let fd = scan::descriptor(number)?;
    match target(value, at + length, scratch) {
        Some((target, end)) => Some(((fd, target), end)),
        None => Some(((fd, None), at + length)),
    }
}

/// Sum of a field of the members of a vector; `None` if not all of it was printed.
fn sum_of(field: &[u8], value: &[u8]) -> Option<u64> {
    let (mut sum, mut members) = (0_u64, 0_usize);
    for at in structure(value) {
        let at = at?;
        if let Some(length) = scan::field(value, at, field) {
            sum = sum.saturating_add(number(length)?.0 as u64);
            members += 1;
        } else if value[at..].starts_with(b"...]") && value[..at].ends_with(b"}, ") {
            return None;
        }
    }
    (members > 0 || value == b"[]").then_some(sum)
}
