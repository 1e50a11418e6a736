//! What the time of an event counts as: the one question that every analysis of time asks.

use super::flags::has_word;
use super::{CallKind, CallSpec, Class, LockRequest, OpenFlags, PerCall};
use crate::batch::{EventBatch, Names};
use crate::case::FileRow;
use crate::coverage::Coverage;
use crate::file_facts::FileKind;
use crate::ids::{CallId, CaseId, FlagsId, OpenId, PathId};
use crate::nullable::Nullable;
use crate::places::{is_pseudo, is_within};
use std::collections::HashSet;

/// Character devices at which nobody waits.
const ALWAYS_READY: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// A wait that took no longer than this, in ns, beyond what recording adds to it was over at once.
pub const AT_ONCE: i64 = 10_000;

/// A poll that found nothing within less than this, in ns, only looked: timeouts of `poll` and `epoll_wait` are whole milliseconds.
const LOOKED: i64 = 1_000_000;

/// What a text of flags says about a wait or a write to storage.
#[derive(Clone, Copy, Debug, Default)]
struct FlagFacts {
    /// A lock that is waited for.
    locks_waiting: bool,
    /// `MS_SYNC`.
    syncs_memory: bool,
    /// `IORING_ENTER_GETEVENTS`.
    collects: bool,
    /// An operation of `futex` that wakes others.
    wakes: bool,
}

impl FlagFacts {
    fn of(text: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| has_word(text.as_bytes(), word));
        Self {
            locks_waiting: LockRequest::of(text) == Some(LockRequest::Wait),
            syncs_memory: has(&["MS_SYNC"]),
            collects: has(&["IORING_ENTER_GETEVENTS"]),
            wakes: futex_wakes(text),
        }
    }
}

/// Whether the operation of a `futex` wakes others or moves them to another word, and waits for nobody.
#[must_use]
pub fn futex_wakes(flags: &str) -> bool {
    let operations = ["FUTEX_WAKE", "FUTEX_REQUEUE", "FUTEX_CMP_REQUEUE", "FUTEX_UNLOCK_PI"];
    operations.iter().any(|operation| flags.starts_with(operation))
}

/// What a file is, as far as waiting at it depends on that. Traces do not tell the kinds of most files: what has a path counts as a
/// file then, but for devices.
fn kind_for_waits(row: &FileRow) -> Option<FileKind> {
    match row.kind.as_deref() {
        Some("char") | None if ALWAYS_READY.contains(&&*row.path) => Some(FileKind::File),
        Some(name) => FileKind::ALL.into_iter().find(|kind| kind.name() == name),
        None if is_within(&*row.path, "/dev") && is_pseudo(&*row.path) => Some(FileKind::Char),
        None => row.path.starts_with('/').then_some(FileKind::File),
    }
}

/// What decides whether the time of a call is waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WaitRule {
    /// It is not, whatever it is called with.
    #[default]
    Never,
    /// It is, whatever it is called with.
    Always,
    /// What its descriptors denote.
    Files,
    /// Its flags.
    Flags,
}

impl WaitRule {
    fn of(spec: &CallSpec) -> Self {
        if matches!(spec.kind, CallKind::Lock | CallKind::Control | CallKind::Futex | CallKind::RingEnter) {
            return Self::Flags;
        }
        let kinds = || FileKind::ALL.into_iter().map(Some).chain([None]);
        let waits = |(fd, fd2)| spec.class(fd, fd2).is_some_and(Class::is_wait);
        let mut answers = kinds().flat_map(|fd| kinds().map(move |fd2| (fd, fd2))).map(waits);
        let first = answers.next().unwrap_or_default();
        match (answers.all(|answer| answer == first), first) {
            (false, _) => Self::Files,
            (true, true) => Self::Always,
            (true, false) => Self::Never,
        }
    }
}

/// Answers for each event of a log of what class its time is, beyond what call and kind of descriptor tell
/// ([`CallSpec::class`]): flags, results, and how the file was opened.
#[derive(Clone, Debug, Default)]
pub struct EventClasses {
    specs: PerCall<Option<&'static CallSpec>>,
    wait_rules: PerCall<WaitRule>,
    kinds: Vec<Option<FileKind>>,
    flags: Vec<FlagFacts>,
    timed_out: Vec<bool>,
    /// Open file descriptions whose writes are on storage before they return.
    synchronous: HashSet<(CaseId, OpenId)>,
    /// What recording added to the duration of each call, in ns.
    inside: i64,
}

