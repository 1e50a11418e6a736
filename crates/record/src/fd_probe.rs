//! Looks at descriptors of whose making nothing was seen.
//!
//! Descriptors come from calls that were seen, from snapshots and with messages. What is left (a filter of the program
//! hid the call, another process planted it) is looked up when it is first used. Calls that only handle descriptors
//! are no use: programs close thousands that are not open. Where a file stands is looked up when calls of several threads
//! made it unknown, or writes to its end.

use crate::names::Names;
use crate::proc::{self, FoundDescriptor};
use crate::threads::InFlight;
use hashbrown::HashMap;
use iotrail_model::calls::{ArgKind, CallSpec, Family, Transfer};
use iotrail_model::{Pid, Tid};

/// A process of which so many descriptors could not be looked at is not looked at any more.
const MAX_MISSES: u8 = 16;

/// Looks at descriptors.
#[derive(Debug, Default)]
pub(crate) struct FdProbe {
    /// Looks that found nothing, by process.
    misses: HashMap<Pid, u8, foldhash::fast::FixedState>,
}

impl FdProbe {
    /// What a descriptor stands for.
    #[cold]
    pub(crate) fn look(
        &mut self,
        tid: Tid,
        process: Option<Pid>,
        fd: i32,
        names: &mut Names,
    ) -> Option<FoundDescriptor> {
        let process = process?;
        if self.misses.get(&process).is_some_and(|misses| *misses >= MAX_MISSES) {
            return None;
        }
        let found = look_named(tid, fd, names);
        if found.is_none() {
            *self.misses.entry(process).or_default() += 1;
        }
        found
    }

    /// A process is gone, and its id may be given again.
    pub(crate) fn forget(&mut self, process: Pid) {
        self.misses.remove(&process);
    }
}

/// What a descriptor stands for, by the name that it has for the recorder.
pub(crate) fn look_named(tid: Tid, fd: i32, names: &mut Names) -> Option<FoundDescriptor> {
    let mut found = proc::look(tid, fd)?;
    found.name.name = names.seen(tid, &format!("fd/{fd}"), found.name.name);
    Some(found)
}

/// The descriptors that a call uses, and whether it may move their cursors.
pub(crate) fn used_by(call: &InFlight) -> impl Iterator<Item = (i32, bool)> + use<> {
    let spec = call.entry.spec().filter(|spec| spec.family != Family::Descriptor);
    let args = call.entry.registers().args;
    spec.into_iter().flat_map(move |spec| {
        let used = spec.args.iter().zip(args).filter(|(kind, _)| uses(spec, **kind));
        used.map(|(_, value)| (value as i32, moves(spec))).filter(|(fd, _)| *fd >= 0)
    })
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
