//! Rules from a file: what is replaced by what, and what stays.
//!
//! ```toml
//! keep = ["/scratch/public/**"]      # globs of paths that stay as they are
//!
//! [[path]]
//! match = '^/home/[^/]+'             # a regular expression
//! replace = "/home/user"             # with $1, ${name}
//!
//! [[argument]]                       # each word of a command line, each value of a variable
//! match = '--token=.*'
//! replace = "--token=…"
//!
//! [[host]]
//! match = '^node(\d+)\..*'
//! replace = "n$1"
//! ```
//! All rules of a kind are applied, one after the other.

use crate::error::RedactError;
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

const LARGEST_FILE: u64 = 1 << 20;
const REGEX_LIMIT: usize = 1 << 20;

/// What is replaced, and what stays.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    keep: Vec<GlobMatcher>,
    path: Vec<Rule>,
    argument: Vec<Rule>,
    host: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    regex: Regex,
    replace: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    keep: Vec<String>,
    path: Vec<Entry>,
    argument: Vec<Entry>,
    host: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    r#match: String,
    replace: String,
}

impl Rules {
    /// The rules of a file.
    ///
    /// # Errors
    /// If the file cannot be read or understood.
    pub fn load(path: &Path) -> Result<Self, RedactError> {
        let read = |source| RedactError::Read { path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(read)?;
        file.take(LARGEST_FILE).read_to_string(&mut text).map_err(read)?;
        Self::parse(&text).map_err(|why| RedactError::Rules { path: path.to_owned(), why })
    }

    /// The rules that a text says.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let rules = |entries: Vec<Entry>| entries.into_iter().map(rule).collect::<Result<Vec<_>, _>>();
        Ok(Self {
            keep: globs(&file.keep)?,
            path: rules(file.path)?,
            argument: rules(file.argument)?,
            host: rules(file.host)?,
        })
    }

    /// Further paths that stay.
    ///
    /// # Errors
    /// If one is no glob.
    pub fn keep(mut self, patterns: &[String]) -> Result<Self, RedactError> {
        let more = globs(patterns).map_err(RedactError::Keep)?;
        self.keep.extend(more);
        Ok(self)
    }

    pub(crate) fn keeps(&self, path: &str) -> bool {
        self.keep.iter().any(|glob| glob.is_match(path))
    }

    pub(crate) fn path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        apply(&self.path, path)
    }

    pub(crate) fn argument<'a>(&self, word: &'a str) -> Cow<'a, str> {
        apply(&self.argument, word)
    }

    pub(crate) fn host<'a>(&self, host: &'a str) -> Cow<'a, str> {
        apply(&self.host, host)
    }
}

fn globs(patterns: &[String]) -> Result<Vec<GlobMatcher>, String> {
    let glob = |pattern: &String| {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        glob.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
    };
    patterns.iter().map(glob).collect()
}

fn rule(entry: Entry) -> Result<Rule, String> {
    let regex = RegexBuilder::new(&entry.r#match).size_limit(REGEX_LIMIT).build();
    Ok(Rule { regex: regex.map_err(|error| error.to_string())?, replace: entry.replace })
}

fn apply<'a>(rules: &[Rule], text: &'a str) -> Cow<'a, str> {
    rules.iter().fold(Cow::Borrowed(text), |text, rule| {
        if rule.regex.is_match(&text) {
            Cow::Owned(rule.regex.replace_all(&text, rule.replace.as_str()).into_owned())
        } else {
            text
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_apply_one_after_the_other_and_unknown_keys_are_told() {
        let rules = Rules::parse(
            "keep = ['/pub/**']\n[[path]]\nmatch='^/home/[^/]+'\nreplace='/home/user'\n\
             [[path]]\nmatch='/(\\w+)\\.dat$'\nreplace='/$1.x'\n[[host]]\nmatch='\\..*'\nreplace=''",
        )
        .unwrap();
        assert_eq!(rules.path("/home/ada/k.dat"), "/home/user/k.x");
        assert_eq!(rules.host("n1.site.org"), "n1");
        assert!(rules.keeps("/pub/a/b") && !rules.keeps("/p"));
        assert!(Rules::parse("[[paths]]").unwrap_err().contains("paths"));
        assert!(Rules::parse("[[path]]\nmatch='('\nreplace=''").unwrap_err().contains('('));
        assert!(Rules::default().keep(&["[".to_owned()]).is_err());
    }
}
