//! Kernel constants in the arguments of raw calls; how flags are told is said in `model::calls::flags`.
//!
//! Numbers are those of x86-64, arm64, RISC-V, POWER and s390, which agree on the constants used here.

pub(crate) use iotrail_model::calls::flags::{field, number};
use iotrail_model::calls::flags::{in_structure, words};
use iotrail_model::calls::{Flag, OpenFlags};
use iotrail_model::raw::Arg;

/// A flag by name and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol(Flag);

macro_rules! symbols {
    ($($name:ident = $bits:expr;)*) => {
        $(pub(crate) const $name: Symbol = Symbol(Flag::new(stringify!($name), $bits));)*
    };
}

symbols! {
    O_APPEND = 0x400;
    OPEN_TREE_CLONE = 1;
    FD_CLOEXEC = 1;
    CLOSE_RANGE_UNSHARE = 2;
    CLOSE_RANGE_CLOEXEC = 4;
    AT_EMPTY_PATH = 0x1000;
    MAP_ANONYMOUS = 0x20;
    MREMAP_DONTUNMAP = 4;
    CLONE_VM = 0x100;
    CLONE_FS = 0x200;
    CLONE_FILES = 0x400;
    CLONE_PIDFD = 0x1000;
    CLONE_PARENT = 0x8000;
    CLONE_NEWNS = 0x2_0000;
    CLONE_NEWPID = 0x2000_0000;
    MS_REMOUNT = 0x20;
    MS_BIND = 0x1000;
    MS_MOVE = 0x2000;
    MS_REC = 0x4000;
    MS_UNBINDABLE = 0x2_0000;
    MS_PRIVATE = 0x4_0000;
    MS_SLAVE = 0x8_0000;
    MS_SHARED = 0x10_0000;
    CLONE_THREAD = 0x1_0000;
    MSG_TRUNC = 0x20;
    RWF_APPEND = 0x10;
    RWF_NOAPPEND = 0x20;
    RESOLVE_IN_ROOT = 0x10;
    RENAME_EXCHANGE = 2;
    RENAME_WHITEOUT = 4;
}

/// Whether an argument has a flag, which of a structure lies in its field `flags`.
pub(crate) fn has(arg: &Arg<'_>, flag: Flag) -> bool {
    match arg {
        Arg::Symbols(text) | Arg::Text(text) => flag.is_in_text(in_structure(text)),
        Arg::Int(number) => flag.is_in_number(*number as u64),
        _ => false,
    }
}

/// What an open asks for by an argument; nothing by one that was not seen.
pub(crate) fn open_flags(arg: &Arg<'_>) -> OpenFlags {
    match arg {
        Arg::Symbols(text) | Arg::Text(text) => OpenFlags::parse(text),
        Arg::Int(number) => OpenFlags::from_bits(*number as u64),
        _ => OpenFlags::default(),
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
            Arg::Int(number) => self.0.is_in_number(*number as u64),
            Arg::Symbols(text) | Arg::Text(text) => self.0.is_in_text(text),
            _ => false,
        }
    }

    /// Whether a text of symbols or a number holds this flag.
    pub(crate) fn is_in_text(self, text: &[u8]) -> bool {
        self.0.is_in_text(text)
    }
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
}