impl EventClasses {
    /// For the names and files of a log; `synchronous` are the descriptions that [`Self::opens_synchronously`] found.
    #[must_use]
    pub fn new(names: &Names, files: &[FileRow], synchronous: HashSet<(CaseId, OpenId)>) -> Self {
        Self {
            specs: PerCall::new(&names.calls, |call| call.spec),
            wait_rules: PerCall::new(&names.calls, |call| call.spec.map(WaitRule::of).unwrap_or_default()),
            kinds: files.iter().map(kind_for_waits).collect(),
            flags: names.flags.iter().map(|text| FlagFacts::of(text)).collect(),
            timed_out: names.errnos.iter().map(|name| &**name == "ETIMEDOUT").collect(),
            synchronous,
            inside: 0,
        }
    }

    /// With what recording added to the duration of each call, as far as that was measured.
    #[must_use]
    pub fn recorded_at(self, coverage: &Coverage) -> Self {
        let inside = coverage.recording.as_ref().and_then(|recording| recording.cost.inside_per_call());
        Self { inside: inside.map_or(0, |inside| inside.0.max(0)), ..self }
    }

    /// Whether any flags of a log may be those of an open with `O_SYNC` or `O_DSYNC`: only then its opens must be looked at.
    #[must_use]
    pub fn may_open_synchronously(names: &Names) -> bool {
        names.flags.iter().any(|text| OpenFlags::parse(text.as_bytes()).syncs())
    }

    /// The open file description that a row opens with `O_SYNC` or `O_DSYNC`.
    #[must_use]
    pub fn opens_synchronously(
        &self,
        names: &Names,
        batch: &EventBatch,
        row: usize,
    ) -> Option<(CaseId, OpenId)> {
        let opens = self.spec(batch, row).is_some_and(|spec| spec.kind == CallKind::Open);
        let flags = names.flags(batch.flags[row]).filter(|_| opens)?;
        let open = batch.open[row].get()?;
        OpenFlags::parse(flags.as_bytes()).syncs().then_some((batch.case[row], open))
    }

