//! Gives the paths of calls the names that the kernel resolved.
//!
//! A call is looked at when it has returned, because then the kernel has just walked the same way: nothing is read from
//! a disk, and no file system is asked that does not answer. Calls that take a name away by which they were called, or
//! that change what names mean, are looked at before.

use crate::emitter::Emitter;
use crate::names::rules::{self, Change, Last};
use crate::names::{Base, How, Names, Who};
use crate::proc::{self, FileInfo, Name};
use crate::store::Store;
use crate::threads::InFlight;
use iotrail_decode::Returned;
use iotrail_decode::{Entry, GivenBase};
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, TABLE};
use iotrail_model::{CallId, Pid, Tid, Timestamp};
use std::sync::LazyLock;

const ENOENT: i32 = 2;
const EINPROGRESS: i32 = 115;

/// The thread that makes a call, and its process if that is known.
pub(crate) type Emitting = (Tid, Option<Pid>);

/// What there is to do for a call.
#[derive(Clone, Copy, Debug)]
struct Row {
    concerns: bool,
    /// It opens the file at its path, so that the descriptor tells the name.
    opens: bool,
    early: bool,
    removes: bool,
    changes: bool,
    copies: bool,
    accepts: bool,
    connects: bool,
}

fn row(call: CallId) -> Option<Row> {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
        let row = |spec: &CallSpec| Row {
            concerns: rules::concerns(spec),
            opens: spec.kind.opens_file(),
            early: rules::is_early(spec),
            removes: rules::removes(spec),
            changes: rules::change(spec) != Change::None,
            copies: matches!(spec.kind, CallKind::Duplicate | CallKind::Control),
            accepts: spec.kind == CallKind::Accept,
            connects: spec.kind == CallKind::Connect,
        };
        TABLE.iter().map(row).collect()
    });
    ROWS.get(call.index()).copied()
}

impl Names {
    /// A call is about to be made.
    #[inline]
    pub(crate) fn name_early<S: Store>(
        &mut self,
        (tid, process): Emitting,
        call: &mut InFlight,
        emitter: &Emitter<'_, S>,
    ) {
        let Some(row) = call.entry.call().and_then(row).filter(|row| row.early || row.removes) else {
            return;
        };
        let climbs = |entry: &Entry| entry.paths().any(|path| path.bytes.windows(2).any(|two| two == b".."));
        // One path may lead through what the other one moves.
        let moves = |entry: &Entry| entry.paths().nth(1).is_some();
        if row.early || moves(&call.entry) || climbs(&call.entry) {
            let at = call.start;
            self.name_paths((tid, process), &mut call.entry, row, at, emitter);
        }
    }

    /// A call has returned, or will not.
    #[inline]
    pub(crate) fn name_late<S: Store>(
        &mut self,
        (tid, process): Emitting,
        entry: &mut Entry,
        at: Timestamp,
        emitter: &Emitter<'_, S>,
    ) {
        let Some(row) = entry.call().and_then(row).filter(|row| row.concerns) else { return };
        let succeeded = has_succeeded(entry);
        if !(row.opens && succeeded) {
            self.name_paths((tid, process), entry, row, at, emitter);
        }
        if let Some(spec) = entry.spec().filter(|_| row.changes && succeeded) {
            let who = Who { tid, pid: process.unwrap_or(Pid(tid.0)), at };
            self.changed(who, spec, &entry.located());
        }
    }

    /// What lies behind the descriptors that a call made. Paths of the call whose descriptor does not tell are looked up.
    pub(crate) fn look_behind<S: Store>(
        &mut self,
        (tid, process): Emitting,
        entry: &mut Entry,
        at: Timestamp,
        emitter: &Emitter<'_, S>,
    ) -> Vec<(i32, FileInfo)> {
        let row = entry.call().and_then(row);
        let (opens, copies) = row.map_or((false, false), |row| (row.opens, row.copies));
        let known = copies && emitter.knows(tid, entry.values()[0] as i32);
        let made = entry.effects().made;
        let mut found = Vec::new();
        for fd in made.into_iter().flatten().filter(|fd| emitter.is_steady(tid, *fd, !copies)) {
            let Some(mut behind) = proc::file_info(tid, fd, opens) else { continue };
            behind.name = behind.name.filter(|_| !known);
            if row.is_some_and(|row| row.accepts)
                && let Some(name) = ends_of(process, fd)
            {
                behind.name = Some(name);
            }
            if let Some(name) = &mut behind.name {
                name.name = self.seen(tid, &format!("fd/{fd}"), std::mem::take(&mut name.name));
            }
            found.push((fd, behind));
        }
        if let Some(row) = row.filter(|_| opens && found.iter().all(|(_, behind)| behind.name.is_none())) {
            self.name_paths((tid, process), entry, row, at, emitter);
        }
        found
    }

