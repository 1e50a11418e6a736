//! Command lines as text that a POSIX shell reads back byte for byte, and the quoting of formats around it.
//!
//! A word of ordinary characters is written as it is, a word with signs between single quotes. A word with bytes that are
//! no text, or with control characters (a line break ends a recipe of make, a submit command of HTCondor, and is no
//! character of XML), is made by `printf` from octal escapes in a variable in front of the command, so that the whole
//! command is one line of printable text in every format.

use iotrail_model::text::{is_invisible, path_to_text, text_to_path};
use iotrail_workflow::jobs::{Command, Job, Jobs, Program, Redirect, Script, Target};
use std::cmp::Reverse;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// Whether a word means itself to a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['-', '+', '@', '~', '=', '%'])
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./,:+@%".contains(&byte))
}

fn is_printable(word: &str) -> bool {
    !word.chars().any(is_invisible)
}

/// Between single quotes, for the shell; made by `printf` if it has characters that act instead of being seen. (A substitution
/// drops line breaks at the end.)
#[must_use]
pub fn single_quoted(word: &str) -> String {
    match word {
        _ if is_plain(word) => word.to_owned(),
        _ if is_printable(word) || word.ends_with('\n') => format!("'{}'", word.replace('\'', "'\\''")),
        _ => format!("\"$(printf '{}')\"", octal(word.as_bytes())),
    }
}

/// Bytes as `printf` of every shell makes them: the first one and signs by number, so that none is an option or a directive.
fn octal(bytes: &[u8]) -> String {
    let mut octal = String::with_capacity(bytes.len() * 4);
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' if !octal.is_empty() => {
                octal.push(char::from(*byte));
            }
            other => drop(write!(octal, "\\{other:03o}")),
        }
    }
    octal
}

/// A word behind a command, for the shell: an option needs no quotes there.
#[must_use]
pub fn argument(word: &str) -> String {
    let body = word.trim_start_matches('-');
    if body.len() < word.len() && is_plain(body) { word.to_owned() } else { single_quoted(word) }
}

/// Whether a path is that of a file or directory of the job.
fn is_of(job: &Job, path: &str) -> bool {
    let files = job.inputs.iter().chain(&job.outputs).map(|file| &file.path);
    files.chain(&job.temporaries).chain(&job.directories).any(|known| **known == *path)
}

/// A command for `sh` that is being written.
struct Writer<'a> {
    jobs: &'a Jobs,
    /// Words that the format around the command cannot hold as they are, though they are printable.
    hides: fn(&str) -> bool,
    /// The directory of the recording.
    base: Base,
    /// Assignments that must come first, each ended by `; `.
    before: String,
    variables: usize,
    /// Whether `$base`, the directory in which the job runs, is used.
    uses_base: bool,
    /// Whether `$here`, a name of that directory without any sign, is used.
    uses_here: bool,
}

/// Sets `$here` to the directory in which the job runs by a name that means itself in code of any language: where its own
/// name has other signs, by that of the working directory of this shell, which stays there.
const HERE: &str = "here=$(pwd); case $here in *[!A-Za-z0-9_./-]*) read -r here _ </proc/self/stat; here=/proc/$here/cwd/.;; esac; ";

impl<'a> Writer<'a> {
    fn new(jobs: &'a Jobs, hides: fn(&str) -> bool) -> Self {
        Self {
            jobs,
            hides,
            base: Base::of(jobs),
            before: String::new(),
            variables: 0,
            uses_base: false,
            uses_here: false,
        }
    }

