//! Calls that something else broke in the middle of the line, without a mark.

use super::kind::Kind;
use super::pending::Half;
use super::sink::{Out, Sink};
use super::{Parser, noise};
use iotrail_import::Prefix;

/// A line that something else broke.
#[derive(Debug)]
pub(super) struct Broken {
    /// What stands before the break.
    pub(super) half: Half,
    by: Breaker,
}

/// What broke a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaker {
    /// A message of strace; the line counts as that.
    Message,
    /// What the traced program wrote; the line counts as a first half.
    Output,
}

impl Breaker {
    /// Whether a line may go on with the one that was broken.
    fn lets_go_on(self, line: &[u8]) -> bool {
        let other = self == Self::Output && !line.starts_with(b")");
        !has_its_own_start(line) && !other && noise::indented(line).is_none()
    }

    /// What a line counts as that ends the broken one.
    const fn end(self) -> Kind {
        match self {
            Self::Message => Kind::Event,
            Self::Output => Kind::Resumed,
        }
    }
}

impl Parser {
    /// Something broke the line: what stands before it waits for the next line.
    #[cold]
    pub(super) fn interrupt(
        &mut self,
        prefix: &Prefix<'_>,
        text: &[u8],
        by: Breaker,
        out: &mut Out<'_, impl Sink>,
    ) {
        let (tid, start) = self.beginner(prefix, out);
        self.enter(tid, start, text, out);
        self.broken = Some(Broken { half: self.pending.copy(tid, start, text), by });
    }

    /// Reads a line as the rest of the one that was broken. With `None`, the broken call was
    /// given up and the line is still to be read.
    #[cold]
    pub(super) fn go_on(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        if let Some(kind) = self.message(line) {
            return Some(kind);
        }
        let Broken { mut half, by } = self.broken.take()?;
        if !by.lets_go_on(line) {
            self.abandon(&half, out);
            return None;
        }
        let length = half.text.len();
        half.text.extend_from_slice(line);
        if let Some(kind) = self.settle(&half, by.end(), out) {
            self.pending.recycle(half.text);
            return Some(kind);
        }
        if let Some((at, child)) = noise::interruption(&half.text) {
            self.threads.appeared(child);
            half.text.truncate(at);
            self.broken = Some(Broken { half, by });
            return Some(Kind::Noise(noise::ATTACH));
        }
        half.text.truncate(length);
        self.abandon(&half, out);
        None
    }
}

/// Whether a line does not go on with the one before: it names its thread or its time, or is no call.
fn has_its_own_start(line: &[u8]) -> bool {
    let marks = [&b"[pid "[..], b"--- ", b"+++ ", b"<... "];
    let number = line.first().is_some_and(u8::is_ascii_digit) && !line.starts_with(b"0x");
    line.is_empty() || number || marks.iter().any(|mark| line.starts_with(mark))
}
