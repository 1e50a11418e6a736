//! First halves of calls, waiting for their second.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Tid, Timestamp};

/// Bytes of first halves that may wait; a trace whose second halves never come must not fill the memory.
const MAX_WAITING_BYTES: usize = 256 << 20;
/// Buffers kept for reuse.
const MAX_SPARE: usize = 64;

/// The first half of a call.
#[derive(Debug)]
pub(crate) struct Half {
    pub(super) tid: Tid,
    pub(super) start: Timestamp,
    /// From the call's name on; the second half is appended to it, so that a call that strace cut anywhere is read
    /// as if it had been printed at once.
    pub(super) text: Vec<u8>,
}

/// At most one first half for each thread.
#[derive(Debug, Default)]
pub(super) struct Pending {
    halves: HashMap<u32, Half, RandomState>,
    bytes: usize,
    spare: Vec<Vec<u8>>,
}

impl Pending {
    /// A half with a copy of its text, in a used buffer if there is one.
    pub(super) fn copy(&mut self, tid: Tid, start: Timestamp, text: &[u8]) -> Half {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(text);
        Half { tid, start, text: buffer }
    }

    /// Takes a buffer back.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < MAX_SPARE && buffer.capacity() <= 1 << 16 {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Keeps a half; gives it back if there is no room. The thread must have none.
    pub(super) fn put(&mut self, half: Half) -> Option<Half> {
        if self.bytes + half.text.len() > MAX_WAITING_BYTES {
            return Some(half);
        }
        self.bytes += half.text.len();
        self.halves.insert(half.tid.0, half)
    }

    /// The half of a thread.
    #[inline]
    pub(super) fn take(&mut self, tid: Tid) -> Option<Half> {
        if self.halves.is_empty() {
            return None;
        }
        let half = self.halves.remove(&tid.0)?;
        self.bytes -= half.text.len();
        Some(half)
    }

    /// All halves, the one that began first in front (at the same time: of the lowest thread).
    pub(super) fn drain(&mut self) -> Vec<Half> {
        self.bytes = 0;
        let mut halves: Vec<Half> = self.halves.drain().map(|(_, half)| half).collect();
        halves.sort_by_key(|half| (half.start, half.tid));
        halves
    }

    /// The text of a thread's half.
    pub(super) fn text(&self, tid: Tid) -> Option<&[u8]> {
        self.halves.get(&tid.0).map(|half| &half.text[..])
    }
}
