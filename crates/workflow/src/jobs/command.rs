//! A command as it was executed, and what a person calls it.

use super::Command;
use super::called::{base, name};
use super::changed_names::absolute;
use super::programs::{ProgramId, Programs};
use iotrail_model::text::{path_to_text, printable, text_to_path};
use iotrail_model::{ENVIRONMENT_DIGEST, Names, Process};
use iotrail_query::ProcessTable;
use serde::Serializer;
use std::sync::Arc;

/// Recorders keep that many bytes of a command line. In trails that do not say what was cut, one of this length was.
const CUT_AT: usize = 1 << 16;
/// The longest title of a command, in characters.
const TITLE: usize = 72;

/// Whether a recorded command line has lost a part.
pub(crate) fn is_cut(image: &Process) -> bool {
    let long = || image.cmdline.as_deref().is_some_and(|line| text_to_path(line).len() >= CUT_AT);
    image.cmdline_cut.unwrap_or_else(long)
}

/// Names of variables of `outer` that `own` does not have.
fn unset(own: &[String], outer: &[String]) -> Vec<String> {
    let name = |entry: &str| entry.split('=').next().unwrap_or_default().to_owned();
    let missing = |entry: &&String| !is_pwd(entry) && !own.iter().any(|other| name(other) == name(entry));
    outer.iter().filter(missing).map(|entry| name(entry)).collect()
}

/// Whether a shell sets it by itself.
fn is_pwd(variable: &str) -> bool {
    variable.starts_with("PWD=")
}

/// Writes arguments in their text form.
pub(crate) fn as_text<S: Serializer>(argv: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(argv.iter().map(|argument| path_to_text(argument)))
}

/// The command of a program, or why there is none.
pub(crate) fn command(
    processes: &ProcessTable,
    names: &Names,
    programs: &Programs,
    id: ProgramId,
) -> Result<Command, String> {
    let program = programs.get(id);
    let image = programs.image(program, processes);
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
    let outer = &programs.image(root, processes).env;
    let cwd = image.cwd.as_deref().unwrap_or_default();
    let given = argv.first().map(|word| path_to_text(word)).filter(|word| word.contains('/'));
    let given = given.map(|word| absolute(cwd, &word));
    let link = program
        .link
        .map(|link| super::programs::name(names, link))
        .filter(|link| given.as_ref() == Some(link));
    Ok(Command {
        process: program.process,
        exe: link.cloned().or_else(|| image.exe.as_deref().map(Arc::from)),
        argv,
        cwd: programs.called_directory(program, processes).or(image.cwd.as_deref()).map(Arc::from),
        env: image
            .env
            .iter()
            .filter(|variable| !outer.contains(variable) && !variable.starts_with(ENVIRONMENT_DIGEST))
            .filter(|variable| !is_pwd(variable))
            .cloned()
            .collect(),
        unset: unset(&image.env, outer),
        redirects: Vec::new(),
    })
}

/// How a program is started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program<'a> {
    /// By the name that it was told.
    Named(&'a [u8]),
    /// A program that is many, and which of them.
    Part {
        /// Its path.
        exe: &'a str,
        /// The name of its part.
        part: String,
    },
    /// It was told a name that does not lead to it (`exec -a`, `-bash` of a login shell, a link of another name).
    Renamed {
        /// Its path.
        exe: &'a str,
        /// The name.
        name: &'a [u8],
    },
}

/// Programs that do what their first argument says.
const MULTI_CALL: [&str; 2] = ["busybox", "toybox"];

/// The words of a command line from the program on that does the work: `busybox cp a b` is `cp a b`.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split('\0').skip_while(|word| MULTI_CALL.contains(&base(word)))
}

