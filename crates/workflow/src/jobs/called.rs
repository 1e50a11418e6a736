//! What a person calls a command: the program that does the work, behind wrappers, interpreters and shells that only
//! lead to it.

/// A program that runs the command which follows its own options.
struct Wrapper {
    name: &'static str,
    /// Letters of options whose value is the next word where it is not attached.
    values: &'static str,
    /// Long options of that kind.
    long: &'static [&'static str],
    /// Words between the options and the command.
    operands: usize,
    /// Whether `NAME=value` may stand before the command.
    assignments: bool,
}

const fn wrapper(
    name: &'static str,
    values: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, values, long, operands, assignments: false }
}

const WRAPPERS: [Wrapper; 22] = [
    Wrapper { assignments: true, ..wrapper("env", "uC", &["unset", "chdir"], 0) },
    Wrapper { assignments: true, ..wrapper("sudo", "ugpCDhRrTtU", &["user", "group", "chdir"], 0) },
    Wrapper { assignments: true, ..wrapper("doas", "uC", &[], 0) },
    wrapper("nice", "n", &["adjustment"], 0),
    wrapper("ionice", "cn", &["class", "classdata"], 0),
    wrapper("timeout", "sk", &["signal", "kill-after"], 1),
    wrapper("flock", "wE", &["wait", "timeout", "conflict-exit-code"], 1),
    wrapper(
        "xargs",
        "InPLsdaE",
        &["max-args", "max-procs", "max-chars", "arg-file", "delimiter", "process-slot-var"],
        0,
    ),
    wrapper("nohup", "", &[], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper("time", "fo", &["format", "output"], 0),
    wrapper("chrt", "TPD", &["sched-runtime", "sched-period", "sched-deadline"], 1),
    wrapper("taskset", "", &[], 1),
    wrapper("numactl", "NmCipP", &[], 0),
    wrapper("prlimit", "", &[], 0),
    wrapper("chroot", "", &[], 1),
    wrapper("faketime", "", &[], 1),
    wrapper("valgrind", "", &[], 0),
    wrapper("eatmydata", "", &[], 0),
    wrapper("busybox", "", &[], 0),
];

/// Programs that are many, of which the first word behind their own options is one.
const SUITES: [Wrapper; 22] = [
    wrapper("git", "Cc", &["git-dir", "work-tree", "namespace"], 0),
    wrapper("svn", "", &[], 0),
    wrapper("hg", "R", &["repository", "cwd", "config"], 0),
    wrapper("dvc", "", &[], 0),
    wrapper("datalad", "Cc", &[], 0),
    wrapper("cargo", "C", &["color", "config"], 0),
    wrapper("go", "C", &[], 0),
    wrapper("npm", "C", &["prefix"], 0),
    wrapper("pip", "", &["python", "log", "proxy"], 0),
    wrapper("pip3", "", &["python", "log", "proxy"], 0),
    wrapper("conda", "", &[], 0),
    wrapper("docker", "cHl", &["config", "context", "host", "log-level"], 0),
    wrapper("podman", "c", &["connection", "log-level", "root", "runroot"], 0),
    wrapper("singularity", "", &[], 0),
    wrapper("apptainer", "", &[], 0),
    wrapper("openssl", "", &[], 0),
    wrapper("samtools", "", &[], 0),
    wrapper("bcftools", "", &[], 0),
    wrapper("bedtools", "", &[], 0),
    wrapper("gatk", "", &["java-options"], 0),
    wrapper("bwa", "", &[], 0),
    wrapper("gmx", "", &[], 0),
];

/// A program that runs a script or the code in an option.
struct Interpreter {
    /// Without a version behind it.
    names: &'static [&'static str],
    /// Letters of options whose value is code; of a shell the code follows all options.
    code: &'static str,
    /// Letters of options whose value is the name of a module.
    module: &'static str,
    /// Letters of options whose value is the next word where it is not attached.
    values: &'static str,
    /// Letters of options to which the rest of the word belongs.
    rest: &'static str,
    /// Long options whose value is code, and those with another value.
    long: (&'static [&'static str], &'static [&'static str]),
}

