//! Case names from file names (paper, section III: trace files are named `CID_HOST_RID.st`).
//!
//! Without a pattern, names of the form `{cid}_{host}_{rid}` with or without an extension are taken apart at their last
//! two underscores: host names hold dots and dashes but no underscore, and command names may hold anything. Because a
//! guess must not be silly, the rank then has to be a number and the host must not be one.
//!
//! With a pattern, its text must match the whole file name; where there is a choice, fields further left take as much
//! as they can, so the split is again the rightmost one. A pattern with slashes is matched against as many directories.
//!
//! Names that do not match: `PREFIX.NUMBER` is cid and rid (`strace -ff` and many batch scripts), everything else is a
//! cid without its extension. The suffix of compressed files is no part of the name.

use iotrail_model::CaseName;
use std::collections::BTreeMap;
use std::str::FromStr;

const COMPRESSED: [&str; 3] = [".gz", ".xz", ".zst"];

/// How file names become case names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CasePattern {
    /// `{cid}_{host}_{rid}.EXT`, guessed with care.
    #[default]
    Guess,
    /// As the user said.
    Given(Template),
}

/// A parsed pattern such as `{cid}_{host}_{rid}.st`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Cid,
    Host,
    Rid,
}

/// Why a text is no pattern for case names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// `{` without `}`.
    #[error(
        "case name pattern `{pattern}`: the `{{` at character {at} is never closed; write {{cid}}, {{host}} or {{rid}}"
    )]
    Unclosed {
        /// The pattern as it was given.
        pattern: String,
        /// Where, from 1.
        at: usize,
    },
    /// A field of another name.
    #[error(
        "case name pattern `{pattern}`: unknown field `{{{field}}}` at character {at}; the fields are {{cid}}, {{host}} and {{rid}}"
    )]
    UnknownField {
        /// The pattern as it was given.
        pattern: String,
        /// What stands between the braces.
        field: String,
        /// Where, from 1.
        at: usize,
    },
    /// A field that occurs twice.
    #[error("case name pattern `{pattern}`: the field `{{{field}}}` at character {at} occurs twice")]
    Repeated {
        /// The pattern as it was given.
        pattern: String,
        /// Name of the field that stands twice.
        field: String,
        /// Where, from 1.
        at: usize,
    },
    /// Two fields with nothing between them.
    #[error(
        "case name pattern `{pattern}`: nothing separates the fields at character {at}; put a text between them"
    )]
    Adjacent {
        /// The pattern as it was given.
        pattern: String,
        /// Where the second one starts, from 1.
        at: usize,
    },
    /// No field at all.
    #[error("case name pattern `{pattern}` has no field; write for example {{cid}}_{{host}}_{{rid}}.st")]
    NoField {
        /// The pattern as it was given.
        pattern: String,
    },
}

impl FromStr for CasePattern {
    type Err = PatternError;

    fn from_str(pattern: &str) -> Result<Self, PatternError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            let at = pattern.len() - rest.len();
            let at = pattern[..at].chars().count() + 1;
            let Some(inner) = rest.strip_prefix('{') else {
                let end = rest.find('{').unwrap_or(rest.len());
                parts.push(Part::Literal(rest[..end].to_owned()));
                rest = &rest[end..];
                continue;
            };
            let pattern = || pattern.to_owned();
            let Some((field, tail)) = inner.split_once('}') else {
                return Err(PatternError::Unclosed { pattern: pattern(), at });
            };
            let part = Part::Field(match field {
                "cid" => Field::Cid,
                "host" => Field::Host,
                "rid" => Field::Rid,
                _ => {
                    return Err(PatternError::UnknownField {
                        pattern: pattern(),
                        field: field.to_owned(),
                        at,
                    });
                }
            });
            if parts.contains(&part) {
                return Err(PatternError::Repeated { pattern: pattern(), field: field.to_owned(), at });
            }
            if matches!(parts.last(), Some(Part::Field(_))) {
                return Err(PatternError::Adjacent { pattern: pattern(), at });
            }
            parts.push(part);
            rest = tail;
        }
        if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
            return Err(PatternError::NoField { pattern: pattern.to_owned() });
        }
        Ok(Self::Given(Template { text: pattern.to_owned(), parts }))
    }
}

