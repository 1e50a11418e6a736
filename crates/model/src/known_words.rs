//! What words of a command line say to whoever knows the program: options, operators, keys, subcommands, directives of formats.
//!
//! One home for two who must agree. Analyses take nothing else for an option, and copies without names keep exactly these parts of a
//! word, so that both read the same in the copy: what is hidden behind a known part is never read, and what stands in its place is
//! not known either.

use std::ops::Range;

/// How the words behind a program are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `-la --sort=time`.
    Options,
    /// Letters with or without a dash come first: `tar cf`.
    Keys,
    /// Words that are options or operators as a whole: `find -newer`.
    Expression,
    /// Options, then the name of a part of the program: `git add`.
    Suite,
    /// Options, then a script or a module: `python3 -m tarfile -c`.
    Python,
}

/// What a program knows.
struct Program {
    names: &'static [&'static str],
    form: Form,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with a value, attached or as the next word.
    values: &'static str,
    /// Letters of options that may have an attached value.
    attached: &'static str,
    /// Long options.
    long: &'static [&'static str],
    /// What the value of some of them may be.
    chosen: &'static [(&'static str, &'static [&'static str])],
    /// Words that are known as a whole, with blanks between them; in expressions of the operators, else of the subcommands or modules.
    words: &'static str,
    /// Letters and long options whose value is a format with directives; of expressions words.
    formats: &'static [&'static str],
}

impl Program {
    fn has(&self, word: &str) -> bool {
        self.words.split_whitespace().any(|known| known == word)
    }
}

const fn options(
    names: &'static [&'static str],
    flags: &'static str,
    values: &'static str,
    long: &'static [&'static str],
) -> Program {
    Program {
        names,
        form: Form::Options,
        flags,
        values,
        attached: "",
        long,
        chosen: &[],
        words: "",
        formats: &[],
    }
}

const PROGRAMS: [Program; 17] = [
    Program {
        attached: "",
        chosen: &[
            ("sort", &["none", "size", "time", "version", "extension", "width"]),
            ("format", &["across", "commas", "horizontal", "long", "single-column", "verbose", "vertical"]),
            ("time", &["atime", "access", "use", "ctime", "status", "birth", "creation", "mtime"]),
        ],
        ..options(
            &["ls", "dir", "vdir"],
            "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1",
            "IwT",
            &["sort", "format", "time", "full-time", "all", "almost-all", "time-style"],
        )
    },
    Program { formats: &["c", "format", "printf"], ..options(&["stat"], "Lft", "c", &["format", "printf"]) },
    options(&["date"], "uR", "dfrs", &["reference", "date", "set"]),
    options(&["cp", "mv"], "abdfHilLnpPrRsTuvxZ", "tS", &["update", "archive", "no-clobber", "preserve"]),
    options(&["diff"], "abBcdeEHilnNpqrstTuvwy0123456789", "CDFILSUWxX", &["unified", "context"]),
    options(
        &["gzip", "pigz", "gunzip"],
        "acdfhiklLnNqrRtvVz0123456789",
        "Sbp",
        &["no-name", "decompress", "uncompress", "test", "list"],
    ),
    options(&["touch"], "achfm", "drt", &["date", "reference", "time", "no-create"]),
    options(&["mkdir"], "pvZ", "m", &["parents", "mode"]),
    Program { attached: "jlO", ..options(&["make", "gmake"], "bBdeikLmnpqrRsStvwh", "CEfIoW", &[]) },
    options(&["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"], "abcefhiklmnprstuvxBCDEHPT", "oO", &[]),
    options(&["rm", "rmdir", "ln", "chmod", "chown", "chgrp"], "bcdfFhHiILnpPrRsTvVwx", "tS", &[]),
    Program {
        form: Form::Keys,
        attached: "",
        ..options(
            &["tar", "bsdtar"],
            "AcdrtuxaBGhiJjkmnOopPRsSUvwWzZl",
            "bCfFgHIKLMNTVX",
            &["create", "append", "update", "mtime", "extract", "list"],
        )
    },
    Program { form: Form::Keys, ..options(&["ar"], "dmpqrtxabcDfilNoOPsSTuUvV", "", &[]) },
    Program {
        form: Form::Expression,
        words: "-newer -anewer -cnewer -perm -ls -fls -user -group -links -printf -fprintf -print -print0 -fprint \
                -name -iname -path -type -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -size -exec \
                -execdir -delete -prune -empty -not -o -or -a -and -regex -depth -xdev -follow -quit -inum -samefile \
                -nouser -nogroup -L -H -P !",
        formats: &["-printf"],
        ..options(&["find"], "", "", &[])
    },
    Program {
        form: Form::Expression,
        words: "-nt -ot -ef -eq -ne -lt -le -gt -ge -a -b -c -d -e -f -g -G -h -k -L -n -N -o -O -p -r -s -S -t -u \
                -w -x -z = != !",
        ..options(&["test", "["], "", "", &[])
    },
    Program {
        form: Form::Suite,
        words: "add am apply archive bisect blame branch bundle cat-file checkout cherry-pick clean clone commit \
                config describe diff fetch fsck gc grep init log ls-files ls-remote ls-tree merge mv notes pull push \
                rebase reflog remote repack reset restore rev-list rev-parse revert rm shortlog show stash status \
                submodule switch tag update-index worktree",
        ..options(&["git"], "pP", "Cc", &["git-dir", "work-tree", "namespace", "config-env"])
    },
    Program {
        form: Form::Python,
        words: "compileall py_compile tarfile zipfile pip venv unittest timeit cProfile",
        ..options(&["python", "pypy"], "bBdEhiIOPqRsSuvVx", "WX", &[])
    },
];

