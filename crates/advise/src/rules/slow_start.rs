//! A program takes a large part of its life to start: loader, imports, wrappers.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Saved, Seen, Tally, split};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Class, Transfer};

/// What is slow, in ns.
const SLOW: u64 = 100_000_000;
/// So many starts a life are a large part.
const PARTS: u64 = 3;
/// Interpreters look for modules in so many directories of the user.
const DIRECTORIES: u64 = 4;

/// Endings of what interpreters load, and `.so` with a version.
const CODE: [&str; 13] =
    [".py", ".pyc", ".pyd", ".so", ".pl", ".pm", ".rb", ".js", ".mjs", ".cjs", ".jar", ".lua", ".jl"];

/// Whether a file holds a program or a part of one, wherever it lies: to load it is to start, too.
pub(super) fn is_code(path: &str) -> bool {
    let (directory, name) = split(path);
    CODE.iter().any(|ending| name.ends_with(ending))
        || name.contains(".so.")
        || directory.ends_with("/bin")
        || directory.ends_with("/sbin")
}

#[derive(Default)]
pub(crate) struct SlowStart {
    starting: HashMap<Image, Start, RandomState>,
    started: Vec<Start>,
}

/// From `execve` to the last thing that was loaded before the first that is the program's own.
struct Start {
    exec: Seen,
    /// Calls until then.
    calls: u64,
    /// Those since.
    calls_since: u64,
    /// Directories of the user that it opened.
    directories: u64,
    end: i64,
}

impl Rule for SlowStart {
    fn see(&mut self, call: &Seen) {
        if call.kind == CallKind::Exec && call.is_done() && call.selected {
            let next = (call.case, call.pid, call.image + 1);
            self.starting.insert(
                next,
                Start { exec: *call, calls: 0, calls_since: 0, directories: 0, end: call.end() },
            );
        } else if !call.selected {
            self.starting.remove(&call.process());
        } else if let Some(start) = self.starting.get_mut(&call.process()) {
            let begins = start.begins_work(call) || start.computes(call);
            start.calls_since += 1;
            if !begins && Start::loads(call) {
                start.calls += std::mem::take(&mut start.calls_since);
                start.end = call.end();
            }
            if begins && let Some(start) = self.starting.remove(&call.process()) {
                self.started.push(start);
            }
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.started.iter().chain(self.starting.values()).filter_map(|start| start.habit(log)).collect()
    }
}

impl Start {
    /// Whether a call looks for a file or loads one. What comes behind the last of these is the program's own, be it that it
    /// computes without a call.
    fn loads(call: &Seen) -> bool {
        call.transfer == Transfer::Read
            || call.kind.opens_file()
            || matches!(
                call.kind,
                CallKind::Map | CallKind::Stat | CallKind::Access | CallKind::ReadLink | CallKind::Close
            )
    }

    /// Whether the program has computed for long when it makes this call: no loader does.
    fn computes(&self, call: &Seen) -> bool {
        u64::try_from(call.start.saturating_sub(self.end)).is_ok_and(|time| time >= SLOW)
    }

    /// Whether the program has started when it does this.
    fn begins_work(&mut self, call: &Seen) -> bool {
        // A wait that failed is none: who looks up a user knocks at a daemon that may not be there.
        let waits = call.is_done() && call.class.is_some_and(Class::is_wait);
        match call.transfer {
            Transfer::Write | Transfer::Copy => true,
            Transfer::Read => waits || call.is_done() && call.is_own,
            Transfer::None if call.kind.opens_file() && call.is_done() && call.is_own => {
                self.directories += u64::from(call.file.is_none());
                call.file.is_some() || self.directories > DIRECTORIES
            }
            Transfer::None => waits || matches!(call.kind, CallKind::Spawn | CallKind::Vfork),
        }
    }

    fn habit(&self, log: &Context) -> Option<ProcessHabit> {
        let process = self.exec.process?;
        let time =
            u64::try_from(self.end.saturating_sub(self.exec.start)).ok().filter(|time| *time >= SLOW)?;
        let lived = log.lived(process)?.time?;
        if time.saturating_mul(PARTS) < lived {
            return None;
        }
        let on_path = log.path.of_process(process, (self.exec.start, self.end));
        let saved = Saved { calls: self.calls, timed: self.calls, time: Some(time), on_path };
        Some(ProcessHabit {
            rule: "slow-start",
            file: log.text(self.exec.path),
            tally: Tally { first: self.exec.first(), calls: self.calls, saved, amount: time },
            places: Vec::new(),
            fix: "start it once and give it more to do, or load less: Python: `python3 -X importtime` names what is imported, import it where it is used, keep packages in one place (`python3 -I`); C: fewer shared libraries, or link them statically; wrappers (conda run, module load, shell profiles): call the program itself; clusters: keep program and libraries on local storage or in one image file (squashfs, Apptainer)",
            assumes: "what is loaded is not all needed, or can stay loaded",
        })
    }
}
