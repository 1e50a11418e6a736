//! Mappings from a file: ordered rules in TOML.
//!
//! ```toml
//! preset = "dir2"                  # for what no rule fits; without it that is not mapped
//!
//! [variables]
//! SCRATCH = "/p/scratch/project"
//!
//! [[rule]]
//! call = ["read*", "pread64"]      # a name, a glob, or a list of them
//! path = '^\$SCRATCH/(\w+)/'       # a regular expression (unanchored) on the canonical path with site variables
//! rid = "^0$"                      # also cid, host, label: regular expressions
//! failed = false
//! activity = "${call}:scratch ${1}"
//!
//! [[rule]]
//! path = "^/proc/"
//! drop = true                      # not mapped
//! ```
//! `[[process]]` rules, which may stand in the same file, divide processes into groups: [`crate::process_rules`].
//!
//! The first rule that fits decides. A rule with `path` does not fit an event without one, nor a rule with `cid` a case whose
//! cid is unknown. Expressions run in linear time and their size is limited, so that a rules file cannot stall a scan.

use crate::attribute::Attribute;
use crate::error::QueryError;
use crate::group::regex_problem;
use crate::mapping::Subject;
use crate::pattern::Pattern;
use crate::preset::{self, Preset};
use crate::process_rules::{self, ProcessRules};
use crate::variables::{self, Variables};
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use toml::Spanned;

const LARGEST_FILE: u64 = 1 << 20;
const MOST_RULES: usize = 2000;
const REGEX_LIMIT: usize = 1 << 20;
const KEYS: &str = "a rules file has the key preset, the table [variables], any number of [[rule]] with call, path, \
                    cid, host, rid, label, failed, and activity or drop, and any number of [[process]] with exe, cmd, env, \
                    cwd, cid, host, rid, label, and group or drop";
const HOLES: &str = "write ${call}, ${path}, ${dir1}, ${dir2}, ..., ${template}, ${base}, ${ext}, ${cid}, ${host}, ${rid}, \
                     ${label}, ${1} or ${name} of the rule's path expression, and $$ for a dollar sign";

/// Ordered rules.
#[derive(Clone, Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    fallback: Option<Preset>,
    attributes: Vec<Attribute>,
}

#[derive(Clone, Debug)]
struct Rule {
    calls: Vec<GlobMatcher>,
    path: Option<Regex>,
    attributes: Vec<(Attribute, Regex)>,
    failed: Option<bool>,
    /// `None` drops the event.
    activity: Option<Pattern>,
}

impl Rules {
    /// The activity that the first fitting rule gives.
    #[must_use]
    pub fn activity(&self, subject: &Subject<'_>) -> Option<String> {
        match self.rules.iter().find(|rule| rule.fits(subject)) {
            Some(rule) => rule.activity(subject),
            None => self.fallback?.activity(subject.call, subject.path, subject.moves_data),
        }
    }

    /// The attributes of a case that any rule looks at, without repetition.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Whether any rule looks at failure.
    #[must_use]
    pub fn sees_failure(&self) -> bool {
        self.rules.iter().any(|rule| rule.failed.is_some())
    }
}

impl Rule {
    fn fits(&self, subject: &Subject<'_>) -> bool {
        (self.calls.is_empty() || self.calls.iter().any(|call| call.is_match(subject.call)))
            && self.failed.is_none_or(|failed| failed == subject.failed)
            && self.attributes.iter().all(|(attribute, regex)| {
                attribute.of(subject.case, "").is_some_and(|value| regex.is_match(value))
            })
            && self.path.as_ref().is_none_or(|regex| subject.path.is_some_and(|path| regex.is_match(path)))
    }

