//! The text of one file while it is read: chunk by chunk, until its end or a cancellation.

use crate::context::Context;
use crate::plan::PlannedFile;
use crate::reader::TraceReader;
use crate::window::Limits;

/// The text of one file while it is read: chunk by chunk, until its end or a cancellation.
pub struct Text<'a> {
    /// The planned file that the text comes from.
    pub file: &'a PlannedFile,
    /// Reads the text of the file, unpacked.
    pub reader: TraceReader,
    context: Context<'a>,
    cut: bool,
}

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Text").field("file", &self.file.file.name).finish_non_exhaustive()
    }
}

impl<'a> Text<'a> {
    /// At the start of `file`, or where `opened` is.
    #[must_use]
    pub fn new(
        file: &'a PlannedFile,
        limits: Limits,
        opened: Option<TraceReader>,
        context: Context<'a>,
    ) -> Self {
        let reader = opened.unwrap_or_else(|| TraceReader::new(&file.file, limits, &context.options.cancel));
        Self { file, reader, context, cut: false }
    }

    /// Whether a cancellation ended it before its end.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut || self.reader.has_given_up()
    }

    /// Reads on, unless the import was cancelled. Pipes decide themselves when to end.
    pub fn fill(&mut self) -> bool {
        if self.file.file.size().is_some() && self.context.cancelled() {
            self.cut = !self.reader.window.ended();
            return false;
        }
        self.reader.fill();
        self.context.progress.advance(self.reader.take_progress());
        true
    }

    /// Reads a chunk, and hands over what is unread and whether that is all; `take` says how many bytes it took. False at the
    /// end, which comes with nothing unread after a cancellation.
    pub fn chunk(&mut self, take: impl FnOnce(&[u8], bool) -> usize) -> bool {
        if !self.fill() {
            take(&[], true);
            return false;
        }
        let ended = self.reader.window.ended();
        // A line that is longer than a chunk is not looked at until its end is there.
        if ended || self.reader.window.has_new_line() {
            let done = take(self.reader.window.unread(), ended);
            self.reader.window.consume(done);
        }
        !ended
    }
}
