//! Digests of environments as numbers: of them only says something in which processes they are the same.

use crate::ENVIRONMENT_DIGEST;
use hashbrown::HashMap;

/// The digests of a trail, numbered from 1 as they appear.
#[derive(Debug, Default)]
pub struct EnvironmentDigests {
    numbers: HashMap<String, usize>,
}

impl EnvironmentDigests {
    /// The entry of [`crate::Process::env`] with the number of its digest; NULL if it is another variable.
    pub fn numbered(&mut self, entry: &str) -> Option<String> {
        let digest = entry.strip_prefix(ENVIRONMENT_DIGEST)?.strip_prefix('=')?;
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(digest.to_owned()).or_insert(next);
        Some(format!("{ENVIRONMENT_DIGEST}={number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_become_numbers_under_their_name_and_stay_equal_where_they_were() {
        let mut digests = EnvironmentDigests::default();
        let all = ["8f", "3a", "8f"].map(|digest| digests.numbered(&format!("IOTRAIL_ENVIRONMENT={digest}")));
        assert_eq!(all, [1, 2, 1].map(|number| Some(format!("IOTRAIL_ENVIRONMENT={number}"))));
        assert_eq!(digests.numbered("IOTRAIL_ENVIRONMENTS=8f"), None);
    }
}
