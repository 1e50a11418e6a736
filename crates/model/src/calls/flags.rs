//! Constants of the kernel in texts: how flags are told, by name or number, is decided here alone.
//!
//! Tracers hand flags over as they saw them: as symbols (`O_WRONLY|O_APPEND`), as a number, as both
//! (`0x401 /* O_WRONLY|O_APPEND */`), or within a structure (`{flags=CLONE_VM|CLONE_FILES, exit_signal=SIGCHLD}`).

/// A flag by name and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As strace prints it.
    pub name: &'static str,
    /// On this machine.
    pub bits: u64,
}

impl Flag {
    /// The flag of that name and number.
    #[must_use]
    pub const fn new(name: &'static str, bits: u64) -> Self {
        Self { name, bits }
    }

    /// Whether a number holds it.
    #[must_use]
    pub const fn is_in_number(self, number: u64) -> bool {
        number & self.bits != 0
    }

    /// Whether a text of symbols or a number holds it.
    #[must_use]
    pub fn is_in_text(self, text: &[u8]) -> bool {
        match number(text) {
            Some(number) => self.is_in_number(number as u64),
            None => has_word(text, self.name),
        }
    }
}

/// Whether a symbol stands in a text of symbols.
#[must_use]
pub fn has_word(text: &[u8], symbol: &str) -> bool {
    let mut rest = text;
    loop {
        let length = rest.iter().take_while(|byte| IN_WORDS[usize::from(**byte)]).count();
        let (word, behind) = rest.split_at(length);
        if word == symbol.as_bytes() {
            return true;
        }
        match behind {
            [_, behind @ ..] => rest = behind,
            [] => return false,
        }
    }
}

/// The words of a short text; building a searcher would cost more than looking at each byte.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_word(*byte)).filter(|word| !word.is_empty())
}

fn is_word(byte: u8) -> bool {
    IN_WORDS[usize::from(byte)]
}

static IN_WORDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// The number that `text` begins with: decimal, `0x` hexadecimal or `0` octal.
#[must_use]
pub fn number(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    // Symbols are far more frequent.
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    let digits = std::str::from_utf8(&text[..end]).ok()?;
    let magnitude = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()? as i64
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The value of `field` in the text of a structure: `flags` of `{flags=A|B, mode=0}` is `A|B`.
#[must_use]
pub fn field<'a>(structure: &'a [u8], field: &[u8]) -> Option<&'a [u8]> {
    // A searcher for the field would cost more than these texts are long.
    let start = memchr::memchr_iter(b'=', structure).find_map(|at| {
        let before = structure[..at].strip_suffix(field)?;
        let free = before.last().is_none_or(|byte| !is_word(*byte));
        free.then_some(at + 1)
    })?;
    let value = &structure[start..];
    let end = value.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(value.len());
    Some(&value[..end])
}

/// The flags in a text that is theirs alone, or that of a structure which has them in its field `flags`.
#[must_use]
pub fn in_structure(text: &[u8]) -> &[u8] {
    if text.starts_with(b"{") { field(text, b"flags").unwrap_or_default() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_as_a_word_or_a_bit() {
        let append = Flag::new("O_APPEND", 0x400);
        assert!(append.is_in_text(b"O_WRONLY|O_APPEND|O_CLOEXEC"));
        assert!(append.is_in_text(b"0x401 /* O_WRONLY|O_APPEND */"));
        assert!(append.is_in_number(0x401));
        assert!(!append.is_in_text(b"O_APPENDIX|XO_APPEND"));
        assert!(!append.is_in_text(b"0x80000"));
    }

    #[test]
    fn numbers_are_read_in_every_base() {
        assert_eq!(number(b"0x80000"), Some(0x80000));
        assert_eq!(number(b"0644"), Some(0o644));
        assert_eq!(number(b"-1"), Some(-1));
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"12 /* x */"), Some(12));
        assert_eq!(number(b"O_RDONLY"), None);
        assert_eq!((number(b""), number(b"-"), number(b"-x1"), number(b"+1")), (None, None, None, None));
    }

    #[test]
    fn fields_of_structures_are_found() {
        let how = b"{mode=0, flags=O_RDWR|O_CREAT, resolve=RESOLVE_BENEATH}";
        assert_eq!(field(how, b"flags"), Some(&b"O_RDWR|O_CREAT"[..]));
        assert_eq!(field(how, b"resolve"), Some(&b"RESOLVE_BENEATH"[..]));
        assert_eq!(field(how, b"lags"), None);
        assert_eq!(field(b"{st_mode=flags, flags=={}, x.flags=1}", b"flags"), Some(&b"={"[..]));
        assert_eq!(field(b"", b"flags"), None);
        assert_eq!(in_structure(how), b"O_RDWR|O_CREAT");
        assert_eq!(in_structure(b"O_RDONLY"), b"O_RDONLY");
    }
}
