//! What a text becomes: one function for each kind of text, the same in every table.
//!
//! A path is replaced component by component, so that directories stay directories, and a component stays only where it is one
//! of a list of public names (`place`). An argument is taken apart at punctuation and replaced piece by piece, with the
//! same hashes, so that it still names its file.

use crate::key::Key;
use crate::rules::Rules;
use crate::{name, object, people, place, public};
use iotrail_model::Process;
use iotrail_model::known_words::{WordPart, known_words};
use iotrail_model::places::mpi_directory;
use iotrail_model::run_variables::variable_of_run;
use iotrail_query::generalise::generalise;
use std::borrow::Cow;
use std::collections::HashSet;

/// What separates the pieces of an argument.
const PUNCTUATION: [char; 25] = [
    '=', ':', ',', ';', '@', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', '|', '&', '?', '*', '!', '$',
    '`', '#', '^', '%',
];
/// Programs that are what their first argument says.
const MULTI_CALL: [&str; 2] = ["busybox", "toybox"];
/// Programs of which the last word may be one that they start.
const STARTERS: [&str; 13] = [
    "env", "nice", "nohup", "timeout", "time", "xargs", "stdbuf", "setsid", "ionice", "taskset", "strace",
    "sudo", "exec",
];
/// Programs that say where a program lies.
const SEEKERS: [&str; 2] = ["which", "whereis"];
/// The longest rank that stays a number.
const RANK_DIGITS: usize = 5;

/// How texts are replaced.
#[derive(Clone, Debug)]
pub struct Words {
    rules: Rules,
    /// Without one only the rules replace.
    key: Option<Key>,
    keep_digits: bool,
    /// Public names of programs that the trail runs.
    programs: HashSet<String>,
    /// Names of known programs, and last components of paths of the system, that lie where they are public, and so stay everywhere.
    kept: HashSet<String>,
    /// The same that people, directories and entries of top directories have: somebody's, not the program's.
    chosen: HashSet<String>,
    /// Those of them that are public names of programs of the trail, too: where nothing but a program can stand, they stay.
    called: HashSet<String>,
    /// Such a name and the word behind it, with which a process of the trail began its command line.
    runs: HashSet<(String, Option<String>)>,
    /// Templates of paths whose last component is public in some and not in others, because it has more digits or is on no list: it goes in all,
    /// so that they still are of one template.
    mixed: HashSet<String>,
    /// Components of the trail's paths in which there is punctuation: an argument is not taken apart there.
    odd: HashSet<String>,
}

impl Words {
    /// By rules, then, with a key, by hashing what is left.
    #[must_use]
    pub fn new(rules: Rules, key: Option<Key>) -> Self {
        Self {
            rules,
            key,
            keep_digits: false,
            programs: HashSet::new(),
            kept: HashSet::new(),
            chosen: HashSet::new(),
            called: HashSet::new(),
            runs: HashSet::new(),
            mixed: HashSet::new(),
            odd: HashSet::new(),
        }
    }

    /// Whether what the rules leave is hashed.
    #[must_use]
    pub const fn hashes(&self) -> bool {
        self.key.is_some()
    }

    /// Lets runs of digits in names stay, so that `part_0001` and `part_0002` stay in order.
    #[must_use]
    pub const fn keep_digits(mut self, keep: bool) -> Self {
        self.keep_digits = keep;
        self
    }

