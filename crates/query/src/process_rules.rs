//! Groups of processes by the ordered rules of a file, the same that may hold a mapping (see `rules`).
//!
//! ```toml
//! [[process]]
//! exe = '/m(Diff|Fit)[^/]*$'       # path of the last executable
//! cmd = ' -p (\S+)'                # command line, a blank between the words
//! env = '^JOBID=(.*)$'             # any recorded variable, NAME=value, its own or inherited
//! cwd = '^/scratch/'               # working directory
//! host = '^node'                   # also cid, rid, label: of its case
//! group = "fit ${1} of ${env.1}"
//!
//! [[process]]
//! exe = '/(sh|bash)$'
//! drop = true                      # in no group
//! ```
//! Expressions are regular and unanchored; a rule fits if all of its expressions match. What is unknown matches nothing.
//! The first rule that fits decides; a process that no rule fits is in no group.
//!
//! | hole of `group` | what stands there |
//! |---|---|
//! | `${exe}` | the base name of the executable |
//! | `${cid}`, `${host}`, `${rid}`, `${label}` | attributes of the case |
//! | `${exe.1}`, `${cmd.name}`, `${env.1}`, `${cwd.1}` | group of that expression of the rule; nothing if it took no part |
//! | `${1}`, `${name}` | the same of the first of exe, cmd, env, cwd that the rule has |
//!
//! What is unknown is `?`; `$$` is `$`.

use crate::attribute::Attribute;
use crate::error::QueryError;
use crate::preset::base;
use crate::rules::{self, Source};
use crate::template;
use iotrail_model::Case;
use regex::Regex;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

const HOLES: &str = "write ${exe}, ${cid}, ${host}, ${rid}, ${label}, ${1} or ${name} of the rule's first expression, \
                     ${cmd.1} of a certain one, and $$ for a dollar sign";

/// Ordered rules for groups of processes.
#[derive(Clone, Debug, Default)]
pub struct ProcessRules(Vec<Rule>);

/// What a rule sees of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) exe: Option<&'a str>,
    pub(crate) command: Option<&'a str>,
    pub(crate) environment: &'a [&'a str],
    pub(crate) cwd: Option<&'a str>,
    pub(crate) case: &'a Case,
}

/// A fact of a process that expressions look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Exe,
    Command,
    Environment,
    Cwd,
}

impl Fact {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Exe, "exe"), (Self::Command, "cmd"), (Self::Environment, "env"), (Self::Cwd, "cwd")];

    fn of<'a>(self, subject: &Subject<'a>, regex: &Regex) -> Option<&'a str> {
        match self {
            Self::Exe => subject.exe,
            Self::Command => subject.command,
            Self::Cwd => subject.cwd,
            Self::Environment => {
                return subject.environment.iter().copied().find(|entry| regex.is_match(entry));
            }
        }
        .filter(|text| regex.is_match(text))
    }
}

#[derive(Clone, Debug)]
struct Rule {
    expressions: Vec<(Fact, Regex)>,
    attributes: Vec<(Attribute, Regex)>,
    /// `None`: in no group.
    group: Option<Vec<Piece>>,
}

/// A piece of a group's name.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Exe,
    Attribute(Attribute),
    /// Group of the expression at that place of the rule.
    Capture(usize, usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRule {
    exe: Option<Spanned<String>>,
    cmd: Option<Spanned<String>>,
    env: Option<Spanned<String>>,
    cwd: Option<Spanned<String>>,
    cid: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    rid: Option<Spanned<String>>,
    label: Option<Spanned<String>>,
    group: Option<Spanned<String>>,
    drop: Option<bool>,
}

impl ProcessRules {
    /// The `[[process]]` rules of a rules file.
    ///
    /// # Errors
    /// If it cannot be read or understood, or has none; the error names file, line and column.
    pub fn load(file: &str) -> Result<Self, QueryError> {
        Self::parse(file, &rules::read(file)?)
    }

    /// The `[[process]]` rules in `text`; errors call it `file`.
    ///
    /// # Errors
    /// If it is no rules file or has none; the error names file, line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, QueryError> {
        let source = Source::new(file, text);
        let found = rules::processes(&source)?;
        if found.0.is_empty() {
            let allowed =
                "write [[process]], then exe, cmd, env, cwd, host, cid, rid or label, and group = \"...\"";
            return source.error(0..0, "the file has no rule for groups of processes", allowed);
        }
        Ok(found)
    }

    pub(crate) fn new(source: &Source<'_>, raw: &[Spanned<RawRule>]) -> Result<Self, QueryError> {
        raw.iter().map(|raw| rule(source, raw)).collect::<Result<_, _>>().map(Self)
    }

    /// The name that the first fitting rule gives.
    pub(crate) fn group(&self, subject: &Subject<'_>) -> Option<String> {
        self.0
            .iter()
            .find_map(|rule| Some((rule, rule.fit(subject)?)))
            .and_then(|(rule, texts)| rule.name(subject, &texts))
    }

    /// Whether any rule looks at the environment.
    pub(crate) fn needs_environment(&self) -> bool {
        self.0.iter().flat_map(|rule| &rule.expressions).any(|(fact, _)| *fact == Fact::Environment)
    }
}