    /// A word of any bytes.
    fn word(&mut self, bytes: &[u8]) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) if is_printable(text) && !(self.hides)(text) => argument(text),
            _ => {
                self.variables += 1;
                let name = format!("w{}", self.variables);
                let octal = octal(bytes);
                // The sign at the end keeps line breaks there, which a substitution drops.
                let _ = write!(self.before, "{name}=$(printf '{octal}_'); {name}=${{{name}%_}}; ");
                format!("\"${name}\"")
            }
        }
    }

    /// The word of the command: make would take a sign before it for its own.
    fn program(&mut self, bytes: &[u8]) -> String {
        let word = self.word(bytes);
        if word.starts_with('-') || word.contains('=') && !word.starts_with(['\'', '"']) {
            format!("'{word}'")
        } else {
            word
        }
    }

    /// A word in which the directory of the recording stands for that of the job.
    fn placed(&mut self, bytes: &[u8]) -> String {
        let parts = self.base.split(bytes);
        if parts.len() < 2 {
            return self.word(bytes);
        }
        let is_path = self.is_path(&parts);
        (self.uses_base, self.uses_here) = (self.uses_base | is_path, self.uses_here | !is_path);
        let words: Vec<String> =
            parts.iter().map(|part| if part.is_empty() { String::new() } else { self.word(part) }).collect();
        words.join(if is_path { "\"$base\"" } else { "\"$here\"" })
    }

    /// Whether a word with the directory in it is a path, perhaps behind the name of an option; else it may be code,
    /// in which a sign in the name of the directory would mean something.
    fn is_path(&self, parts: &[Vec<u8>]) -> bool {
        let [before, after] = parts else { return false };
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_-./+@,=".contains(byte);
        let is_file = || {
            let known = self.base.below(&path_to_text(after)).unwrap_or_default();
            before.is_empty() && self.jobs.jobs.iter().any(|job| is_of(job, &known))
        };
        before.iter().chain(after).all(is_name) || is_file()
    }

    fn path(&mut self, path: &str) -> String {
        let path = self.base.relative(path);
        let place = if path.starts_with('-') { "./" } else { "" };
        self.word(&text_to_path(&format!("{place}{path}")))
    }

    fn redirect(&mut self, redirect: &Redirect) -> String {
        let (sign, standard) = match &redirect.target {
            Target::Read(_) => ("<", 0),
            Target::Null if redirect.fd == 0 => ("<", 0),
            Target::ReadWrite(_) => ("<>", 0),
            Target::Append(_) => (">>", 1),
            Target::Write(_) | Target::Null => (">", 1),
            Target::Same(_) | Target::Closed => (">&", 1),
        };
        let target = match &redirect.target {
            Target::Read(path) | Target::Write(path) | Target::Append(path) | Target::ReadWrite(path) => {
                self.path(path)
            }
            Target::Null => "/dev/null".to_owned(),
            Target::Same(source) => source.to_string(),
            Target::Closed => "-".to_owned(),
        };
        let number = if redirect.fd == standard { String::new() } else { redirect.fd.to_string() };
        format!("{number}{sign}{target}")
    }

    /// Words behind a command or group, each with a blank in front.
    fn redirects(&mut self, redirects: &[Redirect]) -> String {
        redirects.iter().map(|redirect| format!(" {}", self.redirect(redirect))).collect()
    }

    fn command(&mut self, command: &Command) -> String {
        let mut words = Vec::with_capacity(command.argv.len() + 2);
        if !command.unset.is_empty() {
            words.push("env".to_owned());
            for name in &command.unset {
                words.push(format!("-u {}", single_quoted(name)));
            }
        }
        for variable in &command.env {
            if let Some((name, value)) = variable.split_once('=') {
                let value = self.placed(&text_to_path(value));
                words.push(format!("{name}={value}"));
            }
        }
        let program = self.executable(command);
        words.push(program);
        for argument in command.argv.iter().skip(1) {
            let word = self.placed(argument);
            words.push(word);
        }
        let line = words.join(" ");
        // Redirections stand outside: their names are as seen from the directory of the job.
        let redirects = self.redirects(&command.redirects);
        match command.cwd.as_deref().filter(|cwd| !self.base.is(cwd)) {
            Some(cwd) => {
                let cwd = self.path(cwd);
                format!("(cd {cwd} && {line}){redirects}")
            }
            None => format!("{line}{redirects}"),
        }
    }

    /// The words of the command; a program of the workflow that was found without a path is named by its path.
    fn executable(&mut self, command: &Command) -> String {
        let program = match command.program() {
            Program::Named(word) => word,
            Program::Part { exe, part } => {
                let exe = self.installed(exe);
                return format!("{exe} {}", self.word(part.as_bytes()));
            }
            Program::Renamed { exe, name } => {
                // The only shell that is everywhere and can tell a program a name.
                let (name, exe) = (self.word(name), self.placed(&text_to_path(exe)));
                return format!("bash -c 'exec -a \"$0\" \"$@\"' {name} {exe}");
            }
        };
        let own = command.exe.as_deref().filter(|exe| self.is_own(exe) && !program.contains(&b'/'));
        match own {
            Some(exe) => {
                let exe = exe.to_owned();
                self.placed(&text_to_path(&exe))
            }
            None if program.starts_with(b"/")
                && self.base.split(program).len() > 1
                && command.exe.as_deref().is_none_or(|exe| !self.base.holds(exe) || self.is_own(exe)) =>
            {
                self.placed(program)
            }
            None => self.program(program),
        }
    }

    /// Whether an executable is one of the workflow, and not one that is installed in the directory by chance.
    fn is_own(&self, exe: &str) -> bool {
        let beside = || self.jobs.home.as_deref().is_some_and(|home| !Base::new(home).holds(exe));
        let is_made = || self.jobs.jobs.iter().flat_map(|job| &job.outputs).any(|file| &*file.path == exe);
        let is_installed = || beside() && (exe.contains("/bin/") || !self.jobs.is_own(exe)) && !is_made();
        self.base.holds(exe) && !is_installed()
    }

    /// A program by its name, if it is where systems have their programs, else by its path.
    fn installed(&mut self, exe: &str) -> String {
        let standard = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];
        match standard.iter().find_map(|place| exe.strip_prefix(place)).filter(|name| !name.contains('/')) {
            Some(name) => self.program(&text_to_path(name)),
            None => self.placed(&text_to_path(exe)),
        }
    }

    fn script(&mut self, script: &Script, inner: bool) -> String {
        match script {
            Script::Command(command) => self.command(command),
            Script::Sequence(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.script(part, true)).collect();
                let line = parts.join("; ");
                if inner { format!("{{ {line}; }}") } else { line }
            }
            Script::Pipeline(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.script(part, true)).collect();
                parts.join(" | ")
            }
            Script::Masked { umask, body } => format!("umask {umask:03o} && {}", self.script(body, inner)),
            Script::Redirected { body, redirects } => {
                let body = match &**body {
                    Script::Sequence(_) => self.script(body, true),
                    other => format!("{{ {}; }}", self.script(other, true)),
                };
                format!("{body}{}", self.redirects(redirects))
            }
        }
    }
}

