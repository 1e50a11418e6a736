//! From the event log to the rows of [`Waits`].

use super::ends::Channels;
use super::{Act, Life, Row, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{self, Makes, Transfer};
use iotrail_model::{CallId, EventBatch, Layer, Nanos, PathId, Tid};
use iotrail_query::{Asks, LifeId, Lives, Pass, Rows};
use iotrail_trail::{Columns, EventLog};
use std::sync::Arc;

const COLUMNS: [Columns; 13] = [
    Columns::CASE,
    Columns::PID,
    Columns::TID,
    Columns::LAYER,
    Columns::CALL,
    Columns::START,
    Columns::DUR,
    Columns::PATH,
    Columns::PATH2,
    Columns::SIZE,
    Columns::RET,
    Columns::ERRNO,
    Columns::FLAGS,
];

/// What a call may make of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Child,
    Read,
    Write,
    Pair,
    Accept,
    Connect,
    Open,
    Ready,
    Lock,
    Close,
    Spawn,
    Exit,
    Other,
}

fn kind(call: CallId, name: &str) -> Kind {
    if let Some(spec) = calls::spec(call) {
        match (spec.transfer, spec.makes) {
            (Transfer::Read, _) => return Kind::Read,
            (Transfer::Write, _) => return Kind::Write,
            (_, Makes::Process) => return Kind::Spawn,
            _ => {}
        }
    }
    match name {
        "wait4" | "waitid" | "waitpid" => Kind::Child,
        "poll" | "ppoll" | "select" | "_newselect" | "pselect6" | "epoll_wait" | "epoll_pwait"
        | "epoll_pwait2" => Kind::Ready,
        "flock" | "fcntl" | "fcntl64" => Kind::Lock,
        "close" | "shutdown" => Kind::Close,
        "socketpair" => Kind::Pair,
        "accept" | "accept4" => Kind::Accept,
        "connect" => Kind::Connect,
        "open" | "openat" | "openat2" => Kind::Open,
        "exit_group" | "exit" => Kind::Exit,
        _ => Kind::Other,
    }
}

/// What flags say about a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locks {
    Waits,
    LetsGo,
    No,
}

fn locks(flags: &str) -> Locks {
    let has = |wanted: &[&str]| flags.split(['|', ' ', ',']).any(|word| wanted.contains(&word));
    if has(&["LOCK_UN", "F_UNLCK"]) {
        Locks::LetsGo
    } else if has(&["F_SETLKW", "F_SETLKW64", "F_OFD_SETLKW"])
        || (has(&["LOCK_SH", "LOCK_EX"]) && !has(&["LOCK_NB"]))
    {
        Locks::Waits
    } else {
        Locks::No
    }
}

/// The meanings of a log's names.
#[derive(Debug)]
struct Meanings {
    kinds: Vec<Kind>,
    locks: Vec<Locks>,
    channels: Channels,
    interrupted: Vec<bool>,
    /// Which errors say that a call goes on beside its thread.
    goes_on: Vec<bool>,
}

impl Meanings {
    fn new(log: &EventLog) -> Self {
        let names = log.names();
        let kind_of = |(id, name): (usize, &Arc<str>)| kind(CallId::from_index(id), name);
        Self {
            kinds: names.calls.iter().enumerate().map(kind_of).collect(),
            locks: names.flags.iter().map(|text| locks(text)).collect(),
            channels: Channels::of(log),
            goes_on: names.errnos.iter().map(|name| &**name == "EINPROGRESS").collect(),
            interrupted: names.errnos.iter().map(|name| matches!(&**name, "EINTR" | "ERESTARTSYS")).collect(),
        }
    }

    /// The two sockets that a call made.
    fn pair(&self, batch: &EventBatch, row: usize) -> Option<(PathId, PathId)> {
        let made = self.kinds.get(batch.call[row].index()) == Some(&Kind::Pair) && batch.errno[row].is_null();
        let end = |path: Option<PathId>| self.channels.of_path(path?);
        end(batch.path[row].get()).zip(end(batch.path2[row].get())).filter(|_| made)
    }