    fn activity(&self, subject: &Subject<'_>) -> Option<String> {
        let pattern = self.activity.as_ref()?;
        let groups = match (&self.path, subject.path) {
            (Some(regex), Some(path)) if pattern.needs_groups() => regex.captures(path),
            _ => None,
        };
        Some(pattern.fill(subject, groups.as_ref()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    preset: Option<Spanned<String>>,
    #[serde(default)]
    variables: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    rule: Vec<Spanned<RawRule>>,
    #[serde(default)]
    process: Vec<Spanned<process_rules::RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    call: Option<Spanned<toml::Value>>,
    path: Option<Spanned<String>>,
    cid: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    rid: Option<Spanned<String>>,
    label: Option<Spanned<String>>,
    failed: Option<bool>,
    activity: Option<Spanned<String>>,
    drop: Option<bool>,
}

/// Reads a rules file.
///
/// # Errors
/// If it cannot be read or understood; the error names file, line and column.
pub(crate) fn load(file: &str) -> Result<(Rules, Variables), QueryError> {
    parse(file, &read(file)?)
}

/// The text of a rules file.
pub(crate) fn read(file: &str) -> Result<String, QueryError> {
    let read = || {
        let mut text = String::new();
        let input = std::fs::File::open(file)?;
        if input.metadata()?.is_dir() {
            return Err(std::io::Error::other("it is a directory"));
        }
        input.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|source| QueryError::Read {
        file: iotrail_model::text::printable(file).into_owned(),
        source,
    })
}

/// The variables of the configuration file named `file`, which is a rules file without a mapping.
///
/// # Errors
/// If it cannot be read, is no such file, or has rules: a mapping that nobody asked for would surprise.
pub(crate) fn load_variables(file: &str) -> Result<Variables, QueryError> {
    let (rules, variables) = load(file)?;
    if !rules.rules.is_empty() || rules.fallback.is_some() {
        return Err(QueryError::NotVariablesOnly(file.to_owned()));
    }
    Ok(variables)
}

/// The rules and variables in `text`; errors call it `file`.
///
/// # Errors
/// If it is no rules file; the error names file, line and column.
pub(crate) fn parse(file: &str, text: &str) -> Result<(Rules, Variables), QueryError> {
    let source = Source::new(file, text);
    let raw = source.raw()?;
    ProcessRules::new(&source, &raw.process)?;
    let mut variables = Variables::default();
    for (name, path) in &raw.variables {
        variables.set(name, path.get_ref()).or_else(|problem| {
            let problem = format!("variable `{}`: {problem}", iotrail_model::text::printable(name));
            source.error(path.span(), &problem, variables::ALLOWED)
        })?;
    }
    let fallback = raw.preset.as_ref().map(|word| source.preset(word)).transpose()?;
    let rules = raw.rule.iter().map(|rule| source.rule(rule)).collect::<Result<Vec<_>, _>>()?;
    let attributes = attributes(&rules);
    Ok((Rules { rules, fallback, attributes }, variables))
}

/// The `[[process]]` rules of a rules file.
pub(crate) fn processes(source: &Source<'_>) -> Result<ProcessRules, QueryError> {
    ProcessRules::new(source, &source.raw()?.process)
}

fn attributes(rules: &[Rule]) -> Vec<Attribute> {
    let mut all = Vec::new();
    for rule in rules {
        let tested = rule.attributes.iter().map(|(attribute, _)| *attribute);
        for attribute in tested.chain(rule.activity.iter().flat_map(Pattern::attributes)) {
            if !all.contains(&attribute) {
                all.push(attribute);
            }
        }
    }
    all
}

/// The file under examination.
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(crate) const fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text }
    }

    fn raw(&self) -> Result<RawFile, QueryError> {
        const ALLOWED: &str = "a rules file has at most 2000 rules of each kind";
        if self.text.len() as u64 > LARGEST_FILE {
            return self.error(0..0, "the file is larger than 1 MiB", ALLOWED);
        }
        let raw: RawFile = toml::from_str(self.text).or_else(|error| self.toml_error(&error))?;
        let excess =
            raw.rule.get(MOST_RULES).map(Spanned::span).or(raw.process.get(MOST_RULES).map(Spanned::span));
        match excess {
            Some(place) => self.error(place, "too many rules", ALLOWED),
            None => Ok(raw),
        }
    }

    pub(crate) fn error<T>(&self, span: Range<usize>, problem: &str, allowed: &str) -> Result<T, QueryError> {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Err(QueryError::Rules {
            file: iotrail_model::text::printable(self.file).into_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: problem.to_owned(),
            allowed: allowed.to_owned(),
        })
    }