/// The directory that relative paths are relative to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    path: Option<String>,
    /// The bytes of its name, and of other names of it and of directories in it, the longest first; with what follows its
    /// name in theirs.
    names: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Base {
    pub(crate) fn new(path: &str) -> Self {
        let path = Some(path.trim_end_matches('/').to_owned()).filter(|path| !path.is_empty());
        let names = path.iter().map(|path| (text_to_path(path).into_owned(), Vec::new())).collect();
        Self { path, names }
    }

    pub(crate) fn of(jobs: &Jobs) -> Self {
        let mut base = jobs.base.as_deref().map(Self::new).unwrap_or_default();
        for (alias, own) in &jobs.aliases {
            // A link in the directory goes with it, and may lead elsewhere by then.
            if base.holds(alias) {
                continue;
            }
            if let Some(rest) = base.path.as_deref().and_then(|base| own.strip_prefix(base)) {
                base.names.push((text_to_path(alias).into_owned(), text_to_path(rest).into_owned()));
            }
        }
        base.names.sort_by_key(|(name, _)| Reverse(name.len()));
        base
    }

    fn is(&self, path: &str) -> bool {
        self.path.as_deref() == Some(path.trim_end_matches('/'))
    }

    /// The path with that behind the directory's.
    fn below(&self, rest: &str) -> Option<String> {
        Some(format!("{}{rest}", self.path.as_deref()?))
    }

    /// The parts of a word between mentions of the directory; one part if it is not mentioned.
    fn split(&self, word: &[u8]) -> Vec<Vec<u8>> {
        let part_of_name = |byte: Option<&u8>| {
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || b"_-./".contains(b) || *b >= 0x80)
        };
        let (mut parts, mut part, mut at) = (Vec::new(), Vec::new(), 0);
        while at < word.len() {
            let begins = at == 0 || !part_of_name(word.get(at - 1));
            let mentioned = self.names.iter().find(|(name, _)| {
                let end = at + name.len();
                let ends = word.get(end) == Some(&b'/') || !part_of_name(word.get(end));
                begins && ends && word[at..].starts_with(name)
            });
            match mentioned {
                Some((name, rest)) => {
                    parts.push(std::mem::replace(&mut part, rest.clone()));
                    at += name.len();
                }
                None => {
                    part.push(word[at]);
                    at += 1;
                }
            }
        }
        parts.push(part);
        parts
    }

    fn holds(&self, path: &str) -> bool {
        self.path
            .as_deref()
            .is_some_and(|base| path.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')))
    }

    /// A path below the directory without it; every other path as it is.
    pub(crate) fn relative(&self, path: &str) -> String {
        let rest = self.path.as_deref().and_then(|base| path.strip_prefix(base));
        match rest {
            Some("") => ".".to_owned(),
            Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
            _ => path.to_owned(),
        }
    }
}