    /// Lets the base names of programs stay that are well known: `make` is as public as `/usr/bin/make`. Not so the names of people and directories
    /// that variables and command lines tell. To be called before [`Words::with_paths`].
    #[must_use]
    pub fn with_processes<'a>(mut self, processes: impl Iterator<Item = &'a Process> + Clone) -> Self {
        let executables = processes.clone().filter_map(|process| process.exe.as_deref());
        let names = executables.map(base).filter(|name| public::is_program(name));
        self.programs.extend(names.map(str::to_owned));
        for process in processes.clone() {
            for name in chosen_by(process) {
                // Most processes tell what others have told.
                if !self.chosen.contains(name) {
                    self.chosen.insert(name.to_owned());
                }
            }
        }
        self.runs.extend(processes.filter_map(run));
        self
    }

    /// Lets arguments that name one of the paths do so afterwards, whatever punctuation is in it, and lets the name of a known
    /// program be the same in all directories where programs may lie: who looks for `sh` in a search path looks for one name.
    #[must_use]
    pub fn with_paths<'a>(mut self, paths: impl Iterator<Item = &'a str>) -> Self {
        let (mut public, mut private, mut chosen) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut last = HashSet::new();
        let mut templates = [HashSet::new(), HashSet::new()];
        for path in paths {
            let components = path.split('/');
            self.odd.extend(components.filter(|name| name.contains(PUNCTUATION)).map(str::to_owned));
            let Some(below) = path.strip_prefix('/') else { continue };
            let mut at = 0;
            for_each_component(below, |parent, name| {
                at += name.len() + 1;
                let is_public = place::is_public(parent, name);
                let names = if is_public { &mut public } else { &mut private };
                names.insert(name);
                if is_public && at > below.len() {
                    last.insert(name);
                }
                if has_digits(name) {
                    templates[usize::from(is_public)].insert(template(parent, name));
                }
                // Directories, and what lies in those for users, are called as somebody wished.
                if !is_public && (at <= below.len() || parent.matches('/').count() < 2) {
                    chosen.insert(name);
                }
            });
        }
        let is_of_system = |name: &&str| public::is_program(name) || last.contains(*name);
        self.chosen.extend(chosen.into_iter().map(str::to_owned));
        self.chosen.retain(|name| is_of_system(&&**name));
        let is_program = |name: &&String| {
            let is_seen = || self.programs.contains(*name) || public.contains(&***name);
            public::is_program(name) && !has_digits(name) && is_seen()
        };
        self.called = self.chosen.iter().filter(is_program).cloned().collect();
        // What has no letter is no name but a number, that of a descriptor or a version, and elsewhere somebody's.
        let is_name = |name: &str| name.contains(char::is_alphabetic);
        public.retain(|name| is_of_system(name) && is_name(name) && !self.chosen.contains(*name));
        // Names with numbers are told apart by templates, in which all of a kind must be alike.
        let hashed: HashSet<Cow<'_, str>> =
            private.difference(&public).map(|name| generalise(name)).collect();
        public.retain(|name| !has_digits(name) || !hashed.contains(&generalise(name)));
        self.kept.extend(public.into_iter().map(str::to_owned));
        let [private, public] = templates;
        self.mixed.extend(private.into_iter().filter(|template| public.contains(template)));
        self
    }

    /// Whether a component of a path stays where it is.
    fn is_public(&self, parent: &str, name: &str) -> bool {
        let is_mixed =
            || !self.mixed.is_empty() && has_digits(name) && self.mixed.contains(&template(parent, name));
        place::is_public(parent, name) && !is_mixed()
    }

    /// A path, or what stands for one (`pipe:[7]`, `TCP:[…]`).
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        let keeps = |path: &str| self.rules.keeps(path) && !climbs(path);
        if keeps(path) {
            return path.to_owned();
        }
        let path = self.rules.path(path);
        if self.key.is_none() || keeps(&path) {
            return path.into_owned();
        }
        object::redacted(&path, &|name| self.component(name)).unwrap_or_else(|| self.components(&path))
    }

    /// The redacted name of a host.
    #[must_use]
    pub fn host(&self, host: &str) -> String {
        let host = self.rules.host(host);
        match &self.key {
            Some(key) if !matches!(&*host, "localhost" | "") => format!("host-{}", key.letters(&host)),
            _ => host.into_owned(),
        }
    }

    /// A command line, arguments separated by NUL, of the program at the path `exe`.
    #[must_use]
    pub fn command(&self, cmdline: &str, exe: Option<&str>) -> String {
        let words: Vec<&str> = cmdline.split('\0').collect();
        if self.key.is_none() {
            return words.iter().map(|word| self.word(word)).collect::<Vec<_>>().join("\0");
        }
        let mut out = Vec::with_capacity(words.len());
        let mut at = 0;
        // Of programs that are many the name of one of them follows.
        loop {
            let stays = match at {
                0 => self.is_called_like(words[0], exe),
                _ => public::is_program(words[at]),
            };
            out.push(if stays { words[at].to_owned() } else { self.word(words[at]) });
            let is_kept = base(&out[at]) == base(words[at]);
            if !is_kept || !MULTI_CALL.contains(&base(words[at])) || at + 1 == words.len() {
                break;
            }
            at += 1;
        }
        let (program, words) = (base(words[at]), &words[at + 1..]);
        let is_kept = base(&out[at]) == program;
        let parts =
            if is_kept { known_words(program, words).parts } else { vec![WordPart::None; words.len()] };
        out.extend(parts.iter().enumerate().map(|(at, part)| self.argument(program, words, at, part)));
        out.join("\0")
    }

    /// A word behind a program, of which the beginning may be known.
    fn argument(&self, program: &str, words: &[&str], at: usize, part: &WordPart) -> String {
        let word = words[at];
        if self.rules.argument(word) != word || self.keeps(word) {
            return self.word(word);
        }
        match part {
            WordPart::None if people::is_operand(program, words, at) => self.somebody(word),
            WordPart::None if self.starts(program, words, at) => word.to_owned(),
            WordPart::None => self.word(word),
            WordPart::Whole => word.to_owned(),
            WordPart::Letters(known) if people::is_option(word[..*known].trim_end_matches('=')) => {
                format!("{}{}", &word[..*known], self.somebody(&word[*known..]))
            }
            WordPart::Letters(known) => format!("{}{}", &word[..*known], self.value(&word[*known..])),
            WordPart::Strange(known) => {
                let rest = self.value(&word[*known..]);
                // No letter of it may be taken for an option.
                let gap = if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) { "_" } else { "" };
                format!("{}{gap}{rest}", &word[..*known])
            }
            WordPart::Format(known, directives) => {
                let mut out = word[..*known].to_owned();
                let mut end = *known;
                for directive in directives {
                    out.push_str(&self.text(&word[end..directive.start]));
                    out.push_str(&word[directive.clone()]);
                    end = directive.end;
                }
                out + &self.text(&word[end..])
            }
        }
    }

    /// Names of people, groups and accounts.
    fn somebody(&self, names: &str) -> String {
        let pieces = names.split_inclusive(PUNCTUATION);
        pieces
            .map(|piece| {
                let bare = piece.strip_suffix(PUNCTUATION).unwrap_or(piece);
                format!("{}{}", self.components(bare), &piece[bare.len()..])
            })
            .collect()
    }

    /// Whether the first word of a command line tells no more than the path of its program, which stays.
    fn is_called_like(&self, word: &str, exe: Option<&str>) -> bool {
        let Some(exe) = exe.filter(|exe| self.rules.path(exe) == *exe) else { return false };
        let (own, name) = (base(exe), word.strip_prefix('-').unwrap_or(word));
        let is_name = !name.contains('/') && (name == own || public::is_program(name));
        is_name && self.rules.argument(word) == word && base(&self.path(exe)) == own
    }

    /// Whether a program starts another at a word (`nice perl x.pl`) that is seen in the trail: who compares both would know its name.
    fn starts(&self, program: &str, words: &[&str], at: usize) -> bool {
        let before = at.checked_sub(1).map_or(program, |before| base(words[before]));
        self.called.contains(words[at])
            && match words.get(at + 1).filter(|word| !word.is_empty()) {
                Some(next) => self.runs.contains(&(words[at].to_owned(), Some((*next).to_owned()))),
                // It looks for the program by its name, as its calls show.
                None if SEEKERS.contains(&before) => true,
                None => STARTERS.contains(&program) && self.runs.contains(&(words[at].to_owned(), None)),
            }
    }

    /// The command line of one of these processes as it is for reading, with blanks between its words; of any other, of which nobody can say where a
    /// word ends, all behind the first word is one.
    #[must_use]
    pub fn sentence<'a>(&self, line: &str, processes: impl Iterator<Item = &'a Process>) -> String {
        let readable = |cmdline: &str| cmdline.trim_end_matches('\0').replace('\0', " ");
        let mut commands =
            processes.filter_map(|process| Some((process.cmdline.as_deref()?, process.exe.as_deref())));
        match commands.find(|(cmdline, _)| readable(cmdline) == line) {
            Some((cmdline, exe)) => readable(&self.command(cmdline, exe)),
            None => {
                let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
                format!("{} {}", self.word(first), self.text(rest)).trim_end().to_owned()
            }
        }
    }

    /// `NAME=value`: a name that launchers and shells use stays.
    #[must_use]
    pub fn variable(&self, entry: &str) -> String {
        let Some((name_before, value)) = entry.split_once('=') else { return self.word(entry) };
        let name = match &self.key {
            Some(key) if !public::is_variable(name_before) => {
                let beginning = variable_of_run(name_before).unwrap_or_default();
                let rest = key.letters(&name_before[beginning.len()..]).to_ascii_uppercase();
                format!("{beginning}{rest}")
            }
            _ => name_before.to_owned(),
        };
        let is_plain = self.key.is_some() && self.rules.argument(value) == value && !self.keeps(value);
        match is_plain && people::is_variable(name_before) {
            true => format!("{name}={}", self.somebody(value)),
            false => format!("{name}={}", self.word(value)),
        }
    }

    /// One word of a command line.
    #[must_use]
    pub fn word(&self, word: &str) -> String {
        let word = self.rules.argument(word);
        let word = if word.starts_with('/') { Cow::Owned(self.rules.path(&word).into_owned()) } else { word };
        if self.key.is_none() || self.keeps(&word) || self.is_known(&word) {
            return word.into_owned();
        }
        if let Some(option) = word.strip_prefix("--") {
            let (name, given) =
                option.split_once('=').map_or((option, None), |(name, given)| (name, Some(given)));
            let name = if name.is_empty() || public::is_option_name(name) {
                name.to_owned()
            } else {
                self.component(name)
            };
            let names_somebody = people::is_option(&format!("--{name}"));
            let value = |value| if names_somebody { self.somebody(value) } else { self.value(value) };
            return format!(
                "--{name}{}",
                given.map(|given| format!("={}", value(given))).unwrap_or_default()
            );
        }
        match word.strip_prefix('-').map(|rest| rest.split_at_checked(1)) {
            Some(Some((letter, value))) if letter.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                format!("-{letter}{}", self.value(value))
            }
            Some(_) => format!("-{}", self.value(&word[1..])),
            None => self.value(&word),
        }
    }

    /// Any other text: all of it.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let text = self.rules.argument(text);
        match &self.key {
            Some(key) if !text.is_empty() => key.letters(&text),
            _ => text.into_owned(),
        }
    }

    /// A rank: a small number stays.
    #[must_use]
    pub fn rank(&self, rank: &str) -> String {
        if rank.len() <= RANK_DIGITS && public::is_number(rank) { rank.to_owned() } else { self.text(rank) }
    }

    /// Whether a word, or a piece of one, is a path that stays, and nothing else: no list, no sentence, and nothing that climbs out of it.
    fn keeps(&self, word: &str) -> bool {
        let is_plain = |component: &str| {
            let has_more = |c: char| c.is_whitespace() || c.is_control() || PUNCTUATION.contains(&c);
            !component.contains(has_more) || self.odd.contains(component)
        };
        self.rules.keeps(word) && !climbs(word) && word.split('/').all(is_plain)
    }

    /// An argument, or what it says of an option.
    fn value(&self, text: &str) -> String {
        if public::is_short_number(text) {
            return text.to_owned();
        }
        // Words of a sentence would be a cipher that frequencies break.
        let is_sentence = text.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_sentence || text.split('/').any(|component| self.odd.contains(component)) {
            return self.components(text);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(PUNCTUATION) {
            let bare = piece.strip_suffix(PUNCTUATION).unwrap_or(piece);
            out.push_str(&if self.keeps(bare) { bare.to_owned() } else { self.components(bare) });
            out.push_str(&piece[bare.len()..]);
        }
        out
    }

    /// A path, component by component.
    fn components(&self, path: &str) -> String {
        let Some(below) = path.strip_prefix('/') else {
            let mut directory = "";
            let components = path.split('/').map(|component| {
                let is_program = self.is_program_in(directory, component);
                directory = component;
                if is_program { component.to_owned() } else { self.component(component) }
            });
            return components.collect::<Vec<_>>().join("/");
        };
        let mut out = String::with_capacity(path.len());
        for_each_component(below, |parent, component| {
            out.push('/');
            if parent.ends_with("/map_files") && component.contains('-') {
                out.push_str(&self.range(component));
            } else if self.is_public(parent, component) {
                out.push_str(component);
            } else {
                out.push_str(place::device(parent, component));
                out.push_str(&self.component(component));
            }
        });
        out
    }

    /// Whether a component of a relative path stays because of the directory before it.
    fn is_program_in(&self, directory: &str, name: &str) -> bool {
        place::is_of_programs(directory)
            && public::is_program(name)
            && (!has_digits(name) || self.kept.contains(name))
    }

    /// Whether it is a name of a program or of the system that is as public here as where it lies.
    fn is_known(&self, name: &str) -> bool {
        let is_program = || !has_digits(name) && self.programs.contains(name) && !self.chosen.contains(name);
        self.kept.contains(name) || is_program()
    }

    /// One component of a path, wherever it is.
    fn component(&self, component: &str) -> String {
        let Some(key) = &self.key else { return component.to_owned() };
        if matches!(component, "" | "." | "..") || public::is_anywhere(component) || self.is_known(component)
        {
            return component.to_owned();
        }
        let hashed = name::hashed(key, component, self.keep_digits);
        // Analyses leave out what an MPI library keeps for itself.
        match mpi_directory(component).filter(|_| !self.chosen.contains(component)) {
            Some(prefix) if component == prefix => prefix.to_owned(),
            Some(prefix) => format!("{prefix}{hashed}"),
            None => hashed,
        }
    }

    /// `7f00-7f01`: where something is mapped.
    fn range(&self, range: &str) -> String {
        self.key.as_ref().map_or_else(|| range.to_owned(), |key| format!("{}-0", key.number(range, 16)))
    }
}

