//! What is in a segment, found without reading its full blocks.

use crate::block::{Payloads, Stop, Verified};
use crate::damage::Damage;
use crate::error::SpoolError;
use crate::event_code::{self, Prediction};
use crate::footer::Footer;
use crate::format::{BLOCK, FOOTER, Head, PIECE, PREAMBLE, SEGMENT, preamble};
use crate::regular_file::open_regular;
use crate::segment::FIRST;
use crate::sum::Sum;
use iotrail_model::Timestamp;
use iotrail_model::varint::Cursor;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Nothing is read of a segment beyond this: a writer allocates at most so much.
const MAX_SEGMENT: u64 = SEGMENT + (64 << 20);
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// A stretch of a spool that can be read alone: pieces may be read by several threads, each with its own
/// [`crate::Reader`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Events in it, as far as is known without reading them.
    pub events: u64,
    /// Other records: process rows, images, file facts, coverage statements.
    pub rows: u64,
    /// The earliest and the latest start of an event; `None` if there are no events.
    pub starts: Option<(Timestamp, Timestamp)>,
    pub(crate) segment: u32,
    /// Where it lies in the file of the segment.
    pub(crate) place: u64,
    pub(crate) end: u64,
}

impl Piece {
    /// Bytes of the file that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.end - self.place
    }

    fn add(&mut self, footer: &Footer) {
        self.events += u64::from(footer.events);
        self.rows += u64::from(footer.rows);
        self.starts = match (self.starts, footer.starts()) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (ours, theirs) => ours.or(theirs),
        };
    }
}

/// What a block is.
enum Kind {
    /// It was filled and has its footer.
    Full,
    /// It has records and no footer: it was being written, or the footer was lost.
    Open { stop: Stop, is_clean: bool },
    /// There are only zeros.
    Empty,
}

struct Block {
    kind: Kind,
    /// What is in it. Of a block without footer, what could be read.
    footer: Footer,
    /// Bytes of the file in it.
    bytes: usize,
}

/// What a segment holds.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) damage: Vec<Damage>,
    /// The events that the writer counted, if its last record is here.
    pub(crate) finished: Option<u64>,
}

/// Looks through segment `number`. `is_last` says that no later segment is there.
pub(crate) fn survey(path: &Path, number: u32, identity: u64, is_last: bool) -> Result<Survey, SpoolError> {
    let reading = || SpoolError::io("read", path);
    let file = open_regular(path).map_err(SpoolError::io("open", path))?;
    let length = file.metadata().map_err(reading())?.len();
    let mut surveyor = Surveyor { path, number, identity, survey: Survey::default(), buffer: vec![0; BLOCK] };
    let mut blocks = Vec::new();
    for index in (0..length.min(MAX_SEGMENT)).step_by(BLOCK) {
        let bytes = (length - index).min(BLOCK as u64) as usize;
        blocks.push(surveyor.block(&file, index, bytes));
    }
    if length > MAX_SEGMENT {
        surveyor.report(MAX_SEGMENT, length - MAX_SEGMENT, "the file is longer than any segment");
    }
    surveyor.check_preamble(&file, &blocks);
    surveyor.judge(&blocks, is_last);
    Ok(surveyor.survey)
}

struct Surveyor<'a> {
    path: &'a Path,
    number: u32,
    identity: u64,
    survey: Survey,
    buffer: Vec<u8>,
}

