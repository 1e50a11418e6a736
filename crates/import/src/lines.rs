//! Lines of a text that comes in chunks.

use std::iter;

/// Calls `take` with each whole line of `text`, without its end, and at the end of the input (`at_end`) with what is left. Returns how
/// many bytes those are.
pub fn lines(text: &[u8], at_end: bool, mut take: impl FnMut(&[u8])) -> usize {
    let mut done = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain(iter::once(text.len()).filter(|_| at_end));
    for end in ends {
        if end < text.len() || end > done {
            take(&text[done..end]);
        }
        done = (end + 1).min(text.len());
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_taken_and_the_last_one_at_the_end() {
        let taken = |text: &str, at_end: bool| {
            let mut all = Vec::new();
            let done =
                lines(text.as_bytes(), at_end, |line| all.push(String::from_utf8_lossy(line).into_owned()));
            (done, all.join("|"))
        };
        assert_eq!(taken("a\n\nb", false), (3, "a|".to_owned()));
        assert_eq!(taken("a\n\nb", true), (4, "a||b".to_owned()));
        assert_eq!(taken("a\n", true), (2, "a".to_owned()));
        assert_eq!((taken("", true).0, taken("b", false).0), (0, 0));
    }
}
