//! When programs start up: from `execve` to their first own event.
//!
//! A program's own are its first write, new process, wait (a read of a pipe, too), and the first successful open or read of a file
//! outside system libraries, locales, `/etc`, devices, `/proc`, `/sys` and the libraries beside its executable (`../lib`).

use crate::preset::base;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::places::is_pseudo;
use iotrail_model::{CaseId, Pid, Timestamp};

/// Directories whose files a program opens on its way to its own work.
const SYSTEM: [&str; 12] = [
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/usr/lib/",
    "/usr/lib32/",
    "/usr/lib64/",
    "/usr/libexec/",
    "/usr/local/lib/",
    "/usr/share/locale/",
    "/usr/share/zoneinfo/",
    "/usr/share/terminfo/",
    "/etc/",
];

/// Whether a path is one that programs open before they begin with what is theirs.
#[must_use]
pub fn is_on_the_way(path: &str) -> bool {
    is_pseudo(path) || SYSTEM.iter().any(|directory| path.starts_with(directory)) || !path.starts_with('/')
}

/// Whether `path` lies in the libraries beside an executable: `bin/prog` and `lib/…` of one directory.
#[must_use]
pub fn lies_beside(path: &str, exe: &str) -> bool {
    let directory = exe.rsplit_once('/').and_then(|(bin, _)| bin.rsplit_once('/'));
    let rest = directory.and_then(|(prefix, _)| path.strip_prefix(prefix));
    rest.is_some_and(|rest| rest.starts_with("/lib/") || rest.starts_with("/lib64/"))
}

/// The start-ups of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Startups {
    /// Of each process in the order of time.
    spans: HashMap<(CaseId, Pid), Vec<Span>, RandomState>,
    names: Vec<String>,
    ids: HashMap<String, u32, RandomState>,
}

/// One start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: Timestamp,
    /// When the first own event began.
    end: Timestamp,
    program: u32,
}

impl Startups {
    /// A process executes the file at `path` at `start`; its start-up lasts until it is [ended](Self::end).
    pub(super) fn begin(&mut self, process: (CaseId, Pid), start: Timestamp, path: &str) {
        let next = self.names.len() as u32;
        let name = base(path);
        let program = *self.ids.entry_ref(name).or_insert(next);
        if program == next {
            self.names.push(name.to_owned());
        }
        self.spans.entry(process).or_default().push(Span { start, end: Timestamp(i64::MAX), program });
    }

    /// Whether the process is starting up.
    pub(super) fn is_open(&self, process: (CaseId, Pid)) -> bool {
        let last = self.spans.get(&process).and_then(|spans| spans.last());
        last.is_some_and(|span| span.end == Timestamp(i64::MAX))
    }

    /// The start-up of the process ends, if it is in one.
    pub(super) fn end(&mut self, process: (CaseId, Pid), end: Timestamp) {
        if let Some(span) = self.spans.get_mut(&process).and_then(|spans| spans.last_mut())
            && span.end == Timestamp(i64::MAX)
        {
            span.end = end;
        }
    }

    /// The program that is starting up in a process at a time.
    #[inline]
    pub(crate) fn program(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<u32> {
        let spans = self.spans.get(&(case, pid))?;
        let after = spans.partition_point(|span| span.start <= at);
        let span = spans[..after].last()?;
        (at < span.end).then_some(span.program)
    }

    /// The name of a program.
    pub(crate) fn name(&self, program: u32) -> &str {
        self.names.get(program as usize).map_or("?", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_on_the_way() {
        for path in [
            "/etc/ld.so.cache",
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/share/locale/locale.alias",
            "pipe",
        ] {
            assert!(is_on_the_way(path), "{path}");
        }
        for path in ["/usr/share/doc/x", "/home/ann/x", "/etcetera", "/"] {
            assert!(!is_on_the_way(path), "{path}");
        }
        assert!(lies_beside("/opt/py/lib/python3.11/os.py", "/opt/py/bin/python3.11"));
        assert!(!lies_beside("/opt/py/share/x", "/opt/py/bin/python3.11"));
        assert!(!lies_beside("/opt/py/library/x", "/opt/py/bin/python3.11"));
        assert!(!lies_beside("/lib/x", "python"));
    }

    #[test]
    fn a_process_may_start_up_several_times() {
        let (process, at) = ((CaseId(0), Pid(7)), Timestamp);
        let mut startups = Startups::default();
        startups.begin(process, at(10), "/usr/bin/env");
        startups.begin(process, at(20), "/usr/bin/sort");
        assert!(startups.is_open(process));
        startups.end(process, at(25));
        startups.end(process, at(40));
        let name =
            |time| startups.program(process.0, process.1, at(time)).map(|program| startups.name(program));
        assert_eq!(
            [9, 10, 19, 20, 24, 25, 99].map(name),
            [None, Some("env"), Some("env"), Some("sort"), Some("sort"), None, None]
        );
        assert_eq!(startups.program(CaseId(0), Pid(8), at(10)), None);
    }
}
