//! One trace file on its way through the parser.

use crate::options::ImportOptions;
use crate::parser::{Parser, ParserSetup};
use crate::plan::PlannedFile;
use crate::progress::Progress;
use crate::reader::TraceReader;
use crate::window::Limits;
use iotrail_model::raw::RawItem;
use iotrail_model::{Dictionaries, Timestamp};
use std::sync::atomic::Ordering;

/// What all streams of an import share.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) options: &'a ImportOptions,
    pub(crate) progress: &'a dyn Progress,
}

impl Context<'_> {
    pub(crate) fn cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }
}

/// See the [module](self).
pub(crate) struct Stream<'a> {
    pub(crate) file: &'a PlannedFile,
    pub(crate) reader: TraceReader,
    pub(crate) parser: Parser,
    context: Context<'a>,
    cut: bool,
}

/// How far a stream came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The next line has this time stamp.
    At(Timestamp),
    /// There is no next line.
    End,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(file: &'a PlannedFile, limits: Limits, context: Context<'a>) -> Self {
        let setup = ParserSetup { file: file.file.name.clone(), default_tid: file.tid, date: file.date };
        Self {
            file,
            reader: TraceReader::new(&file.file, limits, &context.options.cancel),
            parser: Parser::new(setup),
            context,
            cut: false,
        }
    }

    /// Whether a cancellation ended it before its end.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut || self.reader.has_given_up()
    }

    /// Reads a chunk and parses its lines. False at the end.
    pub(crate) fn chunk(
        &mut self,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> bool {
        if !self.fill() {
            self.parser.parse(&[], true, names, sink);
            return false;
        }
        let ended = self.reader.window.ended();
        let done = self.parser.parse(self.reader.window.unread(), ended, names, sink);
        self.reader.window.consume(done);
        !ended
    }

    /// Parses lines up to the first one that is younger than `limit`.
    pub(crate) fn until(
        &mut self,
        limit: Option<Timestamp>,
        names: &mut Dictionaries,
        sink: &mut impl FnMut(RawItem<'_>, &mut Dictionaries),
    ) -> Turn {
        loop {
            let (text, ended) = (self.reader.window.unread(), self.reader.window.ended());
            if let Some(time) = self.parser.peek_time(text, ended)
                && limit.is_some_and(|limit| time > limit)
            {
                return Turn::At(time);
            }
            let done = self.parser.step(text, ended, names, sink);
            self.reader.window.consume(done);
            if done == 0 && (ended || !self.fill()) {
                self.parser.step(&[], true, names, sink);
                return Turn::End;
            }
        }
    }

    /// Reads on, unless the import was cancelled. Pipes decide themselves when to end.
    fn fill(&mut self) -> bool {
        if self.file.file.size().is_some() && self.context.cancelled() {
            self.cut = !self.reader.window.ended();
            return false;
        }
        self.reader.fill();
        self.context.progress.advance(self.reader.take_progress());
        true
    }
}