    fn name_paths<S: Store>(
        &mut self,
        (tid, process): Emitting,
        entry: &mut Entry,
        row: Row,
        at: Timestamp,
        emitter: &Emitter<'_, S>,
    ) {
        let who = Who { tid, pid: process.unwrap_or(Pid(tid.0)), at };
        let Some(spec) = entry.spec() else { return };
        self.tally.unreadable += entry.unread_paths() as u64;
        let succeeded = has_succeeded(entry);
        let arrived = match entry.returned() {
            Some(Returned::Value(_)) => true,
            Some(Returned::Error(error)) => rules::has_arrived(error),
            None => row.early,
        };
        let anew = entry.returned() == Some(Returned::Error(ENOENT));
        let mut named: Vec<(usize, Option<Vec<u8>>)> = Vec::new();
        for given in entry.paths().filter(|given| rules::is_path(given.kind) && !given.bytes.is_empty()) {
            let last = rules::last(spec, given.place, entry.values());
            let how = How {
                last,
                follows: last == Last::Target && arrived,
                anew,
                doubts: row.removes,
                in_root: rules::opens_by_structure(spec) && entry.stays_in_root(),
            };
            let name = match (spec.kind, given.kind) {
                (_, ArgKind::LinkTarget) => continue,
                (CallKind::ChangeDirectory, _) | (_, ArgKind::PathOut) if succeeded => self.cwd(who),
                (CallKind::ChangeRoot, _) if succeeded => self.root(who),
                // Whose the name was that its file has lost is not known: the descriptor tells the file.
                (call, _)
                    if call != CallKind::Exec && proc::leads_to_lost_name((tid, who.pid), given.bytes) =>
                {
                    continue;
                }
                _ => {
                    let base = match given.directory {
                        GivenBase::Cwd => Base::Cwd,
                        // Where it was when the call was made is not known.
                        GivenBase::Fd(fd) if !emitter.is_steady(tid, fd, false) => continue,
                        GivenBase::Fd(fd) => Base::Fd(fd, emitter.path_of(tid, fd)),
                    };
                    self.place(who, base, given.bytes, how)
                }
            };
            named.push((given.place, name));
        }
        // What a symbolic link leads to is seen from its directory.
        let target = entry.paths().find(|given| given.kind == ArgKind::LinkTarget && !given.bytes.is_empty());
        if let (Some(target), Some((_, Some(link)))) = (target, named.first()) {
            let how = How { last: Last::Link, follows: false, anew: false, doubts: false, in_root: false };
            let directory = Base::Directory(parent(link));
            named.push((target.place, self.place(who, directory, target.bytes, how)));
        }
        for (place, name) in named {
            match name {
                Some(name) => entry.locate(place, &name),
                None => self.tally.unresolved += 1,
            }
        }
    }
}

/// The socket that a call connected, with a name that tells both its ends. A call that does not wait may say that it is
/// not done although it is.
pub(crate) fn connected(process: Option<Pid>, entry: &Entry) -> Option<(i32, Name)> {
    let fd = connects(entry).then(|| entry.values()[0] as i32)?;
    Some((fd, ends_of(process, fd)?))
}

fn ends_of(process: Option<Pid>, fd: i32) -> Option<Name> {
    proc::socket_ends(process?, fd).map(|name| Name { name, deleted: false })
}

/// Whether a call connected a socket, or began to.
pub(crate) fn connects(entry: &Entry) -> bool {
    let has_begun = matches!(entry.returned(), Some(Returned::Value(0) | Returned::Error(EINPROGRESS)));
    has_begun && entry.call().and_then(row).is_some_and(|row| row.connects)
}

fn has_succeeded(entry: &Entry) -> bool {
    matches!(entry.returned(), Some(Returned::Value(0..)))
}

fn parent(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(slash) => &path[..slash],
    }
}
