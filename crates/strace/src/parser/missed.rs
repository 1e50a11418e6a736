//! Lines that were not understood: calls that are missing.
//!
//! What stands among the lines of a trace and is no line of strace (the output of the program, say) misses nothing.

use super::Parser;
use super::arguments::Arguments;
use super::marks::resumed_name;
use super::reading::{Reading, name_length};
use super::rights;
use super::sink::{Out, Sink};
use iotrail_import::Prefix;
use iotrail_model::calls::numbers::name_behind;
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{CallId, Layer, Tid, Timestamp};

/// No thread has this number.
const NOBODY: Tid = Tid(u32::MAX);
/// More of a line is not looked at.
const ENOUGH: usize = 4096;

impl Parser {
    /// Reports the call that a line which was not understood seems to tell of, as far as it can be read.
    #[cold]
    pub(super) fn misses(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) {
        let line = &line[..line.len().min(ENOUGH)];
        let prefix = Prefix::read(line);
        if has_result(prefix.rest) {
            // More than the end is missing: it may be what is left of several calls, of any thread.
            return out.emit(RawItem::Lost { tid: NOBODY, call: None });
        }
        if !is_of_strace(&prefix) {
            return;
        }
        let tid = prefix
            .tid
            .map_or_else(|| self.threads.of_unnamed().unwrap_or(Tid(0)), |tid| self.threads.named(tid));
        if let Some((name, _)) = resumed_name(prefix.rest) {
            let call = CallId(out.names.calls.intern(name_behind(name)));
            let call = RawCall {
                tid,
                layer: Layer::Syscall,
                call,
                start: Timestamp(0),
                dur: None,
                ret: Return::Unseen,
                args: &[],
            };
            return out.emit(RawItem::Lost { tid, call: Some(call) });
        }
        self.with_scratch(prefix.rest, |_, text, scratch| {
            let arguments = &mut Arguments::default();
            let reading = name_length(text).and_then(|_| Reading::of(text, out.names, scratch, arguments));
            let call = reading.as_ref().map(|reading| reading.entered(tid, Timestamp(0), out.names));
            out.emit(RawItem::Lost { tid, call });
            if let Some(reading) = &reading {
                rights::emit_sent(reading.name, tid, text, out);
            }
        });
    }
}

/// Whether there is the end of a call: `) = 7`, with any number of blanks.
fn has_result(text: &[u8]) -> bool {
    memchr::memchr_iter(b')', text).any(|at| {
        let rest = &text[at + 1..];
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        blanks > 0 && rest[blanks..].starts_with(b"= ") && rest.len() > blanks + 2
    })
}

/// Whether strace seems to have written a line: it names a thread or a time, a call, or is the beginning of a number.
fn is_of_strace(prefix: &Prefix<'_>) -> bool {
    let numbers = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b' ');
    prefix.tid.is_some()
        || prefix.stamp != iotrail_import::Stamp::default()
        || name_length(prefix.rest).is_some()
        || resumed_name(prefix.rest).is_some()
        || !prefix.rest.is_empty() && prefix.rest.iter().all(numbers)
}
