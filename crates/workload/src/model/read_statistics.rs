//! Statistics and barriers of paths that are drawn, read and checked.

use super::drawn::WHOLE;
use super::quantity::{BYTES_EXPECTED, TIME_EXPECTED, bytes, time};
use super::read::{MAX_REQUESTS, MODES, RawPathBarrier, Source, found, mode};
use super::{
    CALLS, FileKind, ModelError, NameCall, PathBarrier, REQUESTS, RankGroup, RequestKind, Statistics,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

type Value = Option<Spanned<toml::Value>>;

/// Most sessions of a file, requests of a session, and positions between them.
const MAX_NUMBER: u64 = 1 << 32;
const NUMBER_EXPECTED: &str = "expected a number, or { NUMBER = COUNT, ... }";
const SHARE_EXPECTED: &str = "expected shares of the path with how often as in { \"0.25\" = 1, \"0.5\" = 1 }, from 0 to 1 with at most 6 digits";
const PAIRS_EXPECTED: &str =
    "expected how many transfers begin where the one before ended, as in \"15 of 20\"";
const STATISTICS: &str = "expected ranks, files, sessions, depth, first_gap, session_gap, request_gap, modes, requests, calls, size, write_size, \
                          consecutive, offset, write_offset, file_size, slack and duration";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStatistics {
    ranks: Option<Spanned<String>>,
    files: Value,
    sessions: Value,
    depth: Value,
    first_gap: Value,
    session_gap: Value,
    request_gap: Value,
    modes: Value,
    requests: Value,
    calls: Value,
    size: Value,
    write_size: Value,
    consecutive: Option<Spanned<String>>,
    offset: Value,
    write_offset: Value,
    file_size: Value,
    slack: Value,
    duration: Value,
}

/// Of a number as text.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= MAX_NUMBER)
}

/// Millionths of a share.
pub(super) fn share(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit()) && !fraction.is_empty();
    let millionths = whole.parse::<u64>().ok()?.checked_mul(WHOLE)?;
    let rest = format!("{fraction:0<6}").parse::<u64>().ok().filter(|_| digits)?;
    Some(millionths + rest).filter(|share| *share <= WHOLE)
}

