//! Site variables: short names of long directories (`$SCRATCH` for `/p/scratch/project/user`).
//!
//! The paper's second mapping "abstracts the file paths based on site-specific variables" (section V-A, Fig. 8): a path
//! below the value of a variable begins with the variable's name instead, before anything else looks at it. A variable
//! counts as one directory level, so that `dir2` gives `$SCRATCH/ssf`.

use crate::error::QueryError;
use std::borrow::Cow;

/// Directories and the names that stand for them, longest directory first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    entries: Vec<(String, String)>,
}

impl Variables {
    /// The variables written as `NAME=PATH` or `$NAME=PATH`.
    ///
    /// # Errors
    /// If a word is not of this form.
    pub fn parse(words: &[String]) -> Result<Self, QueryError> {
        let mut variables = Self::default();
        for word in words {
            let (name, path) = word.split_once('=').unwrap_or((word, ""));
            variables.set(name, path).map_err(|problem| QueryError::word("var", word, problem, ALLOWED))?;
        }
        Ok(variables)
    }

    /// Adds a variable, or replaces the one of that name.
    ///
    /// # Errors
    /// What is wrong with the name or the path.
    pub fn set(&mut self, name: &str, path: &str) -> Result<(), String> {
        let name = name.strip_prefix('$').unwrap_or(name);
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{}` is not a name", iotrail_model::text::printable(name)));
        }
        let path = path.trim_end_matches('/');
        if !path.starts_with('/') {
            return Err("the path must begin with / and be more than that".to_owned());
        }
        self.entries.retain(|(_, known)| known.strip_prefix('$') != Some(name));
        self.entries.push((path.to_owned(), format!("${name}")));
        self.entries.sort_by(|(a, x), (b, y)| b.len().cmp(&a.len()).then_with(|| (a, x).cmp(&(b, y))));
        Ok(())
    }

    /// These variables, and those of `weaker` whose names are not among them.
    #[must_use]
    pub fn or(mut self, weaker: &Self) -> Self {
        for (path, name) in &weaker.entries {
            if !self.entries.iter().any(|(_, known)| known == name) {
                self.entries.push((path.clone(), name.clone()));
            }
        }
        self.entries.sort_by(|(a, x), (b, y)| b.len().cmp(&a.len()).then_with(|| (a, x).cmp(&(b, y))));
        self
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Names (with `$`) and their directories, longest directory first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(path, name)| (name.as_str(), path.as_str()))
    }

    /// `path` with the longest directory that has a name replaced by it.
    #[must_use]
    pub fn shorten<'a>(&self, path: &'a str) -> Cow<'a, str> {
        for (directory, name) in &self.entries {
            if let Some(rest) = path.strip_prefix(directory.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return Cow::Owned(format!("{name}{rest}"));
            }
        }
        Cow::Borrowed(path)
    }
}

/// What a variable looks like, for messages.
pub(crate) const ALLOWED: &str = "write NAME=/absolute/path with a name of letters, digits and _";

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(words: &[&str]) -> Variables {
        Variables::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_longest_directory_wins_at_borders_of_components() {
        let site = variables(&["SCRATCH=/p/scratch", "$RUN=/p/scratch/run/", "HOME=/home/ann"]);
        for (path, short) in [
            ("/p/scratch/ssf/test", "$SCRATCH/ssf/test"),
            ("/p/scratch/run/out", "$RUN/out"),
            ("/p/scratch/run", "$RUN"),
            ("/p/scratch/runs", "$SCRATCH/runs"),
            ("/p/scratchy/x", "/p/scratchy/x"),
            ("/home/ann", "$HOME"),
            ("/home/anna", "/home/anna"),
            ("pipe", "pipe"),
        ] {
            assert_eq!(site.shorten(path), short);
        }
    }

    #[test]
    fn a_later_word_replaces_an_earlier_one_and_the_command_line_wins() {
        let site = variables(&["A=/x", "A=/y"]);
        assert_eq!(site.iter().collect::<Vec<_>>(), [("$A", "/y")]);
        let both = site.or(&variables(&["A=/z", "B=/longer"]));
        assert_eq!(both.iter().collect::<Vec<_>>(), [("$B", "/longer"), ("$A", "/y")]);
    }

    #[test]
    fn words_that_are_no_variable_are_refused() {
        for word in ["", "A", "A=", "A=/", "A=x", "=/x", "A B=/x", "$=/x"] {
            assert!(Variables::parse(&[word.to_owned()]).is_err(), "{word}");
        }
    }
}
