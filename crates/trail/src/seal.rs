//! A document that holds the checksum of its own bytes.
//!
//! The checksum is CRC-32 (as in Parquet and gzip) over the whole document in which the checksum's own digits are zeros. It
//! finds accidents, not forgery. Documents without one are older than this module.

use serde::{Deserialize, Serialize};

/// What stands for a checksum until it is known.
const ZEROS: &str = "00000000";
/// What comes before the digits in JSON; within a text of JSON the quotes would have backslashes.
pub(crate) const JSON_MARK: &str = "\"checksum\": \"";

/// The place of the checksum in a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum(String);

impl Default for Checksum {
    fn default() -> Self {
        Self(ZEROS.to_owned())
    }
}

impl Serialize for Checksum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(ZEROS)
    }
}

impl<'de> Deserialize<'de> for Checksum {
    /// Documents are compared by content, of which the checksum is no part.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self::default())
    }
}

/// What a document says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// It has no checksum.
    Absent,
    /// It is as it was written.
    Sound,
    /// It is not.
    Broken,
}

/// The digits after `mark`, with which the checksum stands.
pub(crate) fn placeholder(mark: &str) -> String {
    format!("{mark}{ZEROS}")
}

/// Puts in the checksum after the last `mark` and answers its digits; nothing if there is no place for it.
pub(crate) fn seal(document: &mut [u8], mark: &str) -> Option<String> {
    let at = place(document, mark)?;
    let digits = format!("{:08x}", checksum(document, at));
    document[at..at + ZEROS.len()].copy_from_slice(digits.as_bytes());
    Some(digits)
}

/// Whether the document is what was sealed.
pub(crate) fn examine(document: &[u8], mark: &str) -> Seal {
    let Some(at) = place(document, mark) else {
        return if is_nameless(document) { Seal::Broken } else { Seal::Absent };
    };
    let digits = format!("{:08x}", checksum(document, at));
    if document[at..at + ZEROS.len()] == *digits.as_bytes() { Seal::Sound } else { Seal::Broken }
}

fn place(document: &[u8], mark: &str) -> Option<usize> {
    let mark = mark.as_bytes();
    let at = document.windows(mark.len()).rposition(|window| window == mark)? + mark.len();
    (at + ZEROS.len() <= document.len()).then_some(at)
}

/// Whether the last thing in a JSON document are the digits of a checksum, whatever its key has become.
fn is_nameless(document: &[u8]) -> bool {
    let value = document.trim_ascii_end().strip_suffix(b"}").map(<[u8]>::trim_ascii_end);
    let value = value.and_then(|value| value.strip_suffix(b"\"")).unwrap_or_default();
    let Some((key, digits)) = value.split_last_chunk::<8>() else { return false };
    key.ends_with(b"\": \"") && digits.iter().all(u8::is_ascii_hexdigit)
}

fn checksum(document: &[u8], offset: usize) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&document[..offset]);
    hasher.update(ZEROS.as_bytes());
    hasher.update(&document[offset + ZEROS.len()..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_sealed_document_counts() {
        let mut document = format!("{{\"a\": \"x\",\n  {}\"\n}}", placeholder(JSON_MARK)).into_bytes();
        seal(&mut document, JSON_MARK);
        assert_eq!(examine(&document, JSON_MARK), Seal::Sound);
        let mark = place(&document, JSON_MARK).unwrap() - JSON_MARK.len();
        for bit in 0..document.len() * 8 {
            let mut flipped = document.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // With another sign between key and value it is no JSON, whose readers notice that.
            let is_json = |sign: &usize| !(mark + 9..mark + JSON_MARK.len()).contains(sign);
            if is_json(&(bit / 8)) {
                assert_eq!(examine(&flipped, JSON_MARK), Seal::Broken, "bit {bit}");
            }
        }
    }
}
