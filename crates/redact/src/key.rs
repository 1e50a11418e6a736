//! The secret of a hash. Who does not have it cannot find out by trying whether a hash is that of a known name.

use crate::error::RedactError;

/// Bytes of a hash that are shown: 48 bits, so that two of a million names coincide with a probability of 1 in 500.
const SHOWN_BYTES: usize = 6;
/// The digits of a hash.
const ALPHABET: &[u8; 16] = b"ghjkmnpqrstvwxyz";

/// The secret that names are hashed with.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// A fresh one, which nobody knows once it is dropped.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn random() -> Result<Self, RedactError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(RedactError::NoRandomness)?;
        Ok(Self(bytes))
    }

    /// The one that a secret stands for: the same secret gives the same names, in several trails.
    ///
    /// # Errors
    /// If the secret is shorter than 16 bytes, or one byte again and again, which anybody would try.
    pub fn of(secret: &[u8]) -> Result<Self, RedactError> {
        if secret.len() < 16 {
            return Err(RedactError::ShortKey { found: secret.len() });
        }
        if secret.iter().all(|byte| *byte == secret[0]) {
            return Err(RedactError::ConstantKey);
        }
        Ok(Self(blake3::derive_key("iotrail redact 1", secret)))
    }

    /// The hash of a text as letters, of which no word and no number can be made, and nothing that looks like a name of the
    /// kernel.
    pub(crate) fn letters(&self, text: &str) -> String {
        let hash = blake3::keyed_hash(&self.0, text.as_bytes());
        let halves = hash.as_bytes()[..SHOWN_BYTES].iter().flat_map(|byte| [byte >> 4, byte & 15]);
        halves.map(|half| char::from(ALPHABET[usize::from(half)])).collect()
    }

    /// The hash of a text as a number of `digits` digits.
    pub(crate) fn number(&self, text: &str, digits: usize) -> String {
        let hash = blake3::keyed_hash(&self.0, format!("number {text}").as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
        let value = u64::from_le_bytes([a, b, c, d, e, f, g, h]) % 10_u64.pow(digits as u32);
        format!("{value:0digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_anybody_would_try_is_none() {
        for secret in [&b"short"[..], &[0; 32], &[7; 16]] {
            assert!(Key::of(secret).is_err(), "{secret:?}");
        }
        assert!(Key::of(b"sixteen bytes or").is_ok());
    }
}
