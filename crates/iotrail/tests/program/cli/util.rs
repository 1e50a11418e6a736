//! A directory of one's own and the program in it: what every test of the command line is made of.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The paper's example: `ls` and `ls -l`, three processes each.
const PAPER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../strace/tests/fixtures/paper");
/// Traces of real programs with many combinations of strace's options.
pub(crate) const STRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/strace");

/// A small trace.
pub(crate) const LS: &str = "\
7  10:00:00.000100 openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3</etc/passwd> <0.000010>
7  10:00:00.000300 read(3</etc/passwd>, \"root\"..., 4096) = 1000 <0.000020>
7  10:00:00.000400 read(3</etc/passwd>, \"\", 4096) = 0 <0.000005>
7  10:00:00.000500 openat(AT_FDCWD, \"/etc/none\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000003>
7  10:00:00.000600 close(3</etc/passwd>) = 0 <0.000003>
7  10:00:00.000700 +++ exited with 0 +++
";

/// A directory that is removed at the end of the test; commands run in it, so that messages hold relative names.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// With the paper's six cases in `paper.trail`.
    pub(crate) fn with_paper() -> Self {
        let dir = Self::new();
        dir.run(["import", "-q", "-o", "paper.trail", PAPER]).succeeds();
        dir
    }

    /// With `text` imported into `t.trail`.
    pub(crate) fn with_trace(text: impl AsRef<[u8]>) -> Self {
        let dir = Self::new();
        dir.write("a_h_1.st", text);
        dir.run(["import", "-q", "-o", "t.trail", "a_h_1.st"]).succeeds();
        dir
    }

    /// With what a recorder leaves that is killed when its program has written `file-1` to `file-8`, in `output`.
    pub(crate) fn with_killed_recorder(output: &str) -> Self {
        let dir = Self::new();
        let program = "for i in 1 2 3 4 5 6 7 8; do echo $i > file-$i; done; touch done; sleep 100";
        let mut recorder = dir.command(["record", "-q", "-o", output, "--", "sh", "-c", program]).start();
        wait_until("the files are written", || dir.path("done").exists());
        recorder.kill().expect("a recorder");
        recorder.wait().expect("its end");
        dir
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, bytes).expect("a file");
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a readable file")
    }

    /// The names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a directory");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, to be run here.
    pub(crate) fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> TestCommand {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
        command.args(words).current_dir(self.0.path());
        command.env("COLUMNS", "100").env_remove("NO_COLOR").stdin(Stdio::null());
        TestCommand { command, input: None }
    }

    /// Runs the program to its end.
    pub(crate) fn run<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Ran {
        self.command(words).run()
    }

    /// Runs the program and parses what it prints.
    pub(crate) fn json<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Value {
        self.run(words).succeeds().json()
    }

    /// Runs a line of shell here, with the program as `$IOTRAIL`.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("IOTRAIL", env!("CARGO_BIN_EXE_iotrail")).env("COLUMNS", "100").env_remove("NO_COLOR");
        TestCommand { command, input: None }.run()
    }
}

/// A run to come.
pub(crate) struct TestCommand {
    command: Command,
    input: Option<Vec<u8>>,
}

impl TestCommand {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// What the program finds on standard input.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    pub(crate) fn run(mut self) -> Ran {
        let input = self.input.take();
        if input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        let mut child = self.spawn();
        if let (Some(bytes), Some(mut pipe)) = (input, child.stdin.take()) {
            // A program that does not read to the end is the test's business, not ours.
            let _ = pipe.write_all(&bytes);
        }
        let output = child.wait_with_output().expect("an end");
        Ran { status: output.status, stdout: output.stdout, stderr: output.stderr }
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Child {
        self.spawn()
    }

    /// Starts it with a pipe as standard input.
    pub(crate) fn spawn_with_pipe(mut self) -> Child {
        self.command.stdin(Stdio::piped());
        self.spawn()
    }

    fn spawn(&mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }
}

/// What a run left.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ran {
    /// Exit status 0.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        self.ends_with(0)
    }

    /// Exit status 1 and nothing on stdout; gives what is on stderr.
    #[track_caller]
    pub(crate) fn fails(self) -> String {
        let ran = self.ends_with(1);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "");
        ran.messages()
    }

    /// Exit status 2, for wrong usage, and nothing on stdout; gives what is on stderr.
    #[track_caller]
    pub(crate) fn refuses(self) -> String {
        let ran = self.ends_with(2);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "");
        ran.messages()
    }

    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.status.signal(), None, "killed; stderr: {}", self.messages());
        assert_eq!(self.status.code(), Some(code), "stderr: {}", self.messages());
        self
    }

    /// What is on stdout, which must be UTF-8.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("UTF-8 on stdout")
    }

    /// What is on stderr.
    pub(crate) fn messages(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).expect("JSON on stdout")
    }

    /// One value for each line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("JSON in a line")).collect()
    }
}

/// The records of a CSV text as RFC 4180 has it: quotes may hold commas, line ends and doubled quotes.
pub(crate) fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut characters) = (false, text.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the text ends within a record");
    records
}

/// Waits until `done`, for half a minute at most.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what} never happened");
        std::thread::sleep(Duration::from_millis(10));
    }
}
