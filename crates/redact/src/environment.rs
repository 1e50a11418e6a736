//! Variables of processes: also the digest of those that were not kept, of which only counts in which processes it is the same.

use crate::words::Words;
use iotrail_model::ENVIRONMENT_DIGEST;
use std::collections::HashMap;

/// The digests of a trail, numbered from 1 as they appear.
#[derive(Debug, Default)]
pub(crate) struct Environments {
    numbers: HashMap<String, usize>,
}

impl Environments {
    /// A variable, `NAME=value`.
    pub(crate) fn variable(&mut self, entry: &str, words: &Words) -> String {
        match entry.strip_prefix(ENVIRONMENT_DIGEST).and_then(|rest| rest.strip_prefix('=')) {
            Some(digest) => format!("{ENVIRONMENT_DIGEST}={}", self.number(digest)),
            None => words.variable(entry),
        }
    }

    fn number(&mut self, digest: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(digest.to_owned()).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Rules};

    #[test]
    fn digests_become_numbers_under_their_name_and_stay_equal_where_they_were() {
        let words = Words::new(Rules::default(), Some(Key::of(b"sixteen bytes and more").unwrap()));
        let mut environments = Environments::default();
        let mut redacted =
            |digest: &str| environments.variable(&format!("IOTRAIL_ENVIRONMENT={digest}"), &words);
        let all = ["8f", "3a", "8f"].map(&mut redacted);
        assert_eq!(all, [1, 2, 1].map(|number| format!("IOTRAIL_ENVIRONMENT={number}")));
        assert!(!environments.variable("IOTRAIL_ENVIRONMENTS=8f", &words).contains("IOTRAIL_ENVIRONMENTS"));
    }
}
