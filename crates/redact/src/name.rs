//! One component of a path, or one piece of a word: what it becomes.
//!
//! What analyses tell apart stays apart and what they take for the same stays the same: names that differ in their numbers
//! only keep doing so, and equal endings stay equal. So the hash is made of the name's template, its numbers become another
//! number beside it, and an ending that is not known to be public becomes a hash of its own.

use crate::key::Key;
use crate::public;
use iotrail_query::generalise::generalise;
use iotrail_query::preset::extension;

/// Digits of a number that stands for those of a name.
const NAME_DIGITS: usize = 16;
/// Digits of one within an ending; endings have at most 12 characters.
const ENDING_DIGITS: usize = 11;
const HOLE: &str = "{}";

/// `run_0001.fits` as `kqzmwhgtnxsv_4821394712345678.fits`. With `keep_digits` the numbers stay if they are all that the
/// template leaves out.
pub(crate) fn hashed(key: &Key, name: &str, keep_digits: bool) -> String {
    if public::is_number(name) && !keep_digits {
        return key.number(name, NAME_DIGITS);
    }
    if public::is_number(name) {
        return name.to_owned();
    }
    let template = generalise(name);
    if template == HOLE {
        // Hexadecimal digits, which templates take for a number.
        return format!("0x{}", key.number(name, NAME_DIGITS));
    }
    let mut out = String::with_capacity(40);
    if name.starts_with('.') {
        out.push('.');
    }
    // The loader's libraries are told by name.
    let library = name.ends_with(".so") || name.contains(".so.");
    if library {
        out.extend(["lib", "ld"].into_iter().find(|prefix| name.starts_with(prefix)));
    }
    out.push_str(&key.letters(&template));
    if template.contains(HOLE) {
        out.push('_');
        match digits(name, &template) {
            Some(digits) if keep_digits => out.push_str(&digits),
            _ => out.push_str(&key.number(name, NAME_DIGITS)),
        }
    }
    if let Some(ending) = extension(name) {
        out.push_str(&hashed_ending(key, ending));
    }
    out
}

/// `.fits` stays, `.quokka` does not. Its numbers become numbers, which templates leave out wherever they leave out its own.
fn hashed_ending(key: &Key, ending: &str) -> String {
    if public::is_ending(&ending[1..]) {
        ending.to_owned()
    } else if ending.bytes().any(|byte| byte.is_ascii_digit()) {
        format!(".x{}", key.number(ending, ENDING_DIGITS))
    } else {
        format!(".{}", key.letters(ending))
    }
}

/// The runs of digits of `name`, if it is its template with them in the holes.
fn digits(name: &str, template: &str) -> Option<String> {
    let runs: Vec<&str> =
        name.split(|character: char| !character.is_ascii_digit()).filter(|run| !run.is_empty()).collect();
    let mut filled = String::with_capacity(name.len());
    let mut pieces = template.split(HOLE);
    filled.push_str(pieces.next()?);
    let mut used = 0;
    for piece in pieces {
        filled.push_str(runs.get(used)?);
        filled.push_str(piece);
        used += 1;
    }
    (filled == name && used == runs.len()).then(|| runs.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> Key {
        Key::of(b"sixteen bytes or").unwrap()
    }

    fn short(name: &str) -> String {
        hashed(&key(), name, false)
    }

    #[test]
    fn endings_that_are_public_stay_and_others_are_hashed() {
        assert!(short("run.fits").ends_with(".fits"));
        assert!(!short("john.quokka").contains("quokka"));
        assert_eq!(extension(&short("a.quokka")), extension(&short("b.quokka")));
        assert_ne!(extension(&short("a.quokka")), extension(&short("b.wombat")));
        assert!(short("out.dat.000123").ends_with(".dat"));
        for name in ["192.168.17.5", "2026-11-22", "4071234567", "a@b.c", "x.7z"] {
            let seen = short(name);
            assert!(!seen.contains("192") && !seen.contains("2026") && !seen.contains("4071"), "{seen}");
        }
    }

    #[test]
    fn numbers_stay_if_they_may() {
        let key = key();
        let (one, two) = (hashed(&key, "part_0001.x", true), hashed(&key, "part_0002.x", true));
        assert_eq!(one.replace("0001", "0002"), two);
        assert_ne!(hashed(&key, "a1b2", true), hashed(&key, "a12b", true));
        assert_ne!(hashed(&key, "9f86d081", true), hashed(&key, "9e86d081", true));
    }

    fn names() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-c0-9._é-]{1,12}",
            "[a-f0-9]{7,9}",
            "(a|lib|run_|core)[0-9]{0,3}(\\.(dat|so|h4|7z|x_1|9f86d081|quokkaquokka))?(\\.[0-9]{1,3})?",
            "(a|lib|run_|core)[0-9]{0,3}(\\.(h5|f90))?",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_grouped_before_is_grouped_after(a in names(), b in names(), keep in any::<bool>()) {
            // Hexadecimal digits after a dot are an ending to one way of grouping and a number to another.
            let hexadecimal = |name| extension(name).is_some_and(|ending| generalise(&ending[1..]) == HOLE);
            prop_assume!(!hexadecimal(&a) && !hexadecimal(&b));
            let key = key();
            let (x, y) = (hashed(&key, &a, keep), hashed(&key, &b, keep));
            prop_assert_eq!(a == b, x == y, "{} {} {} {}", a, b, x, y);
            prop_assert_eq!(extension(&a) == extension(&b), extension(&x) == extension(&y), "{} {} {} {}", a, b, x, y);
            prop_assert_eq!(generalise(&a) == generalise(&b), generalise(&x) == generalise(&y), "{} {} {} {}", a, b, x, y);
        }
    }
}
