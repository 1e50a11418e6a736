//! One trace file on its way through the parser.

use crate::parser::{Ahead, Half, Notice, Parser, ParserSetup};
use iotrail_import::{Context, Limits, PlannedFile, Text, TraceReader};
use iotrail_model::raw::RawItem;
use iotrail_model::{Dictionaries, Tid, Timestamp};
use std::cell::Cell;
use std::sync::Arc;

/// See the [module](self).
pub(crate) struct Stream<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) parser: Parser,
    /// The thread that the next line may say its own goes on as.
    expected: Option<Tid>,
}

/// How far a stream came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Another stream is next: the next line has this place.
    At(When),
    /// The next line says that its thread goes on as this one.
    Superseded(Tid),
    /// It read on, or was told to stop.
    Paused,
    /// There is no next line.
    End,
}

/// The place of a line among those of several files. At the same time, threads that are at work go on before others
/// begin, and end last: so parents come before their children, and a process ends after its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct When {
    pub(crate) time: Timestamp,
    pub(crate) what: What,
}

/// What happens at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    GoesOn,
    Begins,
    Ends,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(
        file: &'a PlannedFile,
        limits: Limits,
        opened: Option<TraceReader>,
        context: Context<'a>,
    ) -> Self {
        let setup = ParserSetup {
            file: file.file.name.clone(),
            default_tid: file.tid,
            set: Arc::clone(&file.set),
            date: file.date,
        };
        Self { text: Text::new(file, limits, opened, context), parser: Parser::new(setup), expected: None }
    }

    /// Reads a chunk and parses its lines. False at the end.
    pub(crate) fn chunk(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> bool {
        let parser = &mut self.parser;
        self.text.chunk(|text, ended| parser.parse(text, ended, names, sink))
    }

    /// Parses lines up to the first one behind `limit`, until `stop` is set or more must be read.
    pub(crate) fn until(
        &mut self,
        limit: Option<When>,
        stop: &Cell<bool>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Turn {
        while !stop.take() {
            let (text, ended) = (self.text.reader.window.unread(), self.text.reader.window.ended());
            if let Some(ahead) = self.parser.ahead(text, ended)
                && let Some(turn) = self.waits(ahead, limit)
            {
                return turn;
            }
            let (text, ended) = (self.text.reader.window.unread(), self.text.reader.window.ended());
            let done = self.parser.step_line(text, ended, names, sink);
            self.text.reader.window.consume(done);
            self.expected = None;
            if done == 0 {
                return if ended || !self.text.fill() { Turn::End } else { Turn::Paused };
            }
        }
        Turn::Paused
    }

    /// Whether the line ahead is not for now.
    fn waits(&self, ahead: Ahead, limit: Option<When>) -> Option<Turn> {
        if let Notice::Superseded(by) = ahead.notice
            && self.expected == Some(by)
        {
            return None;
        }
        let what = if ahead.notice == Notice::None { What::GoesOn } else { What::Ends };
        let when = ahead.time.map(|time| When { time, what });
        match (when.filter(|when| limit.is_some_and(|limit| *when > limit)), ahead.notice) {
            (Some(when), _) => Some(Turn::At(when)),
            (None, Notice::Superseded(by)) => Some(Turn::Superseded(by)),
            (None, _) => None,
        }
    }

    /// The call that the thread `by` of another file is in goes on in this one, with the next line.
    pub(crate) fn goes_on_from(
        &mut self,
        by: Tid,
        half: Option<Half>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        if let Some(half) = half {
            self.parser.receive_half(half, self.text.file.first.is_some(), names, sink);
        }
        self.expected = Some(by);
    }

    /// Nothing comes any more.
    pub(crate) fn finish(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) {
        self.parser.step(&[], true, names, sink);
    }
}
