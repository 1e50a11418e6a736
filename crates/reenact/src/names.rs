//! Recorded paths as names below a directory: different paths have different names.

use iotrail_replay::{MAX_NAME_PART, MAX_NAME_PARTS};
use std::hash::{DefaultHasher, Hasher};

/// Below this all recorded paths lie.
pub(crate) const ROOT: &str = "r";

/// The name of a path; none if it is too long or too deep.
///
/// Letters, digits, `-` and inner dots stay, `_` is `__`, any other byte is `_` and two hexadecimal digits. Of longer parts the first 160 bytes stay, with `_x` and
/// a hash of the part behind them.
pub(crate) fn name(path: &[u8]) -> Option<String> {
    let mut name = ROOT.to_owned();
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        name.push('/');
        let begin = name.len();
        for (index, byte) in part.iter().enumerate() {
            match byte {
                b'_' => name.push_str("__"),
                b'.' if index > 0 => name.push('.'),
                b'-' => name.push('-'),
                _ if byte.is_ascii_alphanumeric() => name.push(char::from(*byte)),
                _ => name.push_str(&format!("_{byte:02x}")),
            }
        }
        if name.len() - begin > MAX_NAME_PART {
            // All of it is ASCII.
            name.truncate(begin + KEPT);
            name.push_str(&format!("_x{:016x}{:016x}", hash(part, 0), hash(part, 1)));
        }
    }
    (name.split('/').count() <= MAX_NAME_PARTS && name.len() <= MAX_NAME).then_some(name)
}

/// Bytes that stay of a part that is too long.
const KEPT: usize = 160;

/// Bytes of a name: no path may have more than 4,096, and the directory has some.
const MAX_NAME: usize = 3584;

fn hash(part: &[u8], seed: u8) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(seed);
    hasher.write(part);
    hasher.finish()
}

/// The directories that a name is in, from the innermost on.
pub(crate) fn parents(name: &str) -> impl Iterator<Item = &str> {
    name.rmatch_indices('/').map(|(slash, _)| &name[..slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_paths_have_different_names() {
        assert_eq!(name(b"/tmp/a.b-1").unwrap(), "r/tmp/a.b-1");
        assert_eq!(name(b"/").unwrap(), "r");
        let names = [&b"/a_b"[..], b"/a__b", b"/a b", b"/a_20b", b"/.a", b"/_2ea", b"/a\xff", b"/a/b"]
            .map(|path| name(path).unwrap());
        assert_eq!(
            names,
            ["r/a__b", "r/a____b", "r/a_20b", "r/a__20b", "r/_2ea", "r/__2ea", "r/a_ff", "r/a/b"]
        );
    }

    #[test]
    fn long_parts_end_with_a_hash() {
        let [one, other] =
            [b'_', b' '].map(|byte| name(&[&[b'/'][..], &[byte; 255], b"/x"].concat()).unwrap());
        assert!(one.starts_with("r/____") && one.ends_with("/x") && one != other, "{one}");
        assert_eq!(one.len(), "r//x".len() + KEPT + 34);
    }

    #[test]
    fn what_does_not_fit_has_no_name() {
        assert_eq!(name(&b"/abcdefghi".repeat(359)), None);
        assert!(name(&b"/x".repeat(63)).is_some());
        assert_eq!(name(&b"/x".repeat(64)), None);
    }

    #[test]
    fn parents_are_told_from_within() {
        assert_eq!(parents("r/a/b").collect::<Vec<_>>(), ["r/a", "r"]);
    }
}
