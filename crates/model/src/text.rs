//! Bytes as text, without losing any and without letting any take over a terminal.
//!
//! Paths are arbitrary bytes, tables hold UTF-8. The text form writes each byte that is not part of valid UTF-8 as
//! `\xHH`, and a backslash that would read as such an escape as `\x5c`. It is injective and [`text_to_path`] undoes it;
//! a path of valid UTF-8 without such a sequence is its own text form.

use bstr::ByteSlice;
use std::borrow::Cow;
use std::fmt::Write;

/// The text form of a path.
#[must_use]
pub fn path_to_text(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if !path.contains(&b'\\') || !has_escape(path) => Cow::Borrowed(text),
        _ => Cow::Owned(escape_bytes(path)),
    }
}

/// The path whose text form is `text`.
#[must_use]
pub fn text_to_path(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !has_escape(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut path = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        match escape_at(rest) {
            Some(byte) => {
                path.push(byte);
                rest = &rest[4..];
            }
            None => {
                path.push(first);
                rest = &rest[1..];
            }
        }
    }
    Cow::Owned(path)
}

fn escape_bytes(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len() + 16);
    for (start, end, character) in path.char_indices() {
        let source = &path[start..end];
        if source == b"\\" && escape_at(&path[start..]).is_some() {
            text.push_str("\\x5c");
        } else if character == char::REPLACEMENT_CHARACTER && source != "\u{fffd}".as_bytes() {
            source.iter().for_each(|byte| push_hex(&mut text, *byte));
        } else {
            text.push(character);
        }
    }
    text
}

fn push_hex(text: &mut String, byte: u8) {
    text.push_str("\\x");
    for digit in [byte >> 4, byte & 15] {
        text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
    }
}

fn has_escape(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', bytes).any(|at| escape_at(&bytes[at..]).is_some())
}

fn escape_at(bytes: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    match bytes {
        [b'\\', b'x', high, low, ..] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    }
}

/// `text` with everything shown as an escape that could move a cursor, change a colour, reverse a line or hide
/// ([`is_invisible`]).
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            c if is_invisible(c) => {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{{{:x}}}", c as u32);
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Whether a character acts on what is shown instead of being seen: control characters, and those that Unicode 16 calls
/// formats (Cf), separators of lines (Zl, Zp), ignorable by default (directions, joiners, tags, selectors of variants,
/// fillers) or no characters.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    !matches!(character, ' '..='~') && (character.is_control() || is_format(character) || is_none(character))
}

const fn is_none(character: char) -> bool {
    character as u32 & 0xfffe == 0xfffe || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

#[rustfmt::skip]
const fn is_format(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}'
        | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}'
        | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// `text` cut in the middle to at most `limit` characters, an ellipsis in place of the rest; the end, where file names
/// differ, keeps the larger share.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= limit || limit < 5 {
        return Cow::Borrowed(text);
    }
    let head = (limit - 1) * 2 / 5;
    let tail = limit - 1 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    Cow::Owned(format!("{start}…{end}"))
}

/// A name from a trace, fit to be seen.
#[must_use]
pub fn shown(name: &str, limit: usize) -> String {
    if name.is_empty() {
        return "(no name)".to_owned();
    }
    shorten(&printable(name), limit).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_paths_are_their_own_text() {
        assert_eq!(path_to_text("/tmp/a b\\c/é".as_bytes()), "/tmp/a b\\c/é");
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        assert_eq!(path_to_text(b"/tmp/\xff\xc3"), "/tmp/\\xff\\xc3");
        assert_eq!(path_to_text(b"/tmp/\\xff"), "/tmp/\\x5cxff");
    }

    #[test]
    fn terminal_controls_are_shown_not_obeyed() {
        assert_eq!(printable("a\x1b[31m\u{202e}b\nc"), "a\\u{1b}[31m\\u{202e}b\\nc");
    }

    #[test]
    fn characters_that_nobody_sees_are_shown() {
        let hidden = "\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180e}\u{200b}\u{200d}\u{202e}\u{2060}\u{2066}\u{206f}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\u{e007f}\u{e01ef}\u{2028}\u{85}\u{fffe}\u{ffff}\u{fdd0}\u{1fffe}";
        for character in hidden.chars() {
            let shown = format!("a\\u{{{:x}}}b", u32::from(character));
            assert_eq!(printable(&format!("a{character}b")), shown);
        }
        let seen = " ~é日\u{a0}\u{300}\u{3000}\u{fffd}😀";
        assert_eq!(printable(seen), seen);
    }

    #[test]
    fn long_paths_lose_their_middle() {
        assert_eq!(shorten("/scratch/project/run/output.dat", 17), "/scrat…output.dat");
        assert_eq!(shorten("/short", 17), "/short");
    }

    proptest! {
        #[test]
        fn text_form_round_trips(path in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'a')], 0..40)) {
            let text = path_to_text(&path).into_owned();
            prop_assert_eq!(text_to_path(&text).into_owned(), path);
        }
    }
}
