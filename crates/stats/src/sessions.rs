//! What was done through each open file description of a log, from its opening to its last close: the rows of `iotrail sessions`.
//!
//! The libiotrace article groups accesses by what it calls open sessions; the figures are those of files (`docs/files.md`).

use crate::access::Access;
use crate::call::{Call, Description, Kinds, columns};
use crate::error::StatsError;
use crate::file_uses::FileUse;
use crate::part::{Context, RowFacts};
use crate::pattern::{Closed, Patterns, Place, Streams};
use crate::uses::Use;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{Call as NamedCall, CallKind, Makes, PerCall};
use iotrail_model::{CaseId, Event, FileId, FlagsId, Nullable, PathId, Pid, Timestamp};
use iotrail_query::process_group::program_at;
use iotrail_query::{Asks, Pass, ProcessGroups, ProcessTable, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Processes that a session names; all are counted.
const MOST_USERS: usize = 16;

/// An open file description, and what was done through it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Session {
    /// Name of the recorded case of the call that opened it, or of the first on it.
    pub case: String,
    /// Number of the description in its case: the column `open` of events.
    pub open: u32,
    /// Path of what is open, as its first call names it.
    pub path: Arc<str>,
    /// What it is: `file`, `pipe`, `socket`, ...; NULL if that is not known.
    pub kind: Option<String>,
    /// Number of the file in this log.
    pub file: Option<u32>,
    /// The process that opened it, or that was seen to use it first.
    pub pid: u32,
    /// Base name of what that process executed.
    pub program: Option<String>,
    /// Flags of the call that opened it.
    pub flags: Option<String>,
    /// When that call began, ns since the epoch; NULL if it was open before.
    pub opened_ns: Option<i64>,
    /// When the last `close` of a descriptor of it ended, ns since the epoch; NULL if none was seen, or it was used afterwards.
    pub closed_ns: Option<i64>,
    /// First and last byte that a transfer touched, `[low, high)`; NULL without a transfer whose offset is known.
    pub low: Option<i64>,
    /// See `low`.
    pub high: Option<i64>,
    /// Processes that used it, at most 16, ascending; `processes` counts all.
    pub pids: Vec<u32>,
    /// What was done through it.
    #[serde(flatten)]
    pub used: FileUse,
}

impl Session {
    /// From its opening to its last close, where both were seen, in ns.
    #[must_use]
    pub fn open_ns(&self) -> Option<u64> {
        u64::try_from(self.closed_ns?.checked_sub(self.opened_ns?)?).ok()
    }
}

/// The open file descriptions through which the events of `log` went that `query` selects, in the order of case and number.
///
/// # Errors
/// If the log cannot be read.
pub fn sessions(
    log: &EventLog,
    query: &Query,
    processes: &ProcessTable,
    threads: NonZeroUsize,
) -> Result<Vec<Session>, StatsError> {
    let groups = ProcessGroups::default();
    let context = Context { log, query, processes, groups: &groups, only: None };
    let kinds = Kinds::new(log, threads)?;
    let roles = PerCall::new(&log.names().calls, Role::of);
    Ok(scan(log, Some(query), threads, &SessionPass { context, kinds, roles })?)
}

/// What a call is to the life of a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    #[default]
    Uses,
    /// Makes it from a path.
    OpensFile,
    /// Makes it otherwise: a socket, an anonymous object.
    Makes,
    /// Makes two that have one name.
    MakesPipe,
    Closes,
}

impl Role {
    fn of(call: NamedCall<'_>) -> Self {
        match call.kind() {
            _ if call.opens_file() => Self::OpensFile,
            CallKind::Close => Self::Closes,
            CallKind::Duplicate | CallKind::Control => Self::Uses,
            CallKind::Pipe => Self::MakesPipe,
            _ if call.makes() == Makes::Descriptor => Self::Makes,
            _ => Self::Uses,
        }
    }
}

impl Place for Description {
    fn of(call: &Call) -> Option<Self> {
        call.open
    }