    /// What a row says its thread did.
    fn act(&self, batch: &EventBatch, row: usize) -> Act {
        let failed = batch.errno[row].get();
        let interrupted = failed.is_some_and(|errno| self.interrupted.get(errno.index()) == Some(&true));
        let goes_on = failed.is_some_and(|errno| self.goes_on.get(errno.index()) == Some(&true));
        let kind = self.kinds.get(batch.call[row].index()).copied().unwrap_or(Kind::Other);
        let path = batch.path[row].get();
        let channel = path.and_then(|path| self.channels.of_path(path));
        let touch = channel.map_or(Act::Other, Act::Touch);
        let number = batch.ret[row].get().filter(|ret| *ret > 0).and_then(|ret| u32::try_from(ret).ok());
        match (kind, channel) {
            (Kind::Exit, _) => Act::Exit,
            _ if interrupted => Act::Interrupted,
            (Kind::Connect, Some(channel)) if goes_on => Act::Connect(channel),
            _ if failed.is_some() => touch,
            (Kind::Child, _) => Act::Child(number),
            (Kind::Ready, _) if number.is_some() => Act::Ready,
            (Kind::Spawn, _) => number.map_or(Act::Other, Act::Spawn),
            (Kind::Lock, _) => {
                match (path, batch.flags[row].get().and_then(|id| self.locks.get(id.index()))) {
                    (Some(path), Some(Locks::Waits)) => Act::Lock(path),
                    (Some(path), Some(Locks::LetsGo)) => Act::Unlock(path),
                    _ => touch,
                }
            }
            (Kind::Read, Some(channel)) => Act::Read { channel, ended: batch.size[row].get() == Some(0) },
            (Kind::Write, Some(channel)) => Act::Write(channel),
            (Kind::Accept, Some(channel)) => Act::Accept(channel),
            (Kind::Connect, Some(channel)) => Act::Connect(channel),
            (Kind::Open, Some(channel)) => Act::Open(channel),
            (Kind::Close, Some(channel)) => Act::Close(channel),
            _ => touch,
        }
    }
}

/// The pass that finds the waits of all threads of a log.
#[derive(Debug)]
pub struct Waiting<'a> {
    lives: &'a Lives,
    meanings: Meanings,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(log: &EventLog, lives: &'a Lives) -> Self {
        Self { lives, meanings: Meanings::new(log) }
    }
}

/// What calls say of waits.
#[derive(Clone, Debug, Default)]
pub struct Found {
    rows: Vec<Row>,
    /// The sockets that were made in pairs.
    pairs: Vec<(PathId, PathId)>,
}

impl Pass for Waiting<'_> {
    type Sums = ();
    type Seam = Found;
    type Closed = Found;
    type Output = Waits;

    fn columns(&self) -> Columns {
        COLUMNS.into_iter().fold(Columns::NONE, Columns::union)
    }

    fn asks(&self) -> Asks {
        Asks::COLUMNS
    }

    fn sums(&self) {}

    fn closed(&self) -> Found {
        Found::default()
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> Found {
        found(rows.batch, self.lives, &self.meanings)
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, found: &mut Found, more: Found) {
        found.rows.extend(more.rows);
        found.pairs.extend(more.pairs);
    }

    fn finish(&self, (): (), Found { rows, pairs }: Found) -> Waits {
        let mut channels = self.meanings.channels.clone();
        pairs.into_iter().for_each(|(one, other)| channels.join(one, other));
        let facts = self.lives.all().iter().map(|life| Life {
            parent: life.parent,
            pid: life.pid.0,
            end: life.end.map(|end| end.0),
        });
        Waits::new(rows, facts.collect(), channels)
    }
}

/// The rows of a batch, and the pairs of sockets that were made; of calls that matter to nobody only the first and the last of
/// each thread.
fn found(batch: &EventBatch, lives: &Lives, meanings: &Meanings) -> Found {
    let (mut rows, mut pairs) = (Vec::new(), Vec::new());
    let mut others: HashMap<(LifeId, Tid), [Row; 2], RandomState> = HashMap::default();
    for at in 0..batch.len {
        let start = batch.start[at];
        if batch.layer[at] != Layer::Syscall {
            continue;
        }
        let Some(life) = lives.find(batch.case[at], batch.pid[at], start) else { continue };
        let dur = batch.dur[at].get().map_or(0, |Nanos(dur)| dur.max(0));
        let act = meanings.act(batch, at);
        let row = Row { life, tid: batch.tid[at], start: start.0, end: start.0.saturating_add(dur), act };
        if let Some((one, other)) = meanings.pair(batch, at) {
            pairs.push((one, other));
            rows.push(Row { act: Act::Touch(other), ..row });
        }
        match act {
            Act::Other => {
                let ends = others.entry((life, row.tid)).or_insert([row; 2]);
                if row.end > ends[1].end {
                    ends[1] = row;
                }
            }
            _ => rows.push(row),
        }
    }
    rows.extend(others.into_values().flatten());
    Found { rows, pairs }
}