/// The longest word of letters that counts as keys: what stands for a hidden word is longer.
const MOST_KEYS: usize = 10;
/// One of these is among the keys.
const KEYS: [(&str, &str); 3] = [("tar", "Acdrtux"), ("bsdtar", "crtux"), ("ar", "dmpqrtx")];
/// Options of `tarfile` and `zipfile`.
const ARCHIVE: [&str; 8] = ["c", "create", "e", "extract", "l", "list", "t", "test"];
/// The longest number in a directive.
const WIDTH: usize = 3;

/// What a command line says to whoever knows its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownWords<'a> {
    /// Letters of all short options, in order.
    pub letters: String,
    /// Long options under their full names, `sort=time` where the value is one that the program knows.
    pub long: Vec<String>,
    /// Operators, subcommands, modules and their options.
    pub words: Vec<&'a str>,
    /// Letters of the directives in formats.
    pub directives: String,
    /// What each word is.
    pub parts: Vec<WordPart>,
}

/// What of a word is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WordPart {
    /// Nothing: it may be any text.
    #[default]
    None,
    /// All of it.
    Whole,
    /// As many bytes from its beginning, letters of options; a value follows.
    Letters(usize),
    /// As many bytes from its beginning, and what follows is no option that the program has.
    Strange(usize),
    /// As many bytes from its beginning are an option, and these of what follows are directives of its value, a format.
    Format(usize, Vec<Range<usize>>),
}

impl KnownWords<'_> {
    /// Whether one of these letters is that of an option.
    #[must_use]
    pub fn has_letter(&self, letters: &str) -> bool {
        self.letters.contains(|letter| letters.contains(letter))
    }

    /// Whether one of these long options is there.
    #[must_use]
    pub fn has_long(&self, names: &[&str]) -> bool {
        self.long.iter().any(|long| names.contains(&&**long))
    }

    /// Whether a known word begins so.
    #[must_use]
    pub fn begins(&self, starts: &[&str]) -> bool {
        self.words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)))
    }

    /// Whether a format has one of these directives.
    #[must_use]
    pub fn has_directive(&self, letters: &str) -> bool {
        self.directives.contains(|letter| letters.contains(letter))
    }
}

/// The names of all programs of which something is known.
pub fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.names).copied()
}

/// What is known of the words behind a program (`ls`, `python3.11`); nothing if it is not known.
#[must_use]
pub fn known_words<'a>(program: &str, words: &[&'a str]) -> KnownWords<'a> {
    let mut reading = Reading {
        known: KnownWords { parts: vec![WordPart::None; words.len()], ..KnownWords::default() },
        words,
    };
    let unversioned = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_called = |of: &&Program| {
        of.names.contains(&program) || of.form == Form::Python && of.names.contains(&unversioned)
    };
    match PROGRAMS.iter().find(is_called) {
        Some(of) if of.form == Form::Expression => reading.expression(of),
        Some(of) => reading.options(of, program),
        None => {}
    }
    reading.known
}

struct Reading<'a, 'w> {
    known: KnownWords<'a>,
    words: &'w [&'a str],
}

/// What follows an option.
enum Next {
    /// Another word that may be an option.
    Word,
    /// Its value.
    Value,
    /// Its value, a format.
    Format,
    /// The name of a module.
    Module,
    /// Nothing that is an option.
    Nothing,
}

impl Reading<'_, '_> {
    fn options(&mut self, of: &Program, program: &str) {
        let mut at = 0;
        if of.form == Form::Keys && self.words.first().is_some_and(|word| are_keys(of, program, word)) {
            self.known.letters.push_str(self.words[0]);
            self.known.parts[0] = WordPart::Whole;
            at = 1;
        }
        while let Some(word) = self.words.get(at) {
            let next = match word.strip_prefix('-') {
                Some("") => Next::Word,
                Some("-") => Next::Nothing,
                Some(rest) => match rest.strip_prefix('-') {
                    Some(long) => self.long(of, at, long),
                    None => self.short(of, at, rest),
                },
                None => match of.form {
                    Form::Suite => {
                        self.whole_if(at, of.has(word));
                        Next::Nothing
                    }
                    Form::Python => Next::Nothing,
                    _ => Next::Word,
                },
            };
            at += 1;
            match next {
                Next::Word => {}
                Next::Value => at += 1,
                Next::Format => {
                    self.format(at, 0);
                    at += 1;
                }
                Next::Module => return self.module(of, at),
                Next::Nothing => return,
            }
        }
    }

