//! Findings that were accepted: advice that names nothing else is news.

use crate::result::{Advice, Item};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the document.
const BASELINE_FORMAT: u32 = 1;

/// What stays the same of a finding from run to run: no times, no counts, no process ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// The rule.
    pub rule: String,
    /// The file with a `#` for each number and for what only this run was called.
    pub file: String,
    /// The program.
    pub program: String,
}

impl Fingerprint {
    /// Of a finding.
    #[must_use]
    pub fn of(item: Item<'_>) -> Self {
        Self { rule: item.rule().to_owned(), file: pattern(item.file()), program: pattern(item.program()) }
    }
}

/// Accepted findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    format: u32,
    accepted: BTreeSet<Fingerprint>,
}

/// Why a text is not a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Not the JSON of a baseline.
    #[error("not a baseline: {0}")]
    Json(#[from] serde_json::Error),
    /// Of a version that is not known.
    #[error("a baseline of format {0}, which is not known; this program reads format {BASELINE_FORMAT}")]
    Format(u32),
}

impl Baseline {
    /// With all findings of some advice accepted.
    #[must_use]
    pub fn of(advice: &Advice) -> Self {
        let accepted = advice.items().into_iter().map(Fingerprint::of).collect();
        Self { format: BASELINE_FORMAT, accepted }
    }

    /// From its JSON.
    ///
    /// # Errors
    /// If that is none, or of another format.
    pub fn parse(text: &[u8]) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_slice(text)?;
        match baseline.format {
            BASELINE_FORMAT => Ok(baseline),
            other => Err(BaselineError::Format(other)),
        }
    }

    /// Takes what is accepted out of the advice, and counts it there.
    pub fn apply(&self, advice: &mut Advice) {
        let before = advice.findings.len() + advice.habits.len();
        let is_new = |item: Item<'_>| !self.accepted.contains(&Fingerprint::of(item));
        advice.findings.retain(|finding| is_new(Item::Finding(finding)));
        advice.habits.retain(|habit| is_new(Item::Habit(habit)));
        advice.accepted += (before - advice.findings.len() - advice.habits.len()) as u64;
    }
}

/// A name with a `#` for each run of digits, hexadecimal digests included, and for temporary names.
fn pattern(name: &str) -> String {
    let part = |part: &str| match part.strip_prefix("tmp") {
        Some(rest) if !rest.is_empty() => "tmp#".to_owned(),
        _ => numbers(part),
    };
    name.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// A part of a name with a `#` for each number; a word of eight or more hexadecimal digits with a decimal one among them is one.
fn numbers(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for word in part.split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
        let end = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        let is_hex = end.len() >= 8
            && end.bytes().all(|byte| byte.is_ascii_hexdigit())
            && end.bytes().any(|byte| byte.is_ascii_digit());
        if is_hex {
            text.push('#');
            text.push_str(&word[end.len()..]);
            continue;
        }
        for character in word.chars() {
            match character.is_ascii_digit() {
                true if text.ends_with('#') => {}
                true => text.push('#'),
                false => text.push(character),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_run_are_those_of_another() {
        for (name, expected) in [
            ("/data/rank-0017.dat", "/data/rank-#.dat"),
            ("/tmp/tmpab12_x/out", "/tmp/tmp#/out"),
            ("/tmp/out", "/tmp/out"),
            ("/x/.git/objects/4b/825dc642cb6eb9a0", "/x/.git/objects/#b/#"),
            ("/x/deadbeef/cafe", "/x/deadbeef/cafe"),
            ("python3.11", "python#.#"),
            ("/é/9ü8", "/é/#ü#"),
        ] {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn what_is_no_baseline_is_an_error() {
        assert!(Baseline::parse(b"{}").is_err());
        assert!(Baseline::parse(br#"{"format":1,"accepted":[]}"#).is_ok());
        assert!(matches!(Baseline::parse(br#"{"format":9,"accepted":[]}"#), Err(BaselineError::Format(9))));
    }
}
