//! Trails and calls of the program.

use iotrail_import::{ImportOptions, Input, Silent, import};
use iotrail_strace::Strace;
use iotrail_trail::memory::small_trail;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with `t.trail` in it.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    /// With the small trail: 40 events, two cases, three processes.
    pub(crate) fn small() -> Self {
        let dir = Self(tempfile::tempdir().expect("a directory"));
        small_trail(&dir.path("t.trail")).expect("a trail");
        dir
    }

    /// With the trail of a trace that was recorded with strace: a shell and what it called.
    pub(crate) fn recorded() -> Self {
        let dir = Self(tempfile::tempdir().expect("a directory"));
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/strace/f-tt-T-yy.st");
        let options = ImportOptions::default();
        import(&[&Strace], &[Input::Path(trace)], &options, &dir.path("t.trail"), &Silent).expect("a trail");
        dir
    }

    /// With the trail of a process of two threads, each with a trace of its own.
    pub(crate) fn of_threads() -> Self {
        let dir = Self(tempfile::tempdir().expect("a directory"));
        let leader = "1.000000 execve(\"/bin/t\", [\"t\"], 0x7ffc /* 1 var */) = 0 <0.000100>\n1.100000 clone(child_stack=0x7f00, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 12 <0.000100>\n1.200000 read(0, \"abc\", 3) = 3 <0.000100>\n1.900000 exit_group(0) = ?\n1.950000 +++ exited with 0 +++\n";
        let thread = "1.150000 write(1, \"abcd\", 4) = 4 <0.000200>\n1.250000 write(1, \"ab\", 2) = 2 <0.000200>\n1.920000 +++ exited with 0 +++\n";
        let files = [("x.st.11", leader), ("x.st.12", thread)].map(|(name, text)| {
            std::fs::write(dir.path(name), text).expect("a trace");
            Input::Path(dir.path(name))
        });
        import(&[&Strace], &files, &ImportOptions::default(), &dir.path("t.trail"), &Silent)
            .expect("a trail");
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `iotrail-sql` in the directory.
    pub(crate) fn sql(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail-sql"));
        command.args(arguments).current_dir(self.0.path()).env("COLUMNS", "120").env("NO_COLOR", "1");
        command.stdin(std::process::Stdio::null());
        command
    }

    /// What a query answers as CSV, without the header.
    pub(crate) fn rows(&self, query: &str) -> Vec<String> {
        let text = succeeds(&self.sql(&["t.trail", query, "--csv"]));
        text.lines().skip(1).map(str::to_owned).collect()
    }

    /// What a query answers as JSON.
    pub(crate) fn objects(&self, query: &str) -> Vec<serde_json::Value> {
        let text = succeeds(&self.sql(&["t.trail", query, "--json"]));
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// What is said about a query that is refused or fails.
    pub(crate) fn refused(&self, query: &str) -> String {
        fails(&self.sql(&["t.trail", query, "--csv"]))
    }

    /// Names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[track_caller]
pub(crate) fn succeeds(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[track_caller]
pub(crate) fn fails(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "nothing is answered");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