    fn of_target(call: &Call) -> Option<Self> {
        call.open2
    }
}

/// What is known of a call that decides about a description: earlier ones come first.
type Moment = (i64, u64);

/// A process in its case.
type User = (CaseId, Pid);

/// The life of a description.
#[derive(Debug, Default)]
struct Life {
    /// The first call on it, whose it was, and what it called it.
    first: Option<(Moment, User, Nullable<PathId>, Nullable<FileId>)>,
    /// The first call that made it.
    opened: Option<(Moment, User, Nullable<FlagsId>)>,
    /// The last call on it that began, and when it ended, if it is a close.
    last: Option<(Moment, Option<i64>)>,
    /// First byte that was touched, and the one behind the last.
    touched: Option<(i64, i64)>,
    users: BTreeSet<Pid>,
}

/// The pass that makes [`Session`]s.
struct SessionPass<'a> {
    context: Context<'a>,
    kinds: Kinds,
    roles: PerCall<Role>,
}

/// What a worker sums up.
#[derive(Default)]
struct SessionSums {
    lives: HashMap<Description, Life, RandomState>,
    uses: HashMap<Description, Use, RandomState>,
    patterns: Patterns<Description>,
    facts: RowFacts,
}

impl Pass for SessionPass<'_> {
    type Sums = SessionSums;
    type Boundary = Streams<Description>;
    type Closed = Closed<Description>;
    type Output = Vec<Session>;

    fn columns(&self) -> Columns {
        columns() | Columns::SEQ
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, activities: false, whole_log: true }
    }

    fn sums(&self) -> SessionSums {
        SessionSums::default()
    }

    fn closed(&self) -> Closed<Description> {
        Closed::default()
    }

    fn add(&self, sums: &mut SessionSums, rows: &Rows<'_>) -> Streams<Description> {
        let SessionSums { lives, uses, patterns, facts } = sums;
        let mut streams = Streams::default();
        facts.look(rows, &self.context);
        for row in 0..rows.batch.len {
            let event = rows.batch.event(row);
            let sides = [event.open, event.open2].map(|open| self.kinds.description(event.case, open));
            let role = self.roles.of(event.call);
            let second = match role {
                Role::MakesPipe => (event.path, event.file),
                _ => (event.path2, event.file2),
            };
            for (description, path, file) in
                [(sides[0], event.path, event.file), (sides[1], second.0, second.1)]
            {
                if let Some(description) = description {
                    lives.entry(description).or_default().see(&event, role, path, file);
                }
            }
            if !facts.selected[row] {
                continue;
            }
            let mut call = self.kinds.call(event, facts.process[row], 0);
            call.class = self.kinds.classes.of(rows.batch, row);
            self.count(&call, sides, role, uses);
            patterns.add(&call, &mut streams, &self.kinds.across_cases);
            if let Some(life) =
                sides[0].filter(|_| call.moved.is_some()).and_then(|side| lives.get_mut(&side))
            {
                life.touch(&event);
            }
        }
        streams
    }

    fn merge(&self, sums: &mut SessionSums, other: SessionSums) {
        for (description, life) in other.lives {
            sums.lives.entry(description).or_default().merge(life);
        }
        for (description, used) in other.uses {
            sums.uses.entry(description).or_default().merge(used);
        }
        sums.patterns.merge(other.patterns);
    }

    fn close(&self, closed: &mut Closed<Description>, streams: Streams<Description>) {
        closed.push(streams);
    }

    fn finish(&self, mut sums: SessionSums, closed: Closed<Description>) -> Vec<Session> {
        sums.patterns.settle(closed);
        let mut accesses = sums.patterns.into_accesses();
        let uses: BTreeMap<Description, Use> = sums.uses.into_iter().collect();
        let lives = &sums.lives;
        let rows = uses.into_iter().filter_map(|(description, used)| {
            let access = accesses.remove(&description).map(|access| *access).unwrap_or_default();
            self.session(description, lives.get(&description)?, used, access)
        });
        rows.collect()
    }
}

