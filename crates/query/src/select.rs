//! Which events: the checked form of [`SelectSpec`].
//!
//! Paths are given in the text form of `iotrail_model::text`. A pattern is tried on the exact path, on its canonical name
//! and on that with site variables; `path2` (the target of a rename) counts like `path`. An event without a path matches
//! no `--path` and every `--not-path`: each negation selects exactly the rest. Only the two bounds of the size are no
//! complements, since an event that moved no bytes has no size.

use crate::attribute::Attribute;
use crate::error::QueryError;
use crate::layers::Layers;
use crate::moment::{self, Moment};
use crate::patterns::{listed, path_globs, set};
use crate::spec::SelectSpec;
use globset::GlobSet;
use iotrail_model::quantity;
use iotrail_model::text::printable;

/// A checked selection that does not know a log yet.
#[derive(Clone, Debug)]
pub struct Selection {
    spec: SelectSpec,
    pub(crate) layers: Layers,
    pub(crate) call: Option<GlobSet>,
    pub(crate) not_call: Option<GlobSet>,
    pub(crate) path: Option<GlobSet>,
    pub(crate) not_path: Option<GlobSet>,
    pub(crate) case: Vec<CasePattern>,
    pub(crate) not_case: Vec<CasePattern>,
    pub(crate) pid: Vec<(u32, u32)>,
    pub(crate) not_pid: Vec<(u32, u32)>,
    pub(crate) since: Option<Moment>,
    pub(crate) until: Option<Moment>,
    pub(crate) min_size: Option<i64>,
    pub(crate) max_size: Option<i64>,
    pub(crate) failed: Option<bool>,
}

/// A glob on the name of a case, or on one attribute.
#[derive(Clone, Debug)]
pub(crate) struct CasePattern {
    pub(crate) word: String,
    pub(crate) attribute: Option<Attribute>,
    pub(crate) globs: GlobSet,
}

impl Selection {
    /// Checks the words.
    ///
    /// # Errors
    /// For the first word that makes no sense.
    pub fn check(spec: &SelectSpec) -> Result<Self, QueryError> {
        let calls = |option, words: &Vec<String>| {
            some(words)
                .map(|words| set(option, listed(words), false, |word| vec![word.to_owned()]))
                .transpose()
        };
        let paths = |option, words: &Vec<String>| {
            some(words)
                .map(|words| set(option, words.iter().map(String::as_str), true, path_globs))
                .transpose()
        };
        Ok(Self {
            layers: Layers::parse(&spec.layer)?,
            call: calls("call", &spec.call)?,
            not_call: calls("not-call", &spec.not_call)?,
            path: paths("path", &spec.path)?,
            not_path: paths("not-path", &spec.not_path)?,
            case: case_patterns("case", &spec.case)?,
            not_case: case_patterns("not-case", &spec.not_case)?,
            pid: pids("pid", &spec.pid)?,
            not_pid: pids("not-pid", &spec.not_pid)?,
            since: time("since", spec.since.as_deref())?,
            until: time("until", spec.until.as_deref())?,
            min_size: size("min-size", spec.min_size.as_deref())?,
            max_size: size("max-size", spec.max_size.as_deref())?,
            failed: spec.failed,
            spec: spec.clone(),
        })
    }

    /// The words it was made of.
    #[must_use]
    pub fn spec(&self) -> &SelectSpec {
        &self.spec
    }