impl std::fmt::Display for CasePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Guess => "{cid}_{host}_{rid}.EXT",
            Self::Given(template) => &template.text,
        })
    }
}

/// A case name and whether the pattern gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: CaseName,
    pub(crate) matched: bool,
}

impl CasePattern {
    /// The case of the file `path` (in text form, with its directories).
    pub(crate) fn name(&self, path: &str) -> Named {
        let path = without_compression(path);
        if let Some(name) = self.find(path) {
            return Named { name, matched: true };
        }
        let file = file_name(path);
        let Some((prefix, number)) = split_number(file) else {
            let name = CaseName { cid: Some(stem(file).to_owned()), ..CaseName::default() };
            return Named { name, matched: false };
        };
        // `a_host1_9042.st.4711` of `strace -ff -o a_host1_9042.st`
        let directory = &path[..path.len() - file.len()];
        match self.find(&format!("{directory}{prefix}")) {
            Some(name) => {
                let rid = match name.rid {
                    Some(rid) => format!("{rid}.{number}"),
                    None => number.to_owned(),
                };
                Named { name: CaseName { rid: Some(rid), ..name }, matched: true }
            }
            None => {
                let (cid, rid) = (Some(prefix.to_owned()), Some(number.to_owned()));
                Named { name: CaseName { cid, host: None, rid }, matched: *self == Self::Guess }
            }
        }
    }

    fn find(&self, path: &str) -> Option<CaseName> {
        match self {
            Self::Guess => guess(file_name(path)),
            Self::Given(template) => template.find(path),
        }
    }
}

impl Template {
    fn find(&self, path: &str) -> Option<CaseName> {
        let slashes = self.text.matches('/').count();
        let start = path.rmatch_indices('/').nth(slashes).map_or(0, |(at, _)| at + 1);
        let mut name = CaseName::default();
        match_parts(&self.parts, &path[start..], &mut name).then_some(name)
    }
}

/// Fields take at least one character, no slash, and as much as possible from left to right.
fn match_parts(parts: &[Part], text: &str, name: &mut CaseName) -> bool {
    match parts.split_first() {
        None => text.is_empty(),
        Some((Part::Literal(literal), rest)) => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| match_parts(rest, text, name))
        }
        Some((Part::Field(field), rest)) => {
            let longest = text.find('/').unwrap_or(text.len());
            let ends = text[..longest].char_indices().map(|(at, c)| at + c.len_utf8());
            for end in ends.rev() {
                if match_parts(rest, &text[end..], name) {
                    let value = Some(text[..end].to_owned());
                    match field {
                        Field::Cid => name.cid = value,
                        Field::Host => name.host = value,
                        Field::Rid => name.rid = value,
                    }
                    return true;
                }
            }
            false
        }
    }
}

fn guess(file: &str) -> Option<CaseName> {
    let (rest, last) = file.rsplit_once('_')?;
    let (cid, host) = rest.rsplit_once('_')?;
    let rid = last.split_once('.').map_or(last, |(rid, _)| rid);
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // A second extension after the rank is one too many: `a_host_1.st.77` belongs to `strace -ff`.
    let extensions = last.matches('.').count();
    if cid.is_empty() || host.is_empty() || rid.is_empty() || numeric(host) || !numeric(rid) || extensions > 1
    {
        return None;
    }
    let part = |text: &str| Some(text.to_owned());
    Some(CaseName { cid: part(cid), host: part(host), rid: part(rid) })
}

