//! Imports that do not come to their end.

use crate::cli::util::{Dir, LS, wait_until};
use std::io::Write;
use std::process::Child;

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let status = std::process::Command::new("kill").args(["-s", signal, &pid]).status().expect("kill");
    assert!(status.success());
}

fn partial(dir: &Dir) -> Option<String> {
    dir.names().into_iter().find(|name| name.contains(".partial-"))
}

/// An import that has read some lines from a pipe and waits for more.
fn waiting_import(dir: &Dir) -> Child {
    let mut child = dir.command(["import", "-o", "t.trail", "-"]).spawn_with_pipe();
    let pipe = child.stdin.as_mut().expect("a pipe");
    // Enough for the program to have read something once the pipe has taken all of it.
    pipe.write_all(LS.repeat(400).as_bytes()).expect("the program reads");
    wait_until("a partial trail", || partial(dir).is_some());
    child
}

#[test]
fn a_killed_import_leaves_a_partial_trail_that_says_what_it_is() {
    let dir = Dir::new();
    let mut child = waiting_import(&dir);
    send("KILL", &child);
    child.wait().expect("an end");
    assert!(!dir.path("t.trail").exists());
    let partial = partial(&dir).expect("the partial trail");
    let said = dir.run(["info", &partial]).fails();
    assert!(said.contains("is a trail that was never finished"), "{said}");
    // The next import is not in its way.
    dir.command(["import", "-q", "-o", "t.trail", "-"]).input(LS).run().succeeds();
    dir.run(["check", "t.trail"]).succeeds();
    assert!(dir.path(&partial).exists());
}

/// Whether programs that the tests start end with the terminal: not if the tests were started by `nohup`.
fn ends_with_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(ignored.trim(), 16).expect("a mask") & 1 == 0
}

#[test]
fn an_interrupted_import_finishes_a_trail_that_says_so() {
    for signal in ["INT", "TERM"].into_iter().chain(ends_with_terminal().then_some("HUP")) {
        let dir = Dir::new();
        let mut child = waiting_import(&dir);
        send(signal, &child);
        // The pipe stays open: the end of the import is not the end of its input.
        let pipe = child.stdin.take();
        let mut status = None;
        wait_until("the end", || {
            status = child.try_wait().expect("a status");
            status.is_some()
        });
        drop(pipe);
        assert_eq!(status.and_then(|status| status.code()), Some(0), "{signal}");
        dir.run(["check", "t.trail"]).succeeds();
        let info = dir.json(["info", "t.trail", "--json"]);
        assert!(info["coverage"]["notes"].to_string().contains("cancelled before the end"), "{info:#}");
        assert_eq!(dir.names(), ["t.trail"]);
    }
}

#[test]
fn signals_that_come_together_are_one_wish() {
    let dir = Dir::new();
    let mut child = waiting_import(&dir);
    // As `timeout` does: to the process, and to its group. Two kinds, because equal ones may be merged by the system.
    send("TERM", &child);
    send("INT", &child);
    let status = child.wait().expect("an end");
    assert_eq!(status.code(), Some(0));
    dir.run(["check", "t.trail"]).succeeds();
}

#[test]
fn a_leftover_of_the_same_process_number_is_not_in_the_way() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    // The shell's number is the program's: exec keeps it.
    dir.shell("mkdir .t.trail.partial-$$ && exec $IOTRAIL import -q -o t.trail a.st").succeeds();
    dir.run(["check", "t.trail"]).succeeds();
}