impl SessionPass<'_> {
    fn count(
        &self,
        call: &Call,
        [first, second]: [Option<Description>; 2],
        role: Role,
        uses: &mut HashMap<Description, Use, RandomState>,
    ) {
        if let Some(first) = first {
            uses.entry(first).or_default().add(call, role == Role::OpensFile);
        }
        if let Some(second) = second {
            uses.entry(second).or_default().add_second(call, first == Some(second));
        }
    }

    fn session(
        &self,
        description: Description,
        life: &Life,
        used: Use,
        mut access: Access,
    ) -> Option<Session> {
        let Context { log, processes, .. } = self.context;
        let names = log.names();
        let (first, user, path, file) = life.first?;
        let (at, (case, pid)) = life.opened.map_or((first.0, user), |(moment, user, _)| (moment.0, user));
        let file = file.get();
        let ranges = access.ranges();
        let has_times = log.cases()[case.index()].has_times();
        let errno = |id| names.errno(Nullable::some(id)).unwrap_or_default().to_owned();
        Some(Session {
            case: log.cases()[case.index()].name.to_string(),
            open: description.open.0,
            path: path.get().map_or_else(|| "?".into(), |path| Arc::clone(&names.paths[path.index()])),
            kind: file.and_then(|file| log.distinct_files()[file.index()].kind.as_deref().map(str::to_owned)),
            file: file.map(|file| file.0),
            pid: pid.0,
            program: program_at(processes, case, pid, Timestamp(at)).map(str::to_owned),
            flags: life.opened.and_then(|(.., flags)| names.flags(flags)).map(str::to_owned),
            opened_ns: life.opened.map(|(moment, ..)| moment.0).filter(|_| has_times),
            closed_ns: life.last.and_then(|(_, closed)| closed).filter(|_| has_times),
            low: life.touched.map(|(low, _)| low),
            high: life.touched.map(|(_, high)| high),
            pids: life.users.iter().take(MOST_USERS).map(|pid| pid.0).collect(),
            used: FileUse { processes: life.users.len() as u64, ..used.row(errno, access, ranges) },
        })
    }
}

impl Life {
    fn see(&mut self, event: &Event, role: Role, path: Nullable<PathId>, file: Nullable<FileId>) {
        let moment = (event.start.0, event.seq);
        if self.first.is_none_or(|(first, ..)| moment < first) {
            self.first = Some((moment, (event.case, event.pid), path, file));
        }
        let makes = matches!(role, Role::OpensFile | Role::Makes | Role::MakesPipe) && event.errno.is_null();
        if makes && self.opened.is_none_or(|(opened, ..)| moment < opened) {
            self.opened = Some((moment, (event.case, event.pid), event.flags));
        }
        if self.last.is_none_or(|(last, _)| moment > last) {
            let end = event.start.0.saturating_add(event.dur.get().map_or(0, |nanos| nanos.0));
            self.last = Some((moment, (role == Role::Closes).then_some(end)));
        }
        self.users.insert(event.pid);
    }

    fn touch(&mut self, event: &Event) {
        let moved = event.offset.get().zip(event.size.get());
        if let Some((low, high)) = moved.and_then(|(low, size)| Some((low, low.checked_add(size)?))) {
            self.include((low, high));
        }
    }

    fn include(&mut self, (low, high): (i64, i64)) {
        self.touched = Some(self.touched.map_or((low, high), |known| (known.0.min(low), known.1.max(high))));
    }

    fn merge(&mut self, other: Self) {
        self.first = self.first.into_iter().chain(other.first).min_by_key(|(moment, ..)| *moment);
        self.opened = self.opened.into_iter().chain(other.opened).min_by_key(|(moment, ..)| *moment);
        self.last = self.last.into_iter().chain(other.last).max_by_key(|(moment, _)| *moment);
        other.touched.into_iter().for_each(|range| self.include(range));
        self.users.extend(other.users);
    }
}