    /// Letters behind a dash, up to the first that has a value. Where one of them is not known, or the same stands there twice, they are no
    /// letters of options, but a text.
    fn short(&mut self, of: &Program, at: usize, letters: &str) -> Next {
        let ends = |letter: char| {
            of.values.contains(letter)
                || of.attached.contains(letter)
                || of.form == Form::Python && matches!(letter, 'c' | 'm')
        };
        let last = letters.char_indices().find(|(_, letter)| ends(*letter));
        let flags = &letters[..last.map_or(letters.len(), |(place, _)| place)];
        // `-vv` is louder.
        let is_repeated =
            flags.char_indices().any(|(place, letter)| letter != 'v' && flags[..place].contains(letter));
        if is_repeated || !flags.chars().all(|letter| of.flags.contains(letter)) {
            self.known.parts[at] = WordPart::Strange(1);
            return Next::Word;
        }
        self.known.letters.push_str(flags);
        self.known.parts[at] = WordPart::Whole;
        let Some((place, letter)) = last else { return Next::Word };
        let end = 1 + place + letter.len_utf8();
        let has_value = end < 1 + letters.len();
        if has_value {
            self.known.parts[at] = WordPart::Letters(end);
        }
        if of.form == Form::Python && matches!(letter, 'c' | 'm') {
            return if letter == 'm' && !has_value { Next::Module } else { Next::Nothing };
        }
        self.known.letters.push(letter);
        let is_format = of.formats.contains(&&*letter.to_string());
        if has_value && is_format {
            self.format(at, end);
        }
        match has_value || of.attached.contains(letter) {
            true => Next::Word,
            false if is_format => Next::Format,
            false => Next::Value,
        }
    }

    /// `sort=time`, or the beginning of it.
    fn long(&mut self, of: &Program, at: usize, long: &str) -> Next {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let Some(full) = of_beginning(of.long, name) else { return Next::Word };
        let is_format = of.formats.contains(&full);
        let Some(value) = value else {
            self.known.long.push(full.to_owned());
            self.known.parts[at] = WordPart::Whole;
            return if of.form == Form::Suite { Next::Value } else { Next::Word };
        };
        let begin = 2 + name.len() + 1;
        let chosen = of.chosen.iter().find(|(option, _)| *option == full);
        self.known.parts[at] = match chosen.and_then(|(_, values)| of_beginning(values, value)) {
            Some(value) => {
                self.known.long.push(format!("{full}={value}"));
                WordPart::Whole
            }
            None => WordPart::Letters(begin),
        };
        self.known.long.push(full.to_owned());
        if is_format {
            self.format(at, begin);
        }
        Next::Word
    }

    /// The module of Python at a word, and whether it packs.
    fn module(&mut self, of: &Program, at: usize) {
        let Some(module) = self.words.get(at).copied().filter(|module| of.has(module)) else {
            return;
        };
        self.whole_if(at, true);
        if matches!(module, "tarfile" | "zipfile") {
            for at in at + 1..self.words.len() {
                let (word, dashes) = undashed(self.words[at]);
                self.whole_if(at, ARCHIVE.contains(&word) && dashes == if word.len() == 1 { 1 } else { 2 });
            }
        }
    }

    fn expression(&mut self, of: &Program) {
        let mut at = 0;
        while let Some(word) = self.words.get(at) {
            self.whole_if(at, of.has(word) || is_newer(of, word));
            at += 1;
            if of.formats.contains(word) {
                self.format(at, 0);
                at += 1;
            }
            // That of another file than the output follows its name.
            if *word == "-fprintf" && of.has(word) {
                self.format(at + 1, 0);
                at += 2;
            }
        }
    }

    fn whole_if(&mut self, at: usize, is_known: bool) {
        if is_known {
            self.known.words.push(self.words[at]);
            self.known.parts[at] = WordPart::Whole;
        }
    }

    /// The directives of a format that is the word `at` from a byte on.
    fn format(&mut self, at: usize, begin: usize) {
        let Some(word) = self.words.get(at) else { return };
        let mut found = Vec::new();
        let mut place = begin;
        while let Some(next) = word[place..].find('%') {
            let from = place + next;
            match directive(&word[from + 1..]) {
                Some((length, letter)) => {
                    place = from + 1 + length;
                    self.known.directives.extend(letter);
                    found.push(from..place);
                }
                None => place = from + 1,
            }
        }
        self.known.parts[at] = WordPart::Format(begin, found);
    }
}

