//! Looks at descriptors of whose making nothing was seen.
//!
//! Descriptors come from calls that were seen, from snapshots and with messages. What is left (a filter of the program
//! hid the call, another process planted it) is looked up when it is first used. Calls that only handle descriptors
//! are no use: programs close thousands that are not open. Where a file stands is looked up when calls of several threads
//! made it unknown, or writes to its end.

use crate::proc;
use crate::store::Store;
use crate::threads::InFlight;
use crate::tracer::Recording;
use hashbrown::HashMap;
use iotrail_model::calls::{ArgKind, CallSpec, Family, Transfer};
use iotrail_model::raw::RawItem;
use iotrail_model::{Pid, Tid};

/// A process of which so many descriptors could not be looked at is not looked at any more.
const MAX_MISSES: u8 = 16;

/// Looks that found nothing, by process.
pub(crate) type Misses = HashMap<Pid, u8, foldhash::fast::FixedState>;

impl<S: Store> Recording<'_, '_, S> {
    /// Before a call that uses descriptors: tells what those refer to of which nothing is known.
    #[inline]
    pub(crate) fn look_at_unknown(&mut self, tid: Tid, process: Option<Pid>, call: &InFlight) {
        let Some(spec) = call.entry.spec().filter(|spec| spec.family != Family::Descriptor) else { return };
        for (kind, value) in spec.args.iter().zip(call.entry.registers().args) {
            let fd = value as i32;
            if !uses(spec, *kind) || fd < 0 {
                continue;
            }
            if !self.scribe.knows(tid, fd) {
                self.look_at(tid, process, fd);
            } else if moves(spec) && self.scribe.has_lost(tid, fd) {
                self.find_position(tid, fd);
            }
        }
    }

    /// Looks where a descriptor stands, unless another thread may be moving it.
    #[cold]
    fn find_position(&mut self, tid: Tid, fd: i32) {
        self.overtakes(tid);
        if self.scribe.has_lost(tid, fd)
            && let Some(position) = proc::position(tid, fd)
        {
            self.scribe.item(&RawItem::Position { tid, fd, position });
        }
    }

    #[cold]
    fn look_at(&mut self, tid: Tid, process: Option<Pid>, fd: i32) {
        let Some(process) = process else { return };
        if self.misses.get(&process).is_some_and(|misses| *misses >= MAX_MISSES) {
            return;
        }
        match proc::look(tid, fd) {
            Some(mut found) => {
                found.name.name = self.names.seen(tid, &format!("fd/{fd}"), found.name.name);
                self.overtakes(tid);
                self.scribe.item(&RawItem::Descriptor { tid, fd, open: found.open_file() });
            }
            None => *self.misses.entry(process).or_default() += 1,
        }
    }
}

/// Whether a call may move the cursor of a file.
fn moves(spec: &CallSpec) -> bool {
    spec.family == Family::Data
        && (spec.transfer != Transfer::None || spec.args.get(1) == Some(&ArgKind::Other))
}

/// Whether an argument is a descriptor that is used.
fn uses(spec: &CallSpec, kind: ArgKind) -> bool {
    match kind {
        ArgKind::Fd | ArgKind::DirFd => true,
        ArgKind::Fd2 => spec.transfer == Transfer::Copy,
        _ => false,
    }
}