const SHELLS: [&str; 8] = ["sh", "dash", "bash", "ash", "zsh", "ksh", "mksh", "rbash"];

const INTERPRETERS: [Interpreter; 8] = [
    Interpreter {
        names: &SHELLS,
        code: "c",
        module: "",
        values: "oO",
        rest: "",
        long: (&[], &["rcfile", "init-file"]),
    },
    Interpreter {
        names: &["python", "pypy", "ipython"],
        code: "c",
        module: "m",
        values: "WXQ",
        rest: "",
        long: (&[], &["check-hash-based-pycs"]),
    },
    Interpreter {
        names: &["perl"],
        code: "eE",
        module: "",
        values: "I",
        rest: "iMmFxCDdV",
        long: (&[], &[]),
    },
    Interpreter {
        names: &["ruby"],
        code: "e",
        module: "",
        values: "IrCE",
        rest: "iFTWKx0",
        long: (&[], &[]),
    },
    Interpreter {
        names: &["node", "nodejs"],
        code: "ep",
        module: "",
        values: "r",
        rest: "",
        long: (&["eval", "print"], &["require", "import", "loader"]),
    },
    Interpreter { names: &["Rscript"], code: "e", module: "", values: "", rest: "", long: (&[], &[]) },
    Interpreter { names: &["lua", "luajit"], code: "e", module: "", values: "l", rest: "", long: (&[], &[]) },
    Interpreter {
        names: &["php", "julia"],
        code: "reE",
        module: "",
        values: "dcp",
        rest: "",
        long: (&["run", "eval"], &[]),
    },
];

/// Commands within commands are looked into so deep.
const DEEPEST: usize = 8;

/// The last component of a path.
pub(crate) fn base(word: &str) -> &str {
    word.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// What a person calls the command `program` with the arguments `words`.
pub(crate) fn name(program: &str, words: &[String]) -> String {
    within(program, words, DEEPEST)
}

fn within(program: &str, words: &[String], depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return program.to_owned() };
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) {
        return wrapped(wrapper, words, depth).unwrap_or_else(|| program.to_owned());
    }
    if program == "java" {
        return of_java(words).unwrap_or_else(|| program.to_owned());
    }
    if let Some(suite) = SUITES.iter().find(|suite| suite.name == program) {
        return part(suite, words).map_or_else(|| program.to_owned(), |part| format!("{program} {part}"));
    }
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let known = |kind: &&Interpreter| kind.names.contains(&plain) || kind.names.contains(&program);
    let Some(kind) = INTERPRETERS.iter().find(known) else { return program.to_owned() };
    let shell = kind.names == SHELLS;
    let found = match kind.runs(words, shell) {
        Some(Runs::Code(code)) if shell => of_code(code, depth),
        Some(Runs::Script(script)) => Some(base(script).to_owned()),
        Some(Runs::Module(module)) => Some(module.to_owned()),
        Some(Runs::Code(_)) | None => None,
    };
    found.filter(|name| !name.is_empty()).unwrap_or_else(|| program.to_owned())
}

/// Which of its programs a suite runs, if it is called by a word.
fn part<'a>(suite: &Wrapper, words: &'a [String]) -> Option<&'a str> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        rest = after.get(usize::from(suite.takes_next(word))..)?;
    }
    let part = rest.first()?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!part.is_empty() && part.chars().all(is_word)).then_some(part)
}