/// The last component of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Names of people and directories that a process tells: those of directories and entries of top directories in its words, and who is named by what a
/// word or a variable is.
fn chosen_by(process: &Process) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = process.cmdline.as_deref().unwrap_or_default().split('\0').collect();
    let program = base(words[0]);
    let operands: Vec<&str> = (1..words.len())
        .filter(|at| people::is_operand(program, &words[1..], at - 1))
        .flat_map(|at| words[at].split([':', ',']))
        .collect();
    let variables = process.env.iter().filter_map(|entry| entry.split_once('='));
    let users = variables.clone().filter(|(name, _)| people::is_variable(name)).map(|(_, value)| value);
    let values = variables.map(|(_, value)| value);
    let texts: Vec<&str> = words
        .into_iter()
        .skip(1)
        .chain(values)
        .chain(process.cwd.as_deref())
        .chain(process.exe.as_deref())
        .collect();
    let named = texts.clone().into_iter().flat_map(people::names_in);
    let pieces = texts.into_iter().flat_map(|text| text.split(PUNCTUATION)).flat_map(directories_in);
    operands.into_iter().chain(users).chain(named).chain(pieces)
}

/// How a process began its command line, if its first word is the name of a program that lies where it is public.
fn run(process: &Process) -> Option<(String, Option<String>)> {
    let (directory, own) = process.exe.as_deref()?.rsplit_once('/')?;
    let mut words = process.cmdline.as_deref()?.trim_end_matches('\0').split('\0');
    let name = words.next().filter(|name| *name == own && public::is_program(name))?;
    let is_public = place::is_public(directory, name);
    is_public.then(|| (name.to_owned(), words.next().map(str::to_owned)))
}

