//! A command as it was executed, and what a person calls it.

use super::Command;
use super::programs::{ProgramId, Programs};
use iotrail_model::text::{path_to_text, printable, text_to_path};
use iotrail_model::{ENVIRONMENT_DIGEST, Process};
use iotrail_query::Lives;
use serde::Serializer;
use std::sync::Arc;

/// Recorders keep that many bytes of a command line. In trails that do not say what was cut, one of this length was.
const CUT_AT: usize = 1 << 16;
/// The longest title of a command, in characters.
const TITLE: usize = 72;

/// Programs that run a script which is their first argument.
const INTERPRETERS: [&str; 12] =
    ["sh", "dash", "bash", "ash", "zsh", "ksh", "python", "perl", "ruby", "Rscript", "node", "lua"];
/// Programs that run the command which is their argument.
const WRAPPERS: [&str; 7] = ["env", "nice", "nohup", "time", "stdbuf", "setsid", "busybox"];

/// Whether a recorded command line has lost a part.
pub(crate) fn is_cut(image: &Process) -> bool {
    let long = || image.cmdline.as_deref().is_some_and(|line| text_to_path(line).len() >= CUT_AT);
    image.cmdline_cut.unwrap_or_else(long)
}

/// Writes arguments in their text form.
pub(crate) fn as_text<S: Serializer>(argv: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(argv.iter().map(|argument| path_to_text(argument)))
}

/// The command of a program, or why there is none.
pub(crate) fn command(lives: &Lives, programs: &Programs, id: ProgramId) -> Result<Command, String> {
    let program = programs.get(id);
    let image = programs.image(program, lives);
    let line = image.cmdline.as_deref().ok_or("its command line was not recorded")?;
    if is_cut(image) {
        return Err(
            "its command line is not complete in the trail (`strace -s` cuts it, a recorder does at 64 KiB)"
                .to_owned(),
        );
    }
    let argv: Vec<Vec<u8>> = line.split('\0').map(|argument| text_to_path(argument).into_owned()).collect();
    let mut root = program;
    while let Some(parent) = root.parent {
        root = programs.get(parent);
    }
    let outer = &programs.image(root, lives).env;
    Ok(Command {
        life: program.life,
        exe: image.exe.as_deref().map(Arc::from),
        argv,
        cwd: image.cwd.as_deref().map(Arc::from),
        env: image
            .env
            .iter()
            .filter(|variable| !outer.contains(variable) && !variable.starts_with(ENVIRONMENT_DIGEST))
            .cloned()
            .collect(),
        redirects: Vec::new(),
    })
}

impl Command {
    /// The word to execute: the first argument, or the executable where the argument is no command (a login shell's `-sh`).
    #[must_use]
    pub fn program(&self) -> &[u8] {
        let first = self.argv.first().map(Vec::as_slice).unwrap_or_default();
        match &self.exe {
            Some(exe) if first.is_empty() || first.starts_with(b"-") => exe.as_bytes(),
            _ => first,
        }
    }

    /// The base name of [`Command::program`], as text.
    #[must_use]
    pub fn base_name(&self) -> String {
        let program = String::from_utf8_lossy(self.program());
        base(&program).to_owned()
    }

    /// What a person calls it: the script that an interpreter runs, the command that `env` runs, else the program.
    #[must_use]
    pub fn name(&self) -> String {
        let words: Vec<String> =
            self.argv.iter().skip(1).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        name(&self.base_name(), &words)
    }

    /// The command line, cut to a length that fits on a line.
    #[must_use]
    pub fn title(&self) -> String {
        let words: Vec<String> =
            self.argv.iter().skip(1).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let mut text = [vec![self.base_name()], words].concat().join(" ");
        if let Some((cut, _)) = text.char_indices().nth(TITLE) {
            text.truncate(cut);
            text.push('…');
        }
        printable(&text).into_owned()
    }
}

fn base(word: &str) -> &str {
    word.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn name(program: &str, words: &[String]) -> String {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let known = |list: &[&str]| list.contains(&plain) || list.contains(&program);
    if known(&WRAPPERS) {
        let rest = words.iter().position(|word| !word.starts_with('-') && !word.contains('='));
        if let Some((next, rest)) = rest.and_then(|at| words[at..].split_first()) {
            return name(base(next), rest);
        }
    }
    if !known(&INTERPRETERS) {
        return program.to_owned();
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-m" => return words.next().map_or_else(|| program.to_owned(), Clone::clone),
            flag if flag.starts_with('-') && flag.ends_with('c') && !flag.starts_with("--") => {
                let inner = words.next().and_then(|text| of_script(text));
                return inner.unwrap_or_else(|| program.to_owned());
            }
            flag if flag.starts_with('-') || flag.starts_with('+') => {}
            script => return base(script).to_owned(),
        }
    }
    program.to_owned()
}

/// The first command of a shell's text: a word that is no assignment, if it looks like a program.
fn of_script(text: &str) -> Option<String> {
    let word = text
        .split_whitespace()
        .find(|word| !word.contains('=') && !["set", "-e;", "(", "{", "-e", "!"].contains(word))?;
    let name = base(word.trim_matches(|c| "\"'();".contains(c)));
    let plain = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(words: &[&str]) -> String {
        Command { argv: words.iter().map(|word| word.as_bytes().to_vec()).collect(), ..Command::default() }
            .name()
    }

    #[test]
    fn a_command_is_called_after_what_a_person_ran() {
        assert_eq!(called(&["/usr/bin/sort", "-n", "in.txt"]), "sort");
        assert_eq!(called(&["/bin/sh", "-e", "steps/align.sh", "7"]), "align.sh");
        assert_eq!(called(&["python3.11", "-u", "fit.py"]), "fit.py");
        assert_eq!(called(&["python3", "-m", "http.server"]), "http.server");
        assert_eq!(called(&["sh", "-c", "X=1 ./prog a >b"]), "prog");
        assert_eq!(called(&["bash", "-ec", "set -e; (cat a; b)"]), "cat");
        assert_eq!(called(&["bash", "-c", "$PROG x"]), "bash");
        assert_eq!(called(&["env", "A=b", "perl", "x.pl"]), "x.pl");
        assert_eq!(called(&["sh"]), "sh");
        assert_eq!(called(&["awk", "{print}", "in"]), "awk");
    }
}