    /// The selection in words, empty if everything is selected.
    #[must_use]
    pub fn describe(&self) -> String {
        let spec = &self.spec;
        let list = |what: &str, words: &[String]| {
            some(words).map(|words| format!("{what} {}", printable(&words.join(", "))))
        };
        let one = |what: &str, word: &Option<String>| {
            word.as_ref().map(|word| format!("{what} {}", printable(word)))
        };
        let parts = [
            list("calls", &spec.call),
            list("not calls", &spec.not_call),
            list("paths", &spec.path),
            list("not paths", &spec.not_path),
            list("cases", &spec.case),
            list("not cases", &spec.not_case),
            list("pids", &spec.pid),
            list("not pids", &spec.not_pid),
            one("since", &spec.since),
            one("until", &spec.until),
            one("size at least", &spec.min_size),
            one("size at most", &spec.max_size),
            spec.failed
                .map(|failed| if failed { "failed calls" } else { "calls that did not fail" }.to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Whether times of the log are needed to resolve it.
    #[must_use]
    pub fn is_relative(&self) -> bool {
        [self.since, self.until].into_iter().flatten().any(|moment| !matches!(moment, Moment::Absolute(_)))
    }
}

fn some<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

fn case_patterns(option: &'static str, words: &[String]) -> Result<Vec<CasePattern>, QueryError> {
    listed(words)
        .map(|word| {
            let attribute =
                word.split_once('=').and_then(|(name, value)| Some((Attribute::from_name(name)?, value)));
            let glob = attribute.map_or(word, |(_, value)| value);
            let globs = set(option, [glob].into_iter(), false, |word| vec![word.to_owned()])?;
            Ok(CasePattern {
                word: word.to_owned(),
                attribute: attribute.map(|(attribute, _)| attribute),
                globs,
            })
        })
        .collect()
}

fn pids(option: &'static str, words: &[String]) -> Result<Vec<(u32, u32)>, QueryError> {
    listed(words)
        .map(|word| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            match (first.trim().parse(), last.trim().parse()) {
                (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
                _ => Err(QueryError::word(option, word, "not a process id", "write 77, 77,78 or 100-200")),
            }
        })
        .collect()
}

fn time(option: &'static str, word: Option<&str>) -> Result<Option<Moment>, QueryError> {
    let parse = |word| {
        Moment::parse(word).map_err(|problem| QueryError::word(option, word, problem, moment::ALLOWED))
    };
    word.map(parse).transpose()
}

fn size(option: &'static str, word: Option<&str>) -> Result<Option<i64>, QueryError> {
    const ALLOWED: &str = "write bytes as 4096, 4kB or 1.5MiB (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)";
    let parse =
        |word| quantity::bytes(word).map_err(|problem| QueryError::word(option, word, problem, ALLOWED));
    word.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_selection_reads_as_words() {
        let spec = SelectSpec {
            call: words(&["read,p*"]),
            not_path: words(&["/usr", "*.so"]),
            case: words(&["cid=a"]),
            since: Some("10%".into()),
            min_size: Some("4KiB".into()),
            failed: Some(false),
            ..SelectSpec::default()
        };
        let text = Selection::check(&spec).unwrap().describe();
        insta::assert_snapshot!(text);
        assert_eq!(Selection::check(&SelectSpec::default()).unwrap().describe(), "");
    }

    #[test]
    fn wrong_words_are_refused_with_what_is_allowed() {
        let one = |word: &str| words(&[word]);
        let specs = [
            SelectSpec { layer: one("syscall,kernel"), ..SelectSpec::default() },
            SelectSpec { call: one("read,"), ..SelectSpec::default() },
            SelectSpec { path: one("/a["), ..SelectSpec::default() },
            SelectSpec { not_case: one("cid={a"), ..SelectSpec::default() },
            SelectSpec { pid: one("7,x"), ..SelectSpec::default() },
            SelectSpec { not_pid: one("9-7"), ..SelectSpec::default() },
            SelectSpec { since: Some("yesterday".into()), ..SelectSpec::default() },
            SelectSpec { until: Some("120%".into()), ..SelectSpec::default() },
            SelectSpec { min_size: Some("4K".into()), ..SelectSpec::default() },
            SelectSpec { max_size: Some("\u{1b}[31m".into()), ..SelectSpec::default() },
        ];
        let messages: Vec<String> =
            specs.iter().map(|spec| Selection::check(spec).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }
}