/// The name of the command behind a wrapper, if there is one.
fn wrapped(wrapper: &Wrapper, words: &[String], depth: usize) -> Option<String> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        let split = wrapper.name == "env";
        match (word.strip_prefix("--"), word.split_once('S')) {
            (Some("split-string"), _) if split => return of_code(after.first()?, depth),
            (None, Some((_, ""))) if split => return of_code(after.first()?, depth),
            (None, Some((_, attached))) if split => return of_code(attached, depth),
            _ => {}
        }
        let values = usize::from(wrapper.takes_next(word));
        rest = after.get(values..).unwrap_or_default();
        if word == "--" {
            break;
        }
    }
    rest = rest.get(wrapper.operands..)?;
    if wrapper.name == "flock" && matches!(rest.first().map(String::as_str), Some("-c" | "--command")) {
        return of_code(rest.get(1)?, depth);
    }
    while wrapper.assignments && rest.first().is_some_and(|word| word.contains('=')) {
        rest = &rest[1..];
    }
    let (program, rest) = rest.split_first()?;
    Some(within(base(program), rest, depth))
}

impl Wrapper {
    /// Whether the value of an option is the next word.
    fn takes_next(&self, option: &str) -> bool {
        if let Some(long) = option.strip_prefix("--") {
            return self.long.contains(&long);
        }
        let mut letters = option.chars().skip(1);
        letters.find(|letter| self.values.contains(*letter)).is_some() && letters.next().is_none()
    }
}

/// What an interpreter runs.
enum Runs<'a> {
    Script(&'a str),
    Module(&'a str),
    Code(&'a str),
}

impl Interpreter {
    fn runs<'a>(&self, words: &'a [String], shell: bool) -> Option<Runs<'a>> {
        let mut words = words.iter().map(String::as_str);
        let mut code = false;
        while let Some(word) = words.next() {
            let letters = match word.strip_prefix("--") {
                Some("") => return words.next().map(|word| operand(word, code)),
                Some(long) if self.long.0.contains(&long) => return words.next().map(Runs::Code),
                Some(long) => {
                    if self.long.1.contains(&long) {
                        words.next();
                    }
                    continue;
                }
                None => match word.strip_prefix('-').or_else(|| word.strip_prefix('+').filter(|_| shell)) {
                    // The script comes from standard input.
                    Some("") if !code => return None,
                    Some(letters) => letters,
                    None => return Some(operand(word, code)),
                },
            };
            for (at, letter) in letters.char_indices() {
                let attached = &letters[at + letter.len_utf8()..];
                let mut value = || if attached.is_empty() { words.next() } else { Some(attached) };
                if self.code.contains(letter) && shell {
                    code = true;
                } else if self.code.contains(letter) {
                    return value().map(Runs::Code);
                } else if self.module.contains(letter) {
                    return value().map(Runs::Module);
                } else if self.values.contains(letter) && shell {
                    // `-euo pipefail -c`: the value is the next word, whatever follows the letter.
                    words.next();
                } else if self.values.contains(letter) {
                    value();
                    break;
                } else if self.rest.contains(letter) {
                    break;
                }
            }
        }
        None
    }
}

fn operand(word: &str, code: bool) -> Runs<'_> {
    if code { Runs::Code(word) } else { Runs::Script(word) }
}

/// The archive or the class that Java runs.
fn of_java(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-jar" | "-m" | "--module" => return words.next().map(|word| base(word).to_owned()),
            "-cp" | "-classpath" | "--class-path" | "-p" | "--module-path" => drop(words.next()),
            option if option.starts_with('-') => {}
            source if source.ends_with(".java") => return Some(base(source).to_owned()),
            class => return class.rsplit('.').next().map(str::to_owned),
        }
    }
    None
}

/// Words in front of a command.
const KEYWORDS: [&str; 15] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "command", "builtin",
    "eval", "coproc",
];
/// Commands that prepare what follows them.
const PREPARES: [&str; 22] = [
    "set", "export", "cd", "pushd", "source", ".", "umask", "ulimit", "trap", ":", "local", "declare",
    "unset", "shopt", "readonly", "alias", "for", "case", "done", "fi", "esac", "}",
];
/// Commands that are what a text is called after only if there is nothing else.
const SMALL: [&str; 10] = ["echo", "printf", "mkdir", "rm", "test", "[", "[[", "true", "sleep", "wait"];