/// A word without the dashes before it, and how many there are.
#[must_use]
pub fn undashed(word: &str) -> (&str, usize) {
    let bare = word.trim_start_matches('-');
    (bare, word.len() - bare.len())
}

/// How long a directive is behind its `%`, and its letter; `%%` has none.
fn directive(text: &str) -> Option<(usize, Option<char>)> {
    if text.starts_with('%') {
        return Some((1, None));
    }
    let width =
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || "-+# .'".contains(c)).len();
    let letter = text[width..].chars().next().filter(char::is_ascii_alphabetic)?;
    // `%T@`: a time as a number.
    let sign = usize::from(text[width + 1..].starts_with(['@', '+']) && "ABCT".contains(letter));
    (width <= WIDTH).then_some((width + 1 + sign, Some(letter)))
}

/// The name of which `text` is the beginning, or itself.
fn of_beginning<'a>(names: &[&'a str], text: &str) -> Option<&'a str> {
    let begun = || names.iter().find(|name| !text.is_empty() && name.starts_with(text));
    names.iter().find(|name| **name == text).or_else(begun).copied()
}

fn are_keys(of: &Program, program: &str, word: &str) -> bool {
    let needed = KEYS.iter().find(|(name, _)| *name == program).map_or("", |(_, letters)| letters);
    word.len() <= MOST_KEYS
        && word.contains(|letter| needed.contains(letter))
        && word.chars().all(|letter| of.flags.contains(letter) || of.values.contains(letter))
}

/// `-newermt`.
fn is_newer(of: &Program, word: &str) -> bool {
    let kinds = word.strip_prefix("-newer").filter(|_| of.has("-newer"));
    kinds.is_some_and(|kinds| kinds.len() == 2 && kinds.chars().all(|kind| "aBcmt".contains(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> KnownWords<'_> {
        let words: Vec<&str> = line.split(' ').collect();
        known_words(words[0], &words[1..])
    }

    #[test]
    fn clusters_are_letters_up_to_a_value() {
        assert_eq!(of("ls -ltr d").letters, "ltr");
        assert_eq!(of("ls -lI t -a x").letters, "lIa");
        assert_eq!(of("ls -la -- -t").parts, [WordPart::Whole, WordPart::None, WordPart::None]);
        assert_eq!(of("make -kfMakefile").parts, [WordPart::Letters(3)]);
        for text in ["ls -lPASSWORD", "ls -lquokka"] {
            assert_eq!(
                (of(text).parts, of(text).letters),
                (vec![WordPart::Strange(1)], String::new()),
                "{text}"
            );
        }
        assert_eq!(of("tar -xvvf x").letters, "xvvf");
        assert_eq!(of("tar czfv x -C u").letters, "czfvC");
        assert_eq!(of("tar archives").parts, [WordPart::None]);
        assert_eq!(of("mysql -pPASSWORD").parts, [WordPart::None]);
        assert_eq!((of("ar rcU l.a").letters, of("diff -U3").letters), ("rcU".to_owned(), "U".to_owned()));
    }

    #[test]
    fn long_options_are_known_by_their_beginnings_and_so_are_their_values() {
        assert_eq!(of("ls --sort=t --full").long, ["sort=time", "sort", "full-time"]);
        assert_eq!(of("ls --time=secret").parts, [WordPart::Letters(7)]);
        assert_eq!(of("touch --ref=a").long, ["reference"]);
        assert_eq!(of("touch --secret=a").parts, [WordPart::None]);
    }

    #[test]
    fn formats_have_directives_between_texts() {
        let known = of("find . -name %m -printf x%T@%10p%%m");
        assert_eq!((&*known.directives, known.words), ("Tp", vec!["-name", "-printf"]));
        assert_eq!(known.parts[4], WordPart::Format(0, vec![1..4, 4..8, 8..10]));
        assert_eq!(of("stat -c%h%n f").parts[0], WordPart::Format(2, vec![2..4, 4..6]));
        assert_eq!(of("stat --format=%y f").directives, "y");
    }

    #[test]
    fn operators_subcommands_and_modules_are_words() {
        assert_eq!(of("find . -newermt 2001 -perm 700 -secret").words, ["-newermt", "-perm"]);
        assert_eq!(of("[ a -nt b ]").words, ["-nt"]);
        assert_eq!(of("git -C commit --git-dir add rm mv").words, ["rm"]);
        assert_eq!(of("python3.11 -Im tarfile -c t").words, ["tarfile", "-c"]);
        assert_eq!(of("python3 x.py -m tarfile").words, Vec::<&str>::new());
        assert_eq!(of("python3 -msecret").parts, [WordPart::Letters(2)]);
    }
}