/// Prefix and number of `PREFIX.NUMBER`.
pub(crate) fn split_number(file: &str) -> Option<(&str, &str)> {
    file.rsplit_once('.').filter(|(prefix, number)| {
        !prefix.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The path without `.gz`, `.xz`, `.zst`.
pub(crate) fn without_compression(path: &str) -> &str {
    let stripped = COMPRESSED.iter().find_map(|suffix| path.strip_suffix(suffix));
    stripped.filter(|stripped| !file_name(stripped).is_empty()).unwrap_or(path)
}

/// What follows the last slash.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, file)| file)
}

fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem })
}

/// Tells apart cases of the same name by as few of their directories as are needed, in front of the cid (`day1/a`), or,
/// where that is not enough, by the whole file name.
pub(crate) fn tell_apart(names: &mut [CaseName], paths: &[String]) {
    let mut groups: BTreeMap<CaseName, Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        groups.entry(name.clone()).or_default().push(index);
    }
    for (name, places) in groups.into_iter().filter(|(_, places)| places.len() > 1) {
        let depth = places.iter().map(|&index| paths[index].matches('/').count()).max().unwrap_or(0);
        let cid = |index: usize, directories: usize| {
            let tail = directory_tail(&paths[index], directories);
            match &name.cid {
                Some(cid) => format!("{tail}{cid}"),
                None => tail.trim_end_matches('/').to_owned(),
            }
        };
        let distinct = |directories: &usize| {
            let mut cids: Vec<String> = places.iter().map(|&index| cid(index, *directories)).collect();
            cids.sort_unstable();
            cids.windows(2).all(|pair| pair[0] != pair[1])
        };
        let directories = (1..=depth).find(distinct);
        for &index in &places {
            names[index].cid = Some(match directories {
                Some(directories) => cid(index, directories),
                None => paths[index].clone(),
            });
        }
    }
}

