//! Running processes are joined, and left running.

use crate::recorder::support::{Collected, Stage, fails, plan, run, until};
use iotrail_record::{End, RecordError, RecordPlan, Target};
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;

#[test]
fn a_process_that_is_attached_to_goes_on_afterwards() {
    attach_and_leave(false);
}

#[test]
fn a_stopped_process_that_is_attached_to_stays_stopped() {
    attach_and_leave(true);
}

fn attach_and_leave(stopped: bool) {
    let stage = Stage::new();
    let (program, file) = (stage.compile("scenes"), stage.path("file"));
    std::fs::write(&file, "").unwrap();
    let (tell, told) = mpsc::channel();
    let looked_at = file.clone();
    // The child is this thread's, so that the recording thread has none of its own.
    let keeper = std::thread::spawn(move || {
        let mut child = Command::new(program)
            .arg("waits")
            .arg(&looked_at)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        let stat = format!("/proc/{}/stat", child.id());
        let is_stopped = || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        };
        if stopped {
            kill_process(pid, Signal::STOP).unwrap();
            until(is_stopped);
        }
        tell.send(child.id()).unwrap();
        let status = format!("/proc/{}/status", child.id());
        let tracer = || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            text.lines().find_map(|line| line.strip_prefix("TracerPid:")).map(|pid| pid.trim() != "0")
        };
        until(|| tracer() == Some(true));
        // Time to see something: the other thread opens the file every few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(300));
        kill_process(getpid(), Signal::INT).unwrap();
        until(|| tracer() == Some(false));
        assert!(child.try_wait().unwrap().is_none(), "it is still there");
        if stopped {
            // It is let go into its stop, which it enters by itself.
            until(is_stopped);
            kill_process(pid, Signal::CONT).unwrap();
        }
        child.stdin.take().unwrap().write_all(b"stop\n").unwrap();
        child.wait().unwrap().code()
    });
    let pid = told.recv().unwrap();
    let plan = RecordPlan { target: Target::Attach(vec![pid]), ..plan(["unused"]) };
    let (outcome, collected) = run(&plan);
    assert_eq!(keeper.join().unwrap(), Some(23));
    assert_eq!(outcome.end, End::Detached);
    let recording = outcome.coverage.recording.unwrap();
    assert_eq!((recording.left_running, recording.left_at.is_some()), (1, true));
    if !stopped {
        assert_seen(&collected, pid, file.to_str().unwrap());
    }
}

fn assert_seen(collected: &Collected, pid: u32, file: &str) {
    let opens: Vec<_> =
        collected.calls("openat").into_iter().filter(|row| row.path.as_deref() == Some(file)).collect();
    assert!(!opens.is_empty(), "the second thread was seen: {:?}", collected.events);
    assert!(opens.iter().all(|row| row.pid == pid && row.tid != pid));
    let [process] = &collected.processes[..] else { panic!("{:?}", collected.processes) };
    assert_eq!((process.pid.0, process.end, process.exit_code), (pid, None, None));
    assert!(process.exe.as_deref().is_some_and(|exe| exe.ends_with("scenes")));
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    let plan = RecordPlan { target: Target::Attach(vec![u32::MAX >> 2]), ..plan(["unused"]) };
    assert!(matches!(fails(&plan), RecordError::Attach { .. }));
}
