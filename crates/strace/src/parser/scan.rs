//! Finding where a printed value ends, without looking at bytes that cannot matter.
//!
//! What strace prints nests (`{a=[1, "x)"]}`), quotes with C escapes and puts what a number refers to into angle
//! brackets. Strings are skipped with one `memchr` for the closing quote, everything else with one table look-up
//! per byte.

use iotrail_import::digits;
pub(super) use iotrail_import::trim_start;
use memchr::{memchr, memchr2, memmem};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Open,
    Close,
    Parenthesis,
    Comma,
    Quote,
    Angle,
    Slash,
}

static CLASS: [Class; 256] = {
    let mut table = [Class::Plain; 256];
    table[b'(' as usize] = Class::Open;
    table[b'[' as usize] = Class::Open;
    table[b'{' as usize] = Class::Open;
    table[b']' as usize] = Class::Close;
    table[b'}' as usize] = Class::Close;
    table[b')' as usize] = Class::Parenthesis;
    table[b',' as usize] = Class::Comma;
    table[b'"' as usize] = Class::Quote;
    table[b'<' as usize] = Class::Angle;
    table[b'/' as usize] = Class::Slash;
    table
};

/// The place behind the string whose opening quote is at `at`.
#[inline]
pub(super) fn string_end(text: &[u8], offset: usize) -> Option<usize> {
    let mut from = offset + 1;
    loop {
        let quote = from + memchr(b'"', text.get(from..)?)?;
        let escapes = text[from..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(quote + 1);
        }
        from = quote + 1;
    }
}

/// The place behind the angle brackets that open at `at`.
///
/// Paths have `<` and `>` escaped; sockets contain arrows and quoted strings; devices nest: `</dev/null<char 1:3>>`.
#[inline]
pub(super) fn angle_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at + 1) == Some(&b'/') {
        let mut depth = 1_usize;
        let mut from = at + 1;
        loop {
            let index = from + memchr2(b'>', b'<', &text[from..])?;
            depth = if text[index] == b'>' { depth - 1 } else { depth + 1 };
            if depth == 0 {
                return Some(index + 1);
            }
            from = index + 1;
        }
    }
    angle_end_of_name(text, at)
}

fn angle_end_of_name(text: &[u8], index: usize) -> Option<usize> {
    let (mut depth, mut from, mut brackets) = (0_usize, index, false);
    loop {
        match *text.get(from)? {
            b'<' => depth += 1,
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(from + 1);
                }
            }
            b'[' => brackets = true,
            b'\\' => from += 1,
            b'"' if brackets => {
                from = string_end(text, from)?;
                continue;
            }
            b'-' if brackets && text.get(from + 1) == Some(&b'>') => from += 1,
            _ => {}
        }
        from += 1;
    }
}

/// The place of the comma or parenthesis that ends the value in which `at` lies.
#[inline]
pub(super) fn value_end(text: &[u8], offset: usize) -> Option<usize> {
    let mut from = offset;
    let mut depth = 0_usize;
    loop {
        match CLASS[usize::from(*text.get(from)?)] {
            Class::Plain => from += 1,
            Class::Open => {
                depth += 1;
                from += 1;
            }
            Class::Close => {
                depth = depth.saturating_sub(1);
                from += 1;
            }
            Class::Parenthesis | Class::Comma if depth == 0 => return Some(from),
            Class::Parenthesis => {
                depth -= 1;
                from += 1;
            }
            Class::Comma => from += 1,
            Class::Quote | Class::Angle | Class::Slash => from = behind(text, from)?,
        }
    }
}

/// The place behind the string, the angle brackets, the comment or else the byte at `at`; `None` if what begins there has no end.
#[inline]
fn behind(text: &[u8], at: usize) -> Option<usize> {
    match CLASS[usize::from(*text.get(at)?)] {
        Class::Quote => string_end(text, at),
        Class::Angle => Some(behind_angle(text, at)),
        Class::Slash => behind_slash(text, at),
        _ => Some(at + 1),
    }
}

/// The places of the bytes of `text` that belong to no string, no name in angle brackets and no comment; `None` where one of these has no
/// end.
pub(super) fn structure(text: &[u8]) -> impl Iterator<Item = Option<usize>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let at = next.filter(|&at| at < text.len())?;
        next = behind(text, at);
        Some(next.map(|_| at))
    })
}

/// What stands behind `name` (which ends in `=`) if that is a field that begins at `at`.
#[inline]
pub(super) fn field<'t>(text: &'t [u8], at: usize, name: &[u8]) -> Option<&'t [u8]> {
    let value = text[at..].strip_prefix(name)?;
    let begins = at == 0 || matches!(text[at - 1], b' ' | b'{');
    begins.then_some(value)
}

/// Angle brackets hold what the value before them refers to; a shift or a comparison has none.
fn behind_angle(text: &[u8], at: usize) -> usize {
    match text.get(at + 1) {
        Some(b'<') => at + 2,
        Some(b'.') => memmem::find(&text[at..], b"...>").map_or(at + 1, |place| at + place + 4),
        _ => {
            let refers = at > 0 && (text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'/');
            if refers { angle_end(text, at).unwrap_or(at + 1) } else { at + 1 }
        }
    }
}

fn behind_slash(text: &[u8], offset: usize) -> Option<usize> {
    if text.get(offset + 1) == Some(&b'*') { comment_end(text, offset) } else { Some(offset + 1) }
}