impl Surveyor<'_> {
    fn report(&mut self, byte: u64, skipped: u64, what: impl Into<String>) {
        let damage = Damage { path: self.path.to_owned(), byte, skipped, events: None, what: what.into() };
        self.survey.damage.push(damage);
    }

    /// Looks at the block of `bytes` bytes at `place`.
    fn block(&mut self, file: &File, place: u64, bytes: usize) -> Block {
        let empty = Block { kind: Kind::Empty, footer: Footer::default(), bytes };
        if bytes == BLOCK {
            let mut end = [0; FOOTER];
            let read = file.read_exact_at(&mut end, place + (BLOCK - FOOTER) as u64);
            if let (Ok(()), Some(footer)) = (read, Footer::decode(&end)) {
                self.survey.finished = None;
                return Block { kind: Kind::Full, footer, bytes };
            }
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let block = match read_up_to(file, &mut buffer[..bytes], place) {
            Ok(read) if buffer[..read] == ZEROS[..read] => empty,
            Ok(read) => self.open_block(&buffer[..read], place, bytes),
            Err(error) => {
                self.report(place, bytes as u64, format!("cannot be read: {error}"));
                empty
            }
        };
        self.buffer = buffer;
        block
    }

    /// Reads the records of a block without a footer.
    fn open_block(&mut self, all: &[u8], place: u64, bytes: usize) -> Block {
        let records = &all[..all.len().min(BLOCK - FOOTER)];
        let start = first_record(place);
        let verified = Verified::follow(records, start, Sum::of_block(self.identity, self.number, place));
        let mut footer = Footer {
            used: verified.end.min(records.len()) as u32,
            records: verified.records,
            ..Footer::default()
        };
        self.survey.finished = None;
        let believed = records.get(..verified.end).unwrap_or_default();
        count(believed, start, &mut footer, &mut self.survey.finished);
        let is_clean = match verified.stop {
            Stop::End => true,
            Stop::Zero => is_unfinished(&records[verified.end..], verified.sum),
            Stop::Length | Stop::Check => false,
        };
        Block { kind: Kind::Open { stop: verified.stop, is_clean }, footer, bytes }
    }

    fn check_preamble(&mut self, file: &File, blocks: &[Block]) {
        let mut found = [0; PREAMBLE];
        let is_there = file.read_exact_at(&mut found, 0).is_ok();
        let has_content = blocks.iter().any(|block| block.footer.records > 0);
        let expected = preamble(self.number, self.identity);
        if found != expected && (has_content || is_there && found != [0; PREAMBLE]) {
            let what = "the file does not begin as a segment of this spool";
            self.report(0, PREAMBLE as u64, what);
        }
    }

    /// Turns blocks into pieces and names what is wrong with them.
    fn judge(&mut self, blocks: &[Block], is_last: bool) {
        let Some(last) = blocks.iter().rposition(|block| !matches!(block.kind, Kind::Empty)) else { return };
        for (number, block) in blocks[..=last].iter().enumerate() {
            let place = (number * BLOCK) as u64;
            self.judge_block(block, place, number == last && is_last);
            if (number * BLOCK).is_multiple_of(PIECE) {
                self.survey.pieces.push(Piece {
                    segment: self.number,
                    place,
                    end: place,
                    ..Piece::default()
                });
            }
            if let Some(piece) = self.survey.pieces.last_mut() {
                piece.add(&block.footer);
                piece.end = match block.kind {
                    Kind::Open { .. } if number == last => place + u64::from(block.footer.used),
                    _ => place + block.bytes as u64,
                };
            }
        }
    }

    fn judge_block(&mut self, block: &Block, place: u64, is_end: bool) {
        let used = u64::from(block.footer.used);
        let what = match block.kind {
            Kind::Full => return,
            Kind::Open { is_clean: true, .. } if is_end => return,
            Kind::Empty => "zeros where records were",
            Kind::Open { stop: Stop::Check, .. } => "a record that is not as it was written",
            Kind::Open { stop: Stop::Length, .. } => "a record that is longer than its block",
            Kind::Open { stop: Stop::Zero, .. } if is_end => {
                "zeros and then bytes that are not a record: they were being written, or a page before them was lost"
            }
            Kind::Open { .. } => "the rest of a block was lost with its footer",
        };
        self.report(place + used, block.bytes as u64 - used, what);
    }
}

/// Whether `rest` is zeros, or one record that lacks its first byte: that comes last. A lost page would begin with more
/// zeros, and behind a record of which only the first byte was lost would be others.
fn is_unfinished(rest: &[u8], sum: Sum) -> bool {
    let Some(last) = rest.iter().rposition(|byte| *byte != 0) else { return true };
    if rest.iter().take(FIRST).all(|byte| *byte == 0) {
        return false;
    }
    let mut trial = rest[..=last].to_vec();
    (1..=u8::MAX).all(|first| {
        trial[0] = first;
        let verified = Verified::follow_one(&trial, sum);
        verified.records == 0 || verified.end == trial.len()
    })
}

/// Counts verified records.
fn count(records: &[u8], start: usize, footer: &mut Footer, finished: &mut Option<u64>) {
    let mut state = Prediction::default();
    for (_, payload) in Payloads::new(records, start) {
        let mut from = Cursor(payload);
        *finished = None;
        match from.number() {
            Some(Head::NAME) => footer.names += 1,
            // What is in fragments is a row or a name; taken for a row, it is read in any case.
            Some(Head::IMAGE | Head::PROCESS | Head::FILE | Head::COVERAGE | Head::LAST) => footer.rows += 1,
            Some(Head::FRAGMENT) => {}
            Some(Head::END) => *finished = from.number(),
            Some(head) => {
                let Some(event) = event_code::decode(head, &mut from, &mut state) else { return };
                footer.count_event(event.start);
            }
            None => return,
        }
    }
}

/// Where the records of the block at `place` begin.
pub(crate) fn first_record(place: u64) -> usize {
    if place == 0 { PREAMBLE } else { 0 }
}

/// Reads as much as there is.
pub(crate) fn read_up_to(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read_at(&mut buffer[read..], place + read as u64) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