/// Names in a piece of a word that are those of directories, or of entries of a top directory.
fn directories_in(piece: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let absolute = piece.find('/').map(|at| &piece[at..]).filter(|_| !piece.starts_with('.'));
    match absolute.and_then(|path| path.strip_prefix('/')) {
        // That of an option with one letter, or all of it.
        Some(below) if piece.starts_with('/') || piece.starts_with('-') => {
            let mut at = 0;
            for_each_component(below, |parent, name| {
                at += name.len() + 1;
                let is_directory = at <= below.len() || parent.matches('/').count() < 2;
                if is_directory && !place::is_public(parent, name) {
                    found.push(name);
                }
            });
        }
        _ => found.extend(piece.rsplit('/').skip(1)),
    }
    found
}

/// Each component of an absolute path, given without the slash that it begins with, and the directory in which it is looked for.
fn for_each_component<'a>(below: &'a str, mut each: impl FnMut(&str, &'a str)) {
    let mut parent = String::with_capacity(below.len());
    for component in below.split('/') {
        each(&parent, component);
        parent.push('/');
        parent.push_str(component);
        if place::is_door(&parent) {
            parent.clear();
        }
    }
}

/// Whether a path leads out of a directory that it goes through.
fn climbs(path: &str) -> bool {
    path.split('/').any(|component| component == "..")
}

/// What a component of a path has in common with those that differ in numbers.
fn template(parent: &str, name: &str) -> String {
    generalise(&format!("{parent}/{name}")).into_owned()
}