/// The command of a job as one line for `sh`; `None` if it cannot be run.
#[must_use]
pub fn shell(job: &Job, jobs: &Jobs) -> Option<String> {
    shell_hiding(job, jobs, |_| false)
}

pub(crate) fn shell_hiding(job: &Job, jobs: &Jobs, hides: fn(&str) -> bool) -> Option<String> {
    let (mut line, uses_here) = commands(job, jobs, hides)?;
    if let Some(code) = job.exit_code.filter(|code| *code != 0) {
        let _ = write!(line, " || test $? -eq {code}");
    } else if job.signal.is_some() {
        line.push_str(" || test $? -gt 128");
    } else if uses_here {
        line.push_str(UNREPLACED);
    }
    Some(line)
}

/// The same where jobs run again after changes: one that does not end as it ended in the recording says so, since others may have
/// run, or not, because of that.
pub(crate) fn shell_again(number: usize, jobs: &Jobs) -> Option<String> {
    let job = jobs.jobs.get(number)?;
    let (line, uses_here) = commands(job, jobs, |_| false)?;
    let (sign, is_as_recorded, recorded) = match (job.exit_code.filter(|code| *code != 0), &job.signal) {
        (Some(code), _) => (";", format!("test $1 -eq {code}"), format!("it was {code}")),
        (None, Some(_)) => (" ||", "test $1 -gt 128".to_owned(), "a signal ended it".to_owned()),
        (None, None) => return Some(line + if uses_here { UNREPLACED } else { "" }),
    };
    Some(format!(
        "{line}{sign} {{ set $?; {is_as_recorded} || {{ echo \"job {} ended with exit status $1, and {recorded} in the recording: \
what other jobs do may depend on that; record again\" >&2; exit 1; }}; }}",
        number + 1
    ))
}

/// Nothing is the last command: a shell would be replaced by it, or go elsewhere, and `$here` with it.
const UNREPLACED: &str = " || exit";