/// The last `count` directories of `path` with their slashes.
fn directory_tail(path: &str, count: usize) -> &str {
    let directory = &path[..path.len() - file_name(path).len()];
    let start = directory.rmatch_indices('/').nth(count).map_or(0, |(at, _)| at + 1);
    &directory[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(pattern: &CasePattern, path: &str) -> (String, bool) {
        let named = pattern.name(path);
        let part = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        let CaseName { cid, host, rid } = named.name;
        (format!("{} {} {}", part(cid), part(host), part(rid)), named.matched)
    }

    fn guessed(path: &str) -> (String, bool) {
        name(&CasePattern::Guess, path)
    }

    fn given(pattern: &str, path: &str) -> (String, bool) {
        name(&pattern.parse().expect("a pattern"), path)
    }

    fn yes(text: &str) -> (String, bool) {
        (text.to_owned(), true)
    }

    fn no(text: &str) -> (String, bool) {
        (text.to_owned(), false)
    }

    #[test]
    fn the_paper_names_are_taken_apart_at_the_last_underscores() {
        assert_eq!(guessed("dir_x/a_host1_9042.st"), yes("a host1 9042"));
        assert_eq!(
            guessed("my_big_run_node-1.example.org_0007.strace"),
            yes("my_big_run node-1.example.org 0007")
        );
        assert_eq!(guessed("a_host1_9042.st.gz"), yes("a host1 9042"));
        assert_eq!(guessed("a_host1_9042"), yes("a host1 9042"));
    }

    #[test]
    fn a_guess_is_not_silly() {
        assert_eq!(guessed("my_trace_file.txt"), no("my_trace_file - -"));
        assert_eq!(guessed("run_2024_01.txt"), no("run_2024_01 - -"));
        assert_eq!(guessed("_h_1.st"), no("_h_1 - -"));
        assert_eq!(guessed("strace.out"), no("strace - -"));
        assert_eq!(guessed("log"), no("log - -"));
        assert_eq!(guessed("x/.gz"), no(".gz - -"));
    }

    #[test]
    fn a_number_behind_the_prefix_is_the_rank() {
        assert_eq!(guessed("out/trace.4711"), yes("trace - 4711"));
        assert_eq!(guessed("trace.st.4711.xz"), yes("trace.st - 4711"));
        assert_eq!(guessed("a_host1_9042.st.4711"), yes("a host1 9042.4711"));
        assert_eq!(given("{cid}@{host}", "a@h.77"), yes("a h.77 -"));
        assert_eq!(given("{cid}-{host}.st", "a-h.st.77"), yes("a h 77"));
    }

    #[test]
    fn a_given_pattern_matches_the_whole_name_with_the_rightmost_split() {
        assert_eq!(given("{cid}_{host}_{rid}.st", "a_b_c_d.st"), yes("a_b c d"));
        assert_eq!(given("{host}-{rid}.log", "node-1-3.log"), yes("- node-1 3"));
        assert_eq!(given("{rid}.st", "x/17.st"), yes("- - 17"));
        assert_eq!(given("{rid}.st", "17.strace"), no("17 - -"));
        assert_eq!(given("run-{cid}/{host}/{rid}.st", "/data/run-7/n1/3.st"), yes("7 n1 3"));
        assert_eq!(given("é{cid}ü", "éöü"), yes("ö - -"));
    }

    #[test]
    fn a_bad_pattern_says_where_and_what_to_write() {
        let message = |pattern: &str| pattern.parse::<CasePattern>().expect_err("an error").to_string();
        insta::assert_snapshot!(message("ä{cid}_{pid}"), @"case name pattern `ä{cid}_{pid}`: unknown field `{pid}` at character 8; the fields are {cid}, {host} and {rid}");
        insta::assert_snapshot!(message("{cid}_{host"), @"case name pattern `{cid}_{host`: the `{` at character 7 is never closed; write {cid}, {host} or {rid}");
        insta::assert_snapshot!(message("{cid}{host}"), @"case name pattern `{cid}{host}`: nothing separates the fields at character 6; put a text between them");
        insta::assert_snapshot!(message("{cid}_{cid}"), @"case name pattern `{cid}_{cid}`: the field `{cid}` at character 7 occurs twice");
        insta::assert_snapshot!(message("x.st"), @"case name pattern `x.st` has no field; write for example {cid}_{host}_{rid}.st");
    }

    fn apart(paths: &[&str]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let mut names: Vec<CaseName> = paths.iter().map(|path| CasePattern::Guess.name(path).name).collect();
        tell_apart(&mut names, &paths);
        names.into_iter().map(|name| name.cid.unwrap_or_default()).collect()
    }

    #[test]
    fn equal_names_are_told_apart_by_directories_only_where_needed() {
        assert_eq!(apart(&["d1/a_h_1.st", "d2/b_h_1.st"]), ["a", "b"]);
        assert_eq!(apart(&["d1/x/a_h_1.st", "d2/x/a_h_1.st", "d1/x/b_h_1.st"]), ["d1/x/a", "d2/x/a", "b"]);
        assert_eq!(apart(&["d/a_h_1.st", "a_h_1.st"]), ["d/a", "a"]);
        assert_eq!(apart(&["d/a_h_1.st", "d/a_h_1.txt"]), ["d/a_h_1.st", "d/a_h_1.txt"]);
    }

    proptest! {
        #[test]
        fn any_name_gives_a_case_and_any_pattern_an_answer(path in "[a_./0-9é-]{1,12}", pattern in "[a_./{}é]{0,6}(\\{cid\\})?[_.]?(\\{rid\\})?") {
            let _ = CasePattern::Guess.name(&path);
            if let Ok(pattern) = pattern.parse::<CasePattern>() {
                let _ = pattern.name(&path);
            }
        }

        #[test]
        fn files_told_apart_have_distinct_names(paths in prop::collection::btree_set("([ab]/){0,2}[ab]_h_1(\\.st)?", 1..6)) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let mut cids = apart(&paths);
            let count = cids.len();
            // All hosts and ranks are equal here.
            cids.sort();
            cids.dedup();
            prop_assert_eq!(cids.len(), count);
        }
    }
}