    fn toml_error<T>(&self, error: &toml::de::Error) -> Result<T, QueryError> {
        let message = error.message().replace('\n', " ");
        self.error(error.span().unwrap_or(0..0), &iotrail_model::text::printable(&message), KEYS)
    }

    fn preset(&self, word: &Spanned<String>) -> Result<Preset, QueryError> {
        let found = || format!("`{}` is not a preset", iotrail_model::text::printable(word.get_ref()));
        match Preset::from_name(word.get_ref()) {
            Some(preset) => Ok(preset),
            None => self.error(word.span(), &found(), &format!("write {}", preset::NAMES)),
        }
    }

    fn rule(&self, spanned: &Spanned<RawRule>) -> Result<Rule, QueryError> {
        let raw = spanned.get_ref();
        let regex = |word: &Option<Spanned<String>>| word.as_ref().map(|word| self.regex(word)).transpose();
        let path = regex(&raw.path)?;
        let mut attributes = Vec::new();
        for (attribute, word) in [
            (Attribute::Cid, &raw.cid),
            (Attribute::Host, &raw.host),
            (Attribute::Rid, &raw.rid),
            (Attribute::Label, &raw.label),
        ] {
            attributes.extend(regex(word)?.map(|regex| (attribute, regex)));
        }
        let activity = match (&raw.activity, raw.drop.unwrap_or(false)) {
            (Some(word), false) => Some(self.pattern(word, path.as_ref())?),
            (None, true) => None,
            (Some(word), true) => {
                return self.error(word.span(), "a rule with both activity and drop", "write one of them");
            }
            (None, false) => {
                return self.error(
                    spanned.span(),
                    "a rule that says nothing about the activity",
                    "write activity = \"${call}:${dir2}\" or another text, or drop = true",
                );
            }
        };
        Ok(Rule { calls: self.calls(raw.call.as_ref())?, path, attributes, failed: raw.failed, activity })
    }

    pub(crate) fn regex(&self, word: &Spanned<String>) -> Result<Regex, QueryError> {
        let built =
            RegexBuilder::new(word.get_ref()).size_limit(REGEX_LIMIT).dfa_size_limit(REGEX_LIMIT).build();
        built.or_else(|error| {
            self.error(
                word.span(),
                &regex_problem(&error),
                "write an expression in the syntax of the Rust crate regex",
            )
        })
    }

    fn pattern(&self, word: &Spanned<String>, path: Option<&Regex>) -> Result<Pattern, QueryError> {
        Pattern::parse(word.get_ref(), path).or_else(|problem| self.error(word.span(), &problem, HOLES))
    }

    fn calls(&self, value: Option<&Spanned<toml::Value>>) -> Result<Vec<GlobMatcher>, QueryError> {
        const ALLOWED: &str = "write call = \"read\", call = \"p*\" or call = [\"read\", \"write\"]";
        let Some(value) = value else { return Ok(Vec::new()) };
        let wrong = |problem: &str| self.error(value.span(), problem, ALLOWED);
        let words: Option<Vec<&str>> = match value.get_ref() {
            toml::Value::String(word) => Some(vec![word]),
            toml::Value::Array(words) if !words.is_empty() => words.iter().map(toml::Value::as_str).collect(),
            _ => None,
        };
        let Some(words) = words else { return wrong("call is neither a text nor a list of texts") };
        let matchers: Result<Vec<_>, String> = words.into_iter().map(call_matcher).collect();
        matchers.or_else(|problem| wrong(&problem))
    }
}

fn call_matcher(word: &str) -> Result<GlobMatcher, String> {
    if word.is_empty() {
        return Err("an empty name of a call".to_owned());
    }
    let glob = GlobBuilder::new(word).build().map_err(|error| format!("not a glob ({})", error.kind()))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Case, CaseName};

    const FILE: &str = r#"
preset = "dir2"

[variables]
SCRATCH = "/p/scratch/"

[[rule]]
call = ["read*", "pread64"]
path = '^\$SCRATCH/(?<mode>\w+)/(.*)'
activity = "in:${mode} ${2} ${base} ${dir1} ${ext} $$ $x"

[[rule]]
path = "^/proc/"
drop = true

[[rule]]
call = "openat"
failed = true
rid = "^0$"
activity = "failed open on ${host} by ${rid} of ${label}"

