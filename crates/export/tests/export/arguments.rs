//! Whatever its arguments are, a command is started with them again by what reads an export: `sh`, `make`, and the
//! parsers of the other formats. A helper, the shell's `printf '%s\0'`, tells what it was started with.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use iotrail_export::escape::{program, shell};
use iotrail_export::{Format, Subject, WriteOptions, write_jobs};
use iotrail_workflow::jobs::{Command as JobCommand, Job, Jobs, Redirect, Script, Target};
use proptest::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Arguments of signs that mean something to somebody, and of any bytes; none holds a NUL.
fn arguments() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let sign = prop_oneof![
        Just(b" ".to_vec()),
        Just(b"'".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"$".to_vec()),
        Just(b"$(DOLLAR)".to_vec()),
        Just(b"{".to_vec()),
        Just(b"}".to_vec()),
        Just(b"\\".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"`".to_vec()),
        Just(b"#".to_vec()),
        Just(b"%".to_vec()),
        Just(b"*".to_vec()),
        Just(b"=".to_vec()),
        Just(b"-".to_vec()),
        Just(b"a".to_vec()),
        Just("é".as_bytes().to_vec()),
        Just("\u{2028}".as_bytes().to_vec()),
        (1_u8..=255).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(prop::collection::vec(sign, 0..6).prop_map(|parts| parts.concat()), 0..5)
}

/// A job that appends its arguments, each ended by NUL, to `said`.
fn saying(arguments: &[Vec<u8>]) -> Jobs {
    let script = b"for a; do printf '%s\\0' \"$a\"; done".to_vec();
    let mut argv = vec![b"sh".to_vec(), b"-c".to_vec(), script, b"say".to_vec()];
    argv.extend_from_slice(arguments);
    let command = JobCommand {
        exe: Some(Arc::from("/bin/sh")),
        argv,
        cwd: Some(Arc::from("/recorded")),
        redirects: vec![Redirect { fd: 1, target: Target::Write(Arc::from("/recorded/said")) }],
        ..JobCommand::default()
    };
    let job =
        Job { script: Some(Script::Command(command)), name: Arc::from("say"), members: 1, ..Job::default() };
    Jobs { jobs: vec![job], base: Some(Arc::from("/recorded")), ..Jobs::default() }
}

fn said(directory: &Path, program: &str, words: &[String]) -> Vec<u8> {
    let output = Command::new(program)
        .args(words)
        .current_dir(directory)
        .env_remove("MAKEFLAGS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(directory.join("said")).unwrap()
}

fn wanted(arguments: &[Vec<u8>]) -> Vec<u8> {
    arguments.iter().flat_map(|argument| [argument.as_slice(), b"\0"].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_shell_starts_a_command_with_the_same_arguments(arguments in arguments()) {
        let directory = tempfile::tempdir().unwrap();
        let jobs = saying(&arguments);
        let line = shell(&jobs.jobs[0], &jobs).unwrap();
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        prop_assert_eq!(said(directory.path(), "sh", &["-c".to_owned(), line]), wanted(&arguments));
        let words = program(&jobs.jobs[0], &jobs).unwrap();
        prop_assert!(words.iter().all(|word| !word.is_empty() && !word.chars().any(char::is_control)));
        prop_assert_eq!(said(directory.path(), &words[0], &words[1..]), wanted(&arguments));
    }

    #[test]
    fn every_format_is_written_of_any_arguments(arguments in arguments()) {
        let jobs = saying(&arguments);
        for format in Format::all(Subject::Workflow).filter(|format| format.is_of_jobs()) {
            let text = String::from_utf8(write_jobs(&jobs, format, &WriteOptions::default()).unwrap()).unwrap();
            let odd = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            prop_assert!(!odd, "{text}");
        }
    }
}

#[test]
fn a_program_is_told_the_name_that_it_was_told_and_no_variable_that_it_had_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut jobs = saying(&[]);
    let script = b"printf '%s,%s,%s' \"$0\" \"${GONE-none}\" \"$HERE\"".to_vec();
    jobs.jobs[0].script = Some(Script::Command(JobCommand {
        exe: Some(Arc::from("/bin/sh")),
        argv: vec![b"odd 'name".to_vec(), b"-c".to_vec(), script],
        cwd: Some(Arc::from("/recorded")),
        env: vec!["HERE=a b".to_owned()],
        unset: vec!["GONE".to_owned()],
        redirects: vec![Redirect { fd: 1, target: Target::Write(Arc::from("/recorded/said")) }],
        ..JobCommand::default()
    }));
    let line = shell(&jobs.jobs[0], &jobs).unwrap();
    let told = said(directory.path(), "env", &["GONE=there", "sh", "-c", &line].map(str::to_owned));
    assert_eq!(String::from_utf8(told).unwrap(), "odd 'name,none,a b", "{line}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn make_starts_a_command_with_the_same_arguments(arguments in arguments()) {
        if Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("NOT TESTED: make is not installed");
            return Ok(());
        }
        let directory = tempfile::tempdir().unwrap();
        let jobs = saying(&arguments);
        let makefile = write_jobs(&jobs, Format::Makefile, &WriteOptions::default()).unwrap();
        std::fs::write(directory.path().join("w.mk"), makefile).unwrap();
        let words = ["-s", "-f", "w.mk"].map(str::to_owned);
        prop_assert_eq!(said(directory.path(), "make", &words), wanted(&arguments));
    }
}
