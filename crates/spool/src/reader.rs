//! Reads pieces of a spool.

use crate::block::{Payloads, Stop, Verified};
use crate::damage::Damage;
use crate::error::SpoolError;
use crate::event_code::{self, Prediction};
use crate::footer::Footer;
use crate::format::{BLOCK, FOOTER, Head, PIECE};
use crate::piece_names::PieceNames;
use crate::regular_file::open_regular;
use crate::row_code::{self, LastFile};
use crate::spool::Spool;
use crate::sum::Sum;
use crate::survey::{Piece, first_record, read_up_to};
use crate::visit::Visit;
use iotrail_model::Timestamp;
use iotrail_model::varint::Cursor;
use std::fs::File;
use std::ops::RangeInclusive;

/// Reads pieces of a spool, one after another; holds one piece (1 MiB) and the names of its events in memory.
///
/// Every record is checked before it is delivered. What cannot be believed is in [`Reader::damage`].
#[derive(Debug)]
pub struct Reader<'a> {
    spool: &'a Spool,
    window: Option<RangeInclusive<Timestamp>>,
    wants_events: bool,
    file: Option<(u32, File)>,
    buffer: Vec<u8>,
    records: Records,
    damage: Vec<Damage>,
    has_begun: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(spool: &'a Spool) -> Self {
        Self {
            spool,
            window: None,
            wants_events: true,
            file: None,
            buffer: Vec::new(),
            records: Records::default(),
            damage: Vec::new(),
            has_begun: false,
        }
    }

    /// Only events that start within `window`; other records are delivered all the same.
    #[must_use]
    pub fn within(mut self, window: RangeInclusive<Timestamp>) -> Self {
        self.window = Some(window);
        self
    }

    /// Only records that are no events.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.wants_events = false;
        self
    }

    /// What was found wrong in full blocks so far; [`Spool::damage`] is the rest.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Delivers everything.
    ///
    /// # Errors
    /// The visitor's error, or a file cannot be opened any more.
    pub fn read_all<V: Visit>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self.spool.pieces().iter().try_for_each(|piece| self.read(piece, visitor))
    }

    /// Delivers the records of one piece of the reader's spool.
    ///
    /// # Errors
    /// See [`Reader::read_all`].
    pub fn read<V: Visit>(&mut self, piece: &Piece, visitor: &mut V) -> Result<(), V::Error> {
        if piece.rows == 0 && !self.may_want(piece.starts) {
            return Ok(());
        }
        self.load(piece)?;
        if self.records.names.begin_piece() || !self.has_begun {
            visitor.renamed()?;
        }
        self.has_begun = true;
        self.records.assembly.clear();
        let buffer = std::mem::take(&mut self.buffer);
        for (number, block) in buffer.chunks(BLOCK).enumerate() {
            self.block(piece, piece.place + (number * BLOCK) as u64, block, visitor)?;
        }
        self.buffer = buffer;
        let lost = self.records.names.lost();
        if lost > 0 {
            let what = format!("{lost} times a name is NULL or `?` because its definition was lost");
            self.report(piece, piece.place, 0, None, what);
        }
        Ok(())
    }

    fn may_want(&self, starts: Option<(Timestamp, Timestamp)>) -> bool {
        match (starts, &self.window) {
            (Some((first, last)), Some(window)) => {
                self.wants_events && first <= *window.end() && last >= *window.start()
            }
            (Some(_), None) => self.wants_events,
            (None, _) => false,
        }
    }

    fn report(
        &mut self,
        piece: &Piece,
        byte: u64,
        skipped: u64,
        events: Option<u64>,
        what: impl Into<String>,
    ) {
        let path = self.spool.segment_path(piece.segment);
        self.damage.push(Damage { path, byte, skipped, events, what: what.into() });
    }

    /// Fills the buffer with the bytes of `piece`.
    fn load(&mut self, piece: &Piece) -> Result<(), SpoolError> {
        let path = self.spool.segment_path(piece.segment);
        let file = match self.file.take() {
            Some((number, file)) if number == piece.segment => file,
            _ => open_regular(&path).map_err(SpoolError::io("open", &path))?,
        };
        self.buffer.resize((piece.bytes() as usize).min(PIECE), 0);
        match read_up_to(&file, &mut self.buffer, piece.place) {
            Ok(read) => {
                if read < self.buffer.len() {
                    let missing = (self.buffer.len() - read) as u64;
                    self.report(
                        piece,
                        piece.place + read as u64,
                        missing,
                        None,
                        "the file was cut while it was read",
                    );
                }
                self.buffer.truncate(read);
            }
            Err(error) => {
                self.report(
                    piece,
                    piece.place,
                    piece.bytes(),
                    Some(piece.events),
                    format!("cannot be read: {error}"),
                );
                self.buffer.clear();
            }
        }
        self.file = Some((piece.segment, file));
        Ok(())
    }

    fn block<V: Visit>(
        &mut self,
        piece: &Piece,
        index: u64,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        let footer = footer_of(bytes);
        let limit = match &footer {
            Some(footer) => footer.used as usize,
            None => bytes.len().min(BLOCK - FOOTER),
        };
        let wants_events = match &footer {
            Some(footer) => self.may_want(footer.starts()),
            None => self.wants_events,
        };
        if !wants_events && footer.is_some_and(|footer| footer.records == footer.events) {
            return Ok(());
        }
        let start = first_record(index);
        let sum = Sum::of_block(self.spool.identity(), piece.segment, index);
        let records = &bytes[..limit];
        let mut verified = Verified::follow(records, start, sum);
        if let Some(footer) = &footer
            && verified.stop == Stop::End
            && verified.sum != footer.sum
        {
            verified = verified.without_last();
        }
        let believed = records.get(..verified.end).unwrap_or_default();
        let window = if wants_events { self.window.as_ref() } else { None };
        let met =
            self.records.deliver(believed, start, EventFilter { events: wants_events, window }, visitor)?;
        let trouble = match (met.malformed, verified.stop) {
            (Some(at), _) => Some((at, "a record that makes no sense")),
            (None, Stop::End) => None,
            (None, Stop::Zero) => Some((verified.end, "zeros where records were")),
            (None, Stop::Length) => Some((verified.end, "a record that is longer than its block")),
            (None, Stop::Check) => Some((verified.end, "a record that is not as it was written")),
        };
        // Of blocks without a footer the spool said so when it was opened.
        if let (Some((at, what)), Some(footer)) = (trouble, footer) {
            self.records.assembly.clear();
            let events = wants_events.then(|| u64::from(footer.events).saturating_sub(met.events));
            self.report(piece, index + at as u64, limit.saturating_sub(at) as u64, events, what);
        }
        Ok(())
    }
}

