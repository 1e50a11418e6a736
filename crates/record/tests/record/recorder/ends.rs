//! What is passed on: exit statuses, deaths, failures to start.

use crate::recorder::support::{Stage, fails, plan, run, scene, shell, until};
use iotrail_record::{End, Wait};
use rustix::process::{Signal, getpid, kill_process};
use std::os::unix::fs::PermissionsExt;

#[test]
fn statuses_and_deaths_are_passed_on() {
    let end = |line| run(&shell(line)).0.end;
    assert_eq!(end("exit 0"), End::Exited(0));
    assert_eq!(end("exit 255"), End::Exited(255));
    assert_eq!(end("kill -9 $$"), End::Signalled(9));
    assert_eq!(end("kill -64 $$"), End::Signalled(64));
    assert_eq!(end("sh -c 'kill -15 $$'; exit 4"), End::Exited(4));
}

#[test]
fn what_cannot_be_started_says_why() {
    let stage = Stage::new();
    let script = stage.path("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    assert_eq!(fails(&plan([&script])).exit_status(), 126, "not executable");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = fails(&plan([&script]));
    assert_eq!(error.exit_status(), 127, "{error}");
    let error = fails(&plan(["iotrail-has-no-such-command"]));
    assert_eq!(error.exit_status(), 127);
    assert!(error.to_string().contains("no such command"), "{error}");
    assert_eq!(fails(&plan([stage.path("")])).exit_status(), 126, "a directory");
}

#[test]
fn a_script_without_an_interpreter_is_run_by_the_shell() {
    let stage = Stage::new();
    let script = stage.path("script");
    std::fs::write(&script, "exit $(($1 + 1))\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (outcome, _) = run(&plan([script.into_os_string(), "6".into()]));
    assert_eq!(outcome.end, End::Exited(7));
}

#[test]
fn a_signal_to_the_recorder_reaches_the_program() {
    let stage = Stage::new();
    let file = stage.path("there");
    let plan = scene(&stage, &["killed", file.to_str().unwrap()]);
    let sender = std::thread::spawn(move || {
        until(|| file.exists());
        kill_process(getpid(), Signal::TERM).unwrap();
    });
    let (outcome, _) = run(&plan);
    sender.join().unwrap();
    assert_eq!(outcome.end, End::Signalled(15));
}

#[test]
fn a_daemon_is_waited_for() {
    let stage = Stage::new();
    let file = stage.path("written");
    let (outcome, collected) = run(&scene(&stage, &["daemon", file.to_str().unwrap()]));
    assert_eq!(outcome.end, End::Exited(3));
    let written = |row: &&crate::recorder::support::Row| row.path.as_deref() == file.to_str();
    assert!(collected.calls("write").iter().any(written));
    assert_eq!(collected.processes.len(), 2);
    assert_eq!(outcome.coverage.recording.unwrap().left_running, 0);
}

#[test]
fn a_daemon_is_left_running_if_only_the_command_counts() {
    let stage = Stage::new();
    let file = stage.path("written");
    let mut plan = scene(&stage, &["daemon", file.to_str().unwrap()]);
    plan.wait = Wait::Main;
    let (outcome, collected) = run(&plan);
    assert_eq!(outcome.end, End::Exited(3));
    assert_eq!(outcome.coverage.recording.unwrap().left_running, 1);
    assert!(collected.calls("pipe").len() + collected.calls("pipe2").len() == 1, "calls were seen");
    until(|| std::fs::read(&file).is_ok_and(|bytes| bytes == b"done"));
}
