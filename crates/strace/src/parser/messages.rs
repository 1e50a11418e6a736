//! What strace says about itself: lines that belong to no thread.

use super::block::Block;
use super::kind::Kind;
use super::{Parser, noise};
use iotrail_model::Note;

impl Parser {
    /// A line that is no part of any call.
    pub(super) fn message_or_block(&mut self, line: &[u8]) -> Option<Kind> {
        if line.iter().all(|byte| byte.is_ascii_whitespace()) {
            return Some(Kind::Noise(noise::BLANK));
        }
        self.message(line).or_else(|| self.block_begins(line))
    }

    /// A message, from which a new thread may become known.
    pub(super) fn message(&mut self, line: &[u8]) -> Option<Kind> {
        let kind = noise::message(line)?;
        self.threads.appeared(noise::attached(line));
        Some(Kind::Noise(kind))
    }

    fn block_begins(&mut self, line: &[u8]) -> Option<Kind> {
        let block = Block::begun_by(line)?;
        self.block = Some(block);
        if block == Block::Table {
            self.coverage.note(Note::CallTableSkipped);
        }
        Some(Kind::Noise(block.noise()))
    }

    /// A line of the block that the line before was part of.
    pub(super) fn in_block(&mut self, line: &[u8]) -> Option<Kind> {
        self.block = self.block.filter(|block| block.goes_on(line));
        self.block.map(|block| Kind::Noise(block.noise()))
    }
}
