//! Looks for kernel constants in flag arguments.
//!
//! Tracers hand flags over as they saw them: as symbols (`O_WRONLY|O_APPEND`), as a number, as both
//! (`0x401 /* O_WRONLY|O_APPEND */`), or within a structure (`{flags=CLONE_VM|CLONE_FILES, exit_signal=SIGCHLD}`).
//! Numbers are those of x86-64, arm64, RISC-V, POWER and s390, which agree on the constants used here.

use iotrail_model::calls::Flag;
use iotrail_model::raw::Arg;

/// A flag by name and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    name: &'static [u8],
    bits: u64,
}

macro_rules! symbols {
    ($($name:ident = $bits:expr;)*) => {
        $(pub(crate) const $name: Symbol = Symbol { name: stringify!($name).as_bytes(), bits: $bits };)*
    };
}

symbols! {
    O_APPEND = 0x400;
    FD_CLOEXEC = 1;
    CLOSE_RANGE_UNSHARE = 2;
    CLOSE_RANGE_CLOEXEC = 4;
    AT_EMPTY_PATH = 0x1000;
    MAP_ANONYMOUS = 0x20;
    MREMAP_DONTUNMAP = 4;
    CLONE_VM = 0x100;
    CLONE_FS = 0x200;
    CLONE_FILES = 0x400;
    CLONE_PARENT = 0x8000;
    CLONE_NEWNS = 0x2_0000;
    MS_REMOUNT = 0x20;
    MS_BIND = 0x1000;
    MS_MOVE = 0x2000;
    MS_UNBINDABLE = 0x2_0000;
    MS_PRIVATE = 0x4_0000;
    MS_SLAVE = 0x8_0000;
    MS_SHARED = 0x10_0000;
    CLONE_THREAD = 0x1_0000;
    RWF_APPEND = 0x10;
    RWF_NOAPPEND = 0x20;
    O_CREAT = 0x40;
    O_EXCL = 0x80;
    O_TMPFILE = 0x40_0000;
    RENAME_EXCHANGE = 2;
    RENAME_WHITEOUT = 4;
    O_DIRECTORY = 0x1_0000;
    O_WRONLY = 1;
    O_RDWR = 2;
}

/// Whether an argument has a flag, which of a structure lies in its field `flags`.
pub(crate) fn has(arg: &Arg<'_>, flag: Flag) -> bool {
    let symbol = Symbol { name: flag.name.as_bytes(), bits: flag.bits };
    match arg {
        Arg::Symbols(text) | Arg::Text(text) if text.starts_with(b"{") => {
            field(text, b"flags").is_some_and(|flags| symbol.is_in_text(flags))
        }
        arg => symbol.is_in(arg),
    }
}

/// Whether one of the `..._CLOEXEC` flags is there; `bits` is its number.
pub(crate) fn is_cloexec(text: &[u8], bits: u64) -> bool {
    match number(text) {
        Some(number) => number as u64 & bits != 0,
        None => words(text).any(|word| word.ends_with(b"CLOEXEC")),
    }
}

/// Whether the argument is the command of that name and number.
pub(crate) fn is_command(arg: Option<&Arg<'_>>, name: &[u8], value: i64) -> bool {
    match arg {
        Some(Arg::Int(number)) => *number == value,
        Some(Arg::Symbols(text) | Arg::Text(text)) => match number(text) {
            Some(number) => number == value,
            None => words(text).next() == Some(name),
        },
        _ => false,
    }
}

impl Symbol {
    /// Whether the argument holds this flag.
    pub(crate) fn is_in(self, arg: &Arg<'_>) -> bool {
        match arg {
            Arg::Int(number) => *number as u64 & self.bits != 0,
            Arg::Symbols(text) | Arg::Text(text) => self.is_in_text(text),
            _ => false,
        }
    }

    /// Whether a text of symbols or a number holds this flag.
    pub(crate) fn is_in_text(self, text: &[u8]) -> bool {
        match number(text) {
            Some(number) => number as u64 & self.bits != 0,
            None => words(text).any(|word| word == self.name),
        }
    }
}

/// The words of a short text; building a searcher would cost more than looking at each byte.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_word(*byte))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The number that `text` begins with: decimal, `0x` hexadecimal or `0` octal.
pub(crate) fn number(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
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
pub(crate) fn field<'a>(structure: &'a [u8], field: &[u8]) -> Option<&'a [u8]> {
    let start = memchr::memmem::find_iter(structure, field).find_map(|at| {
        let free = at.checked_sub(1).is_none_or(|before| !is_word(structure[before]));
        let end = at + field.len();
        (free && structure.get(end) == Some(&b'=')).then_some(end + 1)
    })?;
    let value = &structure[start..];
    let end = value.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(value.len());
    Some(&value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_as_a_word_or_a_bit() {
        assert!(O_APPEND.is_in(&Arg::Symbols(b"O_WRONLY|O_APPEND|O_CLOEXEC")));
        assert!(O_APPEND.is_in(&Arg::Symbols(b"0x401 /* O_WRONLY|O_APPEND */")));
        assert!(O_APPEND.is_in(&Arg::Int(0x401)));
        assert!(!O_APPEND.is_in(&Arg::Symbols(b"O_APPENDIX|XO_APPEND")));
        assert!(!O_APPEND.is_in(&Arg::Symbols(b"0x80000")));
        assert!(CLONE_FILES.is_in(&Arg::Text(b"{flags=CLONE_VM|CLONE_FILES, exit_signal=0}")));
        assert!(!O_APPEND.is_in(&Arg::Null));
    }

    #[test]
    fn numbers_are_read_in_every_base() {
        assert_eq!(number(b"0x80000"), Some(0x80000));
        assert_eq!(number(b"0644"), Some(0o644));
        assert_eq!(number(b"-1"), Some(-1));
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"12 /* x */"), Some(12));
        assert_eq!(number(b"O_RDONLY"), None);
        assert_eq!(number(b""), None);
    }

    #[test]
    fn fields_of_structures_are_found() {
        let how = b"{mode=0, flags=O_RDWR|O_CREAT, resolve=RESOLVE_BENEATH}";
        assert_eq!(field(how, b"flags"), Some(&b"O_RDWR|O_CREAT"[..]));
        assert_eq!(field(how, b"resolve"), Some(&b"RESOLVE_BENEATH"[..]));
        assert_eq!(field(how, b"lags"), None);
    }
}
