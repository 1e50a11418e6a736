//! What strace tells of a thread besides its calls: signals and its end.

use super::Parser;
use super::kind::Kind;
use super::pending::Half;
use super::scan::number;
use super::sink::{Out, Sink};
use super::threads::Began;
use iotrail_import::{Prefix, digits};
use iotrail_model::raw::RawItem;
use iotrail_model::{Tid, Timestamp};

/// How a thread ended.
pub(super) enum End<'a> {
    Exited(i32),
    Killed(&'a [u8]),
    Superseded(Tid),
}

impl<'a> End<'a> {
    /// Reads `+++ exited with 0 +++`; `None` if it is not that.
    pub(super) fn of_line(line: &'a [u8]) -> Option<Self> {
        Self::of(line.strip_prefix(b"+++ ")?.strip_suffix(b" +++")?)
    }

    fn of(text: &'a [u8]) -> Option<Self> {
        if let Some(status) = text.strip_prefix(b"exited with ") {
            let (status, _) = number(status).filter(|(_, length)| *length == status.len())?;
            return Some(Self::Exited(i32::try_from(status).ok()?));
        }
        if let Some(signal) = text.strip_prefix(b"killed by ") {
            let name = signal.strip_suffix(b" (core dumped)").unwrap_or(signal);
            return Some(Self::Killed(name));
        }
        let (pid, _) = digits(text.strip_prefix(b"superseded by execve in pid ")?)?;
        Some(Self::Superseded(Tid(u32::try_from(pid).ok()?)))
    }
}

impl Parser {
    /// `--- SIGCHLD {si_signo=SIGCHLD, ...} ---`, `--- stopped by SIGSTOP ---`
    pub(super) fn signal(&mut self, prefix: &Prefix<'_>) -> Option<Kind> {
        let inner = prefix.rest.strip_prefix(b"--- ")?.strip_suffix(b" ---")?;
        let known =
            inner.starts_with(b"SIG") || inner.starts_with(b"stopped by ") || inner.starts_with(b"0x");
        known.then(|| {
            self.timeline.advance(&prefix.stamp);
            Kind::Signal
        })
    }

    /// `+++ exited with 0 +++`, `+++ killed by SIGKILL (core dumped) +++`, `+++ superseded by execve in pid 7 +++`
    pub(super) fn exit(&mut self, prefix: &Prefix<'_>, out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        let end = End::of_line(prefix.rest)?;
        let (tid, at) = self.beginner(prefix, out);
        self.forgets(tid, out);
        let gone = match end {
            End::Exited(status) => {
                out.emit(RawItem::Exited { tid, at, status });
                tid
            }
            End::Killed(signal) => {
                out.emit(RawItem::Killed { tid, at, signal });
                tid
            }
            End::Superseded(by) => self.superseded(tid, by, at, out),
        };
        self.threads.ended(gone);
        self.steps.gone(gone);
        Some(Kind::Exit)
    }

    /// The thread `by` goes on as `tid`, with the call it is in; returns the id that is gone.
    fn superseded(&mut self, tid: Tid, by: Tid, at: Timestamp, out: &mut Out<'_, impl Sink>) -> Tid {
        let by = self.threads.of(Some(by), || Began::Other);
        self.forgets(by, out);
        if let Some(half) = self.pending.take(by) {
            self.put(Half { tid, start: half.start.min(at), ..half }, out);
        }
        out.emit(RawItem::Superseded { tid, by, at });
        by
    }
}