/// The command that a shell's text is about: the first that does not only prepare the others.
fn of_code(text: &str, depth: usize) -> Option<String> {
    let mut small = None;
    for statement in statements(text) {
        let words = command_of(&statement);
        let Some((word, rest)) = words.split_first() else { continue };
        if PREPARES.contains(&word.as_str()) {
            continue;
        }
        let program = base(word);
        let plain = |c: char| c.is_alphanumeric() || "_-.+[".contains(c);
        if program.is_empty() || !program.chars().all(plain) {
            // Only the shell knows what it is.
            return small;
        }
        let name = within(program, rest, depth);
        if !SMALL.contains(&program) {
            return Some(name);
        }
        small = small.or(Some(name));
    }
    small
}

/// A statement without the words in front of its command.
fn command_of(mut words: &[String]) -> &[String] {
    let mut keyword = "";
    while let Some((word, rest)) = words.split_first() {
        match word.as_str() {
            // The name that the program is told.
            "-a" if keyword == "exec" => words = rest.get(1..).unwrap_or_default(),
            option if option.starts_with('-') && !keyword.is_empty() => words = rest,
            other if KEYWORDS.contains(&other) => (keyword, words) = (other, rest),
            other if is_assignment(other) => words = rest,
            _ => break,
        }
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// So much of a shell's text is looked at, in characters.
const LOOKED_AT: usize = 4096;

/// The statements of a shell's text as words, without redirections, comments and what is substituted.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut found = Statements::default();
    let mut characters = text.chars().take(LOOKED_AT).peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => found.word().extend(characters.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                found.word();
                while let Some(inner) = characters.next().filter(|c| *c != '"') {
                    let inner = if inner == '\\' { characters.next() } else { Some(inner) };
                    found.word().extend(inner);
                }
            }
            '\\' => found.word().extend(characters.next().filter(|c| *c != '\n')),
            '#' if found.word.is_none() => while characters.next_if(|c| *c != '\n').is_some() {},
            '$' if characters.peek() == Some(&'(') => {
                found.word().push('$');
                let mut depth = 0_usize;
                for inner in characters.by_ref() {
                    depth = match inner {
                        '(' => depth + 1,
                        ')' => depth.saturating_sub(1),
                        _ => depth,
                    };
                    if depth == 0 {
                        break;
                    }
                }
            }
            '`' => {
                found.word().push('`');
                characters.by_ref().take_while(|c| *c != '`').for_each(drop);
            }
            '<' | '>' => {
                found.word = found.word.take().filter(|word| !word.chars().all(|c| c.is_ascii_digit()));
                found.end_word();
                while characters.next_if(|c| "<>&|".contains(*c)).is_some() {}
                found.target = true;
            }
            ';' | '&' | '|' | '\n' | '(' | ')' => found.end_statement(),
            blank if blank.is_whitespace() => found.end_word(),
            other => found.word().push(other),
        }
    }
    found.end_statement();
    found.done
}

#[derive(Default)]
struct Statements {
    done: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// Whether the word is that of a redirection.
    target: bool,
}