impl Source<'_> {
    /// Where ranks wait for each other.
    pub(super) fn path_barrier(
        &self,
        raw: &Spanned<RawPathBarrier>,
        groups: &[RankGroup],
    ) -> Result<PathBarrier, ModelError> {
        let RawPathBarrier { ranks, at } = raw.get_ref();
        Ok(PathBarrier {
            group: self.group_named(ranks, groups)?,
            at: self.weighted(at, "a share of a path", share, SHARE_EXPECTED)?,
        })
    }

    fn group_named(&self, name: &Spanned<String>, groups: &[RankGroup]) -> Result<usize, ModelError> {
        let known = groups.iter().position(|group| group.name == *name.get_ref());
        let problem = || format!("no group is called `{}`", name.get_ref());
        known.ok_or_else(|| self.error(name.span(), &problem(), "expected the name of a [[group]]"))
    }

    /// What ranks do to the files of a class.
    pub(super) fn statistics(
        &self,
        raw: &Spanned<RawStatistics>,
        (kind, groups): (FileKind, &[RankGroup]),
    ) -> Result<Statistics, ModelError> {
        let (span, raw) = (raw.span(), raw.get_ref());
        let numbers = |value: &Value| self.optional(value, "a number", number, NUMBER_EXPECTED);
        let sizes = |value: &Value| self.optional(value, "a size", bytes, BYTES_EXPECTED);
        let quantity = |value: &Value, parse, expected| {
            value.as_ref().map_or(Ok(0), |value| self.quantity(value, parse, expected))
        };
        let statistics = Statistics {
            ranks: raw.ranks.as_ref().map(|name| self.group_named(name, groups)).transpose()?,
            files: numbers(&raw.files)?,
            sessions: numbers(&raw.sessions)?,
            depth: numbers(&raw.depth)?,
            first_gap: numbers(&raw.first_gap)?,
            session_gap: self.signed(&raw.session_gap)?,
            request_gap: numbers(&raw.request_gap)?,
            modes: self.words(&raw.modes, mode, MODES)?,
            requests: self.words(
                &raw.requests,
                request,
                "expected requests with their numbers as in { write = 16 }",
            )?,
            calls: self.words(&raw.calls, call, "expected calls with their numbers as in { stat = 1 }")?,
            sizes: sizes(&raw.size)?,
            write_sizes: sizes(&raw.write_size)?,
            pairs: raw.consecutive.as_ref().map_or(Ok([0, 0]), |text| self.pairs(text))?,
            offsets: sizes(&raw.offset)?,
            write_offsets: sizes(&raw.write_offset)?,
            file_size: quantity(&raw.file_size, bytes as fn(&str) -> Option<u64>, BYTES_EXPECTED)?,
            slack: raw.slack.as_ref().map_or(Ok(BTreeMap::new()), |slack| self.slack(slack))?,
            duration: quantity(&raw.duration, time as fn(&str) -> Option<u64>, TIME_EXPECTED)?,
        };
        self.check_statistics(span, kind, &statistics)?;
        Ok(statistics)
    }

    fn check_statistics(
        &self,
        span: Range<usize>,
        kind: FileKind,
        of: &Statistics,
    ) -> Result<(), ModelError> {
        let error = |problem: &str, expected: &str| Err(self.error(span.clone(), problem, expected));
        let has_sessions = of.sessions.keys().any(|sessions| *sessions > 0);
        let is_transferring = of.requests.keys().any(|kind| kind.is_transfer());
        if has_sessions && kind != FileKind::File {
            return error("sessions of what holds no bytes", "expected calls in place of them");
        }
        if has_sessions && of.modes.is_empty() {
            return error("sessions without modes", "add modes, as in { \"wo create\" = 1 }");
        }
        if is_transferring == of.sizes.is_empty() {
            return error(
                "transfers and sizes do not belong together",
                "expected size where there are reads or writes",
            );
        }
        if let Some(call) = of.calls.keys().find(|call| !call.takes(kind)) {
            return error(&format!("`{}` is not a call on such a file", call.word()), STATISTICS);
        }
        if of.files.keys().any(|files| *files > super::read::MAX_COUNT) {
            return error("more than 1,000,000 files of a rank", "expected fewer");
        }
        Ok(())
    }

    fn optional(
        &self,
        raw: &Value,
        what: &str,
        parse: fn(&str) -> Option<u64>,
        expected: &str,
    ) -> Result<BTreeMap<u64, u64>, ModelError> {
        raw.as_ref().map_or(Ok(BTreeMap::new()), |raw| self.weighted(raw, what, parse, expected))
    }

    /// Numbers that may be below 0.
    fn signed(&self, raw: &Value) -> Result<BTreeMap<i64, u64>, ModelError> {
        let parse = |text: &str| text.parse().ok().filter(|number: &i64| number.unsigned_abs() <= MAX_NUMBER);
        match raw {
            Some(raw) if raw.get_ref().is_table() => self.words(&Some(raw.clone()), parse, NUMBER_EXPECTED),
            Some(raw) => {
                let number = raw.get_ref().as_integer().filter(|number| number.unsigned_abs() <= MAX_NUMBER);
                let number =
                    number.ok_or_else(|| self.error(raw.span(), &found(raw.get_ref()), NUMBER_EXPECTED))?;
                Ok(BTreeMap::from([(number, 1)]))
            }
            None => Ok(BTreeMap::new()),
        }
    }

    /// Words with their counts.
    fn words<K: Ord>(
        &self,
        raw: &Value,
        parse: impl Fn(&str) -> Option<K>,
        expected: &str,
    ) -> Result<BTreeMap<K, u64>, ModelError> {
        let Some(raw) = raw else { return Ok(BTreeMap::new()) };
        let toml::Value::Table(table) = raw.get_ref() else {
            return Err(self.error(raw.span(), &found(raw.get_ref()), expected));
        };
        let mut words = BTreeMap::new();
        for (text, count) in table {
            let count = count.as_integer().and_then(|count| u64::try_from(count).ok());
            let count = count.filter(|count| (1..=MAX_REQUESTS).contains(count));
            let (Some(word), Some(count)) = (parse(text), count) else {
                return Err(self.error(
                    raw.span(),
                    &format!("`{text}` and its count are not such"),
                    expected,
                ));
            };
            words.insert(word, count);
        }
        Ok(words)
    }

    /// `15 of 20`: all, consecutive.
    fn pairs(&self, raw: &Spanned<String>) -> Result<[u64; 2], ModelError> {
        let parsed = raw.get_ref().split_once(" of ").and_then(|(consecutive, all)| {
            let pairs: [u64; 2] = [all.parse().ok()?, consecutive.parse().ok()?];
            Some(pairs).filter(|[all, consecutive]| consecutive <= all && *all <= MAX_NUMBER)
        });
        parsed.ok_or_else(|| self.error(raw.span(), &format!("found `{}`", raw.get_ref()), PAIRS_EXPECTED))
    }
}

fn request(word: &str) -> Option<RequestKind> {
    let known = REQUESTS.iter().find(|(known, kind)| *known == word && !kind.is_of_lock());
    known.map(|(_, kind)| *kind)
}

/// Links are of two files, and are not drawn.
fn call(word: &str) -> Option<NameCall> {
    CALLS.iter().find(|(known, call)| *known == word && *call != NameCall::Link).map(|(_, call)| *call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    #[test]
    fn shares_are_millionths() {
        for (text, expected) in
            [("0", Some(0)), ("1", Some(1_000_000)), ("0.25", Some(250_000)), ("0.000001", Some(1))]
        {
            assert_eq!(share(text), expected, "{text}");
        }
        for text in ["", "1.1", "0.", "0.1234567", "-0.1", "x"] {
            assert_eq!(share(text), None, "{text}");
        }
    }

    #[test]
    fn mode_words_are_those_of_sessions() {
        assert_eq!(
            mode("wo create"),
            Some(Mode { read: false, write: true, create: true, truncate: false, append: false })
        );
    }
}
