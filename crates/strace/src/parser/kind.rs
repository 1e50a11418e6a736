//! Of which kind a line is.
//!
//! Every line is counted once, as what [`Parser::understand`] says, or as not understood.

use super::sink::{Out, Sink};
use super::{MAX_LINE_BYTES, Parser, noise};
use iotrail_import::Prefix;
use memchr::memchr;

/// What a line is; [`iotrail_model::coverage::Lines`] counts these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Event,
    Unfinished,
    Resumed,
    Signal,
    Exit,
    Noise(&'static str),
}

impl Parser {
    /// Counts and reads a line; `false` if it was not understood.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) -> bool {
        self.coverage.lines.total += 1;
        let is_odd = line.len() > MAX_LINE_BYTES || self.may_hold_zeros && memchr(0, line).is_some();
        let kind = if is_odd { None } else { self.understand(line, out) };
        let lines = &mut self.coverage.lines;
        match kind {
            Some(Kind::Event) => lines.event += 1,
            Some(Kind::Unfinished) => lines.unfinished += 1,
            Some(Kind::Resumed) => lines.resumed += 1,
            Some(Kind::Signal) => lines.signal += 1,
            Some(Kind::Exit) => lines.exit += 1,
            Some(Kind::Noise(kind)) => self.coverage.count_noise(kind),
            None => {
                lines.unparsed += 1;
                self.coverage.keep_example(&self.file, self.coverage.lines.total, line);
                self.misses(line, out);
            }
        }
        kind.is_some()
    }

    fn understand(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.may_be_coloured || memchr(noise::ESCAPE, line).is_none() {
            return self.plain_line(line, out);
        }
        let mut plain = std::mem::take(&mut self.plain);
        noise::strip_colours(line, &mut plain);
        let kind = self.plain_line(&plain, out);
        self.plain = plain;
        kind
    }

    /// What the lines before began comes first, then what the line itself looks like.
    fn plain_line(&mut self, line: &[u8], out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        if self.block.is_some()
            && let Some(kind) = self.in_block(line)
        {
            return Some(kind);
        }
        if self.broken.is_some()
            && let Some(kind) = self.go_on(line, out)
        {
            return Some(kind);
        }
        if line.first() == Some(&b' ')
            && let Some(kind) = noise::indented(line)
        {
            return Some(Kind::Noise(kind));
        }
        let prefix = Prefix::read(line);
        let kind = match prefix.rest.first() {
            Some(b'<') => self.resumed(&prefix, out),
            Some(b'-') => self.signal(&prefix),
            Some(b'+') => self.exit(&prefix, out),
            Some(_) => self.call(&prefix, out),
            None => None,
        };
        kind.or_else(|| self.message_or_block(line))
    }
}
