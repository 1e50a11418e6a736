//! Descriptors that are sent with messages (`SCM_RIGHTS`), from the call that sends them to the one that receives them.
//!
//! Whoever receives one shares its position. If the sender still has it, the kernel says whether what arrived is what was sent. If
//! it was closed meanwhile, nobody but the receiver has it, provided that it was sent once.

use crate::emitter::Emitter;
use crate::proc::{self, FoundDescriptor};
use crate::store::Store;
use hashbrown::HashMap;
use iotrail_model::raw::RawItem;
use iotrail_model::{Pid, Tid};
use iotrail_ptrace::is_same_file;

/// Files of which descriptors are on the way; beyond that they are forgotten.
const MAX_FILES: usize = 65_536;
/// How often all processes are asked whether they have what arrived.
const MAX_QUESTIONS: u32 = 256;

/// How many descriptors of each file, by device and inode, were sent and have not arrived.
#[derive(Debug, Default)]
pub(crate) struct SentDescriptors {
    files: HashMap<(u64, u64), u32, foldhash::fast::FixedState>,
    questions: u32,
}

impl SentDescriptors {
    fn leaves(&mut self, file: (u64, u64)) {
        if self.files.len() >= MAX_FILES {
            self.files.clear();
        }
        *self.files.entry(file).or_default() += 1;
    }

    /// One of them arrived; whether it was the only one. Of several, each may be a copy of another one, now and later.
    fn arrives(&mut self, file: (u64, u64)) -> bool {
        let alone = self.files.get(&file) == Some(&1);
        if alone {
            self.files.remove(&file);
        }
        alone
    }

    /// Before a call that sends messages: tells which descriptors go with them; `None` if they could not be read.
    pub(crate) fn sends<S: Store>(&mut self, tid: Tid, sent: Option<&[i32]>, emitter: &mut Emitter<'_, S>) {
        let Some(sent) = sent else {
            return emitter.item(&RawItem::Escaped { tid, table: false });
        };
        for fd in sent {
            if let Some(file) = emitter.inode_of(tid, *fd) {
                self.leaves(file);
            }
            emitter.item(&RawItem::Sent { tid, fd: *fd });
        }
    }

    /// Tells about a descriptor that came from another thread, with a message (`received`) or without.
    pub(crate) fn emit_arrived<S: Store>(
        &mut self,
        (tid, process): (Tid, Option<Pid>),
        mut found: FoundDescriptor,
        received: bool,
        emitter: &mut Emitter<'_, S>,
    ) {
        let holders = emitter.holders(&found.facts);
        let (fd, file) = (found.fd, (found.facts.device, found.facts.inode));
        let last = received && self.arrives(file);
        let mut others = holders.into_iter().filter(|holder| *holder != (tid, fd));
        let original = others.find(|holder| is_same_file((tid, fd), *holder) == Some(true));
        let is_all_there_is = original.is_none() && last && self.has_nobody_else(tid, process, fd);
        found.followed = is_all_there_is && found.position.is_some();
        if is_all_there_is {
            // The sender has closed it: what was sent is what arrives, and goes on here.
            let target = Some(found.open_file().target);
            emitter.item(&RawItem::Received { tid, fd, target });
        }
        emitter.item(&RawItem::Descriptor { tid, fd, open: found.open_file() });
        if let Some((of, other)) = original {
            emitter.item(&RawItem::Copies { tid, fd, of, other, received });
        }
    }

    fn has_nobody_else(&mut self, tid: Tid, process: Option<Pid>, fd: i32) -> bool {
        let Some(process) = process else { return false };
        self.questions += 1;
        self.questions <= MAX_QUESTIONS && proc::is_alone(process, tid, fd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_once_is_certain() {
        let mut way = SentDescriptors::default();
        assert!(!way.arrives((1, 2)));
        way.leaves((1, 2));
        way.leaves((1, 2));
        way.leaves((1, 3));
        assert_eq!([(1, 2), (1, 2), (1, 3)].map(|file| way.arrives(file)), [false, false, true]);
        assert!(!way.arrives((1, 3)));
    }
}
