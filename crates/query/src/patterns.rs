//! Globs for selecting: lists of words compiled to one set.

use crate::error::QueryError;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

const MOST: usize = 10_000;
const LONGEST: usize = 4096;

/// The set of all globs in `words`, each of which `rewrite` may turn into several.
pub(crate) fn set<'a>(
    option: &'static str,
    words: impl Iterator<Item = &'a str>,
    separator_is_literal: bool,
    rewrite: impl Fn(&str) -> Vec<String>,
) -> Result<GlobSet, QueryError> {
    const ALLOWED: &str = "write a name, or a glob with *, ?, [ab], {a,b} (in paths also **); \\ before such a character takes it as it is";
    let mut builder = GlobSetBuilder::new();
    for (number, word) in words.enumerate() {
        let wrong = |problem: &str| QueryError::word(option, word, problem, ALLOWED);
        if word.is_empty() {
            return Err(wrong("nothing to match"));
        }
        if number >= MOST || word.len() > LONGEST {
            return Err(wrong("too long, or too many"));
        }
        for text in rewrite(word) {
            builder.add(
                glob(&text, separator_is_literal)
                    .map_err(|error| wrong(&format!("not a glob ({})", error.kind())))?,
            );
        }
    }
    builder
        .build()
        .map_err(|error| QueryError::word(option, "", format!("not globs ({})", error.kind()), ALLOWED))
}

fn glob(text: &str, separator_is_literal: bool) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(separator_is_literal).backslash_escape(true).build()
}

/// What stands for numbers in canonical names; as classes of characters these words would be of no use.
const CANONICAL: [(&str, &str); 4] =
    [("[pid]", "\\[pid\\]"), ("[tid]", "\\[tid\\]"), ("[n]", "\\[n\\]"), ("[range]", "\\[range\\]")];

/// A pattern without a slash is matched against the last component, wherever it is; one without special characters also
/// matches everything below. One with brackets is tried as it stands, too, so that `pipe:[7]` can be pasted from a trace.
pub(crate) fn path_globs(word: &str) -> Vec<String> {
    let everywhere = !word.contains('/') && !word.starts_with('$');
    let anchored = |pattern: &str| if everywhere { format!("**/{pattern}") } else { pattern.to_owned() };
    if !word.contains(['*', '?', '[', '{', '\\']) {
        let directory = anchored(word.trim_end_matches('/'));
        return vec![
            format!("{directory}/**"),
            if directory.is_empty() { "/".to_owned() } else { directory },
        ];
    }
    let escaped = CANONICAL.iter().fold(word.to_owned(), |word, (name, literal)| word.replace(name, literal));
    let mut patterns = vec![anchored(&escaped)];
    if word.contains('[') && !word.contains('\\') {
        patterns.push(anchored(&globset::escape(word)));
    }
    patterns
}

/// The parts of words that are lists separated by commas outside braces.
pub(crate) fn listed(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().flat_map(|word| {
        let mut depth = 0_i32;
        word.split(move |character| {
            depth += i32::from(character == '{') - i32::from(character == '}');
            character == ',' && depth <= 0
        })
        .map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(word: &str, path: &str) -> bool {
        set("path", [word].into_iter(), true, path_globs).unwrap().is_match(path)
    }

    #[test]
    fn paths_match_as_one_expects() {
        for (word, path, expected) in [
            ("/etc/passwd", "/etc/passwd", true),
            ("/etc", "/etc/passwd", true),
            ("/etc/", "/etc", true),
            ("/etc", "/etcetera", false),
            ("/etc/*", "/etc/a/b", false),
            ("/etc/**", "/etc/a/b", true),
            ("*.dat", "/s/a/x.dat", true),
            ("passwd", "/etc/passwd", true),
            ("pipe", "pipe", true),
            ("pipe:*", "pipe:[7]", true),
            ("pipe:[7]", "pipe:[7]", true),
            ("/proc/[pid]/**", "/proc/[pid]/fd/[n]", true),
            ("/proc/[pid]/**", "/proc/p/stat", false),
            ("/s/[ab].dat", "/s/b.dat", true),
            ("$SCRATCH", "$SCRATCH/x", true),
            ("$SCRATCH/**", "$SCRATCH/a/x", true),
            ("/", "/any", true),
            ("/a\\*", "/a*", true),
            ("/a\\*", "/ab", false),
            ("/{a,b}/*", "/b/x", true),
        ] {
            assert_eq!(matches(word, path), expected, "{word} {path}");
        }
    }

    #[test]
    fn commas_in_braces_do_not_separate() {
        let words = ["read, w{a,b}*".to_owned(), "x".to_owned()];
        assert_eq!(listed(&words).collect::<Vec<_>>(), ["read", "w{a,b}*", "x"]);
    }

    #[test]
    fn hostile_globs_are_refused() {
        for word in ["", "[", "{a", &"{a,b}".repeat(2000), &"[a-z]*".repeat(3000)] {
            assert!(set("path", [word].into_iter(), true, path_globs).is_err());
        }
    }
}
