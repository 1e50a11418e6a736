//! Calls printed the way strace prints them come back as they were.

use crate::parser::support::items_of;
use bstr::ByteSlice;
use proptest::prelude::*;
use std::fmt::Write;

/// How a string is quoted.
#[derive(Clone, Copy, Debug)]
enum Quoting {
    Octal,
    /// `-x`: hexadecimal where there are unprintable bytes.
    Hex,
    /// `-xx`
    AllHex,
}

/// `bytes` in strace's quoting, without the quotes; `also` are escaped as well.
fn quote(bytes: &[u8], quoting: Quoting, also: &[u8]) -> String {
    let mut text = String::new();
    for (index, &byte) in bytes.iter().enumerate() {
        let simple = match byte {
            b'"' | b'\\' => Some(char::from(byte)),
            b'\n' => Some('n'),
            b'\t' => Some('t'),
            b'\r' => Some('r'),
            0x0b => Some('v'),
            0x0c => Some('f'),
            _ => None,
        };
        let written = match (quoting, simple) {
            (Quoting::AllHex, _) => write!(text, "\\x{byte:02x}"),
            (_, Some(letter)) => write!(text, "\\{letter}"),
            _ if (b' '..=b'~').contains(&byte) && !also.contains(&byte) => {
                write!(text, "{}", char::from(byte))
            }
            (Quoting::Hex, None) => write!(text, "\\x{byte:02x}"),
            (Quoting::Octal, None)
                if bytes.get(index + 1).is_some_and(|next| (b'0'..=b'7').contains(next)) =>
            {
                write!(text, "\\{byte:03o}")
            }
            (Quoting::Octal, None) => write!(text, "\\{byte:o}"),
        };
        written.expect("a string takes everything");
    }
    text
}

fn names() -> impl Strategy<Value = Vec<u8>> {
    let hostile = &b"\"\\<>()[]{},=?/*| \n\r\t-0123457a\0"[..];
    prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(hostile)], 0..30)
}

proptest! {
    #[test]
    fn opens_come_back(
        (path, cwd, real) in (names(), names(), names()),
        fd in 0_i32..100_000,
        cut in any::<bool>(),
        deleted in any::<bool>(),
        nanos in 0_u32..1_000_000_000,
        quoting in prop_oneof![Just(Quoting::Octal), Just(Quoting::Hex), Just(Quoting::AllHex)],
    ) {
        let line = format!(
            "openat(AT_FDCWD</{}>, \"{}\"{}, O_RDWR|O_CREAT, 0644) = {fd}</{}>{} <0.{nanos:09}>",
            quote(&cwd, quoting, b"<>"), quote(&path, quoting, b""), if cut { "..." } else { "" },
            quote(&real, quoting, b"<>"), if deleted { "(deleted)" } else { "" },
        );
        let with_root = |name: &[u8]| [b"/", name].concat();
        let (cwd, real) = (with_root(&cwd), with_root(&real));
        // A name that ends like the mark of older versions cannot be told from it.
        prop_assume!(!real.ends_with(b" (deleted)") && !cwd.ends_with(b" (deleted)"));
        let expected = format!(
            "7 @0 +{nanos} openat(cwd → {:?}, {:?}{}, O_RDWR|O_CREAT, 420) = {fd} → {:?}{}",
            cwd.as_bstr(), path.as_bstr(), if cut { "…" } else { "" }, real.as_bstr(), if deleted { " deleted" } else { "" },
        );
        prop_assert_eq!(items_of(line.as_bytes()), [expected]);
    }

    #[test]
    fn reads_come_back_whole_and_in_halves(
        buffer in names(),
        (fd, count, size) in (0_i32..1000, any::<u32>(), any::<u32>()),
        place in 0_usize..3,
    ) {
        let buffer = quote(&buffer, Quoting::Octal, b"");
        let pieces = [format!("read({fd}, "), format!("\"{buffer}\", "), format!("{count}) = {size} <0.000001>")];
        let (first, second) = (pieces[..place].concat(), pieces[place..].concat());
        let text = if place == 0 { second } else { format!("{first} <unfinished ...>\n<... read resumed>{second}\n") };
        let entered = ["", ", _"].map(|buffer| format!("entered 7 @0 read(fd {fd}{buffer}) = ?"));
        let whole = format!("7 @0 +1000 read(fd {fd}, _, {count}) = {size}");
        let expected = entered.into_iter().skip(place.saturating_sub(1)).take(place.min(1)).chain([whole]);
        prop_assert_eq!(items_of(text.as_bytes()), expected.collect::<Vec<_>>());
    }

    #[test]
    fn arguments_of_programs_come_back(words in prop::collection::vec(names(), 1..6)) {
        let printed: Vec<String> = words.iter().map(|word| format!("\"{}\"", quote(word, Quoting::Octal, b""))).collect();
        let line = format!("execve(\"/x\", [{}], 0x7ffc /* 3 vars */) = 0", printed.join(", "));
        let joined = words.join(&0);
        let expected = format!("7 @0 execve(\"/x\", strings {:?}, 32764) = 0", joined.as_bstr());
        prop_assert_eq!(items_of(line.as_bytes()), [expected]);
    }
}
