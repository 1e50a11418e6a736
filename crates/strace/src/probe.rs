//! A look at the beginning of a file: is it strace output, whose threads does it hold, when does it start?
//!
//! A file is strace output if any line of it is understood. A binary file is given up after its first chunk, text is
//! searched to its end, because a trace may come behind a lot of what the program itself printed.

use crate::input::{Origin, TraceFile};
use crate::parser::{Parser, ParserSetup};
use crate::reader::{TraceReader, Trouble};
use crate::window::Limits;
use iotrail_model::{Clock, Coverage, Dictionaries, Tid, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Strace output, or a pipe, of which only reading can tell.
    Trace,
    /// Nothing.
    Empty,
    /// Bytes that are no text.
    Binary,
    /// Text of which no line was understood.
    Text,
    /// Something that could not be read.
    Unreadable(Trouble),
}

/// See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) content: Content,
    /// Whether no line names its thread, as in the files of `strace -ff`.
    pub(crate) one_thread: bool,
    /// The first time stamp.
    pub(crate) first: Option<Timestamp>,
    /// What it means.
    pub(crate) clock: Clock,
}

impl Probe {
    const fn of(content: Content) -> Self {
        Self { content, one_thread: false, first: None, clock: Clock::Order }
    }
}

/// Looks at `file`; `tid` is the thread of lines that name none.
pub(crate) fn probe(
    file: &TraceFile,
    tid: Option<Tid>,
    date: Option<(i64, i64, i64)>,
    names: &mut Dictionaries,
    cancel: &Arc<AtomicBool>,
) -> Probe {
    if !matches!(file.origin, Origin::File(..)) {
        return Probe::of(Content::Trace);
    }
    let mut reader = TraceReader::new(file, Limits::SMALL, cancel);
    let setup = ParserSetup { file: file.name.clone(), default_tid: tid, date, ..ParserSetup::default() };
    let mut parser = Parser::new(setup);
    let (mut first, mut one_thread) = (None, tid.is_some());
    loop {
        reader.fill();
        let binary = reader.window.unread().contains(&0);
        while !reader.window.unread().is_empty() {
            let (text, at_end) = (reader.window.unread(), reader.window.ended());
            first = first.or_else(|| parser.peek_time(text, at_end));
            let done = parser.step(text, at_end, names, &mut |item, _| {
                one_thread &= Some(item.tid()) == tid;
            });
            if done == 0 {
                break;
            }
            reader.window.consume(done);
        }
        let content = if understood(parser.coverage()) {
            Content::Trace
        } else if let Some(trouble) = reader.trouble() {
            Content::Unreadable(trouble.clone())
        } else if reader.window.ended() && reader.text_bytes() == 0 {
            Content::Empty
        } else if binary {
            Content::Binary
        } else if reader.window.ended() || cancel.load(Ordering::Relaxed) {
            Content::Text
        } else {
            continue;
        };
        return Probe { content, one_thread, first, clock: parser.clock() };
    }
}

/// Whether strace wrote any of these lines.
pub(crate) fn understood(coverage: &Coverage) -> bool {
    let lines = &coverage.lines;
    lines.event + lines.unfinished + lines.resumed + lines.signal + lines.exit > 0
        || coverage.noise.contains_key("summary-table")
}