fn has_digits(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::canonical::canonical;
    use iotrail_query::preset::extension;

    fn words() -> Words {
        Words::new(Rules::default(), Some(Key::of(b"sixteen bytes or").unwrap()))
    }

    fn process(exe: &str, line: &str, env: &[&str]) -> Process {
        Process {
            exe: Some(exe.to_owned()),
            cmdline: Some(line.replace(' ', "\0")),
            env: env.iter().map(|entry| (*entry).to_owned()).collect(),
            ..Process::default()
        }
    }

    fn lines(lines: &[&str]) -> Vec<Process> {
        lines.iter().map(|line| Process { cmdline: Some((*line).to_owned()), ..Process::default() }).collect()
    }

    fn running(paths: &[&str]) -> Vec<Process> {
        paths.iter().map(|exe| Process { exe: Some((*exe).to_owned()), ..Process::default() }).collect()
    }

    /// The words of a command line as they become, of a trail with these processes and paths.
    fn command(words: Words, exe: &str, line: &str) -> Vec<String> {
        let line = words
            .with_processes([process(exe, line, &[])].iter())
            .command(&line.replace(' ', "\0"), Some(exe));
        line.split('\0').map(str::to_owned).collect()
    }

    #[test]
    fn directories_of_mpi_stay_what_they_are_without_the_host() {
        let path = words().path("/tmp/ompi.quokka7.1000/pid.5/x");
        let name = path.split('/').nth(2).unwrap();
        assert!(name.starts_with("ompi.") && !name.contains("quokka"), "{path}");
    }

    #[test]
    fn a_path_keeps_its_shape_and_an_argument_still_names_its_file() {
        let words = words();
        let path = words.path("/home/ada/p/run_01.fits");
        let parts: Vec<&str> = path.split('/').collect();
        assert_eq!((parts[1], parts.len()), ("home", 5));
        assert!(path.ends_with(".fits") && !path.contains("ada") && !path.contains("run"));
        assert_eq!(words.word("--input=/home/ada/p/run_01.fits"), format!("--input={path}"));
        assert_eq!(words.word("-I/home/ada/p/run_01.fits"), format!("-I{path}"));
        assert!(words.word("ada@host:/home/ada/p/run_01.fits").ends_with(&format!(":{path}")));
        assert_eq!(words.word("run_01.fits"), parts[4]);
        assert_eq!(words.command("mAdd\0-p\0run_01.fits\0", None).split('\0').nth(2), Some(parts[4]));
        assert_eq!(words.path("/home/ada"), path.rsplitn(3, '/').nth(2).unwrap());
        let words = words.with_paths(["/home/ada/a,b c.x"].into_iter());
        assert!(words.path("/home/ada/a,b c.x").ends_with(&format!("/{}", words.word("a,b c.x"))));
    }

    #[test]
    fn what_is_public_stays() {
        let words = words();
        for path in [
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/python3.11/encodings/utf_8.py",
            "/",
            "/dev/null",
            "/dev/pts/7",
            "/etc/passwd",
            "/proc/self/maps",
            "/proc/self/fd/3",
            "/sys/devices/system/cpu/online",
            "/usr/bin/make",
            "/tmp",
            "/var/tmp",
            "pipe:[7]",
            "pipe",
            "socket",
            "anon_inode:[eventfd]",
            "net:[4026531840]",
            "/mnt:[4026532265]",
        ] {
            assert_eq!(words.path(path), path);
        }
        for word in ["-j2", "--name", "125", "-5", "-", "--", "/usr/bin/env"] {
            assert_eq!(words.word(word), word);
        }
        assert_eq!(words.variable("OMP_NUM_THREADS=77"), "OMP_NUM_THREADS=77");
    }

    #[test]
    fn a_name_that_is_public_somewhere_is_the_same_name_everywhere() {
        let searched = ["/home/ada/quokka/sh", "/usr/bin/sh", "/usr/bin/python3.11", "/home/ada/python3.11"];
        let words = words().with_paths(searched.into_iter());
        for path in searched {
            assert_eq!(words.path(path).rsplit('/').next(), path.rsplit('/').next());
            assert!(!words.path(path).contains("ada") && !words.path(path).contains("quokka"));
        }
    }

    #[test]
    fn a_directory_that_is_called_like_a_program_is_hashed() {
        let paths = [
            "/usr/bin/postgres",
            "/home/postgres/thesis",
            "/usr/bin/git",
            "/srv/git",
            "/etc/private/x",
            "/home/ada/private",
        ];
        let words = words()
            .with_processes(running(&["/usr/bin/postgres", "/usr/bin/git"]).iter())
            .with_paths(paths.into_iter());
        for path in ["/home/postgres/thesis", "/srv/git", "/home/ada/private", "/home/postgres"] {
            let redacted = words.path(path);
            assert!(
                !["postgres", "git", "private", "ada"].iter().any(|name| redacted.contains(name)),
                "{redacted}"
            );
        }
        assert_eq!(words.path("/usr/bin/postgres"), "/usr/bin/postgres");
    }

    #[test]
    fn who_is_called_like_a_program_that_runs_is_hashed() {
        let run = |line: &str| {
            let user = line.rsplit(' ').next().unwrap();
            process("/usr/bin/perl", line, &[&format!("USER={user}"), "HOME=/home/perl", "LOGNAME=perl"])
        };
        let processes = [run("perl -e perl"), process("/usr/bin/ssh", "ssh git@host -l make", &[])];
        let processes =
            processes.into_iter().chain(running(&["/usr/bin/git", "/usr/bin/make", "/usr/bin/tar"]));
        let processes: Vec<Process> = processes.collect();
        let words = words().with_processes(processes.iter()).with_paths(["/usr/bin/perl"].into_iter());
        for entry in ["USER=perl", "LOGNAME=perl", "SUDO_USER=perl", "HOME=/home/perl", "USER=125"] {
            let value = entry.split_once('=').unwrap().1.rsplit('/').next().unwrap();
            assert!(!words.variable(entry).contains(value), "{}", words.variable(entry));
        }
        assert_eq!(words.word("make"), words.word("make"));
        for word in ["--user=perl", "perl@host", "git@github.com:x", "--owner=perl:make", "-uperl", "perl"] {
            let seen = words.word(word);
            assert!(!["perl", "git", "make"].iter().any(|name| seen.contains(name)), "{word}: {seen}");
        }
        let line = words.command("tar\0cf\0x\0--owner\0perl\0--group=123\0-u\0git", Some("/usr/bin/tar"));
        assert!(!["perl", "git", "123"].iter().any(|name| line.contains(name)), "{line}");
        assert!(line.starts_with("tar\0cf\0"));
        assert_eq!(words.path("/usr/bin/perl"), "/usr/bin/perl");
    }

    #[test]
    fn the_name_of_a_running_program_does_not_tell_the_hash_of_a_user() {
        let paths =
            ["/home/julia/x", "/usr/bin/julia", "/usr/local/bin/julia", "/opt/tool/bin/julia", "/home/awk/x"];
        let processes = [
            process("/usr/bin/julia", "julia --project=/home/julia/x", &["USER=julia"]),
            process("/usr/bin/nice", "nice julia --project=/home/julia/x", &[]),
            process("/usr/bin/mawk", "awk 1", &[]),
            process("/usr/bin/which", "which julia", &[]),
            process("/home/julia/julia", "julia 1", &[]),
        ];
        let words = words().with_processes(processes.iter()).with_paths(paths.into_iter());
        let user = words.path("/home/julia");
        let user = base(&user);
        assert_ne!(user, "julia");
        let of =
            |process: &Process| words.command(process.cmdline.as_deref().unwrap(), process.exe.as_deref());
        assert!(
            of(&processes[0]).starts_with(&format!("julia\0--project=/home/{user}/")),
            "{}",
            of(&processes[0])
        );
        assert!(of(&processes[1]).starts_with("nice\0julia\0--project="), "{}", of(&processes[1]));
        assert!(of(&processes[2]).starts_with("awk\0"));
        assert_eq!(of(&processes[3]), "which\0julia");
        assert!(of(&processes[4]).starts_with(user), "{}", of(&processes[4]));
        assert_eq!(words.path("/usr/local/bin/julia"), "/usr/local/bin/julia");
        assert_eq!(words.variable("USER=julia"), format!("USER={user}"));
        assert_eq!(base(&words.path("/opt/tool/bin/julia")), "julia");
        assert_eq!(words.command("-bash\0x", Some("/usr/bin/bash")).split('\0').next(), Some("-bash"));
    }

    /// What analyses know of a program they know by its name.
    #[test]
    fn programs_whose_words_are_known_are_public() {
        for name in iotrail_model::known_words::programs() {
            assert!(public::is_program(name), "{name}");
        }
    }

    #[test]
    fn known_programs_keep_their_names_in_directories_of_programs() {
        for path in
            ["/home/ada/.pyenv/versions/quokka/bin/python3.11", "/usr/local/bin/git", "/opt/quokka/bin/make"]
        {
            let seen = words().path(path);
            assert!(seen.rsplit('/').next() == path.rsplit('/').next() && !seen.contains("quokka"), "{seen}");
        }
        assert!(words().word("quokka/bin/make").ends_with("/bin/make"));
        assert!(!words().path("/opt/bin/quokka").contains("quokka"));
    }

    #[test]
    fn options_that_programs_know_stay_and_no_value_does() {
        let seen = |exe: &str, line: &str| command(words(), exe, line).join(" ");
        for (exe, line) in [
            ("/usr/bin/ls", "ls -la --sort=time"),
            ("/usr/bin/tar", "tar cf"),
            ("/usr/bin/make", "make -kj2"),
            ("/usr/bin/find", "find . -newer -ls -printf %T@%m"),
            ("/usr/bin/git", "git -C . commit"),
            ("/usr/bin/python3.11", "python3 -m tarfile -c"),
            ("/usr/bin/busybox", "busybox tar cf"),
        ] {
            assert_eq!(seen(exe, line), line);
        }
        for (exe, line) in [
            ("/usr/bin/mysql", "mysql -pquokka"),
            ("/usr/bin/ls", "ls -lquokka"),
            ("/usr/bin/make", "make -kfquokka"),
            ("/usr/bin/find", "find -printf %Tquokka%m -quokka quokka%p -name %quokka"),
            ("/usr/bin/git", "git quokka"),
            ("/usr/bin/tar", "tar quokka"),
            ("/usr/bin/stat", "stat --format=quokka%y -c%hquokka"),
            ("/usr/bin/python3.11", "python3 -m quokka -mquokka"),
        ] {
            let seen = seen(exe, line);
            assert!(!seen.contains("quokka") && !seen.contains("uokka"), "{seen}");
        }
    }

    #[test]
    fn numbers_of_descriptors_and_versions_are_no_names_elsewhere() {
        let paths = ["/proc/self/fd/117", "/etc/24.12", "/data/patients/117"];
        let words = words().with_paths(paths.into_iter());
        assert!(words.path("/proc/self/fd/117").ends_with("/117"));
        assert!(!words.path("/data/patients/117").contains("117"));
        assert!(!words.word("--date=24.12").contains("24.12"));
        for path in ["/etc/407", "/usr/share/555/123", "/sys/class/net/843"] {
            let seen = words.path(path);
            assert!(
                !["407", "555", "123", "843"].iter().any(|number| seen.ends_with(&format!("/{number}"))),
                "{seen}"
            );
        }
    }

    #[test]
    fn names_of_one_template_stay_or_go_together() {
        let words = words()
            .with_paths(["/usr/bin/python3.11", "/home/ada/python3.11", "/home/ada/python4.12"].into_iter());
        let (one, other) = (words.path("/home/ada/python3.11"), words.path("/home/ada/python4.12"));
        assert!(!one.contains("python") && !other.contains("python"));
        assert_eq!(generalise(&one), generalise(&other));
    }

    #[test]
    fn names_of_the_system_that_differ_in_numbers_stay_or_go_together() {
        let pairs = [
            ["/dev/dri/card0", "/dev/dri/card1"],
            ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"],
            ["/sys/devices/system/cpu/cpu12", "/sys/devices/system/cpu/cpu1234"],
            ["/dev/loop7", "/dev/loop1234"],
            ["/dev/nvme0n1", "/dev/nvme1000n1"],
            ["/proc/self/fd/3", "/proc/self/fd/1234"],
            ["/home/u/.pyenv/lib/python3.11/a.so", "/home/u/.pyenv/lib/python3.1111/a.so"],
        ];
        for pair in pairs {
            let words = words().with_paths(pair.into_iter());
            let [one, other] = pair.map(|path| words.path(path));
            assert_eq!(generalise(&one), generalise(&other), "{one} {other}");
            assert_ne!(one, other);
        }
        let alike = ["/dev/loop7", "/dev/loop8", "/dev/tty1"];
        let words = words().with_paths(alike.into_iter());
        assert_eq!(alike.map(|path| words.path(path)), alike);
    }

    #[test]
    fn addresses_and_dates_are_no_versions() {
        for path in [
            "/etc/openvpn/10.8.0.1",
            "/sys/class/net/10.9.3.7",
            "/usr/share/8.8.4.4",
            "/proc/sys/net/1.2.3.44",
            "/etc/26.11.30",
            "/home/x/libm.so.10.8.0.8",
            "/home/x/lib/python10.8.0.6",
            "/usr/bin/gcc-10.8.0.7",
        ] {
            let name = path.rsplit('/').next().unwrap();
            let numbers = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let numbers = numbers.strip_prefix("3.").unwrap_or(numbers);
            assert!(!words().path(path).contains(numbers), "{}", words().path(path));
        }
        let versions = ["/usr/lib/gcc/x86_64-linux-gnu/12", "/usr/lib/x86_64-linux-gnu/libm.so.6.0.30"];
        assert_eq!(versions.map(|path| words().path(path)), versions);
    }

    #[test]
    fn names_hide_nowhere() {
        let words = words().with_processes(running(&["/usr/bin/quokka", "/usr/bin/make"]).iter());
        for path in [
            "/usr/../home/quokka",
            "/usr/../etc/quokka",
            "/dev/shm/quokka",
            "/dev/sdquokka",
            "/usr/local/quokka",
            "/usr/bin/quokka",
            "/usr/lib/libquokka.so.6",
            "/usr/share/quokka/x",
            "/etc/quokka.conf",
            "/etc/sudoers.d/quokka",
            "/proc/self/root/home/quokka/x",
            "/proc/self/cwd/quokka",
            "/proc/77/root/quokka",
            "/proc/self/task/5/root/tmp/quokka",
            "/proc/self/fd/5/quokka",
            "/proc/quokka",
            "/proc/sys/quokka",
            "/sys/class/net/quokka",
            "UNIX-STREAM:[7->\"/run/quokka\"]",
            "UNIX:[->@\"quokka\"]",
            "QUOKKA:[quokka]",
            "quokka:[7]",
            "anon_inode:[quokka]",
            "anon_inode:quokka",
            "memfd:quokka",
            "/memfd:quokka (deleted)",
            "/home/john.quokka",
            "/home/.quokka",
            "quokka",
        ] {
            let seen = words.path(path);
            assert!(!seen.to_lowercase().contains("quokka"), "{path}: {seen}");
            let seen = words.word(path);
            assert!(!seen.to_lowercase().contains("quokka"), "{path}: {seen}");
        }
        for word in [
            "--token=quokka",
            "--quokka",
            "--quokka=1",
            "-pquokka",
            "-quokka",
            "-Iquokka",
            "a,quokka",
            "quokka@host:x",
            "https://u:quokka@h.quokka/quokka?quokka=quokka#quokka",
            "'quokka'",
            "$quokka",
            "text of quokka\nand quokka",
            "quokka make",
        ] {
            let seen = words.word(word);
            assert!(!seen.contains("quokka"), "{seen}");
            assert!(!words.sentence(word, std::iter::empty()).contains("quokka"));
        }
        assert!(
            !words.variable("QUOKKA=1").contains("QUOKKA")
                && !words.variable("HOME=/quokka").contains("quokka")
        );
        let of_run = words.variable("SLURM_QUOKKA=1");
        assert!(of_run.starts_with("SLURM_") && !of_run.contains("QUOKKA"), "{of_run}");
        assert!(!words.sentence("sh -c 'echo quokka'", std::iter::empty()).contains("quokka"));
        let of_run = words.sentence("sh -c ls -l 12 05 87", lines(&["sh\0-c\0ls -l 12 05 87\0"]).iter());
        assert!(of_run.contains(" -c ") && !of_run.contains("12 05") && !of_run.contains("-l"), "{of_run}");
        let unknown = words.sentence("sh -c ls -l 12 05 87", lines(&["sh\0-c\0ls"]).iter());
        assert!(!unknown.contains("-c") && !unknown.contains("12 05"), "{unknown}");
        assert_eq!(words.command("make\0-j2", None), "make\0-j2");
    }

    #[test]
    fn what_is_kept_is_a_path_and_nothing_behind_it() {
        let rules = Rules::default().keep(&["/scratch/public/**".to_owned()]).unwrap();
        let words = Words::new(rules, Some(Key::of(b"sixteen bytes or").unwrap()))
            .with_paths(["/scratch/public/a=1/x"].into_iter());
        for word in ["/scratch/public/x", "--data=/scratch/public/x", "/scratch/public/a=1/x"] {
            assert_eq!(words.word(word), word);
        }
        assert_eq!(words.variable("PATH=/scratch/public/lib:/usr/bin"), "PATH=/scratch/public/lib:/usr/bin");
        assert!(!words.path("/scratch/public/none/../../home/quokka").contains("quokka"));
        for word in [
            "/scratch/public/d:/home/quokka",
            "/scratch/public/../../home/quokka",
            "--mount=/scratch/public/../../home/quokka",
            "/scratch/public/a=/home/quokka",
            "/scratch/public/run.sh --token quokka > /home/quokka/out",
            "/scratch/public/d,/home/quokka",
        ] {
            assert!(!words.word(word).contains("quokka"), "{}", words.word(word));
        }
    }

    #[test]
    fn numbers_and_addresses_are_hidden() {
        let words = words();
        for secret in ["4071234567", "192.168.17.5", "2001:db8:0:17::5", "fe80::1ff:fe23:4567:890a"] {
            for text in [
                format!("/data/{secret}"),
                format!("/data/{secret}/x"),
                format!("/data/run_{secret}.dat"),
                format!("/proc/{secret}/stat"),
                format!("TCP:[{secret}:80]"),
                format!("TCPv6:[[{secret}]:80]"),
                format!("--id={secret}"),
                format!("-n{secret}"),
                secret.to_owned(),
            ] {
                for seen in [words.path(&text), words.word(&text), words.variable(&format!("HOME={text}"))] {
                    let digits =
                        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
                    assert!(!digits(&seen).contains(&digits(secret)), "{text}: {seen}");
                }
            }
        }
        assert_eq!(words.rank("17"), "17");
        assert_ne!(words.rank("1234567"), "1234567");
    }

    #[test]
    fn what_is_no_file_stays_alike() {
        let words = words();
        for path in [
            "TCP:[7->127.0.0.1:80]",
            "UNIX-STREAM:[7->\"/run/x\"]",
            "NETLINK:[ROUTE:77]",
            "pipe:[7]",
            "pidfd:[77]",
            "signalfd:[HUP]",
            "memfd:x (deleted)",
            "/proc/4711/task/4712/stat",
            "/proc/4711/map_files/7f00-7f01",
            "/proc/self/fdinfo/4711",
            "/dev/fd/4711",
        ] {
            let (before, after) = (canonical(path), words.path(path));
            let kind =
                |name: &str| name.strip_prefix("memfd:").map_or(name.to_owned(), |_| "memfd".to_owned());
            assert_eq!(kind(&before), kind(&canonical(&after)), "{path}: {after}");
        }
    }

    #[test]
    fn digits_stay_if_they_may() {
        let words = words().keep_digits(true);
        let (one, two) = (words.path("part_0001.x"), words.path("part_0002.x"));
        assert_eq!(one.replace("0001", "0002"), two);
        assert_ne!(words.path("a1b2"), words.path("a12b"));
    }

    #[test]
    fn rules_come_first_and_are_all_there_is_without_a_key() {
        let rules = Rules::parse("keep=['/pub/*']\n[[path]]\nmatch='ada'\nreplace='user'").unwrap();
        let words = Words::new(rules, None);
        assert_eq!(words.path("/home/ada/x"), "/home/user/x");
        assert_eq!(words.word("/home/ada/x"), "/home/user/x");
        assert_eq!(words.path("/pub/ada"), "/pub/ada");
        assert_eq!(words.host("n1"), "n1");
    }

    fn lines_of_options() -> impl proptest::strategy::Strategy<Value = (usize, Vec<String>)> {
        use proptest::prelude::*;
        let word = prop_oneof![
            "-[a-zA-Z%]{0,5}[a-z]{0,3}",
            "--(sort|so|time|format|reference|r|d|update|secret|create)(=(time|t|long|%y|x|[a-z]{1,12}))?",
            "[a-zA-Z]{1,11}",
            "(-printf|-newer|-perm|-m|-C|-c|tarfile|commit|add|cf|-nt|--|-)",
            "[a-z%0-9]{1,6}",
        ];
        (0..PROGRAMS.len(), prop::collection::vec(word, 0..6))
    }

    const PROGRAMS: [&str; 13] =
        ["ls", "stat", "date", "cp", "diff", "gzip", "touch", "mkdir", "tar", "ar", "find", "git", "python3"];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3000))]
        #[test]
        fn what_is_known_of_a_command_line_is_known_of_the_copy((program, line) in lines_of_options(), key in "[a-z]{16}") {
            let program = PROGRAMS[program];
            let words = Words::new(Rules::default(), Some(Key::of(key.as_bytes()).unwrap()));
            let exe = format!("/usr/bin/{program}");
            let copy = words.command(&format!("{program}\0{}", line.join("\0")), Some(&exe));
            let copy: Vec<&str> = copy.split('\0').collect();
            proptest::prop_assert_eq!(copy[0], program);
            let line: Vec<&str> = if line.is_empty() { vec![""] } else { line.iter().map(String::as_str).collect() };
            let (before, after) = (known_words(program, &line), known_words(program, &copy[1..]));
            proptest::prop_assert_eq!(
                (&before.letters, &before.long, &before.words, &before.directives),
                (&after.letters, &after.long, &after.words, &after.directives),
                "{:?} {:?}", line, copy
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn different_names_stay_different(a in "[a-c./0-9]{0,12}", b in "[a-c./0-9]{0,12}") {
            let words = words();
            proptest::prop_assert_eq!(a == b, words.path(&a) == words.path(&b));
            proptest::prop_assert_eq!(extension(&a).is_some(), extension(&words.path(&a)).is_some());
            let words = words.keep_digits(true);
            proptest::prop_assert_eq!(a == b, words.path(&a) == words.path(&b));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let words = words();
            let _ = (words.path(&text), words.word(&text), words.host(&text), words.variable(&text), words.sentence(&text, lines(&[&text]).iter()));
        }
    }
}
