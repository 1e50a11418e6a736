//! The secret of a hash. Who does not have it cannot find out by trying whether a hash is that of a known name.

use crate::error::RedactError;
use std::fmt::Write;

/// Bytes of a hash that are shown: 48 bits, so that two of a million names coincide with a probability of 1 in 500.
const SHOWN_BYTES: usize = 6;

/// The secret.
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
    /// If the secret is shorter than 16 bytes.
    pub fn of(secret: &[u8]) -> Result<Self, RedactError> {
        if secret.len() < 16 {
            return Err(RedactError::ShortKey { found: secret.len() });
        }
        Ok(Self(blake3::derive_key("iotrail redact 1", secret)))
    }

    /// The hash of a text, as 12 digits.
    pub(crate) fn hash(&self, text: &str) -> String {
        let hash = blake3::keyed_hash(&self.0, text.as_bytes());
        let mut digits = String::with_capacity(2 * SHOWN_BYTES);
        for byte in &hash.as_bytes()[..SHOWN_BYTES] {
            // Writing to a String cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}