fn footer_of(block: &[u8]) -> Option<Footer> {
    if block.len() < BLOCK {
        return None;
    }
    block.last_chunk::<FOOTER>().and_then(Footer::decode)
}

/// Which events are wanted.
#[derive(Clone, Copy)]
struct EventFilter<'a> {
    events: bool,
    window: Option<&'a RangeInclusive<Timestamp>>,
}

/// What was met in a block.
#[derive(Default)]
struct Met {
    events: u64,
    /// Where a record is that cannot be decoded.
    malformed: Option<usize>,
}

/// What decoding goes by.
#[derive(Debug, Default)]
struct Records {
    names: PieceNames,
    prediction: Prediction,
    last_file: LastFile,
    base: Vec<u8>,
    /// The fragments of a long record so far.
    assembly: Vec<u8>,
}

impl Records {
    /// Delivers verified records of a block.
    fn deliver<V: Visit>(
        &mut self,
        records: &[u8],
        start: usize,
        wanted: EventFilter<'_>,
        visitor: &mut V,
    ) -> Result<Met, V::Error> {
        self.prediction.reset();
        self.last_file = LastFile::default();
        self.base.clear();
        let mut met = Met::default();
        for (at, payload) in Payloads::new(records, start) {
            if !self.record(payload, wanted, &mut met, visitor)? {
                met.malformed = Some(at);
                break;
            }
        }
        Ok(met)
    }

    /// Delivers one record; answers whether it makes sense.
    #[inline]
    fn record<V: Visit>(
        &mut self,
        payload: &[u8],
        wanted: EventFilter<'_>,
        met: &mut Met,
        visitor: &mut V,
    ) -> Result<bool, V::Error> {
        let mut from = Cursor(payload);
        match from.number() {
            Some(Head::FRAGMENT) => {
                self.assembly.extend_from_slice(from.0);
                Ok(true)
            }
            Some(Head::LAST) => self.long_row(from.0, visitor),
            Some(head) if head >= Head::EVENT => self.event(head, from, wanted, met, visitor),
            Some(head) => self.row(head, from, visitor),
            None => Ok(false),
        }
    }

    #[inline]
    fn event<V: Visit>(
        &mut self,
        head: u64,
        mut from: Cursor<'_>,
        wanted: EventFilter<'_>,
        met: &mut Met,
        visitor: &mut V,
    ) -> Result<bool, V::Error> {
        if !wanted.events {
            return Ok(true);
        }
        let Some(event) = event_code::decode(head, &mut from, &mut self.prediction) else {
            return Ok(false);
        };
        met.events += 1;
        if wanted.window.is_none_or(|window| window.contains(&event.start)) {
            let event = self.names.resolve(event);
            visitor.event(&event, self.names.dictionaries())?;
        }
        Ok(true)
    }

    /// The last part of a record in fragments.
    fn long_row<V: Visit>(&mut self, last: &[u8], visitor: &mut V) -> Result<bool, V::Error> {
        let mut payload = std::mem::take(&mut self.assembly);
        payload.extend_from_slice(last);
        let mut from = Cursor(&payload);
        match from.number() {
            Some(head) if head < Head::FRAGMENT => self.row(head, from, visitor),
            _ => Ok(false),
        }
    }

    fn row<V: Visit>(&mut self, head: u64, mut from: Cursor<'_>, visitor: &mut V) -> Result<bool, V::Error> {
        match head {
            Head::NAME => return Ok(self.names.define(&mut from, &mut self.base).is_some()),
            Head::IMAGE | Head::PROCESS => match row_code::read_process(&mut from) {
                Some(process) if head == Head::IMAGE => visitor.image(process)?,
                Some(process) => visitor.process(process)?,
                None => return Ok(false),
            },
            Head::FILE => match row_code::read_named(&mut from, &mut self.last_file) {
                Some((path, file)) => {
                    if let Some(path) = self.names.path(path) {
                        visitor.file(path, &file)?;
                    }
                }
                None => return Ok(false),
            },
            Head::COVERAGE => match serde_json::from_slice(from.0) {
                Ok(coverage) => visitor.coverage(coverage)?,
                Err(_) => return Ok(false),
            },
            Head::END => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}