[[rule]]
call = "brk"
activity = "memory"
"#;

    fn subject<'a>(call: &'a str, path: Option<&'a str>, failed: bool, case: &'a Case) -> Subject<'a> {
        Subject { call, path, moves_data: call == "read", failed, case }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let (rules, variables) = parse("my.toml", FILE).unwrap();
        let name = CaseName { cid: None, host: Some("n1".into()), rid: Some("0".into()) };
        let case = Case { name, ..Case::default() };
        let f = |call, path, failed| rules.activity(&subject(call, path, failed, &case));
        assert_eq!(
            f("readv", Some("$SCRATCH/ssf/a/b.dat"), false).unwrap(),
            "in:ssf a/b.dat b.dat $SCRATCH .dat $ $x"
        );
        assert_eq!(f("read", Some("/proc/stat"), false), None);
        assert_eq!(f("openat", Some("/x"), true).unwrap(), "failed open on n1 by 0 of ?");
        assert_eq!(f("openat", Some("/x"), false).unwrap(), "openat:/x");
        assert_eq!(f("brk", None, false).unwrap(), "memory");
        assert_eq!(f("mmap", None, false), None);
        assert_eq!(variables.shorten("/p/scratch/a"), "$SCRATCH/a");
        assert_eq!(rules.attributes(), [Attribute::Rid, Attribute::Host, Attribute::Label]);
        assert!(rules.sees_failure());
    }

    #[test]
    fn without_a_preset_the_rest_is_not_mapped() {
        let (rules, _) = parse("my.toml", "[[rule]]\ncall = 'read'\nactivity = 'r'").unwrap();
        let case = Case::default();
        assert_eq!(rules.activity(&subject("read", None, false, &case)).unwrap(), "r");
        assert_eq!(rules.activity(&subject("write", Some("/a"), false, &case)), None);
    }

    #[test]
    fn errors_name_line_and_column_and_what_is_allowed() {
        let rule = |text: &str| format!("# rules\n[[rule]]\n{text}\n");
        let bad = [
            "preset = 'dir0'".to_owned(),
            "presets = 'dir2'".to_owned(),
            "[variables]\nA = 'x'".to_owned(),
            "[variables]\n'é b' = '/x'".to_owned(),
            "[[rule]\n".to_owned(),
            rule("pth = '^/x'\nactivity = 'x'"),
            rule("path = '^/x'"),
            rule("path = '^/x'\nactivity = 'x'\ndrop = true"),
            rule("path = '(/x'\nactivity = 'x'"),
            rule("path = '\\w{900}{900}'\nactivity = 'x'"),
            rule("path = '(a)'\nactivity = '${2}'"),
            rule("activity = '${dir}'"),
            rule("activity = '${call'"),
            rule("activity = ''"),
            rule("call = 3\nactivity = 'x'"),
            rule("call = ['read', 3]\nactivity = 'x'"),
            rule("call = 'read['\nactivity = 'x'"),
            rule("failed = 'yes'\nactivity = 'x'"),
        ];
        let messages: Vec<String> =
            bad.iter().map(|text| parse("my.toml", text).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    #[test]
    fn hostile_files_are_refused_quickly() {
        assert!(parse("f", &"a".repeat(2 << 20)).is_err());
        assert!(parse("f", &"[".repeat(100_000)).is_err());
        assert!(parse("f", &"[[rule]]\nactivity='x'\n".repeat(2001)).is_err());
        assert!(parse("f", &format!("[[rule]]\nactivity='x'\npath='{}'", "(".repeat(10_000))).is_err());
        assert!(load("/nonexistent/\u{1b}x").unwrap_err().to_string().contains("/nonexistent/\\u{1b}x"));
        assert!(load("/").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_pattern_panics(text in "[${}a-e0-9é]{0,20}") {
            let regex = Regex::new("(a)(?<b>c)").unwrap();
            if let Ok(pattern) = Pattern::parse(&text, Some(&regex)) {
                let case = Case::default();
                let subject = subject("read", Some("/ac"), false, &case);
                pattern.fill(&subject, regex.captures("/ac").as_ref());
            }
        }
    }
}
