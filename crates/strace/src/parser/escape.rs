//! Undoing the C escapes in which strace prints bytes.

use memchr::memchr;

/// How strace marks that something is missing.
const CUT: &[u8] = b"...";

/// Space for what is printed with escapes. No unescaped text is longer than its escaped form, so space as long as a
/// line serves all its strings; pieces are cut off the front and nothing is ever moved.
#[derive(Debug)]
pub(super) struct Scratch<'a> {
    free: &'a mut [u8],
}

impl<'a> Scratch<'a> {
    /// Space of at least the length of the text.
    pub(super) fn new(free: &'a mut [u8]) -> Self {
        Self { free }
    }

    /// The bytes that `text` stands for; `text` itself if it has no escapes.
    #[inline]
    pub(super) fn unescape(&mut self, text: &'a [u8]) -> &'a [u8] {
        if memchr(b'\\', text).is_none() {
            return text;
        }
        let length = unescape_into(text, self.free);
        self.cut(length)
    }

    /// The strings in a printed array of strings, separated by NUL, and whether these are all. What strace left out is
    /// `...` here as there: at the end of a string, or in place of the strings behind.
    pub(super) fn strings(&mut self, array: &'a [u8]) -> (&'a [u8], bool) {
        let (mut from, mut length, mut complete) = (1, 0, true);
        loop {
            from += array[from..].iter().take_while(|byte| b" ,".contains(byte)).count();
            if array[from..].starts_with(b"]") {
                return (self.cut(length), complete);
            }
            if length > 0 || from > 1 {
                self.free[length] = 0;
                length += 1;
            }
            let Some(end) = string(array, from) else {
                length += self.mark(length);
                return (self.cut(length), false);
            };
            length += unescape_into(&array[from + 1..end - 1], &mut self.free[length..]);
            from = end;
            if array[from..].starts_with(CUT) {
                complete = false;
                length += self.mark(length);
                from += CUT.len();
            }
        }
    }

    /// Says that something is missing. There is room: the name of the call stands in front of the array.
    fn mark(&mut self, at: usize) -> usize {
        let room = CUT.len().min(self.free.len() - at);
        self.free[at..at + room].copy_from_slice(&CUT[..room]);
        room
    }

    /// The symbols in the comments of a value printed as `0x41 /* A|B */|0x100`, joined by `|`; numbers stay where there is no comment.
    pub(super) fn symbols(&mut self, value: &'a [u8]) -> &'a [u8] {
        let (mut from, mut length) = (0, 0);
        while from < value.len() {
            let next = memchr(b'/', &value[from..]).map(|place| from + place);
            let comment = next.and_then(|at| Some((at, super::scan::comment_end(value, at)?)));
            let (number, symbols, end) = match comment {
                Some((at, end)) => (&value[from..at], Some(&value[at + 2..end - 2]), end),
                None => (&value[from..], None, value.len()),
            };
            length += self.append(length, number, symbols);
            from = end;
        }
        self.cut(length)
    }

    /// Appends `a|b|12 ` with its last member replaced by what the comment says.
    fn append(&mut self, at: usize, numbers: &[u8], symbols: Option<&[u8]>) -> usize {
        let numbers = super::scan::trim_end(numbers);
        let keep = match symbols {
            Some(_) => numbers.iter().rposition(|&byte| byte == b'|').map_or(0, |place| place + 1),
            None => numbers.len(),
        };
        let symbols = symbols.map_or(&b""[..], |text| super::scan::trim_end(super::scan::trim_start(text)));
        self.free[at..at + keep].copy_from_slice(&numbers[..keep]);
        self.free[at + keep..at + keep + symbols.len()].copy_from_slice(symbols);
        keep + symbols.len()
    }

    fn cut(&mut self, length: usize) -> &'a [u8] {
        let (piece, rest) = std::mem::take(&mut self.free).split_at_mut(length);
        self.free = rest;
        piece
    }
}

/// The place behind the string at `at`, if there is one.
fn string(text: &[u8], offset: usize) -> Option<usize> {
    (text.get(offset) == Some(&b'"')).then(|| super::scan::string_end(text, offset)).flatten()
}

/// Writes the bytes that `text` stands for to `out`, which is at least as long, and returns how many these are.
fn unescape_into(text: &[u8], out: &mut [u8]) -> usize {
    let (mut from, mut length) = (0, 0);
    while let Some(escape) = memchr(b'\\', &text[from..]).map(|place| from + place) {
        let run = escape - from;
        out[length..length + run].copy_from_slice(&text[from..escape]);
        let (byte, taken) = escaped(&text[escape + 1..]);
        out[length + run] = byte;
        length += run + 1;
        from = (escape + 1 + taken).min(text.len());
    }
    let rest = &text[from..];
    out[length..length + rest.len()].copy_from_slice(rest);
    length + rest.len()
}

/// The byte that the escape after a backslash means, and the length of the escape.
fn escaped(rest: &[u8]) -> (u8, usize) {
    let digit = |index: usize, base| {
        rest.get(index).and_then(|&byte| char::from(byte).to_digit(base)).map(|digit| digit as u8)
    };
    match rest.first() {
        None => (b'\\', 0),
        Some(b'n') => (b'\n', 1),
        Some(b't') => (b'\t', 1),
        Some(b'r') => (b'\r', 1),
        Some(b'v') => (0x0b, 1),
        Some(b'f') => (0x0c, 1),
        Some(b'x') => match (digit(1, 16), digit(2, 16)) {
            (Some(high), Some(low)) => (high << 4 | low, 3),
            (Some(low), None) => (low, 2),
            _ => (b'x', 1),
        },
        Some(b'0'..=b'7') => {
            let mut value = 0_u8;
            let mut length = 0;
            while let (true, Some(next)) = (length < 3, digit(length, 8)) {
                value = value.wrapping_mul(8).wrapping_add(next);
                length += 1;
            }
            (value, length)
        }
        Some(&other) => (other, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescape(text: &[u8]) -> Vec<u8> {
        let mut space = vec![0; text.len()];
        Scratch::new(&mut space).unescape(text).to_vec()
    }

    #[test]
    fn c_escapes_stand_for_bytes() {
        assert_eq!(unescape(br#"a\n\t\r\v\f\"\\b"#), b"a\n\t\r\x0b\x0c\"\\b");
        assert_eq!(unescape(br"\0\1234\x41\xff\76\\x41"), b"\0\x534A\xff>\\x41");
        assert_eq!(unescape(br"cut\"), b"cut\\");
    }

    #[test]
    fn arrays_become_strings_separated_by_nul() {
        let strings = |array: &[u8]| {
            let mut space = vec![0; "execve(".len() + array.len()];
            let (bytes, complete) = Scratch::new(&mut space).strings(array);
            (String::from_utf8(bytes.to_vec()).unwrap(), complete)
        };
        let whole = |text: &str| (text.to_owned(), true);
        let cut = |text: &str| (text.to_owned(), false);
        assert_eq!(strings(br#"["sh", "-c", "a\nb"]"#), whole("sh\0-c\0a\nb"));
        assert_eq!(strings(br#"["", "a, ]", "..."]"#), whole("\0a, ]\0..."));
        assert_eq!(strings(b"[]"), whole(""));
        assert_eq!(strings(br#"["rm", "/long/na"..., "b"]"#), cut("rm\0/long/na...\0b"));
        assert_eq!(strings(br#"["rm", "a", ...]"#), cut("rm\0a\0..."));
        assert_eq!(strings(b"[...]"), cut("..."), "`-s 0`");
        assert_eq!(strings(br#"["rm", 0x7ffe0, "b"]"#), cut("rm\0..."), "a string that cannot be read");
        assert_eq!(strings(br#"["rm", "a"#), cut("rm\0..."), "the line ends here");
        assert_eq!(strings(br#"["rm""#), cut("rm\0..."), "the line ends here");
        assert_eq!(strings(b"["), cut("..."));
    }

    #[test]
    fn comments_replace_the_numbers_before_them() {
        let value = b"0x1200000 /* CLONE_A|CLONE_B */|17 /* SIGCHLD */|0x100";
        let mut space = vec![0; value.len()];
        assert_eq!(Scratch::new(&mut space).symbols(value), b"CLONE_A|CLONE_B|SIGCHLD|0x100");
    }
}