/// Names that systems give to programs by links: the name, and what the names of the programs begin with.
const LINKS: [(&str, &[&str]); 19] = [
    ("sh", &["dash", "bash", "ksh", "mksh", "zsh"]),
    ("rbash", &["bash"]),
    ("awk", &["mawk", "gawk", "original-awk"]),
    ("nawk", &["mawk", "gawk", "original-awk"]),
    ("vi", &["vim"]),
    ("ex", &["vim"]),
    ("view", &["vim"]),
    ("cc", &["gcc", "clang"]),
    ("c++", &["g++", "clang"]),
    ("gmake", &["make"]),
    ("node", &["nodejs"]),
    ("mpirun", &["orterun", "prterun", "mpiexec"]),
    ("mpiexec", &["orterun", "prterun", "mpirun"]),
    ("xzcat", &["xz"]),
    ("unxz", &["xz"]),
    ("lzma", &["xz"]),
    ("bzcat", &["bzip2"]),
    ("bunzip2", &["bzip2"]),
    ("zstdcat", &["zstd"]),
];

/// Whether a system calls a program so: by its name, without its version or the machine in front, or by a known link.
fn is_called(exe: &str, given: &str) -> bool {
    let version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let exe = exe.split_once("-linux-gnu-").map_or(exe, |(_, name)| name);
    exe == given
        || exe.strip_prefix(given).is_some_and(version)
        || LINKS
            .iter()
            .any(|(name, programs)| *name == given && programs.iter().any(|program| exe.starts_with(program)))
}

fn base_of(word: &[u8]) -> String {
    base(&String::from_utf8_lossy(word)).to_owned()
}

impl Command {
    /// How it is run again: the program that it was, told the name that it was told.
    #[must_use]
    pub fn program(&self) -> Program<'_> {
        let given = self.argv.first().map(Vec::as_slice).unwrap_or_default();
        let Some(exe) = &self.exe else { return Program::Named(given) };
        let (given_base, exe_base) = (base_of(given), base(exe));
        if given.is_empty() || given.starts_with(b"-") || !is_called(exe_base, &given_base) {
            return match MULTI_CALL.contains(&exe_base) && !given_base.is_empty() {
                true => Program::Part { exe, part: given_base },
                false => Program::Renamed { exe, name: given },
            };
        }
        Program::Named(given)
    }

    /// The base name of the program, as text.
    #[must_use]
    pub fn base_name(&self) -> String {
        match self.program() {
            Program::Named(word) => base_of(word),
            Program::Part { part, .. } => part,
            Program::Renamed { exe, .. } => base(exe).to_owned(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn command(exe: &str, words: &[&str]) -> Command {
        let argv = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        Command { exe: Some(exe.into()), argv, ..Command::default() }
    }

    #[test]
    fn the_name_that_a_program_is_told_need_not_be_its_own() {
        let given = |exe: &'static str, name: &'static str| command(exe, &[name, "in"]);
        for (exe, name) in [
            ("/usr/bin/sort", "sort"),
            ("/usr/bin/mawk", "awk"),
            ("/usr/bin/dash", "/bin/sh"),
            ("/usr/bin/python3.11", "python3"),
            ("/usr/bin/x86_64-linux-gnu-gcc-12", "gcc"),
            ("/w/tool", "./tool"),
        ] {
            assert_eq!(given(exe, name).program(), Program::Named(name.as_bytes()), "{exe}");
        }
        for (exe, name) in [("/usr/bin/sort", "foo"), ("/usr/bin/bash", "-bash"), ("/usr/bin/sort", "")] {
            let command = given(exe, name);
            assert_eq!(command.program(), Program::Renamed { exe, name: name.as_bytes() });
            assert_eq!(command.base_name(), base(exe));
        }
        let applet = given("/usr/bin/busybox", "./sort");
        assert_eq!(applet.program(), Program::Part { exe: "/usr/bin/busybox", part: "sort".to_owned() });
        assert_eq!((applet.name(), applet.title()), ("sort".to_owned(), "sort in".to_owned()));
        assert_eq!(command("/usr/bin/busybox", &["busybox", "sort"]).name(), "sort");
        let cut_off = Command { exe: None, ..given("", "foo") };
        assert_eq!(cut_off.program(), Program::Named(b"foo"));
    }
}