    /// The row's call in the table.
    #[inline]
    #[must_use]
    pub fn spec(&self, batch: &EventBatch, row: usize) -> Option<&'static CallSpec> {
        self.spec_of(batch.call[row])
    }

    /// A call in the table.
    #[inline]
    #[must_use]
    pub fn spec_of(&self, call: CallId) -> Option<&'static CallSpec> {
        self.specs.of(call)
    }

    /// Whether a call is a request: see [`CallSpec::is_request`].
    #[inline]
    #[must_use]
    pub fn is_request(&self, call: CallId) -> bool {
        self.spec_of(call).is_some_and(CallSpec::is_request)
    }

    /// What a path denotes, as far as it is known.
    #[inline]
    #[must_use]
    pub fn kind(&self, path: Nullable<PathId>) -> Option<FileKind> {
        self.kinds.get(path.get()?.index()).copied().flatten()
    }

    fn flag_facts(&self, flags: Nullable<FlagsId>) -> FlagFacts {
        flags.get().and_then(|id| self.flags.get(id.index())).copied().unwrap_or_default()
    }

    /// The class of a row, which holds the columns `call`, `case`, `dur`, `path`, `path2`, `ret`, `errno`, `flags` and `open`. `None`: of
    /// no class, or of one that depends on what is not known. Of the waits that were over at once ([`Class::Transfer`]) those that only
    /// looked: the others only who looked for the cause of a wait can tell.
    #[must_use]
    pub fn of(&self, batch: &EventBatch, row: usize) -> Option<Class> {
        let spec = self.spec(batch, row)?;
        let class = spec.class(self.kind(batch.path[row]), self.kind(batch.path2[row]))?;
        let flags = || self.flag_facts(batch.flags[row]);
        let waits_if = |waits: bool, otherwise: Class| if waits { Class::Wait } else { otherwise };
        Some(match (spec.kind, class) {
            (CallKind::Write, Class::Data) if self.is_synchronous(batch, row) => Class::Sync,
            (CallKind::SyncMemory, _) if !flags().syncs_memory => Class::Memory,
            (CallKind::Lock | CallKind::Control, _) => waits_if(flags().locks_waiting, Class::Metadata),
            (CallKind::Futex, _) if flags().wakes => return None,
            (CallKind::RingEnter, _) => waits_if(flags().collects, Class::Data),
            (_, Class::Wait) if self.looks_only(spec, batch, row) => Class::Transfer,
            (_, Class::Wait) if self.timed_out(spec, batch, row) => Class::Sleep,
            _ => class,
        })
    }

    /// The same where it is known whether a child of some number had ended before. Who is told of one that had, or waits for a child and
    /// is answered at once, does not wait. `time` is how long the call took, in ns, if that is known.
    #[must_use]
    pub fn among_processes(
        &self,
        batch: &EventBatch,
        row: usize,
        time: Option<i64>,
        ended_before: impl FnOnce(u32) -> bool,
    ) -> Option<Class> {
        let class = self.of(batch, row)?;
        let kind = self.spec(batch, row).map(|spec| spec.kind);
        let is_wait =
            class == Class::Wait && matches!(kind, Some(CallKind::WaitChild | CallKind::WaitChildInfo));
        let is_over = || {
            let child = batch.ret[row].get().and_then(|ret| u32::try_from(ret).ok()).filter(|ret| *ret > 0);
            time.is_some_and(|time| time <= AT_ONCE + self.inside) || child.is_some_and(ended_before)
        };
        Some(if is_wait && is_over() { Class::Process } else { class })
    }

    /// Whether the time of a row is waiting, by the clock or for somebody. The row needs the columns `call`, `path`, `path2` and `flags`
    /// only.
    #[inline]
    #[must_use]
    pub fn waits(&self, batch: &EventBatch, row: usize) -> bool {
        match self.wait_rules.of(batch.call[row]) {
            WaitRule::Never => false,
            WaitRule::Always => true,
            WaitRule::Files => self.waits_by_files(batch, row),
            WaitRule::Flags => self.waits_by_flags(batch, row),
        }
    }

    fn waits_by_files(&self, batch: &EventBatch, row: usize) -> bool {
        let class = |spec: &CallSpec| spec.class(self.kind(batch.path[row]), self.kind(batch.path2[row]));
        self.spec(batch, row).and_then(class).is_some_and(Class::is_wait)
    }

    fn waits_by_flags(&self, batch: &EventBatch, row: usize) -> bool {
        let facts = self.flag_facts(batch.flags[row]);
        match self.spec(batch, row).map(|spec| spec.kind) {
            Some(CallKind::Futex) => !facts.wakes,
            Some(CallKind::RingEnter) => facts.collects,
            _ => facts.locks_waiting,
        }
    }

    fn is_synchronous(&self, batch: &EventBatch, row: usize) -> bool {
        !self.synchronous.is_empty()
            && batch.open[row].get().is_some_and(|open| self.synchronous.contains(&(batch.case[row], open)))
    }

    /// Whether a row only looked which descriptors are ready and waited for none.
    fn looks_only(&self, spec: &CallSpec, batch: &EventBatch, row: usize) -> bool {
        let is_short = || batch.dur[row].get().is_some_and(|dur| dur.0 - self.inside < LOOKED);
        spec.kind == CallKind::Poll && batch.ret[row].get() == Some(0) && is_short()
    }

    /// Whether a wait ended by the clock.
    fn timed_out(&self, spec: &CallSpec, batch: &EventBatch, row: usize) -> bool {
        let by_error = batch.errno[row].get().is_some_and(|id| self.timed_out.get(id.index()) == Some(&true));
        by_error || spec.kind == CallKind::Poll && batch.ret[row].get() == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ErrnoId;
    use crate::time::Nanos;
    use std::sync::Arc;

    struct Log {
        names: Names,
        files: Vec<FileRow>,
    }

    fn log(flags: &[&str], files: &[(&str, &str)]) -> Log {
        let texts = |list: &[&str]| list.iter().map(|text| Arc::from(*text)).collect::<Vec<Arc<str>>>();
        let calls: Vec<&str> = super::super::TABLE.iter().map(|spec| spec.name).collect();
        let row = |(path, kind): &(&str, &str)| FileRow {
            path: Arc::from(*path),
            kind: (!kind.is_empty()).then(|| (*kind).to_owned()),
            ..FileRow::default()
        };
        let names = Names {
            calls: texts(&calls),
            errnos: texts(&["ETIMEDOUT", "EINTR"]),
            flags: texts(flags),
            ..Names::default()
        };
        Log { names, files: files.iter().map(row).collect() }
    }

    fn event(call: &str) -> crate::Event {
        let at = super::super::TABLE.iter().position(|spec| spec.name == call).unwrap();
        crate::Event { call: CallId::from_index(at), ..crate::Event::default() }
    }

    fn class(log: &Log, event: crate::Event) -> Option<Class> {
        let classes = EventClasses::new(&log.names, &log.files, HashSet::from([(CaseId(0), OpenId(7))]));
        classes.of(&EventBatch::from_events(&[event]), 0)
    }

    #[test]
    fn flags_tell_a_lock_that_waits_from_one_that_does_not() {
        let log = log(
            &["LOCK_EX", "LOCK_EX|LOCK_NB", "LOCK_UN", "F_SETLKW, F_WRLCK", "F_SETLK, F_RDLCK", "F_GETFD"],
            &[],
        );
        for (call, flags, expected) in [
            ("flock", 0, Class::Wait),
            ("flock", 1, Class::Metadata),
            ("flock", 2, Class::Metadata),
            ("fcntl", 3, Class::Wait),
            ("fcntl", 4, Class::Metadata),
            ("fcntl", 5, Class::Metadata),
        ] {
            let event = crate::Event { flags: Nullable::some(FlagsId(flags)), ..event(call) };
            assert_eq!(class(&log, event), Some(expected), "{call} {flags}");
        }
    }

    #[test]
    fn a_wait_that_timed_out_is_a_sleep() {
        let log = log(&[], &[]);
        let poll = |ret| crate::Event { ret: Nullable::some(ret), ..event("poll") };
        assert_eq!(class(&log, poll(0)), Some(Class::Sleep));
        assert_eq!(class(&log, poll(1)), Some(Class::Wait));
        let lasting = |ret, time| crate::Event { dur: Nullable::some(Nanos(time)), ..poll(ret) };
        assert_eq!(class(&log, lasting(0, 140_000)), Some(Class::Transfer), "it only looked");
        assert_eq!(class(&log, lasting(0, 1_000_000)), Some(Class::Sleep));
        assert_eq!(class(&log, lasting(1, 140_000)), Some(Class::Wait));
        let futex = |errno| crate::Event { errno: Nullable::some(ErrnoId(errno)), ..event("futex") };
        assert_eq!(class(&log, futex(0)), Some(Class::Sleep));
        assert_eq!(class(&log, futex(1)), Some(Class::Wait));
    }

    #[test]
    fn who_is_told_of_a_child_that_had_ended_does_not_wait() {
        let log = log(&[], &[]);
        let classes = EventClasses::new(&log.names, &log.files, HashSet::new());
        let row =
            |name, ret| EventBatch::from_events(&[crate::Event { ret: Nullable::some(ret), ..event(name) }]);
        let class =
            |name, time, ended: bool| classes.among_processes(&row(name, 7), 0, Some(time), |_| ended);
        assert_eq!(class("wait4", 50_000, true), Some(Class::Process));
        assert_eq!(class("wait4", 50_000, false), Some(Class::Wait));
        assert_eq!(class("wait4", 5_000, false), Some(Class::Process), "answered at once");
        assert_eq!(class("pause", 5_000, true), Some(Class::Wait));
    }

    #[test]
    fn what_lies_behind_the_descriptor_and_how_it_was_opened_decides_about_writes() {
        let log = log(
            &[],
            &[
                ("/x", "file"),
                ("pipe:[1]", "pipe"),
                ("/dev/zero", "char"),
                ("/dev/tty", "char"),
                ("y", ""),
                ("/y", ""),
                ("/dev/pts/1", ""),
                ("/dev/null", ""),
            ],
        );
        let read = |path| crate::Event { path: Nullable::some(PathId(path)), ..event("read") };
        let [data, wait] = [Some(Class::Data), Some(Class::Wait)];
        let expected = [data, wait, data, wait, None, data, wait, data];
        for (path, expected) in expected.into_iter().enumerate() {
            assert_eq!(class(&log, read(path as u32)), expected, "{path}");
        }
        let write = |open| crate::Event {
            path: Nullable::some(PathId(0)),
            open: Nullable::some(OpenId(open)),
            ..event("write")
        };
        assert_eq!([class(&log, write(7)), class(&log, write(8))], [Some(Class::Sync), Some(Class::Data)]);
    }

    #[test]
    fn what_need_not_be_looked_at_is_known_from_the_call() {
        let rule = |name| WaitRule::of(super::super::named(name).unwrap());
        for (name, expected) in [
            ("openat", WaitRule::Never),
            ("pread64", WaitRule::Files),
            ("sendfile", WaitRule::Files),
            ("recvfrom", WaitRule::Always),
            ("nanosleep", WaitRule::Always),
            ("futex", WaitRule::Flags),
            ("fcntl", WaitRule::Flags),
        ] {
            assert_eq!(rule(name), expected, "{name}");
        }
    }

    #[test]
    fn msync_and_rings_are_told_by_their_flags() {
        let log = log(&["MS_ASYNC", "MS_SYNC", "IORING_ENTER_GETEVENTS", "0", "FUTEX_WAKE_PRIVATE"], &[]);
        let with =
            |call, flags| class(&log, crate::Event { flags: Nullable::some(FlagsId(flags)), ..event(call) });
        assert_eq!([with("msync", 0), with("msync", 1)], [Some(Class::Memory), Some(Class::Sync)]);
        assert_eq!([with("futex", 4), with("futex", 3)], [None, Some(Class::Wait)]);
        let enter = [with("io_uring_enter", 2), with("io_uring_enter", 3)];
        assert_eq!(enter, [Some(Class::Wait), Some(Class::Data)]);
    }
}
