//! Paths without numbers that tell runs, ranks and steps apart: `out.000123.dat` becomes `out.{}.dat`.
//!
//! | what | becomes | example |
//! |---|---|---|
//! | digits | `{}` | `rank7/step_0042.chk` -> `rank{}/step_{}.chk` |
//! | UUID | `{}` | `/tmp/0b5e6c2e-….lock` -> `/tmp/{}.lock` |
//! | 8 or more hexadecimal digits with a decimal digit among them, a whole word | `{}` | `objects/9f86d081` -> `objects/{}` |
//! | `0x` and hexadecimal digits | `{}` | `map.0x7f00` -> `map.{}` |
//!
//! These stay, because their digits are part of a name or a version and not a number that differs between ranks:
//!
//! | what | example |
//! |---|---|
//! | everything below `/usr`, `/lib*`, `/bin`, `/sbin`, `/etc`, `/opt` | `/usr/lib/python3.11/os.py` |
//! | a component with `.so` before a dot or at its end | `libc.so.6` |
//! | an extension of at most four characters that begins with a letter | `.h5`, `.nc4`, `.mp3` |
//!
//! Applying the rules twice changes nothing, since whatever they replace holds no digit any more.

use std::borrow::Cow;

const HOLE: &str = "{}";
const SOFTWARE: [&str; 8] = ["usr", "lib", "lib32", "lib64", "bin", "sbin", "etc", "opt"];
const SHORTEST_HEX: usize = 8;

/// `path` in the form of this module's table.
#[must_use]
pub fn generalise(path: &str) -> Cow<'_, str> {
    if !path.bytes().any(|byte| byte.is_ascii_digit()) || is_software(path) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for (index, component) in path.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        push_component(&mut out, component);
    }
    Cow::Owned(out)
}

fn is_software(path: &str) -> bool {
    path.strip_prefix('/')
        .and_then(|rest| rest.split('/').next())
        .is_some_and(|first| SOFTWARE.contains(&first))
}

fn push_component(out: &mut String, component: &str) {
    if component.ends_with(".so") || component.contains(".so.") {
        out.push_str(component);
        return;
    }
    let stem = component.len() - kept_extension(component).len();
    push_words(out, &component[..stem]);
    out.push_str(&component[stem..]);
}

/// The extension with its dot if it stays, else nothing.
fn kept_extension(component: &str) -> &str {
    match component.rfind('.') {
        Some(dot) if stays(&component.as_bytes()[dot + 1..]) => &component[dot..],
        _ => "",
    }
}

fn stays(extension: &[u8]) -> bool {
    matches!(extension, [first, rest @ ..]
        if first.is_ascii_alphabetic() && rest.len() < 4 && rest.iter().all(u8::is_ascii_alphanumeric))
}

fn push_words(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let word = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if word == 0 {
            let next = bytes[at..].iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
            out.push_str(&text[at..at + next]);
            at += next;
        } else if let Some(length) = uuid(&bytes[at..]) {
            out.push_str(HOLE);
            at += length;
        } else {
            push_word(out, &text[at..at + word]);
            at += word;
        }
    }
}

fn push_word(out: &mut String, word: &str) {
    if is_hex(word.as_bytes()) {
        out.push_str(HOLE);
        return;
    }
    let mut in_number = false;
    for character in word.chars() {
        if !character.is_ascii_digit() {
            out.push(character);
        } else if !in_number {
            out.push_str(HOLE);
        }
        in_number = character.is_ascii_digit();
    }
}

fn is_hex(word: &[u8]) -> bool {
    let (digits, shortest) = match word {
        [b'0', b'x' | b'X', rest @ ..] => (rest, 1),
        _ => (word, SHORTEST_HEX),
    };
    digits.len() >= shortest
        && digits.iter().all(u8::is_ascii_hexdigit)
        && word.iter().any(u8::is_ascii_digit)
}

/// The length of the UUID that `bytes` begin with.
fn uuid(bytes: &[u8]) -> Option<usize> {
    const LENGTH: usize = 36;
    let candidate = bytes.get(..LENGTH)?;
    let fits = candidate.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let ends = bytes.get(LENGTH).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (fits && ends && candidate.iter().any(u8::is_ascii_digit)).then_some(LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_become_holes_and_names_stay() {
        for (path, template) in [
            ("/scratch/out.000123.dat", "/scratch/out.{}.dat"),
            ("/scratch/rank7/step_0042.chk", "/scratch/rank{}/step_{}.chk"),
            ("/scratch/out.000123", "/scratch/out.{}"),
            ("/s/a.5.h5", "/s/a.{}.h5"),
            ("/s/9f86d081884c7d65", "/s/{}"),
            ("/s/9f86d08.o", "/s/{}f{}d{}.o"),
            ("/s/deadbeef", "/s/deadbeef"),
            ("/s/map.0x7f00", "/s/map.{}"),
            ("/t/0b5e6c2e-7a1f-4c3d-9e8b-1234567890ab.lock", "/t/{}.lock"),
            ("/t/0b5e6c2e-7a1f-4c3d-9e8b-1234567890abz", "/t/{}-{}a{}f-{}c{}d-{}e{}b-{}abz"),
            ("/home/a/lib/libx.so.6", "/home/a/lib/libx.so.6"),
            ("/usr/lib/python3.11/os.py", "/usr/lib/python3.11/os.py"),
            ("/usr2/x1", "/usr{}/x{}"),
            ("/dev/pts/7", "/dev/pts/{}"),
            ("$SCRATCH/fpp/test.00000042", "$SCRATCH/fpp/test.{}"),
            ("/é7/ß", "/é{}/ß"),
            ("", ""),
        ] {
            assert_eq!(generalise(path), template, "{path}");
        }
    }

    proptest! {
        #[test]
        fn generalising_twice_changes_nothing(path in "[/a-f0-9x.\\-_é{}$so]{0,60}") {
            let once = generalise(&path).into_owned();
            prop_assert_eq!(generalise(&once).into_owned(), once);
        }
    }
}
