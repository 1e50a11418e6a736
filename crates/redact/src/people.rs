//! Which words of command lines and which variables name people, groups and accounts. Who is called like a program is no program.

use iotrail_model::known_words::{WordPart, known_words, undashed};

/// What names of variables with such a value end in.
const VARIABLES: [&str; 11] = [
    "USER",
    "USERNAME",
    "USER_NAME",
    "LOGNAME",
    "LOGIN",
    "OWNER",
    "GROUP",
    "GROUP_NAME",
    "AUTHOR_NAME",
    "COMMITTER_NAME",
    "ACCOUNT",
];
/// Long options with such a value.
const OPTIONS: [&str; 11] =
    ["user", "username", "login", "owner", "group", "account", "author", "uid", "gid", "chown", "from-user"];
/// Letters of options that may have it.
const LETTERS: [&str; 3] = ["u", "U", "l"];

/// Programs whose words are such names, but options.
const PROGRAMS: [&str; 11] =
    ["chown", "chgrp", "su", "id", "groups", "passwd", "useradd", "userdel", "usermod", "getent", "finger"];

/// Whether the value of the variable is the name of somebody.
pub(crate) fn is_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    VARIABLES.iter().any(|end| {
        name.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_') || *end == "USER" || *end == "LOGNAME")
    })
}

/// Whether a long option, with its dashes, has the name of somebody as its value.
pub(crate) fn is_option(option: &str) -> bool {
    matches!(undashed(option), (name, 2) if OPTIONS.contains(&name))
}

/// Whether the word `at` behind a program is the name of somebody as a whole: the value of an option, or what the program is about.
pub(crate) fn is_operand(program: &str, words: &[&str], at: usize) -> bool {
    if words[at].starts_with('-') {
        return false;
    }
    let is_value = at.checked_sub(1).is_some_and(|before| match undashed(words[before]) {
        (name, 2) => OPTIONS.contains(&name),
        (name, 1) if program == "find" => OPTIONS.contains(&name),
        // Letters may be options of another kind, if the program is known.
        (name, 1) => {
            LETTERS.contains(&name)
                && known_words(program, &words[..at]).parts.last() == Some(&WordPart::None)
        }
        _ => false,
    });
    is_value || PROGRAMS.contains(&program)
}

/// Names of people in a word, wherever it stands: `julia` of `julia@host`, of `user=julia` in an option and of `-ujulia`.
pub(crate) fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '+');
    let before_at = word.match_indices('@').filter_map(move |(at, _)| word[..at].rsplit(is_end).next());
    let of_option = word.split_once('=').filter(|(option, _)| is_option(option)).map(|(_, value)| value);
    let of_letter = ["-u", "-U"].iter().find_map(|option| word.strip_prefix(option));
    before_at
        .chain(of_option.into_iter().flat_map(|value| value.split(':')))
        .chain(of_letter)
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_named_by_variables_options_and_addresses() {
        for name in ["USER", "LOGNAME", "SUDO_USER", "PGUSER", "PBS_O_LOGNAME", "USERNAME", "GIT_AUTHOR_NAME"]
        {
            assert!(is_variable(name), "{name}");
        }
        assert!(!is_variable("HOME") && !is_variable("PATH") && !is_variable("NAME"));
        let names = |word: &'static str| names_in(word).collect::<Vec<_>>();
        assert_eq!(names("git@github.com:x/y"), ["git"]);
        assert_eq!(names("https://julia@host/x,perl@h"), ["julia", "perl"]);
        assert_eq!(names("--owner=perl:make"), ["perl", "make"]);
        assert_eq!(names("-uperl"), ["perl"]);
        assert!(names("--output=perl").is_empty());
        let is = |line: &str, at| {
            let words: Vec<&str> = line.split(' ').collect();
            is_operand(words[0], &words[1..], at)
        };
        assert!(is("ssh -l perl h", 1) && is("chown -R perl f", 1) && is("tar c --owner perl", 2));
        assert!(is("find . -user perl", 2) && !is("ls -l perl", 1) && !is("sort -k perl", 1));
    }
}
