//! Who is going to be made: the threads that the calls in some files return.
//!
//! A line that makes a thread comes before all lines of that thread, unless the clock was set back in between. Where
//! it seems not to, only a look at all files tells whether a thread has a parent in them. Few lines are of
//! interest, so that this costs little more than reading the files.

use crate::parser::{Parser, ParserSetup};
use hashbrown::HashSet;
use iotrail_import::{Context, Limits, PlannedFile, TraceReader};
use iotrail_model::calls::{self, Makes};
use iotrail_model::raw::{RawItem, Return};
use iotrail_model::{Dictionaries, Tid, Timestamp};
use memchr::{memchr, memmem, memrchr};

/// The thread that a call made, and when the call began.
pub(crate) fn made(item: &RawItem<'_>) -> Option<(Tid, Timestamp)> {
    let RawItem::Call(call) = item else { return None };
    match (call.ret, calls::spec(call.call)) {
        (Return::Value(child @ 1.., _), Some(spec)) if spec.makes == Makes::Process => {
            Some((Tid(u32::try_from(child).ok()?), call.start))
        }
        _ => None,
    }
}

/// All threads that calls in `files` made.
pub(crate) fn births(files: &[PlannedFile], context: Context<'_>) -> HashSet<Tid> {
    let mut children = HashSet::new();
    for_each_maker(files, context, |_, item| children.extend(made(item).map(|(child, _)| child)));
    children
}

/// Calls `take` with what the calls in `files` say that may make threads, and the number of the file.
pub(crate) fn for_each_maker(
    files: &[PlannedFile],
    context: Context<'_>,
    mut take: impl FnMut(usize, &RawItem<'_>),
) {
    let mut names = Dictionaries::default();
    for (index, file) in files.iter().enumerate() {
        let mut reader = TraceReader::new(&file.file, Limits::LARGE, &context.options.cancel);
        let mut parser = Parser::new(ParserSetup { default_tid: file.tid, ..ParserSetup::default() });
        let sink = &mut |item: RawItem<'_>, _: &mut Dictionaries| take(index, &item);
        while !context.cancelled() && !reader.window.ended() {
            reader.fill();
            let text = reader.window.unread();
            let whole = match reader.window.ended() {
                true => text.len(),
                false => memrchr(b'\n', text).map_or(0, |end| end + 1),
            };
            for_each_birth(&text[..whole], |line| {
                parser.step(line, true, &mut names, sink);
            });
            reader.window.consume(whole);
        }
    }
}

/// Calls `take` with each line that may hold a call that makes a thread.
fn for_each_birth(text: &[u8], mut take: impl FnMut(&[u8])) {
    let finders = [memmem::Finder::new("clone"), memmem::Finder::new("fork")];
    let mut nexts = finders.each_ref().map(|finder| finder.find(text));
    while let Some(place) = nexts.iter().flatten().min().copied() {
        let start = memrchr(b'\n', &text[..place]).map_or(0, |end| end + 1);
        let end = memchr(b'\n', &text[place..]).map_or(text.len(), |end| place + end);
        take(&text[start..end]);
        for (next, finder) in nexts.iter_mut().zip(&finders) {
            if next.is_some_and(|next| next < end) {
                *next = finder.find(&text[end..]).map(|found| end + found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_names_such_a_call_is_looked_at_once() {
        let text = b"fork() = 5\nread(0)\nclone(clone) = 6\nvfork() = 7\n\nclose(1) = 0\nclone3() = 8";
        let mut lines = Vec::new();
        for_each_birth(text, |line| lines.push(String::from_utf8_lossy(line).into_owned()));
        assert_eq!(lines, ["fork() = 5", "clone(clone) = 6", "vfork() = 7", "clone3() = 8"]);
    }
}
