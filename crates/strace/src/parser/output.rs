//! What the traced program writes, in the middle of the line that says so.
//!
//! strace prints the arguments of a call before the call runs. If the program writes to the same terminal, its text
//! stands behind them, and what strace prints of the return goes to the next line:
//!
//! ```text
//! write(1, "hi\n", 3hi
//! )                     = 3
//! ```

use super::escape::Scratch;
use super::scan::{angle_end, string_end};

/// Where the output begins in a write to standard output or error whose line it broke. Only if the string is one whole
/// line, the count is its length, and that line is what follows: then nothing else can be meant.
pub(super) fn begins(text: &[u8]) -> Option<usize> {
    let at = b"write(1".len();
    if !text.starts_with(b"write(1") && !text.starts_with(b"write(2") {
        return None;
    }
    let at = if text.get(at) == Some(&b'<') { angle_end(text, at)? } else { at };
    text[at..].starts_with(b", \"").then_some(())?;
    let quote = at + 2;
    let end = string_end(text, quote)?;
    let mut space = vec![0; end - quote];
    let bytes = Scratch::new(&mut space).unescape(&text[quote + 1..end - 1]);
    let line = bytes.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n'))?;
    let count = format!(", {}", bytes.len());
    let shown = text[end..].strip_prefix(count.as_bytes())?;
    (shown == line).then_some(end + count.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_known_by_the_string_before_it() {
        for (before, output) in [
            ("write(1, \"hi\\n\", 3", "hi"),
            ("write(2</dev/pts/5<char 136:5>>, \"42\\n\", 3", "42"),
            ("write(1, \"\\n\", 1", ""),
        ] {
            assert_eq!(begins(format!("{before}{output}").as_bytes()), Some(before.len()), "{before}");
        }
        for other in [
            "write(1, \"hi\\n\", 3ho",
            "write(1, \"hi\\n\", 4hi",
            "write(1, \"hi\", 2hi",
            "write(1, \"a\\nb\\n\", 4a",
            "write(1, \"hi\\n\"..., 30hi",
            "write(3, \"hi\\n\", 3hi",
            "write(1, \"hi",
            "write(1",
        ] {
            assert_eq!(begins(other.as_bytes()), None, "{other}");
        }
    }
}
