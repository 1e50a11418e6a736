//! From the event log to the rows of [`Waits`].

use super::{Act, Life, Row, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{self, Makes, Transfer};
use iotrail_model::{CallId, EventBatch, Layer, Nanos, PathId, Tid};
use iotrail_query::{LifeId, Lives};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;
use std::sync::Arc;

const COLUMNS: [Columns; 12] = [
    Columns::CASE,
    Columns::PID,
    Columns::TID,
    Columns::LAYER,
    Columns::CALL,
    Columns::START,
    Columns::DUR,
    Columns::PATH,
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
        "close" => Kind::Close,
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
struct Meanings {
    kinds: Vec<Kind>,
    locks: Vec<Locks>,
    /// Which paths are channels that can be told apart.
    channels: Vec<bool>,
    interrupted: Vec<bool>,
}

impl Meanings {
    fn new(log: &EventLog) -> Self {
        let names = log.names();
        let kind_of = |(id, name): (usize, &Arc<str>)| kind(CallId::from_index(id), name);
        let is_channel = |(id, path): (usize, &Arc<str>)| {
            let kind = log.files().get(id).and_then(|row| row.kind.as_deref());
            matches!(kind, Some("pipe" | "socket")) && (path.contains('[') || path.starts_with('/'))
        };
        Self {
            kinds: names.calls.iter().enumerate().map(kind_of).collect(),
            locks: names.flags.iter().map(|text| locks(text)).collect(),
            channels: names.paths.iter().enumerate().map(is_channel).collect(),
            interrupted: names.errnos.iter().map(|name| matches!(&**name, "EINTR" | "ERESTARTSYS")).collect(),
        }
    }

    /// What a row says its thread did.
    fn act(&self, batch: &EventBatch, row: usize) -> Act {
        let failed = batch.errno[row].get();
        let interrupted = failed.is_some_and(|errno| self.interrupted.get(errno.index()) == Some(&true));
        let kind = self.kinds.get(batch.call[row].index()).copied().unwrap_or(Kind::Other);
        let path = batch.path[row].get();
        let channel = path.filter(|path| self.channels.get(path.index()) == Some(&true));
        let touch = channel.map_or(Act::Other, Act::Touch);
        let number = batch.ret[row].get().filter(|ret| *ret > 0).and_then(|ret| u32::try_from(ret).ok());
        match (kind, channel) {
            (Kind::Exit, _) => Act::Exit,
            _ if interrupted => Act::Interrupted,
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
            (Kind::Open, Some(channel)) => Act::Open(channel),
            (Kind::Close, Some(channel)) => Act::Close(channel),
            _ => touch,
        }
    }
}

/// The waits of all threads of a log.
///
/// # Errors
/// If the trail cannot be read.
pub(crate) fn gather(log: &EventLog, lives: &Lives, threads: NonZeroUsize) -> Result<Waits, TrailError> {
    let columns = COLUMNS.into_iter().fold(Columns::NONE, Columns::union);
    let meanings = Meanings::new(log);
    let rows = log.scan(columns, threads, || (), |(), _, batch| rows(batch, lives, &meanings))?;
    let facts = lives.all().iter().map(|life| Life {
        parent: life.parent,
        pid: life.pid.0,
        end: life.end.map(|end| end.0),
    });
    Ok(Waits::new(rows.into_iter().flatten().collect(), facts.collect(), peers(log)))
}

/// The rows of a batch; of calls that matter to nobody only the first and the last of each thread.
fn rows(batch: &EventBatch, lives: &Lives, meanings: &Meanings) -> Vec<Row> {
    let mut rows = Vec::new();
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
    rows
}

/// Sockets whose names tell both ends: `TCP:[127.0.0.1:80->10.0.0.7:4711]` and the reverse.
fn peers(log: &EventLog) -> HashMap<PathId, PathId, RandomState> {
    fn ends(path: &str) -> Option<(&str, &str, &str)> {
        let (kind, rest) = path.split_once(":[")?;
        let (one, other) = rest.strip_suffix(']')?.split_once("->")?;
        Some((kind, one, other))
    }
    let paths = log.names().paths.iter().enumerate();
    let known: HashMap<_, PathId, RandomState> =
        paths.filter_map(|(id, path)| Some((ends(path)?, PathId::from_index(id)))).collect();
    let pairs =
        known.iter().filter_map(|((kind, one, other), id)| Some((*id, *known.get(&(*kind, *other, *one))?)));
    pairs.collect()
}
