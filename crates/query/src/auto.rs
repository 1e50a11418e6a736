//! The mapping `auto`: names for people, made for one log.
//!
//! An activity is a call on a *group* of files. The groups are the parts of the tree of paths in which the program spent its I/O:
//! starting at the working directory `./`, the home directory `~/` and `/`, the heaviest part below a group becomes a group of its
//! own (`tree`). What a program does from `execve` to its first own event is one activity, `startup:EXE` (`startup`).
//!
//! Deterministic for a log: one scan (`survey`) finds start-ups and weights, whichever threads do it.

mod roots;
pub mod startup;
mod survey;
mod tree;

use crate::mapping::Subject;
use crate::variables::Variables;
use iotrail_model::calls::{CallKind, Class, named};
use iotrail_model::canonical::canonical;
use iotrail_model::{CaseId, Pid, Process, Timestamp};
use iotrail_trail::{EventLog, TrailError};
use roots::Roots;
use startup::Startups;
use std::num::NonZeroUsize;
use tree::Tree;

/// The mapping `auto` of one log.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    roots: Roots,
    tree: Tree,
    startups: Startups,
}

impl Auto {
    /// The mapping of `log`, which has these processes, whose paths are shortened by `variables` first.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn of(
        log: &EventLog,
        processes: &[Process],
        variables: &Variables,
        threads: NonZeroUsize,
    ) -> Result<Self, TrailError> {
        let roots = Roots::of(processes, log);
        let found = survey::survey(log, processes, threads)?;
        let mut tree = Tree::default();
        let paths = &log.names().paths;
        for (path, weight) in found.weights {
            if let Some(exact) = paths.get(path.index()) {
                let shown = roots.shorten(variables.shorten(&canonical(exact)).into_owned());
                tree.add(&shown, weight);
            }
        }
        tree.divide();
        Ok(Self { roots, tree, startups: found.startups })
    }

    /// The activity of an event that is not of a start-up.
    pub(crate) fn activity(&self, subject: &Subject<'_>) -> Option<String> {
        let call = subject.call;
        match subject.path {
            Some(path) => {
                let shown = self.roots.shorten(path.to_owned());
                Some(format!("{call}:{}", self.tree.group(&shown)))
            }
            None if subject.moves_data => Some(format!("{call}:?")),
            None => takes_time(call).then(|| format!("{call}:-")),
        }
    }

    /// The program that is starting up in that process at that time.
    #[inline]
    pub(crate) fn startup(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<u32> {
        self.startups.program(case, pid, at)
    }

    /// The activity of the start-up of a program.
    pub(crate) fn startup_activity(&self, program: u32) -> String {
        format!("startup:{}", self.startups.name(program))
    }
}

/// Whether a call without a path may take time that is not computing: a wait, a sync, a new process. Calls on memory are part of
/// computing, and who ends does not return.
fn takes_time(call: &str) -> bool {
    let Some(spec) = named(call) else { return false };
    let ends = matches!(spec.kind, CallKind::ExitThread | CallKind::ExitProcess);
    !ends && spec.class(None, None).is_some_and(|class| class != Class::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Case, Event, Nanos, Nullable, Process};
    use iotrail_trail::memory::MemoryLog;
    use proptest::prelude::*;

    const CALLS: [&str; 6] = ["execve", "openat", "read", "write", "clone", "nanosleep"];
    const PATHS: [&str; 6] =
        ["/usr/bin/a", "/usr/bin/b", "/lib/x/libc.so.6", "/w/out/1.dat", "/w/out/2.dat", "/w/in/deep/x"];

    /// A log of (call, pid, path, whether it failed), a microsecond apart.
    fn log(rows: &[(usize, u32, usize, bool)], row_group_rows: usize) -> EventLog {
        let mut log = MemoryLog::new(vec![Case::default()]).row_group_rows(row_group_rows);
        for pid in 1..4 {
            let cwd = (pid == 1).then(|| "/w".to_owned());
            let exe = (pid == 3).then(|| "/usr/bin/a4.2".to_owned());
            log.push_process(Process {
                pid: Pid(pid),
                start: Some(Timestamp(0)),
                cwd,
                exe,
                ..Process::default()
            });
        }
        for (seq, &(call, pid, path, failed)) in rows.iter().enumerate() {
            let event = Event {
                seq: seq as u64,
                pid: Pid(pid),
                call: log.call(CALLS[call]),
                start: Timestamp(seq as i64 * 1000),
                dur: Nullable::some(Nanos(10 + call as i64)),
                path: if call == 5 { Nullable::NULL } else { log.path(PATHS[path]) },
                errno: if failed { log.errno("ENOENT") } else { Nullable::NULL },
                ..Event::default()
            };
            log.push(event);
        }
        log.build()
    }

    /// What each row is called.
    fn names(
        rows: &[(usize, u32, usize, bool)],
        row_group_rows: usize,
        threads: usize,
    ) -> Vec<Option<String>> {
        let log = log(rows, row_group_rows);
        let threads = NonZeroUsize::new(threads).unwrap();
        let auto = Auto::of(&log, &log.processes().unwrap(), &Variables::default(), threads).unwrap();
        let case = Case::default();
        let name = |(seq, &(call, pid, path, failed)): (usize, &(usize, u32, usize, bool))| {
            if let Some(program) = auto.startup(CaseId(0), Pid(pid), Timestamp(seq as i64 * 1000)) {
                return Some(auto.startup_activity(program));
            }
            let path = (call != 5).then_some(PATHS[path]);
            let moves_data = matches!(CALLS[call], "read" | "write");
            auto.activity(&Subject { call: CALLS[call], path, moves_data, failed, case: &case })
        };
        rows.iter().enumerate().map(name).collect()
    }

    #[test]
    fn a_program_starts_up_until_it_does_something_of_its_own() {
        let rows = [
            (1, 1, 5, false), // Of a process whose execve was not seen.
            (0, 2, 0, false),
            (1, 2, 2, false), // A library.
            (1, 2, 5, true),  // Not there.
            (1, 2, 5, false), // Its own.
            (1, 2, 2, false),
            (0, 2, 1, true), // Fails.
            (2, 2, 2, false),
            (0, 2, 1, false),
            (4, 2, 2, false), // A child.
            (0, 3, 0, false), // By a link to what it is called.
            (5, 3, 0, false), // A wait.
            (2, 3, 2, false),
            (0, 3, 1, false),
            (2, 3, 2, false), // A library.
            (2, 3, 5, false), // A file that it was given.
        ];
        let names = names(&rows, 3, 1);
        let found: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
        assert_eq!(
            found,
            [
                "openat:./in/deep/x",
                "startup:a",
                "startup:a",
                "startup:a",
                "openat:./in/deep/x",
                "openat:/lib/x/…",
                "execve:/…",
                "read:/lib/x/…",
                "startup:b",
                "clone:/lib/x/…",
                "startup:a4.2",
                "nanosleep:-",
                "read:/lib/x/…",
                "startup:a4.2",
                "startup:a4.2",
                "read:./in/deep/x",
            ]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn however_a_log_is_cut_its_rows_are_called_the_same(
            rows in prop::collection::vec((0..6_usize, 1..4_u32, 0..6_usize, any::<bool>()), 0..60),
            pieces in 1..9_usize, threads in 1..4_usize,
        ) {
            prop_assert_eq!(names(&rows, 1000, 1), names(&rows, pieces, threads));
        }
    }
}
