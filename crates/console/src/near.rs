//! What was probably meant by a word that nothing is called by.

use std::path::{Path, PathBuf};

/// Longer words are compared with nothing.
const LONGEST: usize = 128;

/// How many entries of a directory are looked at.
const ENTRIES: usize = 4096;

/// The candidate that `word` is a misspelling of: at most a third of the letters differ, and two that changed places count once.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let distance = |candidate: &&str| strsim::damerau_levenshtein(word, candidate);
    let short = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let (distance, found) = short.map(|candidate| (distance(&candidate), candidate)).min()?;
    (distance <= (word.chars().count() / 3).max(1)).then_some(found)
}

/// The trails in a directory, by name.
pub(crate) fn trails_in(directory: &Path) -> Vec<PathBuf> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(entries) = directory.read_dir() else { return Vec::new() };
    let paths = entries.take(ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let plain = |path: PathBuf| path.strip_prefix("./").map(Path::to_owned).unwrap_or(path);
    let mut trails: Vec<PathBuf> = paths.filter(|path| iotrail_trail::is_trail(path)).map(plain).collect();
    trails.sort();
    trails
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_have_a_meaning_and_others_have_none() {
        let known = ["dfg", "sql", "events", "dir2", "auto", "read", "readv"];
        let expected = [
            ("dgf", Some("dfg")),
            ("slq", Some("sql")),
            ("evnts", Some("events")),
            ("dirr2", Some("dir2")),
            ("raed", Some("read")),
            ("xyzzy", None),
            ("", None),
        ];
        for (word, meant) in expected {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1 << 20), known), None);
    }
}