/// The place behind the comment that opens at `at`; a quoted string in it may contain anything.
pub(super) fn comment_end(text: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 2;
    loop {
        let offset = from + memchr2(b'*', b'"', text.get(from..)?)?;
        if text[offset] == b'"' {
            from = string_end(text, offset)?;
        } else if text.get(offset + 1) == Some(&b'/') {
            return Some(offset + 2);
        } else {
            from = offset + 1;
        }
    }
}

/// `text` without spaces at its end.
#[inline]
pub(super) fn trim_end(text: &[u8]) -> &[u8] {
    let spaces = text.iter().rev().take_while(|&&byte| byte == b' ').count();
    &text[..text.len() - spaces]
}

/// The number at the start of `text` (decimal, octal with a leading 0, hexadecimal, negative) and its length.
/// What does not fit into the 64 bits of a register is none.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<(i64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (value, end) = match text.get(start..)? {
        [b'0', b'x', digits @ ..] if digits.first().is_some_and(u8::is_ascii_hexdigit) => {
            hexadecimal(digits, start + 2)?
        }
        octal @ [b'0', b'0'..=b'7', ..] => in_base::<8>(octal, start)?,
        decimal @ [b'0'..=b'9', ..] => match digits(decimal) {
            Some((value, length)) => (value, start + length),
            None => return None,
        },
        _ => return None,
    };
    match negative {
        true => Some((0_i64.checked_sub_unsigned(value)?, end)),
        false => Some((value as i64, end)),
    }
}

/// What a byte means as a hexadecimal digit; [`NO_DIGIT`], if it is none.
static HEXADECIMAL: [u8; 256] = {
    let mut table = [NO_DIGIT; 256];
    let mut digit = 0_u8;
    while digit < 16 {
        table[b"0123456789abcdef"[digit as usize] as usize] = digit;
        table[b"0123456789ABCDEF"[digit as usize] as usize] = digit;
        digit += 1;
    }
    table
};

const NO_DIGIT: u8 = u8::MAX;

/// The number of the hexadecimal digits in front, which begin at `start`, and where it ends.
fn hexadecimal(digits: &[u8], start: usize) -> Option<(u64, usize)> {
    let (mut value, mut length) = (0_u64, 0);
    for digit in digits.iter().map(|byte| HEXADECIMAL[usize::from(*byte)]) {
        if digit == NO_DIGIT {
            break;
        }
        if value >> 60 != 0 {
            return None;
        }
        value = value << 4 | u64::from(digit);
        length += 1;
    }
    Some((value, start + length))
}

/// The number of the digits in front, which begin at `start`, and where it ends.
#[inline]
fn in_base<const BASE: u32>(digits: &[u8], start: usize) -> Option<(u64, usize)> {
    let (mut value, mut length) = (0_u64, 0);
    while let Some(digit) = digits.get(length).and_then(|&byte| char::from(byte).to_digit(BASE)) {
        value = value.checked_mul(u64::from(BASE))?.checked_add(u64::from(digit))?;
        length += 1;
    }
    Some((value, start + length))
}

/// The descriptor that a register holds, of which the kernel looks at 32 bits; none if the others say something else.
#[inline]
pub(super) fn descriptor(value: i64) -> Option<i32> {
    i32::try_from(value).or_else(|_| u32::try_from(value).map(|value| value as i32)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_quote_that_is_not_escaped() {
        assert_eq!(string_end(br#""a\"b\\" rest"#, 0), Some(8));
        assert_eq!(string_end(br#""never ends\""#, 0), None);
    }

    #[test]
    fn angle_brackets_may_hold_arrows_strings_and_each_other() {
        for text in [
            &b"</etc/passwd>"[..],
            b"</dev/pts/5<char 136:5>>",
            b"<TCP:[127.0.0.1:80->127.0.0.1:5]>",
            br#"<UNIX-STREAM:[1->2,"/run/a]>\"b"]>"#,
            b"<pid:12<a-\\76>>",
            b"</tmp/ends with->",
            b"<ends->",
        ] {
            assert_eq!(angle_end(text, 0), Some(text.len()), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn values_end_at_their_own_comma() {
        assert_eq!(value_end(br#"{a=[1, ")"], b=f(2)}, 3"#, 0), Some(20));
        assert_eq!(value_end(b"1<<3|4, 5)", 0), Some(6));
        assert_eq!(value_end(b"0x8 /* a,)b */) = 0", 0), Some(14));
        assert_eq!(value_end(b"[1, 2", 0), None);
    }

    #[test]
    fn descriptors_have_32_bits() {
        assert_eq!([3, -1, -100, 0xffff_ffff].map(descriptor), [Some(3), Some(-1), Some(-100), Some(-1)]);
        assert_eq!([0x1_0000_0003, i64::MIN].map(descriptor), [None, None]);
    }

    #[test]
    fn numbers_have_three_bases() {
        assert_eq!(number(b"-100 x"), Some((-100, 4)));
        assert_eq!(number(b"0644)"), Some((0o644, 4)));
        assert_eq!(number(b"0x1f,"), Some((31, 4)));
        assert_eq!(number(b"0,"), Some((0, 1)));
        assert_eq!(number(b"18446744073709551615"), Some((-1, 20)));
        assert_eq!(number(b"-9223372036854775808"), Some((i64::MIN, 20)));
        assert_eq!(number(b"0xffffffffffffffff"), Some((-1, 18)));
        assert_eq!(number(b"0x00000000000000000001"), Some((1, 22)));
        assert_eq!(number(b"01777777777777777777777"), Some((-1, 23)));
        for beyond in [
            "-",
            "18446744073709551616",
            "-9223372036854775809",
            "0x1000000000000000a",
            "02000000000000000000000",
        ] {
            assert_eq!(number(beyond.as_bytes()), None, "{beyond}");
        }
    }
}