impl Rule {
    /// What each expression matched, if all did.
    fn fit<'a>(&self, subject: &Subject<'a>) -> Option<Vec<&'a str>> {
        let attributes = self.attributes.iter().all(|(attribute, regex)| {
            attribute.of(subject.case, "").is_some_and(|value| regex.is_match(value))
        });
        attributes.then_some(())?;
        self.expressions.iter().map(|(fact, regex)| fact.of(subject, regex)).collect()
    }

    fn name(&self, subject: &Subject<'_>, texts: &[&str]) -> Option<String> {
        let mut name = String::new();
        for piece in self.group.as_ref()? {
            match piece {
                Piece::Text(text) => name.push_str(text),
                Piece::Exe => name.push_str(subject.exe.map_or("?", base)),
                Piece::Attribute(attribute) => name.push_str(attribute.of(subject.case, "").unwrap_or("?")),
                Piece::Capture(index, number) => {
                    let captures = self.expressions[*index].1.captures(texts[*index]);
                    let group = captures.as_ref().and_then(|captures| captures.get(*number));
                    name.push_str(group.map_or("", |group| group.as_str()));
                }
            }
        }
        Some(name)
    }
}

fn rule(source: &Source<'_>, spanned: &Spanned<RawRule>) -> Result<Rule, QueryError> {
    let raw = spanned.get_ref();
    let mut expressions = Vec::new();
    for ((fact, _), word) in Fact::ALL.into_iter().zip([&raw.exe, &raw.cmd, &raw.env, &raw.cwd]) {
        if let Some(word) = word {
            expressions.push((fact, source.regex(word)?));
        }
    }
    let mut attributes = Vec::new();
    for (attribute, word) in [
        (Attribute::Cid, &raw.cid),
        (Attribute::Host, &raw.host),
        (Attribute::Rid, &raw.rid),
        (Attribute::Label, &raw.label),
    ] {
        if let Some(word) = word {
            attributes.push((attribute, source.regex(word)?));
        }
    }
    let group = match (&raw.group, raw.drop.unwrap_or(false)) {
        (Some(word), false) => Some(
            pieces(word.get_ref(), &expressions)
                .or_else(|problem| source.error(word.span(), &problem, HOLES))?,
        ),
        (None, true) => None,
        (Some(word), true) => {
            return source.error(word.span(), "a rule with both group and drop", "write one of them");
        }
        (None, false) => return no_group(source, spanned.span()),
    };
    Ok(Rule { expressions, attributes, group })
}

fn no_group<T>(source: &Source<'_>, span: Range<usize>) -> Result<T, QueryError> {
    let allowed = "write group = \"${exe}\" or another text, or drop = true";
    source.error(span, "a rule that says nothing about the group", allowed)
}

fn pieces(text: &str, expressions: &[(Fact, Regex)]) -> Result<Vec<Piece>, String> {
    let pieces = template::pieces(text, Piece::Text, |hole| piece(hole, expressions))?;
    if pieces.is_empty() { Err("a group without a name".to_owned()) } else { Ok(pieces) }
}

fn piece(hole: &str, expressions: &[(Fact, Regex)]) -> Result<Piece, String> {
    if hole == "exe" {
        return Ok(Piece::Exe);
    }
    if let Some(attribute) = Attribute::from_name(hole).filter(|attribute| *attribute != Attribute::Trail) {
        return Ok(Piece::Attribute(attribute));
    }
    let shown = iotrail_model::text::printable(hole);
    let of_fact = hole.split_once('.').and_then(|(fact, group)| {
        let (fact, _) = Fact::ALL.into_iter().find(|(_, name)| *name == fact)?;
        Some((expressions.iter().position(|(tested, _)| *tested == fact), group))
    });
    let (index, group) = of_fact.unwrap_or(((!expressions.is_empty()).then_some(0), hole));
    let Some(index) = index else {
        return Err(format!("`${{{shown}}}` is not a name, and the rule has no such expression with groups"));
    };
    let regex = &expressions[index].1;
    let number = match group.parse::<usize>() {
        Ok(number) => (number < regex.captures_len()).then_some(number),
        Err(_) => regex.capture_names().position(|name| name == Some(group)),
    };
    let number =
        number.ok_or_else(|| format!("`${{{shown}}}` is not a name and no group of the expression"))?;
    Ok(Piece::Capture(index, number))
}