impl Statements {
    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.target)
        {
            self.words.push(word);
        }
    }

    fn end_statement(&mut self) {
        self.end_word();
        self.target = false;
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(words: &[&str]) -> String {
        let rest: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        name(base(words[0]), &rest)
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
        assert_eq!(called(&["git", "-C", "r", "--no-pager", "commit", "-m", "x"]), "git commit");
        assert_eq!(called(&["samtools", "sort", "a.bam"]), "samtools sort");
        assert_eq!(called(&["git", "--version"]), "git");
        assert_eq!(called(&["awk", "{print}", "in"]), "awk");
        assert_eq!(called(&["java", "-Xmx4g", "-jar", "/opt/picard.jar", "Sort"]), "picard.jar");
        assert_eq!(called(&["java", "-cp", "x.jar", "org.example.Main"]), "Main");
    }

    #[test]
    fn code_of_an_option_is_no_name() {
        assert_eq!(called(&["perl", "-e", "open F, '<in'; print <F>"]), "perl");
        assert_eq!(called(&["perl", "-lane", "print $F[0]", "in.txt"]), "perl");
        assert_eq!(called(&["perl", "-i.bak", "-pe", "s/a/b/", "in.txt"]), "perl");
        assert_eq!(called(&["perl", "-Mstrict", "-I", "lib", "run.pl"]), "run.pl");
        assert_eq!(called(&["python3", "-c", "import sys; print(sys.argv)"]), "python3");
        assert_eq!(called(&["python3", "-W", "ignore", "-X", "dev", "-Ic", "print(1)"]), "python3");
        assert_eq!(called(&["python3.12", "-W", "ignore", "a/fit.py"]), "fit.py");
        assert_eq!(called(&["ruby", "-ne", "puts $_"]), "ruby");
        assert_eq!(called(&["node", "--eval", "1"]), "node");
        assert_eq!(called(&["Rscript", "--vanilla", "-e", "1+1"]), "Rscript");
        assert_eq!(called(&["python3", "-"]), "python3");
    }

    #[test]
    fn wrappers_are_called_after_what_they_run() {
        for words in [
            &["env", "-i", "-u", "X", "A=1", "sort", "in"] as &[&str],
            &["env", "-S", "A=1 sort -n"],
            &["nice", "-n", "5", "sort", "in"],
            &["nice", "-5", "sort"],
            &["timeout", "-k", "1", "--signal=TERM", "5", "sort", "in"],
            &["flock", "-w", "3", "lock", "sort", "in"],
            &["flock", "lock", "-c", "sort in > out"],
            &["xargs", "-0", "-n", "1", "-P4", "sort"],
            &["nohup", "setsid", "-w", "stdbuf", "-oL", "-e", "0", "time", "-f", "%e", "sort", "in"],
            &["taskset", "-c", "0-3", "sort"],
            &["busybox", "sort", "in"],
            &["sudo", "-u", "me", "A=b", "sort"],
            &["timeout", "--", "5", "sort"],
            &["bash", "-c", "timeout 5 nice sort in | uniq"],
        ] {
            assert_eq!(called(words), "sort", "{words:?}");
        }
        assert_eq!(called(&["xargs", "-n", "1"]), "xargs");
        assert_eq!(called(&["env"]), "env");
        assert_eq!(called(&["nice", "-n"]), "nice");
    }

    #[test]
    fn a_shells_text_is_called_after_its_first_real_command() {
        for (text, wanted) in [
            ("set -euo pipefail; sort in > out", "sort"),
            ("set -e\n# a note; not a command\n\ncd work && make -j2 all", "make"),
            ("mkdir -p out && bwa mem 'a b' > out/x.sam", "bwa mem"),
            ("source env.sh; export PATH=$PATH:/x; 2>log samtools view x", "samtools view"),
            ("X=$(date +%s) Y=`id -u` tool", "tool"),
            ("for i in 1 2; do gzip $i; done", "gzip"),
            ("if test -e x; then tar xf x; fi", "tar"),
            ("echo hello", "echo"),
            ("set -e", "bash"),
            ("> out", "bash"),
            ("\"$TOOL\" x", "bash"),
            ("'/opt/my tools/run' x", "run"),
            ("exec -a foo sort x > y", "sort"),
            ("time -p make all", "make"),
            ("(cd d; python3 -c 'import os')", "python3"),
        ] {
            assert_eq!(called(&["bash", "-euo", "pipefail", "-c", text]), wanted, "{text}");
        }
        assert_eq!(called(&["bash", "-o", "errexit", "+x", "run.sh"]), "run.sh");
        let deep = "bash -c ".repeat(50);
        assert!(!called(&["bash", "-c", &deep]).is_empty());
    }
}