/// The commands of a job, and whether they use `$here`.
fn commands(job: &Job, jobs: &Jobs, hides: fn(&str) -> bool) -> Option<(String, bool)> {
    let mut writer = Writer::new(jobs, hides);
    let script = job.script.as_ref()?;
    let line = writer.script(script, false);
    let base = if writer.uses_base { "base=$(pwd); " } else { "" };
    let here = if writer.uses_here { HERE } else { "" };
    Some((format!("{base}{here}{}{line}", writer.before), writer.uses_here))
}

/// Names as arguments of a shell's command, and what must come before it, each part ended by `; `.
pub(crate) fn arguments<'a>(paths: impl Iterator<Item = &'a str>, jobs: &Jobs) -> (String, Vec<String>) {
    let mut writer = Writer::new(jobs, |_| false);
    let names = paths.map(|path| writer.path(path)).collect();
    (writer.before, names)
}

/// Program and arguments of a job for systems that start programs without a shell: the command itself if nothing needs
/// a shell, else `/bin/sh -c`. Words are text without control characters and none is empty.
#[must_use]
pub fn program(job: &Job, jobs: &Jobs) -> Option<Vec<String>> {
    program_hiding(job, jobs, |_| false)
}

/// Like [`program`]; words for which `hides` says yes are not among them as they are.
pub(crate) fn program_hiding(job: &Job, jobs: &Jobs, hides: fn(&str) -> bool) -> Option<Vec<String>> {
    if let Some(Script::Command(command)) = &job.script
        && let Some(words) = direct(command, &Base::of(jobs))
        && job.exit_code.unwrap_or(0) == 0
        && job.signal.is_none()
        && !words.iter().any(|word| hides(word))
    {
        return Some(words);
    }
    Some(vec!["/bin/sh".to_owned(), "-c".to_owned(), shell_hiding(job, jobs, hides)?])
}

fn direct(command: &Command, base: &Base) -> Option<Vec<String>> {
    let exe = command.exe.as_deref()?;
    let here = command.cwd.as_deref().is_none_or(|cwd| base.is(cwd));
    let redirected = !command.redirects.is_empty();
    let same_name = exe.rsplit('/').next() == Some(&*command.base_name());
    let plain = matches!(command.program(), Program::Named(_)) && same_name;
    let as_is = command.env.is_empty() && command.unset.is_empty();
    if !here || redirected || !as_is || !plain || !is_printable(exe) {
        return None;
    }
    let mut words = vec![base.relative(exe)];
    for argument in command.argv.iter().skip(1) {
        let text = std::str::from_utf8(argument).ok()?;
        if text.is_empty() || !is_printable(text) || base.split(argument).len() > 1 {
            return None;
        }
        words.push(text.to_owned());
    }
    Some(words)
}

/// A string of JSON and of YAML: what PyYAML does not take as it is, is escaped.
#[must_use]
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A comment line: nothing in it can end the line.
#[must_use]
pub fn comment(text: &str) -> String {
    let shown = iotrail_model::text::printable(text);
    // A backslash at the end would go on with the next line in a makefile.
    format!("# {}\n", shown.trim_end_matches('\\'))
}

/// The same for formats that give jobs no variables.
#[must_use]
pub fn remarks_with_environment(jobs: &Jobs) -> String {
    let environment = jobs.environment_remark().map(|remark| comment(&remark));
    environment.unwrap_or_default() + &remarks(jobs)
}

/// What a reader must know, as comment lines.
#[must_use]
pub fn remarks(jobs: &Jobs) -> String {
    /// Lines of remarks at most; the rest is counted.
    const LIMIT: usize = 40;
    let mut lines: String = jobs.issues.iter().take(LIMIT).map(|issue| comment(&issue.message())).collect();
    if let Some(more) = jobs.issues.len().checked_sub(LIMIT).filter(|more| *more > 0) {
        let _ = writeln!(lines, "# ... and {more} more remarks");
    }
    lines
}
