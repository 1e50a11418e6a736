//! A look at the beginning of a file: is it strace output, whose threads does it hold, when does it start?
//!
//! A file is strace output if any line of it is understood. A binary file is given up after its first chunk, text is
//! searched to its end, because a trace may come behind a lot of what the program itself printed.

use crate::parser::{Parser, ParserSetup};
use iotrail_import::{Content, ImportOptions, Probe, TraceFile, TraceReader};
use iotrail_model::{Coverage, Dictionaries};
use std::sync::atomic::Ordering;

/// Looks at `file`.
pub(crate) fn probe(
    file: &TraceFile,
    mut reader: TraceReader,
    options: &ImportOptions,
    names: &mut Dictionaries,
) -> Probe {
    // The thread of lines that name none.
    let tid = file.number_in_name();
    let setup = ParserSetup {
        file: file.name.clone(),
        default_tid: tid,
        date: options.date,
        ..ParserSetup::default()
    };
    let mut parser = Parser::new(setup);
    let (mut first, mut one_thread) = (None, tid.is_some());
    loop {
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
        } else if let Some(read_error) = reader.read_error() {
            Content::Unreadable(read_error.clone())
        } else if reader.window.ended() && reader.text_bytes() == 0 {
            Content::Empty
        } else if binary {
            Content::Binary
        } else if reader.window.ended() || options.cancel.load(Ordering::Relaxed) {
            Content::Text
        } else {
            reader.fill();
            continue;
        };
        let mut probe = Probe::of(content);
        (probe.one_thread, probe.first, probe.clock) = (one_thread, first, parser.clock());
        return probe;
    }
}

/// Whether strace wrote any of these lines.
pub(crate) fn understood(coverage: &Coverage) -> bool {
    let lines = &coverage.lines;
    lines.event + lines.unfinished + lines.resumed + lines.signal + lines.exit > 0
        || coverage.noise.contains_key("summary-table")
}
